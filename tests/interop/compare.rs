//! One answer of the reference against what `pis` prints.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;

use pis::json::{Raw, js};

use crate::reference::Answer;

/// How many differences are shown whole.
const SHOWN: usize = 10;

/// What came of it all.
#[derive(Default)]
pub(crate) struct Tally {
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    places: usize,
    skipped: Vec<String>,
    differences: Vec<String>,
}

impl Tally {
    fn counts(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().expect("no holder panics")
    }

    /// One line for people.
    pub(crate) fn report(&self) -> String {
        let counts = self.counts();
        let skipped = counts.skipped.len();
        let differences = counts.differences.len();
        format!(
            "{} places compared, {skipped} files skipped, {differences} differences",
            counts.places
        )
    }

    /// Whether something was compared and nothing differs.
    pub(crate) fn is_equal(&self) -> bool {
        let counts = self.counts();
        counts.places > 0 && counts.differences.is_empty()
    }

    /// The first differences, one after another.
    pub(crate) fn differences(&self) -> String {
        let counts = self.counts();
        counts.differences[..counts.differences.len().min(SHOWN)].join("\n")
    }
}

/// Runs `pis` and compares.
pub(crate) struct Comparison<'a> {
    home: &'a Path,
    tally: &'a Tally,
}

/// Where in which file the reference was asked.
struct Place<'a> {
    file: &'a str,
    rev: String,
}

impl<'a> Comparison<'a> {
    /// A comparison with an empty home directory.
    pub(crate) fn new(home: &'a Path, tally: &'a Tally) -> Self {
        Comparison { home, tally }
    }

    /// Checks one answer.
    pub(crate) fn check(&self, answer: &Answer) {
        let answer = answer.raw();
        let file = answer.str("file").expect("every answer names its file");
        if let Some(reason) = answer.str("skipped") {
            self.tally
                .counts()
                .skipped
                .push(format!("{file}: {reason}"));
        } else if let Some(labels) = answer.get("labels") {
            if !labels.is_null() {
                self.labels(&file, labels);
            }
        } else {
            self.place(&file, answer);
        }
    }

    fn place(&self, file: &str, answer: Raw<'_>) {
        let rev = answer.str("rev").unwrap_or_default().into_owned();
        let place = Place { file, rev };
        self.tally.counts().places += 1;
        if place.rev != "root" {
            self.check_path(&place, answer);
        }
        self.check_context(&place, answer);
        self.check_tokens(&place, answer);
        if let Some(wanted) = answer.get("llm") {
            self.check_llm(&place, answer, wanted);
        }
    }

    fn check_path(&self, place: &Place<'_>, answer: Raw<'_>) {
        let items = answer.get("path").into_iter().flat_map(Raw::items);
        let wanted: Vec<String> = items.map(|id| id.to_text().into_owned()).collect();
        let got = self.path(place);
        // pi makes up the ids of a version 1 file anew each time.
        if answer.get("linear").and_then(Raw::as_bool) == Some(true) {
            let (wanted, got) = (wanted.len().to_string(), got.len().to_string());
            return self.same(place, "rev-path, length", &wanted, &got);
        }
        self.same(place, "rev-path", &wanted.join("\n"), &got.join("\n"));
    }

    fn check_context(&self, place: &Place<'_>, answer: Raw<'_>) {
        let got = self.json(place, &["context"]);
        let Some(wanted) = answer.get("context").filter(|wanted| !is_failure(*wanted)) else {
            return;
        };
        self.same(
            place,
            "context",
            &js::stringify(wanted),
            &js::stringify(Raw::new(&got)),
        );
    }

    fn check_tokens(&self, place: &Place<'_>, answer: Raw<'_>) {
        let got = self.json(place, &["context", "--tokens"]);
        let got = Raw::new(&got).as_f64();
        let wanted = answer.get("tokens").and_then(Raw::as_f64);
        // pi fails or has no number (null) where a shape is too odd; pis always has one.
        if got.is_none() || wanted.is_some_and(|wanted| Some(wanted) != got) {
            let (wanted, got) = (format!("{wanted:?}"), format!("{got:?}"));
            self.differ(place, "context --tokens", &wanted, &got);
        }
    }

    /// What goes to a model: the stored messages as they are, others with the same contents in
    /// words of pis's own.
    fn check_llm(&self, place: &Place<'_>, answer: Raw<'_>, wanted: Raw<'_>) {
        let got = self.json(place, &["context", "--as", "llm"]);
        if is_failure(wanted) {
            return;
        }
        let context = answer
            .get("context")
            .and_then(|context| context.get("messages"));
        let sources: Vec<Raw<'_>> = context.into_iter().flat_map(Raw::items).collect();
        let (wanted, got): (Vec<_>, Vec<_>) =
            (wanted.items().collect(), Raw::new(&got).items().collect());
        if wanted.len() != got.len() {
            let (wanted, got) = (wanted.len().to_string(), got.len().to_string());
            return self.differ(place, "context --as llm, length", &wanted, &got);
        }
        for (wanted, got) in wanted.into_iter().zip(got) {
            let from = wanted.get("from").map(Raw::to_text).unwrap_or_default();
            let source = from
                .parse()
                .ok()
                .and_then(|n: usize| sources.get(n).copied());
            let source = source.unwrap_or_default();
            self.check_message(place, source, wanted.get("message"), got);
        }
    }

    fn check_message(
        &self,
        place: &Place<'_>,
        source: Raw<'_>,
        made: Option<Raw<'_>>,
        got: Raw<'_>,
    ) {
        let (what, text) = ("context --as llm", js::stringify(got));
        let role = source.str("role").unwrap_or_default();
        let parts: &[&str] = match &*role {
            "branchSummary" | "compactionSummary" => &["summary"],
            "bashExecution" => &["command", "output"],
            _ => return self.same(place, what, &js::stringify(made.unwrap_or(source)), &text),
        };
        let made = made.unwrap_or_default();
        let outline = |message: Raw<'_>| {
            let part = |key| message.get(key).map(js::stringify);
            format!("{:?} {:?}", part("role"), part("timestamp"))
        };
        self.same(place, what, &outline(made), &outline(got));
        let block = got
            .get("content")
            .and_then(|content| content.items().next());
        let block = block
            .and_then(|block| block.str("text"))
            .unwrap_or_default();
        for part in parts {
            let wanted = source.str(part).unwrap_or_default();
            if !block.contains(&*wanted) {
                self.differ(place, what, &wanted, &block);
            }
        }
    }

    fn labels(&self, file: &str, labels: Raw<'_>) {
        let place = Place {
            file,
            rev: "@".to_owned(),
        };
        let output = self.run(&place, &["for-each-label", "--json"]);
        let mut wanted: Vec<String> = labels
            .members()
            .map(|(target, label)| format!("{} {}", target.text(), label.to_text()))
            .collect();
        let mut got: Vec<String> = lines(&output.stdout)
            .map(Raw::new)
            .map(|row| {
                let [target, label] =
                    ["target", "label"].map(|key| row.str(key).unwrap_or_default());
                format!("{target} {label}")
            })
            .collect();
        wanted.sort();
        got.sort();
        self.same(
            &place,
            "for-each-label",
            &wanted.join("\n"),
            &got.join("\n"),
        );
    }

    /// What `rev-path` lists. An odd id is printed as a JSON string.
    fn path(&self, place: &Place<'_>) -> Vec<String> {
        let output = self.run(place, &["rev-path", &place.rev]);
        lines(&output.stdout)
            .map(|line| Raw::new(line).to_text().into_owned())
            .collect()
    }

    /// What a command prints at the place, which must be JSON.
    fn json(&self, place: &Place<'_>, command: &[&str]) -> Vec<u8> {
        let mut args = command.to_vec();
        args.push(&place.rev);
        let output = self.run(place, &args);
        if serde_json::from_slice::<&serde_json::value::RawValue>(&output.stdout).is_err() {
            let got = String::from_utf8_lossy(&output.stdout);
            self.differ(place, &command.join(" "), "JSON", &got);
        }
        output.stdout
    }

    fn run(&self, place: &Place<'_>, args: &[&str]) -> Output {
        let output = Command::new(env!("CARGO_BIN_EXE_pis"))
            .env_clear()
            .env("HOME", self.home)
            .current_dir(self.home)
            .args(["-s", place.file])
            .args(args)
            .output()
            .expect("pis was built");
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            self.differ(place, &args.join(" "), "success", &errors);
        }
        output
    }

    fn same(&self, place: &Place<'_>, what: &str, wanted: &str, got: &str) {
        if wanted != got {
            self.differ(place, what, wanted, got);
        }
    }

    fn differ(&self, place: &Place<'_>, what: &str, wanted: &str, got: &str) {
        let mut text = format!("{} {} {what}", place.file, place.rev);
        for (who, said) in [("pi", wanted), ("pis", got)] {
            // Around the first difference, which a long context hides.
            let common = wanted
                .bytes()
                .zip(got.bytes())
                .take_while(|(a, b)| a == b)
                .count();
            let said = said.as_bytes();
            let part = &said[common.saturating_sub(60).min(said.len())..];
            let part = String::from_utf8_lossy(&part[..part.len().min(300)]);
            let _ = write!(text, "\n  {who}: {part}");
        }
        self.tally.counts().differences.push(text);
    }
}

/// Whether pi failed: then there is nothing to be equal to.
fn is_failure(answer: Raw<'_>) -> bool {
    answer.get("error").is_some()
}

fn lines(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output
        .split(|&b| b == b'\n')
        .filter(|line| !line.is_empty())
}

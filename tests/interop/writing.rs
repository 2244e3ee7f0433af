//! What `clone`, `fork` and `copy` write and where `checkout` goes, against the real pi: on random
//! sessions, and on shapes that random ones seldom have.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pis::json::Raw;
use serde_json::{Value, json};

use crate::common::{Ran, World};
use crate::files::generated;
use crate::reference::{Answer, Reference};
use crate::shapes::shapes;
use crate::state::{difference, rev_of, value};

/// Random sessions, and entries of each.
const SESSIONS: usize = 100;
const ENTRIES: usize = 5;
/// All entries of a file that was made for a shape.
const ALL: usize = 1000;

/// Where a copy is said to belong.
const ELSEWHERE: &str = "/srv/elsewhere";

#[test]
fn sessions_branch_as_pi_branches_them() {
    let Some(reference) = Reference::or_skip() else {
        return;
    };
    let world = World::new();
    let random = generated(
        &reference,
        "generate.mjs",
        &world.path("random"),
        SESSIONS,
        7,
    );
    let ask = |count: usize| move |file: PathBuf| json!({ "file": file, "count": count, "cwd": ELSEWHERE });
    let mut questions: Vec<Value> = random.into_iter().map(ask(ENTRIES)).collect();
    questions.extend(shapes(&world).into_iter().map(ask(ALL)));

    let check = Check {
        world: &world,
        count: AtomicUsize::new(0),
        differences: Mutex::default(),
        old: Mutex::default(),
    };
    reference.check("writing", &questions, |answer| check.answer(answer));
    check.old_ones(&reference);

    let differences = check.differences.into_inner().expect("no holder panics");
    let count = check.count.into_inner();
    let report = format!(
        "{count} branches and moves compared, {} differences",
        differences.len()
    );
    let _ = writeln!(std::io::stderr(), "interop: {report}");
    let shown = &differences[..differences.len().min(8)];
    assert!(differences.is_empty(), "{report}\n{}", shown.join("\n"));
    assert!(count > SESSIONS, "{report}");
}

/// A session as a file: its lines by the id of their entry.
struct Source {
    file: PathBuf,
    lines: HashMap<String, Vec<Vec<u8>>>,
}

impl Source {
    fn read(file: &Path) -> Source {
        let bytes = std::fs::read(file).expect("the session");
        let mut lines: HashMap<String, Vec<Vec<u8>>> = HashMap::new();
        for line in bytes.split(|&b| b == b'\n') {
            let line = line.trim_ascii();
            let id = Raw::new(line).get("id").map(|id| id.to_text().into_owned());
            lines
                .entry(id.unwrap_or_default())
                .or_default()
                .push(line.to_vec());
        }
        let file = file.to_owned();
        Source { file, lines }
    }

    /// The last line of an entry, which is the one that counts.
    fn line(&self, id: &str) -> Raw<'_> {
        Raw::new(self.lines[id].last().expect("the entry"))
    }
}

struct Check<'a> {
    world: &'a World,
    count: AtomicUsize,
    differences: Mutex<Vec<String>>,
    old: Mutex<Vec<PathBuf>>,
}

impl Check<'_> {
    fn answer(&self, answer: &Answer) {
        let answer = value(answer.raw());
        let file = Path::new(
            answer["file"]
                .as_str()
                .expect("every answer names its file"),
        );
        if !answer["skipped"].is_null() {
            return self.differ(&format!("{answer}"));
        }
        if answer["old"] == true {
            return self
                .old
                .lock()
                .expect("no holder panics")
                .push(file.to_owned());
        }
        let source = Source::read(file);
        if !answer["copy"].is_null() {
            return self.copied(&source, &answer["copy"]);
        }
        let id = answer["id"].as_str().expect("an entry");
        self.cloned(&source, id, &answer["clone"]);
        if !answer["fork"].is_null() {
            self.forked(&source, id, &answer["fork"]);
        }
        self.checked_out(&source, id, &answer["navigate"]);
    }

    fn copied(&self, source: &Source, wanted: &Value) {
        let file = source.file.to_str().expect("UTF-8");
        let args = ["copy", file, "--cwd", ELSEWHERE];
        self.written(source, &args, wanted);
    }

    fn cloned(&self, source: &Source, id: &str, wanted: &Value) {
        let (file, rev) = (source.file.to_str().expect("UTF-8"), rev_of(id));
        self.written(source, &["-s", file, "clone", &rev], wanted);
        // A fork that keeps its message is a clone of the path to it.
        self.written(source, &["-s", file, "fork", "--at", &rev], wanted);
    }

    fn forked(&self, source: &Source, id: &str, wanted: &Value) {
        let (file, rev) = (source.file.to_str().expect("UTF-8"), rev_of(id));
        let args = ["-s", file, "fork", &rev];
        if wanted["empty"] == true {
            // Nothing stands before the message: pis writes the header that pi will write.
            let cwd = value(source.header())["cwd"].clone();
            let header = json!({
                "type": "session", "version": 3, "id": "<new>", "timestamp": "<now>",
                "cwd": cwd, "parentSession": wanted["parentSession"],
            });
            self.written(source, &args, &json!([header]));
        } else {
            self.written(source, &args, wanted);
        }
    }

    /// Runs a command that writes a session, and compares the file.
    fn written(&self, source: &Source, args: &[&str], wanted: &Value) {
        let nth = self.count.fetch_add(1, Ordering::Relaxed);
        let out = self.world.path(&format!("out-{nth}.jsonl"));
        let mut all = vec!["--json", "-q", "-o", out.to_str().expect("UTF-8")];
        all.splice(0..0, args.iter().copied());
        let what = format!("pis {}", all.join(" "));
        let ran = self.world.pis(&all);
        if !wanted["error"].is_null() {
            if ran.code == 0 {
                self.differ(&format!("{what}\n  pi: {wanted}\n  pis: {ran:?}"));
            }
            return;
        }
        if ran.code != 0 || !ran.stderr.is_empty() {
            return self.differ(&format!("{what}: {ran:?}"));
        }
        let bytes = std::fs::read(&out).expect("the new session");
        let lines: Vec<&[u8]> = bytes.split(|&b| b == b'\n').collect();
        let Some((&[], lines)) = lines.split_last() else {
            return self.differ(&format!("{what}: no newline at the end"));
        };
        let mut records: Vec<Value> = lines.iter().map(|line| value(Raw::new(line))).collect();
        let made = value(Raw::new(ran.stdout.as_bytes()));
        let leaf = records[1..]
            .iter()
            .rev()
            .find_map(|record| record.get("id"));
        if Some(&made["leaf"]) != leaf.or(Some(&Value::Null)) {
            self.differ(&format!("{what}: the leaf is not the last entry: {made}"));
        }
        if records[0]["parentSession"] != json!(source.file)
            || records[0]["id"] != made["sessionId"]
        {
            self.differ(&format!("{what}: {}", records[0]));
        }
        normalise(source, &mut records);
        if let Some(difference) = difference(&what, wanted, &json!(records)) {
            self.differ(&difference);
        }
        for line in &lines[1..] {
            let id = Raw::new(line).get("id").map(|id| id.to_text().into_owned());
            let Some(stored) = source.lines.get(&id.unwrap_or_default()) else {
                continue;
            };
            if !stored
                .iter()
                .any(|stored| is_only_linked_anew(stored, line))
            {
                let line = String::from_utf8_lossy(line);
                self.differ(&format!("{what}: other bytes changed: {line}"));
            }
        }
        std::fs::remove_file(&out).expect("it was written");
    }

    fn checked_out(&self, source: &Source, id: &str, wanted: &Value) {
        let nth = self.count.fetch_add(1, Ordering::Relaxed);
        let file = self.world.write(
            &format!("moved-{nth}/session.jsonl"),
            std::fs::read(&source.file).expect("the session"),
        );
        let before = std::fs::read(&file).expect("the session");
        let rev = rev_of(id);
        let file_arg = file.to_str().expect("UTF-8");
        let ran = self
            .world
            .pis(&["-s", file_arg, "--json", "-q", "checkout", &rev]);
        let what = format!("{} checkout {id}", source.file.display());
        if before != std::fs::read(&file).expect("the session") {
            self.differ(&format!("{what} changed the file"));
        }
        let parent = source.line(id).get("parentId").map(value);
        // pi fails on a message whose parent is missing or empty; to pis that is a root.
        let is_nowhere = parent.is_none_or(|parent| parent == json!(""));
        if wanted["error"].is_string() && !is_nowhere {
            if ran.code == 0 {
                self.differ(&format!("{what}\n  pi: {wanted}\n  pis: {ran:?}"));
            }
            return;
        }
        if ran.code != 0 {
            return self.differ(&format!("{what}: {ran:?}"));
        }
        // On the leaf pi does nothing, while pis hands a prompt back there, too.
        if wanted["unchanged"] == true || wanted["error"].is_string() {
            return self.handed_back(source, id, &what, &ran);
        }
        let got = value(Raw::new(ran.stdout.as_bytes()));
        let got = json!({ "leaf": got["leaf"], "editorText": got["prompt"] });
        if let Some(difference) = difference(&what, wanted, &got) {
            self.differ(&difference);
        }
    }

    /// Where pi does not say where to go: a message goes to its parent, all else to itself.
    fn handed_back(&self, source: &Source, id: &str, what: &str, ran: &Ran) {
        let got = value(Raw::new(ran.stdout.as_bytes()));
        let entry = value(source.line(id));
        let is_prompt = entry["message"]["role"] == "user" || entry["type"] == "custom_message";
        let parent = entry["parentId"]
            .as_str()
            .filter(|parent| !parent.is_empty());
        let leaf = if is_prompt { json!(parent) } else { json!(id) };
        if got["leaf"] != leaf || got["prompt"].is_string() != is_prompt {
            self.differ(&format!("{what}: {got}"));
        }
    }

    /// Copies of sessions of version 1 and 2 are to pi what the originals are. It makes up other
    /// ids for them at each run, so only what does not depend on them is compared.
    fn old_ones(&self, reference: &Reference) {
        let old = self.old.lock().expect("no holder panics");
        let mut files = Vec::new();
        for (n, file) in old.iter().enumerate() {
            let copy = self.world.path(&format!("old-{n}.jsonl"));
            let [from, to] = [file, &copy].map(|path| path.to_str().expect("UTF-8"));
            let ran = self.world.pis(&["-q", "copy", from, "-o", to]);
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{from}");
            files.extend([file.clone(), copy]);
        }
        assert!(files.len() > 4, "there are old sessions among the files");
        for pair in reference.all(&files).chunks(2) {
            let outline = |answer: &Value| {
                let depth = answer["path"].as_array().map(Vec::len);
                json!([
                    answer["context"],
                    answer["tokens"],
                    depth,
                    answer["info"]["name"]
                ])
            };
            let what = format!("copy {}", pair[0]["file"]);
            if let Some(difference) = difference(&what, &outline(&pair[0]), &outline(&pair[1])) {
                self.differ(&difference);
            }
            self.count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn differ(&self, text: &str) {
        self.differences
            .lock()
            .expect("no holder panics")
            .push(text.to_owned());
    }
}

impl Source {
    fn header(&self) -> Raw<'_> {
        let lines = self.lines.values().flatten();
        let mut headers = lines
            .map(|line| Raw::new(line))
            .filter(|line| line.str("type").is_some_and(|kind| kind == "session"));
        headers.next().expect("a header")
    }
}

/// Replaces new ids and times as the oracle does.
fn normalise(source: &Source, records: &mut [Value]) {
    let mut fresh: HashMap<String, String> = HashMap::new();
    for record in records {
        let id = record["id"].as_str().unwrap_or_default().to_owned();
        if record["type"] == "session" {
            record["id"] = json!("<new>");
            record["timestamp"] = json!("<now>");
            let parent = record["parentSession"].as_str().map(Path::new);
            let name = parent
                .and_then(Path::file_name)
                .and_then(|name| name.to_str());
            record["parentSession"] = json!(name);
            continue;
        }
        if !source.lines.contains_key(&id) {
            let name = format!("<new{}>", fresh.len() + 1);
            record["id"] = json!(name);
            fresh.insert(id, name);
        }
        if let Some(name) = record["parentId"].as_str().and_then(|id| fresh.get(id)) {
            record["parentId"] = json!(name);
        }
    }
}

/// Whether only the values of links differ; `parentId` may have come at the end.
fn is_only_linked_anew(stored: &[u8], line: &[u8]) -> bool {
    let without_links = |line: &[u8]| {
        let mut bytes = line.to_vec();
        for key in ["parentId", "firstKeptEntryId"] {
            let Some(link) = Raw::new(&bytes).get(key).map(Raw::bytes) else {
                continue;
            };
            let start = link.as_ptr().addr() - bytes.as_ptr().addr();
            let end = start + link.len();
            bytes.splice(start..end, *b"0");
        }
        bytes
    };
    let mut added = without_links(stored);
    added.pop();
    added.extend_from_slice(b",\"parentId\":0}");
    let line = without_links(line);
    line == without_links(stored) || line == added
}

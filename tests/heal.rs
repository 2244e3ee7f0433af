//! Whatever happens to a session: it is noticed, and repairing loses no record that is intact.
//! The library is called directly, so that hundreds of cases take seconds.

use std::path::PathBuf;

use pis::check::{Finding, Severity, check_bytes};
use pis::repair::{Repaired, Surroundings, repair};
use pis::store::discover::Places;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{Build, assistant};
use crate::props::{at, mutate, mutation, valid};

fn places() -> Places {
    Places {
        cwd: PathBuf::from("/nowhere"),
        home: None,
        agent_dir: Some(PathBuf::from("/nowhere/agent")),
        session_dir: None,
    }
}

/// Findings that a sound session does not have.
fn serious(bytes: &[u8]) -> Vec<Finding> {
    let found = check_bytes(bytes.to_vec(), &places()).expect("memory is read");
    let serious = |finding: &Finding| finding.code.severity() != Severity::Info;
    found.into_iter().filter(serious).collect()
}

fn repaired(bytes: &[u8]) -> pis::error::Result<Repaired> {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("s.jsonl");
    std::fs::write(&path, bytes).expect("a file");
    let number = std::cell::Cell::new(0);
    let entry_id = || {
        number.set(number.get() + 1);
        format!("new{:05}", number.get())
    };
    let around = Surroundings {
        places: &places(),
        now: "2026-02-01T00:00:00.000Z",
        session_id: "new-session",
        entry_id: &entry_id,
    };
    repair(&path, around)
}

fn bytes_of(source: &pis::store::source::Source) -> Vec<u8> {
    source.read_range(0, source.len()).expect("it is read")
}

/// A step of a random conversation: where it goes on, and with what.
#[derive(Debug, Clone)]
struct Step {
    back: usize,
    kind: u8,
    text: String,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let back = prop_oneof![8 => Just(0_usize), 1 => 1..6_usize];
    let text = "[a-z \\n\\t\"\\\\{}\u{e9}\u{2028}\u{1f600}]{0,60}";
    let step = (back, 0..12_u8, text).prop_map(|(back, kind, text)| Step { back, kind, text });
    vec(step, 2..25)
}

/// A sound session. Its lines tell themselves apart by their ids.
fn sound(steps: &[Step]) -> Vec<u8> {
    let mut build = Build::new();
    let mut ids: Vec<String> = Vec::new();
    // The entries on which anything may hang: none waits for a result.
    let mut open: Vec<String> = Vec::new();
    for (n, step) in steps.iter().enumerate() {
        let id = format!("e{n:07}");
        let parent = match open.len().checked_sub(1 + step.back) {
            Some(at) => open[at].clone(),
            None => String::new(),
        };
        let text = step.text.as_str();
        build = match step.kind {
            0..4 => build.user(&id, &parent, text),
            4 | 5 => build.assistant(&id, &parent, text),
            6 => {
                let call = json!({ "type": "toolCall", "id": id, "name": "read",
                    "arguments": { "path": text } });
                let result = json!({ "role": "toolResult", "toolCallId": id, "toolName": "read",
                    "content": [{ "type": "text", "text": text }], "isError": false, "timestamp": 3 });
                let next = format!("r{n:07}");
                open.push(next.clone());
                build
                    .message(&id, &parent, assistant(json!([call])))
                    .message(&next, &id, result)
            }
            7 if !ids.is_empty() => build.label(&id, &parent, &ids[text.len() % ids.len()], "good"),
            8 => build.entry(
                &id,
                &parent,
                json!({ "type": "session_info", "name": text }),
            ),
            9 => build.entry(
                &id,
                &parent,
                json!({ "type": "compaction", "summary": text, "firstKeptEntryId": id,
                    "tokensBefore": 9 }),
            ),
            10 => build.entry(
                &id,
                &parent,
                json!({ "type": "custom_message", "customType": "x", "content": text }),
            ),
            _ => build.entry(
                &id,
                &parent,
                json!({ "type": "custom", "customType": "x", "data": { "a": text } }),
            ),
        };
        if step.kind != 6 {
            open.push(id.clone());
        }
        ids.push(id);
    }
    build.text().into_bytes()
}

/// What can happen to a file. Places are fractions.
#[derive(Debug, Clone)]
enum Damage {
    /// A write was cut off, and the next one went on behind it.
    Torn(f64, f64),
    /// The newline between two lines is gone, or is a space.
    Glued(f64, bool),
    /// NULs before a line, on it or on a line of their own.
    Nuls(f64, usize, bool),
    /// A stretch that was never written.
    Hole(f64, usize),
    /// The file ends inside a line.
    Cut(f64),
    /// A raw control character in the text of a line.
    Raw(f64, u8),
    /// A line stands twice.
    Twice(f64, f64),
    /// A line is gone that another one hangs on.
    Gone(f64),
    /// The header is gone.
    Headless,
    /// What an editor puts first.
    Bom,
    /// Something else stands there.
    Junk(f64, &'static str),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = || 0.0..1.0_f64;
    prop_oneof![
        3 => (place(), place()).prop_map(|(line, at)| Damage::Torn(line, at)),
        3 => (place(), any::<bool>()).prop_map(|(line, space)| Damage::Glued(line, space)),
        2 => (place(), 1..400_usize, any::<bool>()).prop_map(|(line, n, own)| Damage::Nuls(line, n, own)),
        2 => (place(), 1..600_usize).prop_map(|(at, n)| Damage::Hole(at, n)),
        1 => place().prop_map(Damage::Cut),
        2 => (place(), prop::sample::select(&b"\n\r\t\x0b\x0c\x1b\x01"[..])).prop_map(|(line, b)| Damage::Raw(line, b)),
        1 => (place(), place()).prop_map(|(line, to)| Damage::Twice(line, to)),
        1 => place().prop_map(Damage::Gone),
        1 => Just(Damage::Headless),
        1 => Just(Damage::Bom),
        1 => (place(), prop::sample::select(&["not json", "{\"type\":\"mess", "42", "[1]", "}", "{\"a\":"][..]))
            .prop_map(|(line, junk)| Damage::Junk(line, junk)),
    ]
}

/// Damages a file; false where there is nothing that this can happen to.
fn happens(bytes: &mut Vec<u8>, damage: &Damage) -> bool {
    let mut lines: Vec<Vec<u8>> = bytes.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    // Behind the last newline there is nothing.
    let count = lines.len() - 1;
    if count < 2 {
        return false;
    }
    match damage {
        Damage::Torn(line, place) => {
            let line = at(*line, count - 1);
            let keep = 1 + at(*place, lines[line].len().saturating_sub(1));
            let next = lines.remove(line + 1);
            if keep >= lines[line].len() {
                return false;
            }
            lines[line].truncate(keep);
            lines[line].extend(next);
        }
        Damage::Glued(line, space) => {
            let line = at(*line, count - 1);
            let next = lines.remove(line + 1);
            if next.is_empty() || lines[line].is_empty() {
                return false;
            }
            lines[line].extend(space.then_some(b' '));
            lines[line].extend(next);
        }
        Damage::Nuls(line, n, own) => {
            let line = at(*line, count);
            let mut nuls = vec![0; *n];
            if *own {
                lines.insert(line, nuls);
            } else {
                nuls.append(&mut lines[line]);
                lines[line] = nuls;
            }
        }
        Damage::Hole(place, n) => {
            let place = at(*place, bytes.len());
            let end = (place + n).min(bytes.len());
            bytes[place..end].fill(0);
            return true;
        }
        Damage::Cut(place) => {
            let place = at(*place, bytes.len());
            let inside = place > 1 && bytes[place - 1] != b'\n' && bytes[place] != b'\n';
            if inside {
                bytes.truncate(place);
            }
            return inside;
        }
        Damage::Raw(line, byte) => {
            let line = &mut lines[at(*line, count)];
            let Some(text) = line.windows(8).position(|w| w == b"\"text\":\"") else {
                return false;
            };
            // In front of a value that is the key's, so that the string goes on.
            line.insert(text + 8, *byte);
        }
        Damage::Twice(line, to) => {
            let line = lines[1 + at(*line, count - 1)].clone();
            if !line.starts_with(b"{\"") {
                return false;
            }
            lines.insert(1 + at(*to, count - 1), line);
        }
        Damage::Gone(line) => {
            let line = 1 + at(*line, count - 1);
            let gone = lines.remove(line);
            let id: Option<Value> = serde_json::from_slice(&gone).ok();
            let id = id.and_then(|entry| Some(entry["id"].as_str()?.to_owned()));
            let Some(id) = id else { return false };
            let named = format!("\"parentId\":\"{id}\"");
            let stands = format!("\"id\":\"{id}\"");
            let holds = |text: &str| {
                let holds = |line: &Vec<u8>| String::from_utf8_lossy(line).contains(text);
                lines.iter().any(holds)
            };
            // Where it stood twice, nothing is missing.
            if !holds(&named) || holds(&stands) {
                return false;
            }
        }
        Damage::Headless => {
            if !lines[0].starts_with(b"{\"")
                || !String::from_utf8_lossy(&lines[0]).contains("\"cwd\"")
            {
                return false;
            }
            lines.remove(0);
        }
        Damage::Bom => {
            lines[0].splice(0..0, *b"\xef\xbb\xbf");
        }
        Damage::Junk(line, junk) => lines.insert(1 + at(*line, count), junk.as_bytes().to_vec()),
    }
    *bytes = lines.join(&b'\n');
    true
}

/// An entry without what ties it to others.
fn loose(line: &[u8]) -> Option<Value> {
    let mut entry: Value = serde_json::from_slice(line).ok()?;
    let map = entry.as_object_mut()?;
    // Where two entries claim an id, one gets another. Their times tell them apart.
    for key in ["id", "parentId", "targetId"] {
        map.remove(key);
    }
    Some(entry)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_noticed_and_no_intact_record_is_lost(
        steps in steps(), damages in vec(damage(), 1..4),
    ) {
        let before = sound(&steps);
        prop_assert_eq!(serious(&before), vec![], "it is sound");
        let mut after = before.clone();
        let mut happened = false;
        for damage in &damages {
            let undamaged = after.clone();
            if happens(&mut after, damage) {
                happened = true;
            } else {
                after = undamaged;
            }
        }
        if !happened {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&after).into_owned();
        // What one does, another may undo.
        let is_noticed = damages.len() > 1 || !serious(&after).is_empty();
        prop_assert!(is_noticed, "nothing is noticed: {text}");
        let is_intact = |line: &&[u8]| {
            line.starts_with(b"{\"") && memchr::memmem::find(&after, line).is_some()
        };
        let lines = before.split(|&b| b == b'\n').skip(1);
        let intact: Vec<&[u8]> = lines.filter(is_intact).collect();
        let done = match repaired(&after) {
            Ok(done) => done,
            Err(e) => {
                prop_assert!(intact.is_empty(), "{e}: {text}");
                return Ok(());
            }
        };
        let new = bytes_of(done.source());
        let kept: Vec<Value> = new.split(|&b| b == b'\n').filter_map(loose).collect();
        for line in intact {
            let entry = loose(line).expect("it was JSON");
            prop_assert!(kept.contains(&entry), "{entry} is lost of {text}");
        }
        let errors = serious(&new);
        let errors: Vec<_> = errors.iter().filter(|f| f.code.severity() == Severity::Error).collect();
        prop_assert!(errors.is_empty(), "{errors:?} after {:?} of {text}", done.actions);
        let again = repaired(&new).expect("it is sound");
        prop_assert!(again.actions.is_empty(), "{:?} again, of {text}", again.actions);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_repaired_is_sound(mutations in vec(mutation(), 1..8)) {
        let mut bytes = valid();
        for mutation in &mutations {
            mutate(&mut bytes, mutation);
        }
        check_bytes(bytes.clone(), &places()).expect("memory is read");
        let Ok(done) = repaired(&bytes) else { return Ok(()) };
        let new = bytes_of(done.source());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let found = serious(&new);
        let errors: Vec<_> = found.iter().filter(|f| f.code.severity() == Severity::Error).collect();
        prop_assert!(errors.is_empty(), "{errors:?} after {:?} of {text}", done.actions);
        let again = repaired(&new).expect("it is sound");
        prop_assert!(again.actions.is_empty(), "{:?} again, of {text}", again.actions);
    }
}

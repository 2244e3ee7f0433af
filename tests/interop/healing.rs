//! What pis migrates, repairs and imports opens in pi, which makes of it what pis says it is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::World;
use crate::files::{collect, generated};
use crate::reference::Reference;
use crate::shapes::shapes;
use crate::state::{difference, said_by_pi, said_by_pis};

/// The version in a file's first line that is a header.
fn version(path: &Path) -> Option<f64> {
    let bytes = std::fs::read(path).expect("a file");
    let lines = bytes.split(|&b| b == b'\n');
    let header = { lines }.find_map(|line| serde_json::from_slice::<Value>(line).ok())?;
    (header["type"] == "session").then(|| header["version"].as_f64().unwrap_or(1.0))
}

/// What pi says, with ids by their place on the path: those of version 1 are new at every opening.
fn without_ids(answer: &Value) -> Value {
    let mut said = said_by_pi(answer);
    let ids: HashMap<String, usize> = said["path"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(n, id)| (id.to_string(), n))
        .collect();
    let place = |id: &Value| json!(ids.get(&id.to_string()));
    said["leaf"] = place(&said["leaf"]);
    if let Some(labels) = said["labels"].as_object() {
        let labels = labels
            .iter()
            .map(|(id, label)| (place(&json!(id)).to_string(), label.clone()));
        said["labels"] = Value::Object(labels.collect());
    }
    said["path"] = json!(ids.len());
    said
}

#[test]
fn old_sessions_migrate_to_what_pi_makes_of_them() {
    let Some(reference) = Reference::or_skip() else {
        return;
    };
    let world = World::new();
    let mut files = collect(&reference, &world.path("given"));
    files.extend(shapes(&world));
    files.retain(|file| version(file).is_some_and(|version| version < 3.0));
    assert!(files.len() > 3, "{files:?}");
    let mut asked = Vec::new();
    for (n, file) in files.iter().enumerate() {
        let bytes = std::fs::read(file).expect("a file");
        // pi writes such a file anew when it opens it.
        asked.push(world.write(&format!("theirs/{n}.jsonl"), &bytes));
        let ours = world.write(&format!("ours/{n}.jsonl"), &bytes);
        world.ok(&["-q", "migrate", ours.to_str().expect("UTF-8")]);
        asked.push(ours);
    }
    let answers = reference.all(&asked);
    assert_eq!(answers.len(), asked.len());
    let compare = |(pair, file): (&[Value], &PathBuf)| {
        let [theirs, ours] = [&pair[0], &pair[1]].map(without_ids);
        difference(&file.display().to_string(), &theirs, &ours)
    };
    let differences: Vec<_> = answers.chunks(2).zip(&files).filter_map(compare).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// What pi says in the words of pis, which prints all ids and labels as text, and has an estimate
/// where pi fails for one.
fn in_our_words(answer: &Value, by_pis: &Value) -> Value {
    let text = |value: &Value| match value {
        Value::Null => Value::Null,
        Value::String(text) => json!(text),
        other => json!(other.to_string()),
    };
    let mut said = said_by_pi(answer);
    if !said["tokens"].is_number() {
        said["tokens"] = by_pis["tokens"].clone();
    }
    said["leaf"] = text(&said["leaf"]);
    if let Some(path) = said["path"].as_array() {
        said["path"] = path.iter().map(text).collect();
    }
    if let Some(labels) = said["labels"].as_object() {
        let labels = labels.iter().map(|(id, label)| (id.clone(), text(label)));
        said["labels"] = Value::Object(labels.collect());
    }
    said
}

/// What happens to files: the first, second, … half of the lines is in front of the place.
fn damages(bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let lines: Vec<&[u8]> = bytes.split(|&b| b == b'\n').collect();
    let middle = lines.len() / 2;
    let (a, b) = (lines[middle - 1], lines[middle]);
    let with = |between: &[&[u8]]| {
        [&lines[..middle - 1], between, &lines[middle + 1..]]
            .concat()
            .join(&b'\n')
    };
    let glued = [a, b].concat();
    let torn = [&a[..a.len() / 2], b].concat();
    let nuls = [&vec![0; 4096], b].concat();
    let redacted = [&a[..a.len() / 2], b"[REDACTED]\"}", &a[a.len() / 2 + 1..]].concat();
    let mut hole = bytes.to_vec();
    let from = bytes.len() / 3;
    let to = (from + 3000).min(bytes.len());
    hole[from..to].fill(0);
    let text = memchr::memmem::find(a, b"\"text\":\"").map_or(a.len(), |at| at + 8);
    let split = [&a[..text], b"\n", &a[text..]].concat();
    vec![
        ("two on one line", with(&[&glued])),
        ("a torn one and a whole one", with(&[&torn])),
        ("NULs before a record", with(&[a, &nuls])),
        ("a redactor", with(&[&redacted, b])),
        ("a hole", hole),
        ("a line end in a text", with(&[&split, b])),
        ("a line twice", with(&[a, a, b])),
        ("no header", lines[1..].join(&b'\n')),
        ("cut off", bytes[..bytes.len() - 30].to_vec()),
        ("a line less", with(&[b])),
        ("a byte order mark", [b"\xef\xbb\xbf", bytes].concat()),
    ]
}

#[test]
fn what_is_repaired_opens_in_pi_with_nothing_lost() {
    let Some(reference) = Reference::or_skip() else {
        return;
    };
    let world = World::new();
    let mut cases: Vec<(String, Vec<u8>)> = Vec::new();
    for file in generated(&reference, "generate.mjs", &world.path("random"), 12, 77) {
        let bytes = std::fs::read(&file).expect("a session");
        let name = file.display().to_string();
        let named = |(what, bytes)| (format!("{what} in {name}"), bytes);
        cases.extend(damages(&bytes).into_iter().map(named));
    }
    for file in collect(&reference, &world.path("given")) {
        cases.push((
            file.display().to_string(),
            std::fs::read(&file).expect("a file"),
        ));
    }
    let mut repaired = Vec::new();
    for (n, (what, bytes)) in cases.iter().enumerate() {
        let damaged = world.write(&format!("damaged/{n}.jsonl"), bytes);
        let new = world.path(&format!("repaired/{n}.jsonl"));
        let [damaged, output] = [&damaged, &new].map(|path| path.to_str().expect("UTF-8"));
        let ran = world.pis(&["-q", "repair", damaged, "-o", output]);
        // There is nothing in it, or it is newer than pis.
        if ran.code == 128 {
            continue;
        }
        assert_eq!(ran.code, 0, "{what}: {ran:?}");
        let ids = world.lines(&["-q", "-s", output, "ls-entries"]);
        for line in bytes.split(|&b| b == b'\n') {
            let Ok(entry) = serde_json::from_slice::<Value>(line) else {
                continue;
            };
            let is_whole = entry["message"].is_object() && entry["type"] == "message";
            if let Some(id) = entry["id"].as_str().filter(|_| is_whole)
                && version(Path::new(damaged)).is_none_or(|version| version >= 2.0)
            {
                let printed = serde_json::to_string(id).expect("JSON");
                assert!(
                    ids.iter().any(|known| known == id || *known == printed),
                    "{id} of {what}"
                );
            }
        }
        let said = said_by_pis(&world, output);
        repaired.push((what, new, said));
    }
    let files: Vec<PathBuf> = repaired.iter().map(|(_, file, _)| file.clone()).collect();
    assert!(files.len() > 100, "{}", files.len());
    let answers = reference.all(&files);
    assert_eq!(answers.len(), files.len());
    let compare = |((what, _, by_pis), answer): (&(&String, PathBuf, Value), &Value)| {
        difference(what, &in_our_words(answer, by_pis), by_pis)
    };
    let differences: Vec<_> = repaired.iter().zip(&answers).filter_map(compare).collect();
    assert!(
        differences.is_empty(),
        "{} differ\n{}",
        differences.len(),
        differences[..differences.len().min(8)].join("\n")
    );
}

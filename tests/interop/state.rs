//! What a session is to pis, and whether it is the same to pi.

use std::collections::BTreeMap;
use std::fmt::Write;

use pis::json::{Raw, js};
use serde_json::{Map, Value, json};

use crate::common::World;

/// JSON as a value, also where serde refuses it: lone surrogates and numbers as JavaScript reads
/// them.
pub(crate) fn value(raw: Raw<'_>) -> Value {
    if raw.is_object() {
        let members = raw.members();
        let members = members.map(|(key, member)| (key.text().into_owned(), value(member)));
        return Value::Object(members.collect::<Map<_, _>>());
    }
    if raw.is_array() {
        return raw.items().map(value).collect();
    }
    match raw.as_str() {
        Some(text) => text.into(),
        None => serde_json::from_str(&js::stringify(raw)).expect("it is JSON"),
    }
}

/// JSON lines.
pub(crate) fn json_lines(values: &[Value]) -> String {
    values.iter().fold(String::new(), |mut lines, value| {
        let _ = writeln!(lines, "{value}");
        lines
    })
}

/// Spells an entry's id so that nothing else is meant.
pub(crate) fn rev_of(id: &str) -> String {
    format!("id:\"{}\"", id.replace('\\', "\\\\").replace('"', "\\\""))
}

/// What pis says of a session, in the words of the oracle.
pub(crate) fn said_by_pis(world: &World, file: &str) -> Value {
    let lines = |args: &[&str]| -> Vec<String> {
        let args: Vec<_> = ["-s", file].iter().chain(args).copied().collect();
        let ran = world.pis(&args);
        assert!(ran.code < 2, "pis {args:?}: {ran:?}");
        ran.stdout.lines().map(str::to_owned).collect()
    };
    let rows = |args: &[&str]| -> Vec<Value> {
        let rows = lines(args);
        rows.iter()
            .map(|row| value(Raw::new(row.as_bytes())))
            .collect()
    };
    // An odd id is printed as a JSON string.
    let ids = |args: &[&str]| -> Vec<String> {
        let id = |line: &String| Raw::new(line.as_bytes()).to_text().into_owned();
        lines(args).iter().map(id).collect()
    };
    let path = ids(&["rev-path", "@"]);
    let labels = rows(&["for-each-label", "--json"]);
    let labels: BTreeMap<_, _> = labels
        .iter()
        .map(|row| (row["target"].as_str(), &row["label"]))
        .map(|(target, label)| (target.expect("a target").to_owned(), label.clone()))
        .collect();
    json!({
        "leaf": ids(&["rev-parse", "@"]).first().filter(|leaf| *leaf != "root"),
        "path": path,
        "context": rows(&["context"])[0],
        "tokens": rows(&["context", "--tokens"])[0],
        "labels": labels,
        "name": rows(&["--json", "name"])[0]["name"],
    })
}

/// The same of what the oracle says.
pub(crate) fn said_by_pi(answer: &Value) -> Value {
    let mut said = answer.clone();
    said["name"] = answer["info"]["name"].clone();
    let said = said.as_object_mut().expect("an object");
    said.retain(|key, _| !matches!(key.as_str(), "file" | "info" | "stats"));
    Value::Object(said.clone())
}

/// How two values differ, in a few lines; `None` where they do not.
pub(crate) fn difference(what: &str, pi: &Value, pis: &Value) -> Option<String> {
    let (place, pi, pis) = first_difference(String::new(), pi, pis)?;
    let cut = |text: String| text.chars().take(400).collect::<String>();
    let (pi, pis) = (cut(pi), cut(pis));
    Some(format!("{what}{place}\n  pi:  {pi}\n  pis: {pis}"))
}

fn first_difference(at: String, a: &Value, b: &Value) -> Option<(String, String, String)> {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) if x.keys().eq(y.keys()) => x
            .iter()
            .find_map(|(key, a)| first_difference(format!("{at}.{key}"), a, &y[key])),
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            let pairs = x.iter().zip(y).enumerate();
            let mut pairs = pairs.map(|(n, (a, b))| first_difference(format!("{at}[{n}]"), a, b));
            pairs.find_map(|difference| difference)
        }
        _ => (a != b).then(|| (at, a.to_string(), b.to_string())),
    }
}

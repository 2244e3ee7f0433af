//! Sessions with shapes that random ones seldom have.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::{Build, World, fixture};

/// Files with shapes of their own, and the project's fixtures.
pub(crate) fn shapes(world: &World) -> Vec<PathBuf> {
    let files = [
        ("labels", labels()),
        ("kept", kept()),
        ("roots", roots()),
        ("start", start()),
        ("bytes", bytes()),
        ("v1-more", version_1()),
    ];
    let write = |(name, text): (&str, String)| world.write(&format!("{name}/{name}.jsonl"), text);
    let mut files: Vec<PathBuf> = files.into_iter().map(write).collect();
    for name in ["branched.jsonl", "kinds.jsonl", "v1.jsonl", "v2.jsonl"] {
        let bytes = std::fs::read(fixture(name)).expect("the fixture");
        files.push(world.write(&format!("fixture/{name}"), bytes));
    }
    files
}

/// Labels on the path: renamed, cleared, set again, on a label, on nothing.
fn labels() -> String {
    let clear = |target: &str| json!({ "type": "label", "targetId": target });
    Build::new()
        .user("u1", "", "one")
        .label("l1", "u1", "u1", "first")
        .assistant("a1", "l1", "uno")
        .label("l2", "a1", "l1", "on a label")
        .label("l3", "l2", "a1", "to go")
        .label("l4", "l3", "u1", "first, renamed")
        .user("u2", "l4", "two")
        .entry("l5", "u2", clear("a1"))
        .label("l6", "l5", "a1", "back")
        .label("l7", "l6", "nowhere", "lost")
        .entry(
            "l8",
            "u2",
            json!({ "type": "label", "targetId": "u1", "label": "" }),
        )
        .label("l9", "u1", "u2", "from another branch")
        .label("la", "l9", "u1", "last")
        .text()
}

/// Compactions that keep from a label of the path, from their own entry, from none.
fn kept() -> String {
    let compaction = |first: Value| json!({ "type": "compaction", "summary": "S", "firstKeptEntryId": first, "tokensBefore": 1 });
    let mut kept = Build::new()
        .user("u1", "", "one")
        .label("l1", "u1", "u1", "x")
        .label("l2", "l1", "u1", "y")
        .assistant("a1", "l2", "uno")
        .user("u2", "a1", "two")
        .label("l3", "u2", "u2", "z")
        .label("off", "u1", "u2", "elsewhere");
    let firsts = ["l1", "l2", "l3", "own", "off", "u2", "nowhere", "later"];
    for (n, first) in firsts.iter().enumerate() {
        let id = format!("c{n}");
        let first = if *first == "own" { &id } else { *first };
        kept = kept
            .entry(&id, "l3", compaction(json!(first)))
            .label(&format!("m{n}"), &id, &id, "after")
            .user(&format!("v{n}"), &format!("m{n}"), "three");
    }
    kept.label("later", "v7", "u1", "below")
        .entry("cn", "l3", compaction(Value::Null))
        .entry(
            "cx",
            "cn",
            json!({ "type": "compaction", "summary": "no first" }),
        )
        .text()
}

/// Several roots, and parents that are not there.
fn roots() -> String {
    let note = json!({ "type": "custom_message", "customType": "n", "display": true,
        "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] });
    Build::new()
        .user("u1", "", "one")
        .assistant("a1", "u1", "uno")
        .entry("n1", "", note.clone())
        .user("u2", "n1", "two")
        .entry("n2", "u2", note.clone())
        .user("u3", "", "three")
        .user("orphan", "gone", "four")
        .assistant("below", "orphan", "quattro")
        .entry("n3", "gone", note)
        .raw(r#"{"type":"message","id":"miss","timestamp":"2026-01-01T01:00:00.000Z","message":{"role":"user","content":"no parent"}}"#)
        .raw(r#"{"type":"message","id":"void","parentId":"","timestamp":"2026-01-01T01:00:00.000Z","message":{"role":"user","content":"empty parent"}}"#)
        .assistant("a2", "miss", "yes")
        .assistant("a3", "void", "yes")
        .text()
}

/// Nothing but the model and the system message before the first prompt.
fn start() -> String {
    Build::new()
        .entry(
            "m1",
            "",
            json!({ "type": "model_change", "provider": "p", "modelId": "m" }),
        )
        .entry(
            "t1",
            "m1",
            json!({ "type": "thinking_level_change", "thinkingLevel": "off" }),
        )
        .message(
            "s1",
            "t1",
            json!({ "role": "system", "content": "", "sections": { "a": "b" } }),
        )
        .user("u1", "s1", "one")
        .text()
}

/// Bytes that a rewrite would lose, lines that pi skips, an id twice, no newline at the end.
fn bytes() -> String {
    Build::new()
        .header(&json!({ "type": "session", "version": 3, "id": "x", "timestamp": "t", "cwd": "/a b",
            "parentSession": "/old.jsonl", "provider": "p", "branchedFrom": "q" }))
        .user("u1", "", "one")
        .raw("")
        .raw("{ \"message\" : {\"content\":\"a\\u0041\\/ \\ud83d\",\"role\":\"user\"} , \"parentId\" : \"u1\" ,\"timestamp\":\"t\", \"n\":1.0, \"big\":12345678901234567890, \"id\":\"u2\",\"type\":\"message\" }\r")
        .raw("{\"type\":\"hologram\",\"id\":\"h1\",\"parentId\":\"u1\",\"parentId\":\"u2\",\"beam\":[1e2,-0]}")
        .raw("{broken")
        .raw("null")
        .raw("  {\"type\":\"custom\",\"customType\":\"c\",\"data\":{\"parentId\":\"no\"},\"id\":\"c1\",\"parentId\":\"h1\",\"timestamp\":5}  ")
        .user("same", "c1", "first of two")
        .user("same", "u2", "second of two")
        .label("l1", "same", "same", "\u{2028}\u{1b}[31m \"q\"")
        .assistant("a1", "l1", "end")
        .text()
        .trim_end()
        .to_owned()
}

/// Version 1 with lines that do not count, compactions by number, a name.
fn version_1() -> String {
    let header =
        r#"{"type":"session","id":"v1-more","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/old"}"#;
    format!(
        "{}\n{}\n\n{{broken\nnull\n{}\n{}\n{}\n{}\n{}\n",
        header,
        r#"{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"one","timestamp":1}}"#,
        r#"{"type":"message","id":"own","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"hookMessage","customType":"ci","content":"green","display":true,"timestamp":2}}"#,
        r#"{"type":"session_info","timestamp":"2025-01-01T00:00:03.000Z","name":"old one"}"#,
        r#"{"type":"compaction","timestamp":"2025-01-01T00:00:04.000Z","summary":"S","firstKeptEntryIndex":2,"tokensBefore":9}"#,
        r#"{"type":"compaction","timestamp":"2025-01-01T00:00:05.000Z","summary":"T","firstKeptEntryIndex":4,"tokensBefore":9}"#,
        r#"{"type":"message","timestamp":"2025-01-01T00:00:06.000Z","message":{"role":"user","content":"two","timestamp":6}}"#,
    )
}

//! Odd content (rows E37 to E49 and E54 of the catalogue): every accessor is total.

use serde_json::{Value, json};

use crate::common::{Build, World, assistant};

/// A session around one odd entry in the middle, read in every way.
fn around(entry: Value) -> World {
    let world = World::new();
    let text = Build::new()
        .user("aaaaaaaa", "", "before")
        .entry("bbbbbbbb", "aaaaaaaa", entry)
        .user("cccccccc", "bbbbbbbb", "after")
        .text();
    world.write("s.jsonl", text);
    world.read_all("s.jsonl");
    assert_eq!(
        world.lines(&["-s", "s.jsonl", "rev-path"]).len(),
        3,
        "nothing is hidden"
    );
    assert_eq!(
        world
            .lines(&["-s", "s.jsonl", "log", "--format", "%s"])
            .len(),
        3
    );
    world
}

#[test]
fn e38_messages_of_any_shape() {
    for message in [
        json!(null),
        json!("text"),
        json!([]),
        json!({}),
        json!({ "role": null }),
        json!({ "role": "user" }),
        json!({ "role": "user", "content": null }),
        json!({ "role": "user", "content": "string" }),
        json!({ "role": "user", "content": 7 }),
        json!({ "role": "user", "content": { "a": 1 } }),
        json!({ "role": "user", "content": [null, 7, "x", [], { "type": 3 }, { "type": "text" }] }),
        json!({ "role": "user", "content": [{ "type": "text", "text": null }] }),
        json!({ "role": "user", "content": [{ "type": "image" }, { "type": "hologram" }] }),
        json!({ "role": "assistant" }),
        json!({ "role": "assistant", "content": "string", "usage": "none", "stopReason": 7 }),
        json!({ "role": "assistant", "content": null, "usage": null, "model": null }),
        json!({ "role": "assistant", "content": [{ "type": "toolCall" }] }),
        json!({ "role": "assistant", "content": [{ "type": "toolCall", "name": 1, "arguments": null }] }),
        json!({ "role": "assistant", "content": [{ "type": "toolCall", "name": "x", "arguments": "s" }] }),
        json!({ "role": "assistant", "content": [], "usage": { "cost": { "total": "free" } } }),
        json!({ "role": "assistant", "content": [], "usage": { "input": 1, "output": 1 } }),
        json!({ "role": "toolResult" }),
        json!({ "role": "toolResult", "content": null, "toolCallId": 7, "toolName": [] }),
        json!({ "role": "toolResult", "content": "string", "isError": "yes" }),
        json!({ "role": "bashExecution" }),
        json!({ "role": "bashExecution", "command": null, "output": 5, "exitCode": "x" }),
        json!({ "role": "system", "content": null, "sections": 1, "toolsAdded": { "a": 1 } }),
        json!({ "role": "custom" }),
        json!({ "role": "hookMessage", "content": [] }),
        json!({ "role": "branchSummary", "summary": 1 }),
        json!({ "role": "compactionSummary" }),
        json!({ "role": "narrator", "content": "unknown role" }),
        json!({ "role": 42, "content": "role is a number" }),
        json!({ "role": "user", "content": "x", "timestamp": "a string" }),
    ] {
        around(json!({ "type": "message", "message": message }));
    }
    let world = around(json!({ "type": "message" }));
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "cat-entry", "--text", "bbbbbbbb"]),
        "\n"
    );
}

#[test]
fn e37_unknown_types_are_kept_and_shown() {
    for kind in [
        "leaf",
        "archive",
        "external_usage",
        "title",
        "active_tools_change",
        "",
    ] {
        let world = around(json!({ "type": kind, "anything": { "goes": [1, 2] } }));
        let stored = world.json(&["-s", "s.jsonl", "cat-entry", "bbbbbbbb"]);
        assert_eq!(stored[0]["anything"], json!({ "goes": [1, 2] }));
        let tree = world.ok(&["-s", "s.jsonl", "tree"]);
        assert!(tree.contains(&format!("[{kind}]:")), "{tree}");
        let messages = &world.json(&["-s", "s.jsonl", "context", "--as", "messages"])[0];
        assert_eq!(messages.as_array().map(Vec::len), Some(2));
    }
    for kind in [json!(null), json!(7), json!(["message"]), json!({ "a": 1 })] {
        around(json!({ "type": kind }));
    }
    let world = World::new();
    world.write(
        "s.jsonl",
        Build::new()
            .user("a", "", "x")
            .entry("b", "a", json!({ "type": "leaf" }))
            .text(),
    );
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "rev-parse", "@"]),
        "b\n",
        "it can be the leaf"
    );
}

#[test]
fn e40_labels_of_any_shape() {
    for label in [
        json!({}),
        json!({ "targetId": null, "label": "x" }),
        json!({ "targetId": "aaaaaaaa", "label": null }),
        json!({ "targetId": "aaaaaaaa", "label": "" }),
        json!({ "targetId": "aaaaaaaa", "label": 7 }),
        json!({ "targetId": "aaaaaaaa", "label": { "a": 1 } }),
        json!({ "targetId": ["aaaaaaaa"], "label": "x" }),
        json!({ "targetId": "bbbbbbbb", "label": "on itself" }),
        json!({ "targetId": "zzzzzzzz", "label": "dangling" }),
    ] {
        let mut entry = label;
        entry["type"] = json!("label");
        around(entry);
    }
    for name in [
        "two words",
        "line\nbreak",
        "a..b",
        "x~1",
        "y^",
        "-lead",
        "@",
        "root",
        "HEAD",
        "\"q\"",
    ] {
        let world = around(json!({ "type": "label", "targetId": "aaaaaaaa", "label": name }));
        let printed = world.ok(&["-s", "s.jsonl", "for-each-label"]);
        let printed = printed.trim_end().strip_prefix("aaaaaaaa ").unwrap();
        let rev = format!("label:{printed}");
        assert_eq!(
            world.ok(&["-s", "s.jsonl", "rev-parse", &rev]),
            "aaaaaaaa\n",
            "{name:?}"
        );
    }
}

#[test]
fn e41_the_last_name_counts() {
    let world = World::new();
    let name = |name: Value| json!({ "type": "session_info", "name": name });
    for (names, found) in [
        (vec![json!("first"), json!("second")], Some("second")),
        (vec![json!("first"), json!("")], None),
        (vec![json!("first"), json!(null)], None),
        (vec![json!("first"), json!(7)], None),
        (vec![json!("  padded  ")], Some("padded")),
    ] {
        let header = json!({ "type": "session", "version": 3, "id": "named", "cwd": world.work() });
        let mut build = Build::new().header(&header).user("aaaaaaaa", "", "one");
        for (n, value) in names.into_iter().enumerate() {
            build = build.entry(&format!("n{n}"), "aaaaaaaa", name(value));
        }
        world.write("all/s.jsonl", build.text());
        for wanted in ["first", "second", "padded"] {
            let ran = world.read(&["--session-dir", "all", "-s", wanted, "rev-parse", "@"]);
            assert_eq!(
                ran.code == 0,
                found == Some(wanted),
                "{wanted}: {}",
                ran.stderr
            );
        }
        world.read_all("./all/s.jsonl");
    }
    around(name(json!("x".repeat(10_000))));
    around(name(json!("a\r\nb")));
}

#[test]
fn e42_e43_e44_e45_summaries_edits_and_usage_of_any_shape() {
    for entry in [
        json!({ "type": "compaction" }),
        json!({ "type": "compaction", "summary": null, "firstKeptEntryId": 5, "tokensBefore": "x" }),
        json!({ "type": "compaction", "summary": "S", "firstKeptEntryId": "zzzzzzzz" }),
        json!({ "type": "compaction", "summary": "S", "firstKeptEntryId": "cccccccc" }),
        json!({ "type": "compaction", "summary": "S", "retainedTail": [1], "tokensBefore": 1e300 }),
        json!({ "type": "compaction", "summary": "S", "systemMessage": "none" }),
        json!({ "type": "branch_summary" }),
        json!({ "type": "branch_summary", "fromId": "root", "summary": "" }),
        json!({ "type": "branch_summary", "fromId": 7, "summary": [] }),
        json!({ "type": "context_edit" }),
        json!({ "type": "context_edit", "targetId": "aaaaaaaa", "replacement": null }),
        json!({ "type": "context_edit", "targetId": "aaaaaaaa", "replacement": { "content": "new" } }),
        json!({ "type": "context_edit", "targetId": "aaaaaaaa", "replacement": 7 }),
        json!({ "type": "context_edit", "targetId": "zzzzzzzz", "replacement": {} }),
        json!({ "type": "usage" }),
        json!({ "type": "usage", "kind": "new", "usage": { "input": "x" } }),
        json!({ "type": "usage", "usage": null, "kind": 4 }),
        json!({ "type": "custom" }),
        json!({ "type": "custom_message" }),
        json!({ "type": "custom_message", "content": null, "customType": 7, "display": "x" }),
        json!({ "type": "model_change" }),
        json!({ "type": "model_change", "provider": 1, "modelId": null }),
        json!({ "type": "thinking_level_change", "thinkingLevel": 5 }),
        json!({ "type": "session_info" }),
    ] {
        around(entry);
    }
}

#[test]
fn e44_edits_count_on_their_branch() {
    let world = World::new();
    let edit = |target: &str, replacement: Value| json!({ "type": "context_edit", "targetId": target, "replacement": replacement });
    let text = Build::new()
        .user("aaaaaaaa", "", "one")
        .assistant("bbbbbbbb", "aaaaaaaa", "two")
        .entry(
            "cccccccc",
            "bbbbbbbb",
            edit("bbbbbbbb", json!({ "content": "old" })),
        )
        .entry(
            "dddddddd",
            "cccccccc",
            edit("bbbbbbbb", json!({ "content": "new" })),
        )
        .user("eeeeeeee", "dddddddd", "with")
        .user("ffffffff", "bbbbbbbb", "without")
        .text();
    world.write("s.jsonl", text);
    let messages = |rev: &str| {
        world
            .json(&["-s", "s.jsonl", "context", "--as", "messages", rev])
            .remove(0)
    };
    assert_eq!(
        messages("eeeeeeee")[1]["content"],
        json!([{ "type": "text", "text": "new" }])
    );
    assert_eq!(
        messages("ffffffff")[1]["content"],
        json!([{ "type": "text", "text": "two" }])
    );
    assert_eq!(
        messages("cccccccc")[1]["content"],
        json!([{ "type": "text", "text": "old" }])
    );
}

#[test]
fn e49_calls_and_results_that_do_not_pair() {
    let call =
        json!([{ "type": "toolCall", "id": "c1", "name": "read", "arguments": { "path": "x" } }]);
    let result = |id: &str| json!({ "role": "toolResult", "toolCallId": id, "toolName": "read", "content": [] });
    let world = World::new();
    let text = Build::new()
        .message("aaaaaaaa", "", result("c0"))
        .message("bbbbbbbb", "aaaaaaaa", assistant(call.clone()))
        .message("cccccccc", "bbbbbbbb", result("c1"))
        .message("dddddddd", "cccccccc", result("c1"))
        .message("eeeeeeee", "bbbbbbbb", result("c2"))
        .message("ffffffff", "dddddddd", assistant(call))
        .user("99999999", "ffffffff", "no result")
        .text();
    world.write("s.jsonl", text);
    world.read_all("s.jsonl");
    let tree = world.ok(&["-s", "s.jsonl", "tree"]);
    assert!(
        tree.contains("cccccccc") && tree.contains("tool: [read: x]"),
        "{tree}"
    );
    assert!(
        tree.contains("tool: [read]"),
        "a result without its call: {tree}"
    );
}

#[test]
fn e54_notes_and_errors_are_harmless_too() {
    let world = World::new();
    let bad = "x\u{1b}[31m\u{202e}\u{7}";
    world.write(
        "s.jsonl",
        Build::new()
            .user("aaaaaaaa", "", "one")
            .label("b", "aaaaaaaa", "aaaaaaaa", bad)
            .text(),
    );
    let head =
        json!({ "leaf": bad, "size": std::fs::metadata(world.path("s.jsonl")).unwrap().len() });
    world.write(".pis/s.jsonl.d/HEAD", head.to_string());
    let label = format!("label:\"{bad}z\"");
    for args in [
        &["rev-parse", "@"][..],
        &["rev-parse", &label],
        &["log", bad],
        &["log", "--since", bad],
    ] {
        let args: Vec<_> = ["-s", "s.jsonl"].iter().chain(args).copied().collect();
        let ran = world.read(&args);
        assert!(!ran.stderr.is_empty(), "{args:?}");
        assert!(
            !ran.stderr.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{:?}",
            ran.stderr
        );
    }
}

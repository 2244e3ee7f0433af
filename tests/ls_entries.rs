//! `pis ls-entries`, `for-each-label`, `for-each-tip`: listings in the order of the file.

use serde_json::{Value, json};

use crate::common::{Build, World, fields, fixture};

fn ids(file: &str, args: &[&str]) -> Vec<String> {
    let (world, file) = (World::new(), fixture(file));
    let args: Vec<_> = ["-s", &file, "ls-entries"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    world.lines(&args)
}

#[test]
fn all_entries_are_listed_in_the_order_of_the_file() {
    let wanted: Vec<_> = (1..=16).map(|n| format!("{n:08x}")).collect();
    assert_eq!(ids("kinds.jsonl", &[]), wanted);
    assert_eq!(ids("kinds.jsonl", &["--since", "0000000d"]), wanted[13..]);
    assert_eq!(ids("kinds.jsonl", &["--since", "root"]), wanted);
    assert!(ids("kinds.jsonl", &["--since", "@"]).is_empty());
}

#[test]
fn types_and_roles_select() {
    let kinds = |args: &[&str]| ids("kinds.jsonl", args);
    for (n, kind) in [
        (1, "model_change"),
        (2, "thinking_level_change"),
        (8, "custom_message"),
        (9, "branch_summary"),
        (10, "compaction"),
        (11, "context_edit"),
        (12, "usage"),
        (13, "custom"),
        (14, "session_info"),
        (15, "label"),
        (16, "hologram"),
    ] {
        assert_eq!(kinds(&["--type", kind]), [format!("{n:08x}")], "{kind}");
    }
    for (n, role) in [
        (3, "system"),
        (4, "user"),
        (5, "assistant"),
        (6, "toolResult"),
        (6, "tool"),
        (7, "bashExecution"),
    ] {
        assert_eq!(kinds(&["--role", role]), [format!("{n:08x}")], "{role}");
    }
    assert_eq!(
        kinds(&["--role", "user", "--role", "system"]),
        ["00000003", "00000004"]
    );
    assert_eq!(kinds(&["--type", "message"]).len(), 5);
}

#[test]
fn tips_and_roots_are_looked_for_through_bookkeeping() {
    assert_eq!(ids("branched.jsonl", &["--tips"]), ["c20b91a8", "f4b8236e"]);
    assert_eq!(ids("branched.jsonl", &["--roots"]), ["5c1f0b7e"]);
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    assert_eq!(
        world
            .read(&["-s", &file, "ls-entries", "--tips", "--roots"])
            .code,
        2
    );
    // A label on a tip does not take its place.
    let text = Build::new()
        .user("aaaaaaaa", "", "one")
        .label("bbbbbbbb", "aaaaaaaa", "aaaaaaaa", "x")
        .entry(
            "cccccccc",
            "bbbbbbbb",
            json!({ "type": "session_info", "name": "n" }),
        )
        .text();
    world.write("s.jsonl", text);
    assert_eq!(
        world.lines(&["-s", "s.jsonl", "ls-entries", "--tips"]),
        ["aaaaaaaa"]
    );
    let tips = world.lines(&["-s", "s.jsonl", "for-each-tip"]);
    assert_eq!(tips, [format!("aaaaaaaa {}", 1_767_225_601_000_i64)]);
}

#[test]
fn text_is_one_line_each() {
    let text = ids("kinds.jsonl", &["--text"]);
    assert_eq!(text[3], "00000004 Look here");
    assert_eq!(text[4], "00000005 \"I read\\nthe file.\"");
}

#[test]
fn json_says_where_lines_lie() {
    let (world, file) = (World::new(), fixture("kinds.jsonl"));
    let bytes = std::fs::read(&file).unwrap();
    let rows = world.json(&["-s", &file, "--json", "ls-entries"]);
    let mut wanted = vec![
        "id",
        "label",
        "leaf",
        "offset",
        "onPath",
        "parentId",
        "role",
        "size",
        "time",
        "timestamp",
        "type",
    ];
    assert_eq!(fields(&rows[0]), wanted);
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    for row in &rows {
        let (offset, size) = (number(&row["offset"]), number(&row["size"]));
        let line: Value = serde_json::from_slice(&bytes[offset..offset + size]).unwrap();
        assert_eq!(line["id"], row["id"]);
        assert_eq!(line["timestamp"], row["timestamp"]);
    }
    assert_eq!(rows[0]["role"], Value::Null);
    let with_text = world.json(&["-s", &file, "--json", "ls-entries", "--text"]);
    wanted.insert(8, "text");
    assert_eq!(fields(&with_text[0]), wanted);
    assert_eq!(with_text[4]["text"], "I read\nthe file.");
}

#[test]
fn an_entry_of_another_session_is_no_start() {
    let (world, file, other) = (
        World::new(),
        fixture("kinds.jsonl"),
        fixture("branched.jsonl"),
    );
    let ran = world.read(&[
        "-s",
        &file,
        "ls-entries",
        "--since",
        &format!("{other}:good"),
    ]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_eq!(
        ran.stderr,
        "error: '--since' names an entry of another session\n"
    );
}

#[test]
fn labels_are_listed_with_their_targets() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let plain = world.ok(&["-s", &file, "for-each-label"]);
    assert_eq!(plain, "0fa4a08e plans\n840e16a9 good\n");
    let rows = world.json(&["-s", &file, "--json", "for-each-label"]);
    let wanted = json!({
        "label": "plans", "target": "0fa4a08e", "timestamp": "2026-11-26T09:02:46.204Z",
        "time": 1_795_683_766_204_i64,
    });
    assert_eq!(rows[0], wanted);
    let format = world.lines(&["-s", &file, "for-each-label", "--format", "%l %s"]);
    assert_eq!(format[1], "good Done: errors keep their type");
    assert_eq!(
        world.ok(&["-s", &file, "for-each-label", "-z"]),
        plain.replace('\n', "\0")
    );
}

#[test]
fn labels_that_are_gone_are_not_listed() {
    let world = World::new();
    let set = |target: &str, label: Value| json!({"type":"label","targetId":target,"label":label});
    let text = Build::new()
        .user("aaaaaaaa", "", "one")
        .user("bbbbbbbb", "aaaaaaaa", "two")
        .user("cccccccc", "bbbbbbbb", "three")
        .label("l0000001", "cccccccc", "aaaaaaaa", "first")
        .label("l0000002", "l0000001", "bbbbbbbb", "second")
        .label("l0000003", "l0000002", "aaaaaaaa", "replaced")
        .label("l0000004", "l0000003", "cccccccc", "cleared")
        .entry("l0000005", "l0000004", set("cccccccc", Value::Null))
        .label("l0000006", "l0000005", "zzzzzzzz", "dangling")
        .label("l0000007", "l0000006", "l0000001", "on a label")
        .label("l0000008", "l0000007", "cccccccc", "x")
        .label("l0000009", "l0000008", "cccccccc", "")
        .text();
    world.write("s.jsonl", text);
    let labels = world.lines(&["-s", "s.jsonl", "for-each-label"]);
    assert_eq!(
        labels,
        [
            "aaaaaaaa replaced",
            "bbbbbbbb second",
            "l0000001 \"on a label\""
        ]
    );
}

#[test]
fn tips_are_listed_newest_first() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let tips = world.ok(&["-s", &file, "for-each-tip"]);
    assert_eq!(tips, "f4b8236e 1795910805764\nc20b91a8 1795777549374\n");
    let rows = world.json(&["-s", &file, "--json", "for-each-tip"]);
    assert_eq!(fields(&rows[0]), ["id", "time", "timestamp"]);
    assert_eq!(rows[1]["timestamp"], "2026-11-27T11:05:49.374Z");
    assert_eq!(
        world.lines(&["-s", &file, "for-each-tip", "--format", "%r"]),
        ["assistant"; 2]
    );
}

#[test]
fn a_tip_without_a_time_has_a_dash() {
    let world = World::new();
    let text = Build::new()
        .entry(
            "aaaaaaaa",
            "",
            json!({ "type": "hologram", "timestamp": "soon" }),
        )
        .raw(r#"{"type":"hologram","id":"bbbbbbbb","parentId":null}"#)
        .text();
    world.write("s.jsonl", text);
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "for-each-tip"]),
        "bbbbbbbb -\naaaaaaaa -\n"
    );
    let rows = world.json(&["-s", "s.jsonl", "--json", "for-each-tip"]);
    let wanted = [
        json!({ "id": "bbbbbbbb", "timestamp": null, "time": null }),
        json!({ "id": "aaaaaaaa", "timestamp": "soon", "time": null }),
    ];
    assert_eq!(rows, wanted);
}

#[test]
fn odd_names_are_printed_quoted() {
    let world = World::new();
    let text = Build::new()
        .user("a b", "", "one")
        .label("HEAD", "a b", "a b", "v1..v2")
        .text();
    world.write("s.jsonl", text);
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "ls-entries"]),
        "\"a b\"\n\"HEAD\"\n"
    );
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "for-each-label"]),
        "\"a b\" \"v1..v2\"\n"
    );
    assert!(
        world
            .ok(&["-s", "s.jsonl", "for-each-tip"])
            .starts_with("\"a b\" ")
    );
}

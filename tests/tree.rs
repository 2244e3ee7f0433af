//! `pis tree`: the whole tree, as pi's `/tree` draws it.

use serde_json::json;

use crate::common::{Build, World, fields, fixture};

fn tree(file: &str, args: &[&str]) -> String {
    let world = World::new();
    let args: Vec<_> = ["-s", file, "tree"].iter().chain(args).copied().collect();
    world.ok(&args)
}

#[test]
fn the_branch_with_the_leaf_comes_first() {
    assert_eq!(
        tree(&fixture("branched.jsonl"), &["--filter", "no-tools"]),
        "\
dd4f6f16  user: Refactor auth, plans first
0fa4a08e  assistant: Three plans: A conservative, B abstraction, C rew…  [plans]
a96ab147  ├─ user: Keep the return value, only add logs
840e16a9  │     assistant: Done: errors keep their type (2 tools)  [good]
1d9e4b72  │     user: Log the user id, never the token
f4b8236e  │     assistant: Done: the id, never the token (1 tool)  ← @
78743def  └─ user: Try an aggressive rewrite
c20b91a8        assistant: Rewrote the module; 5 tests fail (9 tools)
"
    );
}

#[test]
fn tool_results_are_shown_as_the_calls_they_answer() {
    let text = tree(&fixture("branched.jsonl"), &[]);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 20);
    assert_eq!(lines[3], "380bc5a1  │     tool: [edit: src/auth.rs]");
    assert_eq!(lines[4], "bf692d7e  │     tool: [bash: cargo test]");
    assert_eq!(
        lines[12],
        "f18a3c9b        tool: [bash: grep -rn AuthError src]"
    );
}

#[test]
fn filters_are_pis() {
    let file = fixture("kinds.jsonl");
    assert_eq!(
        tree(&file, &["--filter", "all"]),
        "\
00000001  model: anthropic/claude-a
00000002  thinking: high
00000003  system: You help.
00000004  user: Look here (1 image)  [start]
00000005  assistant: I read the file.
00000006  tool: [read: a.txt] (failed)
00000007  bash: $ ls
00000008  custom: Mind the gap
00000009  summary: Another way was tried.
0000000a  compacted: So far so good. (12k tokens before)
0000000b  edit: omits 00000008
0000000d  state: notes
0000000e  name: all kinds
0000000f  label: start on 00000004
00000010  [hologram]:   ← @
"
    );
    let count = |filter: &str| tree(&file, &["--filter", filter]).lines().count();
    assert_eq!(
        ["default", "no-tools", "user-only", "labeled-only"].map(count),
        [9, 8, 1, 1]
    );
}

#[test]
fn ascii_is_enough() {
    let text = tree(
        &fixture("branched.jsonl"),
        &["--filter", "no-tools", "--ascii"],
    );
    assert!(text.is_ascii(), "{text}");
    assert!(
        text.contains("|- user: Keep") && text.contains("`- user: Try"),
        "{text}"
    );
    assert!(text.contains("  <- @\n"));
}

#[test]
fn several_roots_are_a_forest() {
    let world = World::new();
    let text = Build::new()
        .user("aaaaaaaa", "", "one")
        .user("bbbbbbbb", "aaaaaaaa", "one, on")
        .user("cccccccc", "", "two")
        .user("dddddddd", "cccccccc", "two, left")
        .user("eeeeeeee", "cccccccc", "two, right")
        .text();
    let file = world.write("s.jsonl", text);
    assert_eq!(
        tree(file.to_str().unwrap(), &[]),
        "\
cccccccc  user: two
eeeeeeee  ├─ user: two, right  ← @
dddddddd  └─ user: two, left
aaaaaaaa  user: one
bbbbbbbb     user: one, on
"
    );
}

#[test]
fn json_adds_where_an_entry_is_drawn() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let rows = world.json(&["-s", &file, "--json", "tree", "--filter", "no-tools"]);
    let ids: Vec<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    let wanted = [
        "dd4f6f16", "0fa4a08e", "a96ab147", "840e16a9", "1d9e4b72", "f4b8236e", "78743def",
        "c20b91a8",
    ];
    assert_eq!(ids, wanted);
    assert_eq!(
        rows[2],
        json!({
            "id": "a96ab147", "parentId": "6de81c37", "type": "message", "role": "user",
            "timestamp": "2026-11-28T07:05:49.374Z", "time": 1_795_849_549_374_i64,
            "label": null, "leaf": false, "onPath": true,
            "text": "Keep the return value, only add logs",
            "depth": 2, "visibleParent": "0fa4a08e",
        })
    );
    assert_eq!(rows[0]["visibleParent"], json!(null));
    assert!(rows.iter().all(|row| fields(row) == fields(&rows[0])));
    let all = world.json(&["-s", &file, "--json", "tree", "--filter", "all"]);
    assert_eq!(all[0]["id"], "5c1f0b7e");
}

#[test]
fn a_format_and_nul_are_for_scripts() {
    let file = fixture("branched.jsonl");
    let text = tree(&file, &["--filter", "user-only", "--format", "%h", "-z"]);
    assert_eq!(text, "dd4f6f16\0a96ab147\x001d9e4b72\x0078743def\0");
}

#[test]
fn nothing_to_show_is_told() {
    let world = World::new();
    world.write("s.jsonl", Build::new().text());
    let ran = world.read(&["-s", "s.jsonl", "tree"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert_eq!(ran.stderr, "note: no entry passes the filter\n");
    assert_eq!(world.read(&["-s", "s.jsonl", "tree", "@"]).code, 2);
}

#[test]
fn answers_without_text_are_hidden_unless_they_end_oddly_or_are_the_leaf() {
    let world = World::new();
    let answer = |stop: &str| {
        let mut message = crate::common::assistant(json!([]));
        message["stopReason"] = json!(stop);
        message["errorMessage"] = json!("broke");
        message
    };
    let text = Build::new()
        .user("aaaaaaaa", "", "one")
        .message("bbbbbbbb", "aaaaaaaa", answer("stop"))
        .message("cccccccc", "bbbbbbbb", answer("error"))
        .message("dddddddd", "cccccccc", answer("aborted"))
        .message("eeeeeeee", "dddddddd", answer("toolUse"))
        .message("ffffffff", "eeeeeeee", answer("stop"))
        .text();
    let file = world.write("s.jsonl", text);
    assert_eq!(
        tree(file.to_str().unwrap(), &[]),
        "\
aaaaaaaa  user: one
cccccccc  assistant: (error: broke)
dddddddd  assistant: (aborted)
ffffffff  assistant: (no text)  ← @
"
    );
}

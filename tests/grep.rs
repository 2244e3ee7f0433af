//! `pis grep`: what was said, line by line.

use serde_json::{Value, json};

use crate::common::{Build, Ran, World, assistant, fields};

fn world() -> World {
    let mut call = assistant(json!([
        { "type": "text", "text": "I run it" },
        { "type": "toolCall", "id": "c", "name": "bash", "arguments": { "command": "cargo test\n--all" } },
    ]));
    call["stopReason"] = json!("toolUse");
    let result = json!({ "role": "toolResult", "toolCallId": "c", "toolName": "bash",
        "content": [{ "type": "text", "text": "3 tests\nTEST ok\n日本 test x test" }], "isError": false, "timestamp": 1 });
    World::with(
        Build::new()
            .user("aaaaaaa1", "", "A test (1)\nsecond line")
            .message("bbbbbbb1", "aaaaaaa1", call)
            .message("ccccccc1", "bbbbbbb1", result)
            .user("ddddddd1", "aaaaaaa1", "another branch, no t\u{65}st")
            .label("eeeeeee1", "ddddddd1", "aaaaaaa1", "testing")
            .text(),
    )
}

#[test]
fn lines_of_all_branches_are_found_in_the_order_of_the_file() {
    let world = world();
    let ran = world.on(&["grep", "test"]);
    assert_eq!(ran.code, 0);
    let id = serde_json::from_slice::<Value>(world.bytes().split(|b| *b == b'\n').next().unwrap())
        .unwrap();
    let id = id["id"].as_str().unwrap();
    let wanted = [
        "aaaaaaa1:A test (1)",
        "ccccccc1:3 tests",
        "ccccccc1:日本 test x test",
        "ddddddd1:another branch, no test",
        "eeeeeee1:testing",
    ];
    let wanted: Vec<_> = wanted.iter().map(|line| format!("{id}:{line}")).collect();
    assert_eq!(ran.stdout.lines().collect::<Vec<_>>(), wanted);
    let ran = world.on(&["grep", "nothing of the kind"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (1, "", "")
    );
}

/// The entries in which something is found.
fn ids(world: &World, args: &[&str]) -> Vec<String> {
    let ran = world.on(&[&["grep", "-l"], args].concat());
    assert_eq!(
        ran.code,
        i32::from(ran.stdout.is_empty()),
        "{args:?}: {ran:?}"
    );
    ran.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn options_say_how_and_where() {
    let world = world();
    for (args, wanted) in [
        (&["(1)"][..], &["aaaaaaa1"][..]),
        (&["-F", "(1)"], &["aaaaaaa1"]),
        (&["-w", "tests"], &["ccccccc1"]),
        (&["-w", "test", "--role", "user"], &["aaaaaaa1", "ddddddd1"]),
        (&["-i", "test OK"], &["ccccccc1"]),
        (&["^3"], &["ccccccc1"]),
        (&["test", "--role", "tool"], &["ccccccc1"]),
        (&["test", "--type", "label"], &["eeeeeee1"]),
        (&["test", "-b", "ccccccc1"], &["aaaaaaa1", "ccccccc1"]),
        (&["-b", "--", "test"], &["aaaaaaa1", "ddddddd1", "eeeeeee1"]),
        (&["--tool", "bash", "test"], &["bbbbbbb1", "ccccccc1"]),
        (&["--tool", "bash", "^command: cargo"], &["bbbbbbb1"]),
        (&["--tool", "edit", "test"], &[]),
        (&["cargo"], &[]),
        (&["-e"], &[]),
    ] {
        assert_eq!(ids(&world, args), wanted, "{args:?}");
    }
    assert_eq!(world.done(&["grep", "-c", "test"]), "5\n");
    assert_eq!(world.done(&["grep", "-ci", "test"]), "6\n");
    assert_eq!(
        world.on(&["grep", "-c", "xyz"]),
        Ran {
            code: 1,
            stdout: "0\n".into(),
            stderr: String::new()
        }
    );
    let bad = world.on(&["grep", "a("]);
    assert_eq!((bad.code, bad.stdout.as_str()), (2, ""));
    assert!(
        bad.stderr.contains("'a(' is no regular expression") && bad.stderr.contains("-F"),
        "{}",
        bad.stderr
    );
}

#[test]
fn lines_around_a_match_have_a_dash() {
    let world = world();
    let ran = world.on(&["grep", "-C", "1", "second|ok"]);
    let lines: Vec<_> = ran
        .stdout
        .lines()
        .map(|line| line.get(37..).unwrap_or(line))
        .collect();
    let wanted = [
        "aaaaaaa1-A test (1)",
        "aaaaaaa1:second line",
        "--",
        "ccccccc1-3 tests",
        "ccccccc1:TEST ok",
        "ccccccc1-日本 test x test",
    ];
    assert_eq!(lines, wanted);
    // Before the command, the letter is the directory, as in git.
    let dir = world.work();
    let ran = world.pis(&[
        "-C",
        dir.to_str().unwrap(),
        "-s",
        "../s.jsonl",
        "grep",
        "-c",
        "test",
    ]);
    let ran = if ran.code == 0 {
        ran
    } else {
        world.on(&["grep", "-c", "test"])
    };
    assert_eq!(ran.stdout, "5\n");
}

#[test]
fn json_has_offsets_in_code_points() {
    let world = world();
    let ran = world.on(&["--json", "grep", "test", "--role", "tool"]);
    let rows: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        fields(&rows[1]),
        [
            "id",
            "lineNumber",
            "matches",
            "role",
            "session",
            "sessionId",
            "text",
            "type"
        ]
    );
    let row = &rows[1];
    let parts = json!([
        row["id"],
        row["role"],
        row["type"],
        row["lineNumber"],
        row["text"],
        row["matches"]
    ]);
    assert_eq!(
        parts,
        json!([
            "ccccccc1",
            "toolResult",
            "message",
            3,
            "日本 test x test",
            [[3, 7], [10, 14]]
        ])
    );
    let ran = world.on(&["--json", "grep", "-c", "test"]);
    assert_eq!(ran.object()["count"], json!(5));
}

#[test]
fn all_sessions_are_searched_and_one_that_is_odd_hides_none() {
    let world = World::new();
    let dir = "home/.pi/agent/sessions";
    let session = |id: &str, text: &str| {
        Build::new().header(&json!({ "type": "session", "version": 3, "id": id, "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/x" })).user("aaaaaaa1", "", text).text()
    };
    for (name, id, text) in [
        ("--x--/1.jsonl", "one", "needle"),
        ("--y--/2.jsonl", "two", "hay"),
        ("--y--/3.jsonl", "three", "needle\nneedle"),
    ] {
        let path = world.home().join(".pi/agent/sessions").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, session(id, text)).unwrap();
    }
    let _ = dir;
    let sorted = |args: &[&str]| {
        let ran = world.pis(&[&["grep", "--all"], args].concat());
        let mut lines: Vec<_> = ran.stdout.lines().map(str::to_owned).collect();
        lines.sort();
        (ran.code, lines)
    };
    assert_eq!(
        sorted(&["needle"]),
        (
            0,
            vec![
                "one:aaaaaaa1:needle".into(),
                "three:aaaaaaa1:needle".into(),
                "three:aaaaaaa1:needle".into()
            ]
        )
    );
    assert_eq!(
        sorted(&["-c", "needle"]),
        (0, vec!["one:1".into(), "three:2".into()])
    );
    let (code, files) = sorted(&["-l", "needle"]);
    assert_eq!((code, files.len()), (0, 2));
    assert!(
        files[0].ends_with("--x--/1.jsonl") && files[1].ends_with("--y--/3.jsonl"),
        "{files:?}"
    );
    assert_eq!(sorted(&["nowhere"]), (1, vec![]));
}

//! `pis checkout`: pi's rule for where the leaf goes, and what can be attached on the way.

use serde_json::{Value, json};

use crate::common::{Build, Ran, World, fields};
use crate::moving::two_branches;

fn world() -> World {
    World::with(two_branches().text())
}

const ELSEWHERE: &str = "note: pi still opens this session at ffff1111; an append, or --write, makes the move last for pi\n";

#[test]
fn on_a_message_the_leaf_goes_to_the_parent_and_the_text_is_printed() {
    let custom = json!({
        "type": "custom_message", "customType": "x", "display": true,
        "content": [{ "type": "text", "text": "by " }, { "type": "text", "text": "an extension" }],
    });
    let text = two_branches()
        .entry("1111cccc", "ffff1111", custom)
        .user("2222cccc", "1111cccc", "last\nof all")
        .text();
    let world = World::with(&text);
    for (rev, leaf, printed) in [
        ("cccc1111", "bbbb1111", "three\n"),
        ("aaaa1111", "root", "one\n"),
        ("1111cccc", "ffff1111", "by an extension\n"),
        ("2222cccc", "1111cccc", "last\nof all\n"),
        ("dddd1111", "dddd1111", ""),
        ("root", "root", ""),
    ] {
        let ran = world.on(&["checkout", rev]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, printed), "{rev}");
        assert_eq!(world.leaf(), leaf, "{rev}");
        assert!(
            ran.stderr
                .contains("pi still opens this session at 2222cccc"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(world.bytes(), text.as_bytes());
    // Also where the message is the leaf, on which pi does nothing.
    world.on(&["set-leaf", "2222cccc"]);
    let ran = world.on(&["checkout", "@"]);
    assert_eq!(
        (ran.stdout.as_str(), world.leaf().as_str()),
        ("last\nof all\n", "1111cccc")
    );
    let ran = world.on(&["checkout", "@%"]);
    assert_eq!(
        (ran.stdout.as_str(), world.leaf().as_str()),
        ("other\n", "bbbb1111")
    );
    assert_eq!(world.on(&["-z", "checkout", "cccc1111"]).stdout, "three\0");
}

#[test]
fn the_answer_in_json() {
    let world = world();
    let ran = world.on(&["checkout", "cccc1111", "--json"]);
    let wanted =
        json!({ "leaf": "bbbb1111", "previous": "ffff1111", "prompt": "three", "summaryId": null });
    assert_eq!((ran.code, ran.object()), (0, wanted));
    assert_eq!(ran.notes(), ["pi-opens-elsewhere"]);
    let ran = world.on(&["checkout", "aaaa1111", "--json"]);
    let wanted =
        json!({ "leaf": null, "previous": "bbbb1111", "prompt": "one", "summaryId": null });
    assert_eq!(ran.object(), wanted);
    let ran = world.on(&["checkout", "ffff1111", "--json"]);
    let wanted = json!({ "leaf": "ffff1111", "previous": null, "prompt": null, "summaryId": null });
    assert_eq!((ran.object(), ran.stderr.as_str()), (wanted, ""));
}

#[test]
fn a_parent_that_is_missing_or_empty_is_the_root_and_an_unknown_one_an_error() {
    let user = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}",{parent}"timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"{id}"}}}}"#
        )
    };
    let text = Build::new()
        .raw(&user("1111aaaa", ""))
        .raw(&user("2222aaaa", "\"parentId\":\"\","))
        .raw(&user("3333aaaa", "\"parentId\":null,"))
        .raw(&user("4444aaaa", "\"parentId\":\"gone\","))
        .assistant("5555aaaa", "gone", "an orphan")
        .user("6666aaaa", "6666aaaa", "its own parent")
        .text();
    let world = World::with(text);
    for id in ["1111aaaa", "2222aaaa", "3333aaaa", "6666aaaa"] {
        world.on(&["set-leaf", "5555aaaa"]);
        let ran = world.on(&["checkout", id, "--json"]);
        assert_eq!((ran.code, &ran.object()["leaf"]), (0, &Value::Null), "{id}");
    }
    let before = world.leaf();
    let ran = world.on(&["checkout", "4444aaaa"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
    assert!(
        ran.stderr
            .contains("error: the parent of 4444aaaa, gone, is not in the file"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("--exact"), "{}", ran.stderr);
    assert_eq!(world.leaf(), before);
    assert_eq!(world.on(&["checkout", "--exact", "4444aaaa"]).code, 0);
    assert_eq!(world.leaf(), "4444aaaa");
    assert_eq!(world.on(&["checkout", "5555aaaa"]).code, 0);
    assert_eq!(world.leaf(), "5555aaaa");
}

#[test]
fn exact_goes_to_the_message_itself() {
    let world = world();
    let ran = world.on(&["checkout", "--exact", "cccc1111"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "", ELSEWHERE)
    );
    assert_eq!(world.leaf(), "cccc1111");
    let ran = world.on(&["checkout", "--exact", "--json", "eeee1111"]);
    assert_eq!(ran.object()["prompt"], Value::Null);
    for args in [
        &["checkout"][..],
        &["checkout", "--bogus"],
        &["checkout", "@", "@"],
    ] {
        assert_eq!(world.on(args).code, 2, "{args:?}");
    }
}

#[test]
fn with_write_a_marker_is_appended_and_no_note_said() {
    let world = world();
    let count = world.stored(1).len();
    assert_eq!(world.done(&["checkout", "--write", "cccc1111"]), "three\n");
    let new = world.stored(1 + count);
    assert_eq!(
        (new.len(), &new[0]["data"]),
        (1, &json!({ "leaf": "bbbb1111" }))
    );
    assert_eq!(
        (&new[0]["parentId"], &new[0]["id"]),
        (&json!("bbbb1111"), &json!(world.leaf()))
    );
    // The file ends there: no second one.
    world.done(&["checkout", "--write", "bbbb1111"]);
    world.done(&["checkout", "--write", "@"]);
    assert_eq!(world.stored(1 + count).len(), 1);
    // Another entry makes a marker needless.
    world.done(&["checkout", "--write", "dddd1111", "--summary", "why"]);
    assert_eq!(world.stored(2 + count).len(), 1);
}

#[test]
fn a_summary_hangs_where_the_leaf_goes() {
    let world = world();
    let count = world.stored(1).len();
    let ran = world.on_with(
        &["checkout", "cccc1111", "--summary", "-", "--json"],
        "dead\nend\n\n",
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let new = world.stored(1 + count);
    assert_eq!(new.len(), 1);
    assert_eq!(
        fields(&new[0]),
        ["fromId", "id", "parentId", "summary", "timestamp", "type"]
    );
    assert_eq!(new[0]["type"], "branch_summary");
    assert_eq!(
        (&new[0]["fromId"], &new[0]["parentId"]),
        (&json!("ffff1111"), &json!("bbbb1111"))
    );
    assert_eq!(new[0]["summary"], "dead\nend");
    let id = &new[0]["id"];
    let wanted = json!({ "leaf": id, "previous": "ffff1111", "prompt": "three", "summaryId": id });
    assert_eq!(ran.object(), wanted);

    // Where one is, from a root, and a text that begins with a dash.
    let ran = world.on(&["checkout", "@", "--summary", "- a list", "--json"]);
    let here = &world.stored(2 + count)[0];
    assert_eq!(
        (&here["fromId"], &here["parentId"], &here["summary"]),
        (id, id, &json!("- a list"))
    );
    assert_eq!(ran.object()["summaryId"], here["id"]);
    world.on(&["set-leaf", "root"]);
    world.done(&["checkout", "root", "--summary", "before all"]);
    let root = &world.stored(3 + count)[0];
    assert_eq!(
        (&root["fromId"], &root["parentId"]),
        (&json!("root"), &Value::Null)
    );

    let bytes = world.bytes();
    for text in ["", " \n"] {
        let ran = world.on_with(&["checkout", "cccc1111", "--summary", "-"], text);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{text:?}");
    }
    assert_eq!(world.bytes(), bytes);
}

#[test]
fn a_label_goes_on_the_summary_else_on_the_entry() {
    let world = world();
    let count = world.stored(1).len();
    assert_eq!(
        world.done(&[
            "checkout",
            "cccc1111",
            "--label",
            " mine ",
            "--summary",
            "s"
        ]),
        "three\n"
    );
    let new = world.stored(1 + count);
    assert_eq!(new.len(), 2);
    assert_eq!(
        (&new[1]["type"], &new[1]["label"]),
        (&json!("label"), &json!("mine"))
    );
    assert_eq!(
        (&new[1]["targetId"], &new[1]["parentId"]),
        (&new[0]["id"], &new[0]["id"])
    );
    assert_eq!(json!(world.leaf()), new[1]["id"]);

    let ran = world.on(&["checkout", "cccc1111", "--label", "third", "--json"]);
    let label = &world.stored(3 + count)[0];
    assert_eq!(
        (&label["targetId"], &label["parentId"]),
        (&json!("cccc1111"), &json!("bbbb1111"))
    );
    assert_eq!(
        (&ran.object()["leaf"], &ran.object()["summaryId"]),
        (&label["id"], &Value::Null)
    );
    assert_eq!(ran.object()["prompt"], "three");

    // The same rules as those of `pis label`.
    let (bytes, leaf) = (world.bytes(), world.leaf());
    for args in [
        &["checkout", "root", "--label", "x"][..],
        &["checkout", "cccc1111", "--label", " "],
        &["checkout", "cccc1111", "--label", "fourth"],
        &["checkout", "dddd1111", "--label", "third"],
    ] {
        assert_eq!(world.on(args).code, 2, "{args:?}");
        assert_eq!(
            (world.bytes(), world.leaf()),
            (bytes.clone(), leaf.clone()),
            "{args:?}"
        );
    }
    world.on(&["checkout", "cccc1111", "--label", "third"]);
    assert_eq!((world.bytes(), world.leaf().as_str()), (bytes, "bbbb1111"));
}

/// A world whose editor is a script; `checkout -e` in it.
fn edit(world: &World, script: &str, args: &[&str]) -> Ran {
    let path = world.write("editor", format!("#!/bin/sh\n{script}\n"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    let editor = format!("'{}' --wait", path.display());
    let vars = [("PIS_SESSION", "./s.jsonl"), ("EDITOR", editor.as_str())];
    world.pis_env(&vars, args, "")
}

#[cfg(unix)]
#[test]
fn the_text_can_be_edited_and_appended() {
    let world = world();
    let count = world.stored(1).len();
    let script = r#"[ "$1" = --wait ] && cat "$2" > seen && printf 'and more\n\n' >> "$2""#;
    let ran = edit(&world, script, &["checkout", "-e", "cccc1111"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "", "")
    );
    assert_eq!(
        std::fs::read_to_string(world.path("seen")).expect("it ran"),
        "three\n"
    );
    let new = world.stored(1 + count);
    assert_eq!((new.len(), &new[0]["parentId"]), (1, &json!("bbbb1111")));
    assert_eq!(new[0]["message"]["role"], "user");
    assert_eq!(
        new[0]["message"]["content"],
        json!([{ "type": "text", "text": "three\nand more" }])
    );
    assert_eq!(json!(world.leaf()), new[0]["id"]);

    // An entry that hands nothing back gets an empty page; a summary and a label come first.
    let script = r#"[ -s "$2" ] && [ "$(cat "$2")" = "" ] && echo new > "$2""#;
    let args = [
        "checkout",
        "-e",
        "dddd1111",
        "--summary",
        "s",
        "--label",
        "l",
        "--json",
    ];
    let ran = edit(&world, script, &args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let new = world.stored(2 + count);
    let kinds: Vec<_> = new
        .iter()
        .map(|e| e["type"].as_str().expect("a type"))
        .collect();
    assert_eq!(kinds, ["branch_summary", "label", "message"]);
    assert_eq!(
        (&new[1]["parentId"], &new[2]["parentId"]),
        (&new[0]["id"], &new[1]["id"])
    );
    assert_eq!(
        (&ran.object()["leaf"], &ran.object()["summaryId"]),
        (&new[2]["id"], &new[0]["id"])
    );
    // $VISUAL comes before $EDITOR.
    let vars = [
        ("PIS_SESSION", "./s.jsonl"),
        ("EDITOR", "false"),
        ("VISUAL", "tee -a"),
    ];
    assert_eq!(
        world
            .pis_env(&vars, &["checkout", "-e", "cccc1111"], "")
            .code,
        1
    );
}

#[cfg(unix)]
#[test]
fn an_edit_that_is_given_up_changes_nothing() {
    let world = world();
    let bytes = world.bytes();
    for (script, why) in [
        ("echo never > \"$2\"; exit 3", "the editor gave up"),
        (": > \"$2\"", "the text is empty"),
        ("printf ' \\n\\n' > \"$2\"", "the text is empty"),
        ("rm -f \"$2\"; printf '' > \"$2\"", "the text is empty"),
        ("cat \"$2\" > /dev/null", "the text was not saved"),
    ] {
        let ran = edit(&world, script, &["checkout", "-e", "cccc1111"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{script}");
        assert_eq!(ran.stderr, format!("note: {why}: nothing was changed\n"));
        let ran = edit(&world, script, &["--json", "checkout", "-e", "cccc1111"]);
        assert_eq!(
            (ran.stdout.as_str(), ran.notes()),
            ("", vec!["nothing-done".to_owned()])
        );
    }
    for editor in ["/nowhere/vi", "", "'unbalanced"] {
        let vars = [
            ("PIS_SESSION", "./s.jsonl"),
            ("EDITOR", editor),
            ("PATH", "/nowhere"),
        ];
        let ran = world.pis_env(&vars, &["checkout", "-e", "cccc1111"], "");
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (128, ""),
            "{editor}: {ran:?}"
        );
        assert!(ran.stderr.contains("$EDITOR"), "{}", ran.stderr);
    }
    // What would be refused afterwards is refused before the work.
    let vars = [("PI_SESSION_FILE", "./s.jsonl"), ("EDITOR", "/nowhere/vi")];
    let ran = world.pis_env(&vars, &["checkout", "-e", "cccc1111"], "");
    assert!(
        ran.stderr.contains("the session of the agent"),
        "{}",
        ran.stderr
    );
    assert_eq!(world.bytes(), bytes);
    assert_eq!(world.leaf(), "ffff1111");
    assert!(!world.path(".pis/s.jsonl.d/HEAD").exists());
}

#[cfg(unix)]
#[test]
fn what_was_edited_is_what_is_moved_to() {
    let world = world();
    // Somebody moves the leaf while the editor is open; the lock is free.
    let pis = world.command(&[]).get_program().to_owned();
    let script = format!(
        r#"'{}' -q set-leaf dddd1111 || exit 9; echo edited > "$2""#,
        pis.to_str().expect("UTF-8")
    );
    let count = world.stored(1).len();
    let ran = edit(&world, &script, &["checkout", "-e", "@%"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let new = world.stored(1 + count);
    assert_eq!(new.len(), 1);
    assert_eq!(new[0]["parentId"], "bbbb1111", "'other' was edited");
    assert_eq!(new[0]["message"]["content"][0]["text"], "edited");
}

#[test]
fn between_a_call_and_its_results_the_last_result_is_named() {
    let call = json!([{ "type": "toolCall", "id": "c", "name": "read", "arguments": {} }]);
    let result = |id: &str| json!({ "role": "toolResult", "toolCallId": id, "toolName": "read", "content": [], "isError": false, "timestamp": 1 });
    let text = two_branches()
        .message("1111cccc", "ffff1111", crate::common::assistant(call))
        .message("2222cccc", "1111cccc", result("c"))
        .message("3333cccc", "2222cccc", result("d"))
        .assistant("4444cccc", "3333cccc", "done")
        .text();
    let world = World::with(text);
    for (rev, open) in [
        ("1111cccc", true),
        ("2222cccc", true),
        ("3333cccc", false),
        ("ffff1111", false),
    ] {
        let ran = world.on(&["checkout", rev]);
        assert_eq!(
            (ran.code, ran.stdout.as_str(), world.leaf().as_str()),
            (0, "", rev)
        );
        let said = ran.stderr.contains("tool call") && ran.stderr.contains("3333cccc");
        assert_eq!(said, open, "{rev}: {}", ran.stderr);
        let ran = world.on(&["--json", "checkout", rev]);
        assert_eq!(ran.notes().contains(&"open-tool-call".to_owned()), open);
    }
}

#[test]
fn cycles_of_results_come_to_an_end() {
    let result = json!({ "role": "toolResult", "toolCallId": "c", "toolName": "t", "content": [], "isError": false });
    let text = Build::new()
        .message("1111aaaa", "2222aaaa", result.clone())
        .message("2222aaaa", "1111aaaa", result)
        .text();
    let world = World::with(text);
    for rev in ["1111aaaa", "2222aaaa"] {
        assert_eq!(world.on(&["checkout", rev]).code, 0);
    }
}

#[test]
fn standard_input_is_read_before_anything_is_looked_up() {
    use std::io::Write;
    let world = world();
    for args in [
        &["checkout", "@%", "--summary", "-"][..],
        &["append"],
        &["edit-context", "@%", "--replace", "-"],
    ] {
        world.on(&["set-leaf", "ffff1111"]);
        let mut command = world.command(args);
        command
            .env("PIS_SESSION", "./s.jsonl")
            .stdin(std::process::Stdio::piped());
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let mut child = command.spawn().expect("pis runs");
        std::thread::sleep(std::time::Duration::from_millis(150));
        // The writer of the pipe moves the leaf before it is done.
        world.on(&["set-leaf", "dddd1111"]);
        let mut stdin = child.stdin.take().expect("a pipe");
        let line = "{\"role\":\"user\",\"content\":\"x\"}\n";
        stdin.write_all(line.as_bytes()).expect("written");
        drop(stdin);
        let ran = crate::common::ran(&child.wait_with_output().expect("it ends"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
        let last = world.stored(1).pop().expect("an entry");
        match args[0] {
            "checkout" => {
                assert_eq!(
                    (last["parentId"].as_str(), ran.stdout.as_str()),
                    (Some("bbbb1111"), "three\n")
                );
                assert_eq!(last["fromId"], "dddd1111");
            }
            "append" => assert_eq!(last["parentId"], "dddd1111"),
            _ => assert_eq!(
                (&last["targetId"], &last["parentId"]),
                (&json!("cccc1111"), &json!("dddd1111"))
            ),
        }
    }
}

#[test]
fn inside_its_agent_the_leaf_stays() {
    let world = world();
    world.on(&["set-leaf", "dddd1111"]);
    let bytes = world.bytes();
    for args in [
        &["set-leaf", "root"][..],
        &["checkout", "cccc1111"],
        &["append", "--user", "x"],
        &["append", "--each"],
        &["edit-context", "@%", "--omit"],
        &["undo"],
    ] {
        let agent = [("PI_SESSION_FILE", "s.jsonl")];
        for vars in [
            &agent[..],
            &[("PI_SESSION_FILE", "s.jsonl"), ("PIS_SESSION", "./s.jsonl")],
        ] {
            let line = "{\"role\":\"user\",\"content\":\"x\"}\n";
            let ran = world.pis_env(vars, &[&["--json"], args].concat(), line);
            assert_eq!((ran.code, ran.stdout.as_str()), (128, ""), "{args:?}");
            assert_eq!(ran.error(), "not-writable", "{args:?}");
            assert!(ran.stderr.contains("--force"), "{}", ran.stderr);
        }
        assert_eq!(
            (world.bytes(), world.leaf().as_str()),
            (bytes.clone(), "dddd1111")
        );
        // It is the session that counts, not that there is an agent.
        world.write("other.jsonl", &bytes);
        let vars = [
            ("PI_SESSION_FILE", "other.jsonl"),
            ("PIS_SESSION", "./s.jsonl"),
        ];
        if args[0] != "undo" {
            let line = "{\"role\":\"user\",\"content\":\"x\"}\n";
            assert_eq!(world.pis_env(&vars, args, line).code, 0, "{args:?}");
        }
        world.write("s.jsonl", &bytes);
        world.on(&["set-leaf", "dddd1111"]);
        let line = "{\"role\":\"user\",\"content\":\"x\"}\n";
        let forced = [args, &["--force"]].concat();
        assert_eq!(world.pis_env(&agent, &forced, line).code, 0, "{args:?}");
        world.write("s.jsonl", &bytes);
        world.on(&["set-leaf", "dddd1111"]);
    }
    // What the running agent need not see works.
    for args in [
        &["label", "@", "here"][..],
        &["name", "a name"],
        &["log"],
        &["context"],
        &["clone"],
        &["reflog"],
    ] {
        let ran = world.pis_env(&[("PI_SESSION_FILE", "s.jsonl")], args, "");
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
    }
    let ran = world.pis_env(
        &[("PI_SESSION_FILE", "s.jsonl")],
        &["rm", "--yes", "s.jsonl"],
        "",
    );
    assert_eq!(ran.code, 2);
    assert!(world.path("s.jsonl").exists());
}

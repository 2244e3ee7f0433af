//! What is said on stderr about odd links between entries, once a kind, with where it is.

use serde_json::json;

use crate::common::{Build, World};

/// The kinds of the notes, and their text, of a command that reads everything.
fn notes(text: &str) -> (Vec<String>, String) {
    let world = World::new();
    world.write("s.jsonl", text);
    let ran = world.read(&["-s", "s.jsonl", "--json", "tree", "--filter", "all"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let plain = world.read(&["-s", "s.jsonl", "tree"]).stderr;
    assert!(
        plain.lines().all(|line| line.starts_with("note: ")),
        "{plain}"
    );
    assert_eq!(plain.lines().count(), ran.notes().len());
    let quiet = world.read(&["-q", "-s", "s.jsonl", "tree"]);
    assert_eq!(quiet.stderr, "");
    world.read_all("s.jsonl");
    (ran.notes(), plain)
}

fn user(id: &str, parent: &str) -> String {
    let text = Build::new().user(id, parent, "x").text();
    text.lines().nth(1).expect("an entry").to_owned()
}

#[test]
fn a_whole_session_needs_no_note() {
    let text = Build::new()
        .user("aaaaaaaa", "", "one")
        .user("bbbbbbbb", "aaaaaaaa", "two")
        .user("cccccccc", "aaaaaaaa", "three")
        .user("dddddddd", "", "another root")
        .text();
    assert_eq!(notes(&text), (vec![], String::new()));
}

#[test]
fn e27_orphans_are_told_once() {
    for more in 0..3 {
        let mut build = Build::new()
            .user("aaaaaaaa", "", "one")
            .user("bbbbbbbb", "zzzzzzzz", "orphan");
        for n in 0..more {
            build = build.user(&format!("o{n}"), "yyyyyyyy", "another");
        }
        let (kinds, says) = notes(&build.text());
        assert_eq!(kinds, ["orphan"]);
        assert!(says.contains("bbbbbbbb, line 3 (bytes "), "{says}");
        assert!(
            says.contains("zzzzzzzz, which is not in the file"),
            "{says}"
        );
        assert_eq!(says.contains("more)"), more > 0, "{says}");
    }
}

#[test]
fn e27_a_log_that_a_missing_parent_cuts_short_says_so() {
    let world = World::new();
    let text = Build::new()
        .user("aaaaaaaa", "", "one")
        .user("bbbbbbbb", "zzzzzzzz", "orphan")
        .user("cccccccc", "bbbbbbbb", "three")
        .text();
    world.write("s.jsonl", text);
    for args in [
        &["log"][..],
        &["rev-path"],
        &["context"],
        &["log", "--graph"],
    ] {
        let args: Vec<_> = ["--json", "-s", "s.jsonl"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        assert_eq!(world.read(&args).notes(), ["orphan"], "{args:?}");
    }
}

#[test]
fn e28_e29_cycles_are_told_once() {
    let text = Build::new()
        .user("aaaaaaaa", "", "one")
        .user("bbbbbbbb", "bbbbbbbb", "own parent")
        .text();
    let (kinds, says) = notes(&text);
    assert_eq!(kinds, ["cycle"]);
    assert!(
        says.contains("bbbbbbbb, line 3") && says.contains("its own ancestor"),
        "{says}"
    );
    for len in [2, 3, 10] {
        let mut build = Build::new().user("aaaaaaaa", "", "one");
        for n in 0..len {
            build = build.user(
                &format!("c{n}"),
                &format!("c{}", (n + len - 1) % len),
                "round",
            );
        }
        let (kinds, says) = notes(&build.text());
        assert_eq!(kinds, ["cycle"], "{says}");
        assert!(
            says.contains("c0, line 3"),
            "where the link goes back: {says}"
        );
    }
}

#[test]
fn e30_e31_a_repeated_id_is_told_with_both_lines() {
    let text = Build::new()
        .user("aaaaaaaa", "", "old")
        .user("bbbbbbbb", "aaaaaaaa", "two")
        .user("aaaaaaaa", "", "new")
        .text();
    let (kinds, says) = notes(&text);
    assert!(kinds.contains(&"duplicate-id".to_owned()), "{kinds:?}");
    assert!(
        says.contains("line 2 (bytes ") && says.contains("line 4 (bytes "),
        "{says}"
    );
    let once = Build::new()
        .user("aaaaaaaa", "", "one")
        .user("bbbbbbbb", "aaaaaaaa", "two")
        .text();
    let entries = once.split_once('\n').unwrap().1;
    let (kinds, says) = notes(&(once.clone() + entries));
    assert_eq!(kinds, ["duplicate-id"], "{says}");
    assert!(says.contains("and so is one more line"), "{says}");
}

#[test]
fn e32_a_child_before_its_parent_is_told() {
    let text = Build::new()
        .user("bbbbbbbb", "aaaaaaaa", "two")
        .user("aaaaaaaa", "", "one")
        .text();
    let (kinds, says) = notes(&text);
    assert_eq!(kinds, ["out-of-order"]);
    assert!(
        says.contains("bbbbbbbb, line 2") && says.contains("before its parent"),
        "{says}"
    );
}

#[test]
fn e34_a_parent_that_is_no_id_is_told() {
    for parent in [
        "",
        ",\"parentId\":\"\"",
        ",\"parentId\":[1]",
        ",\"parentId\":true",
    ] {
        let line = format!("{{\"type\":\"custom\",\"id\":\"bbbbbbbb\"{parent}}}");
        let text = Build::new()
            .user("aaaaaaaa", "", "one")
            .raw(&line)
            .raw(&user("cccccccc", "bbbbbbbb"));
        let (kinds, says) = notes(&text.text());
        assert_eq!(kinds, ["bad-parent"], "{parent}: {says}");
        assert!(
            says.contains("bbbbbbbb, line 3") && says.contains("counts as a root"),
            "{says}"
        );
    }
}

#[test]
fn e46_a_hidden_newer_branch_is_named() {
    for last in [
        json!({ "type": "custom", "customType": "x" }),
        json!({ "type": "label", "targetId": "aaaaaaaa", "label": "x" }),
        json!({ "type": "session_info", "name": "x" }),
        json!({ "type": "usage", "kind": "x" }),
    ] {
        let build = Build::new()
            .user("aaaaaaaa", "", "one")
            .user("bbbbbbbb", "aaaaaaaa", "two")
            .user("cccccccc", "bbbbbbbb", "three")
            .entry("dddddddd", "aaaaaaaa", last.clone());
        let text = build.text();
        let (kinds, says) = notes(&text);
        assert_eq!(kinds, ["hidden-branch"], "{says}");
        assert!(
            says.contains("cccccccc") && says.contains("'root@{tip}'"),
            "{says}"
        );
        // A short look at the end of the file tells it, too.
        let world = World::new();
        world.write("s.jsonl", &text);
        let ran = world.read(&["--json", "-s", "s.jsonl", "rev-parse", "@"]);
        assert_eq!(ran.notes(), ["hidden-branch"]);
        // Whoever moved the leaf knows where it is.
        let head = json!({ "leaf": "bbbbbbbb", "size": text.len() });
        world.write(".pis/s.jsonl.d/HEAD", head.to_string());
        assert_eq!(world.read(&["-s", "s.jsonl", "tree"]).stderr, "");
        // On the newest branch itself nothing is hidden.
        let text = Build::new()
            .user("aaaaaaaa", "", "one")
            .user("cccccccc", "aaaaaaaa", "three")
            .entry("dddddddd", "cccccccc", last)
            .text();
        assert_eq!(notes(&text).0, [""; 0]);
    }
}

#[test]
fn every_kind_at_once_is_a_line_each() {
    let text = Build::new()
        .user("aaaaaaaa", "", "one")
        .user("orphan01", "zzzzzzzz", "orphan")
        .user("cycle001", "cycle001", "cycle")
        .user("early001", "late0001", "early")
        .user("late0001", "aaaaaaaa", "late")
        .raw(r#"{"type":"custom","id":"noparent"}"#)
        .user("aaaaaaaa", "", "again")
        .raw("broken")
        .raw("42")
        .raw(r#"{"type":"custom"}"#)
        .text();
    let (mut kinds, says) = notes(&format!("{text}{{\"torn"));
    kinds.sort();
    assert_eq!(
        kinds,
        [
            "bad-parent",
            "cycle",
            "duplicate-id",
            "no-id",
            "not-an-object",
            "orphan",
            "out-of-order",
            "torn-tail",
            "unparseable-line",
        ],
        "{says}"
    );
}

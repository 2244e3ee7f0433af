//! Odd trees (rows E27 to E35, E39, E46, E47 and E50 of the catalogue): no walk ends in a loop, and
//! nothing is hidden.

use serde_json::json;

use crate::common::{Build, World};

fn world(build: &Build) -> World {
    let world = World::new();
    world.write("s.jsonl", build.text());
    world.read_all("s.jsonl");
    world
}

fn lines(world: &World, args: &[&str]) -> Vec<String> {
    let args: Vec<_> = ["-q", "-s", "s.jsonl"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    let ran = world.read(&args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
    ran.stdout.lines().map(str::to_owned).collect()
}

const ALL: [&str; 4] = ["tree", "--filter", "all", "--format=%H"];

#[test]
fn e27_an_orphan_is_another_root() {
    let world = world(
        &Build::new()
            .user("aaaaaaaa", "", "one")
            .user("bbbbbbbb", "zzzzzzzz", "orphan")
            .user("cccccccc", "bbbbbbbb", "three"),
    );
    assert_eq!(lines(&world, &["rev-path"]), ["bbbbbbbb", "cccccccc"]);
    assert_eq!(
        lines(&world, &["ls-entries", "--roots"]),
        ["aaaaaaaa", "bbbbbbbb"]
    );
    assert_eq!(lines(&world, &ALL), ["bbbbbbbb", "cccccccc", "aaaaaaaa"]);
    let graph = lines(&world, &["log", "--graph"]);
    assert!(
        graph.iter().any(|line| line.trim() == "~"),
        "the cut is drawn: {graph:#?}"
    );
    let ran = world.read(&["-q", "-s", "s.jsonl", "merge-base", "aaaaaaaa", "cccccccc"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
}

#[test]
fn e28_an_entry_that_is_its_own_parent_is_a_root() {
    let world = world(
        &Build::new()
            .user("aaaaaaaa", "", "one")
            .user("bbbbbbbb", "bbbbbbbb", "own parent")
            .user("cccccccc", "bbbbbbbb", "three"),
    );
    assert_eq!(lines(&world, &["rev-path"]), ["bbbbbbbb", "cccccccc"]);
    assert_eq!(lines(&world, &ALL), ["bbbbbbbb", "cccccccc", "aaaaaaaa"]);
    assert_eq!(
        lines(&world, &["merge-base", "@", "bbbbbbbb"]),
        ["bbbbbbbb"]
    );
    assert_eq!(lines(&world, &["context", "--entries"]).len(), 2);
}

#[test]
fn e29_a_cycle_is_shown_as_a_component_of_its_own() {
    for len in [2, 3, 10] {
        let mut build = Build::new().user("aaaaaaaa", "", "one");
        for n in 0..len {
            build = build.user(
                &format!("c{n}"),
                &format!("c{}", (n + len - 1) % len),
                "round",
            );
        }
        let world = world(&build.user("bbbbbbbb", "aaaaaaaa", "two"));
        assert_eq!(lines(&world, &["rev-path"]), ["aaaaaaaa", "bbbbbbbb"]);
        assert_eq!(lines(&world, &ALL).len(), len + 2);
        assert_eq!(
            lines(&world, &["log", "--all", "--format", "%H"]).len(),
            len + 2
        );
        let path = lines(&world, &["rev-path", "c1"]);
        assert!(
            path.len() <= len && path.ends_with(&["c1".to_owned()]),
            "{path:?}"
        );
    }
}

#[test]
fn e29_the_leaf_can_be_inside_a_cycle() {
    let world = world(
        &Build::new()
            .user("aaaaaaaa", "bbbbbbbb", "one")
            .user("bbbbbbbb", "aaaaaaaa", "two"),
    );
    assert_eq!(lines(&world, &["rev-path"]), ["aaaaaaaa", "bbbbbbbb"]);
    assert_eq!(lines(&world, &["ls-entries", "--roots"]), ["aaaaaaaa"]);
    assert_eq!(lines(&world, &["context", "--entries"]).len(), 2);
}

#[test]
fn e30_a_repeated_id_makes_no_cycle() {
    let world = world(
        &Build::new()
            .user("aaaaaaaa", "", "old")
            .user("bbbbbbbb", "aaaaaaaa", "two")
            .user("aaaaaaaa", "bbbbbbbb", "new"),
    );
    let path = lines(&world, &["rev-path"]);
    assert_eq!(path.last().map(String::as_str), Some("aaaaaaaa"));
    assert_eq!(
        lines(&world, &["cat-entry", "--text", "aaaaaaaa"]),
        ["new"],
        "the later one wins"
    );
    assert_eq!(lines(&world, &["ls-entries"]), ["bbbbbbbb", "aaaaaaaa"]);
}

#[test]
fn e31_a_record_that_is_there_twice_is_shown_once() {
    let once = Build::new()
        .user("aaaaaaaa", "", "one")
        .assistant("bbbbbbbb", "aaaaaaaa", "two")
        .user("cccccccc", "bbbbbbbb", "three")
        .text();
    let lines_of: Vec<_> = once.lines().collect();
    let world = World::new();
    let twice = [&lines_of[..], &lines_of[1..]].concat().join("\n") + "\n";
    for text in [
        twice,
        format!("{once}{}\n", lines_of[3]),
        format!(
            "{}\n{}\n{}\n",
            lines_of[..3].join("\n"),
            lines_of[2],
            lines_of[3]
        ),
        once.clone() + &(lines_of[1..].join("\n") + "\n").repeat(40),
    ] {
        world.write("s.jsonl", text);
        assert_eq!(lines(&world, &ALL), ["aaaaaaaa", "bbbbbbbb", "cccccccc"]);
        assert_eq!(
            lines(&world, &["rev-path"]),
            ["aaaaaaaa", "bbbbbbbb", "cccccccc"]
        );
        assert_eq!(lines(&world, &["context", "--entries"]).len(), 3);
        world.read_all("s.jsonl");
    }
}

#[test]
fn e32_a_child_may_stand_before_its_parent() {
    let world = world(
        &Build::new()
            .user("cccccccc", "bbbbbbbb", "three")
            .user("bbbbbbbb", "aaaaaaaa", "two")
            .user("aaaaaaaa", "", "one"),
    );
    assert_eq!(
        lines(&world, &["rev-parse", "@"]),
        ["aaaaaaaa"],
        "the last line, as for pi"
    );
    assert_eq!(
        lines(&world, &["rev-path", "cccccccc"]),
        ["aaaaaaaa", "bbbbbbbb", "cccccccc"]
    );
    assert_eq!(lines(&world, &ALL), ["aaaaaaaa", "bbbbbbbb", "cccccccc"]);
    assert_eq!(
        lines(&world, &["rev-parse", "@{tip}", "aaaaaaaa++"])[1],
        "cccccccc"
    );
}

#[test]
fn e33_several_roots_are_a_forest() {
    let world = world(
        &Build::new()
            .user("aaaaaaaa", "", "one")
            .user("bbbbbbbb", "", "two")
            .user("cccccccc", "bbbbbbbb", "three")
            .user("dddddddd", "", "four"),
    );
    assert_eq!(
        lines(&world, &["ls-entries", "--roots"]),
        ["aaaaaaaa", "bbbbbbbb", "dddddddd"]
    );
    assert_eq!(
        lines(&world, &ALL),
        ["dddddddd", "aaaaaaaa", "bbbbbbbb", "cccccccc"]
    );
    let sides = lines(&world, &["rev-path", "--left-right", "cccccccc...@"]);
    assert_eq!(sides, ["<bbbbbbbb", "<cccccccc", ">dddddddd"]);
}

#[test]
fn e34_a_parent_that_is_missing_empty_or_no_id_is_none() {
    for parent in [
        "",
        ",\"parentId\":\"\"",
        ",\"parentId\":[1]",
        ",\"parentId\":false",
    ] {
        let line = format!(
            "{{\"type\":\"message\",\"id\":\"bbbbbbbb\"{parent},\"message\":{{\"role\":\"user\",\"content\":\"two\"}}}}"
        );
        let world = world(&Build::new().user("aaaaaaaa", "", "one").raw(&line));
        assert_eq!(lines(&world, &["rev-path"]), ["bbbbbbbb"], "{parent}");
        assert_eq!(lines(&world, &["rev-parse", "@^"]), ["root"]);
        assert_eq!(
            lines(&world, &["ls-entries", "--roots"]),
            ["aaaaaaaa", "bbbbbbbb"]
        );
    }
}

#[test]
fn e35_an_entry_without_an_id_is_no_leaf() {
    let world = world(
        &Build::new()
            .user("aaaaaaaa", "", "one")
            .raw(r#"{"type":"message","parentId":"aaaaaaaa","message":{"role":"user","content":"x"}}"#)
            .raw(r#"{"type":"custom","id":"","parentId":"aaaaaaaa"}"#)
            .raw(r#"{"type":"custom","id":{"a":1},"parentId":"aaaaaaaa"}"#),
    );
    // An empty string is an id to pi's map.
    let ids = lines(&world, &["ls-entries"]);
    assert_eq!(ids[0], "aaaaaaaa");
    assert!(ids.len() <= 2, "{ids:?}");
}

#[test]
fn e39_times_of_any_kind_only_order_children() {
    let at = |id: &str, time: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":\"aaaaaaaa\",\"timestamp\":{time},\"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}"
        )
    };
    let world = world(
        &Build::new()
            .user("aaaaaaaa", "", "one")
            .raw(&at("none", "null"))
            .raw(&at("odd", "\"soon\""))
            .raw(&at("late", "\"9999-12-31T23:59:59.999Z\""))
            .raw(&at("number", "5"))
            .raw(&at("early", "\"1970-01-01T00:00:00.001Z\""))
            .raw(&at("same", "5"))
            .raw(&at("leaf", "[]")),
    );
    let order = [
        "aaaaaaaa", "leaf", "early", "number", "same", "late", "none", "odd",
    ];
    assert_eq!(
        lines(&world, &ALL),
        order,
        "the branch with the leaf first, no time last"
    );
    let rows: Vec<_> = lines(&world, &["log", "--all", "--format", "%H|%at|%t"]);
    assert!(rows.contains(&"number|5|5".to_owned()), "{rows:?}");
    assert!(rows.contains(&"odd||soon".to_owned()), "{rows:?}");
    assert!(rows.contains(&"late|253402300799999|9999-12-31T23:59:59.999Z".to_owned()));
    assert_eq!(
        lines(
            &world,
            &["log", "--all", "--since", "1970-01-01", "--format", "%H"]
        )
        .len(),
        5
    );
}

#[test]
fn e46_a_bookkeeping_line_at_the_end_hides_no_branch() {
    for last in [
        json!({ "type": "custom", "customType": "x" }),
        json!({ "type": "label", "targetId": "aaaaaaaa", "label": "x" }),
        json!({ "type": "session_info", "name": "x" }),
        json!({ "type": "usage", "kind": "x" }),
    ] {
        let world = world(
            &Build::new()
                .user("aaaaaaaa", "", "one")
                .user("bbbbbbbb", "aaaaaaaa", "two")
                .user("cccccccc", "bbbbbbbb", "three")
                .entry("dddddddd", "aaaaaaaa", last),
        );
        assert_eq!(lines(&world, &["rev-parse", "@"]), ["dddddddd"]);
        assert_eq!(lines(&world, &["rev-parse", "root@{tip}"]), ["cccccccc"]);
        assert_eq!(lines(&world, &["ls-entries", "--tips"]), ["cccccccc"]);
    }
}

#[test]
fn e47_writers_that_take_turns_make_two_branches() {
    let world = world(
        &Build::new()
            .user("aaaaaaaa", "", "one")
            .user("bbbbbbbb", "aaaaaaaa", "writer one")
            .user("cccccccc", "aaaaaaaa", "writer two")
            .assistant("dddddddd", "bbbbbbbb", "reply one"),
    );
    assert_eq!(
        lines(&world, &["rev-path"]),
        ["aaaaaaaa", "bbbbbbbb", "dddddddd"]
    );
    assert_eq!(
        lines(&world, &["ls-entries", "--tips"]),
        ["cccccccc", "dddddddd"]
    );
    assert_eq!(
        lines(&world, &ALL),
        ["aaaaaaaa", "bbbbbbbb", "dddddddd", "cccccccc"]
    );
    assert_eq!(
        world.read(&["-s", "s.jsonl", "log"]).stderr,
        "",
        "nothing is wrong with it"
    );
}

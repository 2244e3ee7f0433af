//! Where the leaf is: `HEAD` beside the session, and the log of moves.

use std::path::Path;

use serde_json::json;

use crate::common::{Build, World};

fn text() -> String {
    Build::new()
        .user("aaaaaaaa", "", "one")
        .assistant("bbbbbbbb", "aaaaaaaa", "two")
        .user("cccccccc", "bbbbbbbb", "three")
        .assistant("dddddddd", "cccccccc", "four")
        .text()
}

/// A world with a session and a `HEAD` that was written when the session had this size.
fn with_head(leaf: Option<&str>, size: usize) -> World {
    let world = World::new();
    world.write("s.jsonl", text());
    world.write(
        ".pis/s.jsonl.d/HEAD",
        json!({ "leaf": leaf, "size": size }).to_string(),
    );
    world
}

const AT: [&str; 4] = ["-s", "s.jsonl", "rev-parse", "@"];

fn append(path: &Path, bytes: &str) {
    use std::io::Write;
    let file = std::fs::File::options().append(true).open(path);
    file.and_then(|mut file| file.write_all(bytes.as_bytes()))
        .expect("appended");
}

#[test]
fn without_head_it_is_the_last_entry() {
    let world = World::new();
    world.write("s.jsonl", text());
    assert_eq!(world.ok(&AT), "dddddddd\n");
    world.write("s.jsonl", Build::new().text());
    assert_eq!(world.ok(&AT), "root\n");
}

#[test]
fn head_holds_for_exactly_this_file() {
    let world = with_head(Some("bbbbbbbb"), text().len());
    assert_eq!(world.ok(&AT), "bbbbbbbb\n");
    let explained = world.ok(&["-s", "s.jsonl", "rev-parse", "--explain", "@"]);
    assert_eq!(explained, "@\tbbbbbbbb\tthe leaf, where HEAD points\n");
    assert_eq!(
        world.lines(&["-s", "s.jsonl", "rev-path"]),
        ["aaaaaaaa", "bbbbbbbb"]
    );
    assert_eq!(
        world.lines(&["-s", "s.jsonl", "log", "--format", "%h"]),
        ["bbbbbbbb", "aaaaaaaa"]
    );
    let rows = world.json(&["-s", "s.jsonl", "--json", "tree"]);
    let marks: Vec<_> = rows
        .iter()
        .map(|r| (r["leaf"] == true, r["onPath"] == true))
        .collect();
    assert_eq!(
        marks,
        [(false, true), (true, true), (false, false), (false, false)]
    );
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "rev-parse", "@{tip}"]),
        "dddddddd\n"
    );
    let context = world.ok(&["-s", "s.jsonl", "context"]);
    assert!(!context.contains("three"));
    world.read_all("s.jsonl");
}

#[test]
fn an_append_makes_head_stale() {
    let world = with_head(Some("bbbbbbbb"), text().len());
    let entry = Build::new().user("eeeeeeee", "bbbbbbbb", "five").text();
    append(&world.path("s.jsonl"), entry.split_once('\n').unwrap().1);
    assert_eq!(world.ok(&AT), "eeeeeeee\n");
}

#[test]
fn white_space_behind_the_size_changes_nothing() {
    for tail in ["\n", "\r\n", "  \t\n\n", " "] {
        let world = with_head(Some("bbbbbbbb"), text().len());
        append(&world.path("s.jsonl"), tail);
        assert_eq!(world.ok(&AT), "bbbbbbbb\n", "{tail:?}");
    }
    // A missing last newline was there when pi opened the file.
    let world = with_head(Some("bbbbbbbb"), text().len() - 1);
    assert_eq!(world.ok(&AT), "bbbbbbbb\n");
    // A torn record is no white space, though it is no entry.
    let world = with_head(Some("bbbbbbbb"), text().len());
    append(&world.path("s.jsonl"), "{\"type\":\"mess");
    assert_eq!(world.read(&AT).stdout, "dddddddd\n");
}

#[test]
fn a_file_that_was_cut_is_another_file() {
    let world = with_head(Some("bbbbbbbb"), text().len() + 1);
    assert_eq!(world.ok(&AT), "dddddddd\n");
}

#[test]
fn a_leaf_that_is_not_in_the_file_is_ignored_with_a_note() {
    let world = with_head(Some("zzzzzzzz"), text().len());
    let ran = world.read(&AT);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "dddddddd\n"));
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(
        ran.stderr.starts_with("note: ") && ran.stderr.contains("zzzzzzzz"),
        "{}",
        ran.stderr
    );
    let ran = world.read(&["--json", "-s", "s.jsonl", "rev-parse", "@"]);
    assert_eq!(ran.notes(), ["dangling-leaf"]);
    assert_eq!(
        world
            .read(&["-q", "-s", "s.jsonl", "rev-parse", "@"])
            .stderr,
        ""
    );
    world.read_all("s.jsonl");
}

#[test]
fn the_leaf_can_be_before_the_first_entry() {
    let world = with_head(None, text().len());
    assert_eq!(world.ok(&AT), "root\n");
    assert_eq!(world.ok(&["-s", "s.jsonl", "rev-path"]), "");
    let context = world.ok(&["-s", "s.jsonl", "context"]);
    assert_eq!(
        context,
        "{\"messages\":[],\"thinkingLevel\":\"off\",\"model\":null}\n"
    );
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "rev-parse", "@{tip}"]),
        "dddddddd\n"
    );
    let tree = world.ok(&["-s", "s.jsonl", "tree"]);
    assert!(tree.lines().count() == 4 && !tree.contains('←'), "{tree}");
    world.read_all("s.jsonl");
}

#[test]
fn a_head_that_cannot_be_read_counts_for_nothing() {
    for head in [
        "",
        "{",
        "null",
        "[]",
        "{\"leaf\":\"bbbbbbbb\"}",
        "{\"size\":1}",
        "\u{feff}",
    ] {
        let world = World::new();
        world.write("s.jsonl", text());
        world.write(".pis/s.jsonl.d/HEAD", head);
        assert_eq!(world.ok(&AT), "dddddddd\n", "{head}");
    }
    let world = World::new();
    world.write("s.jsonl", text());
    world.write(".pis/s.jsonl.d/HEAD/x", "a directory");
    assert_eq!(world.ok(&AT), "dddddddd\n");
}

#[cfg(unix)]
#[test]
fn head_lies_beside_the_file_that_a_link_leads_to() {
    let world = with_head(Some("bbbbbbbb"), text().len());
    std::fs::create_dir(world.path("other")).unwrap();
    std::os::unix::fs::symlink(world.path("s.jsonl"), world.path("other/link.jsonl")).unwrap();
    assert_eq!(
        world.ok(&["-s", "other/link.jsonl", "rev-parse", "@"]),
        "bbbbbbbb\n"
    );
    // What lies beside the link counts for nothing.
    let head = json!({ "leaf": "aaaaaaaa", "size": text().len() }).to_string();
    world.write("other/.pis/link.jsonl.d/HEAD", head);
    assert_eq!(
        world.ok(&["-s", "other/link.jsonl", "rev-parse", "@"]),
        "bbbbbbbb\n"
    );
}

#[test]
fn an_odd_id_can_be_the_leaf() {
    let world = World::new();
    let text = Build::new()
        .user("a \"b\"", "", "one")
        .user("root", "a \"b\"", "two")
        .user("cccccccc", "root", "three")
        .text();
    world.write("s.jsonl", &text);
    for (id, wanted) in [("a \"b\"", "\"a \\\"b\\\"\"\n"), ("root", "\"root\"\n")] {
        world.write(
            ".pis/s.jsonl.d/HEAD",
            json!({ "leaf": id, "size": text.len() }).to_string(),
        );
        assert_eq!(world.ok(&AT), wanted);
    }
}

#[test]
fn head_counts_for_a_file_without_ids() {
    let world = World::new();
    let v1 = std::fs::read_to_string(crate::common::fixture("v1.jsonl")).unwrap();
    world.write("s.jsonl", &v1);
    let ids = world.lines(&["-s", "s.jsonl", "rev-path"]);
    let head = json!({ "leaf": ids[1], "size": v1.len() });
    world.write(".pis/s.jsonl.d/HEAD", head.to_string());
    assert_eq!(world.ok(&AT), format!("{}\n", ids[1]));
}

/// A line of the log.
fn step(op: &str, old: Option<&str>, new: Option<&str>) -> String {
    let line = json!({ "time": 1, "op": op, "old": old, "new": new, "size": 1, "reason": null });
    format!("{line}\n")
}

fn with_log(log: &str) -> World {
    let world = World::new();
    world.write("s.jsonl", text());
    world.write(".pis/s.jsonl.d/log", log);
    world
}

fn at(world: &World, revs: &[&str]) -> Vec<String> {
    let args: Vec<_> = ["-s", "s.jsonl", "rev-parse"]
        .iter()
        .chain(revs)
        .copied()
        .collect();
    world.lines(&args)
}

#[test]
fn places_of_the_leaf_are_counted_back() {
    let log = step("checkout", Some("cccccccc"), Some("aaaaaaaa"))
        + &step("append", Some("aaaaaaaa"), Some("bbbbbbbb"))
        + &step("set-leaf", Some("bbbbbbbb"), None)
        + &step("checkout", None, Some("dddddddd"));
    let world = with_log(&log);
    let revs = ["@{0}", "@{1}", "@{2}", "@{3}", "@{4}"];
    assert_eq!(
        at(&world, &revs),
        ["dddddddd", "root", "bbbbbbbb", "aaaaaaaa", "cccccccc"]
    );
    // Where the checkouts, set-leafs and undos started; appends do not count.
    assert_eq!(
        at(&world, &["@{-1}", "@{-2}", "@{-3}"]),
        ["root", "bbbbbbbb", "cccccccc"]
    );
    assert_eq!(
        at(&world, &["@{2}~1", "@{-2}^{user}"]),
        ["aaaaaaaa", "aaaaaaaa"]
    );
    for (rev, known) in [("@{5}", "4 moves"), ("@{-4}", "3 checkouts")] {
        let ran = world.read(&["-s", "s.jsonl", "rev-parse", rev]);
        assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
        let says = format!("error: no entry for '{rev}': the log knows of {known} only\n");
        assert_eq!(ran.stderr, says);
    }
}

#[test]
fn what_pi_did_in_between_is_one_move() {
    let log = step("checkout", Some("aaaaaaaa"), Some("bbbbbbbb"))
        + &step("undo", Some("cccccccc"), Some("aaaaaaaa"));
    let world = with_log(&log);
    // The leaf is dddddddd now: pi moved it there.
    let revs = ["@{0}", "@{1}", "@{2}", "@{3}", "@{4}"];
    assert_eq!(
        at(&world, &revs),
        ["dddddddd", "aaaaaaaa", "cccccccc", "bbbbbbbb", "aaaaaaaa"]
    );
}

#[test]
fn lines_of_the_log_that_do_not_parse_are_passed_over() {
    let log = step("checkout", Some("aaaaaaaa"), Some("dddddddd"));
    let world = with_log(&format!("junk\n\n{log}{{\"time\":"));
    assert_eq!(at(&world, &["@{1}", "@{-1}"]), ["aaaaaaaa", "aaaaaaaa"]);
}

#[test]
fn an_entry_that_has_gone_is_an_error() {
    let world = with_log(&step("checkout", Some("zzzzzzzz"), Some("dddddddd")));
    let ran = world.read(&["-s", "s.jsonl", "rev-parse", "@{1}"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
    assert!(ran.stderr.contains("'zzzzzzzz'"), "{}", ran.stderr);
    let ran = with_log("").read(&["-s", "s.jsonl", "rev-parse", "@{0}", "@{1}"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, "dddddddd\n"));
}

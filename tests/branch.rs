//! `pis branch`: tips and what is their own.

use serde_json::{Value, json};

use crate::common::{Build, World, fields, fixture};
use crate::terminal::in_pipe;

/// Two branches from `b`, one of which parts again; a root of its own.
fn session() -> String {
    Build::new()
        .user("aaaaaaa1", "", "first prompt")
        .assistant("bbbbbbb1", "aaaaaaa1", "first answer")
        .user("ccccccc1", "bbbbbbb1", "one way")
        .assistant("ddddddd1", "ccccccc1", "went one way")
        .label("eeeeeee1", "ddddddd1", "ddddddd1", "one")
        .user("ccccccc2", "bbbbbbb1", "another way")
        .assistant("ddddddd2", "ccccccc2", "")
        .user("ccccccc3", "ddddddd2", "further")
        .user("ccccccc4", "ddddddd2", "elsewhere")
        .user("aaaaaaa2", "", "a second root")
        .text()
}

fn tips(world: &World, args: &[&str]) -> Vec<String> {
    let args = [&["branch", "--format", "%H"], args].concat();
    world.done(&args).lines().map(str::to_owned).collect()
}

#[test]
fn each_tip_has_its_own_stretch() {
    let world = World::with(session());
    let ran = world.on(&["--json", "branch"]);
    let rows: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let parts: Vec<_> = rows
        .iter()
        .map(|row| {
            json!([
                row["id"],
                row["base"],
                row["entryCount"],
                row["first"],
                row["last"],
                row["label"]
            ])
        })
        .collect();
    let wanted = [
        json!(["aaaaaaa2", null, 1, "a second root", "a second root", null]),
        json!(["ccccccc4", "ddddddd2", 1, "elsewhere", "elsewhere", null]),
        json!(["ccccccc3", "ddddddd2", 1, "further", "further", null]),
        json!(["ddddddd1", "bbbbbbb1", 2, "one way", "went one way", "one"]),
    ];
    assert_eq!(parts, wanted);
    let shape = [
        "base",
        "entryCount",
        "first",
        "id",
        "label",
        "last",
        "leaf",
        "onPath",
        "parentId",
        "role",
        "text",
        "time",
        "timestamp",
        "type",
    ];
    assert_eq!(fields(&rows[0]), shape);
}

#[test]
fn branches_are_chosen_by_what_they_hold() {
    let world = World::with(session());
    assert_eq!(
        tips(&world, &["--contains", "ddddddd2"]),
        ["ccccccc4", "ccccccc3"]
    );
    assert_eq!(tips(&world, &["--contains"]), ["aaaaaaa2"], "the leaf");
    assert_eq!(tips(&world, &["--contains", "root"]).len(), 4);
    assert_eq!(tips(&world, &["--merged", "one"]), ["ddddddd1"]);
    let none = world.on(&["branch", "--merged", "ccccccc1"]);
    assert_eq!((none.code, none.stdout.as_str()), (0, ""));
    assert_eq!(none.stderr, "note: there is no such branch\n");
    assert_eq!(world.on(&["branch", "--contains", "nothing"]).code, 128);
}

#[test]
fn the_branch_that_holds_the_leaf_has_a_star() {
    let world = World::with(session());
    let starred = || {
        let rows = world.done(&["branch"]);
        let row = rows.lines().find(|row| row.starts_with('*'));
        row.map(|row| row.split_whitespace().nth(1).unwrap().to_owned())
    };
    assert_eq!(starred().as_deref(), Some("aaaaaaa2"));
    // A label belongs to the entry it hangs on; where branches part, it is the newest.
    for (leaf, tip) in [
        ("eeeeeee1", "ddddddd1"),
        ("ccccccc1", "ddddddd1"),
        ("ddddddd2", "ccccccc4"),
    ] {
        world.done(&["-q", "set-leaf", leaf]);
        assert_eq!(starred().as_deref(), Some(tip), "{leaf}");
    }
    world.done(&["-q", "set-leaf", "root"]);
    assert_eq!(starred(), None);
}

#[test]
fn rows_follow_the_width() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let shown = |columns: &str| {
        let text = in_pipe(&world, &["-s", &file, "branch"], &[("COLUMNS", columns)]).stdout;
        let age = regex::Regex::new(r" +\d+(m|h|d|mo|y)$").unwrap();
        text.lines()
            .map(|line| age.replace(line, "").trim_end().to_owned() + "\n")
            .collect::<String>()
    };
    assert_eq!(
        shown("40"),
        "\
* f4b8 10  Keep the return value,…
  c20b 15  Try an aggressive rewri…
"
    );
    assert_eq!(
        shown("80"),
        "\
* f4b8236e 10  Keep the return value, only… .. Done: the id, never the tok…
  c20b91a8 15  Try an aggressive rewrite .. Rewrote the module; 5 tests fa…
"
    );
    assert_eq!(
        shown("200"),
        "\
* f4b8236e 10  Keep the return value, only add logs .. Done: the id, never the token
  c20b91a8 15  Try an aggressive rewrite .. Rewrote the module; 5 tests fail
"
    );
}

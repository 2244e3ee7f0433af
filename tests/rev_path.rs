//! `pis rev-path`: ids from the root to an entry, and ranges of them.

use serde_json::Value;

use crate::common::{World, fields, fixture};

fn path(args: &[&str]) -> Vec<String> {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let args: Vec<_> = ["-s", &file, "rev-path"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    world.lines(&args)
}

const TO_PLANS: [&str; 4] = ["5c1f0b7e", "e70d2a94", "dd4f6f16", "0fa4a08e"];
const TO_GOOD: [&str; 5] = ["a96ab147", "94d7e02f", "380bc5a1", "bf692d7e", "840e16a9"];

#[test]
fn a_path_runs_from_the_root() {
    assert_eq!(path(&["plans"]), TO_PLANS);
    let mut reversed = TO_PLANS;
    reversed.reverse();
    assert_eq!(path(&["--reverse", "plans"]), reversed);
    assert_eq!(path(&[]).last().map(String::as_str), Some("f4b8236e"));
    assert_eq!(path(&[]), path(&["@"]));
    assert!(path(&["root"]).is_empty());
}

#[test]
fn ranges_leave_out_what_is_above_the_left_side() {
    assert_eq!(path(&["6de81c37..good"]), TO_GOOD);
    assert_eq!(path(&["good..6de81c37"]), [""; 0]);
    assert_eq!(path(&["root..plans"]), TO_PLANS);
    let both = path(&["--left-right", "78743def...a96ab147"]);
    assert_eq!(both, ["<78743def", ">a96ab147"]);
    let other = path(&["--left-right", "a96ab147...78743def"]);
    assert_eq!(other, ["<a96ab147", ">78743def"]);
    assert_eq!(path(&["78743def...a96ab147"]), ["78743def", "a96ab147"]);
}

#[test]
fn several_arguments_are_listed_once_each() {
    let both = path(&["plans", "a96ab147"]);
    assert_eq!(both.len(), 6);
    assert_eq!(both[..4], TO_PLANS);
    assert_eq!(both[4..], ["6de81c37", "a96ab147"]);
}

#[test]
fn a_limit_counts_from_the_end() {
    assert_eq!(path(&["-n", "2", "plans"]), TO_PLANS[2..]);
    assert_eq!(
        path(&["-n", "2", "--reverse", "plans"]),
        ["0fa4a08e", "dd4f6f16"]
    );
    assert_eq!(path(&["-n", "1", "--role", "user", "good"]), ["a96ab147"]);
    assert!(path(&["-n", "0", "good"]).is_empty());
    assert_eq!(path(&["-n", "99", "plans"]), TO_PLANS);
}

#[test]
fn types_and_roles_select() {
    assert_eq!(
        path(&["--role", "user"]),
        ["dd4f6f16", "a96ab147", "1d9e4b72"]
    );
    assert_eq!(path(&["--role", "tool"]), path(&["--role", "toolResult"]));
    assert_eq!(path(&["--type", "label"]), ["6de81c37", "7a35f8c0"]);
    let settings = path(&["--type", "model_change", "--type", "thinking_level_change"]);
    assert_eq!(settings, ["5c1f0b7e", "e70d2a94"]);
    assert!(path(&["--type", "label", "--role", "user"]).is_empty());
    assert!(path(&["--type", "no_such_type"]).is_empty());
    assert_eq!(path(&["--count", "--type", "message"]), ["11"]);
    assert_eq!(path(&["--count", "root"]), ["0"]);
}

#[test]
fn unknown_types_can_be_selected_by_their_name() {
    let (world, file) = (World::new(), fixture("kinds.jsonl"));
    let ids = world.lines(&["-s", &file, "rev-path", "--type", "hologram"]);
    assert_eq!(ids, ["00000010"]);
}

#[test]
fn entries_are_the_stored_lines() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let text = std::fs::read_to_string(&file).unwrap();
    let stored: Vec<_> = text.lines().skip(1).take(4).collect();
    assert_eq!(
        world.lines(&["-s", &file, "rev-path", "--entries", "plans"]),
        stored
    );
    let nul = world.ok(&["-s", &file, "rev-path", "-z", "--entries", "plans"]);
    assert_eq!(nul, stored.join("\0") + "\0");
}

#[test]
fn json_rows_are_entries_and_a_count_is_a_number() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let rows = world.json(&["-s", &file, "--json", "rev-path", "plans"]);
    let wanted = [
        "id",
        "label",
        "leaf",
        "onPath",
        "parentId",
        "role",
        "text",
        "time",
        "timestamp",
        "type",
    ];
    assert!(rows.iter().all(|row| fields(row) == wanted));
    assert_eq!(rows[3]["label"], "plans");
    let count = world.json(&["-s", &file, "--json", "rev-path", "--count", "plans"]);
    assert_eq!(count, [Value::from(4)]);
    assert_eq!(
        world.lines(&["-s", &file, "rev-path", "--format", "%h %T", "-n", "1"]),
        ["f4b8236e message"]
    );
}

#[test]
fn options_that_make_no_sense_together_are_refused() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    for args in [
        &["--count", "--entries"][..],
        &["--count", "--left-right"],
        &["--entries", "--left-right"],
        &["-n", "-1"],
        &["-n", "many"],
    ] {
        let args: Vec<_> = ["-s", &file, "rev-path"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        assert_eq!(world.read(&args).code, 2, "{args:?}");
    }
}

#[test]
fn revisions_of_two_sessions_are_no_range() {
    let (world, file, other) = (
        World::new(),
        fixture("branched.jsonl"),
        fixture("kinds.jsonl"),
    );
    let ran = world.read(&["-s", &file, "rev-path", "@", &format!("{other}:@")]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_eq!(
        ran.stderr,
        "error: the revisions are in different sessions\n"
    );
    let there = world.lines(&["-s", &file, "rev-path", &format!("{other}:@~1..@")]);
    assert_eq!(there, ["00000010"]);
}

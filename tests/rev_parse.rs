//! `pis rev-parse`: revisions to ids.

use serde_json::json;

use crate::common::{Build, World, fields, fixture};

#[test]
fn each_revision_gives_a_full_id() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let revs = [
        "-s",
        &file,
        "rev-parse",
        "@",
        "HEAD",
        "good",
        "0fa4",
        "0FA4",
        "root",
        "@~3",
    ];
    let wanted = [
        "f4b8236e", "f4b8236e", "840e16a9", "0fa4a08e", "0fa4a08e", "root", "1d9e4b72",
    ];
    assert_eq!(world.lines(&revs), wanted);
    assert_eq!(
        world.ok(&["-s", &file, "rev-parse", "-z", "good"]),
        "840e16a9\n".replace('\n', "\0")
    );
}

#[test]
fn ranges_print_as_gits_do() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    for (range, wanted) in [
        ("plans..good", &["840e16a9", "^0fa4a08e"][..]),
        ("plans..", &["f4b8236e", "^0fa4a08e"]),
        ("..plans", &["0fa4a08e", "^f4b8236e"]),
        ("root..plans", &["0fa4a08e", "^root"]),
        ("good...c20b", &["c20b91a8", "840e16a9", "^6de81c37"]),
        ("root...good", &["840e16a9", "root"]),
    ] {
        assert_eq!(
            world.lines(&["-s", &file, "rev-parse", range]),
            wanted,
            "{range}"
        );
    }
}

#[test]
fn a_short_id_names_one_entry_only() {
    let world = World::new();
    let text = Build::new()
        .user("0123456789abcdef", "", "one")
        .user("0123456789abffff", "0123456789abcdef", "two")
        .user("feedbeef00000000", "0123456789abffff", "three")
        .text();
    world.write("s.jsonl", text);
    let short = world.lines(&["-s", "s.jsonl", "rev-parse", "--short", "@", "@~1", "@~2"]);
    assert!(short.iter().all(|id| id.len() >= 8), "{short:?}");
    let full = world.lines(&[
        "-s",
        "s.jsonl",
        "rev-parse",
        &short[0],
        &short[1],
        &short[2],
    ]);
    assert_eq!(
        full,
        ["feedbeef00000000", "0123456789abffff", "0123456789abcdef"]
    );
}

#[test]
fn verify_takes_one_revision_and_can_be_quiet() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    assert_eq!(
        world.ok(&["-s", &file, "rev-parse", "--verify", "good"]),
        "840e16a9\n"
    );
    for rev in ["nobody", "@~99", "@^{compaction}", ":/no such text", "@{4}"] {
        let ran = world.read(&["-s", &file, "rev-parse", "--verify", "-q", rev]);
        assert_eq!(
            (ran.code, ran.stdout + &ran.stderr),
            (1, String::new()),
            "{rev}"
        );
        let ran = world.read(&["-s", &file, "rev-parse", "--verify", rev]);
        assert_eq!((ran.code, ran.stdout.as_str()), (128, ""), "{rev}");
        assert!(
            ran.stderr.starts_with("error: no entry for '"),
            "{}",
            ran.stderr
        );
    }
    for revs in [&["@", "good"][..], &["plans..good"]] {
        let args: Vec<_> = ["-s", &file, "rev-parse", "--verify"]
            .iter()
            .chain(revs)
            .copied()
            .collect();
        assert_eq!(world.read(&args).code, 2, "{revs:?}");
    }
    // Only an unknown revision is an answer; a session that cannot be read is not.
    let ran = world.read(&["-s", "./none.jsonl", "rev-parse", "--verify", "-q", "@"]);
    assert_eq!(ran.code, 128);
    assert!(!ran.stderr.is_empty());
}

#[test]
fn explain_says_every_step() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let ran = world.ok(&["-s", &file, "rev-parse", "--explain", "good^{user}~2@{tip}"]);
    assert_eq!(
        ran,
        "good\t840e16a9\tthe entry with this label\n\
         ^{user}\ta96ab147\tthe nearest user at or above\n\
         ~2\t0fa4a08e\t2 steps up\n\
         @{tip}\tf4b8236e\tthe newest message at or below\n"
    );
}

#[test]
fn json_has_the_revision_its_id_and_on_request_the_steps() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let parsed = world.json(&["-s", &file, "--json", "rev-parse", "good", "root"]);
    assert_eq!(
        parsed,
        [
            json!({ "rev": "good", "id": "840e16a9" }),
            json!({ "rev": "root", "id": null })
        ]
    );
    let parsed = world.json(&["-s", &file, "--json", "rev-parse", "--explain", "good~1"]);
    assert_eq!(fields(&parsed[0]), ["id", "rev", "steps"]);
    assert_eq!(fields(&parsed[0]["steps"][0]), ["id", "meaning", "step"]);
    let steps: Vec<_> = parsed[0]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| &s["id"])
        .collect();
    assert_eq!(steps, ["840e16a9", "bf692d7e"]);
}

#[test]
fn json_of_a_symmetric_range_is_json_to_the_last_line() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let parsed = world.json(&["-s", &file, "--json", "rev-parse", "good...c20b"]);
    let ids: Vec<_> = parsed.iter().map(|line| &line["id"]).collect();
    assert_eq!(ids, ["c20b91a8", "840e16a9", "6de81c37"]);
}

#[test]
fn nothing_to_parse_is_a_usage_error() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    assert_eq!(world.read(&["-s", &file, "rev-parse"]).code, 2);
    let ran = world.read(&["-s", &file, "rev-parse", "good%%"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_eq!(
        ran.stderr,
        "error: bad revision 'good%%': '%' cannot follow '%'\nhint: write '%2'\n"
    );
}

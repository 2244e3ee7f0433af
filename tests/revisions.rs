//! Revisions: every spelling of the table in pisrevisions(7), and what is said where none fits.

use serde_json::json;

use crate::common::{Build, World, fixture};

/// What each revision prints, or the error, in one file.
fn parse(session: &str, rev: &str) -> Result<String, (i32, String)> {
    let ran = World::new().read(&["-s", session, "rev-parse", rev]);
    match ran.code {
        0 => Ok(ran.stdout.trim_end().to_owned()),
        code => Err((code, ran.stderr)),
    }
}

fn all(session: &str, table: &[(&str, &str)]) {
    for (rev, wanted) in table {
        assert_eq!(parse(session, rev).as_deref(), Ok(*wanted), "{rev}");
    }
}

#[test]
fn places() {
    all(
        &fixture("branched.jsonl"),
        &[
            ("@", "f4b8236e"),
            ("HEAD", "f4b8236e"),
            ("root", "root"),
            ("plans", "0fa4a08e"),
            ("0fa4a08e", "0fa4a08e"),
            ("0fa4", "0fa4a08e"),
            ("0FA4A", "0fa4a08e"),
            ("\"plans\"", "0fa4a08e"),
            ("id:0fa4a08e", "0fa4a08e"),
            ("label:plans", "0fa4a08e"),
            ("label:\"plans\"", "0fa4a08e"),
            (":/aggressive", "78743def"),
            (":/^Done", "f4b8236e"),
            (":/(?i)REFACTOR|no such", "dd4f6f16"),
            ("@{0}", "f4b8236e"),
            ("@{tip}", "f4b8236e"),
        ],
    );
}

#[test]
fn steps() {
    all(
        &fixture("branched.jsonl"),
        &[
            ("@~", "02e7d19f"),
            ("@^", "02e7d19f"),
            ("@~0", "f4b8236e"),
            ("@~2", "c6f05a8d"),
            ("@^^", "c6f05a8d"),
            ("@~1^~1", "1d9e4b72"),
            ("@%", "1d9e4b72"),
            ("@%1", "1d9e4b72"),
            ("@%2", "a96ab147"),
            ("@%3", "dd4f6f16"),
            ("a96a%", "a96ab147"),
            ("@^{user}", "1d9e4b72"),
            ("@^{assistant}", "f4b8236e"),
            ("@~1^{assistant}", "c6f05a8d"),
            ("@^{tool}", "02e7d19f"),
            ("@^{toolResult}", "02e7d19f"),
            ("@^{label}", "7a35f8c0"),
            ("@^{model_change}", "5c1f0b7e"),
            ("c20b^{model}", "2f90ab61"),
            ("@^{message}", "f4b8236e"),
            ("@^{}", "f4b8236e"),
            ("7a35f8c0^{}", "840e16a9"),
            ("7a35", "7a35f8c0"),
            ("@^{/keep}", "840e16a9"),
            ("@^{/^Keep}", "a96ab147"),
            ("c20b^{/(read|Refactor)}", "dd4f6f16"),
            ("plans@{tip}", "f4b8236e"),
            ("78743def@{tip}", "c20b91a8"),
            ("root@{tip}", "f4b8236e"),
            ("root+", "5c1f0b7e"),
            ("5c1f+", "e70d2a94"),
            ("5c1f++", "dd4f6f16"),
            ("78743def+~1", "78743def"),
            ("5c1f0b7e^", "root"),
            ("5c1f0b7e~1", "root"),
            ("good^{user}~2@{tip}%2", "a96ab147"),
        ],
    );
}

#[test]
fn kinds_of_every_type_and_role() {
    all(
        &fixture("kinds.jsonl"),
        &[
            ("@^{system}", "00000003"),
            ("@^{user}", "00000004"),
            ("@^{assistant}", "00000005"),
            ("@^{tool}", "00000006"),
            ("@^{bash}", "00000007"),
            ("@^{bashExecution}", "00000007"),
            ("@^{custom}", "00000008"),
            ("@^{custom_message}", "00000008"),
            ("@^{summary}", "00000009"),
            ("@^{branch_summary}", "00000009"),
            ("@^{compaction}", "0000000a"),
            ("@^{context_edit}", "0000000b"),
            ("@^{usage}", "0000000c"),
            ("@^{name}", "0000000e"),
            ("@^{session_info}", "0000000e"),
            ("@^{label}", "0000000f"),
            ("@^{hologram}", "00000010"),
            ("@^{}", "00000010"),
            ("@~1^{}", "0000000b"),
            ("@^{thinking_level_change}", "00000002"),
            ("root@{tip}", "0000000a"),
            ("start", "00000004"),
            ("start^{/Look here}", "00000004"),
        ],
    );
}

#[test]
fn what_names_nothing_says_why() {
    let file = fixture("branched.jsonl");
    for (rev, says) in [
        (
            "nobody",
            "no entry for 'nobody': no id or label 'nobody', and no id that begins so",
        ),
        (
            "0fa",
            "no id or label '0fa' (an id prefix has 4 or more characters)",
        ),
        ("id:plans", "no entry has the id 'plans'"),
        ("label:0fa4a08e", "no label '0fa4a08e'"),
        (":/no such text", "no text matches"),
        ("@^{/no such text}", "no text at or above it matches"),
        ("@~99", "there are only "),
        ("root~1", "nothing is above 'root'"),
        ("5c1f~2", "there are only 1 steps to 'root'"),
        ("@%9", "there are only 3 user messages at or above it"),
        ("@^{compaction}", "no compaction at or above it"),
        ("@^{nonsense}", "no nonsense at or above it"),
        ("@+", "it has no children"),
        ("5c1f^{}", ""),
        ("@{1}", "the log knows of 0 moves only"),
        ("@{-1}", "the log knows of 0 checkouts only"),
        ("7a35f8c0^{user}^{compaction}", "no compaction"),
    ] {
        match parse(&file, rev) {
            Ok(id) => assert_eq!((says, id.as_str()), ("", "5c1f0b7e"), "{rev}"),
            Err((code, stderr)) => {
                assert_eq!(code, 128, "{rev}");
                assert!(
                    stderr.starts_with("error: ") && stderr.contains(says),
                    "{rev}: {stderr}"
                );
            }
        }
    }
}

#[test]
fn a_mistyped_name_gets_the_nearest() {
    let file = fixture("branched.jsonl");
    for (rev, near) in [("plan", "plans"), ("god", "good"), ("f4b8236f", "f4b8236e")] {
        let (code, stderr) = parse(&file, rev).unwrap_err();
        assert_eq!(code, 128);
        let hint = stderr.lines().nth(1).unwrap();
        assert!(
            hint.starts_with("hint: did you mean ") && hint.contains(near),
            "{hint}"
        );
    }
}

#[test]
fn what_is_no_revision_is_a_usage_error() {
    let file = fixture("branched.jsonl");
    for rev in [
        "", "@%%", "@^2", "@{x}", "@^{", "a b", "@~x", "@^{/(}", ":/(", "id:", "@{tip", "\"plans",
        "plans/~", "%", "~1", "@{-0}",
    ] {
        let (code, stderr) = parse(&file, rev).expect_err(rev);
        assert_eq!(
            code,
            if rev == "plans/~" { 128 } else { 2 },
            "{rev}: {stderr}"
        );
        assert!(stderr.starts_with("error: "), "{rev}: {stderr}");
    }
}

#[test]
fn several_that_begin_so_are_listed() {
    let world = World::new();
    let text = Build::new()
        .user("abcd0001", "", "the first of them")
        .assistant("abcd0002", "abcd0001", "the second")
        .user("abcde003", "abcd0001", "the third")
        .text();
    world.write("s.jsonl", text);
    let ran = world.read(&["-s", "s.jsonl", "rev-parse", "abcd"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
    assert_eq!(
        ran.stderr,
        "error: revision 'abcd' is ambiguous\n\
         hint: it could be:\n\
         \x20 abcde003 user the third\n\
         \x20 abcd0002 assistant the second\n\
         \x20 abcd0001 user the first of them\n"
    );
    let ran = world.read(&["-s", "s.jsonl", "rev-parse", "abcd0001+"]);
    assert_eq!(ran.code, 128);
    assert!(
        ran.stderr
            .starts_with("error: revision 'abcd0001+' is ambiguous\n"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("  abcd0002 assistant the second\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "rev-parse", "abcde"]),
        "abcde003\n"
    );
    let ran = world.read(&["--json", "-s", "s.jsonl", "rev-parse", "abcd"]);
    assert!(
        ran.stderr.contains("\"kind\":\"ambiguous-revision\""),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_id_wins_over_a_label_and_a_label_over_a_prefix() {
    let world = World::new();
    let text = Build::new()
        .user("aaaaaaaa", "", "one")
        .user("bbbbbbbb", "aaaaaaaa", "two")
        .label("cccccccc", "bbbbbbbb", "aaaaaaaa", "bbbbbbbb")
        .label("dddddddd", "cccccccc", "bbbbbbbb", "aaaa")
        .text();
    world.write("s.jsonl", text);
    for (rev, wanted) in [
        ("bbbbbbbb", "bbbbbbbb"),
        ("label:bbbbbbbb", "aaaaaaaa"),
        ("aaaa", "bbbbbbbb"),
        ("aaaaa", "aaaaaaaa"),
        ("id:aaaaaaaa", "aaaaaaaa"),
    ] {
        assert_eq!(
            world.ok(&["-s", "s.jsonl", "rev-parse", rev]),
            format!("{wanted}\n"),
            "{rev}"
        );
    }
}

#[test]
fn odd_ids_are_quoted_and_read_back() {
    let world = World::new();
    let odd = [
        "a b",
        "root",
        "HEAD",
        "@",
        "a..b",
        "-dash",
        "x~1",
        "y^2",
        "z%",
        "p+",
        "q:r",
        "{b}",
        "quo\"te",
        "back\\slash",
        "tab\tbed",
        "ünïcödé",
        "__proto__",
        "constructor",
        "019a84c2-5b1e-7c40-9d3a-6f2e8b7a1c55",
        ".",
        "..",
        "line\nbreak",
        "\u{202e}rtl",
    ];
    let mut build = Build::new();
    let mut parent = "";
    for id in odd {
        build = build.user(id, parent, id);
        parent = id;
    }
    world.write("s.jsonl", build.text());
    let printed = world.lines(&["-s", "s.jsonl", "ls-entries"]);
    assert_eq!(printed.len(), odd.len());
    for (name, id) in printed.iter().zip(odd) {
        let rev = format!("id:{name}");
        assert_eq!(
            world.ok(&["-s", "s.jsonl", "rev-parse", &rev]),
            format!("{name}\n")
        );
        let text = world.ok(&["-s", "s.jsonl", "cat-entry", "--text", &rev]);
        assert_eq!(text, format!("{id}\n"));
    }
    world.read_all("s.jsonl");
}

#[test]
fn a_numeric_id_is_an_id() {
    let world = World::new();
    let text = Build::new()
        .raw(r#"{"type":"message","id":7,"parentId":null,"message":{"role":"user","content":"a"}}"#)
        .raw(r#"{"type":"message","id":8,"parentId":7,"message":{"role":"user","content":"b"}}"#)
        .text();
    world.write("s.jsonl", text);
    assert_eq!(world.lines(&["-s", "s.jsonl", "rev-path"]), ["7", "8"]);
    assert_eq!(world.ok(&["-s", "s.jsonl", "rev-parse", "7"]), "7\n");
    world.read_all("s.jsonl");
}

#[test]
fn a_label_on_two_entries_means_the_newest() {
    let world = World::new();
    let set = |target: &str, time: &str| json!({ "type": "label", "targetId": target, "label": "x", "timestamp": time });
    let build = Build::new()
        .user("aaaaaaaa", "", "one")
        .user("bbbbbbbb", "aaaaaaaa", "two");
    let later = build
        .entry(
            "cccccccc",
            "bbbbbbbb",
            set("bbbbbbbb", "2026-02-01T00:00:00.000Z"),
        )
        .entry(
            "dddddddd",
            "cccccccc",
            set("aaaaaaaa", "2026-03-01T00:00:00.000Z"),
        );
    world.write("s.jsonl", later.text());
    let ran = world.read(&["-s", "s.jsonl", "rev-parse", "x"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "aaaaaaaa\n"));
    assert_eq!(
        ran.stderr,
        "note: label 'x' is on 2 entries; the one labelled last, aaaaaaaa, is meant\n"
    );
    let ran = world.read(&["--json", "-s", "s.jsonl", "rev-parse", "label:x"]);
    assert_eq!(ran.notes(), ["ambiguous-label"]);
}

#[test]
fn labels_follow_their_last_word() {
    let world = World::new();
    let clear = json!({ "type": "label", "targetId": "aaaaaaaa" });
    let text = Build::new()
        .user("aaaaaaaa", "", "one")
        .label("l0000001", "aaaaaaaa", "aaaaaaaa", "old")
        .label("l0000002", "l0000001", "aaaaaaaa", "new")
        .label("l0000003", "l0000002", "l0000001", "odd one")
        .label("l0000004", "l0000003", "zzzzzzzz", "dangling")
        .text();
    world.write("s.jsonl", &text);
    let read = |rev: &str| world.read(&["-s", "s.jsonl", "rev-parse", rev]);
    assert_eq!(read("new").stdout, "aaaaaaaa\n");
    assert_eq!(read("\"odd one\"").stdout, "l0000001\n");
    assert_eq!((read("old").code, read("dangling").code), (128, 128));
    let line = Build::new().entry("l0000005", "l0000004", clear).text();
    world.write("s.jsonl", text + line.split_once('\n').unwrap().1);
    assert_eq!(read("new").code, 128);
}

#[test]
fn the_session_can_be_part_of_a_revision() {
    let (file, other) = (fixture("branched.jsonl"), fixture("kinds.jsonl"));
    all(
        &file,
        &[
            (&format!("{other}:@"), "00000010"),
            (&format!("{other}:start~1"), "00000003"),
            (&format!("\"{other}\":@^{{user}}"), "00000004"),
        ],
    );
    let world = World::new();
    assert_eq!(
        world
            .pis(&["-q", "init", "--id", "a..b", "--name", "n"])
            .code,
        0
    );
    let id = world.ok(&["-s", "a..b", "rev-parse", "@"]);
    assert_eq!(world.ok(&["-s", &file, "rev-parse", "\"a..b\":@"]), id);
    let (code, stderr) = parse(&file, "nowhere:@").unwrap_err();
    assert_eq!(code, 128);
    assert!(
        stderr.starts_with("error: no session has the id or name 'nowhere'"),
        "{stderr}"
    );
}

#[test]
fn a_tip_is_found_below_the_leaf_and_in_the_file() {
    let world = World::new();
    let text = Build::new()
        .user("aaaaaaaa", "", "one")
        .user("bbbbbbbb", "aaaaaaaa", "left")
        .user("cccccccc", "bbbbbbbb", "left, on")
        .user("dddddddd", "aaaaaaaa", "right")
        .entry(
            "eeeeeeee",
            "aaaaaaaa",
            json!({ "type": "custom", "customType": "x" }),
        )
        .text();
    world.write("s.jsonl", text);
    for (rev, wanted) in [
        ("root@{tip}", "dddddddd"),
        ("aaaaaaaa@{tip}", "dddddddd"),
        ("bbbbbbbb@{tip}", "cccccccc"),
        ("cccccccc@{tip}", "cccccccc"),
    ] {
        let ran = world.read(&["-s", "s.jsonl", "rev-parse", rev]);
        assert_eq!(ran.stdout, format!("{wanted}\n"), "{rev}");
    }
    // The leaf is bookkeeping with nothing below it.
    let ran = world.read(&["-s", "s.jsonl", "rev-parse", "@{tip}"]);
    assert_eq!(ran.code, 128, "{}", ran.stdout);
    assert!(
        ran.stderr.contains("no message at or below it"),
        "{}",
        ran.stderr
    );
}

#[test]
fn steps_over_a_broken_link_say_so() {
    let world = World::new();
    let text = Build::new()
        .user("aaaaaaaa", "zzzzzzzz", "orphan")
        .user("bbbbbbbb", "bbbbbbbb", "own parent")
        .text();
    world.write("s.jsonl", text);
    for (rev, says) in [
        ("aaaaaaaa^", "the parent of aaaaaaaa is not in the file"),
        ("bbbbbbbb^", "bbbbbbbb is its own ancestor"),
    ] {
        let ran = world.read(&["-s", "s.jsonl", "rev-parse", rev]);
        assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
}

//! `pis merge-base`: the deepest common ancestor.

use crate::common::{Build, World, fixture};

#[test]
fn the_deepest_common_ancestor_is_printed() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    for (a, b, wanted) in [
        ("good", "c20b", "6de81c37"),
        ("c20b", "good", "6de81c37"),
        ("good", "@", "840e16a9"),
        ("@", "@", "f4b8236e"),
        ("plans", "78743def", "0fa4a08e"),
    ] {
        assert_eq!(
            world.ok(&["-s", &file, "merge-base", a, b]),
            format!("{wanted}\n")
        );
    }
    assert_eq!(
        world.ok(&["-s", &file, "--json", "merge-base", "good", "@"]),
        "{\"id\":\"840e16a9\"}\n"
    );
    assert_eq!(
        world.ok(&["-s", &file, "merge-base", "-z", "good", "@"]),
        "840e16a9\0"
    );
}

#[test]
fn entries_under_two_roots_have_none() {
    let world = World::new();
    let text = Build::new()
        .user("aaaaaaaa", "", "one")
        .user("bbbbbbbb", "", "two")
        .user("cccccccc", "bbbbbbbb", "three")
        .text();
    world.write("s.jsonl", text);
    for (a, b) in [("aaaaaaaa", "@"), ("@", "root"), ("root", "root")] {
        let ran = world.read(&["-s", "s.jsonl", "merge-base", a, b]);
        assert_eq!(
            (ran.code, ran.stdout + &ran.stderr),
            (1, String::new()),
            "{a} {b}"
        );
    }
}

#[test]
fn ancestry_is_an_exit_code() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    for (a, b, code) in [
        ("plans", "@", 0),
        ("@", "@", 0),
        ("root", "@", 0),
        ("root", "root", 0),
        ("@", "plans", 1),
        ("c20b", "@", 1),
        ("@", "root", 1),
        ("nobody", "@", 128),
    ] {
        let ran = world.read(&["-s", &file, "merge-base", "--is-ancestor", a, b]);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{a} {b}");
        assert_eq!(ran.stderr.is_empty(), code < 2);
    }
}

#[test]
fn two_entries_of_one_session_are_needed() {
    let (world, file, other) = (
        World::new(),
        fixture("branched.jsonl"),
        fixture("kinds.jsonl"),
    );
    let ran = world.read(&["-s", &file, "merge-base", "@", &format!("{other}:@")]);
    assert_eq!(ran.code, 2);
    assert_eq!(
        ran.stderr,
        "error: the two entries are in different sessions\n"
    );
    for args in [&["@"][..], &[], &["@", "@", "@"], &["a..b", "@"]] {
        let args: Vec<_> = ["-s", &file, "merge-base"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        assert_eq!(world.read(&args).code, 2, "{args:?}");
    }
}

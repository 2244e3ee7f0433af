//! Long chains, wide stars and long cycles: no recursion, no quadratic time, in any command.

use std::fmt::Write;

use crate::common::World;

/// A session of short user messages, by id and parent.
fn session(links: impl Iterator<Item = (String, String)>) -> String {
    let mut text =
        String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/x\"}\n");
    for (id, parent) in links {
        let parent = if parent.is_empty() {
            "null".to_owned()
        } else {
            format!("\"{parent}\"")
        };
        writeln!(
            text,
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{id}\"}}}}"
        )
        .expect("written");
    }
    text
}

fn id(n: usize) -> String {
    format!("{n:08x}")
}

/// Every command that walks, in the forms that take most.
const WALKS: &[&[&str]] = &[
    &["log", "--grep", "f00$"],
    &["log", "--all", "--json"],
    &["log", "--graph"],
    &["tree", "--filter", "labeled-only"],
    &["tree", "--filter", "all", "--json"],
    &["rev-path"],
    &["rev-path", "@~1...root@{tip}"],
    &["rev-parse", "--short", "@~1", "@{tip}", "root@{tip}"],
    &["merge-base", "@", "@~1"],
    &["ls-entries", "--tips"],
    &["ls-entries", "--roots"],
    &["for-each-label"],
    &["for-each-tip"],
    &["context"],
    &["context", "--tokens"],
    &["cat-entry", "@"],
];

fn walk_all(text: String) -> World {
    let world = World::new();
    world.write("s.jsonl", text);
    for args in WALKS {
        let args: Vec<_> = ["-q", "-s", "s.jsonl"]
            .iter()
            .chain(*args)
            .copied()
            .collect();
        let ran = world.read(&args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
    }
    world
}

#[test]
fn a_chain_of_100_000() {
    let n = 100_000;
    let parent = |k: usize| if k == 0 { String::new() } else { id(k - 1) };
    let world = walk_all(session((0..n).map(|k| (id(k), parent(k)))));
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "rev-path", "--count"]),
        format!("{n}\n")
    );
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "rev-parse", "@~99999"]),
        "00000000\n"
    );
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "rev-parse", "@%100000"]),
        "00000000\n"
    );
    assert_eq!(world.lines(&["-s", "s.jsonl", "log", "-n", "3"]).len(), 3);
    assert_eq!(world.lines(&["-s", "s.jsonl", "log", "--oneline"]).len(), n);
}

#[test]
fn a_star_of_10_000() {
    let parent = |k: usize| if k == 0 { String::new() } else { id(0) };
    let world = walk_all(session((0..=10_000).map(|k| (id(k), parent(k)))));
    assert_eq!(
        world.lines(&["-s", "s.jsonl", "for-each-tip"]).len(),
        10_000
    );
    for draw in ["tree", "log"] {
        let graph: &[&str] = if draw == "log" { &["--graph"] } else { &[] };
        let args: Vec<_> = ["-s", "s.jsonl", draw]
            .iter()
            .chain(graph)
            .copied()
            .collect();
        assert!(world.lines(&args).len() > 10_000, "{draw}");
    }
    let ran = world.read(&["-s", "s.jsonl", "rev-parse", "00000000+"]);
    assert_eq!(ran.code, 128);
    assert!(ran.stderr.contains("and 9992 more"), "{}", ran.stderr);
}

#[test]
fn a_cycle_of_100_000() {
    let n = 100_000;
    let world = walk_all(session((0..n).map(|k| (id(k), id((k + n - 1) % n)))));
    let count = world.read(&["-q", "-s", "s.jsonl", "rev-path", "--count"]);
    assert_eq!(count.stdout, format!("{n}\n"));
    let tree = world.read(&["-q", "-s", "s.jsonl", "tree"]);
    assert_eq!(tree.stdout.lines().count(), n);
}

#[test]
fn a_chain_of_branch_points() {
    // A comb: every entry of the spine has a tooth.
    let n = 2000;
    let links = (0..n).flat_map(|k| {
        let parent = if k == 0 {
            String::new()
        } else {
            format!("s{}", k - 1)
        };
        [
            (format!("s{k}"), parent),
            (format!("t{k}"), format!("s{k}")),
        ]
    });
    let world = walk_all(session(links));
    let tree = world.lines(&["-s", "s.jsonl", "tree"]);
    assert_eq!(tree.len(), 2 * n);
    assert!(
        tree.iter().all(|line| line.chars().count() <= 80 + 24),
        "drawing stays narrow"
    );
}

#[test]
fn a_file_that_repeats_itself() {
    // pi's tree doubles with every repeated record.
    let chain = session((0..40).map(|k| (id(k), if k == 0 { String::new() } else { id(k - 1) })));
    let (header, entries) = chain.split_once('\n').expect("a header");
    let world = walk_all(format!("{header}\n{}", entries.repeat(50)));
    let tree = world.read(&["-q", "-s", "s.jsonl", "tree"]);
    assert_eq!(tree.stdout.lines().count(), 40);
}

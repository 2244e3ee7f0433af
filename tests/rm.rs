//! `pis rm`: through a trash that is the test's own.
#![cfg(target_os = "linux")]

use std::path::PathBuf;

use crate::common::{Ran, World};
use crate::moving::two_branches;

/// Runs `pis rm` with a trash inside the world.
fn rm(world: &World, args: &[&str]) -> Ran {
    let data = world.path("data");
    let vars = [("XDG_DATA_HOME", data.to_str().expect("UTF-8"))];
    world.pis_env(&vars, &[&["rm"], args].concat(), "")
}

fn trashed(world: &World) -> Vec<String> {
    let dir: PathBuf = world.path("data/Trash/files");
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .map(|files| {
            files
                .flatten()
                .map(|f| f.file_name().to_string_lossy().into_owned())
                .collect()
        })
        .unwrap_or_default();
    names.sort();
    names
}

#[test]
fn a_session_goes_into_the_trash_with_what_pis_noted() {
    let text = two_branches().text();
    let world = World::with(&text);
    world.write("t.jsonl", &text);
    world.on(&["set-leaf", "root"]);
    let ran = rm(&world, &["--yes", "s.jsonl"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    assert_eq!(
        ran.stderr,
        format!(
            "note: '{}' is in the trash\n",
            world.path("s.jsonl").display()
        )
    );
    assert!(!world.path("s.jsonl").exists() && !world.path(".pis/s.jsonl.d").exists());
    assert_eq!(trashed(&world), ["s.jsonl", "s.jsonl.d"]);
    let kept = std::fs::read_to_string(world.path("data/Trash/files/s.jsonl")).expect("it");
    assert_eq!(kept, text);
    assert!(world.path("t.jsonl").exists());
}

#[test]
fn several_go_at_once_and_one_named_twice_goes_once() {
    let world = World::with(two_branches().text());
    for name in ["a.jsonl", "b.jsonl"] {
        world.write(name, two_branches().text());
    }
    let ran = rm(&world, &["-y", "--json", "./a.jsonl", "b.jsonl", "a.jsonl"]);
    assert_eq!(
        (ran.code, ran.notes()),
        (0, vec!["removed".to_owned(); 2]),
        "{ran:?}"
    );
    assert_eq!(trashed(&world), ["a.jsonl", "b.jsonl"]);
    // Where one cannot be found, none goes.
    let ran = rm(&world, &["--yes", "s.jsonl", "gone.jsonl"]);
    assert_eq!(ran.code, 128);
    assert!(world.path("s.jsonl").exists());
    world.write("no.jsonl", "text\n");
    assert_eq!(rm(&world, &["--yes", "no.jsonl"]).code, 128);
    assert!(world.path("no.jsonl").exists());
}

#[test]
fn without_a_terminal_yes_must_be_said() {
    let world = World::with(two_branches().text());
    let ran = rm(&world, &["s.jsonl"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_eq!(
        ran.stderr,
        "error: there is no terminal to ask on\nhint: say --yes\n"
    );
    assert!(world.path("s.jsonl").exists() && trashed(&world).is_empty());
    assert_eq!(rm(&world, &[]).code, 2);
    let ran = rm(&world, &["--yes", "-"]);
    assert_eq!(ran.code, 128, "an empty standard input is no session");
}

#[test]
fn through_a_link_only_the_link_goes() {
    let world = World::with(two_branches().text());
    world.on(&["set-leaf", "dddd1111"]);
    std::os::unix::fs::symlink(world.path("s.jsonl"), world.path("link.jsonl")).expect("a link");
    assert_eq!(rm(&world, &["--yes", "link.jsonl"]).code, 0);
    assert!(!world.path("link.jsonl").is_symlink());
    assert_eq!(world.leaf(), "dddd1111");
}

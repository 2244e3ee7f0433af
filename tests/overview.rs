//! `pis` without a command, `pis help`, and commands that are mistyped.

use crate::common::{World, fixture};

#[test]
fn without_a_command_it_tells_what_is_here() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let text = world.ok(&["-s", &file]);
    assert!(text.starts_with("session  019a84c2-5b1e-7c40-9d3a-6f2e8b7a1c55\nfile     branched.jsonl\nleaf     f4b8236e"), "{text}");
    assert!(
        text.contains("\n* f4b8236e 10  Keep") && text.contains("\n  c20b91a8 15  Try"),
        "{text}"
    );
    assert!(text.contains("\n  pis log --graph  "), "{text}");
    assert!(text.lines().count() < 24, "one screen");
    // Where there is no session, it is no error.
    let text = world.ok(&[]);
    assert!(
        text.starts_with("pis: git for conversations with a coding agent\nhere: no session of '"),
        "{text}"
    );
    let ran = world.pis(&["-s", "nowhere.jsonl"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""), "{ran:?}");
    let ran = world.pis(&["--json"]);
    assert_eq!((ran.code, ran.error().as_str()), (2, "usage"));
}

#[test]
fn mistyped_commands_get_the_nearest() {
    let world = World::new();
    for (typed, meant) in [
        ("lgo", "log"),
        ("chekout", "checkout"),
        ("stauts", "status"),
        ("gerp", "grep"),
    ] {
        let ran = world.pis(&[typed]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
        assert!(
            ran.stderr.contains(&format!("'{meant}'")),
            "{typed}: {}",
            ran.stderr
        );
    }
    let ran = world.pis(&["help", "lgo"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("did you mean 'log'?"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn help_opens_the_page_with_man_or_prints_the_help() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let bin = world.path("bin");
    std::fs::create_dir(&bin).unwrap();
    let path = bin.to_string_lossy().into_owned();
    let help = |args: &[&str]| world.pis_env(&[("PATH", &path)], args, "");
    // There is no man(1) yet.
    let ran = help(&["help", "log"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout.contains("--graph") && ran.stdout.contains("Usage: pis log"),
        "{}",
        ran.stdout
    );
    assert!(help(&["help"]).stdout.contains("Usage: pis"));
    assert!(
        help(&["help", "revisions"])
            .stdout
            .contains(".TH PISREVISIONS 7"),
        "a guide has no other form"
    );
    let man = bin.join("man");
    std::fs::write(&man, "#!/bin/sh\necho \"page ${1##*/}\"\n").unwrap();
    std::fs::set_permissions(&man, std::fs::Permissions::from_mode(0o755)).unwrap();
    for (topic, page) in [
        ("log", "pis-log.1"),
        ("pis-log", "pis-log.1"),
        ("revisions", "pisrevisions.7"),
        ("pisrevisions", "pisrevisions.7"),
        ("session", "pis-session.5"),
        ("cookbook", "pis-cookbook.7"),
    ] {
        assert_eq!(help(&["help", topic]).stdout, format!("page {page}\n"));
    }
    assert_eq!(help(&["help"]).stdout, "page pis.1\n");
}

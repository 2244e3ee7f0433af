//! What writing must never do: lose, tear, hide or change what is in a session, whoever writes
//! beside it and whatever goes wrong meanwhile.

use std::fs::{self};
use std::path::{Path, PathBuf};

use pis::error::Error;
use pis::write::Writer;
use serde_json::{Value, json};

use crate::common::writing::*;
use crate::common::{Build, Ran, World, ran};
/// Every way to change a session, or where its leaf is.
const CHANGING: &[&[&str]] = &[
    &["set-leaf", "root"],
    &["set-leaf", "--write", "bbbbbbbb"],
    &["checkout", "bbbbbbbb"],
    &["checkout", "bbbbbbbb", "--write"],
    &["checkout", "bbbbbbbb", "--label", "y"],
    &["checkout", "bbbbbbbb", "--summary", "x"],
    &["undo"],
    &["append", "--user", "x"],
    &["append", "--user", "x", "--expect-leaf", "@"],
    &["append", "--user", "x", "--parent", "root"],
    &["label", "dddddddd", "x"],
    &["name", "x"],
    &["edit-context", "@^{user}", "--omit"],
];

#[test]
fn moving_the_leaf_changes_no_byte() {
    let world = world();
    let before = fs::metadata(world.path("s.jsonl"))
        .and_then(|m| m.modified())
        .expect("a time");
    for args in [
        ["set-leaf", "bbbbbbbb"].as_slice(),
        &["set-leaf", "root"],
        &["set-leaf", "-"],
        &["set-leaf", "@", "bbbbbbbb", "-m", "why"],
        &["set-leaf", "--write", "dddddddd"],
        &["checkout", "cccccccc"],
        &["checkout", "--exact", "cccccccc"],
        &["checkout", "-"],
        &["checkout", "root"],
        &["undo"],
        &["undo"],
    ] {
        let ran = world.pis(&on(args));
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        assert_eq!(bytes(&world), text().into_bytes(), "{args:?}");
    }
    let after = fs::metadata(world.path("s.jsonl")).and_then(|m| m.modified());
    assert_eq!(after.expect("a time"), before);
}

#[test]
fn bytes_that_are_there_stay() {
    let world = world();
    // No newline at its end, and a line that is no entry: neither is put right in passing.
    world.write("s.jsonl", text() + "not json\n  \n{\"torn");
    let mut before = bytes(&world);
    for args in CHANGING {
        if args.contains(&"undo") {
            continue;
        }
        let ran = world.pis(&on(args));
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        let after = bytes(&world);
        assert!(after.starts_with(&before), "{args:?}");
        assert!(after == before || after.ends_with(b"\n"), "{args:?}");
        before = after;
    }
    let text = String::from_utf8(before).expect("text");
    assert!(text.contains("\nnot json\n  \n{\"torn\n{\""), "{text}");
}

#[cfg(unix)]
#[test]
fn an_edited_checkout_appends() {
    use std::os::unix::fs::PermissionsExt;
    let world = world();
    let editor = world.write("editor", "#!/bin/sh\nprintf 'anew' > \"$1\"\n");
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).expect("a mode");
    let mut command = world.command(&on(&["checkout", "-e", "cccccccc"]));
    let ran = ran(&command.env("EDITOR", &editor).output().expect("pis runs"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(bytes(&world).starts_with(text().as_bytes()));
    let entries = entries(&world.path("s.jsonl"));
    assert_eq!(entries[4]["parentId"], "bbbbbbbb");
    assert_eq!(entries[4]["message"]["content"][0]["text"], "anew");
}

/// A run of `append --each` that is still going.
#[cfg(unix)]
#[test]
fn a_limit_on_the_size_of_files_leaves_the_session_as_it_was() {
    let world = world();
    // More than 64 blocks of 512 or of 1024 bytes, as shells differ.
    world.write("long.txt", "x".repeat(100_000));
    world.write(
        "long.jsonl",
        json!({ "role": "user", "content": "x".repeat(100_000) }).to_string(),
    );
    for args in [
        "append < long.jsonl",
        "append --each < long.jsonl",
        "append --user \"$(cat long.txt)\"",
        "name \"$(cat long.txt)\"",
        "checkout bbbbbbbb --summary - < long.txt",
        "edit-context aaaaaaaa --replace - < long.txt",
    ] {
        let ran = sh(&world, &format!("ulimit -f 64; \"$PIS\" -s s.jsonl {args}"));
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (128, ""),
            "{args}: {ran:?}"
        );
        assert!(
            ran.stderr.contains("nothing was written"),
            "{args}: {ran:?}"
        );
        assert_eq!(bytes(&world), text().into_bytes(), "{args}");
        assert_eq!(world.ok(&on(&["rev-parse", "@"])), "dddddddd\n", "{args}");
    }
    // Several entries of which the first fit: all or none.
    let small = format!("{}\n", json!({ "role": "user", "content": "small" }));
    world.write(
        "mixed.jsonl",
        small.clone() + &fs::read_to_string(world.path("long.jsonl")).unwrap(),
    );
    let ran = sh(
        &world,
        "ulimit -f 64; \"$PIS\" -s s.jsonl append < mixed.jsonl",
    );
    assert_eq!(ran.code, 128);
    assert_eq!(bytes(&world), text().into_bytes());
    // One by one: what was acknowledged stays.
    let ran = sh(
        &world,
        "ulimit -f 64; \"$PIS\" -s s.jsonl append --each < mixed.jsonl",
    );
    assert_eq!((ran.code, ran.stdout.lines().count()), (128, 1));
    assert_eq!(chain(&world.path("s.jsonl"))[4], ran.stdout.trim_end());
    assert_eq!(world.pis(&on(&["append", "--user", "next"])).code, 0);
    assert_eq!(chain(&world.path("s.jsonl")).len(), 6);
}

#[cfg(unix)]
#[test]
fn a_limit_on_the_size_of_files_leaves_no_part_of_a_new_one() {
    let world = World::new();
    let long = "x".repeat(100_000);
    world.write("s.jsonl", Build::new().user("aaaaaaaa", "", &long).text());
    for args in [
        "clone",
        "copy",
        "fork --at @",
        "clone -o new.jsonl",
        "import s.jsonl",
        "repair -o new.jsonl",
    ] {
        let script = format!("ulimit -f 64; \"$PIS\" -s s.jsonl {args}");
        let ran = sh(&world, &script);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (128, ""),
            "{args}: {ran:?}"
        );
        let names = fs::read_dir(world.work()).expect("a directory");
        let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["s.jsonl"], "{args}");
    }
    let found = sh(&world, "find \"$HOME\" -type f");
    assert_eq!(found.stdout, "");
    // What would be replaced stays, and has no other name.
    let old = Build::new()
        .header(&json!({ "type": "session", "id": "old", "version": 2 }))
        .user("aaaaaaaa", "", &long);
    let torn = format!("{}{{\"type\":", old.text());
    world.write("s.jsonl", &torn);
    for args in ["migrate", "repair --in-place", "repair"] {
        let ran = sh(&world, &format!("ulimit -f 64; \"$PIS\" -s s.jsonl {args}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (128, ""), "{ran:?}");
        assert_eq!(fs::read(world.path("s.jsonl")).unwrap(), torn.as_bytes());
        let names = fs::read_dir(world.work()).expect("a directory");
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".pis", "s.jsonl"], "{args}");
    }
}

/// A full disk, where the tests may mount one; the mount ends with the shell.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_session_as_it_was() {
    let world = world();
    let script = "mkdir full && mount -t tmpfs -o size=64k tmpfs full 2>&1 || exit 77
        cp s.jsonl full/ && cd full
        \"$PIS\" -q -s s.jsonl set-leaf bbbbbbbb && \"$PIS\" -s s.jsonl append --user first || exit 1
        cp s.jsonl ../before.jsonl
        head -c 200000 /dev/zero | tr '\\0' x > ../long.txt
        { printf '{\"role\":\"user\",\"content\":\"'; cat ../long.txt; printf '\"}\\n'; } > ../long.jsonl
        \"$PIS\" -s s.jsonl append < ../long.jsonl; echo \"append $?\"
        cmp s.jsonl ../before.jsonl && echo same
        cat ../long.txt > filler 2> /dev/null
        \"$PIS\" -s s.jsonl append --each < ../long.jsonl; echo \"each $?\"
        cmp s.jsonl ../before.jsonl && echo same
        \"$PIS\" -q -s s.jsonl set-leaf aaaaaaaa; echo \"set-leaf $?\"
        \"$PIS\" -q -s s.jsonl rev-parse @ > ../leaf
        cmp s.jsonl ../before.jsonl && echo same
        \"$PIS\" -s s.jsonl clone -o new.jsonl; echo \"clone $?\"
        ls -A | tr '\\n' ' '; echo
        rm filler; \"$PIS\" -s s.jsonl append --user last > ../last; echo \"last $?\"";
    let mut command = program(&world, "unshare", &["-m", "sh", "-c", script]);
    let Ok(output) = command.output() else {
        return;
    };
    let ran = ran(&output);
    if ran.code == 77 || ran.stderr.starts_with("unshare:") {
        // Only root may mount.
        return;
    }
    let said: Vec<_> = ran.stdout.lines().skip(1).collect();
    assert_eq!(
        said,
        [
            "append 128",
            "same",
            "each 128",
            "same",
            "set-leaf 128",
            "same",
            "clone 128",
            ".pis filler s.jsonl ",
            "last 0"
        ],
        "{ran:?}"
    );
}

/// pis as a user whom permissions bind: root becomes another one.
#[cfg(unix)]
fn unprivileged(world: &World, args: &[&str]) -> Ran {
    use std::os::unix::fs::{MetadataExt, chown};
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    let copy = world.path("../pis");
    let is_root = fs::metadata(world.work()).expect("a directory").uid() == 0;
    if !is_root && !copy.exists() {
        return world.pis(args);
    }
    if !copy.exists() {
        // Where pis was built may be out of reach. By another process: a file that is open for
        // writing anywhere in this one, or in what it starts meanwhile, does not run.
        let from = env!("CARGO_BIN_EXE_pis");
        let status = program(world, "cp", &[from, "../pis"]).status();
        assert!(status.expect("cp runs").success());
    }
    let mut dirs = vec![world.path("..")];
    while let Some(dir) = dirs.pop() {
        chown(&dir, Some(NOBODY), Some(NOBODY)).expect("given away");
        for entry in fs::read_dir(&dir).expect("a directory").flatten() {
            let path = entry.path();
            if entry.file_type().expect("a type").is_dir() {
                dirs.push(path);
            } else {
                chown(path, Some(NOBODY), Some(NOBODY)).expect("given away");
            }
        }
    }
    let mut command = program(world, copy, args);
    ran(&command.uid(NOBODY).gid(NOBODY).output().expect("pis runs"))
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).expect("it exists").permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn a_directory_that_must_not_be_written_to_stays_as_it_is() {
    let world = World::new();
    world.write("d/s.jsonl", text());
    set_mode(&world.path("d"), 0o555);
    for args in CHANGING {
        let args: Vec<_> = ["-s", "d/s.jsonl"].iter().chain(*args).copied().collect();
        let ran = unprivileged(&world, &args);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (128, ""),
            "{args:?}: {ran:?}"
        );
        assert!(
            ran.stderr.starts_with("error: cannot create '/") && ran.stderr.contains("d/.pis"),
            "{args:?}: {ran:?}"
        );
    }
    let ran = unprivileged(&world, &["-s", "d/s.jsonl", "clone", "-o", "d/new.jsonl"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""), "{ran:?}");
    assert!(
        ran.stderr.starts_with("error: cannot write into '"),
        "{ran:?}"
    );
    let ran = unprivileged(&world, &["--session-dir", "d", "init"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""), "{ran:?}");
    assert_eq!(fs::read_dir(world.path("d")).unwrap().count(), 1);
    assert_eq!(
        fs::read(world.path("d/s.jsonl")).unwrap(),
        text().into_bytes()
    );
    set_mode(&world.path("d"), 0o755);
}

#[cfg(unix)]
#[test]
fn a_file_that_must_not_be_written_to_stays_as_it_is() {
    let world = world();
    set_mode(&world.path("s.jsonl"), 0o444);
    for args in CHANGING {
        if matches!(args, ["set-leaf", "root"] | ["checkout", _] | ["undo"]) {
            continue;
        }
        let ran = unprivileged(&world, &on(args));
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (128, ""),
            "{args:?}: {ran:?}"
        );
        assert!(
            ran.stderr.contains("error: cannot append to '"),
            "{args:?}: {ran:?}"
        );
        assert_eq!(bytes(&world), text().into_bytes(), "{args:?}");
        assert_eq!(world.pis(&on(&["reflog"])).stdout, "", "{args:?}");
    }
    // The leaf is noted beside it.
    assert_eq!(unprivileged(&world, &on(&["set-leaf", "bbbbbbbb"])).code, 0);
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), "bbbbbbbb\n");
}

#[cfg(unix)]
#[test]
fn where_nothing_can_be_noted_nothing_is_written() {
    // What was noted before can be read, but not written.
    let world = world();
    world.pis(&on(&["set-leaf", "bbbbbbbb"]));
    for name in ["lock", "log"] {
        set_mode(&state(&world, name), 0o444);
        for args in [["append", "--user", "x"].as_slice(), &["set-leaf", "root"]] {
            let ran = unprivileged(&world, &on(args));
            assert_eq!(
                (ran.code, ran.stdout.as_str()),
                (128, ""),
                "{args:?}: {ran:?}"
            );
            assert!(ran.stderr.contains(name), "{args:?}: {ran:?}");
            assert_eq!(bytes(&world), text().into_bytes(), "{args:?}");
            assert_eq!(world.ok(&on(&["rev-parse", "@"])), "bbbbbbbb\n");
        }
        set_mode(&state(&world, name), 0o644);
    }
    // HEAD cannot be replaced: the leaf does not move. An append does not need it gone.
    set_mode(&state(&world, ""), 0o555);
    let ran = unprivileged(&world, &on(&["set-leaf", "root"]));
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""), "{ran:?}");
    assert!(ran.stderr.contains("HEAD"), "{ran:?}");
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), "bbbbbbbb\n");
    let ran = unprivileged(&world, &on(&["append", "--user", "x"]));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), ran.stdout);
    assert_eq!(entries(&world.path("s.jsonl"))[4]["parentId"], "bbbbbbbb");
}

/// When the log can be opened, but not written, the entries are there by then: that is no failure,
/// or a script would append them again.
#[cfg(unix)]
#[test]
fn what_is_written_but_not_noted_is_told() {
    let world = world();
    let step = json!({ "time": 1, "op": "checkout", "old": "x", "new": "dddddddd", "size": 1 });
    world.write(".pis/s.jsonl.d/log", format!("{step}\n").repeat(2000));
    let ran = sh(&world, "ulimit -f 64; \"$PIS\" -s s.jsonl append --user x");
    assert_eq!((ran.code, ran.stdout.len()), (0, 17), "{ran:?}");
    assert!(
        ran.stderr
            .starts_with("note: done, but not noted for reflog and undo: "),
        "{ran:?}"
    );
    assert_eq!(chain(&world.path("s.jsonl"))[4], ran.stdout.trim_end());
    let ran = sh(
        &world,
        "ulimit -f 64; \"$PIS\" --json -s s.jsonl set-leaf bbbbbbbb",
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.notes(), ["not-logged", "pi-opens-elsewhere"]);
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), "bbbbbbbb\n");
    // It counts as a move of pi.
    assert_eq!(world.pis(&on(&["undo"])).code, 3);
}

#[test]
fn a_directory_that_vanishes_is_not_made_again() {
    let world = World::new();
    let path = world.write("d/s.jsonl", text());
    let writer = Writer::open(&path).expect("locked");
    fs::remove_dir_all(world.path("d")).expect("removed");
    let failed = writer.append(&["{}\n"], "x", false, &WHY);
    assert!(matches!(failed, Err(Error::Io { .. })), "{failed:?}");
    assert!(!world.path("d").exists());
    for args in CHANGING {
        let args: Vec<_> = ["-s", "d/s.jsonl"].iter().chain(*args).copied().collect();
        let ran = world.read(&args);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (128, ""),
            "{args:?}: {ran:?}"
        );
        assert!(ran.stderr.contains("d/s.jsonl"), "{args:?}: {ran:?}");
    }
    // Only what pis noted is gone: nothing is written, as it could not be noted.
    let path = world.write("s.jsonl", text());
    let writer = Writer::open(&path).expect("locked");
    fs::remove_dir_all(world.path(".pis")).expect("removed");
    let failed = writer.append(
        &[line("eeeeeeee", "dddddddd", "x")],
        "eeeeeeee",
        false,
        &WHY,
    );
    assert!(matches!(failed, Err(Error::Io { .. })), "{failed:?}");
    assert_eq!(bytes(&world), text().into_bytes());
    assert!(!world.path(".pis").exists());
    // Only the session is gone: no other one is made in its place.
    let writer = Writer::open(&path).expect("locked");
    fs::remove_file(&path).expect("removed");
    assert!(writer.append(&["{}\n"], "x", false, &WHY).is_err());
    assert!(!path.exists());
}

fn foreign_files() -> Vec<(&'static str, String)> {
    let header = |version: Value| json!({ "type": "session", "version": version, "id": "x", "timestamp": "t", "cwd": "/" });
    let entries = text().split_once('\n').expect("a header").1.to_owned();
    let of_version = |version| Build::new().header(&header(version)).text() + &entries;
    vec![
        ("version 4", of_version(json!(4))),
        ("version 3.5", of_version(json!(3.5))),
        ("version \"10\"", of_version(json!("10"))),
        ("no header", entries.clone()),
        ("empty", String::new()),
        ("text", "hello\nworld\n".into()),
        ("an array", "[1, 2]\n".into()),
        (
            "another product's",
            json!({ "type": "user", "uuid": "u", "sessionId": "s" }).to_string(),
        ),
        ("compressed", "\u{1f}\u{8b}".into()),
    ]
}

#[test]
fn what_is_not_ours_is_never_written_to() {
    for (what, text) in foreign_files() {
        let world = World::new();
        world.write("s.jsonl", text);
        for args in CHANGING {
            // Which sees that no file changes, and that no directory comes.
            let ran = world.read(&on(args));
            assert_eq!(
                (ran.code, ran.stdout.as_str()),
                (128, ""),
                "{what}, {args:?}: {ran:?}"
            );
            assert!(
                ran.stderr.contains("error: '") && ran.stderr.contains("s.jsonl' "),
                "{what}, {args:?}: {ran:?}"
            );
        }
        let message = json!({ "role": "user", "content": "x" }).to_string();
        for args in [["append"].as_slice(), &["append", "--each"]] {
            assert_eq!(
                world.read_with(&on(args), &message).code,
                128,
                "{what}, {args:?}"
            );
        }
    }
    // Nor to anything that is no file.
    let world = World::new();
    fs::create_dir(world.path("s.jsonl")).expect("a directory");
    for args in CHANGING {
        assert_eq!(world.read(&on(args)).code, 128, "{args:?}");
    }
}

/// Where pi 1.6.0 keeps the sessions of a directory.
fn pi_dir(world: &World, cwd: &str) -> PathBuf {
    let inner = cwd
        .strip_prefix('/')
        .unwrap_or(cwd)
        .replace(['/', '\\', ':'], "-");
    world
        .home()
        .join(".pi/agent/sessions")
        .join(format!("--{inner}--"))
}

/// All files of the world, but for its commands.
#[cfg(unix)]
fn all_files(world: &World) -> Vec<PathBuf> {
    let (mut files, mut dirs) = (Vec::new(), vec![world.home(), world.work()]);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).expect("a directory").flatten() {
            if entry.file_type().expect("a type").is_dir() {
                dirs.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    files
}

#[cfg(unix)]
#[test]
fn sessions_land_where_pi_looks_for_them() {
    for cwd in [
        "a b",
        "会話/日本",
        "é\u{301}",
        "x\ny\u{1b}[31m",
        "-dash",
        "a:b",
        "a\\b",
        "q'\"$(x)",
    ] {
        let world = World::new();
        let dir = world.path(cwd);
        fs::create_dir_all(&dir).expect("a directory");
        let ran = ran(&world
            .command(&["--json", "init"])
            .current_dir(&dir)
            .output()
            .unwrap());
        assert_eq!(ran.code, 0, "{cwd:?}: {ran:?}");
        let made: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let path = PathBuf::from(made["session"].as_str().expect("a path"));
        assert_eq!(
            path.parent(),
            Some(&*pi_dir(&world, dir.to_str().unwrap())),
            "{cwd:?}"
        );
        let text = fs::read_to_string(&path).expect("the session");
        let header: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(header["cwd"], json!(dir), "{cwd:?}");
        assert_eq!(all_files(&world), [path], "{cwd:?}");
    }
    let world = World::new();
    let ran = ran(&world
        .command(&["-q", "init"])
        .current_dir("/")
        .output()
        .unwrap());
    let path = PathBuf::from(ran.stdout.trim_end());
    assert_eq!(
        path.parent(),
        Some(&*world.home().join(".pi/agent/sessions/----"))
    );
    assert_eq!(all_files(&world), [path]);
}

#[cfg(unix)]
#[test]
fn no_name_leads_out_of_the_session_directory() {
    let names = [
        "../../up",
        "a/b",
        "/etc/x",
        "..",
        "a\u{0}b\u{7}\r\n\u{1b}]0;x\u{7}",
        "\\..\\x",
        "~",
    ];
    let names: Vec<_> = names.iter().map(|name| name.replace('\0', "")).collect();
    for name in &names {
        let world = World::new();
        let sessions = pi_dir(&world, world.work().to_str().unwrap());
        let cwd_arg = format!("--cwd={}", world.path("x/../../y").display());
        for (n, args) in [
            ["init", "--name", name].as_slice(),
            &["new", name],
            &["clone", "--name", name],
            &["copy", "--name", name],
            &["fork", "root", "--name", name],
        ]
        .into_iter()
        .enumerate()
        {
            let ran = world.pis(args);
            assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
            let path = PathBuf::from(ran.stdout.trim_end());
            assert_eq!(path.parent(), Some(&*sessions), "{args:?}");
            assert_eq!(all_files(&world).len(), n + 1, "{args:?}");
        }
        let id = format!("--id={name}");
        let count = all_files(&world).len();
        assert_eq!(world.pis(&["init", &id]).code, 2, "{id:?}");
        assert_eq!(all_files(&world).len(), count);
        let ran = world.pis(&["-q", "init", &cwd_arg]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let path = PathBuf::from(ran.stdout.trim_end());
        let root = world.home().join(".pi/agent/sessions");
        assert_eq!(path.parent().and_then(Path::parent), Some(&*root));
    }
    // What a header says is not where files go.
    for cwd in ["/../../etc", "..", "/tmp/\u{1b}x", ""] {
        let world = World::new();
        let header = json!({ "type": "session", "version": 3, "id": "../x", "timestamp": "../t", "cwd": cwd });
        let text = Build::new()
            .header(&header)
            .user("aaaaaaaa", "", "one")
            .text();
        world.write("d/s.jsonl", text);
        for args in [["clone"].as_slice(), &["fork", "--at", "@"]] {
            let args: Vec<_> = ["-q", "-s", "d/s.jsonl"]
                .iter()
                .chain(args)
                .copied()
                .collect();
            let ran = world.pis(&args);
            assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
            let made = fs::canonicalize(world.path(ran.stdout.trim_end())).expect("made");
            assert_eq!(made.parent(), Some(&*world.path("d")), "{cwd:?}");
        }
        assert_eq!(all_files(&world).len(), 3, "{cwd:?}");
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_look() {
    let world = world();
    let script = "umask 0
        for args in init new clone copy 'fork --at @' 'clone -o own.jsonl' 'repair -o whole.jsonl'; do
            \"$PIS\" -q -s s.jsonl $args || exit 1
        done
        \"$PIS\" -q -s s.jsonl set-leaf bbbbbbbb";
    let ran = sh(&world, script);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 7), "{ran:?}");
    for path in ran.stdout.lines() {
        assert_eq!(mode(Path::new(path)), 0o600, "{path}");
    }
    assert_eq!(mode(&world.path(".pis")), 0o700);
    assert_eq!(mode(&world.path(".pis/s.jsonl.d")), 0o700);
    for name in ["HEAD", "log", "lock"] {
        assert_eq!(mode(&state(&world, name)), 0o600, "{name}");
    }
    // A mode that someone chose stays.
    set_mode(&world.path("s.jsonl"), 0o640);
    assert_eq!(world.pis(&on(&["append", "--user", "x"])).code, 0);
    assert_eq!(mode(&world.path("s.jsonl")), 0o640);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_never_replaced() {
    use std::os::unix::fs::symlink;
    let world = World::new();
    world.write("real/s.jsonl", text());
    symlink("real/s.jsonl", world.path("link.jsonl")).expect("a link");
    symlink("link.jsonl", world.path("again.jsonl")).expect("a link");
    for args in CHANGING {
        let args: Vec<_> = ["-s", "again.jsonl"].iter().chain(*args).copied().collect();
        let ran = world.pis(&args);
        assert!(matches!(ran.code, 0 | 2 | 3), "{args:?}: {ran:?}");
    }
    let leaf = world.pis(&["-s", "real/s.jsonl", "set-leaf", "aaaaaaaa"]);
    assert_eq!(leaf.code, 0);
    assert_eq!(
        world.ok(&["-s", "again.jsonl", "rev-parse", "@"]),
        "aaaaaaaa\n"
    );
    for link in ["link.jsonl", "again.jsonl"] {
        assert!(world.path(link).is_symlink(), "{link}");
    }
    assert!(!world.path(".pis").exists());
    assert!(world.path("real/.pis/s.jsonl.d/log").exists());
    assert!(
        fs::read(world.path("real/s.jsonl"))
            .unwrap()
            .starts_with(text().as_bytes())
    );

    // A new file replaces neither a file nor a link, wherever it leads.
    symlink("nowhere.jsonl", world.path("dangling.jsonl")).expect("a link");
    for name in ["again.jsonl", "dangling.jsonl", "real/s.jsonl"] {
        let before = fs::read(world.path(name)).ok();
        let ran = world.pis(&["-q", "-s", "real/s.jsonl", "clone", "-o", name]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (128, ""),
            "{name}: {ran:?}"
        );
        assert!(ran.stderr.contains(name), "{ran:?}");
        assert_eq!(fs::read(world.path(name)).ok(), before, "{name}");
    }
    assert!(!world.path("nowhere.jsonl").exists());
    assert!(world.path("dangling.jsonl").is_symlink());
}

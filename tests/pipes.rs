//! Output that nobody takes: a closed pipe ends every command quietly, a closed stdout is no
//! failure, a full disk is said. And `-q`, which silences notes only.

use std::io::Read as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::{Ran, World, ran};
use crate::terminal::{plain_session, quoted};

/// Every command, as it is used.
const EVERYDAY: &[&[&str]] = &[
    &["log"],
    &["log", "--graph"],
    &["log", "--oneline", "--all"],
    &["log", "--json"],
    &["log", "--format", "%H %B"],
    &["tree"],
    &["tree", "--json"],
    &["cat-entry", "@"],
    &["cat-entry", "-p", "@"],
    &["cat-entry", "--text", "@"],
    &["cat-entry", "--header"],
    &["rev-parse", "@"],
    &["rev-parse", "--explain", "@"],
    &["rev-parse", "--json", "@"],
    &["rev-path"],
    &["rev-path", "--entries"],
    &["rev-path", "--count"],
    &["merge-base", "@", "@~2"],
    &["ls-entries"],
    &["ls-entries", "--text"],
    &["ls-entries", "--json"],
    &["for-each-label"],
    &["for-each-label", "--json"],
    &["for-each-tip"],
    &["context"],
    &["context", "--tokens"],
    &["context", "--entries"],
    &["context", "--as", "text"],
    &["context", "--as", "llm"],
    &["init", "--session-dir", "made"],
    &["completions", "bash"],
    &["completions", "zsh"],
    &["--help"],
    &["log", "--help"],
    &["--version"],
];

/// A session whose listings are longer than a pipe holds.
fn long_world() -> World {
    let world = World::new();
    let mut text = plain_session();
    let mut parent = "11111111".to_owned();
    for n in 0..1500 {
        let id = format!("{n:08x}");
        let content = format!("{n} {}", "word ".repeat(20));
        let entry = json!({
            "type": "message", "id": id, "parentId": parent,
            "timestamp": "2026-01-01T01:00:00.000Z",
            "message": { "role": "user", "content": content, "timestamp": 1 },
        });
        text.push_str(&format!("{entry}\n"));
        parent = id;
    }
    world.write("s.jsonl", text);
    world
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let world = long_world();
    for args in EVERYDAY {
        let all = [&["-s", "./s.jsonl"], *args].concat();
        // Nobody reads from the start.
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = world
            .command(&all)
            .stdout(writer)
            .output()
            .expect("pis runs");
        let ran = ran(&output);
        assert_eq!(
            (ran.code, quiet(args, &ran.stderr)),
            (0, ""),
            "pis {args:?} into nothing"
        );
        // Somebody reads a little and goes away.
        let mut command = world.command(&all);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("pis starts");
        let mut some = [0; 10];
        let read = child
            .stdout
            .take()
            .expect("a pipe")
            .read(&mut some)
            .expect("pis writes");
        let output = child.wait_with_output().expect("pis ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), quiet(args, &stderr)),
            (Some(0), ""),
            "pis {args:?} | head"
        );
        assert!(read > 0, "pis {args:?} prints something");
    }
}

/// What stderr says apart from the note that a new session is the newest here.
fn quiet<'a>(args: &[&str], stderr: &'a str) -> &'a str {
    if args[0] == "init" && stderr.starts_with("note:") {
        ""
    } else {
        stderr
    }
}

#[test]
fn a_batch_ends_quietly_with_its_reader() {
    let world = long_world();
    let revs = "@\n".repeat(20_000);
    world.write("revs", revs);
    for batch in ["--batch", "--batch-check"] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let revs = std::fs::File::open(world.path("revs")).expect("a file");
        let mut command = world.command(&["-s", "./s.jsonl", "cat-entry", batch]);
        let ran = ran(&command
            .stdin(revs)
            .stdout(writer)
            .output()
            .expect("pis runs"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{batch}");
    }
}

#[test]
#[cfg(unix)]
fn a_closed_stdout_is_no_failure() {
    let world = long_world();
    for args in EVERYDAY {
        let mut line = format!("exec {} -s ./s.jsonl", quoted(env!("CARGO_BIN_EXE_pis")));
        args.iter()
            .for_each(|arg| line.push_str(&format!(" {}", quoted(arg))));
        for closed in [">&-", ">&- 2>&-", "<&- >&-"] {
            let mut like = world.command(&[]);
            let mut command = Command::new("/bin/sh");
            command
                .args(["-c", &format!("{line} {closed}")])
                .current_dir(world.work());
            command
                .env_clear()
                .envs(like.get_envs().filter_map(|(k, v)| Some((k, v?))));
            let ran = ran(&command.stdin(Stdio::null()).output().expect("a shell"));
            assert_eq!(
                (ran.code, quiet(args, &ran.stderr)),
                (0, ""),
                "pis {args:?} {closed}"
            );
            like.stdin(Stdio::null());
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_said() {
    let world = long_world();
    let full = || {
        std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full")
    };
    for args in EVERYDAY {
        for json in [false, true] {
            let mut all = [&["-s", "./s.jsonl"], *args].concat();
            if json && !args.contains(&"--format") && !args.contains(&"--json") {
                all.push("--json");
            }
            let output = world
                .command(&all)
                .stdout(full())
                .output()
                .expect("pis runs");
            let ran = ran(&output);
            assert_eq!(ran.code, 128, "pis {all:?}: {}", ran.stderr);
            assert!(
                ran.stderr.contains("cannot write the output"),
                "pis {all:?}: {}",
                ran.stderr
            );
            if all.contains(&"--json") {
                for line in ran.stderr.lines() {
                    let value: Value = serde_json::from_str(line).expect("JSON on stderr");
                    assert!(value.is_object(), "{line}");
                }
            }
        }
    }
    // A stderr that takes nothing changes no answer.
    for (args, code) in [
        (&["rev-parse", "nonesuch"][..], 128),
        (&["nonesuch"], 2),
        (&["log"], 0),
    ] {
        let all = [&["-s", "./s.jsonl"], args].concat();
        let output = world
            .command(&all)
            .stderr(full())
            .output()
            .expect("pis runs");
        assert_eq!(output.status.code(), Some(code), "pis {args:?}");
    }
}

#[test]
fn quiet_means_no_notes_but_errors() {
    let world = World::new();
    let damaged = format!("{}not JSON\n", plain_session());
    world.write("s.jsonl", damaged);
    for args in [
        &["log"][..],
        &["tree"],
        &["rev-parse", "@"],
        &["ls-entries"],
        &["context"],
    ] {
        for json in [&[][..], &["--json"]] {
            let all = [&["-s", "./s.jsonl"], args, json].concat();
            let loud = world.pis(&all);
            assert!(
                loud.code == 0 && loud.stderr.contains("is not JSON"),
                "{all:?}: {loud:?}"
            );
            for quiet in ["-q", "--quiet"] {
                let silent = world.pis(&[&all[..], &[quiet]].concat());
                assert_eq!(
                    silent,
                    Ran {
                        stderr: String::new(),
                        ..clone(&loud)
                    },
                    "{all:?} {quiet}"
                );
            }
        }
    }
    let failed = world.pis(&["-q", "-s", "./s.jsonl", "rev-parse", "nonesuch"]);
    assert!(
        failed.code == 128 && failed.stderr.starts_with("error: "),
        "{failed:?}"
    );
    let made = world.pis(&["-q", "init", "--session-dir", "made"]);
    assert_eq!((made.code, made.stderr.as_str()), (0, ""));
}

fn clone(ran: &Ran) -> Ran {
    Ran {
        code: ran.code,
        stdout: ran.stdout.clone(),
        stderr: ran.stderr.clone(),
    }
}

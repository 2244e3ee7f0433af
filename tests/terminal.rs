//! What a terminal, a pipe and the environment do to output.
//!
//! Where a terminal is needed a real one is: `script` of util-linux runs pis on a pseudo-terminal.
//! Without it those tests say so and pass.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use crate::common::{Build, Ran, World, assistant, ran};

/// The styles that pis uses, and the one that ends them.
const STYLES: &[&str] = &[
    "", "0", "1", "2", "3", "4", "31", "32", "33", "34", "35", "36", "31;1", "33;1", "36;1", "39",
    "22", "31;7", "32;7", "34;4",
];

/// The word in single quotes, for a shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What came out of a terminal.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) code: i32,
    pub(crate) text: String,
}

/// Whether there is a `script` that can run a command on a pseudo-terminal.
pub(crate) fn has_terminal() -> bool {
    let version = Command::new("script").arg("--version").output();
    let has = version.is_ok_and(|out| String::from_utf8_lossy(&out.stdout).contains("util-linux"));
    if !has {
        let why = "'script' of util-linux is not installed: there is no terminal to test with";
        // Past the test harness, which would keep it to itself.
        let _ = writeln!(std::io::stderr(), "{why}");
    }
    has
}

/// Runs a command of a shell on a terminal of its own, with the environment of the tests.
pub(crate) fn shell_on_terminal(world: &World, line: &str, env: &[(&str, &str)]) -> Shown {
    let like = world.command(&[]);
    let mut command = Command::new("script");
    command
        .args(["-qec", line, "/dev/null"])
        .current_dir(world.work())
        .env_clear();
    command
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .env("PAGER", "");
    for (name, value) in like.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    // An unset variable is spelled as `!`.
    for (name, value) in env {
        if *value == "!" {
            command.env_remove(name)
        } else {
            command.env(name, value)
        };
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("script starts");
    // Kept open: at the end of its input `script` types an end-of-file into the terminal.
    let input = child.stdin.take();
    let mut bytes = Vec::new();
    child
        .stdout
        .take()
        .expect("a pipe")
        .read_to_end(&mut bytes)
        .expect("script writes");
    let code = child.wait().expect("script ends").code().unwrap_or(-1);
    drop(input);
    // The terminal ends each line with CR LF.
    let text = String::from_utf8(bytes).expect("a terminal is sent UTF-8");
    Shown {
        code,
        text: text.replace("\r\n", "\n"),
    }
}

/// Runs pis on a terminal.
pub(crate) fn on_terminal(world: &World, args: &[&str], env: &[(&str, &str)]) -> Shown {
    let mut line = format!("exec {}", quoted(env!("CARGO_BIN_EXE_pis")));
    for arg in args {
        line.push(' ');
        line.push_str(&quoted(arg));
    }
    shell_on_terminal(world, &line, env)
}

/// Runs pis in a pipe.
pub(crate) fn in_pipe(world: &World, args: &[&str], env: &[(&str, &str)]) -> Ran {
    let mut command = world.command(args);
    for (name, value) in env {
        if *value == "!" {
            command.env_remove(name)
        } else {
            command.env(name, value)
        };
    }
    ran(&command.output().expect("pis runs"))
}

/// Whether a character acts on a terminal instead of showing. Newlines end rows; tabs stand in
/// texts that have several lines.
pub(crate) fn acts(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        )
        || matches!(c, '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0001}'..='\u{e007f}')
}

/// The text without the styles of pis; any other sequence stays.
pub(crate) fn without_styles(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        out.push_str(&rest[..at]);
        let after = &rest[at + 2..];
        let end = after
            .find(|c: char| !c.is_ascii_digit() && c != ';')
            .unwrap_or(after.len());
        if after[end..].starts_with('m') && STYLES.contains(&&after[..end]) {
            rest = &after[end + 1..];
        } else {
            out.push_str("\u{1b}[");
            rest = after;
        }
    }
    out + rest
}

/// What of the text acts on a terminal, with what stands around it.
pub(crate) fn harm(text: &str) -> Option<String> {
    let at = text.find(acts)?;
    let from = text[..at]
        .char_indices()
        .rev()
        .nth(40)
        .map_or(0, |(at, _)| at);
    let near: String = text[from..].chars().take(60).collect();
    Some(format!(
        "{:?} reaches the terminal in {near:?}",
        text[at..].chars().next()
    ))
}

pub(crate) fn assert_harmless(text: &str, what: &str) {
    assert_eq!(harm(text), None, "{what}");
}

/// A small session with two branches, a label and tool calls.
pub(crate) fn plain_session() -> String {
    let call = |id: &str| json!({ "type": "toolCall", "id": id, "name": "read", "arguments": { "path": "src/a.rs" } });
    let result = |id: &str| {
        json!({
            "role": "toolResult", "toolCallId": id, "toolName": "read", "isError": false,
            "content": [{ "type": "text", "text": "fn main() {}" }], "timestamp": 3,
        })
    };
    Build::new()
        .user("dd4f6f16", "", "Refactor auth, plans first")
        .assistant(
            "0fa4a08e",
            "dd4f6f16",
            "Three plans: A conservative, B abstraction",
        )
        .user("78743def", "0fa4a08e", "Try an aggressive rewrite")
        .message("c20b91a7", "78743def", assistant(json!([call("t1")])))
        .message("c20b91a8", "c20b91a7", result("t1"))
        .assistant("c20b91a9", "c20b91a8", "Rewrote the module")
        .user(
            "a96ab147",
            "0fa4a08e",
            "Keep the return value, only add logs",
        )
        .assistant(
            "840e16a9",
            "a96ab147",
            "Done: errors keep their return type.",
        )
        .label("11111111", "840e16a9", "0fa4a08e", "plans")
        .text()
}

pub(crate) fn plain_world() -> World {
    let world = World::new();
    world.write("s.jsonl", plain_session());
    world
}

#[test]
fn colour_is_decided_by_option_then_environment_then_terminal() {
    let world = plain_world();
    let here = has_terminal();
    // The option, the environment; coloured on a terminal, in a pipe.
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], bool, bool);
    let table: &[Row<'_>] = &[
        ("auto", &[], true, false),
        ("always", &[], true, true),
        ("never", &[], false, false),
        ("auto", &[("NO_COLOR", "1")], false, false),
        ("auto", &[("NO_COLOR", "")], true, false),
        ("always", &[("NO_COLOR", "1")], true, true),
        ("auto", &[("CLICOLOR_FORCE", "1")], true, true),
        ("auto", &[("CLICOLOR_FORCE", "0")], true, false),
        ("auto", &[("CLICOLOR_FORCE", "")], true, false),
        (
            "auto",
            &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")],
            false,
            false,
        ),
        ("never", &[("CLICOLOR_FORCE", "1")], false, false),
        ("auto", &[("TERM", "dumb")], false, false),
        ("always", &[("TERM", "dumb")], true, true),
        (
            "auto",
            &[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")],
            true,
            true,
        ),
        ("auto", &[("TERM", "!")], true, false),
    ];
    for (color, env, terminal, pipe) in table {
        let option = format!("--color={color}");
        for command in ["log", "tree"] {
            let args = ["-s", "./s.jsonl", &option, command];
            let piped = in_pipe(&world, &args, env);
            assert_eq!((piped.code, piped.stderr.as_str()), (0, ""), "{args:?}");
            assert_eq!(
                piped.stdout.contains('\u{1b}'),
                *pipe,
                "{args:?} {env:?} in a pipe"
            );
            if here {
                let shown = on_terminal(&world, &args, env);
                assert_eq!(shown.text.contains('\u{1b}'), *terminal, "{args:?} {env:?}");
                let plain = without_styles(&shown.text);
                assert!(plain.contains("Three plans"), "{plain}");
                assert_harmless(&plain, &args.join(" "));
            }
        }
        // Plumbing is plain whatever is asked for.
        let args = ["-s", "./s.jsonl", &option, "rev-path"];
        assert!(
            !in_pipe(&world, &args, env).stdout.contains('\u{1b}'),
            "{args:?} {env:?}"
        );
    }
}

#[test]
fn the_pager_is_started_where_it_should_be() {
    if !has_terminal() {
        return;
    }
    let world = plain_world();
    let mark = ("PIS_PAGER", "sed s/^/PAGED:/");
    let other = ("PAGER", "sed s/^/OTHER:/");
    let paged = |args: &[&str], env: &[(&str, &str)]| {
        let shown = on_terminal(
            &world,
            &[&["-s", "./s.jsonl", "--color=never"], args].concat(),
            env,
        );
        assert_eq!(shown.code, 0, "{args:?} {env:?}: {}", shown.text);
        assert!(
            shown.text.contains("840e16a9"),
            "{args:?} {env:?}: {}",
            shown.text
        );
        shown
            .text
            .split_once(':')
            .filter(|(word, _)| word.chars().all(char::is_uppercase))
            .map_or_else(String::new, |(word, _)| word.to_owned())
    };
    // Which commands.
    for args in [
        &["log"][..],
        &["log", "--graph"],
        &["log", "--oneline"],
        &["tree"],
    ] {
        assert_eq!(paged(args, &[mark]), "PAGED", "{args:?}");
        assert_eq!(
            paged(&[args, &["--no-pager"]].concat(), &[mark]),
            "",
            "{args:?}"
        );
        assert_eq!(
            paged(&[args, &["--json"]].concat(), &[mark]),
            "",
            "{args:?} --json"
        );
    }
    for args in [
        &["rev-path"][..],
        &["ls-entries"],
        &["for-each-tip"],
        &["cat-entry", "840e16a9"],
        &["context", "--entries"],
        &["rev-parse", "840e16a9"],
        &["rev-parse", "840e"],
    ] {
        assert_eq!(paged(args, &[mark]), "", "{args:?} is plumbing");
    }
    // Which pager. Nothing but `less` is looked for where none is named.
    assert_eq!(paged(&["log"], &[other]), "OTHER");
    assert_eq!(paged(&["log"], &[other, mark]), "PAGED");
    assert_eq!(paged(&["log"], &[other, ("PIS_PAGER", "cat")]), "");
    assert_eq!(paged(&["log"], &[other, ("PIS_PAGER", "")]), "");
    assert_eq!(paged(&["log"], &[("PAGER", "")]), "");
    assert_eq!(paged(&["log"], &[other, ("TERM", "dumb")]), "OTHER");
    assert_eq!(paged(&["log"], &[("PAGER", "!"), ("TERM", "dumb")]), "");
    assert_eq!(
        paged(&["log"], &[("PIS_PAGER", "no-such-pager --at-all")]),
        "",
        "still printed"
    );
    // Words are split as a shell splits them.
    assert_eq!(
        paged(&["log"], &[("PIS_PAGER", "sh -c 'sed \"s/^/QUOTED:/\"'")]),
        "QUOTED"
    );
    // In a pipe there is none.
    let piped = in_pipe(&world, &["-s", "./s.jsonl", "log"], &[mark]);
    assert!(piped.stdout.starts_with("840e16a9"), "{}", piped.stdout);
}

#[test]
fn a_pager_may_be_left_early() {
    if !has_terminal() {
        return;
    }
    let world = World::new();
    let mut build = Build::new().user("00000000", "", "start");
    for n in 1..3000 {
        build = build.user(
            &format!("{n:08x}"),
            &format!("{:08x}", n - 1),
            "more of the same",
        );
    }
    world.write("s.jsonl", build.text());
    for args in [&["log"][..], &["tree"], &["log", "--graph"]] {
        for pager in ["head -n 1", "true", "sh -c 'exit 3'"] {
            let all = [&["-s", "./s.jsonl", "--color=never"], args].concat();
            let shown = on_terminal(&world, &all, &[("PIS_PAGER", pager)]);
            let lines = usize::from(pager.starts_with("head"));
            assert_eq!(
                (shown.code, shown.text.lines().count()),
                (0, lines),
                "{args:?} {pager}"
            );
        }
    }
}

#[test]
fn the_width_is_that_of_columns_else_of_the_terminal() {
    if !has_terminal() {
        return;
    }
    let world = World::new();
    let text = "many words ".repeat(40);
    world.write("s.jsonl", Build::new().user("dd4f6f16", "", &text).text());
    let pis = quoted(env!("CARGO_BIN_EXE_pis"));
    for (env, wanted) in [
        (("COLUMNS", "!"), 97),
        (("COLUMNS", "70"), 70),
        (("COLUMNS", "x"), 97),
    ] {
        let line = format!("stty rows 30 cols 97; {pis} -s ./s.jsonl --color=never tree");
        let shown = shell_on_terminal(&world, &line, &[env]);
        let width = shown.text.trim_end().width();
        assert!(
            width <= wanted && width + 12 > wanted,
            "{width} of {wanted}: {}",
            shown.text
        );
    }
}

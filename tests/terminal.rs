//! What a terminal, a pipe and the environment do to output.
//!
//! Where a terminal is needed a real one is: `script` of util-linux runs pis on a pseudo-terminal.
//! Without it those tests say so and pass.

use std::io::Read as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::common::{Build, Ran, World, assistant, ran};

/// What acts on a terminal, or on the order of text, when it is printed as it is.
const HOSTILE: &str = "\u{1b}[2J\u{1b}[41;5m\u{1b}]8;;http://x.y/\u{1b}\\\u{1b}]52;c;aGk=\u{7}\u{7}\u{9b}31m\
                       \u{90}q\u{9c}\u{85}\u{8}\u{7f}\r\u{b}\u{c}\u{e}\u{202e}\u{2066}\u{200f}\u{61c}\u{feff}\
                       \u{2028}\u{e0041}\u{0}\u{1}\u{1f}";

/// The styles that pis uses, and the one that ends them.
const STYLES: &[&str] = &[
    "0", "1", "2", "31", "32", "33", "34", "35", "36", "31;1", "33;1", "36;1", "39", "22",
];

/// The word in single quotes, for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What came out of a terminal.
#[derive(Debug)]
struct Shown {
    code: i32,
    text: String,
}

/// Whether there is a `script` that can run a command on a pseudo-terminal.
fn has_terminal() -> bool {
    let version = Command::new("script").arg("--version").output();
    let has = version.is_ok_and(|out| String::from_utf8_lossy(&out.stdout).contains("util-linux"));
    if !has {
        eprintln!("'script' of util-linux is not installed: there is no terminal to test with");
    }
    has
}

/// Runs a command of a shell on a terminal of its own, with the environment of the tests.
fn shell_on_terminal(world: &World, line: &str, env: &[(&str, &str)]) -> Shown {
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
fn on_terminal(world: &World, args: &[&str], env: &[(&str, &str)]) -> Shown {
    let mut line = format!("exec {}", quoted(env!("CARGO_BIN_EXE_pis")));
    for arg in args {
        line.push(' ');
        line.push_str(&quoted(arg));
    }
    shell_on_terminal(world, &line, env)
}

/// Runs pis in a pipe.
fn in_pipe(world: &World, args: &[&str], env: &[(&str, &str)]) -> Ran {
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
fn acts(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        )
        || matches!(c, '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0001}'..='\u{e007f}')
}

/// The text without the styles of pis; any other sequence stays.
fn without_styles(text: &str) -> String {
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
fn harm(text: &str) -> Option<String> {
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

fn assert_harmless(text: &str, what: &str) {
    assert_eq!(harm(text), None, "{what}");
}

/// A session in which everything that can hold a text holds a hostile one.
fn hostile_session() -> String {
    let h = HOSTILE;
    let named = |name: &str| format!("{name}{h}");
    let call = json!({
        "type": "toolCall", "id": named("call"), "name": named("bash"),
        "arguments": { "command": named("ls"), named("key"): named("value") },
    });
    let mut answer = assistant(json!([{ "type": "text", "text": named("yes") }, call]));
    answer["model"] = json!(named("model"));
    answer["provider"] = json!(named("provider"));
    let mut failed = assistant(json!([]));
    failed["stopReason"] = json!("error");
    failed["errorMessage"] = json!(named("overloaded"));
    let mut only_call = assistant(json!([call]));
    only_call["stopReason"] = json!("toolUse");
    let result = json!({
        "role": "toolResult", "toolCallId": named("call"), "toolName": named("bash"),
        "content": [{ "type": "text", "text": named("out") }], "isError": true, "timestamp": 3,
    });
    let bash = json!({
        "role": "bashExecution", "command": named("ls"), "output": named("out"), "timestamp": 3,
    });
    let model = json!({ "type": "model_change", "provider": named("p"), "modelId": named("m") });
    let custom = json!({
        "type": "custom_message", "customType": named("c"), "content": named("text"), "display": true,
    });
    let compaction = json!({
        "type": "compaction", "summary": named("sum"), "firstKeptEntryId": named("abcd1"),
        "tokensBefore": 5000,
    });
    let other_role = json!({ "role": named("role"), "content": named("text"), "timestamp": 4 });
    let edit = json!({ "type": "context_edit", "targetId": named("abcd1"), "replacement": null });
    Build::new()
        .user(&named("abcd1"), "", &named("do it"))
        .message(&named("abcd2"), &named("abcd1"), answer)
        .message(&named("abcd3"), &named("abcd2"), result.clone())
        .message(&named("abcd4"), &named("abcd3"), failed)
        .message("plain001", &named("abcd4"), only_call)
        .message("plain002", "plain001", result)
        .message("plain003", "plain002", bash)
        .entry("plain004", "plain003", model)
        .entry("plain005", "plain004", custom)
        .entry("plain006", "plain005", compaction)
        .message("plain007", "plain006", other_role)
        .entry(
            "plain008",
            "plain007",
            json!({ "type": named("type"), "text": named("x") }),
        )
        .entry("plain009", "plain008", edit)
        .entry(
            "plain010",
            "plain009",
            json!({ "type": "custom", "customType": named("c") }),
        )
        .entry(
            "plain011",
            "plain010",
            json!({ "type": "session_info", "name": named("n") }),
        )
        .entry(
            "plain012",
            "plain011",
            json!({ "type": "usage", "kind": named("u"), "usage": {} }),
        )
        .entry(
            "plain013",
            "plain012",
            json!({ "type": "thinking_level_change", "thinkingLevel": named("high") }),
        )
        .entry(
            "plain014",
            "plain013",
            json!({ "type": "branch_summary", "summary": named("s"), "fromId": named("abcd1") }),
        )
        .entry(
            "plain015",
            "plain014",
            json!({
                "type": "message", "timestamp": named("2026"),
                "message": { "role": "user", "content": named("a string") },
            }),
        )
        .user("plain016", &named("nowhere"), "an orphan")
        .label("plain017", "plain016", &named("abcd1"), &named("label"))
        .label("plain018", "plain017", &named("abcd2"), &named("label"))
        .label("plain019", "plain018", "plain016", &named("one"))
        .user("plain020", "plain019", "the last one")
        // The bytes themselves, which JSON allows above 0x7f, and a line that is none.
        .raw(&format!(
            "{{\"type\":\"message\",\"id\":\"plain021\",\"parentId\":\"plain020\",\
             \"timestamp\":\"2026-01-01T00:02:00.000Z\",\"message\":{{\"role\":\"user\",\
             \"content\":\"raw \u{9b}2J\u{85}\u{202e}\u{2028}\u{7f} end\"}}}}"
        ))
        .raw("no JSON \u{1b}[2J\u{7}")
        .user("plain022", "plain021", &named("leaf"))
        .text()
        .replace(
            "\"cwd\":\"/home/dev/project\"",
            &format!("\"cwd\":{}", json!(named("/x"))),
        )
}

/// Every command that prints what a session says, or what someone typed.
fn commands() -> Vec<Vec<String>> {
    let quoted_label = serde_json::to_string(&format!("label{HOSTILE}")).expect("JSON");
    let quoted_id = serde_json::to_string(&format!("abcd1{HOSTILE}")).expect("JSON");
    // A zero byte cannot be an argument, but its escape can.
    let label_rev = format!("label:{}", escaped(&quoted_label));
    let id_rev = escaped(&quoted_id);
    let typed = HOSTILE.replace('\0', "");
    let typed = typed.as_str();
    let format = "%H %h %P %p %T %r %t %at %ar %s %b %B %l %d %(leaf) %m %k %c %(json)";
    let rows: Vec<Vec<&str>> = vec![
        vec!["log"],
        vec!["log", "--graph"],
        vec!["log", "--graph", "--ascii", "--filter", "all"],
        vec!["log", "--all", "--filter", "all"],
        vec!["log", "--all", "--oneline", "--filter", "all"],
        vec!["log", "--all", "--format", format],
        vec!["log", "--all", "--json"],
        vec!["log", typed],
        vec!["log", "--grep", typed],
        vec!["log", "--since", typed],
        vec!["tree"],
        vec!["tree", "--filter", "all"],
        vec!["tree", "--filter", "labeled-only"],
        vec!["tree", "--filter", "all", "--json"],
        vec!["tree", "--format", format],
        vec!["cat-entry", &id_rev, "plain021", "plain008"],
        vec!["cat-entry", "-p", &id_rev, "plain021", "plain008"],
        vec!["cat-entry", "-m", &id_rev, "plain021"],
        vec!["cat-entry", "-m", "plain008"],
        vec!["cat-entry", "-t", "plain008"],
        vec!["cat-entry", "--text", &id_rev, "plain021", "plain003"],
        vec!["cat-entry", "--json", &id_rev, "plain021"],
        vec!["cat-entry", "--header"],
        vec!["cat-entry", "--header", "--json"],
        vec!["cat-entry", typed],
        vec!["rev-path"],
        vec!["rev-path", "--entries", "plain015"],
        vec!["rev-path", "--json", "plain015"],
        vec!["rev-path", "--format", format, "plain015"],
        vec!["rev-path", "--left-right", "plain015...plain022"],
        vec!["rev-path", typed],
        vec!["rev-parse", &id_rev, "plain022~1", "plain001..plain022"],
        vec!["rev-parse", "--short", &id_rev],
        vec![
            "rev-parse",
            "--explain",
            &id_rev,
            &label_rev,
            "plain015^{/leaf|string}",
        ],
        vec!["rev-parse", "--explain", "--json", &label_rev],
        vec!["rev-parse", &label_rev, "--json"],
        vec!["rev-parse", &label_rev],
        // Candidates, the nearest names, and what is no revision.
        vec!["rev-parse", "abcd"],
        vec!["rev-parse", "abcd", "--json"],
        vec!["rev-parse", "plain0"],
        vec!["rev-parse", "labell"],
        vec!["rev-parse", "labell", "--json"],
        vec!["rev-parse", typed, "--json"],
        vec!["rev-parse", "root+"],
        vec!["merge-base", &id_rev, "plain004"],
        vec!["merge-base", &id_rev, &id_rev, "--json"],
        vec!["ls-entries"],
        vec!["ls-entries", "--text"],
        vec!["ls-entries", "--text", "--json"],
        vec!["ls-entries", "--format", format],
        vec!["ls-entries", "--tips"],
        vec!["ls-entries", "--roots"],
        vec!["for-each-label"],
        vec!["for-each-label", "--json"],
        vec!["for-each-label", "--format", format],
        vec!["for-each-tip"],
        vec!["for-each-tip", "--json"],
        vec!["for-each-tip", "--format", format],
        vec!["context"],
        vec!["context", "plain005"],
        vec!["context", "plain015", "--as", "messages"],
        vec!["context", "plain015", "--as", "llm"],
        vec!["context", "plain005", "--as", "text"],
        vec!["context", "plain015", "--entries"],
        vec!["init", "--session-dir", typed, "--name", typed],
        vec!["init", "--session-dir", typed, "--json"],
        vec!["init", "--id", typed],
        vec!["-s", typed, "log"],
        vec!["-s", typed, "log", "--json"],
        vec!["-s", "x/nowhere.jsonl", "log"],
        vec!["-C", typed, "log"],
        // What the parser of arguments says of them.
        vec![typed],
        vec!["log", "--color", typed],
        vec!["log", "--color", typed, "--json"],
        vec!["log", typed, "--json", "--graph", "--reverse"],
        vec!["tree", typed],
    ];
    rows.into_iter()
        .map(|row| row.into_iter().map(str::to_owned).collect())
        .collect()
}

/// A quoted name as revisions take it, with what cannot be in an argument as an escape.
fn escaped(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if acts(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// The hostile session under a hostile name, and its path.
fn hostile_world() -> (World, String) {
    let world = World::new();
    let name = format!("evil{}.jsonl", HOSTILE.replace(['\0', '/'], ""));
    let path = world.write(&name, hostile_session());
    (world, path.to_str().expect("UTF-8").to_owned())
}

#[test]
fn what_a_session_says_never_acts_on_a_terminal() {
    if !has_terminal() {
        return;
    }
    let (world, path) = hostile_world();
    let mut wrong = Vec::new();
    for row in commands() {
        let args: Vec<&str> = row.iter().map(String::as_str).collect();
        for color in ["never", "always"] {
            let mut all = vec!["--color", color];
            if !args.contains(&"-s") {
                all.extend(["-s", &path]);
            }
            all.extend(&args);
            let shown = on_terminal(&world, &all, &[]);
            let text = match color {
                "always" => without_styles(&shown.text),
                _ => shown.text.clone(),
            };
            let harm = harm(&text).map(|harm| format!("--color={color} {args:?}: {harm}"));
            wrong.extend(harm);
            assert!(
                [0, 1, 2, 128].contains(&shown.code),
                "{args:?} ended with {}",
                shown.code
            );
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn batch_answers_do_not_act_on_a_terminal() {
    if !has_terminal() {
        return;
    }
    let (world, path) = hostile_world();
    world.write("revs", format!("plain008\nplain021\nnone{HOSTILE}\nabcd\n"));
    for batch in ["--batch", "--batch-check"] {
        let pis = quoted(env!("CARGO_BIN_EXE_pis"));
        let line = format!("{pis} -s {} cat-entry {batch} < revs", quoted(&path));
        let shown = shell_on_terminal(&world, &line, &[]);
        assert_harmless(&shown.text, batch);
        assert!(shown.text.contains("plain021 message"), "{shown:?}");
    }
}

#[test]
fn a_dangling_pointer_does_not_act_on_a_terminal() {
    if !has_terminal() {
        return;
    }
    let (world, path) = hostile_world();
    let name = std::path::Path::new(&path)
        .file_name()
        .and_then(|n| n.to_str())
        .expect("a name");
    let head = json!({ "leaf": format!("gone{HOSTILE}"), "size": hostile_session().len() });
    world.write(&format!(".pis/{name}.d/HEAD"), head.to_string());
    for extra in ["--no-pager", "--json"] {
        let shown = on_terminal(
            &world,
            &["-s", &path, "--color=never", extra, "rev-parse", "@"],
            &[],
        );
        assert!(
            shown.text.contains("dangling-leaf") || shown.text.contains("gone"),
            "{shown:?}"
        );
        assert_harmless(&shown.text, extra);
    }
}

#[test]
fn in_a_pipe_plumbing_is_raw() {
    let (world, path) = hostile_world();
    let stored = hostile_session();
    let line = |part: &str| {
        let found = stored.lines().find(|line| line.contains(part)).expect(part);
        format!("{found}\n")
    };
    let pis = |args: &[&str]| in_pipe(&world, &[&["-q", "-s", &path], args].concat(), &[]).stdout;
    assert_eq!(pis(&["cat-entry", "plain021"]), line("\"plain021\""));
    assert_eq!(pis(&["cat-entry", "--header"]), line("\"session\""));
    assert_eq!(
        pis(&["cat-entry", "--text", "@"]),
        format!("leaf{HOSTILE}\n")
    );
    assert_eq!(
        pis(&["rev-path", "--entries", "-n", "1"]),
        line("\"plain022\"")
    );
    assert!(pis(&["context", "--as", "text"]).contains(HOSTILE));
    assert!(pis(&["log", "--format", "%B", "-n", "1"]).contains(HOSTILE));
    // Whoever reads JSON gets the text, whatever is escaped.
    let text = |out: String| -> Value { serde_json::from_str(out.trim_end()).expect("JSON") };
    assert_eq!(
        text(pis(&["log", "--json", "-n", "1"]))["text"],
        format!("leaf{HOSTILE}")
    );
    // Porcelain is made harmless wherever it goes: people read it, in a file, too.
    for args in [
        &["log"][..],
        &["log", "--graph"],
        &["log", "--oneline", "--all"],
        &["tree"],
    ] {
        assert_harmless(&pis(args), &args.join(" "));
    }
}

#[test]
fn json_on_a_terminal_is_the_json_of_the_pipe() {
    if !has_terminal() {
        return;
    }
    let (world, path) = hostile_world();
    for args in [
        &["log", "--json", "--all"][..],
        &["ls-entries", "--json", "--text"],
        &["for-each-label", "--json"],
        &["context", "--as", "messages", "plain005"],
    ] {
        let all = [&["-q", "-s", &path], args].concat();
        let values = |text: &str| -> Vec<Value> {
            text.lines()
                .map(|line| serde_json::from_str(line).expect("JSON"))
                .collect()
        };
        let shown = on_terminal(&world, &all, &[]);
        let piped = in_pipe(&world, &all, &[]);
        assert_eq!(values(&shown.text), values(&piped.stdout), "{args:?}");
    }
}

/// A small session with two branches, a label and tool calls.
fn plain_session() -> String {
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

fn plain_world() -> World {
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
        let line = format!("stty cols 97; {pis} -s ./s.jsonl --color=never tree");
        let shown = shell_on_terminal(&world, &line, &[env]);
        let width = shown.text.trim_end().width();
        assert!(
            width <= wanted && width + 12 > wanted,
            "{width} of {wanted}: {}",
            shown.text
        );
    }
}

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

/// A session that is hard to lay out: wide characters, long ids, labels, names, many columns.
fn wide_session() -> String {
    let long = "word ".repeat(100);
    let wide = "日本語のテキスト👩‍💻é ".repeat(30);
    let mut call = assistant(json!([{
        "type": "toolCall", "id": "t", "name": "n".repeat(70), "arguments": { "path": wide },
    }]));
    call["model"] = json!("a-model-with-a-name-that-is-longer-than-its-column");
    let mut build = Build::new()
        .user("dd4f6f16", "", &long)
        .assistant("0fa4a08e", "dd4f6f16", &wide)
        .message("0fa4a08f", "0fa4a08e", call)
        .user(
            "a-long-id-that-somebody-chose-because-any-string-will-do",
            "0fa4a08f",
            "short",
        )
        .user(
            "漢字の識別子漢字の識別子漢字の識別子",
            "0fa4a08f",
            "an id of wide characters",
        )
        .user("an id with blanks in it", "0fa4a08f", &wide)
        .message(
            "0fa4a090",
            "0fa4a08f",
            json!({ "role": "r".repeat(50), "content": "x" }),
        )
        .entry(
            "0fa4a091",
            "0fa4a08f",
            json!({ "type": "t".repeat(50), "content": "x" }),
        );
    // A deep tree of branches, and many columns at once.
    let mut parent = "0fa4a08e".to_owned();
    for n in 0..40 {
        let (main, side) = (format!("{n:08x}"), format!("{:08x}", 0x1000 + n));
        build = build
            .user(&main, &parent, &long)
            .user(&side, &parent, &wide);
        parent = main;
    }
    build
        .label(
            "0fa4b001",
            "0fa4a08e",
            "0fa4a08e",
            &"long label ".repeat(20),
        )
        .label(
            "0fa4b002",
            "0fa4b001",
            "0fa4a08f",
            "長いラベル長いラベル長いラベル長いラベル長いラベル",
        )
        .user("0fa4b003", "0fa4b002", &long)
        .label("0fa4b004", "0fa4b003", "0fa4b003", "here")
        .text()
}

const DRAWN: &[&[&str]] = &[
    &["log"],
    &["log", "--all"],
    &["log", "--graph"],
    &["log", "--graph", "--filter", "all"],
    &["log", "--graph", "--oneline"],
    &["log", "--oneline"],
    &["log", "--oneline", "--all", "--filter", "all"],
    &["tree"],
    &["tree", "--filter", "all"],
];

#[test]
fn no_line_is_wider_than_the_terminal() {
    let world = World::new();
    world.write("wide.jsonl", wide_session());
    world.write("plain.jsonl", plain_session());
    let mut wrong = Vec::new();
    for session in ["./plain.jsonl", "./wide.jsonl"] {
        for columns in [40, 80, 200] {
            for args in DRAWN {
                for ascii in [false, true] {
                    let mut all = [&["-s", session], *args].concat();
                    all.extend(ascii.then_some("--ascii"));
                    let text = columns.to_string();
                    let ran = in_pipe(&world, &all, &[("COLUMNS", &text)]);
                    assert_eq!(ran.code, 0, "{}", ran.stderr);
                    let widest = ran.stdout.lines().max_by_key(|line| line.width());
                    let widest = widest.expect("it prints something");
                    if widest.width() > columns {
                        wrong.push(format!("{all:?} at {columns}: {} {widest}", widest.width()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn what_is_shown_follows_the_width() {
    let world = plain_world();
    let shown = |columns: &str, args: &[&str]| {
        let ran = in_pipe(
            &world,
            &[&["-s", "./s.jsonl"], args].concat(),
            &[("COLUMNS", columns)],
        );
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
        ran.stdout
    };
    for args in DRAWN {
        for columns in ["40", "80", "200"] {
            let text = shown(columns, args);
            let row = text
                .lines()
                .find(|line| line.contains("840e"))
                .expect("the newest answer");
            let who = if columns == "40" { "asst" } else { "assistant" };
            assert!(row.contains(who), "{args:?} at {columns}: {row}");
            assert!(row.contains("Done"), "{args:?} at {columns}: {row}");
        }
    }
    for args in [&["log"][..], &["log", "--graph"]] {
        for (columns, wanted) in [("40", false), ("80", false), ("200", true)] {
            let text = shown(columns, args);
            assert_eq!(
                text.contains("claude-a"),
                wanted,
                "{args:?} at {columns}: {text}"
            );
            assert_eq!(
                text.contains("$0.300"),
                wanted,
                "{args:?} at {columns}: {text}"
            );
        }
    }
}

#[test]
fn ascii_where_nothing_else_can_be_shown() {
    let world = plain_world();
    for args in DRAWN {
        // The environment, an option; whether only ASCII may come out.
        for (env, option, ascii) in [
            (&[("LANG", "C.UTF-8")][..], None, false),
            (&[("LANG", "C.UTF-8")], Some("--ascii"), true),
            (&[("LANG", "C")], None, true),
            (&[("LANG", "!")], None, true),
            (&[("LANG", "de_DE.utf8")], None, false),
            (&[("LANG", "C.UTF-8"), ("LC_ALL", "POSIX")], None, true),
            (&[("LANG", "C"), ("LC_CTYPE", "en_US.UTF-8")], None, false),
            (&[("LC_CTYPE", "en_US.UTF-8"), ("LC_ALL", "C")], None, true),
            (&[("LC_ALL", ""), ("LANG", "C.UTF-8")], None, false),
            (&[("TERM", "dumb")], None, true),
        ] {
            let mut all = [&["-s", "./s.jsonl"], *args].concat();
            all.extend(option);
            let ran = in_pipe(&world, &all, env);
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{all:?} {env:?}");
            // The leaf's mark is there in any case.
            assert_eq!(
                ran.stdout.is_ascii(),
                ascii,
                "{all:?} {env:?}: {}",
                ran.stdout
            );
        }
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

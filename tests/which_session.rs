//! Which session a command means, and the options that every command has.

use serde_json::{Value, json};

use crate::common::{Build, READING, World, fixture};

fn session(id: &str) -> String {
    let header = json!({ "type": "session", "version": 3, "id": id, "cwd": "/x" });
    Build::new()
        .header(&header)
        .user(&format!("{id}-entry"), "", id)
        .text()
}

#[test]
fn an_option_wins_over_variables_and_those_over_the_newest() {
    let world = World::new();
    for name in ["option", "ours", "pis", "newest"] {
        world.write(&format!("{name}.jsonl"), session(name));
    }
    let made = world.pis(&["-q", "init", "--id", "here"]).stdout;
    std::fs::write(made.trim_end(), session("here")).unwrap();
    let run = |args: &[&str], vars: &[(&str, &str)]| {
        let mut command = world.command(args);
        let output = command.envs(vars.iter().copied()).output().unwrap();
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    };
    let both = [
        ("PIS_SESSION", "./ours.jsonl"),
        ("PI_SESSION_FILE", "./pis.jsonl"),
    ];
    let at = ["rev-parse", "@"];
    assert_eq!(
        run(&["-s", "option.jsonl", "rev-parse", "@"], &both),
        "option-entry"
    );
    assert_eq!(
        run(&["rev-parse", "@", "--session", "option.jsonl"], &both),
        "option-entry"
    );
    assert_eq!(run(&at, &both), "ours-entry");
    assert_eq!(run(&at, &both[1..]), "pis-entry");
    assert_eq!(run(&at, &[]), "here-entry");
    assert_eq!(
        run(&at, &[("PIS_SESSION", ""), ("PI_SESSION_FILE", "")]),
        "here-entry"
    );
    assert_eq!(run(&["-s", "here", "rev-parse", "@"], &both), "here-entry");
    assert_eq!(run(&["-s", "he", "rev-parse", "@"], &both), "here-entry");
}

#[test]
fn a_name_can_be_an_id_a_prefix_or_a_session_name() {
    let world = World::new();
    let all = ["--session-dir", "all"];
    for (id, name) in [
        ("alpha-1", "fix auth"),
        ("alpha-2", "other"),
        ("beta", "alpha-1"),
    ] {
        let init = ["-q", "init", "--id", id, "--name", name];
        assert_eq!(world.pis(&[&all[..], &init].concat()).code, 0);
    }
    let header = |name: &str| {
        let ran = world.read(&["--session-dir", "all", "-s", name, "cat-entry", "--header"]);
        let id = serde_json::from_str::<Value>(&ran.stdout).map(|v| v["id"].clone());
        (ran.code, id.unwrap_or_default(), ran.stderr)
    };
    for (name, id) in [
        ("beta", "beta"),
        ("b", "beta"),
        ("alpha-1", "alpha-1"),
        ("fix auth", "alpha-1"),
    ] {
        assert_eq!(header(name), (0, json!(id), String::new()), "{name}");
    }
    let (code, _, says) = header("alpha");
    assert_eq!(code, 128);
    let lines: Vec<_> = says.lines().collect();
    assert_eq!(
        lines[..2],
        ["error: session 'alpha' is ambiguous", "hint: it could be:"]
    );
    assert!(lines[2].starts_with("  alpha-2  \"other\"  /"), "{says}");
    assert!(lines[3].starts_with("  alpha-1  \"fix auth\"  /"), "{says}");
    let (code, _, says) = header("betta");
    assert_eq!(code, 128);
    assert!(
        says.starts_with("error: no session has the id or name 'betta'"),
        "{says}"
    );
    assert!(says.contains("hint: the nearest are:\n  beta  "), "{says}");
    assert_eq!(header("").0, 2);
}

#[test]
fn without_a_session_every_command_says_what_to_do() {
    let world = World::new();
    for args in READING {
        let ran = world.read(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (128, ""), "{args:?}");
        if args.contains(&"--json") {
            assert_eq!(ran.error(), "no-session");
            continue;
        }
        let lines: Vec<_> = ran.stderr.lines().collect();
        assert_eq!(lines.len(), 2, "{}", ran.stderr);
        assert!(
            lines[0].starts_with("error: no session of '/"),
            "{}",
            lines[0]
        );
        assert!(
            lines[1].starts_with("hint: ") && lines[1].contains("pis init"),
            "{}",
            lines[1]
        );
    }
    let ran = world.read(&["--json", "log"]);
    let error: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(error["error"]["kind"], "no-session");
}

#[test]
fn standard_input_can_be_the_session() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let bytes = std::fs::read(&file).unwrap();
    for args in READING {
        let of = |session: &'static str| -> Vec<&str> {
            ["-s", session].iter().chain(*args).copied().collect()
        };
        let piped = world.read_with(&of("-"), &bytes);
        let mut named = of("-");
        named[1] = &file;
        let mut from_file = world.read(&named);
        // What a note calls the session.
        from_file.stderr = from_file.stderr.replace(&file, "standard input");
        assert_eq!(piped, from_file, "{args:?}");
    }
    let ran = world.read_with(&["-s", "-", "log"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
    assert!(
        ran.stderr
            .starts_with("error: 'standard input' is not a pi session"),
        "{}",
        ran.stderr
    );
    let ran = world.read_with(
        &["-s", "-", "rev-parse", "@", &format!("{file}:good")],
        session("s"),
    );
    assert_eq!(ran.stdout, "s-entry\n840e16a9\n");
}

#[test]
fn standard_input_is_read_for_one_purpose() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    for batch in ["--batch", "--batch-check"] {
        for (session, stdin) in [("-", &*session("s")), ("-", "@\n"), (&*file, "\"-\":@\n")] {
            let ran = world.read_with(&["-s", session, "cat-entry", batch], stdin);
            assert_eq!(
                (ran.code, ran.stdout.as_str()),
                (2, ""),
                "{batch} {session}"
            );
            assert_eq!(
                ran.stderr,
                "error: standard input cannot be read for two purposes\n\
                 hint: give the session as a file\n"
            );
        }
    }
}

#[test]
fn a_directory_to_start_in_changes_what_is_found() {
    let world = World::new();
    world.write("sub/s.jsonl", session("there"));
    assert_eq!(
        world.ok(&["-C", "sub", "-s", "s.jsonl", "rev-parse", "@"]),
        "there-entry\n"
    );
    let ran = world.read(&["-C", "none", "rev-parse", "@"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
    assert!(
        ran.stderr.starts_with("error: cannot enter 'none': "),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let world = World::new();
    let ran = world.read(&["-s", "./none.jsonl", "log"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
    assert!(
        ran.stderr.starts_with("error: cannot open '/"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("/none.jsonl': "), "{}", ran.stderr);
}

#[test]
fn with_json_every_line_on_stderr_is_an_object() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    for (args, exit, kind) in [
        (&["log", "nobody"][..], 128, "no-revision"),
        (&["log", "a b"], 2, "revision-syntax"),
        (&["log", "--since", "x"], 2, "usage"),
        (&["log", "--graph", "--reverse"], 2, "usage"),
        (&["frobnicate"], 2, "usage"),
        (&["-s", "./none.jsonl", "log"], 128, "io"),
        (&["-s", ".", "log"], 128, "no-session"),
        (&["-s", "./", "log"], 128, "not-a-session"),
        (&["rev-parse", "good^{"], 2, "revision-syntax"),
        (&["rev-parse", "@^{/(}"], 2, "usage"),
    ] {
        let args: Vec<_> = ["--json"].iter().chain(args).copied().collect();
        let mut command = world.command(&args);
        let output = command.env("PIS_SESSION", &file).output().unwrap();
        let ran = crate::common::ran(&output);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (exit, ""),
            "{args:?}: {}",
            ran.stderr
        );
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        let line: Value = serde_json::from_str(&ran.stderr).unwrap();
        let error = &line["error"];
        let fields = crate::common::fields(error);
        assert_eq!(fields, ["exit", "hint", "kind", "message", "retryable"]);
        assert_eq!(
            (&error["exit"], &error["kind"]),
            (&json!(exit), &json!(kind)),
            "{args:?}"
        );
        assert_eq!(error["retryable"], json!(false));
    }
    world.write("s.jsonl", session("s") + "42\n");
    let ran = world.read(&["-s", "s.jsonl", "--json", "log"]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (0, 1));
    let note: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(crate::common::fields(&note), ["note"]);
    assert_eq!(crate::common::fields(&note["note"]), ["kind", "message"]);
    assert_eq!(note["note"]["kind"], "not-an-object");
}

#[test]
fn colour_is_a_choice() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let run = |args: &[&str], vars: &[(&str, &str)]| {
        let args: Vec<_> = ["-s", &file].iter().chain(args).copied().collect();
        let output = world
            .command(&args)
            .envs(vars.iter().copied())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().contains('\u{1b}')
    };
    let forced = [("CLICOLOR_FORCE", "1")];
    for (args, vars, colour) in [
        (&["log"][..], &[][..], false),
        (&["--color=always", "log"], &[], true),
        (&["--color=always", "tree"], &[("NO_COLOR", "1")], true),
        (&["log"], &forced, true),
        (&["tree"], &forced, true),
        (&["--color=never", "log"], &forced, false),
        (
            &["log"],
            &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
            false,
        ),
        (&["log"], &[("CLICOLOR_FORCE", "0")], false),
        // Plumbing and JSON never are.
        (&["--color=always", "rev-path"], &forced, false),
        (&["--color=always", "ls-entries"], &forced, false),
        (&["--color=always", "for-each-label"], &forced, false),
        (&["--color=always", "context"], &forced, false),
        (&["--color=always", "cat-entry", "-p", "@"], &forced, false),
        (&["--color=always", "--json", "log"], &forced, false),
    ] {
        assert_eq!(run(args, vars), colour, "{args:?} {vars:?}");
    }
    let plain = world.ok(&["-s", &file, "log", "--graph"]);
    let painted = world.ok(&["-s", &file, "--color=always", "log", "--graph"]);
    let escapes = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    let trimmed = |text: &str| {
        text.lines()
            .map(str::trim_end)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(trimmed(&escapes.replace_all(&painted, "")), trimmed(&plain));
}

#[test]
fn help_and_version_are_for_stdout() {
    let world = World::new();
    assert_eq!(
        world.ok(&["--version"]),
        format!("pis {}\n", env!("CARGO_PKG_VERSION"))
    );
    let help = world.ok(&["--help"]);
    for command in [
        "log",
        "tree",
        "cat-entry",
        "rev-parse",
        "rev-path",
        "merge-base",
        "ls-entries",
        "for-each-label",
        "for-each-tip",
        "context",
        "init",
        "completions",
    ] {
        assert!(help.contains(command), "{command}");
        assert!(
            world.ok(&[command, "--help"]).contains("Examples:"),
            "{command}"
        );
    }
    for args in [&["frobnicate"][..], &["log", "--frobnicate"]] {
        let ran = world.read(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    use std::io::Read;
    let world = World::new();
    let mut build = Build::new().user("e0", "", "x");
    for n in 1..4000 {
        build = build.user(
            &format!("e{n}"),
            &format!("e{}", n - 1),
            &"long ".repeat(20),
        );
    }
    world.write("s.jsonl", build.text());
    for args in [
        &["log"][..],
        &["--json", "log"],
        &["tree"],
        &["context"],
        &["rev-path", "--entries"],
    ] {
        let args: Vec<_> = ["-s", "s.jsonl"].iter().chain(args).copied().collect();
        let mut command = world.command(&args);
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(
            output.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

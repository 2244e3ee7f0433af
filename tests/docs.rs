//! The manual pages, the completions and the README are what the program says and does.
//!
//! `PIS_UPDATE_DOCS=1 cargo test docs` rewrites them.
#![expect(
    clippy::disallowed_methods,
    reason = "it has a setting of its own, and a shell needs PATH"
)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use regex::Regex;

use crate::common::{Ran, World, fixture, ran};
use pis::cli::manual::{self, Block};

/// When the manual was last looked at as a whole.
const DATE: &str = "2026-11-30";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Compares a committed file with what it should be, or writes it.
fn check(path: &str, wanted: &str) {
    let file = root().join(path);
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    if found == wanted {
        return;
    }
    if std::env::var_os("PIS_UPDATE_DOCS").is_some() {
        std::fs::write(&file, wanted).expect("the package can be written to");
        return;
    }
    let number = found
        .lines()
        .zip(wanted.lines())
        .take_while(|(a, b)| a == b)
        .count();
    let line = |text: &str| text.lines().nth(number).unwrap_or("(the end)").to_owned();
    panic!(
        "{path} is stale from line {}: {:?} should be {:?}\nPIS_UPDATE_DOCS=1 cargo test docs",
        number + 1,
        line(&found),
        line(wanted),
    );
}

/// The commands, each as clap knows it before the global options are put into it.
fn commands() -> Vec<clap::Command> {
    let all = pis::cli::command();
    let named = all.get_subcommands().map(|command| {
        let name = command.get_name();
        let (dashed, spaced) = (format!("pis-{name}"), format!("pis {name}"));
        command
            .clone()
            .display_name(dashed)
            .bin_name(spaced)
            .disable_help_flag(true)
    });
    named.collect()
}

/// The lines under `Examples:`, without what is said about them.
fn examples(command: &clap::Command) -> Vec<String> {
    let help = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let lines = help
        .lines()
        .skip_while(|line| line.trim() != "Examples:")
        .skip(1);
    lines
        .take_while(|line| line.starts_with("  "))
        .map(|line| {
            line.trim()
                .split("   ")
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

// Manual pages.

/// Text as roff reads it back, what stands between backticks in bold.
fn roff(text: &str) -> String {
    static PAGE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(pis[a-z-]*)\(([1-8])\)").expect("a regex"));
    let mut out = String::new();
    for (nth, part) in text.split('`').enumerate() {
        let escaped = escape(part);
        if nth % 2 == 1 {
            let _ = write!(out, r"\fB{escaped}\fR");
        } else {
            out.push_str(
                &PAGE
                    .replace_all(&escaped.replace(r"\-", "-"), r"\fB$1\fR($2)")
                    .replace('-', r"\-"),
            );
        }
    }
    guard(&out)
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str(r"\e"),
            '-' => out.push_str(r"\-"),
            '\'' => out.push_str(r"\(aq"),
            '`' => out.push_str(r"\(ga"),
            '^' => out.push_str(r"\(ha"),
            '~' => out.push_str(r"\(ti"),
            c => out.push(c),
        }
    }
    out
}

/// A line that begins so would be a request.
fn guard(line: &str) -> String {
    if line.starts_with(['.', '\'']) {
        format!(r"\&{line}")
    } else {
        line.to_owned()
    }
}

fn heading(page: &mut String, title: &str) {
    let _ = writeln!(page, ".SH \"{title}\"");
}

/// Lines as they are.
fn verbatim(page: &mut String, lines: &[String]) {
    page.push_str(".EX\n");
    for line in lines {
        let _ = writeln!(page, "{}", guard(&escape(line)));
    }
    page.push_str(".EE\n");
}

/// What `clap_mangen` makes of a command: title, name, and the options.
fn title_and_name(man: &clap_mangen::Man) -> String {
    let mut bytes = b".\\\" Made by tests/docs.rs from the program itself; see there.\n".to_vec();
    man.render_title(&mut bytes).expect("memory");
    let mut name = Vec::new();
    man.render_name_section(&mut name).expect("memory");
    String::from_utf8(bytes).expect("UTF-8") + &without_preamble(name)
}

fn options(man: &clap_mangen::Man) -> String {
    let mut bytes = Vec::new();
    man.render_options_section(&mut bytes).expect("memory");
    let text = without_preamble(bytes);
    // Two breaks around an empty line are no space that all formatters make.
    let text = text.replace(".br\n\n.br\n", ".sp\n");
    let parts = text.split('`').enumerate();
    let bold = parts.map(|(nth, part)| {
        if nth % 2 == 1 {
            format!(r"\fB{part}\fR")
        } else {
            part.to_owned()
        }
    });
    bold.collect()
}

/// Every part that is made on its own defines the apostrophe again.
fn without_preamble(bytes: Vec<u8>) -> String {
    let text = String::from_utf8(bytes).expect("UTF-8");
    let lines = text
        .lines()
        .filter(|l| !l.starts_with(".ie ") && !l.starts_with(".el "));
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn synopsis(page: &mut String, command: &mut clap::Command) {
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let name = command.get_bin_name().unwrap_or("pis").to_owned();
    let rest = usage.strip_prefix(&name).unwrap_or(usage);
    heading(page, "SYNOPSIS");
    let _ = writeln!(page, r"\fB{}\fR{}", escape(&name), escape(rest));
}

/// The help above the options, but for its first line, which is the page's name.
fn description(page: &mut String, command: &clap::Command) {
    let about = command
        .get_long_about()
        .or(command.get_about())
        .expect("a summary")
        .to_string();
    let mut paragraphs: Vec<&str> = about.split("\n\n").collect();
    if paragraphs.len() > 1 {
        paragraphs.remove(0);
    }
    heading(page, "DESCRIPTION");
    for (nth, paragraph) in paragraphs.into_iter().enumerate() {
        let lead = if nth > 0 { ".PP\n" } else { "" };
        let end = if paragraph.ends_with('.') { "" } else { "." };
        let _ = writeln!(page, "{lead}{}{end}", roff(&paragraph.replace('\n', " ")));
    }
}

fn man(command: clap::Command) -> clap_mangen::Man {
    let version = concat!("pis ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command)
        .date(DATE)
        .source(version)
        .manual("pis manual")
}

/// The sections that are neither options nor examples.
fn sections(page: &mut String, sections: Vec<manual::Section>) {
    for section in sections {
        heading(page, section.title);
        let mut is_first = true;
        for block in section.blocks {
            match block {
                Block::Text(text) => {
                    let lead = if is_first { "" } else { ".PP\n" };
                    let _ = writeln!(page, "{lead}{}", roff(text));
                }
                Block::Heading(title) => {
                    let _ = writeln!(page, ".SS {title}");
                }
                Block::List(items) => {
                    for (term, meaning) in items {
                        let (term, meaning) = (guard(&escape(term)), roff(meaning));
                        let _ = writeln!(page, ".TP\n\\fB{term}\\fR\n{meaning}.");
                    }
                }
            }
            is_first = matches!(block, Block::Heading(_));
        }
    }
}

/// The page of one command.
fn command_page(mut command: clap::Command) -> String {
    let man = man(command.clone());
    let mut page = title_and_name(&man);
    synopsis(&mut page, &mut command);
    description(&mut page, &command);
    page.push_str(&options(&man));
    page.push_str(".PP\nOptions that every command has, such as ");
    page.push_str("\\fB\\-s\\fR and \\fB\\-\\-json\\fR, are described in \\fBpis\\fR(1).\n");
    sections(&mut page, manual::sections_of(command.get_name()));
    heading(&mut page, "EXAMPLES");
    verbatim(&mut page, &examples(&command));
    heading(&mut page, "SEE ALSO");
    page.push_str(".BR pis (1),\n.BR pisrevisions (7)\n");
    page
}

/// The page of the program.
fn main_page() -> String {
    let mut command = pis::cli::command();
    let man = man(command.clone());
    let mut page = title_and_name(&man);
    synopsis(&mut page, &mut command);
    description(&mut page, &command);
    page.push_str(&options(&man));
    heading(&mut page, "COMMANDS");
    page.push_str("Each has a page of its own.\n");
    for sub in commands() {
        let about = sub.get_about().expect("a summary").to_string();
        let name = escape(&format!("pis-{}", sub.get_name()));
        let _ = writeln!(page, ".TP\n.BR {name} (1)\n{}.", roff(&about));
    }
    sections(&mut page, manual::sections());
    heading(&mut page, "EXAMPLES");
    verbatim(&mut page, &examples(&command));
    heading(&mut page, "SEE ALSO");
    page.push_str(".BR pisrevisions (7),\n.BR pis-cookbook (7),\n.BR pis-session (5)\n");
    page
}

#[test]
fn manual_pages_are_what_the_program_says() {
    check("man/pis.1", &main_page());
    let mut made = vec!["pis.1".to_owned()];
    for command in commands() {
        let name = format!("pis-{}.1", command.get_name());
        check(&format!("man/{name}"), &command_page(command));
        made.push(name);
    }
    for file in std::fs::read_dir(root().join("man")).expect("the manual") {
        let name = file
            .expect("a file of it")
            .file_name()
            .into_string()
            .expect("a name");
        assert!(
            made.contains(&name) || !name.ends_with(".1"),
            "man/{name} is the page of no command"
        );
    }
}

#[test]
fn manual_pages_are_well_formed() {
    if !is_there("mandoc", "-Tlint -Wwarning man/pisrevisions.7") {
        return;
    }
    for file in std::fs::read_dir(root().join("man")).expect("the manual") {
        let path = file.expect("a file of it").path();
        let mut mandoc = Command::new("mandoc");
        let output = mandoc
            .args(["-Tlint", "-Wwarning"])
            .arg(&path)
            .output()
            .expect("it runs");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "",
            "{}",
            path.display()
        );
    }
}

/// Whether a program that not every machine has is here; says so if it is not.
fn is_there(program: &str, args: &str) -> bool {
    let mut command = Command::new(program);
    command.args(args.split(' ')).current_dir(root());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if command.status().is_ok() {
        return true;
    }
    let _ = writeln!(
        std::io::stderr(),
        "docs: {program} is not installed, its part is skipped"
    );
    false
}

// What the manual lists, and what the program says.

/// What a regular expression finds in the sources, its first group.
fn in_sources(regex: &str, dirs: &[&str]) -> Vec<String> {
    let regex = Regex::new(regex).expect("a regex");
    let mut found = Vec::new();
    let mut rest: Vec<PathBuf> = dirs
        .iter()
        .map(|dir| root().join("src").join(dir))
        .collect();
    while let Some(path) = rest.pop() {
        if path.is_dir() {
            rest.extend(
                std::fs::read_dir(path)
                    .expect("a room")
                    .flatten()
                    .map(|e| e.path()),
            );
        } else {
            let text = std::fs::read_to_string(path).expect("a source");
            found.extend(regex.captures_iter(&text).map(|c| c[1].to_owned()));
        }
    }
    assert!(!found.is_empty(), "nothing matches {regex}");
    found
}

#[test]
fn the_manual_lists_every_kind_of_note_and_error() {
    let sections = manual::sections();
    let section = sections
        .iter()
        .find(|s| s.title == "NOTES AND ERRORS")
        .expect("the section");
    let listed: Vec<&str> = section
        .blocks
        .iter()
        .flat_map(|block| match block {
            Block::List(items) => items.iter().map(|(kind, _)| *kind).collect(),
            _ => Vec::new(),
        })
        .collect();
    let mut said = in_sources(
        r#"Error::\w+(?: \{ \.\. \}|\(_\)) => "([a-z-]+)""#,
        &["error.rs"],
    );
    said.extend(in_sources(
        r#"\.note\(\s*"([a-z-]+)""#,
        &["cli", "cmd", "ui"],
    ));
    said.extend(in_sources(
        r#"(?m)^    "([a-z]+-[a-z-]+)",$"#,
        &["ui/notices.rs"],
    ));
    for kind in said {
        assert!(
            listed.contains(&&*kind),
            "'{kind}' is not in src/cli/manual.rs"
        );
    }
}

#[test]
fn help_has_summary_options_and_examples() {
    for mut command in commands() {
        let name = command.get_name().to_owned();
        let summary = command.get_about().expect("a summary").to_string();
        assert!(
            !summary.ends_with('.') && summary.len() < 80,
            "{name}: {summary}"
        );
        let found = examples(&command);
        assert!(found.len() >= 2, "{name} has {} examples", found.len());
        assert!(
            found.iter().any(|e| e.contains(&format!("pis {name}"))),
            "{name}"
        );
        for arg in command.get_arguments() {
            assert!(
                arg.get_help().is_some(),
                "{name}: '{}' has no help",
                arg.get_id()
            );
        }
        let help = command.render_long_help().to_string();
        let has_arguments = command.get_arguments().next().is_some();
        assert!(
            !has_arguments || help.contains("Options:") || help.contains("Arguments:"),
            "{help}"
        );
    }
}

// Completions.

#[test]
fn completions_are_what_the_program_prints() {
    let world = World::new();
    for (shell, file) in [("bash", "pis.bash"), ("zsh", "_pis"), ("fish", "pis.fish")] {
        check(
            &format!("completions/{file}"),
            &world.ok(&["completions", shell]),
        );
    }
}

/// What is offered for the last word of a line.
fn completed(world: &World, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let mut command = world.command(&["--", "pis"]);
    command.args(&words).env("COMPLETE", "fish");
    let ran = ran(&command.output().expect("pis runs"));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}");
    let words = ran
        .stdout
        .lines()
        .map(|l| l.split('\t').next().unwrap_or_default().to_owned());
    words.filter(|word| !word.starts_with('-')).collect()
}

#[test]
fn commands_labels_ids_and_sessions_complete() {
    let world = prepared();
    let torn = "{\"type\":\"session\",\"version\":3,\"id\":\"t\"}\n{\"ty";
    world.write("torn.jsonl", torn);
    world.write("other.txt", "text");
    for (line, wanted) in [
        ("rev-p", &["rev-parse", "rev-path"][..]),
        ("cat-entry pl", &["plans"]),
        ("cat-entry label:", &["label:plans", "label:good"]),
        ("cat-entry @", &["@", "@%", "@{tip}"]),
        ("cat-entry 840e", &["840e16a9"]),
        ("rev-path plans..go", &["plans..good"]),
        ("log old.jsonl:pl", &["old.jsonl:plans"]),
        ("-s old.jsonl log pl", &["plans"]),
        ("-s torn.jsonl log pl", &[]),
        ("-s nowhere.jsonl log pl", &[]),
        ("-s - log pl", &[]),
        ("-C / log pl", &[]),
        ("-s 019a", &["019a84c2-5b1e-7c40-9d3a-6f2e8b7a1c55"]),
        ("-s to", &["torn.jsonl"]),
        ("context --as l", &["llm"]),
    ] {
        assert_eq!(completed(&world, line), wanted, "{line}");
    }
}

// Examples.

/// A world with a session, as the examples expect it.
fn prepared() -> World {
    let world = World::new();
    let session = std::fs::read(fixture("branched.jsonl")).expect("the fixture");
    let png = b"\x89PNG\r\n\x1a\n";
    world.write("shot.png", png);
    world.write("old.jsonl", &session);
    world.write(
        "old-v1.jsonl",
        std::fs::read(fixture("v1.jsonl")).expect("the fixture"),
    );
    world.write(
        "messages.json",
        "{\"role\":\"user\",\"content\":\"Go on\"}\n{\"other\":1}\n",
    );
    world.ok(&["init", "-q", "--name", "three plans"]);
    let place = world.ok(&["init", "-q"]);
    std::fs::write(place.trim(), &session).expect("the session");
    // Somewhere to go back to.
    world.ok(&["set-leaf", "-q", "good"]);
    world.ok(&["set-leaf", "-q", "root@{tip}"]);
    world.write("tests/fixtures/branched.jsonl", &session);
    for dir in [
        ".local/share/bash-completion/completions",
        ".zfunc",
        ".config/fish/completions",
    ] {
        std::fs::create_dir_all(world.home().join(dir)).expect("a directory");
    }
    world
}

/// Runs a line in a shell that finds the built program.
fn shell(world: &World, line: &str) -> Ran {
    let pis = world.command(&[]);
    let bin = Path::new(pis.get_program())
        .parent()
        .expect("a directory")
        .to_owned();
    let mut paths = vec![bin];
    paths.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    let mut sh = Command::new("sh");
    sh.args(["-c", line])
        .current_dir(world.work())
        .env_clear()
        .stdin(Stdio::null());
    for (name, value) in pis.get_envs() {
        sh.env(name, value.unwrap_or_default());
    }
    sh.env("PATH", std::env::join_paths(paths).expect("directories"));
    ran(&sh.output().expect("a shell runs"))
}

/// Runs an example, which must not fail. Where it says what happens on a no, either is right.
fn run_example(world: &World, line: &str, whose: &str) -> String {
    let ran = shell(world, line);
    let right = ran.code == 0 && !ran.stderr.contains("error:");
    assert!(right || line.contains("||"), "{whose}: {line}\n{ran:?}");
    ran.stdout
}

fn has_jq() -> bool {
    static HAS_JQ: LazyLock<bool> = LazyLock::new(|| is_there("jq", "--version"));
    *HAS_JQ
}

#[test]
fn examples_of_the_help_run() {
    let mut all = vec![pis::cli::command()];
    all.extend(commands());
    for command in all {
        for line in examples(&command) {
            if has_jq() || !line.contains("jq") {
                run_example(&prepared(), &line, command.get_name());
            }
        }
    }
}

/// A line of a text without what passes with time: ages, and the columns they take.
fn timeless(text: &str) -> String {
    static AGE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(now|\d+(m|h|d|mo|y))$").expect("a regex"));
    let lines = text.lines().map(|line| {
        let words = line.split_whitespace().filter(|word| !AGE.is_match(word));
        words.collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// In blocks marked `console`, commands behind `$ ` print the lines that follow; blocks marked
/// `sh` run. The program as the README builds it is the one that was built for the tests.
#[test]
fn the_readme_is_true() {
    let path = root().join("README.md");
    let text = std::fs::read_to_string(&path).expect("a README");
    let mut wanted = String::new();
    let mut block: Option<(&str, String)> = None;
    for line in text.lines() {
        match (&mut block, line.strip_prefix("```")) {
            (None, Some(kind)) => {
                block = Some((kind, String::new()));
                let _ = writeln!(wanted, "{line}");
            }
            (None, None) => {
                let _ = writeln!(wanted, "{line}");
            }
            (Some((_, body)), None) => {
                let _ = writeln!(body, "{line}");
            }
            (Some((kind, body)), Some(_)) => {
                let run = has_jq() || !body.contains("jq");
                match *kind {
                    "console" if run => wanted.push_str(&console(body)),
                    "sh" if run => {
                        run_example(&prepared(), &as_built(body), "README.md");
                        wanted.push_str(body);
                    }
                    _ => wanted.push_str(body),
                }
                let _ = writeln!(wanted, "```");
                block = None;
            }
        }
    }
    check("README.md", &wanted);
}

fn as_built(text: &str) -> String {
    text.replace("cargo run --release --", "pis")
}

/// A block of commands with their output as it is now, but for ages.
fn console(body: &str) -> String {
    let world = prepared();
    let mut wanted = String::new();
    for part in body
        .split_inclusive('\n')
        .collect::<Vec<_>>()
        .chunk_by(|_, b| !b.starts_with("$ "))
    {
        let (line, said) = (part[0], part[1..].concat());
        let command = as_built(line.trim_start_matches("$ ").trim());
        wanted.push_str(line);
        if command.starts_with("cargo ") {
            wanted.push_str(&said);
            continue;
        }
        // Wide enough for nothing to be cut.
        let now = run_example(
            &world,
            &format!("export COLUMNS=100; {command}"),
            "README.md",
        );
        let same = timeless(&now) == timeless(&said);
        wanted.push_str(if same { &said } else { &now });
    }
    wanted
}

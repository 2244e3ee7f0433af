//! Guards the layers that `src/lib.rs` describes: the rooms are in an order, a room imports from
//! rooms before it, and the core knows nothing of terminals, arguments, environment or clock.
//!
//! The tables are the rule; what breaks it has a row that says why, and a row that is not needed
//! any more fails, too. Tests inside a room may use what they like.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms, each before those that may import from it. An entry of `src` that is not here fails.
const ROOMS: &[&str] = &[
    "time", "json", "error", "entry", "store", "tree", "session", "follow", "search", "rev",
    "check", "context", "stats", "write", "repair", "ui", "cli", "cmd",
];

/// The first room that belongs to what people see; those before it are the core.
const FIRST_OF_EDGE: &str = "ui";

/// What the core may not name. (How long something takes it may measure: a lock has a time limit.)
const FORBIDDEN_IN_CORE: &[&str] = &[
    "anstream",
    "clap",
    "clap_complete",
    "dialoguer",
    "indicatif",
    "owo_colors",
    "terminal_size",
    "tokio",
    "std::env",
    "env::",
    "io::stdin",
    "io::stdout",
    "io::stderr",
    "process::Command",
    "process::exit",
    "print!",
    "println!",
    "eprint!",
    "eprintln!",
    "SystemTime::now",
    "Timestamp::now",
    "Zoned::now",
    "uuid::",
];

/// Imports from a later room: the file, what it names, and why that stands.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "src/error.rs",
        "rev::syntax::SyntaxError",
        "the error of every room, this one's among them",
    ),
    (
        "src/ui/mod.rs",
        "cli::Terminal",
        "what cli/context.rs saw of the terminal",
    ),
    (
        "src/ui/mod.rs",
        "cli::args",
        "the options that say what output looks like",
    ),
    (
        "src/ui/format.rs",
        "cli::Failure",
        "a template that cannot be read is a usage error",
    ),
    (
        "src/cli/args.rs",
        "cmd::{plumbing, porcelain}",
        "the list of commands",
    ),
];

/// Lines a file may have.
const LONGEST: usize = 800;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files of a directory that end in `.rs`, by their paths in the package.
fn sources(dir: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut dirs = vec![root().join(dir)];
    while let Some(dir) = dirs.pop() {
        for file in fs::read_dir(&dir).expect("a directory of the package") {
            let path = file.expect("an entry of it").path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let path = path.strip_prefix(root()).expect("inside the package");
                found.push(path.to_str().expect("a name in UTF-8").replace('\\', "/"));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "{dir} has no files");
    found
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

/// The code of a file: no comments, no texts between quotes, no tests at its end.
fn code(path: &str) -> String {
    let text = read(path);
    let text = text
        .split("\n#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or_default();
    let mut out = String::new();
    for line in text.lines() {
        let line = line.split_once("//").map_or(line, |(code, _)| code);
        // Good enough for the code of this package: every other piece is inside quotes.
        let line = line.replace("\\\"", "").replace("'\"'", "");
        out.extend(line.split('"').step_by(2).flat_map(|piece| [piece, " "]));
        out.push('\n');
    }
    out
}

/// Whether the code names something, as whole words.
fn names(code: &str, what: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(what).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + what.len()..].chars().next();
        let starts = before.is_none_or(|c| !is_word(c));
        starts && (!what.ends_with(is_word) || after.is_none_or(|c| !is_word(c)))
    })
}

/// The room that a file of `src` is in.
fn room(path: &str) -> &str {
    let inside = path.strip_prefix("src/").expect("a file of the source");
    let name = inside.split('/').next().unwrap_or_default();
    name.strip_suffix(".rs").unwrap_or(name)
}

/// How many `super::` lead from a file to the root of the crate.
fn depth(path: &str) -> usize {
    let inside = path.strip_prefix("src/").expect("a file of the source");
    let levels = inside.split('/').count();
    if Path::new(path).file_name().is_some_and(|n| n == "mod.rs") {
        levels - 1
    } else {
        levels
    }
}

/// What the code names of the crate, as paths from its root: `rev::syntax::Rev`.
fn imports(path: &str) -> BTreeSet<String> {
    let code = code(path);
    let mut found = BTreeSet::new();
    for prefix in ["crate::".to_owned(), "super::".repeat(depth(path))] {
        for (at, _) in code.match_indices(&prefix) {
            let is_part = code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
            // `$crate::` does not occur; a longer chain of `super` would not compile.
            if is_part {
                continue;
            }
            let rest = &code[at + prefix.len()..];
            let end = rest.find(|c: char| !c.is_alphanumeric() && !"_:".contains(c));
            let mut name = rest[..end.unwrap_or(rest.len())].to_owned();
            if let Some(group) = rest[name.len()..].strip_prefix('{') {
                let group = group.split('}').next().unwrap_or_default();
                if name.is_empty() {
                    // `crate::{a, b}`: each names a room.
                    found.extend(group.split(',').map(|n| n.trim().to_owned()));
                    continue;
                }
                name.push_str(&format!("{{{}}}", group.trim()));
            }
            found.insert(name);
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

fn place(room: &str) -> usize {
    let place = ROOMS.iter().position(|r| *r == room);
    place.unwrap_or_else(|| panic!("'{room}' has no place among the rooms of tests/layers.rs"))
}

#[test]
fn a_room_imports_from_rooms_before_it() {
    let mut wrong = Vec::new();
    let mut needed = BTreeSet::new();
    for path in sources("src") {
        if matches!(path.as_str(), "src/lib.rs" | "src/main.rs") {
            continue;
        }
        let here = place(room(&path));
        for import in imports(&path) {
            let name = import.split([':', '{']).next().unwrap_or_default();
            if place(name) <= here {
                continue;
            }
            let row = EXCEPTIONS
                .iter()
                .position(|(file, what, _)| *file == path && import.starts_with(what));
            match row {
                Some(row) => {
                    needed.insert(row);
                }
                None => wrong.push(format!("{path} imports {import}, which is in a later room")),
            }
        }
    }
    let stale = EXCEPTIONS
        .iter()
        .enumerate()
        .filter(|(row, _)| !needed.contains(row));
    wrong.extend(stale.map(|(_, (file, what, _))| format!("{file} no longer imports {what}")));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_room_is_in_the_table() {
    let declared = code("src/lib.rs");
    let declared: BTreeSet<_> = declared
        .lines()
        .filter_map(|line| line.trim().trim_start_matches("pub ").strip_prefix("mod "))
        .map(|name| name.trim_end_matches([';', ' ']).to_owned())
        .collect();
    assert_eq!(
        declared,
        ROOMS.iter().map(|room| (*room).to_owned()).collect()
    );
}

#[test]
fn the_core_knows_nothing_of_the_outside() {
    let edge = place(FIRST_OF_EDGE);
    let mut wrong = Vec::new();
    for path in sources("src") {
        let is_core = !matches!(path.as_str(), "src/lib.rs" | "src/main.rs");
        if !is_core || place(room(&path)) >= edge {
            continue;
        }
        let code = code(&path);
        let named = FORBIDDEN_IN_CORE.iter().filter(|what| names(&code, what));
        wrong.extend(named.map(|what| format!("{path} names {what}")));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn only_one_file_looks_at_environment_and_clock() {
    const OUTSIDE: &[&str] = &[
        "env::var",
        "env::var_os",
        "env::vars",
        "env::vars_os",
        "env::current_dir",
        "env::home_dir",
        "env::set_current_dir",
        "env::temp_dir",
        "SystemTime::now",
        "Timestamp::now",
        "Zoned::now",
    ];
    // What the shell's own script says to the completer is of no use to anything else.
    let excepted = |path: &str, what: &str| path == "src/cli/complete.rs" && what == "env::var_os";
    let mut wrong = Vec::new();
    for path in sources("src")
        .iter()
        .filter(|path| *path != "src/cli/context.rs")
    {
        let code = code(path);
        let named = OUTSIDE
            .iter()
            .filter(|what| names(&code, what) && !excepted(path, what));
        wrong.extend(named.map(|what| format!("{path} names {what}")));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for_and_is_short() {
    let mut wrong = Vec::new();
    for path in ["src", "tests", "benches"].into_iter().flat_map(sources) {
        let text = read(&path);
        if !text.starts_with("//! ") {
            wrong.push(format!("{path} does not open with what it is for"));
        }
        let lines = text.lines().count();
        if lines > LONGEST {
            wrong.push(format!("{path} has {lines} lines"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_guard_sees_what_it_looks_for() {
    assert!(names("use clap::Args;", "clap") && !names("let clapped = 1;", "clap"));
    assert!(names("println!(x)", "println!") && !names("eprintln!(x)", "println!"));
    assert_eq!(
        (
            depth("src/a.rs"),
            depth("src/a/mod.rs"),
            depth("src/a/b.rs")
        ),
        (1, 1, 2)
    );
    assert_eq!((room("src/a.rs"), room("src/a/b/c.rs")), ("a", "a"));
    assert!(
        imports("src/session.rs")
            .iter()
            .any(|name| name.starts_with("store::header"))
    );
}

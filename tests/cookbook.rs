//! The recipes of `man/pis-cookbook.7`: each example is run as it stands there and leaves what the
//! page says. A model has no part in it: `pi` is a stand-in.
#![cfg(unix)]
#![expect(
    clippy::disallowed_methods,
    reason = "the recipes run with the outer PATH"
)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Ran, World, fixture, ran};

/// Appends a prompt and an answer where pi would: below the last entry of the file, whatever place
/// pis has noted beside it.
const PI: &str = r#"#!/bin/sh -eu
[ "$1" = --session ] && [ "$3" = -p ] && [ $# = 4 ]
last=$(pis -s "$2" ls-entries | tail -n 1)
pis -s "$2" append -q --force --parent "id:$last" --user "$4" --assistant "Answer to: $4" > /dev/null
echo "Answer to: $4"
"#;

/// An example, and the recipe it belongs to.
struct Example {
    recipe: String,
    script: String,
}

/// What stands between `.EX` and `.EE`, as a formatter shows it.
fn examples() -> Vec<Example> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("man/pis-cookbook.7");
    let page = std::fs::read_to_string(path).expect("the page");
    let mut found = Vec::new();
    let (mut recipe, mut script) = (String::new(), None::<String>);
    for line in page.lines() {
        match (&mut script, line) {
            (None, ".EX") => script = Some(String::new()),
            (None, line) => {
                if let Some(title) = line.strip_prefix(".SS ") {
                    title.clone_into(&mut recipe);
                }
            }
            (Some(_), ".EE") => {
                let (recipe, script) = (recipe.clone(), script.take().expect("an example"));
                found.push(Example { recipe, script });
            }
            (Some(script), line) => {
                script.push_str(&as_shown(line));
                script.push('\n');
            }
        }
    }
    found
}

fn as_shown(line: &str) -> String {
    let mut line = line.strip_prefix(r"\&").unwrap_or(line).to_owned();
    for (escape, shown) in [
        (r"\-", "-"),
        (r"\(aq", "'"),
        (r"\(ga", "`"),
        (r"\(ha", "^"),
        (r"\(ti", "~"),
        (r"\e", "\\"),
    ] {
        line = line.replace(escape, shown);
    }
    line
}

/// A session of that name, and a directory with the stand-in.
fn prepared() -> World {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let session = std::fs::read(fixture("branched.jsonl")).expect("the fixture");
    world.write("session.jsonl", &session);
    // One whose newest line was glued to the one before.
    let text = String::from_utf8(session).expect("UTF-8");
    let (start, end) = text.trim_end().rsplit_once('\n').expect("lines");
    world.write("broken.jsonl", format!("{start}{end}\n"));
    let pi = world.write("bin/pi", PI);
    std::fs::set_permissions(pi, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    world
}

/// Runs a script; pi is the stand-in, pis the program that was built.
fn shell(world: &World, script: &str, vars: &[(&str, &str)]) -> Ran {
    let pis = world.command(&[]);
    let built = Path::new(pis.get_program())
        .parent()
        .expect("a directory")
        .to_owned();
    let mut dirs: Vec<PathBuf> = vec![world.path("bin"), built];
    dirs.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    let mut sh = Command::new("sh");
    sh.args(["-eu", "-c", script])
        .current_dir(world.work())
        .env_clear()
        .stdin(Stdio::null());
    for (name, value) in pis.get_envs() {
        sh.env(name, value.unwrap_or_default());
    }
    sh.env("PATH", std::env::join_paths(dirs).expect("directories"))
        .envs(vars.iter().copied());
    ran(&sh.output().expect("a shell runs"))
}

fn has_jq() -> bool {
    let mut jq = Command::new("jq");
    jq.arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let is_there = jq.status().is_ok();
    if !is_there {
        let said = "cookbook: jq is not installed, the recipes that use it are skipped";
        let _ = writeln!(std::io::stderr(), "{said}");
    }
    is_there
}

/// Runs the nth example of a recipe, which must not fail; `None` where jq is missing.
fn run(recipe: &str, nth: usize, vars: &[(&str, &str)]) -> Option<(World, Ran)> {
    let of_it = |e: &Example| e.recipe == recipe;
    let example = examples().into_iter().filter(of_it).nth(nth).expect(recipe);
    if example.script.contains("jq ") && !has_jq() {
        return None;
    }
    let world = prepared();
    let ran = shell(&world, &example.script, vars);
    assert_eq!(ran.code, 0, "{}\n{ran:?}", example.script);
    Some((world, ran))
}

/// Runs pis on the session of the recipes.
fn pis(world: &World, args: &[&str]) -> String {
    world.ok(&[&["-s", "session.jsonl"], args].concat())
}

const OLD_LEAF: &str = "f4b8236e";

#[test]
fn three_answers_to_one_question() {
    let (world, ran) = run("Three answers to one question", 0, &[]).expect("no jq is needed");
    for plan in ["A", "B", "C"] {
        let label = format!("plan-{plan}");
        let answer = format!("Answer to: Follow plan {plan}\n");
        assert_eq!(pis(&world, &["cat-entry", "--text", &label]), answer);
        assert_eq!(pis(&world, &["merge-base", &label, "plans"]), "0fa4a08e\n");
        // Each is a branch of its own: marker, prompt, answer.
        assert_eq!(
            pis(&world, &["rev-path", "--count", &format!("plans..{label}")]),
            "3\n"
        );
        assert!(ran.stdout.contains(&format!("[{label}]")), "{}", ran.stdout);
        assert_eq!(ran.stdout.matches(&answer).count(), 2, "{}", ran.stdout);
    }
    // The two that were there are there still.
    assert_eq!(pis(&world, &["for-each-tip"]).lines().count(), 5);
}

#[test]
fn three_answers_from_elsewhere() {
    let (world, ran) = run("Three answers to one question", 1, &[]).expect("no jq is needed");
    let tips: Vec<_> = ran.stdout.lines().filter(|l| l.contains(' ')).collect();
    assert_eq!(tips.len(), 5, "{}", ran.stdout);
    for id in ran.stdout.lines().take(6) {
        assert_eq!(pis(&world, &["merge-base", id, "plans"]), "0fa4a08e\n");
    }
}

#[test]
fn a_prompt_sent_again() {
    let Some((world, ran)) = run("Send a prompt again, edited", 0, &[]) else {
        return;
    };
    let (new, old) = (
        "Log the session id, never the token",
        "Log the user id, never the token",
    );
    assert_eq!(ran.stdout, format!("Answer to: {new}\n{new}\n{old}\n"));
    assert_eq!(
        pis(&world, &["cat-entry", "--text", "@%"]),
        format!("{new}\n")
    );
    assert_eq!(pis(&world, &["merge-base", "@", OLD_LEAF]), "7a35f8c0\n");

    let Some((world, ran)) = run("Send a prompt again, edited", 1, &[]) else {
        return;
    };
    assert!(
        ran.stdout.contains(new) && !ran.stdout.contains(old),
        "{}",
        ran.stdout
    );
    assert_eq!(
        pis(&world, &["cat-entry", "--text", "@"]),
        format!("{new}\n")
    );
    assert_eq!(pis(&world, &["merge-base", "@", OLD_LEAF]), "7a35f8c0\n");
}

#[test]
fn a_walk_with_jq() {
    let Some((world, ran)) = run("Walk a session with jq", 0, &[]) else {
        return;
    };
    for line in [
        "user: Refactor auth, plans first",
        "assistant: Done: the id, never the token",
        "edit src/auth.rs",
        "bash cargo test",
        "2 label",
        "4 user",
        "Rewrote the module; 5 tests fail",
    ] {
        assert!(
            ran.stdout.lines().any(|l| l == line),
            "{line}: {}",
            ran.stdout
        );
    }
    assert!(
        !ran.stdout.contains("user: Try an aggressive rewrite"),
        "it is on another branch"
    );
    assert!(
        ran.stdout.lines().any(|l| l.starts_with("0.04126")),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stderr, "");
    assert_eq!(
        std::fs::read(world.path("session.jsonl")).expect("it"),
        std::fs::read(fixture("branched.jsonl")).expect("it"),
        "reading changes nothing"
    );
}

#[test]
fn taken_over_and_handed_back() {
    let recipe = "Take over from pi and hand back";
    let (world, ran) = run(recipe, 0, &[]).expect("no jq is needed");
    assert!(
        ran.stdout.contains(": nobody asked for logs"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stdout.lines().last(), Some(OLD_LEAF));
    let bound = pis(&world, &["cat-entry", "--text", "@%", "@"]);
    assert_eq!(
        bound,
        "Write the changelog\nAnswer to: Write the changelog\n"
    );
    assert_eq!(pis(&world, &["merge-base", "@", OLD_LEAF]), "840e16a9\n");

    // Had pi gone on meanwhile, nothing would have happened.
    let script = examples()
        .into_iter()
        .find(|e| e.recipe == recipe)
        .expect("it")
        .script;
    let meddled = script.replacen(
        "pis set-leaf",
        "pis append -q --user meanwhile\npis set-leaf",
        1,
    );
    let world = prepared();
    let ran = shell(&world, &meddled, &[]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(pis(&world, &["cat-entry", "--text", "@"]), "meanwhile\n");
}

#[test]
fn inside_the_agent() {
    let agent = [("PI_SESSION_FILE", "session.jsonl")];
    let Some((world, ran)) = run("From inside the agent", 0, &agent) else {
        return;
    };
    assert_eq!(
        pis(&world, &["rev-parse", "checkpoint"]).trim_end(),
        OLD_LEAF
    );
    assert!(
        ran.stdout.contains("\nRefactor auth, plans first\n"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.ends_with("Answer to: Try it without logs\n"),
        "{}",
        ran.stdout
    );
    let out = std::fs::read_to_string(world.path("out")).expect("what pi said");
    assert_eq!(out, "Answer to: Try it without logs\n");
    // The attempt is in the copy, and the agent's session only has a label more.
    let text = std::fs::read_to_string(world.path("session.jsonl")).expect("it");
    let old = std::fs::read_to_string(fixture("branched.jsonl")).expect("it");
    let more = text.strip_prefix(&old).expect("nothing else changed");
    let label: Value = serde_json::from_str(more).expect("one line");
    assert_eq!(label["label"], "checkpoint");
    // What the page says of the rest.
    let refused = shell(&world, "pis set-leaf good", &agent);
    assert_eq!(refused.code, 128, "{refused:?}");
}

#[test]
fn broken_sessions_healed() {
    let Some((world, ran)) = run("Heal what is broken", 0, &[]) else {
        return;
    };
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{ran:?}");
    assert_eq!(lines[0], "damaged");
    assert!(lines[1].starts_with(OLD_LEAF), "{ran:?}");
    let healed = std::fs::read(world.path("broken.repaired.jsonl")).expect("it");
    assert_eq!(
        healed,
        std::fs::read(fixture("branched.jsonl")).expect("it")
    );
}

#[test]
fn every_example_is_run_here() {
    let all: Vec<String> = examples().into_iter().map(|e| e.recipe).collect();
    let wanted = [
        "Three answers to one question",
        "Three answers to one question",
        "Send a prompt again, edited",
        "Send a prompt again, edited",
        "Walk a session with jq",
        "Take over from pi and hand back",
        "From inside the agent",
        "Heal what is broken",
    ];
    assert_eq!(all, wanted);
    for example in examples() {
        // Lines that ask a model are marked, and no others.
        for line in example.script.lines() {
            let asks = line.trim_start().starts_with("pi ");
            assert_eq!(asks, line.ends_with("# asks a model"), "{line}");
            assert!(line.len() < 78, "{line}");
        }
    }
}

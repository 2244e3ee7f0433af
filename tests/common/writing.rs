//! What tests of writing share: a session to write to, and looks at what was written.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pis::write::Reason;
use serde_json::Value;

use super::{Build, Ran, World, ran};

pub(crate) fn text() -> String {
    Build::new()
        .user("aaaaaaaa", "", "one")
        .assistant("bbbbbbbb", "aaaaaaaa", "two")
        .user("cccccccc", "bbbbbbbb", "three")
        .assistant("dddddddd", "cccccccc", "four")
        .text()
}

pub(crate) fn world() -> World {
    let world = World::new();
    world.write("s.jsonl", text());
    world
}

/// The arguments of a command on the session of [`world`].
pub(crate) fn on<'a>(args: &[&'a str]) -> Vec<&'a str> {
    ["-s", "s.jsonl"].iter().chain(args).copied().collect()
}

pub(crate) fn bytes(world: &World) -> Vec<u8> {
    fs::read(world.path("s.jsonl")).expect("the session")
}

/// The entries of a session, every line of which must be whole.
pub(crate) fn entries(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("the session");
    let parse = |line: &str| serde_json::from_str(line).expect("a whole line");
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.skip(1).map(parse).collect()
}

pub(crate) fn ids(entries: &[Value]) -> Vec<&str> {
    let id = |entry: &'_ Value| entry["id"].as_str().expect("an id").to_owned();
    let own: HashSet<_> = entries.iter().map(id).collect();
    assert_eq!(own.len(), entries.len(), "an id comes twice");
    entries.iter().filter_map(|e| e["id"].as_str()).collect()
}

/// The ids of a session whose every entry hangs on the one before it.
pub(crate) fn chain(path: &Path) -> Vec<String> {
    let entries = entries(path);
    for (above, below) in entries.iter().zip(entries.iter().skip(1)) {
        assert_eq!(below["parentId"], above["id"], "one chain");
    }
    ids(&entries).into_iter().map(str::to_owned).collect()
}

/// Appends as another program does.
pub(crate) fn append(path: &Path, text: &str) {
    let file = File::options().append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .expect("appended");
}

/// The line of a user message.
pub(crate) fn line(id: &str, parent: &str, text: &str) -> String {
    let built = Build::new().user(id, parent, text).text();
    built.split_once('\n').expect("a header").1.to_owned()
}

pub(crate) fn state(world: &World, name: &str) -> PathBuf {
    world.path(".pis/s.jsonl.d").join(name)
}

/// Another program, in the environment of the tests, where `$PIS` is pis.
#[cfg(unix)]
pub(crate) fn program(world: &World, name: impl AsRef<OsStr>, args: &[&str]) -> Command {
    let mut command = Command::new(name);
    command
        .args(args)
        .current_dir(world.work())
        .env_clear()
        .env("PIS", env!("CARGO_BIN_EXE_pis"))
        .stdin(Stdio::null());
    for (name, value) in world.command(&[]).get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command
}

/// Runs a script for `sh`.
#[cfg(unix)]
pub(crate) fn sh(world: &World, script: &str) -> Ran {
    let mut command = program(world, "sh", &["-c", script]);
    ran(&command.output().expect("sh runs"))
}

pub(crate) const WHY: Reason<'static> = Reason {
    op: "append",
    message: None,
    now: 1,
};

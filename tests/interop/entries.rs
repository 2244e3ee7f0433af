//! After each way in which pis writes into a session, or makes one: what pi makes of the file is
//! what pis says it is.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::{World, fixture};
use crate::files::generated;
use crate::reference::Reference;
use crate::state::{difference, json_lines, said_by_pi, said_by_pis};

/// A session, and how it looked after each change.
struct Film<'a> {
    world: &'a World,
    session: String,
    frames: Vec<(String, PathBuf, Value)>,
}

impl<'a> Film<'a> {
    fn new(world: &'a World, session: &Path) -> Film<'a> {
        let session = session.to_str().expect("UTF-8").to_owned();
        Film {
            world,
            session,
            frames: Vec::new(),
        }
    }

    /// Runs pis on the session and keeps what came of it.
    fn take(&mut self, args: &[&str], stdin: &str) -> String {
        let args = [&["-q", "-s", &self.session], args].concat();
        let mut command = self.world.command(&args);
        command.env("VISUAL", self.world.path("editor"));
        let mut command = assert_cmd::Command::from_std(command);
        let output = command.write_stdin(stdin).output().expect("pis runs");
        assert!(output.status.success(), "pis {args:?}: {output:?}");
        self.keep(&format!("{args:?} {stdin}"));
        String::from_utf8(output.stdout)
            .expect("UTF-8")
            .trim_end()
            .to_owned()
    }

    fn keep(&mut self, what: &str) {
        let name = format!(
            "frames/{}/{}.jsonl",
            self.session.replace('/', "-"),
            self.frames.len()
        );
        let bytes = std::fs::read(&self.session).expect("the session");
        let frame = self.world.write(&name, bytes);
        let said = said_by_pis(self.world, &self.session);
        self.frames.push((what.to_owned(), frame, said));
    }
}

#[test]
fn pi_reads_whatever_pis_writes() {
    let Some(reference) = Reference::or_skip() else {
        return;
    };
    let world = World::new();
    let random = generated(&reference, "generate.mjs", &world.path("random"), 3, 11);
    let editor = world.write("editor", "#!/bin/sh\nprintf 'edited\\n' > \"$1\"\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(editor, mode).expect("a mode");
    world.write("shot.png", b"\x89PNG\r\n\x1a\n");

    let mut frames = Vec::new();
    let mut sessions = random;
    for name in ["branched.jsonl", "kinds.jsonl"] {
        sessions.push(world.write(name, std::fs::read(fixture(name)).expect("the fixture")));
    }
    sessions.push(
        world
            .ok(&["-q", "init", "--name", "from the start"])
            .trim()
            .into(),
    );
    sessions.push(world.ok(&["-q", "new"]).trim().into());
    for session in &sessions {
        let mut film = Film::new(&world, session);
        film.keep("as it was");
        messages(&mut film);
        entries(&mut film);
        moves(&mut film);
        frames.append(&mut film.frames);
        branches(&mut film);
        frames.append(&mut film.frames);
    }

    let files: Vec<PathBuf> = frames.iter().map(|(_, file, _)| file.clone()).collect();
    let answers = reference.all(&files);
    assert_eq!(answers.len(), frames.len());
    let mut differences = Vec::new();
    for ((what, file, by_pis), answer) in frames.iter().zip(&answers) {
        let what = format!("{} after {what}", file.display());
        differences.extend(difference(&what, &said_by_pi(answer), by_pis));
    }
    let shown = &differences[..differences.len().min(8)];
    assert!(
        differences.is_empty(),
        "{} differ\n{}",
        differences.len(),
        shown.join("\n")
    );
}

/// Every role, alone and together.
fn messages(film: &mut Film<'_>) {
    film.take(&["append", "--user", "first"], "");
    let model = json!({ "role": "assistant", "content": "uno", "provider": "anthropic",
        "model": "claude-a", "api": "anthropic-messages" });
    film.take(&["append"], &model.to_string());
    film.take(
        &[
            "append",
            "--user",
            "-- two\nlines",
            "--assistant",
            "dos \u{1f600}",
        ],
        "",
    );
    film.take(
        &[
            "append", "--user", "see", "--image", "shot.png", "--image", "shot.png",
        ],
        "",
    );
    film.take(&["append", "--assistant", ""], "");
    let call = |id: &str| json!({ "type": "toolCall", "id": id, "name": "read", "arguments": {} });
    let usage = json!({ "input": 100, "output": 20, "cost": { "input": 0.5 } });
    for message in [
        json!({ "role": "user", "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }),
        json!({ "role": "assistant", "content": [call("c1"), call("c2")], "usage": usage }),
        json!({ "role": "toolResult", "toolCallId": "c1", "toolName": "read", "content": "x", "usage": usage }),
        json!({ "role": "toolResult", "toolCallId": "c2", "toolName": "read", "content": null, "isError": true }),
        json!({ "role": "assistant", "content": [{ "type": "thinking", "thinking": "hm" }], "stopReason": "error", "usage": { "totalTokens": 9 } }),
        json!({ "role": "assistant", "content": [], "timestamp": 5, "usage": null, "extra": [1.5, null] }),
        json!({ "role": "system", "content": "Be brief.", "sections": { "tools": "none", "gone": null } }),
        json!({ "role": "system", "toolsAdded": [{ "name": "read", "description": "d", "parameters": {} }] }),
        json!({ "role": "bashExecution", "command": "ls", "output": "a\nb", "exitCode": 1 }),
        json!({ "role": "bashExecution", "command": "ls", "excludeFromContext": true }),
        json!({ "role": "custom", "customType": "x", "content": "note", "details": { "n": 1 } }),
        json!({ "type": "message", "message": { "role": "user", "content": "whole" }, "id": "own-id", "timestamp": "2026-02-03T04:05:06.789Z" }),
    ] {
        film.take(&["append"], &format!("{message}\n"));
    }
    film.take(
        &["append"],
        "{\"role\":\"user\",\"content\":\"half \\ud83d, 1.0 and \\u2028\",\"n\":1.0}",
    );
    film.take(
        &["append", "--each"],
        "{\"role\":\"user\",\"content\":\"x\"}\n\n{\"role\":\"user\",\"content\":\"y\"}",
    );
    film.take(&["append", "--parent", "@~3", "--user", "beside"], "");
    film.take(
        &["append", "--parent", "root", "--user", "another root"],
        "",
    );
    film.take(&["append"], &model.to_string());
}

/// Every entry type, with as little as it takes.
fn entries(film: &mut Film<'_>) {
    let user = film.take(&["append", "--user", "kept", "--parent", "@"], "");
    film.take(
        &["append"],
        &json!({ "role": "user", "content": "after it" }).to_string(),
    );
    for entry in [
        json!({ "type": "custom_message", "customType": "x", "content": "note" }),
        json!({ "type": "custom_message", "customType": "x", "content": [], "display": false, "details": 1 }),
        json!({ "type": "branch_summary", "summary": "it failed" }),
        json!({ "type": "branch_summary", "summary": "", "fromId": "root", "details": { "readFiles": ["a"], "modifiedFiles": [] } }),
        json!({ "type": "context_edit", "targetId": user, "replacement": { "content": "changed" } }),
        json!({ "type": "compaction", "summary": "until here", "firstKeptEntryId": user }),
        json!({ "type": "compaction", "summary": "nothing is kept" }),
        json!({ "type": "model_change", "provider": "openai", "modelId": "gpt-x" }),
        json!({ "type": "thinking_level_change", "thinkingLevel": "high" }),
        json!({ "type": "usage", "kind": "title", "provider": "p", "model": "m", "usage": { "input": 2 } }),
        json!({ "type": "label", "targetId": user, "label": "by entry" }),
        json!({ "type": "label", "targetId": user }),
        json!({ "type": "session_info", "name": " by entry " }),
        json!({ "type": "custom", "customType": "state" }),
        json!({ "type": "hologram", "beam": true, "parentId": "ignored" }),
    ] {
        film.take(&["append"], &entry.to_string());
    }
    film.take(&["append", "--assistant", "by the other model"], "");
}

/// Commands that move, label, name and edit.
fn moves(film: &mut Film<'_>) {
    let call =
        json!({ "type": "toolCall", "id": "t1", "name": "bash", "arguments": { "command": "ls" } });
    let turn = [
        json!({ "role": "user", "content": "run" }),
        json!({ "role": "assistant", "content": [call], "api": "a", "provider": "p", "model": "m" }),
        json!({ "role": "toolResult", "toolCallId": "t1", "toolName": "bash", "content": "ran" }),
        json!({ "role": "assistant", "content": "done" }),
        json!({ "role": "user", "content": "more" }),
        json!({ "role": "assistant", "content": "done, too" }),
    ];
    let turn = json_lines(&turn);
    film.take(&["append"], &turn);
    film.take(&["label", "--force", "@", "  spaced out "], "");
    film.take(&["label", "--force", "@~2", "two words"], "");
    film.take(&["label", "--force", "@%2", "two words"], "");
    film.take(&["label", "-d", "label:\"two words\""], "");
    film.take(&["name", "  a\r\n\nb  "], "");
    film.take(&["name", ""], "");
    film.take(&["name", "final"], "");
    film.take(
        &["edit-context", "@^{assistant}", "--replace", "shorter"],
        "",
    );
    film.take(
        &["edit-context", "@^{tool}", "--replace", "-"],
        "from stdin\nand on\n",
    );
    film.take(&["edit-context", "@%", "--replace", "other words"], "");
    film.take(&["edit-context", "@%2", "--omit"], "");
    film.take(&["append", "--user", "x", "--assistant", "y"], "");
    film.take(&["checkout", "@%2", "--summary", "dead end"], "");
    film.take(
        &[
            "checkout",
            "@{-1}",
            "--summary",
            "-",
            "--label",
            "on the summary",
        ],
        "from stdin\n\n",
    );
    film.take(
        &["checkout", "@^{assistant}", "--label", "on the entry"],
        "",
    );
    film.take(&["checkout", "@", "--summary", "where I am"], "");
    film.take(&["append", "--user", "to be edited"], "");
    film.take(&["checkout", "-e", "@%"], "");
    film.take(
        &[
            "checkout",
            "-e",
            "@%",
            "--summary",
            "s",
            "--label",
            "all at once",
        ],
        "",
    );
    film.take(&["checkout", "root", "--summary", "back to the start"], "");
    film.take(&["checkout", "-", "--write"], "");
    film.take(&["checkout", "@%", "--write"], "");
    film.take(&["checkout", "--exact", "@%", "--write"], "");
    film.take(&["checkout", "root", "--write"], "");
    film.take(&["set-leaf", "@{-1}", "--write"], "");
    film.take(&["set-leaf", "root", "--write", "-m", "again"], "");
    film.take(&["append", "--user", "on the marker"], "");
    // A move that pi does not see, made to last by what is appended.
    for last in [
        &["append", "--user", "here"][..],
        &["label", "--force", "@", "l"],
        &["name", "n"],
    ] {
        let args = ["-q", "-s", &film.session, "set-leaf", "@^{user}"];
        film.world.ok(&args);
        film.take(last, "");
    }
}

/// New files made of the session. Each is looked at where it lies.
fn branches(film: &mut Film<'_>) {
    let source = film.session.clone();
    let first = film
        .world
        .lines(&["-q", "-s", &source, "ls-entries", "--role", "user"])
        .remove(0);
    for args in [
        &["clone"][..],
        &["clone", "--name", " cloned "],
        &["clone", "root", "--name", "nothing but a name"],
        &["fork", &first],
        &["fork", "--at", &first],
        &["fork", "@%"],
        &["copy", &source],
        &["copy", &source, "--name", "copied"],
    ] {
        let args = [&["-q", "-s", &source], args].concat();
        film.world.ok(&args).trim().clone_into(&mut film.session);
        film.keep(&format!("{args:?}"));
    }
}

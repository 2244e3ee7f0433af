//! `pis stats --json` against pi's own sums, on every file that is compared.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pis::json::Raw;
use serde_json::{Value, json};

use crate::files;
use crate::reference::Reference;
use crate::state::value;

#[test]
fn sums_are_those_of_pi() {
    let Some(reference) = Reference::or_skip() else {
        return;
    };
    let generated = tempfile::tempdir().expect("a temporary directory");
    let home = tempfile::tempdir().expect("a temporary directory");
    let files = files::collect(&reference, generated.path());
    let compared = AtomicUsize::new(0);
    let differences = Mutex::new(Vec::new());
    let questions: Vec<_> = files.iter().map(|file| json!({ "file": file })).collect();
    reference.check("sums", &questions, |answer| {
        let answer = value(answer.raw());
        // pi does not list it, does not open it, or fails on what is in it.
        if answer.get("skipped").is_some() || answer["stats"].get("error").is_some() {
            return;
        }
        compared.fetch_add(1, Ordering::Relaxed);
        let found = compare(home.path(), &answer);
        differences.lock().expect("no holder panics").extend(found);
    });
    let compared = compared.into_inner();
    let differences = differences.into_inner().expect("no holder panics");
    let _ = writeln!(
        std::io::stderr(),
        "interop: {compared} sums compared, {} differences",
        differences.len()
    );
    assert!(compared > 0, "nothing was compared");
    assert!(
        differences.is_empty(),
        "{}\nthe files are in {}",
        differences.join("\n"),
        generated.keep().display()
    );
}

/// How the sums of a file differ from those in pi's answer.
fn compare(home: &Path, answer: &Value) -> Vec<String> {
    let file = answer["file"]
        .as_str()
        .expect("every answer names its file");
    let got = stats(home, file);
    let mut differences = Vec::new();
    let mut same = |what: &str, wanted: &Value, got: &Value| {
        // Where a text stands for a number, pi joins texts, and there is no sum.
        if wanted != got && !wanted.is_string() {
            differences.push(format!("{file} {what}\n  pi: {wanted}\n  pis: {got}"));
        }
    };
    for (theirs, ours) in [
        ("user", &got["messages"]["user"]),
        ("assistant", &got["messages"]["assistant"]),
        ("toolResult", &got["messages"]["toolResult"]),
        ("toolCall", &got["messages"]["toolCall"]),
        ("message", &got["messages"]["total"]),
        ("input", &got["tokens"]["input"]),
        ("output", &got["tokens"]["output"]),
        ("cacheRead", &got["tokens"]["cacheRead"]),
        ("cacheWrite", &got["tokens"]["cacheWrite"]),
        ("cost", &got["cost"]),
    ] {
        same(theirs, &answer["stats"][theirs], ours);
    }
    // pi fails where a price is missing; pis says so.
    if let Some(models) = answer["models"].as_array() {
        let ours = got["byModel"].as_array().expect("a list").iter();
        let ours = ours.map(
            |row| json!({ "key": row["model"], "cost": row["cost"], "tokens": row["tokens"] }),
        );
        same("by model", &json!(models), &ours.collect());
    }
    differences
}

fn stats(home: &Path, file: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_pis"))
        .env_clear()
        .env("HOME", home)
        .current_dir(home)
        .args(["-s", file, "stats", "--json"])
        .output()
        .expect("pis was built");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{file}: {errors}");
    value(Raw::new(&output.stdout))
}

//! The files that are compared: random ones, damaged ones, the project's fixtures, and more.

use std::path::{Path, PathBuf};

use crate::reference::Reference;

/// Random sessions that are compared where nothing else is said.
const SESSIONS: usize = 300;

/// All files to compare. `dir` takes those that are generated.
pub(crate) fn collect(reference: &Reference, dir: &Path) -> Vec<PathBuf> {
    let sessions = variable("PIS_INTEROP_SESSIONS").map_or(SESSIONS, |n| {
        n.parse().expect("PIS_INTEROP_SESSIONS is a number")
    });
    // Written by pi's own session manager, and written to have odd shapes.
    let mut files = generated(reference, "generate.mjs", &dir.join("random"), sessions, 1);
    let damaged = dir.join("damaged");
    files.extend(generated(
        reference,
        "damage.mjs",
        &damaged,
        sessions / 5,
        1,
    ));
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let extra = variable("PIS_INTEROP_EXTRA").unwrap_or_default();
    let extra = extra
        .split(':')
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    let given: Vec<PathBuf> = [fixtures].into_iter().chain(extra).collect();
    for (n, source) in given.iter().flat_map(|path| sessions_of(path)).enumerate() {
        files.push(copied(&source, &dir.join(format!("copy-{n}"))));
    }
    files
}

/// Sessions that a script writes into a directory.
pub(crate) fn generated(
    reference: &Reference,
    script: &str,
    dir: &Path,
    count: usize,
    seed: usize,
) -> Vec<PathBuf> {
    let [count, seed] = [count, seed].map(|n| n.to_string());
    reference.script(script, &[dir.as_os_str(), count.as_ref(), seed.as_ref()]);
    sessions_of(dir)
}

/// The session files of a directory, in the order of their names; a file is itself.
fn sessions_of(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let Ok(entries) = std::fs::read_dir(path) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_file() && path.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    files.sort();
    files
}

/// A copy in a directory of its own, so that no `HEAD` beside the original moves the leaf.
fn copied(file: &Path, dir: &Path) -> PathBuf {
    let to = dir.join(file.file_name().unwrap_or_default());
    std::fs::create_dir(dir).expect("the directory is new");
    std::fs::copy(file, &to).expect("the file can be read");
    to
}

#[expect(clippy::disallowed_methods, reason = "the test's own switches")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

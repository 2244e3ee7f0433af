//! The reference implementation, installed by `setup.sh`, asked through `oracle.mjs`.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pis::json::Raw;

use crate::files::variable;

/// Whether a reference that is missing is a failure.
pub(crate) fn is_required() -> bool {
    variable("PIS_INTEROP").is_some_and(|value| value == "required")
}

/// An installed reference.
pub(crate) struct Reference {
    root: PathBuf,
}

/// One line of the oracle's batch mode.
pub(crate) struct Answer(Vec<u8>);

impl Answer {
    /// The line to look into.
    pub(crate) fn raw(&self) -> Raw<'_> {
        Raw::new(&self.0)
    }
}

impl Reference {
    /// The installed reference, if there is one.
    pub(crate) fn find() -> Option<Reference> {
        let root = variable("PI_REF").map_or_else(|| "/tmp/pi-reference".into(), PathBuf::from);
        let reference = Reference { root };
        let package = "node_modules/@earendil-works/pi-coding-agent/package.json";
        let is_there = reference.node().is_file() && reference.root.join(package).is_file();
        is_there.then_some(reference)
    }

    fn node(&self) -> PathBuf {
        self.root.join("node_modules/.bin/node")
    }

    fn command(&self, script: &str) -> Command {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop");
        let mut command = Command::new(self.node());
        // Local times are UTC in pis.
        command
            .arg(dir.join(script))
            .env("PI_REF", &self.root)
            .env("TZ", "UTC");
        command
    }

    /// Runs a script to its end.
    pub(crate) fn script(&self, script: &str, args: &[&OsStr]) {
        let output = self.command(script).args(args).output().expect("node runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script} failed: {errors}");
    }

    /// Asks about all files, each at its leaf, its start and `count` entries, in one process.
    pub(crate) fn answers(&self, files: &[PathBuf], count: usize, mut answer: impl FnMut(Answer)) {
        let mut node = self
            .command("oracle.mjs")
            .arg("batch")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node runs");
        let mut questions = String::new();
        for file in files {
            let question = serde_json::json!({"file": file, "count": count});
            questions.push_str(&question.to_string());
            questions.push('\n');
        }
        // The oracle reads all questions before it answers, so this does not wait for itself.
        let mut stdin = node.stdin.take().expect("it is piped");
        stdin
            .write_all(questions.as_bytes())
            .expect("the oracle reads");
        drop(stdin);
        let stdout = BufReader::new(node.stdout.take().expect("it is piped"));
        for line in stdout.split(b'\n') {
            answer(Answer(line.expect("the oracle writes")));
        }
        assert!(
            node.wait().expect("it was started").success(),
            "the oracle failed"
        );
    }
}

//! The reference implementation, installed by `setup.sh`, asked through `oracle.mjs`.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;

use pis::json::Raw;
use serde_json::Value;

use crate::files::variable;
use crate::state::{json_lines, value};

/// Whether a reference that is missing is a failure.
fn is_required() -> bool {
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
    /// The installed reference; without one a test has nothing to do and says so, or fails where it
    /// must not be absent.
    pub(crate) fn or_skip() -> Option<Reference> {
        let found = Reference::find();
        if found.is_none() {
            let notice =
                "interop: skipped, the reference is not installed (tests/interop/setup.sh)";
            // The macros are captured; a test that did nothing should say so.
            let _ = writeln!(std::io::stderr(), "{notice}");
            assert!(!is_required(), "{notice}");
        }
        found
    }

    fn find() -> Option<Reference> {
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

    /// Asks many questions of one mode of the oracle in one process; the answers come as they are
    /// found.
    fn ask(&self, mode: &str, questions: &[Value], mut answer: impl FnMut(Answer)) {
        let mut node = self
            .command("oracle.mjs")
            .arg(mode)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node runs");
        let questions = json_lines(questions);
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

    /// Asks as [`Reference::ask`] does and checks the answers on all cores while more are found.
    pub(crate) fn check(&self, mode: &str, questions: &[Value], check: impl Fn(&Answer) + Sync) {
        let (send, receive) = sync_channel::<Answer>(64);
        let receive = Mutex::new(receive);
        let next = || receive.lock().expect("no holder panics").recv().ok();
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some(answer) = next() {
                        check(&answer);
                    }
                });
            }
            self.ask(mode, questions, |answer| {
                let _ = send.send(answer);
            });
            drop(send);
        });
    }

    /// What pi makes of each file, opened as it is.
    pub(crate) fn all(&self, files: &[PathBuf]) -> Vec<Value> {
        let node = self.command("oracle.mjs").arg("all").args(files).output();
        let output = node.expect("node runs");
        assert!(output.status.success(), "the oracle failed: {output:?}");
        let lines = output.stdout.split(|&b| b == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        lines.map(|line| value(Raw::new(line))).collect()
    }

    /// The answer to one question of a mode that has one.
    pub(crate) fn answer(&self, mode: &str, question: &Value) -> Value {
        let mut answers = Vec::new();
        self.ask(mode, std::slice::from_ref(question), |answer| {
            answers.push(value(answer.raw()));
        });
        assert_eq!(answers.len(), 1, "one answer");
        answers.remove(0)
    }

    /// The real pi.
    pub(crate) fn pi(&self) -> Command {
        let script = "node_modules/@earendil-works/pi-coding-agent/dist/cli.js";
        let mut command = Command::new(self.node());
        command.arg(self.root.join(script));
        command
    }
}

//! A world of its own for each test: an empty home, a fixed environment, sessions built in a few
//! words.
#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test file uses what it needs"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// A directory with a home in it, removed at the end.
pub(crate) struct World {
    dir: tempfile::TempDir,
}

/// What a run of pis left.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    pub(crate) fn new() -> World {
        let dir = tempfile::tempdir().expect("a temporary directory");
        std::fs::create_dir_all(dir.path().join("home")).expect("a home");
        std::fs::create_dir_all(dir.path().join("work")).expect("a working directory");
        World { dir }
    }

    /// The working directory that commands start in.
    pub(crate) fn work(&self) -> PathBuf {
        self.dir
            .path()
            .canonicalize()
            .expect("the directory exists")
            .join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// A path in the working directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.work().join(name)
    }

    /// Writes a file into the working directory.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(&path, bytes).expect("a file");
        path
    }

    /// pis, to be run in the working directory with nothing of the outer environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pis"));
        command
            .args(args)
            .current_dir(self.work())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("COLUMNS", "80")
            .stdin(Stdio::null());
        command
    }

    /// Runs pis.
    pub(crate) fn pis(&self, args: &[&str]) -> Ran {
        ran(&self.command(args).output().expect("pis runs"))
    }

    /// Runs pis with something on its standard input.
    pub(crate) fn pis_with(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Ran {
        use std::io::Write as _;
        let mut command = self.command(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("pis starts");
        let mut input = child.stdin.take().expect("a pipe");
        let bytes = stdin.as_ref().to_vec();
        let writer = std::thread::spawn(move || {
            // pis may end before it has read everything.
            let _ = input.write_all(&bytes);
        });
        let output = child.wait_with_output().expect("pis runs");
        writer.join().expect("the writer ends");
        ran(&output)
    }

    /// Runs pis, which must succeed without a word on stderr, and returns what it printed.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let ran = self.pis(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "pis {args:?}");
        ran.stdout
    }

    /// Runs pis as [`World::ok`] and returns its lines.
    pub(crate) fn lines(&self, args: &[&str]) -> Vec<String> {
        self.ok(args).lines().map(str::to_owned).collect()
    }

    /// Runs pis as [`World::ok`] and returns its lines as JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Vec<Value> {
        let lines = self.lines(args);
        lines
            .iter()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    }
}

pub(crate) fn ran(output: &Output) -> Ran {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// A fixture of the project.
pub(crate) fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// Builds a session, an entry a call. Ids are `aaaaaaaa`-like words of the caller's choice.
pub(crate) struct Build {
    lines: Vec<String>,
    clock: i64,
}

impl Build {
    /// A session that holds a header.
    pub(crate) fn new() -> Build {
        let header = json!({
            "type": "session", "version": 3, "id": "01976a7c-1111-7000-8000-000000000001",
            "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/home/dev/project",
        });
        Build {
            lines: vec![header.to_string()],
            clock: 0,
        }
    }

    /// Adds any entry; `id`, `parentId`, `timestamp` are filled in. An empty parent is a root.
    pub(crate) fn entry(mut self, id: &str, parent: &str, mut entry: Value) -> Build {
        self.clock += 1;
        let (minute, second) = (self.clock / 60, self.clock % 60);
        let map = entry.as_object_mut().expect("an object");
        map.insert("id".into(), json!(id));
        map.insert(
            "parentId".into(),
            if parent.is_empty() {
                Value::Null
            } else {
                json!(parent)
            },
        );
        let stamp = format!("2026-01-01T00:{minute:02}:{second:02}.000Z");
        map.entry("timestamp").or_insert(json!(stamp));
        self.lines.push(entry.to_string());
        self
    }

    pub(crate) fn message(self, id: &str, parent: &str, message: Value) -> Build {
        self.entry(id, parent, json!({ "type": "message", "message": message }))
    }

    pub(crate) fn user(self, id: &str, parent: &str, text: &str) -> Build {
        let content = json!([{ "type": "text", "text": text }]);
        self.message(
            id,
            parent,
            json!({ "role": "user", "content": content, "timestamp": 1 }),
        )
    }

    pub(crate) fn assistant(self, id: &str, parent: &str, text: &str) -> Build {
        let content = json!([{ "type": "text", "text": text }]);
        self.message(id, parent, assistant(content))
    }

    pub(crate) fn label(self, id: &str, parent: &str, target: &str, label: &str) -> Build {
        self.entry(
            id,
            parent,
            json!({ "type": "label", "targetId": target, "label": label }),
        )
    }

    /// Adds a line as it is.
    pub(crate) fn raw(mut self, line: &str) -> Build {
        self.lines.push(line.to_owned());
        self
    }

    /// The file's text.
    pub(crate) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

/// An assistant message around a content.
pub(crate) fn assistant(content: Value) -> Value {
    json!({
        "role": "assistant", "content": content, "api": "anthropic-messages",
        "provider": "anthropic", "model": "claude-a", "stopReason": "stop", "timestamp": 2,
        "usage": {
            "input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 15,
            "cost": { "input": 0.1, "output": 0.2, "cacheRead": 0, "cacheWrite": 0, "total": 0.3 },
        },
    })
}

//! A world of its own for each test: an empty home, a fixed environment, sessions built in a few
//! words.
#![allow(
    dead_code,
    clippy::allow_attributes,
    clippy::disallowed_methods,
    clippy::format_collect,
    clippy::needless_pass_by_value,
    reason = "each test file uses what it needs, in few words"
)]

pub(crate) mod writing;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

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
        run(self.command(args), Vec::new())
    }

    /// Runs pis with something on its standard input.
    pub(crate) fn pis_with(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Ran {
        run(self.command(args), stdin.as_ref().to_vec())
    }

    /// A world with a session `s.jsonl`, for [`World::on`].
    pub(crate) fn with(session: impl AsRef<[u8]>) -> World {
        let world = World::new();
        world.write("s.jsonl", session);
        world
    }

    /// Runs pis on `s.jsonl`.
    pub(crate) fn on(&self, args: &[&str]) -> Ran {
        self.on_with(args, "")
    }

    /// Runs pis on `s.jsonl` with something on its standard input.
    pub(crate) fn on_with(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Ran {
        self.pis_env(&[("PIS_SESSION", "./s.jsonl")], args, stdin)
    }

    /// Runs pis on `s.jsonl`, which must succeed without a word on stderr.
    pub(crate) fn done(&self, args: &[&str]) -> String {
        let ran = self.on(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "pis {args:?}");
        ran.stdout
    }

    /// Runs pis with variables set and something on its standard input.
    pub(crate) fn pis_env(
        &self,
        vars: &[(&str, &str)],
        args: &[&str],
        stdin: impl AsRef<[u8]>,
    ) -> Ran {
        let mut command = self.command(args);
        command.envs(vars.iter().copied());
        run(command, stdin.as_ref().to_vec())
    }

    /// The leaf of `s.jsonl`.
    pub(crate) fn leaf(&self) -> String {
        self.on(&["rev-parse", "@"]).stdout.trim_end().to_owned()
    }

    /// What `s.jsonl` holds.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.path("s.jsonl")).expect("the session")
    }

    /// The entries of `s.jsonl` from the nth line on, the header being line 0.
    pub(crate) fn stored(&self, from: usize) -> Vec<Value> {
        let text = String::from_utf8(self.bytes()).expect("UTF-8");
        let lines = text.lines().skip(from);
        lines
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    }

    /// Runs pis, which must succeed without a word on stderr, and returns what it printed.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let ran = self.pis(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "pis {args:?}");
        ran.stdout
    }

    /// Runs a command that only reads. It must end, must not panic and must leave every file of
    /// the world as it is.
    pub(crate) fn read(&self, args: &[&str]) -> Ran {
        self.read_with(args, "")
    }

    /// Runs a command that only reads as [`World::read`], with something on its standard input.
    pub(crate) fn read_with(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Ran {
        let before = self.files();
        let ran = self.pis_with(args, stdin);
        assert_ne!(ran.code, 101, "pis {args:?} panicked: {}", ran.stderr);
        assert_ne!(ran.code, -1, "pis {args:?} was killed: {}", ran.stderr);
        assert!(before == self.files(), "pis {args:?} changed a file");
        ran
    }

    /// Runs every command that reads on a session; see [`World::read`]. None may fail in a way
    /// that is not its to choose.
    pub(crate) fn read_all(&self, session: &str) {
        for args in READING {
            let args: Vec<_> = ["-s", session].iter().chain(*args).copied().collect();
            let ran = self.read(&args);
            assert!(matches!(ran.code, 0 | 1 | 2 | 128), "pis {args:?}: {ran:?}");
            assert!(
                ran.code < 2 || !ran.stderr.is_empty(),
                "pis {args:?} fails without a word"
            );
        }
    }

    /// Every file of the world: path, size, time, and what small ones hold.
    fn files(&self) -> BTreeMap<PathBuf, (u64, SystemTime, Vec<u8>)> {
        const SMALL: u64 = 1 << 20;
        let mut files = BTreeMap::new();
        let mut dirs = vec![self.dir.path().to_owned()];
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(&dir).expect("a directory").flatten() {
                let path = entry.path();
                let Ok(meta) = std::fs::symlink_metadata(&path) else {
                    continue;
                };
                if meta.is_dir() {
                    dirs.push(path.clone());
                }
                let small = meta.is_file() && meta.len() <= SMALL;
                let bytes = if small {
                    std::fs::read(&path).unwrap_or_default()
                } else {
                    vec![]
                };
                let modified = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                files.insert(path, (meta.len(), modified, bytes));
            }
        }
        files
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

/// Every way to read, over and over in tests of odd files.
pub(crate) const READING: &[&[&str]] = &[
    &["log"],
    &["log", "--graph"],
    &["log", "--all", "--json"],
    &["log", "--oneline", "--filter", "all", "-n", "3"],
    &["log", "-p", "--filter", "all"],
    &["log", "--stat", "--graph"],
    &["tree"],
    &["tree", "--filter", "all", "--json"],
    &["show"],
    &["show", "--full", "@^{}", "@~1"],
    &["branch"],
    &["branch", "--json", "--contains"],
    &["status", "--short"],
    &["grep", "-i", "e"],
    &["grep", "-c", "-F", "a"],
    &["cat-entry", "@"],
    &["cat-entry", "-p", "@"],
    &["cat-entry", "--text", "@^{}"],
    &["cat-entry", "--header"],
    &["rev-parse", "--short", "@"],
    &["rev-parse", "--explain", "@~1"],
    &["rev-parse", "@{tip}", "root@{tip}"],
    &["rev-path", "--json"],
    &["rev-path", "--left-right", "@~1...@{tip}"],
    &["merge-base", "@", "@{tip}"],
    &["ls-entries", "--json", "--text"],
    &["ls-entries", "--tips"],
    &["ls-entries", "--roots"],
    &["for-each-label"],
    &["for-each-tip", "--json"],
    &["context"],
    &["context", "--as", "llm"],
    &["context", "--as", "text"],
    &["context", "--tokens"],
    &["context", "--entries"],
    &["stats", "--json"],
    &["stats", "@~1", "--size"],
    &["stats", "@~1...@{tip}"],
    &["fsck"],
    &["repair", "-n"],
];

/// No run of pis in these tests takes this long.
const TIMEOUT: Duration = Duration::from_secs(100);

fn run(command: Command, stdin: Vec<u8>) -> Ran {
    let mut command = assert_cmd::Command::from_std(command);
    ran(&command
        .timeout(TIMEOUT)
        .write_stdin(stdin)
        .output()
        .expect("pis runs"))
}

impl Ran {
    /// The one object on stdout.
    pub(crate) fn object(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The kind of the error on stderr, of a run with `--json`.
    pub(crate) fn error(&self) -> String {
        let last = self.stderr.lines().last().unwrap_or_default();
        let value: Value = serde_json::from_str(last).unwrap_or_else(|e| panic!("{e}: {self:?}"));
        value["error"]["kind"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// The kinds of the notes on stderr, of a run with `--json`.
    pub(crate) fn notes(&self) -> Vec<String> {
        let lines = self
            .stderr
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        lines
            .map(|v: Value| v["note"]["kind"].as_str().unwrap_or("(no note)").into())
            .collect()
    }

    /// The ids on stdout, or of the objects there.
    pub(crate) fn ids(&self) -> Vec<String> {
        let lines = self.stdout.lines();
        let of = |line: &str| match serde_json::from_str::<Value>(line) {
            Ok(Value::Object(map)) => map["id"].as_str().unwrap_or_default().to_owned(),
            _ => line.to_owned(),
        };
        lines.map(of).collect()
    }
}

/// The names of the fields of an object, sorted.
pub(crate) fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<_> = value.as_object().expect("an object").keys().collect();
    names.sort();
    names.into_iter().map(String::as_str).collect()
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

    /// Makes the header anew.
    pub(crate) fn header(mut self, header: &Value) -> Build {
        self.lines[0] = header.to_string();
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

//! How fast `pis` is, beside `wc -l`, beside itself on a small session, beside the real pi.
//!
//! ```text
//! cargo bench --bench speed
//! PIS_BENCH_DIR=/tmp/pis-bench PIS_BENCH_RUNS=15 cargo bench --bench speed
//! ```
//!
//! Makes three sessions from a fixed seed: `large` and `escapes` (mostly escape sequences) of
//! `$PIS_BENCH_MB`, 300 by default, and `small` of 1 MB. Checks that each command answers with as
//! many lines as the generator knows it should. Then runs each pair in turns, for one second and at
//! least `$PIS_BENCH_RUNS` times (7 by default), with warm caches and standard output to
//! `/dev/null`. The ratio is that of the minima. Exits with 1 if one is over its limit, or if a
//! command fails or answers wrongly.
//!
//! What appends does so to copies, and flushes to disk: `$TMPDIR` should lie where sessions do.
//!
//! A home of `HOME` sessions is made, too, for `sessions --all`.
//!
//! `$PIS_BENCH_DIR` keeps the sessions for the next run. The real pi is looked for in `$PI_REF`
//! (default `/tmp/pi-reference`); only its `SessionManager.open` or `listAll` is timed, or its `appendMessage` of
//! `MESSAGES` messages, not the start of Node.js; without it the rows are left out. Nothing else
//! should run on the machine meanwhile.
#![expect(clippy::disallowed_methods, reason = "it has its own settings")]

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

const PIS: &str = env!("CARGO_BIN_EXE_pis");

fn main() -> io::Result<ExitCode> {
    // `cargo bench` passes `--bench`, `cargo test` does not; a listing has both.
    let has = |flag: &str| std::env::args().any(|arg| arg == flag);
    if !has("--bench") || has("--test") || has("--list") {
        return Ok(ExitCode::SUCCESS);
    }
    let megabytes = setting("PIS_BENCH_MB", 300)?;
    let runs = setting("PIS_BENCH_RUNS", 7)?.max(1);
    let temporary = tempfile::tempdir()?;
    let kept = std::env::var_os("PIS_BENCH_DIR").map(PathBuf::from);
    let dir = kept.as_deref().unwrap_or(temporary.path());
    fs::create_dir_all(dir)?;
    let large = Sample::ready(dir, "large", megabytes, CHAT)?;
    let small = Sample::ready(dir, "small", 1, CHAT)?;
    let escapes = Sample::ready(dir, "escapes", megabytes, ESCAPES)?;
    let mut cases = cases(&large, &small, &escapes);
    cases.push(append(&large, &small, temporary.path())?);
    cases.extend(real_pi(&large, &small, temporary.path())?);
    cases.extend(list(dir)?);
    cases.push(check_all(dir)?);

    let (mut table, mut good) = (String::new(), true);
    for mut case in cases {
        note(&case.title)?;
        let (row, ok) = case.row(runs);
        table = table + &row + "\n";
        good &= ok;
    }
    let mut out = io::stdout().lock();
    let cores = std::thread::available_parallelism()?;
    writeln!(out, "\n{cores} cores; minimum, median of each time\n")?;
    for sample in [&large, &small, &escapes] {
        writeln!(out, "- {}", serde_json::to_string(sample)?)?;
    }
    writeln!(out, "\n| one, the other | ms | ms | ratio | limit | |")?;
    write!(out, "|---|---:|---:|---:|---:|---|\n{table}")?;
    Ok(ExitCode::from(u8::from(!good)))
}

fn setting(name: &str, default: usize) -> io::Result<usize> {
    let Some(value) = std::env::var_os(name) else {
        return Ok(default);
    };
    let number = value.to_str().and_then(|text| text.parse().ok());
    number.ok_or_else(|| io::Error::other(format!("{name}: not a whole number")))
}

fn note(text: &str) -> io::Result<()> {
    writeln!(io::stderr(), "{text}")
}

/// A row of the table: a command of pis, beside another.
struct Case {
    title: String,
    own: Command,
    other: Command,
    /// How many lines a right answer of `own` has.
    lines: usize,
    /// How many times as long `own` may take.
    limit: f64,
    /// Whether `other` prints the milliseconds that count.
    clocked: bool,
}

fn cases(large: &Sample, small: &Sample, escapes: &Sample) -> Vec<Case> {
    let mut cases = Vec::new();
    // What a command may take of a large session, and of one that is full of escapes.
    type Lines = fn(&Sample) -> usize;
    const NONE: f64 = 0.0;
    let wholes: [(&str, Lines, f64, f64); 8] = [
        ("for-each-tip", |sample| sample.tips, 5.0, 10.0),
        ("rev-path", |sample| sample.path, 5.0, 10.0),
        (
            "ls-entries --type compaction",
            |sample| sample.compactions,
            5.0,
            10.0,
        ),
        ("stats --json", |_| 1, 8.0, 10.0),
        ("branch", |sample| sample.tips, 6.0, 10.0),
        ("fsck", |_| 0, 10.0, 10.0),
        // A string that the one holds often, and the other.
        ("grep -c -F session.rs:118:21", |_| 1, 6.0, NONE),
        ("grep -c -F entry", |_| 1, NONE, 15.0),
    ];
    for (sample, escaped) in [(large, false), (escapes, true)] {
        for (args, lines, plain_limit, escaped_limit) in wholes {
            let title = format!("`{args}`, `wc -l`: {}", sample.name);
            let mut other = Command::new("wc");
            other.arg("-l").arg(&sample.file);
            let limit = if escaped { escaped_limit } else { plain_limit };
            if limit <= NONE {
                continue;
            }
            cases.push(Case::new(
                title,
                sample.pis(args),
                other,
                lines(sample),
                limit,
            ));
        }
    }
    let log = ("log --oneline -n 20", 20);
    let status = ("status --short", 1);
    for (args, lines) in [log, ("rev-parse @", 1), ("cat-entry @", 1), status] {
        let title = format!("`{args}`: large, small");
        let (own, other) = (large.pis(args), small.pis(args));
        cases.push(Case::new(title, own, other, lines, 2.0));
    }
    let title = "`--version`, `/bin/true`".to_owned();
    let (mut own, other) = (Command::new(PIS), Command::new("/bin/true"));
    own.arg("--version");
    cases.push(Case::new(title, own, other, 1, 4.0));
    // These only have to work.
    for (args, lines) in [("for-each-tip", large.tips), ("stats --json", 1)] {
        let title = format!("`{args}`: within `ulimit -d 100000`, without");
        let (mut own, other) = (Command::new("bash"), large.pis(args));
        own.args(["-c", "ulimit -d 100000 && exec \"$@\"", "-", PIS, "-s"]);
        own.arg(&large.file).args(args.split(' '));
        cases.push(Case::new(title, own, other, lines, f64::INFINITY));
    }
    cases
}

/// One message appended to a large session, and to a small one.
fn append(large: &Sample, small: &Sample, dir: &Path) -> io::Result<Case> {
    let to = |sample: &Sample| -> io::Result<Command> {
        let copy = sample.copy(dir, "append")?;
        let mut command = Command::new(PIS);
        command.arg("-s").arg(copy).args(["append", "--user", "on"]);
        Ok(command)
    };
    let title = "`append`: large, small".to_owned();
    Ok(Case::new(title, to(large)?, to(small)?, 1, 3.0))
}

/// As many are appended at once.
const MESSAGES: usize = 100_000;

/// Writes a file of messages, a line each: prompts of a few words, or prompts and answers in turns.
fn write_messages(path: &Path, answers: bool) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut rng = Rng(20_260_302);
    for n in 0..MESSAGES {
        if !answers {
            writeln!(out, r#"{{"role":"user","content":"message number {n}"}}"#)?;
            continue;
        }
        let mut text = String::new();
        for _ in 0..=rng.below(8) {
            text.push_str(&rng.line(CHAT));
        }
        let content = format!(r#""content":[{{"type":"text","text":"{text}"}}],"timestamp":{n}"#);
        if n % 2 == 0 {
            writeln!(out, r#"{{"role":"user",{content}}}"#)?;
            continue;
        }
        let cost = r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}"#;
        let usage = format!(
            r#""usage":{{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{cost}}}"#
        );
        writeln!(
            out,
            r#"{{"role":"assistant",{content},{MODEL},{usage},"stopReason":"stop"}}"#
        )?;
    }
    out.flush()
}

/// The real pi's session manager, and Node.js running a script that is given it; nothing where pi
/// is not installed.
fn node() -> io::Result<Option<impl Fn(&str) -> Command>> {
    let root = std::env::var_os("PI_REF").unwrap_or_else(|| "/tmp/pi-reference".into());
    let modules = Path::new(&root).join("node_modules");
    let manager = modules.join("@earendil-works/pi-coding-agent/dist/core/session-manager.js");
    if !manager.exists() {
        note("the real pi is not in $PI_REF: left out")?;
        return Ok(None);
    }
    let manager = fs::canonicalize(manager)?;
    Ok(Some(move |script: &str| {
        let mut node = Command::new(modules.join(".bin/node"));
        node.args(["--input-type=module", "-e", script])
            .arg(&manager);
        node
    }))
}

/// Sessions of a home, and their megabytes together.
const HOME: (usize, usize) = (3000, 150);

/// `sessions --all` beside the real pi that lists a home; nothing where pi is not installed.
fn list(dir: &Path) -> io::Result<Option<Case>> {
    let Some(node) = node()? else {
        return Ok(None);
    };
    let (sessions, megabytes) = HOME;
    let home = ready_home(dir)?;
    let mut own = Command::new(PIS);
    own.args(["sessions", "--all", "--json"])
        .env("PI_CODING_AGENT_DIR", &home)
        .env_remove("PI_CODING_AGENT_SESSION_DIR");
    let mut other = node(
        "const { SessionManager } = await import('file://' + process.argv[1]); \
        const start = performance.now(); \
        await SessionManager.listAll(); \
        console.log(performance.now() - start);",
    );
    other
        .env("PI_CODING_AGENT_DIR", &home)
        .env_remove("PI_CODING_AGENT_SESSION_DIR");
    let title = format!(
        "`sessions --all --json`, the real pi lists them: {sessions} sessions, {megabytes} MB"
    );
    Ok(Some(Case {
        clocked: true,
        ..Case::new(title, own, other, sessions, 0.1)
    }))
}

/// All sessions checked with all cores, and with one thread.
fn check_all(dir: &Path) -> io::Result<Case> {
    let (sessions, megabytes) = HOME;
    let home = ready_home(dir)?;
    let check = || {
        let mut command = Command::new(PIS);
        command
            .args(["fsck", "--all"])
            .env("PI_CODING_AGENT_DIR", &home)
            .env_remove("PI_CODING_AGENT_SESSION_DIR");
        command
    };
    let (own, mut other) = (check(), check());
    other.env("RAYON_NUM_THREADS", "1");
    let title = format!("`fsck --all`, with one thread: {sessions} sessions, {megabytes} MB");
    // Each has a line: they all belong to one directory, and lie in those of many.
    Ok(Case::new(title, own, other, sessions, 0.8))
}

/// Generates the home, unless an earlier run left it.
fn ready_home(dir: &Path) -> io::Result<PathBuf> {
    let home = dir.join("home");
    let (sessions, megabytes) = HOME;
    let description = format!("{GENERATION} {sessions} {megabytes}");
    let done = home.join("generated");
    if fs::read(&done).is_ok_and(|kept| kept == description.as_bytes()) {
        return Ok(home);
    }
    note(&format!("generating {} ({megabytes} MB)", home.display()))?;
    let mut rng = Rng(20_260_302);
    let mut texts: Vec<String> = (0..4096).map(|_| rng.line(CHAT)).collect();
    let mut left = megabytes * 1_000_000;
    for n in 0..sessions {
        let project = home.join(format!("sessions/--home-dev-project-{}--", n % 40));
        fs::create_dir_all(&project)?;
        let file = project.join(format!("2026-03-02T09-00-00-000Z_{n:04}.jsonl"));
        let mut session = Session {
            out: BufWriter::new(File::create(&file)?),
            texts,
            rng: Rng(n as u64),
            now: 1_772_442_000_000,
            path: Vec::new(),
            turns: Vec::new(),
            plain: false,
            sample: Sample::default(),
        };
        // Few are large; together they are as large as they should be.
        let share = left / (sessions - n);
        let target = share / 4 * rng.below(8);
        session.write(target)?;
        left = left.saturating_sub(session.sample.bytes);
        texts = session.texts;
    }
    fs::write(done, description)?;
    Ok(home)
}

/// `rev-path` beside the real pi that opens a copy in `dir`, and `append` of many messages beside
/// the real pi that does so; nothing where pi is not installed.
fn real_pi(large: &Sample, small: &Sample, dir: &Path) -> io::Result<Vec<Case>> {
    let Some(node) = node()? else {
        return Ok(Vec::new());
    };
    let mut other = node(
        "const { SessionManager } = await import('file://' + process.argv[1]); \
        const start = performance.now(); \
        SessionManager.open(process.argv[2]); \
        console.log(performance.now() - start);",
    );
    other.arg(large.copy(dir, "open")?);
    let title = "`rev-path`, the real pi opens it: large".to_owned();
    let open = Case::new(title, large.pis("rev-path"), other, large.path, 0.1);

    let mut cases = vec![open];
    // The second is 35 MB, which have to be read, written and flushed in any case.
    let kinds = [("prompts", false, 0.2), ("prompts and answers", true, 0.5)];
    for (what, answers, limit) in kinds {
        let messages = dir.join(format!("{what}.jsonl"));
        write_messages(&messages, answers)?;
        // Each run begins with the session as it was.
        let mut own = Command::new("sh");
        own.args(["-c", r#"cp "$1" "$2" && exec "$3" -s "$2" append < "$4""#]);
        own.arg("-").arg(&small.file).arg(dir.join("own.jsonl"));
        own.arg(PIS).arg(&messages);
        let mut other = node(
            "import { copyFileSync, readFileSync } from 'node:fs'; \
            const { SessionManager } = await import('file://' + process.argv[1]); \
            const [small, copy, file] = process.argv.slice(2); \
            copyFileSync(small, copy); \
            const session = SessionManager.open(copy); \
            const lines = readFileSync(file, 'utf8').trimEnd().split('\\n'); \
            const messages = lines.map((line) => JSON.parse(line)); \
            const start = performance.now(); \
            for (const message of messages) session.appendMessage(message); \
            console.log(performance.now() - start);",
        );
        other
            .arg(&small.file)
            .arg(dir.join("other.jsonl"))
            .arg(&messages);
        let title = format!("`append` of {MESSAGES} {what}, the real pi appends them: small");
        cases.push(Case::new(title, own, other, MESSAGES, limit));
    }
    let clocked = |case| Case {
        clocked: true,
        ..case
    };
    Ok(cases.into_iter().map(clocked).collect())
}

impl Case {
    fn new(title: String, own: Command, other: Command, lines: usize, limit: f64) -> Self {
        Self {
            title,
            own,
            other,
            lines,
            limit,
            clocked: false,
        }
    }

    /// The row, and whether all is well.
    fn row(&mut self, runs: usize) -> (String, bool) {
        let (title, limit) = (&self.title.clone(), self.limit);
        match self.measure(runs) {
            Ok((own, other)) => {
                let ratio = own[0] / other[0];
                let verdict = if ratio <= limit { "ok" } else { "OVER" };
                let shown = |ms: &[f64]| format!("{:.2}, {:.2}", ms[0], ms[ms.len() / 2]);
                let times = format!("{} | {}", shown(&own), shown(&other));
                let row = format!("| {title} | {times} | {ratio:.3} | {limit} | {verdict} |");
                (row, ratio <= limit)
            }
            Err(error) => {
                let row = format!("| {title} | | | | {limit} | FAILED: {error} |");
                (row, false)
            }
        }
    }

    /// The times of both in milliseconds, sorted.
    fn measure(&mut self, runs: usize) -> io::Result<(Vec<f64>, Vec<f64>)> {
        // One run of each checks the answer and fills the page cache.
        let (_, answer) = run(&mut self.own, true)?;
        let (lines, expected) = (answer.lines().count(), self.lines);
        if lines != expected {
            let message = format!("{lines} lines, {expected} expected");
            return Err(io::Error::other(message));
        }
        run(&mut self.other, true)?;
        let (mut own, mut other) = (Vec::new(), Vec::new());
        let start = Instant::now();
        while own.len() < runs || start.elapsed() < Duration::from_secs(1) {
            let (mut ms, text) = run(&mut self.other, self.clocked)?;
            if self.clocked {
                ms = text.trim().parse().map_err(io::Error::other)?;
            }
            other.push(ms);
            own.push(run(&mut self.own, false)?.0);
        }
        own.sort_by(f64::total_cmp);
        other.sort_by(f64::total_cmp);
        Ok((own, other))
    }
}

/// How many milliseconds it took, and what it printed.
fn run(command: &mut Command, keep: bool) -> io::Result<(f64, String)> {
    let sink = if keep { Stdio::piped } else { Stdio::null };
    command.stdin(Stdio::null()).stdout(sink());
    command.stderr(Stdio::piped());
    let start = Instant::now();
    let output = command.spawn()?.wait_with_output()?;
    let ms = start.elapsed().as_secs_f64() * 1000.0;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        let first = message.lines().next().unwrap_or_default();
        return Err(io::Error::other(format!("{}: {first}", output.status)));
    }
    Ok((ms, String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// A generated session, and what is in it.
#[derive(Default, Serialize, Deserialize)]
struct Sample {
    name: String,
    #[serde(skip)]
    file: PathBuf,
    generation: usize,
    megabytes: usize,
    bytes: usize,
    entries: u32,
    tips: usize,
    path: usize,
    compactions: usize,
}

/// To be raised when the generator changes what it writes.
const GENERATION: usize = 1;

impl Sample {
    /// Generates `NAME.jsonl`, unless an earlier run left it, described in `NAME.json`.
    fn ready(dir: &Path, name: &str, megabytes: usize, texts: &[&str]) -> io::Result<Self> {
        let file = dir.join(format!("{name}.jsonl"));
        let description = file.with_extension("json");
        let kept = fs::read(&description).unwrap_or_default();
        if let Ok(kept) = serde_json::from_slice::<Self>(&kept)
            && (kept.generation, kept.megabytes) == (GENERATION, megabytes)
            && fs::metadata(&file).is_ok_and(|data| data.len() == kept.bytes as u64)
        {
            return Ok(Self { file, ..kept });
        }
        note(&format!("generating {} ({megabytes} MB)", file.display()))?;
        let mut rng = Rng(20_260_302);
        let mut session = Session {
            out: BufWriter::new(File::create(&file)?),
            texts: (0..4096).map(|_| rng.line(texts)).collect(),
            rng,
            now: 1_772_442_000_000,
            path: Vec::new(),
            turns: Vec::new(),
            plain: false,
            sample: Self {
                name: name.to_owned(),
                file,
                generation: GENERATION,
                megabytes,
                ..Self::default()
            },
        };
        session.write(megabytes * 1_000_000)?;
        fs::write(description, serde_json::to_vec(&session.sample)?)?;
        Ok(session.sample)
    }

    /// A copy that may be changed.
    fn copy(&self, dir: &Path, purpose: &str) -> io::Result<PathBuf> {
        let copy = dir.join(format!("{}-{purpose}.jsonl", self.name));
        fs::copy(&self.file, &copy)?;
        // Flushed with it, it would count as part of the first append.
        File::open(&copy)?.sync_all()?;
        Ok(copy)
    }

    fn pis(&self, args: &str) -> Command {
        let mut command = Command::new(PIS);
        command.arg("-s").arg(&self.file).args(args.split(' '));
        command.env_remove("PI_SESSION_FILE");
        command
    }
}

/// `SplitMix64`.
struct Rng(u64);

impl Rng {
    fn draw(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 32) as u32
    }

    fn below(&mut self, n: usize) -> usize {
        self.draw() as usize % n
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// A line as it stands inside a JSON string.
    fn line(&mut self, templates: &[&str]) -> String {
        let words = [
            "leaf", "token", "branch", "a", "naïve", "the", "名前", "session", "of", "entry",
        ];
        let mut parts = self.pick(templates).split('§');
        let mut line = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            line = line + self.pick(&words) + part;
        }
        line
    }
}

/// What people and models write, and what tools print; `§` is a word.
const CHAT: &[&str] = &[
    "I will move § § before § § so that it holds. ",
    r"The § of § § is §, see `§`.\n\n",
    r"- § § § § §\n",
    r#"    let § = self.§.get(\"§\")?;\n"#,
    r"fn §(§: &str) -> Option<§> {\n",
    r"\t\tif (§ !== null) {\n\t\t\treturn §;\n\t\t}\n",
    r"        // § the § before the §\n",
    r"src/§.rs:118:21: error: expected `;`, found `§`\n",
    r#"{\"type\":\"compaction\",\"id\":\"§\",\"parentId\":null,\"summary\":\"§\"}\n"#,
    r#"    println!(\"§: {:?}\\n\", §);\n\n"#,
];
const ESCAPES: &[&str] = &[
    r"\u001b[3m§\u001b[0m\n\t\t\\\n\t\t\t\\\n\t\t\t\t\n",
    r#"\"\\\"\"\\\\\"\"§\"\n\t\t\n\"\\\"\"\\\\\"\"\\\"\n\n\t\n"#,
    r#"\t\t\t\\\\\n\"\"\t\\n\\\"\n\t\t\t\\\\\n\"\"\n"#,
    r#"\u001b\u001b\n\n\t\"§\"\\\n\t\t\u001b\u001b\u001b\n\n"#,
];

/// A session while it is generated.
struct Session {
    out: BufWriter<File>,
    texts: Vec<String>,
    rng: Rng,
    /// Unix milliseconds.
    now: i64,
    /// The ids from the root to the leaf.
    path: Vec<String>,
    /// Where on the path the user messages are.
    turns: Vec<usize>,
    /// All is small, as in most chats.
    plain: bool,
    sample: Sample,
}

const HEADER: &str = r#"{"type":"session","version":3,"id":"019cadc0-e880-7000-8000-0000be9c5eed","timestamp":"2026-03-02T09:00:00.000Z","cwd":"/home/dev/project"}"#;
const MODEL: &str =
    r#""provider":"anthropic","model":"claude-opus-4-5","api":"anthropic-messages""#;

impl Session {
    fn write(&mut self, target: usize) -> io::Result<()> {
        self.line(HEADER)?;
        let model = r#""provider":"anthropic","modelId":"claude-opus-4-5""#;
        self.entry("model_change", model)?;
        self.entry("thinking_level_change", r#""thinkingLevel":"medium""#)?;
        let system = self.text(4000);
        let system = format!(r#"{{"role":"system","content":"","sections":{{"rules":"{system}"}}"#);
        self.message(&system)?;
        while self.sample.bytes + 50_000 < target {
            self.turn()?;
            if self.rng.below(60) == 0 {
                let (target, step) = (&self.path[self.path.len() - 1], self.turns.len());
                let label = format!(r#""targetId":"{target}","label":"step {step}""#);
                self.entry("label", &label)?;
            }
            if self.rng.below(25) == 0 {
                self.compact(&system)?;
            }
            if self.rng.below(14) == 0 {
                self.branch()?;
            }
        }
        // The end is the same small chat in every file.
        (self.plain, self.rng) = (true, Rng(7));
        for _ in 0..8 {
            self.turn()?;
        }
        self.sample.path = self.path.len();
        self.sample.tips += 1;
        self.out.flush()
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        self.sample.bytes += line.len() + 1;
        writeln!(self.out, "{line}")
    }

    /// Appends a child of the leaf.
    fn entry(&mut self, kind: &str, fields: &str) -> io::Result<()> {
        let parent = serde_json::to_string(&self.path.last())?;
        // A bijection: ids look random, and none comes twice.
        let mut id = self.sample.entries ^ 0x5bd1_e995;
        for factor in [0x85eb_ca6b, 0xc2b2_ae35_u32] {
            id = (id ^ (id >> 15)).wrapping_mul(factor);
        }
        let id = format!("{id:08x}");
        let time = jiff::Timestamp::from_millisecond(self.now).map_err(io::Error::other)?;
        let links = format!(r#""id":"{id}","parentId":{parent},"timestamp":"{time:.3}""#);
        self.path.push(id);
        self.sample.entries += 1;
        self.now += 400 + i64::from(self.rng.draw() % 9000);
        self.line(&format!(r#"{{"type":"{kind}",{links},{fields}}}"#))
    }

    /// `start` is the message without its `timestamp`, and open.
    fn message(&mut self, start: &str) -> io::Result<()> {
        let fields = format!(r#""message":{start},"timestamp":{}}}"#, self.now);
        self.entry("message", &fields)
    }

    fn text(&mut self, size: usize) -> String {
        let mut text = String::with_capacity(size + 100);
        while text.len() < size {
            text.push_str(&self.texts[self.rng.below(4096)]);
        }
        text
    }

    /// What a tool prints: 100 bytes to 200 kB, mostly little.
    fn output(&mut self) -> String {
        let (a, b) = (self.rng.below(11), self.rng.below(11));
        let wide = !self.plain && self.rng.below(5) == 0;
        let magnitude = if wide { a } else { a.min(b) };
        let least = 100 << if self.plain { magnitude / 3 } else { magnitude };
        let size = least + self.rng.below(least);
        self.text(size)
    }

    fn usage(&mut self) -> String {
        let [input, output, read] = [5000, 2000, 150_000].map(|most| self.rng.draw() % most);
        let [a, b, c] = [(input, 5e-6), (output, 25e-6), (read, 5e-7)]
            .map(|(tokens, price)| f64::from(tokens) * price);
        let (tokens, cost) = (input + output + read, a + b + c);
        format!(
            r#""usage":{{"input":{input},"output":{output},"cacheRead":{read},"cacheWrite":0,"totalTokens":{tokens},"cost":{{"input":{a},"output":{b},"cacheRead":{c},"cacheWrite":0,"total":{cost}}}}}"#
        )
    }

    /// The text in a block; once in `rarity` times with an image that starts like a PNG.
    fn content(&mut self, text: &str, rarity: usize) -> String {
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let text = format!(r#""content":[{{"type":"text","text":"{text}"}}"#);
        if self.plain || self.rng.below(rarity) > 0 {
            return text + "]";
        }
        let mut data = String::from("iVBORw0KGgoAAAANSUhEUgAA");
        for _ in 0..25_000 + self.rng.below(175_000) {
            let bits = self.rng.draw();
            data.extend([0, 6, 12, 18].map(|n| char::from(digits[(bits >> n) as usize % 64])));
        }
        format!(r#"{text},{{"type":"image","data":"{data}","mimeType":"image/png"}}]"#)
    }

    /// A prompt, rounds of tool calls, an answer.
    fn turn(&mut self) -> io::Result<()> {
        self.turns.push(self.path.len());
        let size = 100 + self.rng.below(900);
        let text = self.text(size);
        let content = self.content(&text, 250);
        self.message(&format!(r#"{{"role":"user",{content}"#))?;
        for _ in 0..self.rng.below(if self.plain { 3 } else { 7 }) {
            let (mut calls, mut blocks) = (Vec::new(), String::new());
            for n in 0..=self.rng.below(6) / 4 {
                let tool = self.rng.pick(&["read", "bash", "edit"]);
                let call = format!("toolu_{:08x}{n}", self.sample.entries);
                let (old, new) = (self.text(40), self.text(400));
                let arguments = match tool {
                    "read" => r#""path":"src/leaf.rs""#.to_owned(),
                    "bash" => format!(r#""command":"{old}""#),
                    _ => format!(r#""path":"src/a.rs","oldText":"{old}","newText":"{new}""#),
                };
                blocks = blocks + r#",{"type":"toolCall","id":""# + &call + r#"","name":""# + tool;
                blocks = blocks + r#"","arguments":{"# + &arguments + "}}";
                calls.push((call, tool));
            }
            self.assistant(&blocks, "toolUse")?;
            for (call, tool) in calls {
                let (text, error) = (self.output(), self.rng.below(20) == 0);
                let content = self.content(&text, 1000);
                self.message(&format!(
                    r#"{{"role":"toolResult","toolCallId":"{call}","toolName":"{tool}",{content},"isError":{error}"#
                ))?;
            }
        }
        self.assistant("", "stop")
    }

    fn assistant(&mut self, calls: &str, stop: &str) -> io::Result<()> {
        let (size, signed) = (100 + self.rng.below(800), self.rng.draw());
        let (thinking, text, usage) = (self.text(size), self.text(size / 2), self.usage());
        let thinking = format!(r#""thinking":"{thinking}","thinkingSignature":"EqQB{signed:08x}""#);
        self.message(&format!(
            r#"{{"role":"assistant","content":[{{"type":"thinking",{thinking}}},{{"type":"text","text":"{text}"}}{calls}],{MODEL},{usage},"stopReason":"{stop}""#
        ))
    }

    fn compact(&mut self, system: &str) -> io::Result<()> {
        let kept = self.turns[self.turns.len().saturating_sub(2)];
        let kept = self.path[kept].clone();
        let (summary, usage, now) = (self.text(3000), self.usage(), self.now);
        self.sample.compactions += 1;
        self.entry("compaction", &format!(
            r#""summary":"{summary}","firstKeptEntryId":"{kept}","tokensBefore":182345,"details":{{"readFiles":["src/leaf.rs"],"modifiedFiles":[]}},{usage},"fromHook":false,"systemMessage":{system},"timestamp":{now}}}"#
        ))
    }

    /// Goes back a few prompts, as `/tree` does; sometimes with a summary of what was left.
    fn branch(&mut self) -> io::Result<()> {
        let left = self.path[self.path.len() - 1].clone();
        let turn = self.turns.len().saturating_sub(1 + self.rng.below(8));
        self.path.truncate(self.turns[turn]);
        self.turns.truncate(turn);
        self.sample.tips += 1;
        if self.rng.below(3) > 0 {
            return Ok(());
        }
        let (summary, usage) = (self.text(1500), self.usage());
        self.entry("branch_summary", &format!(
            r#""fromId":"{left}","summary":"{summary}","details":{{"readFiles":[],"modifiedFiles":["src/leaf.rs"]}},{usage},"fromHook":false"#
        ))
    }
}

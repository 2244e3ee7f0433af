//! The real pi and pis take turns on one session. pi runs offline against a stand-in model, which
//! notes what it is asked: exactly the path that pis sees, and the new prompt.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::common::{Ran, World, ran};
use crate::reference::Reference;
use crate::state::json_lines;

/// The stand-in model server.
struct Model {
    server: Child,
    port: u16,
    log: PathBuf,
}

impl Model {
    fn start(world: &World) -> Model {
        let log = world.write("requests.log", "");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop/mock_llm.py");
        let mut server = Command::new("python3")
            .args([script, "0"])
            .arg(&log)
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 runs");
        let mut port = String::new();
        let stdout = server.stdout.take().expect("it is piped");
        let read = BufReader::new(stdout).read_line(&mut port);
        read.expect("the stand-in says its port");
        let port = port.trim().parse().expect("a port");
        Model { server, port, log }
    }

    /// What was asked since the last look.
    fn requests(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).expect("the log");
        std::fs::write(&self.log, "").expect("the log");
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("the stand-in writes JSON"))
            .map(|request: Value| request["body"]["messages"].clone())
            .collect()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A home with pi, pis and a model in it.
struct Desk {
    reference: Reference,
    world: World,
    model: Model,
}

impl Desk {
    fn new(reference: Reference) -> Desk {
        let world = World::new();
        let model = Model::start(&world);
        let cost = json!({ "input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0 });
        let models = json!([{ "id": "mock-1", "name": "Mock 1", "reasoning": false, "cost": cost,
            "input": ["text", "image"], "contextWindow": 128_000, "maxTokens": 4096 }]);
        let url = format!("http://127.0.0.1:{}/v1", model.port);
        let provider = json!({ "baseUrl": url, "api": "openai-completions", "apiKey": "sk-mock",
            "models": models });
        let config = json!({ "providers": { "mock": provider } });
        world.write("../home/.pi/agent/models.json", config.to_string());
        Desk {
            reference,
            world,
            model,
        }
    }

    fn pi(&self, args: &[&str]) -> Ran {
        let mut pi = self.reference.pi();
        let output = pi
            .args(args)
            .current_dir(self.world.work())
            .env_clear()
            .env("HOME", self.world.home())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("PI_OFFLINE", "1")
            .env("PI_CODING_AGENT_DIR", self.world.home().join(".pi/agent"))
            .stdin(Stdio::null())
            .output();
        ran(&output.expect("node runs"))
    }

    /// Runs pis, which must succeed, and returns its first line.
    fn pis(&self, args: &[&str]) -> String {
        self.pis_with(args, "")
    }

    fn pis_with(&self, args: &[&str], stdin: &str) -> String {
        let ran = self.world.pis_with(args, stdin);
        assert_eq!(ran.code, 0, "pis {args:?}: {ran:?}");
        ran.stdout.lines().next().unwrap_or_default().to_owned()
    }

    fn path(&self, session: &str) -> Vec<String> {
        self.world.lines(&["-q", "-s", session, "rev-path", "@"])
    }

    /// The messages of the context at the leaf.
    fn context(&self, session: &str) -> Vec<Value> {
        let context = self.world.json(&["-q", "-s", session, "context"]).remove(0);
        context["messages"].as_array().expect("a list").clone()
    }

    /// The newest session of the directory, by pis.
    fn newest(&self) -> String {
        let made = self.pis(&["cat-entry", "--header"]);
        let id = serde_json::from_str::<Value>(&made).expect("a header")["id"].clone();
        let id = id.as_str().expect("an id").to_owned();
        let dir = self.world.home().join(".pi/agent/sessions");
        let dirs = std::fs::read_dir(dir).expect("the sessions").flatten();
        let files = dirs.flat_map(|dir| std::fs::read_dir(dir.path()).expect("a directory"));
        let mut files = files.flatten().map(|file| file.path());
        let file = files.find(|file| file.to_string_lossy().ends_with(&format!("_{id}.jsonl")));
        file.expect("the session")
            .to_str()
            .expect("UTF-8")
            .to_owned()
    }

    /// Lets pi go on in a session (`--session FILE`, `-c`) where pis says that its leaf is. pi must
    /// not complain, and must ask the model what pis calls the context; what it writes must hang
    /// on the leaf.
    fn go_on(&self, session: &str, how: &[&str], prompt: &str) {
        self.go_on_with(session, how, prompt, "");
    }

    fn go_on_with(&self, session: &str, how: &[&str], prompt: &str, complaint: &str) {
        let before = self.path(session);
        let mut wanted = self.context(session);
        let args = [how, &["-p", prompt]].concat();
        let ran = self.pi(&args);
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (0, complaint),
            "pi {args:?}: {ran:?}"
        );
        assert!(ran.stdout.starts_with("mock reply"), "pi {args:?}: {ran:?}");

        let requests = self.model.requests();
        wanted.retain(|message| message["role"] != "system");
        wanted.push(json!({ "role": "user", "content": prompt }));
        let mut asked = requests[0].as_array().expect("a list").clone();
        asked.retain(|message| message["role"] != "system");
        let shown = || format!("pi {args:?}\n asked {asked:#?}\nwanted {wanted:#?}");
        assert_eq!(asked.len(), wanted.len(), "{}", shown());
        for (asked, wanted) in asked.iter().zip(&wanted) {
            assert!(is_asked(wanted, asked), "{wanted}\n{asked}\n{}", shown());
        }

        let after = self.path(session);
        assert_eq!(
            before,
            after[..before.len()],
            "pi goes on at the leaf of pis"
        );
        let context = self.context(session);
        let reply = text_of(&context.last().expect("an answer")["content"]);
        assert_eq!(
            reply.trim(),
            ran.stdout.trim(),
            "the answer is the last message"
        );
    }

    /// The id of the newest answer.
    fn answer(&self, session: &str) -> String {
        self.pis(&["-s", session, "rev-parse", "@^{assistant}"])
    }
}

/// The text of a content.
fn text_of(content: &Value) -> String {
    let Some(blocks) = content.as_array() else {
        return content.as_str().unwrap_or_default().to_owned();
    };
    blocks
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect()
}

/// Whether a message of the context is what the model was sent. pi words summaries and runs of
/// bash in its own way.
fn is_asked(message: &Value, asked: &Value) -> bool {
    let text = text_of(&asked["content"]);
    let part = |key: &str| text.contains(message[key].as_str().expect("text"));
    match message["role"].as_str().unwrap_or_default() {
        "branchSummary" | "compactionSummary" => asked["role"] == "user" && part("summary"),
        "bashExecution" => asked["role"] == "user" && part("command") && part("output"),
        role => {
            let role = match role {
                "custom" => "user",
                "toolResult" => "tool",
                other => other,
            };
            asked["role"] == role && text == text_of(&message["content"])
        }
    }
}

#[test]
fn pi_and_pis_take_turns() {
    let Some(reference) = Reference::or_skip() else {
        return;
    };
    let desk = Desk::new(reference);
    let ran = desk.pi(&["-p", "one"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    desk.model.requests();
    let session = desk.newest();
    let session = session.as_str();
    let first = desk.answer(session);
    desk.go_on(session, &["-c"], "two");
    desk.go_on(session, &["-c"], "three, use-tool");
    let left = desk.answer(session);

    // pis goes back to the first answer, pi takes another way from there.
    desk.pis(&["checkout", &first, "--write"]);
    desk.go_on(session, &["-c"], "another two");
    let other = desk.answer(session);
    let tips = desk.world.lines(&["-q", "for-each-tip"]);
    assert_eq!(tips.len(), 2, "{tips:?}");
    let graph = desk.world.lines(&["-q", "log", "--graph"]).join("\n");
    assert!(
        graph.contains("three, use-tool") && graph.contains("another two"),
        "{graph}"
    );

    // Back again: a label makes the move last, without a marker.
    desk.pis(&["-q", "checkout", &left]);
    desk.pis(&["label", "@", "the long way"]);
    desk.go_on(session, &["--session", session], "four");

    // Taking back a prompt, and sending another one in its place.
    let handed_back = desk.pis(&["checkout", "@%", "--write"]);
    assert_eq!(handed_back, "four");
    desk.go_on(session, &["-c"], "four, in other words");

    // A clone that pis made is what pi continues, and the old session stays as it is.
    let stored = std::fs::read(session).expect("the session");
    let clone = desk.pis(&["-q", "clone", &other, "--name", "cloned"]);
    desk.go_on(&clone, &["-c"], "five");
    let fork = desk.pis(&["-q", "-s", session, "fork", "@%2"]);
    desk.go_on(&fork, &["--session", &fork], "six");
    assert_eq!(stored, std::fs::read(session).expect("the session"));
    let copy = desk.pis(&["-q", "copy", session]);
    desk.go_on(&copy, &["-c"], "seven");

    // pi's own fork of what pis wrote, and pis in that.
    let ran = desk.pi(&["--fork", &clone, "-p", "eight"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    desk.model.requests();
    let forked = desk.newest();
    assert_ne!(forked, clone);
    assert_eq!(desk.pis(&["name"]), "cloned");
    desk.pis(&["-s", &forked, "checkout", &first, "--write"]);
    desk.go_on(&forked, &["-c"], "nine");
}

#[test]
fn pi_goes_on_after_whatever_pis_writes() {
    let Some(reference) = Reference::or_skip() else {
        return;
    };
    let desk = Desk::new(reference);
    let ran = desk.pi(&["-p", "begin"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    desk.model.requests();
    let session = desk.newest();
    let png = desk.world.write("shot.png", b"\x89PNG\r\n\x1a\n");
    let png = png.to_str().expect("UTF-8");
    let messages = [
        json!({ "role": "user", "content": "run it" }),
        json!({ "role": "assistant", "content": [{ "type": "text", "text": "I run it" },
            { "type": "toolCall", "id": "c1", "name": "bash", "arguments": { "command": "ls" } }] }),
        json!({ "role": "toolResult", "toolCallId": "c1", "toolName": "bash", "content": "a.txt" }),
        json!({ "role": "assistant", "content": "There is a.txt", "usage": { "input": 3 } }),
        json!({ "role": "bashExecution", "command": "pwd", "output": "/here", "exitCode": 0 }),
        json!({ "role": "custom", "customType": "x", "content": "from the side" }),
    ];
    let entries = [
        json!({ "type": "custom_message", "customType": "x", "content": "from an entry" }),
        json!({ "type": "branch_summary", "summary": "elsewhere it failed" }),
        json!({ "type": "model_change", "provider": "mock", "modelId": "mock-1" }),
        json!({ "type": "thinking_level_change", "thinkingLevel": "off" }),
        json!({ "type": "usage", "kind": "title", "provider": "mock", "model": "mock-1" }),
        json!({ "type": "custom", "customType": "state", "data": [1] }),
        json!({ "type": "hologram", "beam": true }),
        json!({ "role": "system", "content": "Be brief." }),
    ];
    let (messages, entries) = (json_lines(&messages), json_lines(&entries));
    let compaction = json!({ "type": "compaction", "summary": "all that was before" }).to_string();
    let asks: [(&[&str], &str); 16] = [
        (
            &[
                "append",
                "--user",
                "and?",
                "--image",
                png,
                "--assistant",
                "yes",
            ],
            "",
        ),
        (&["append"], &messages),
        (&["append", "--parent", "@"], &entries),
        (&["label", "@", "here"], ""),
        (&["label", "-d", "here"], ""),
        (&["name", "turn by turn"], ""),
        (&["edit-context", "@^{tool}", "--replace", "nothing"], ""),
        (&["edit-context", "@%", "--omit"], ""),
        (
            &[
                "checkout",
                "@%2",
                "--summary",
                "a dead end",
                "--label",
                "why",
            ],
            "",
        ),
        (&["checkout", "@^{assistant}", "--label", "again"], ""),
        (&["checkout", "@", "--summary", "so far so good"], ""),
        (&["checkout", "@%", "--write"], ""),
        (&["set-leaf", "@^{assistant}~1", "--write"], ""),
        (&["append"], &compaction),
        (&["set-leaf", "root", "--write"], ""),
        (
            &[
                "append",
                "--parent",
                "again",
                "--user",
                "a prompt that waits",
            ],
            "",
        ),
    ];
    for (n, (args, stdin)) in asks.iter().enumerate() {
        let args = [&["-q", "-s", &session], *args].concat();
        desk.pis_with(&args, stdin);
        desk.go_on(&session, &["--session", &session], &format!("turn {n}"));
    }
    assert_eq!(desk.pis(&["-s", &session, "name"]), "turn by turn");
}

#[test]
fn pi_goes_on_in_sessions_that_pis_began() {
    let Some(reference) = Reference::or_skip() else {
        return;
    };
    let desk = Desk::new(reference);
    let answer = |provider: &str, model: &str| {
        json!({ "role": "assistant", "content": "hello", "api": "openai-completions",
            "provider": provider, "model": model })
        .to_string()
    };

    let empty = desk.pis(&["-q", "init"]);
    desk.go_on(&empty, &["-c"], "into an empty one");
    let named = desk.pis(&["-q", "new", "three plans"]);
    desk.go_on(&named, &["-c"], "into a named one");
    assert_eq!(desk.pis(&["-s", &named, "name"]), "three plans");

    let begun = desk.pis(&["-q", "init"]);
    desk.pis(&["-s", &begun, "append", "--user", "hi"]);
    desk.pis_with(&["-s", &begun, "append"], &answer("mock", "mock-1"));
    desk.pis(&[
        "-s",
        &begun,
        "append",
        "--user",
        "more",
        "--assistant",
        "of the same",
    ]);
    desk.go_on(&begun, &["-c"], "and on");
    let asked = desk.pis(&["-q", "init", "--id", "asked-only"]);
    desk.pis(&["append", "--user", "nobody answers"]);
    desk.go_on(&asked, &["--session", "asked-only"], "now");

    // Before a first prompt stand the model and the system message, or nothing at all.
    let prompts = desk
        .world
        .lines(&["-q", "-s", &named, "ls-entries", "--role", "user"]);
    let start = desk.pis(&["-q", "-s", &named, "fork", &prompts[0]]);
    desk.go_on(&start, &["-c"], "once more");
    let prompts = desk
        .world
        .lines(&["-q", "-s", &begun, "ls-entries", "--role", "user"]);
    let nothing = desk.pis(&["-q", "-s", &begun, "fork", &prompts[0]]);
    assert!(desk.path(&nothing).is_empty());
    desk.go_on(&nothing, &["-c"], "from nothing");

    for old in ["v1.jsonl", "v2.jsonl"] {
        let copy = desk.pis(&["-q", "copy", &crate::common::fixture(old)]);
        let complaint = match old {
            "v1.jsonl" => {
                "Warning: Could not restore model anthropic/claude-a. Using mock/mock-1\n"
            }
            _ => "",
        };
        desk.go_on_with(&copy, &["--session", &copy], "after years", complaint);
    }

    // A model that pi does not have is replaced, which it says; `--model` says nothing.
    let unknown = desk.pis(&["-q", "init"]);
    desk.pis(&["append", "--user", "hi"]);
    desk.pis_with(&["append"], &answer("unknown", "unknown"));
    let complaint = "Warning: Could not restore model unknown/unknown. Using mock/mock-1\n";
    desk.go_on_with(&unknown, &["-c"], "who are you", complaint);
    desk.pis_with(&["append"], &answer("unknown", "unknown"));
    desk.go_on(&unknown, &["-c", "--model", "mock/mock-1"], "and now");
}

//! `pis fsck`: each kind of damage by its code, on the right line and bytes.

use std::collections::BTreeSet;
use std::fs;

use pis::check::{Code, Severity};
use serde_json::{Value, json};

use crate::common::{Build, World, assistant, fields, fixture};

/// A header, a prompt and its answer: three lines.
fn talk() -> Build {
    Build::new()
        .user("aaaaaaaa", "", "hi")
        .assistant("bbbbbbbb", "aaaaaaaa", "yo")
}

/// Offsets of a line, counted from 1.
fn line(text: &[u8], number: usize) -> (usize, usize) {
    let mut start = 0;
    for (n, line) in text.split(|&b| b == b'\n').enumerate() {
        if n + 1 == number {
            return (start, start + line.len());
        }
        start += line.len() + 1;
    }
    panic!("there is no line {number}")
}

type Wanted = (&'static str, usize, Option<(usize, usize)>);

struct Case {
    bytes: Vec<u8>,
    /// Code, line, and the bytes where they are not those of the line.
    wanted: Vec<Wanted>,
    repairable: bool,
}

fn case(bytes: impl Into<Vec<u8>>, code: &'static str, line: usize) -> Case {
    Case {
        bytes: bytes.into(),
        wanted: vec![(code, line, None)],
        repairable: false,
    }
}

impl Case {
    fn and(mut self, code: &'static str, line: usize) -> Case {
        self.wanted.push((code, line, None));
        self
    }

    fn at(mut self, start: usize, end: usize) -> Case {
        if let Some(last) = self.wanted.last_mut() {
            last.2 = Some((start, end));
        }
        self
    }

    fn repairable(mut self) -> Case {
        self.repairable = true;
        self
    }
}

const RECORD: &str = r#"{"type":"message","id":"dddddddd","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:09.000Z","message":{"role":"user","content":"after","timestamp":1}}"#;

/// Damage that keeps a line from being read.
fn broken_lines() -> Vec<Case> {
    let text = talk().text();
    let with = |line: &str| format!("{text}{line}\n");
    let len = text.len();
    let torn = &RECORD[..60];
    let split = RECORD.replace("after", "line1\nline2\n\nline4");
    let mut middle: Vec<&str> = text.lines().collect();
    middle.insert(2, "not json");
    vec![
        case(format!("{text}{torn}"), "torn-tail", 4),
        case(text.trim_end().as_bytes(), "no-final-newline", 3).repairable(),
        case(middle.join("\n") + "\n", "unparseable-line", 3),
        case(with(&format!("{torn}{RECORD}")), "fused-record", 4).repairable(),
        case(with(&format!("{RECORD}xyz")), "fused-record", 4).repairable(),
        case(
            with(&format!(
                "{RECORD} {}",
                RECORD.replace("dddddddd", "eeeeeeee")
            )),
            "glued-records",
            4,
        )
        .repairable(),
        case(with(&split), "split-record", 4)
            .at(len, len + split.len())
            .repairable(),
        case(
            with(&RECORD.replace("after", "a\u{1b}[0m")),
            "control-character",
            4,
        )
        .repairable(),
        case(with(&"\0".repeat(300)), "nul-bytes", 4).at(len, len + 300),
        case(
            with(&format!("{}{RECORD}", "\0".repeat(30))),
            "nul-bytes",
            4,
        )
        .at(len, len + 30)
        .repairable(),
        case(with(&"\0".repeat(1 << 20)), "nul-bytes", 4).at(len, len + (1 << 20)),
        case(format!("{text}\0\0\0"), "nul-bytes", 4).at(len, len + 3),
        case(with("42"), "not-an-object", 4),
        case(with("null"), "not-an-object", 4),
        case(
            with(text.lines().next().expect("a header")),
            "second-header",
            4,
        )
        .repairable(),
        case(
            [
                text.as_bytes(),
                &RECORD.as_bytes()[..135],
                b"\xff\xfe",
                &RECORD.as_bytes()[135..],
                b"\n",
            ]
            .concat(),
            "invalid-utf8",
            4,
        ),
    ]
}

/// Damage to the header, and what surrounds it.
fn headers() -> Vec<Case> {
    let text = talk().text();
    let (header, entries) = text.split_once('\n').expect("a header");
    let versioned =
        |version: &str| text.replace("\"version\":3", &format!("\"version\":{version}"));
    let v1 = fs::read(fixture("v1.jsonl")).expect("the fixture");
    let v1 = String::from_utf8(v1).expect("UTF-8");
    let claimed = v1.replacen(
        "\"type\":\"session\"",
        "\"type\":\"session\",\"version\":3",
        1,
    );
    vec![
        case(format!("\u{feff}{text}"), "bom", 1)
            .at(0, 3)
            .repairable(),
        case(entries, "no-header", 1).at(0, 0).repairable(),
        case(
            format!("{}\n{header}\n", entries.lines().next().expect("an entry")),
            "header-not-first",
            2,
        )
        .repairable(),
        case(format!("\n\nnot json\n{text}"), "unparseable-line", 3),
        case("", "empty", 1).at(0, 0),
        case("\n \n", "empty", 1).at(0, 3),
        case("{\"type\":\"user\",\"uuid\":\"x\"}\n", "not-a-session", 1).at(0, 27),
        case("<!doctype html>", "not-a-session", 1).at(0, 15),
        case(text.replacen("01976a7c-1111", "../x", 1), "bad-header", 1),
        case(text.replacen("\"cwd\"", "\"dir\"", 1), "bad-header", 1),
        case(versioned("99"), "newer-version", 1),
        case(versioned("\"3\""), "bad-version", 1),
        case(versioned("2"), "old-version", 1).repairable(),
        case(claimed, "no-ids", 1).repairable(),
        case(
            text.replacen(
                "\"cwd\"",
                &format!("\"x\":\"{}\",\"cwd\"", "x".repeat(1 << 20)),
                1,
            ),
            "hidden-header",
            1,
        ),
        case(
            text.replacen(
                "\"cwd\"",
                "\"parentSession\":\"/nowhere/p.jsonl\",\"cwd\"",
                1,
            ),
            "parent-session-gone",
            1,
        ),
        case(
            text.replacen("\"cwd\"", "\"parentSession\":\"S\",\"cwd\"", 1),
            "parent-session-cycle",
            1,
        ),
    ]
}

/// Entries that are odd by themselves.
fn entries() -> Vec<Case> {
    let message = |message: Value| talk().message("cccccccc", "bbbbbbbb", message).text();
    let entry = |entry: Value| talk().entry("cccccccc", "bbbbbbbb", entry).text();
    let raw = |line: &str| talk().raw(line).text();
    let answer = |without: &str| {
        let mut answer = assistant(json!([]));
        answer.as_object_mut().expect("an object").remove(without);
        answer
    };
    let user = |content: Value| json!({ "role": "user", "content": content });
    let mut free = assistant(json!([]));
    free["usage"]
        .as_object_mut()
        .expect("an object")
        .remove("cost");
    let text = |content: Value| {
        let mut answer = answer("content");
        answer["content"] = content;
        Build::new()
            .user("aaaaaaaa", "", "hi")
            .message("cccccccc", "aaaaaaaa", answer)
            .text()
    };
    vec![
        case(raw(r#"{"type":"custom","customType":"x","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:09.000Z"}"#), "no-id", 4).repairable(),
        case(raw(&RECORD.replace("\"dddddddd\"", "7")), "bad-id", 4),
        case(raw(&RECORD.replace("dddddddd", "")), "bad-id", 4).repairable(),
        case(raw(&RECORD.replace("\"type\":\"message\",", "")), "no-type", 4),
        case(entry(json!({ "type": "leaf" })), "unknown-type", 4),
        case(entry(json!({ "type": "custom", "timestamp": "t" })), "bad-timestamp", 4),
        case(entry(json!({ "type": "message" })), "no-message", 4),
        case(message(json!({ "role": "weird", "content": "x" })), "unknown-role", 4),
        case(message(json!({ "role": "hookMessage", "content": "x" })), "old-role", 4).repairable(),
        case(message(user(Value::Null)), "no-content", 4).repairable(),
        case(message(user(json!(7))), "bad-content", 4).repairable(),
        case(text(json!("yo")), "bad-content", 3).repairable(),
        case(message(user(json!([null, 7]))), "bad-block", 4).repairable(),
        case(text(json!([{ "type": "text", "text": null }])), "bad-block", 3).repairable(),
        case(text(json!([{ "type": "thinking" }])), "bad-block", 3).repairable(),
        case(text(json!([{ "type": "toolCall", "id": "t", "name": "x", "arguments": null }])), "bad-call", 3)
            .and("call-without-result", 3),
        case(
            Build::new().user("aaaaaaaa", "", "hi").message("cccccccc", "aaaaaaaa", answer("usage")).text(),
            "no-usage",
            3,
        )
        .repairable(),
        case(
            Build::new().user("aaaaaaaa", "", "hi").message("cccccccc", "aaaaaaaa", free).text(),
            "no-cost",
            3,
        )
        .repairable(),
        case(entry(json!({ "type": "session_info", "name": 7 })), "bad-name", 4).repairable(),
    ]
}

/// Ids and parents.
fn links() -> Vec<Case> {
    let text = talk().text();
    let lines: Vec<&str> = text.lines().collect();
    vec![
        case(talk().user("cccccccc", "zzzzzzzz", "x").text(), "orphan", 4).repairable(),
        case(talk().user("cccccccc", "cccccccc", "x").text(), "cycle", 4).repairable(),
        case(
            talk()
                .user("cccccccc", "dddddddd", "x")
                .user("dddddddd", "cccccccc", "y")
                .text(),
            "cycle",
            4,
        )
        .repairable(),
        case(talk().raw(lines[2]).text(), "duplicate-id", 4).repairable(),
        case(
            talk().user("aaaaaaaa", "bbbbbbbb", "again").text(),
            "cycle",
            3,
        )
        .and("duplicate-id", 4)
        .repairable(),
        case(
            talk()
                .raw(&RECORD.replace(r#""parentId":"bbbbbbbb","#, ""))
                .text(),
            "bad-parent",
            4,
        )
        .repairable(),
        case(
            talk()
                .raw(&RECORD.replace(r#""parentId":"bbbbbbbb""#, r#""parentId":"""#))
                .text(),
            "bad-parent",
            4,
        )
        .repairable(),
        case(
            [lines[0], lines[2], lines[1], ""].join("\n"),
            "out-of-order",
            2,
        ),
    ]
}

/// What else names an entry.
fn targets() -> Vec<Case> {
    let entry = |entry: Value| talk().entry("cccccccc", "bbbbbbbb", entry).text();
    let compaction = |first: &str| json!({ "type": "compaction", "summary": "s", "tokensBefore": 1, "firstKeptEntryId": first });
    let edit =
        |target: &str| json!({ "type": "context_edit", "targetId": target, "replacement": null });
    let fork = || talk().user("dddddddd", "aaaaaaaa", "else");
    vec![
        case(
            talk().label("cccccccc", "bbbbbbbb", "gone0000", "x").text(),
            "dangling-label",
            4,
        ),
        case(entry(edit("gone0000")), "dangling-edit", 4),
        case(
            fork()
                .entry("eeeeeeee", "dddddddd", edit("bbbbbbbb"))
                .text(),
            "edit-off-path",
            5,
        ),
        case(entry(compaction("gone0000")), "missing-first-kept", 4),
        case(
            fork()
                .entry("eeeeeeee", "dddddddd", compaction("bbbbbbbb"))
                .text(),
            "missing-first-kept",
            5,
        ),
        case(
            entry(json!({ "type": "branch_summary", "summary": "s", "fromId": "gone0000" })),
            "dangling-from",
            4,
        ),
        case(
            fork().label("eeeeeeee", "aaaaaaaa", "aaaaaaaa", "x").text(),
            "hidden-branch",
            5,
        ),
    ]
}

/// Calls, results and answers.
fn turns() -> Vec<Case> {
    let call =
        |id: &str| json!([{ "type": "toolCall", "id": id, "name": "read", "arguments": {} }]);
    let result = |id: &str| json!({ "role": "toolResult", "toolCallId": id, "toolName": "read", "content": [], "isError": false });
    let asked = || {
        Build::new().user("aaaaaaaa", "", "hi").message(
            "cccccccc",
            "aaaaaaaa",
            assistant(call("t1")),
        )
    };
    vec![
        case(
            asked().user("dddddddd", "cccccccc", "never mind").text(),
            "call-without-result",
            3,
        ),
        case(
            talk().message("cccccccc", "bbbbbbbb", result("t1")).text(),
            "result-without-call",
            4,
        ),
        case(
            asked()
                .message("dddddddd", "cccccccc", result("t1"))
                .message("eeeeeeee", "dddddddd", result("t1"))
                .text(),
            "repeated-result",
            5,
        ),
        // The call is on another branch.
        case(
            asked().message("dddddddd", "aaaaaaaa", result("t1")).text(),
            "call-without-result",
            3,
        )
        .and("result-without-call", 4),
        case(
            talk().assistant("cccccccc", "bbbbbbbb", "more").text(),
            "assistant-after-assistant",
            4,
        ),
    ]
}

#[test]
fn each_kind_of_damage_has_its_code_line_and_bytes() {
    let cases = [
        broken_lines(),
        headers(),
        entries(),
        links(),
        targets(),
        turns(),
    ];
    let mut seen = BTreeSet::new();
    for case in cases.into_iter().flatten() {
        let world = World::with(&case.bytes);
        let path = world.path("s.jsonl");
        if case.wanted[0].0 == "parent-session-cycle" {
            let text = fs::read_to_string(&path).expect("the session");
            let own = path.to_str().expect("UTF-8");
            fs::write(&path, text.replace("\"S\"", &format!("\"{own}\""))).expect("written");
        }
        let ran = world.read(&["--json", "fsck", path.to_str().expect("UTF-8")]);
        let rows: Vec<Value> = ran
            .stdout
            .lines()
            .map(|row| serde_json::from_str(row).expect("JSON"))
            .collect();
        let bytes = fs::read(&path).expect("the session");
        let wanted: Vec<Value> = case
            .wanted
            .iter()
            .map(|&(code, number, span)| {
                let (start, end) = span.unwrap_or_else(|| line(&bytes, number));
                json!({ "code": code, "lineNumber": number, "start": start, "end": end })
            })
            .collect();
        let brief: Vec<Value> = rows
            .iter()
            .map(|row| {
                json!({ "code": row["code"], "lineNumber": row["lineNumber"], "start": row["start"],
                    "end": row["end"] })
            })
            .collect();
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(2000)]);
        assert_eq!(brief, wanted, "{text}\n{rows:?}");
        let serious = rows.iter().any(|row| row["severity"] != "info");
        assert_eq!(ran.code, i32::from(serious), "{text}");
        let repairable = rows.iter().any(|row| row["repairable"] == true);
        assert_eq!(repairable, case.repairable, "{rows:?}");
        seen.extend(case.wanted.iter().map(|(code, _, _)| *code));
    }
    // Two are about what lies around a session, below.
    seen.extend(["wrong-directory", "dangling-leaf"]);
    let all: BTreeSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(seen, all, "every code is met");
}

#[test]
fn a_sound_session_has_nothing() {
    let session = fs::read(fixture("branched.jsonl")).expect("the fixture");
    let ran = World::with(session).read(&["-s", "s.jsonl", "fsck"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "", "")
    );
}

#[test]
fn what_lies_around_a_session_is_checked_too() {
    let world = World::new();
    let session = world.ok(&["-q", "init", "--name", "one"]);
    let session = session.trim();
    let elsewhere = world
        .home()
        .join(".pi/agent/sessions/--else-where--/x.jsonl");
    fs::create_dir_all(elsewhere.parent().expect("a directory")).expect("made");
    fs::copy(session, &elsewhere).expect("copied");
    let rows = world.json(&["--json", "fsck", elsewhere.to_str().expect("UTF-8")]);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["code"], "wrong-directory");
    assert_eq!(world.ok(&["fsck", session]), "");

    let size = fs::metadata(session).expect("the session").len();
    let name = std::path::Path::new(session).file_name().expect("a name");
    let state = std::path::Path::new(session)
        .with_file_name(".pis")
        .join(format!("{}.d", name.display()));
    fs::create_dir_all(&state).expect("made");
    fs::write(
        state.join("HEAD"),
        format!("{{\"leaf\":\"gone0000\",\"size\":{size}}}"),
    )
    .expect("written");
    let ran = world.pis(&["fsck", session]);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.stdout,
        "-: warning: dangling-leaf: HEAD names gone0000, which is not in the file\n"
    );
}

#[test]
fn all_sessions_are_checked_and_none_hides_another() {
    let world = World::new();
    let sound = world.ok(&["-q", "init"]);
    let torn = world.ok(&["-q", "init"]);
    fs::write(
        torn.trim(),
        format!(
            "{}{{\"type\":",
            fs::read_to_string(torn.trim()).expect("it")
        ),
    )
    .expect("written");
    let ran = world.pis(&["fsck", "--all"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    assert!(
        ran.stdout
            .starts_with(&format!("{}:2: error: torn-tail: ", torn.trim())),
        "{ran:?}"
    );
    let ran = world.pis(&["fsck", sound.trim(), torn.trim()]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (1, 1));
    let ran = world.pis(&["fsck", sound.trim(), "gone.jsonl", torn.trim()]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (1, 1), "{ran:?}");
    assert!(ran.stderr.contains("gone.jsonl"), "{ran:?}");
    assert_eq!(world.pis(&["fsck", "gone.jsonl"]).code, 128);
    assert_eq!(world.pis(&["fsck", "--all", "x"]).code, 2);
    let none = World::new().pis(&["fsck", "--all"]);
    assert_eq!((none.code, none.stdout.as_str()), (0, ""));
}

#[test]
fn json_has_its_fields_and_stdin_is_checked() {
    let world = World::new();
    let ran = world.pis_with(&["--json", "fsck", "-"], format!("{}42\n", talk().text()));
    assert_eq!(
        fields(&ran.object()),
        [
            "code",
            "end",
            "id",
            "lineNumber",
            "message",
            "repairable",
            "session",
            "severity",
            "start"
        ]
    );
    assert_eq!(ran.object()["session"], "standard input");
    let ran = world.pis_with(&["-s", "-", "fsck"], "not json\n");
    assert_eq!(
        ran.stdout,
        "1: error: not-a-session: no line of it is JSON\n"
    );
}

#[test]
fn the_manual_explains_every_code() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/man/pis-fsck.1"))
        .expect("the page");
    for code in Code::ALL {
        let term = format!(".TP\n\\fB{}\\fR\n", code.name().replace('-', "\\-"));
        assert!(page.contains(&term), "{}", code.name());
        assert!(!code.meaning().is_empty() && code.severity() <= Severity::Info);
    }
}

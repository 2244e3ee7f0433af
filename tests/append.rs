//! `pis append`: what is filled in, what is refused, and where it hangs.

use serde_json::{Value, json};

use crate::common::{Build, Ran, World, fields};
use crate::moving::two_branches;

fn world() -> World {
    World::with(two_branches().text())
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|v| format!("{v}\n")).collect()
}

/// The entries that a run added, and what it printed.
fn appended(world: &World, args: &[&str], stdin: &str) -> (Vec<Value>, Ran) {
    let before = world.stored(1).len();
    let ran = world.on_with(args, stdin);
    (world.stored(1 + before), ran)
}

#[test]
fn messages_hang_one_on_the_other_and_their_ids_are_printed() {
    let world = world();
    let input = lines(&[
        json!({ "role": "user", "content": "hi" }),
        json!({ "role": "assistant", "content": "there" }),
        json!({ "role": "user", "content": [{ "type": "text", "text": "x" }], "timestamp": 5, "extra": [1] }),
    ]);
    let (new, ran) = appended(&world, &["append"], &input.replace("}\n{", "}\n\n{"));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let ids: Vec<_> = new
        .iter()
        .map(|e| e["id"].as_str().expect("an id"))
        .collect();
    assert_eq!(ran.stdout, format!("{}\n", ids.join("\n")));
    let parents: Vec<_> = new
        .iter()
        .map(|e| e["parentId"].as_str().expect("a parent"))
        .collect();
    assert_eq!(parents, ["ffff1111", ids[0], ids[1]]);
    for entry in &new {
        assert_eq!(
            fields(entry),
            ["id", "message", "parentId", "timestamp", "type"]
        );
        let id = entry["id"].as_str().expect("an id");
        assert!(
            id.len() == 16
                && id
                    .bytes()
                    .all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
        );
        let time = entry["timestamp"].as_str().expect("a time");
        assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
    }
    assert_eq!(new[0]["message"]["content"], "hi");
    assert!(
        new[0]["message"]["timestamp"]
            .as_i64()
            .is_some_and(|t| t > 1_700_000_000_000)
    );
    assert_eq!(
        (&new[2]["message"]["timestamp"], &new[2]["message"]["extra"]),
        (&json!(5), &json!([1]))
    );
    assert_eq!(world.leaf(), ids[2]);
    assert!(!world.path(".pis/s.jsonl.d/HEAD").exists());

    let (new, ran) = appended(&world, &["append", "--json"], &input);
    let rows: Vec<Value> = ran
        .stdout
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
    let wanted: Vec<_> = new
        .iter()
        .map(|e| json!({ "id": e["id"], "parentId": e["parentId"] }))
        .collect();
    assert_eq!(rows, wanted);
}

#[test]
fn answers_get_what_pi_needs_of_them() {
    let world = world();
    let zero = json!({ "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 });
    let call = json!({ "type": "toolCall", "id": "c", "name": "read", "arguments": {} });
    let input = lines(&[
        json!({ "role": "assistant", "content": "text" }),
        json!({ "role": "assistant", "content": [call] }),
        json!({ "role": "toolResult", "toolCallId": "c", "toolName": "read", "content": "out" }),
        json!({
            "role": "assistant", "content": null, "stopReason": "error", "errorMessage": "e",
            "provider": "p", "model": "m", "api": "a",
            "usage": { "input": 3, "output": 4, "reasoning": 2, "cost": { "input": 0.5, "output": 0.25 } },
        }),
        json!({ "role": "assistant", "content": [] }),
        json!({ "role": "bashExecution", "command": "ls" }),
        json!({ "role": "system" }),
        json!({ "role": "custom", "customType": "x", "content": "c" }),
    ]);
    let (new, ran) = appended(&world, &["append"], &input);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let m: Vec<&Value> = new.iter().map(|e| &e["message"]).collect();
    assert_eq!(m[0]["content"], json!([{ "type": "text", "text": "text" }]));
    let model = |m: &Value| [m["provider"].clone(), m["model"].clone(), m["api"].clone()];
    assert_eq!(model(m[0]), ["anthropic", "claude-a", "anthropic-messages"]);
    assert_eq!(m[0]["usage"]["cost"], zero);
    assert_eq!(m[0]["usage"]["totalTokens"], 0);
    assert_eq!(
        (
            &m[0]["stopReason"],
            &m[1]["stopReason"],
            &m[3]["stopReason"]
        ),
        (&json!("stop"), &json!("toolUse"), &json!("error"))
    );
    assert_eq!(
        (&m[2]["content"], &m[2]["isError"]),
        (&json!([{ "type": "text", "text": "out" }]), &json!(false))
    );
    let usage = json!({
        "input": 3, "output": 4, "reasoning": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 7,
        "cost": { "input": 0.5, "output": 0.25, "cacheRead": 0, "cacheWrite": 0, "total": 0.75 },
    });
    assert_eq!((&m[3]["usage"], &m[3]["content"]), (&usage, &json!([])));
    // What an answer says of its model is in force behind it.
    assert_eq!(model(m[4]), ["p", "m", "a"]);
    assert_eq!(
        (&m[5]["output"], &m[5]["cancelled"], &m[5]["truncated"]),
        (&json!(""), &json!(false), &json!(false))
    );
    assert_eq!(
        (&m[6]["content"], &m[7]["display"]),
        (&json!(""), &json!(true))
    );
    assert_eq!(world.on(&["context"]).code, 0);
}

#[test]
fn the_model_in_force_is_that_of_the_parent() {
    let change = json!({ "type": "model_change", "provider": "openai", "modelId": "gpt" });
    let text = two_branches().entry("1111cccc", "dddd1111", change).text();
    let world = World::with(text);
    let by = |parent: &str| {
        let (new, ran) = appended(
            &world,
            &["append", "--assistant", "x", "--parent", parent],
            "",
        );
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{parent}");
        let m = &new[0]["message"];
        [&m["provider"], &m["model"], &m["api"]].map(|v| v.as_str().expect("a word").to_owned())
    };
    assert_eq!(by("1111cccc"), ["openai", "gpt", "openai-completions"]);
    assert_eq!(
        by("dddd1111"),
        ["anthropic", "claude-a", "anthropic-messages"]
    );
    // Where none is, the message must name its own.
    let bytes = world.bytes();
    let ran = world.on(&[
        "append",
        "--assistant",
        "x",
        "--parent",
        "aaaa1111",
        "--json",
    ]);
    assert_eq!(
        (ran.code, ran.error().as_str(), ran.stdout.as_str()),
        (2, "bad-entry", "")
    );
    assert_eq!(world.bytes(), bytes);
    // An earlier line of the batch may say it.
    let input = lines(&[
        json!({ "type": "model_change", "provider": "p", "modelId": "m" }),
        json!({ "role": "assistant", "content": "x" }),
    ]);
    let (new, ran) = appended(&world, &["append", "--parent", "root"], &input);
    assert_eq!((ran.code, &new[1]["message"]["provider"]), (0, &json!("p")));
}

#[test]
fn every_type_of_entry_can_be_appended() {
    let world = world();
    let usage = json!({ "input": 1, "output": 2 });
    let input = lines(&[
        json!({ "type": "message", "message": { "role": "user", "content": "u" } }),
        json!({ "type": "custom_message", "customType": "x", "content": "c" }),
        json!({ "type": "branch_summary", "summary": "s" }),
        json!({ "type": "compaction", "summary": "s" }),
        json!({ "type": "compaction", "id": "own-compaction", "summary": "s", "tokensBefore": 7 }),
        json!({ "type": "context_edit", "targetId": "bbbb1111", "replacement": null }),
        json!({ "type": "model_change", "provider": "p", "modelId": "m" }),
        json!({ "type": "thinking_level_change", "thinkingLevel": "high" }),
        json!({ "type": "usage", "kind": "k", "provider": "p", "model": "m", "usage": usage }),
        json!({ "type": "label", "targetId": "aaaa1111", "label": "first" }),
        json!({ "type": "label", "targetId": "aaaa1111" }),
        json!({ "type": "session_info", "name": "n" }),
        json!({ "type": "custom", "customType": "x", "data": { "b": 1, "a": 2 } }),
        json!({ "type": "from_the_future", "parentId": "aaaa1111", "z": 1, "a": 1.50 }),
    ]);
    let (new, ran) = appended(&world, &["append"], &input);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(new.len(), input.lines().count());
    let mut parent = json!("ffff1111");
    for (entry, line) in new.iter().zip(input.lines()) {
        let given: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(entry["type"], given["type"]);
        assert_eq!(entry["parentId"], parent, "{entry}");
        assert!(entry["timestamp"].is_string(), "{entry}");
        parent = entry["id"].clone();
    }
    assert_eq!(new[1]["display"], true);
    assert_eq!(new[2]["fromId"], new[1]["id"]);
    assert_eq!(
        (&new[3]["firstKeptEntryId"], new[3]["tokensBefore"].is_u64()),
        (&new[3]["id"], true)
    );
    assert_eq!(
        (&new[4]["firstKeptEntryId"], &new[4]["tokensBefore"]),
        (&json!("own-compaction"), &json!(7))
    );
    assert_eq!(new[8]["usage"]["totalTokens"], 3);
    assert_eq!(new[8]["usage"]["cost"]["total"], 0);
    assert_eq!(new[9].get("label"), Some(&json!("first")));
    assert_eq!(new[10].get("label"), None);
    assert_eq!((&new[13]["z"], &new[13]["a"]), (&json!(1), &json!(1.5)));
    world.read_all("s.jsonl");
}

#[test]
fn stored_text_stays_as_it_is() {
    let world = world();
    let line = r#"{"type":"later","z":1.0,"big":1e400,"text":"\ud83d \u0041\u2028","a":[ 1,2 ],"id":"own-1","timestamp":"2020-01-01T00:00:00.000Z"}"#;
    let ran = world.on_with(&["append"], line);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "own-1\n"));
    let stored = world.done(&["cat-entry", "own-1"]);
    for part in [
        r#""z":1.0"#,
        r#""big":1e400"#,
        r#"\ud83d "#,
        r#""timestamp":"2020-01-01T00:00:00.000Z""#,
    ] {
        assert!(stored.contains(part), "{part}: {stored}");
    }
    assert!(stored.starts_with(r#"{"type":"later","z":1.0"#), "{stored}");
    let odd = world.on_with(
        &["append"],
        r#"{"type":"custom","customType":"x","id":"a b\n"}"#,
    );
    assert_eq!(odd.stdout, "\"a b\\n\"\n");
}

#[test]
fn own_ids_are_kept_and_must_be_new() {
    let world = world();
    let with_id =
        |id: &str| format!("{{\"type\":\"custom\",\"customType\":\"x\",\"id\":\"{id}\"}}\n");
    let (new, ran) = appended(
        &world,
        &["append"],
        &format!("{}{}", with_id("mine"), with_id("yours")),
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "mine\nyours\n"));
    assert_eq!(new[1]["parentId"], "mine");
    let bytes = world.bytes();
    for (input, line) in [
        (with_id("mine"), 1),
        (format!("{}{}", with_id("new"), with_id("aaaa1111")), 2),
        (format!("{}\n{}", with_id("twice"), with_id("twice")), 3),
        (
            "{\"type\":\"custom\",\"customType\":\"x\",\"id\":\"\"}".to_owned(),
            1,
        ),
        (
            "{\"type\":\"custom\",\"customType\":\"x\",\"id\":7}".to_owned(),
            1,
        ),
    ] {
        let ran = world.on_with(&["append"], &input);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{input}");
        assert!(
            ran.stderr
                .starts_with(&format!("error: line {line}: 'id' ")),
            "{}",
            ran.stderr
        );
    }
    // A message is no entry; whatever it calls `id` is its own affair.
    let (new, ran) = appended(
        &world,
        &["append"],
        "{\"role\":\"user\",\"content\":\"x\",\"id\":\"aaaa1111\"}",
    );
    assert_eq!(
        (ran.code, &new[0]["message"]["id"]),
        (0, &json!("aaaa1111"))
    );
    assert_eq!(&world.bytes()[..bytes.len()], &bytes[..]);
}

#[test]
fn what_pi_could_not_open_is_refused_and_nothing_is_written() {
    let world = world();
    let bytes = world.bytes();
    let fine = json!({ "role": "user", "content": "fine" });
    for (line, field) in [
        ("not json".to_owned(), ""),
        ("{\"role\":\"user\",\"content\":\"a\tb\"}".to_owned(), ""),
        ("[1]".to_owned(), ""),
        ("\"text\"".to_owned(), ""),
        ("{}".to_owned(), "'type' "),
        (
            json!({ "type": "session", "id": "x" }).to_string(),
            "'type' ",
        ),
        (
            json!({ "role": "robot", "content": "x" }).to_string(),
            "'role' ",
        ),
        (json!({ "role": "user" }).to_string(), "'content' "),
        (
            json!({ "role": "user", "content": [{ "type": "video" }] }).to_string(),
            "'content[0].type' ",
        ),
        (
            json!({ "role": "assistant", "content": [{ "type": "text" }] }).to_string(),
            "'content[0].text' ",
        ),
        (
            json!({ "role": "assistant", "content": "x", "usage": { "cost": 5 } }).to_string(),
            "'usage.cost' ",
        ),
        (
            json!({ "role": "toolResult", "toolName": "t" }).to_string(),
            "'toolCallId' ",
        ),
        (
            json!({ "type": "message", "message": { "role": "user", "content": 5 } }).to_string(),
            "'message.content' ",
        ),
        (
            json!({ "type": "label", "targetId": "gone", "label": "x" }).to_string(),
            "'targetId' ",
        ),
        (
            json!({ "type": "context_edit", "targetId": "dddd1111", "replacement": null })
                .to_string(),
            "'targetId' ",
        ),
        (
            json!({ "type": "context_edit", "targetId": "aaaa1111" }).to_string(),
            "'replacement' ",
        ),
        (
            json!({ "type": "branch_summary", "summary": "s", "fromId": 5 }).to_string(),
            "'fromId' ",
        ),
        (
            json!({ "type": "compaction", "summary": "s", "tokensBefore": "x" }).to_string(),
            "'tokensBefore' ",
        ),
        (
            json!({ "type": "compaction", "summary": "s", "firstKeptEntryId": 1 }).to_string(),
            "'firstKeptEntryId' ",
        ),
    ] {
        let input = format!("{fine}\n\n{line}\n{fine}\n");
        let ran = world.on_with(&["append"], &input);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{line}");
        assert!(
            ran.stderr.starts_with(&format!("error: line 3: {field}")),
            "{line}: {}",
            ran.stderr
        );
        assert_eq!(
            world.on_with(&["append", "--json"], &input).error(),
            "bad-entry"
        );
        assert_eq!(world.bytes(), bytes, "{line}");
    }
    assert_eq!(world.leaf(), "ffff1111");
    // Nothing at all is no error.
    for input in ["", "\n \n"] {
        let ran = world.on_with(&["append"], input);
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
            (0, "", "")
        );
    }
    assert_eq!(world.bytes(), bytes);
}

#[test]
fn each_writes_line_by_line() {
    use std::io::{BufRead, Write};
    let world = world();
    let mut command = world.command(&["append", "--each"]);
    command
        .env("PIS_SESSION", "./s.jsonl")
        .stdin(std::process::Stdio::piped());
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("pis runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let mut parent = "ffff1111".to_owned();
    for n in 0..3 {
        writeln!(stdin, "{{\"role\":\"user\",\"content\":\"{n}\"}}").expect("written");
        let mut id = String::new();
        stdout.read_line(&mut id).expect("acknowledged");
        let last = world.stored(1).pop().expect("an entry");
        assert_eq!(
            (&last["id"], &last["parentId"]),
            (&json!(id.trim_end()), &json!(parent))
        );
        id.trim_end().clone_into(&mut parent);
    }
    // Each hangs on the leaf of its moment.
    world.on(&["set-leaf", "dddd1111"]);
    writeln!(stdin, "{{\"role\":\"user\",\"content\":\"moved\"}}").expect("written");
    stdout.read_line(&mut String::new()).expect("acknowledged");
    assert_eq!(
        world.stored(1).pop().expect("an entry")["parentId"],
        "dddd1111"
    );
    writeln!(stdin, "{{\"role\":\"nobody\"}}").expect("written");
    drop(stdin);
    let ran = crate::common::ran(&child.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.starts_with("error: line 5: 'role' "),
        "{}",
        ran.stderr
    );
    assert_eq!(world.stored(1).len(), 6 + 4, "what was acknowledged stays");

    // With a parent the lines make one chain from there, wherever the leaf is.
    let input = "{\"role\":\"user\",\"content\":\"1\"}\n{\"role\":\"user\",\"content\":\"2\"}\n";
    let (new, ran) = appended(&world, &["append", "--each", "--parent", "aaaa1111"], input);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 2));
    assert_eq!(
        (&new[0]["parentId"], &new[1]["parentId"]),
        (&json!("aaaa1111"), &new[0]["id"])
    );
    for other in [
        &["--user", "x"][..],
        &["--assistant", "x"],
        &["--expect-leaf", "root"],
    ] {
        assert_eq!(
            world.on(&[&["append", "--each"], other].concat()).code,
            2,
            "{other:?}"
        );
    }
}

#[test]
fn a_parent_can_be_any_entry_or_the_root() {
    let world = world();
    for (rev, parent) in [
        ("cccc1111", json!("cccc1111")),
        ("root", Value::Null),
        ("dddd1111~1", json!("cccc1111")),
    ] {
        let (new, ran) = appended(&world, &["append", "--user", "x", "--parent", rev], "");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert_eq!(new[0]["parentId"], parent);
        assert_eq!(json!(world.leaf()), new[0]["id"]);
    }
    // Without one it hangs on the leaf, also where that is the root.
    world.on(&["set-leaf", "root"]);
    let (new, _) = appended(&world, &["append", "--user", "x"], "");
    assert_eq!(new[0]["parentId"], Value::Null);
    let bytes = world.bytes();
    assert_eq!(
        world
            .on(&["append", "--user", "x", "--parent", "gone0000"])
            .code,
        128
    );
    assert_eq!(
        world
            .on(&["append", "--user", "x", "--parent", "a..b"])
            .code,
        2
    );
    assert_eq!(world.bytes(), bytes);
}

#[test]
fn it_can_be_asked_that_the_leaf_has_not_moved() {
    let world = world();
    let bytes = world.bytes();
    for expected in ["aaaa1111", "root", "dead0000", "@^"] {
        let ran = world.on(&["append", "--json", "--user", "x", "--expect-leaf", expected]);
        assert_eq!(
            (ran.code, ran.error().as_str(), ran.stdout.as_str()),
            (3, "leaf-moved", ""),
            "{expected}"
        );
        assert_eq!(world.bytes(), bytes);
    }
    for (at, expected) in [
        ("ffff1111", "ffff1111"),
        ("cccc1111", "cccc1111"),
        ("root", "root"),
        ("bbbb1111", "@"),
    ] {
        world.on(&["set-leaf", at]);
        let (new, ran) = appended(
            &world,
            &["append", "--user", "x", "--expect-leaf", expected],
            "",
        );
        assert_eq!((ran.code, new.len()), (0, 1), "{expected}: {ran:?}");
    }
    // The leaf is compared, whatever the parent is.
    let leaf = world.leaf();
    let args = [
        "append",
        "--user",
        "x",
        "--parent",
        "root",
        "--expect-leaf",
        &leaf,
    ];
    assert_eq!(world.on(&args).code, 0);
    assert_eq!(world.on(&args).code, 3);
}

#[test]
fn words_and_images_need_no_standard_input() {
    let world = world();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    world.write("shot.png", png);
    world.write("photo.jpg", b"\xff\xd8\xff\xe0");
    world.write("notes.txt", "text");
    let args = [
        "append",
        "--user",
        "- look",
        "--image",
        "shot.png",
        "--image",
        "photo.jpg",
        "--assistant",
        "-x",
    ];
    let (new, ran) = appended(&world, &args, "");
    assert_eq!(
        (ran.code, ran.stderr.as_str(), ran.stdout.lines().count()),
        (0, "", 2)
    );
    let content = json!([
        { "type": "text", "text": "- look" },
        { "type": "image", "data": "iVBORw0KGgoAAAANSUhEUg==", "mimeType": "image/png" },
        { "type": "image", "data": "/9j/4A==", "mimeType": "image/jpeg" },
    ]);
    assert_eq!(
        (&new[0]["message"]["role"], &new[0]["message"]["content"]),
        (&json!("user"), &content)
    );
    assert_eq!(
        new[1]["message"]["content"],
        json!([{ "type": "text", "text": "-x" }])
    );
    assert_eq!(new[1]["parentId"], new[0]["id"]);
    let bytes = world.bytes();
    assert_eq!(
        world
            .on(&["append", "--user", "x", "--image", "notes.txt"])
            .code,
        2
    );
    assert_eq!(
        world
            .on(&["append", "--user", "x", "--image", "gone.png"])
            .code,
        128
    );
    assert_eq!(world.on(&["append", "--image", "shot.png"]).code, 2);
    assert_eq!(world.bytes(), bytes);
}

#[test]
fn what_must_not_be_written_to_is_not() {
    let message = "{\"role\":\"user\",\"content\":\"x\"}\n";
    let header =
        |version: Value| json!({ "type": "session", "version": version, "id": "x", "cwd": "/x" });
    let odd = [
        ("v4", Build::new().header(&header(json!(4))).user("aaaa1111", "", "x").text()),
        ("v2", Build::new().header(&header(json!(2))).user("aaaa1111", "", "x").text()),
        ("v1", "{\"type\":\"session\",\"id\":\"x\"}\n{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n".to_owned()),
        ("bom", format!("\u{feff}{}", two_branches().text())),
    ];
    for (name, text) in odd {
        let world = World::with(&text);
        for args in [
            &["append"][..],
            &["label", "@", "l"],
            &["name", "n"],
            &["edit-context", "@", "--omit"],
            &["checkout", "@", "--summary", "s"],
        ] {
            let ran = world.on_with(&[&["--json"], args].concat(), message);
            assert_eq!(
                (ran.code, ran.stdout.as_str()),
                (128, ""),
                "{name} {args:?}: {ran:?}"
            );
            assert!(
                ran.stderr.contains("\"not-writable\""),
                "{name} {args:?}: {}",
                ran.stderr
            );
            assert_eq!(world.bytes(), text.as_bytes());
        }
    }
    let world = world();
    let ran = world.on_with(&["-s", "-", "append", "--user", "x"], two_branches().text());
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    world.write("other.txt", "text\n");
    assert_eq!(
        world
            .pis(&["-s", "./other.txt", "append", "--user", "x"])
            .code,
        128
    );
    assert_eq!(
        std::fs::read(world.path("other.txt")).expect("it"),
        b"text\n"
    );
}

#[test]
fn a_cut_off_line_does_not_swallow_what_is_appended() {
    let mut text = two_branches().text();
    text.push_str("{\"type\":\"mess");
    let world = World::with(&text);
    let ran = world.on(&["append", "--user", "x"]);
    assert_eq!(ran.code, 0);
    let bytes = world.bytes();
    assert!(bytes.starts_with(format!("{text}\n{{").as_bytes()));
    assert_eq!(world.leaf(), ran.stdout.trim_end());
}

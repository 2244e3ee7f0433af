//! JSON as JavaScript reads it (rows E51a to E51d of the catalogue).

use crate::common::{Build, World};

fn with(line: &str) -> World {
    let world = World::new();
    let text = Build::new().user("aaaaaaaa", "", "one").raw(line).text();
    world.write("s.jsonl", text);
    world
}

#[test]
fn the_last_of_two_keys_wins() {
    let world = with(
        r#"{"type":"label","id":"x","type":"message","id":"bbbbbbbb","parentId":"zz","parentId":"aaaaaaaa","message":{"role":"assistant","role":"user","content":"old","content":"new"}}"#,
    );
    assert_eq!(
        world.lines(&["-s", "s.jsonl", "rev-path"]),
        ["aaaaaaaa", "bbbbbbbb"]
    );
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "cat-entry", "--text", "@"]),
        "new\n"
    );
    assert_eq!(
        world
            .lines(&["-s", "s.jsonl", "ls-entries", "--role", "user"])
            .len(),
        2
    );
    assert_eq!(
        world.read(&["-s", "s.jsonl", "rev-parse", "id:x"]).code,
        128
    );
    world.read_all("s.jsonl");
}

#[test]
fn keys_can_be_spelled_with_escapes() {
    let world = with(
        r#"{"\u0074ype":"message","i\u0064":"\u0062bbbbbbb","parent\u0049d":"aaaa\u0061aaa","message":{"r\u006fle":"us\u0065r","content":"x"}}"#,
    );
    assert_eq!(
        world.lines(&["-s", "s.jsonl", "rev-path"]),
        ["aaaaaaaa", "bbbbbbbb"]
    );
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "rev-parse", "@^{user}"]),
        "bbbbbbbb\n"
    );
}

#[test]
fn nesting_has_no_limit() {
    for depth in [128, 1000, 100_000] {
        let nested = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let line = format!(
            r#"{{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","message":{{"role":"assistant","content":[{{"type":"text","text":"deep"}},{{"type":"toolCall","id":"c","name":"n","arguments":{{"a":{nested}}}}}],"stopReason":"stop"}}}}"#
        );
        let world = with(&line);
        let stored = world.ok(&["-s", "s.jsonl", "cat-entry", "@"]);
        assert_eq!(stored.trim_end(), line);
        assert!(world.ok(&["-s", "s.jsonl", "context"]).contains(&nested));
        assert!(world.ok(&["-s", "s.jsonl", "log", "-n1"]).contains("deep"));
        world.read_all("s.jsonl");
        // The same as the last call, so that it is described.
        let call = line.replace("deep", "");
        with(&call).read_all("s.jsonl");
    }
}

#[test]
fn nesting_of_objects_and_in_odd_places_does_no_harm() {
    let depth = 100_000;
    let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    for key in [
        "id",
        "parentId",
        "timestamp",
        "type",
        "message",
        "label",
        "targetId",
        "content",
    ] {
        let line = format!(r#"{{"type":"label","id":"bbbbbbbb","{key}":{objects}}}"#);
        with(&line).read_all("s.jsonl");
    }
}

#[test]
fn numbers_keep_their_text() {
    let numbers = r#"{"a":1e400,"b":12345678901234567890123,"c":1.0,"d":-0,"e":1E+2}"#;
    let line = format!(
        r#"{{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","message":{{"role":"custom","customType":"x","display":true,"content":"x","details":{numbers}}}}}"#
    );
    let world = with(&line);
    for args in [
        &["cat-entry", "@"][..],
        &["--json", "cat-entry", "@"],
        &["cat-entry", "-m", "@"],
        &["context"],
        &["context", "--as", "messages"],
    ] {
        let args: Vec<_> = ["-s", "s.jsonl"].iter().chain(args).copied().collect();
        assert!(world.ok(&args).contains(numbers), "{args:?}");
    }
}

#[test]
fn keys_keep_their_order() {
    let line = r#"{"z":1,"type":"custom","parentId":"aaaaaaaa","a":{"y":1,"b":2},"id":"bbbbbbbb"}"#;
    let world = with(line);
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "cat-entry", "@"]),
        format!("{line}\n")
    );
    assert_eq!(
        world.ok(&["--json", "-s", "s.jsonl", "cat-entry", "@"]),
        format!("{line}\n")
    );
}

#[test]
fn what_javascript_does_not_parse_is_no_record() {
    for line in [
        r#"{"type":"custom","id":"bbbbbbbb",}"#,
        r#"{"type":"custom","id":"bbbbbbbb"} x"#,
        r#"{'type':'custom','id':'bbbbbbbb'}"#,
        r#"{"type":"custom","id":"bbbbbbbb","n":01}"#,
        r#"{"type":"custom","id":"bbbbbbbb","n":.5}"#,
        r#"{"type":"custom","id":"bbbbbbbb","n":NaN}"#,
        r#"{"type":"custom","id":"bbbbbbbb","n":+1}"#,
        r#"{"type":"custom","id":"bbbbbbbb","n":"\x41"}"#,
        r#"{"type":"custom","id":"bbbbbbbb","n":"\u12"}"#,
        r#"{"type":"custom","id":"bbbbbbbb","n":[1}}"#,
        r#"{"type":"custom","id":"bbbbbbbb" /* no */}"#,
    ] {
        let world = with(line);
        let ran = world.read(&["--json", "-s", "s.jsonl", "ls-entries"]);
        assert_eq!(
            (ran.code, ran.ids()),
            (0, vec!["aaaaaaaa".to_owned()]),
            "{line}"
        );
        assert_eq!(ran.notes(), ["unparseable-line"], "{line}");
    }
}

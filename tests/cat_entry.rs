//! `pis cat-entry`: stored lines as they are, and what is said about them.

use serde_json::{Value, json};

use crate::common::{Build, World, fixture};

fn lines_of(path: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a fixture");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn the_stored_line_is_printed_byte_for_byte() {
    let (world, file) = (World::new(), fixture("kinds.jsonl"));
    let stored = lines_of(&file);
    for (n, line) in stored.iter().enumerate().skip(1) {
        let id = format!("{n:08x}");
        assert_eq!(
            world.ok(&["-s", &file, "cat-entry", &id]),
            format!("{line}\n")
        );
        assert_eq!(
            world.ok(&["-s", &file, "cat-entry", "-z", &id]),
            format!("{line}\0")
        );
        let size = world.ok(&["-s", &file, "cat-entry", "--size", &id]);
        assert_eq!(size, format!("{}\n", line.len()));
    }
    let two = world.ok(&["-s", &file, "cat-entry", "@", "@~1"]);
    assert_eq!(two, format!("{}\n{}\n", stored[16], stored[15]));
    assert_eq!(
        world.ok(&["-s", &file, "cat-entry", "--header"]),
        format!("{}\n", stored[0])
    );
}

#[test]
fn type_and_existence_are_answers() {
    let (world, file) = (World::new(), fixture("kinds.jsonl"));
    let types = world.lines(&["-s", &file, "cat-entry", "-t", "00000001", "@%", "@"]);
    assert_eq!(types, ["model_change", "message", "hologram"]);
    for (revs, code) in [
        (vec!["@"], 0),
        (vec!["start", "00000001"], 0),
        (vec!["@", "nobody"], 1),
        (vec!["nobody", "@"], 1),
        (vec!["root"], 1),
        (vec!["@~99"], 1),
    ] {
        let args: Vec<_> = ["-s", &file, "cat-entry", "-e"]
            .into_iter()
            .chain(revs)
            .collect();
        let ran = world.read(&args);
        assert_eq!(
            (ran.code, ran.stdout + &ran.stderr),
            (code, String::new()),
            "{args:?}"
        );
    }
}

#[test]
fn message_text_and_indented_json_are_parts_of_the_entry() {
    let (world, file) = (World::new(), fixture("kinds.jsonl"));
    let stored: Value = serde_json::from_str(&lines_of(&file)[4]).unwrap();
    let message = &world.json(&["-s", &file, "cat-entry", "-m", "start"])[0];
    assert_eq!(message, &stored["message"]);
    let pretty = world.ok(&["-s", &file, "cat-entry", "-p", "@"]);
    assert_eq!(
        pretty,
        r#"{
  "type": "hologram",
  "id": "00000010",
  "parentId": "0000000f",
  "timestamp": "2026-11-02T08:00:16.000Z",
  "beam": true
}
"#
    );
    for (rev, text) in [
        ("00000001", "claude-a"),
        ("00000002", "high"),
        ("00000003", "You help."),
        ("00000004", "Look here"),
        ("00000005", "I read\nthe file."),
        ("00000006", "line one\nline two"),
        ("00000007", "ls\na.txt"),
        ("00000008", "Mind the gap"),
        ("00000009", "Another way was tried."),
        ("0000000a", "So far so good."),
        ("0000000b", ""),
        ("0000000c", ""),
        ("0000000d", ""),
        ("0000000e", "all kinds"),
        ("0000000f", "start"),
        ("00000010", ""),
    ] {
        assert_eq!(
            world.ok(&["-s", &file, "cat-entry", "--text", rev]),
            format!("{text}\n")
        );
    }
}

#[test]
fn an_entry_without_a_message_says_so() {
    let (world, file) = (World::new(), fixture("kinds.jsonl"));
    let ran = world.read(&["-s", &file, "cat-entry", "-m", "@"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
    assert_eq!(
        ran.stderr,
        "error: '@' is a hologram, which has no message\n\
         hint: 'cat-entry -p' shows the whole entry\n"
    );
    let ran = world.read(&["-s", &file, "cat-entry", "root"]);
    assert_eq!(ran.code, 128);
    assert_eq!(
        ran.stderr,
        "error: 'root' stands before the first entry and names none\n"
    );
}

#[test]
fn what_was_found_before_an_error_is_printed() {
    let (world, file) = (World::new(), fixture("kinds.jsonl"));
    let ran = world.read(&["-s", &file, "cat-entry", "-t", "@", "nobody", "@~1"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, "hologram\n"));
    assert!(
        ran.stderr.starts_with("error: no entry for 'nobody'"),
        "{}",
        ran.stderr
    );
}

#[test]
fn options_that_exclude_each_other_are_usage_errors() {
    let (world, file) = (World::new(), fixture("kinds.jsonl"));
    for args in [
        &["cat-entry"][..],
        &["cat-entry", "-t", "-e", "@"],
        &["cat-entry", "--size", "--text", "@"],
        &["cat-entry", "--batch", "@"],
        &["cat-entry", "--batch-check", "@"],
        &["cat-entry", "--header", "@"],
        &["cat-entry", "--batch", "--batch-check"],
    ] {
        let args: Vec<_> = ["-s", &file].iter().chain(args).copied().collect();
        let ran = world.read(&args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    }
}

#[test]
fn json_is_valid_whatever_the_line_holds() {
    let world = World::new();
    let line =
        b"{\"type\":\"message\",\"id\":\"aaaaaaaa\",\"parentId\":null,\"n\":1.0,\"message\":\
                 {\"role\":\"user\",\"content\":\"\xff \\ud83d \xe2\x80\xa8\"}}";
    let file = [Build::new().text().as_bytes(), line, b"\n"].concat();
    world.write("s.jsonl", &file);
    let ran = world.ok(&["-s", "s.jsonl", "--json", "cat-entry", "@"]);
    assert!(
        ran.contains(r#""content":"� \ud83d \u2028""#) && ran.contains("\"n\":1.0"),
        "{ran}"
    );
    // Without it, the bytes are those of the file.
    let output = world
        .command(&["-s", "s.jsonl", "cat-entry", "@"])
        .output()
        .unwrap();
    assert_eq!(output.stdout, [&line[..], b"\n"].concat());
}

#[test]
fn a_batch_answers_line_by_line() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let stored = lines_of(&file);
    let sizes = [stored[4].len(), stored[3].len()];
    let revs = "plans\nplans^\nnobody\nroot\n@~9999\na b\n\nid:\"dd4f6f16\"\n";
    let ran = world.read_with(&["-s", &file, "cat-entry", "--batch-check"], revs);
    let wanted = format!(
        "0fa4a08e message {0}\ndd4f6f16 message {1}\nnobody missing\nroot missing\n\
         @~9999 missing\na b missing\n missing\ndd4f6f16 message {1}\n",
        sizes[0], sizes[1]
    );
    assert_eq!(
        (ran.code, ran.stdout, ran.stderr),
        (0, wanted, String::new())
    );

    let ran = world.read_with(&["-s", &file, "cat-entry", "--batch"], "plans\nnobody\n");
    let wanted = format!(
        "0fa4a08e message {}\n{}\nnobody missing\n",
        sizes[0], stored[4]
    );
    assert_eq!(
        (ran.code, ran.stdout, ran.stderr),
        (0, wanted, String::new())
    );
    let ran = world.read_with(&["-s", &file, "cat-entry", "--batch"], "");
    assert_eq!(
        (ran.code, ran.stdout, ran.stderr),
        (0, String::new(), String::new())
    );
}

#[test]
fn a_batch_names_what_is_ambiguous_and_quotes_odd_ids() {
    let world = World::new();
    let text = Build::new()
        .user("abcd0001", "", "one")
        .user("abcd0002", "abcd0001", "two")
        .user("a b", "abcd0002", "three")
        .text();
    world.write("s.jsonl", text);
    let ran = world.read_with(
        &["-s", "s.jsonl", "cat-entry", "--batch-check"],
        "abcd\nid:\"a b\"\n",
    );
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "abcd ambiguous");
    assert!(lines[1].starts_with("\"a b\" message "), "{}", lines[1]);
}

#[test]
fn a_batch_answers_before_the_next_question() {
    use std::io::{BufRead, BufReader, Write};
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let mut command = world.command(&["-s", &file, "cat-entry", "--batch-check"]);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for rev in ["plans", "good", "plans"] {
        writeln!(input, "{rev}").unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        assert!(answer.contains(" message "), "{answer}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_header_of_a_file_without_one_is_an_error() {
    let world = World::new();
    let text = Build::new().user("aaaaaaaa", "", "one").text();
    let entries = text.split_once('\n').unwrap().1;
    world.write("s.jsonl", entries);
    let ran = world.read(&["-s", "s.jsonl", "--json", "cat-entry", "--header"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
    let last: Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
    let lines: Vec<Value> = ran
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        lines
            .iter()
            .any(|v| v["error"]["kind"] == json!("not-a-session")),
        "{last}"
    );
}

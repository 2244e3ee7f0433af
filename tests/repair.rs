//! `pis repair`: what it gets back, what it puts aside, and what it writes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Build, Ran, World, assistant, fields, fixture};

fn talk() -> Build {
    Build::new()
        .user("aaaaaaaa", "", "hi")
        .assistant("bbbbbbbb", "aaaaaaaa", "yo")
        .user("cccccccc", "bbbbbbbb", "more")
        .assistant("dddddddd", "cccccccc", "sure")
}

/// A damaged session, and what became of it.
struct Healed {
    world: World,
    ran: Ran,
}

/// Repairs `s.jsonl` into `new.jsonl`.
fn heal(session: impl AsRef<[u8]>) -> Healed {
    let world = World::with(session);
    let before = world.bytes();
    let ran = world.pis(&["--json", "repair", "s.jsonl", "-o", "new.jsonl"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.bytes(), before, "the damaged file stays as it is");
    let check = world.pis(&["fsck", "new.jsonl"]);
    assert!(!check.stdout.contains(": error: "), "{check:?}");
    let again = world.pis(&["--json", "repair", "new.jsonl"]);
    assert_eq!(again.notes(), ["nothing-done"], "{again:?}");
    Healed { world, ran }
}

impl Healed {
    fn text(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.world.path("new.jsonl")).expect("it")).into_owned()
    }

    /// The path to the leaf.
    fn path(&self) -> Vec<String> {
        self.world.lines(&["-q", "-s", "new.jsonl", "rev-path"])
    }

    fn quarantine(&self) -> String {
        let file = self.ran.object()["quarantine"].clone();
        let file = file.as_str().map(fs::read);
        file.map_or_else(String::new, |bytes| {
            String::from_utf8_lossy(&bytes.expect("it")).into_owned()
        })
    }

    fn actions(&self) -> Vec<(String, u64)> {
        let report = self.ran.object();
        let actions = report["actions"].as_array().expect("a list").iter();
        let action = |a: &Value| a["action"].as_str().expect("a word").to_owned();
        actions
            .map(|a| (action(a), a["lineNumber"].as_u64().expect("a number")))
            .collect()
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

fn named(actions: &[(&str, u64)]) -> Vec<(String, u64)> {
    actions
        .iter()
        .map(|(name, line)| ((*name).to_owned(), *line))
        .collect()
}

const ALL: [&str; 4] = ["aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd"];

#[test]
fn records_on_one_line_are_split() {
    let text = talk().text();
    for between in ["", "  "] {
        let mut glued = lines(&text);
        let joined = format!("{}{between}{}", glued[2], glued[3]);
        glued.splice(2..4, [joined.as_str()]);
        let healed = heal(glued.join("\n"));
        assert_eq!(healed.text(), text);
        assert_eq!(healed.path(), ALL);
        assert_eq!(healed.quarantine(), "");
        assert_eq!(
            healed.actions(),
            named(&[("recovered", 3), ("recovered", 3), ("ended", 4)])
        );
    }
}

#[test]
fn a_record_behind_a_torn_one_is_kept_and_the_rest_put_aside() {
    let text = talk().text();
    let all = lines(&text);
    let torn = &all[3][..100];
    let fused = format!("{torn}{}", all[4]);
    let healed = heal([all[0], all[1], all[2], &fused, ""].join("\n"));
    assert_eq!(healed.quarantine(), format!("{torn}\n"));
    assert_eq!(
        healed.path(),
        ["aaaaaaaa", "bbbbbbbb", "dddddddd"],
        "joined to what stands before"
    );
    assert_eq!(
        healed.actions(),
        named(&[("quarantined", 4), ("recovered", 4), ("linked", 4)])
    );
}

#[test]
fn what_is_left_of_a_torn_record_says_where_it_hung() {
    // The torn entry hung on the first prompt, not on the entry before it.
    let text = Build::new()
        .user("aaaaaaaa", "", "hi")
        .assistant("bbbbbbbb", "aaaaaaaa", "yo")
        .raw(r#"{"type":"message","id":"cccccccc","parentId":"aaaaaaaa","timestamp":"2026"#)
        .assistant("dddddddd", "cccccccc", "sure")
        .text();
    let healed = heal(text);
    assert_eq!(healed.path(), ["aaaaaaaa", "dddddddd"]);
    let report = healed.ran.object();
    let message = report["actions"][1]["message"].as_str().expect("words");
    assert!(
        message.starts_with("hangs on aaaaaaaa: cccccccc, its parent, is lost"),
        "{message}"
    );
}

#[test]
fn nuls_are_left_out_and_what_follows_them_is_kept() {
    let text = talk().text();
    let all = lines(&text);
    let nuls = "\0".repeat(5000);
    let on_line = format!("{nuls}{}", all[3]);
    let healed = heal([all[0], all[1], all[2], &on_line, all[4], ""].join("\n"));
    assert_eq!(healed.text(), text);
    assert_eq!(
        healed.actions(),
        named(&[("dropped-nuls", 4), ("recovered", 4)])
    );
    let healed = heal([&text, nuls.as_str()].concat());
    assert_eq!(healed.text(), text);
    // A hole that begins in one record and ends in another.
    let hole = format!("{}{nuls}{}", &all[2][..90], &all[3][120..]);
    let healed = heal([all[0], all[1], &hole, all[4], ""].join("\n"));
    assert_eq!(healed.path(), ["aaaaaaaa", "dddddddd"]);
    assert_eq!(
        healed.quarantine(),
        format!("{}\n{}\n", &all[2][..90], &all[3][120..])
    );
}

#[test]
fn line_ends_and_control_characters_in_strings_are_escaped() {
    let text = talk().text();
    let healed = heal(text.replace("more", "one\n\ntwo\u{1b}[0m\tthree"));
    assert_eq!(
        healed.text(),
        text.replace("more", "one\\n\\ntwo\\u001b[0m\\tthree")
    );
    assert_eq!(healed.path(), ALL);
    assert_eq!(healed.actions(), named(&[("recovered", 4)]));
}

#[test]
fn a_redactors_broken_line_costs_that_entry_only() {
    let text = talk().text();
    let healed = heal(text.replace("\"text\":\"more\"}", "\"text\":[REDACTED]}"));
    assert_eq!(healed.path(), ["aaaaaaaa", "bbbbbbbb", "dddddddd"]);
    assert!(healed.quarantine().contains("[REDACTED]"));
}

#[test]
fn a_lost_header_is_made_of_name_directory_and_first_time() {
    let world = World::new();
    let text = talk().text();
    let (_, entries) = text.split_once('\n').expect("a header");
    let dir = world
        .home()
        .join(".pi/agent/sessions/--home-dev-my-project--");
    fs::create_dir_all(&dir).expect("made");
    let sibling = talk().header(&json!({ "type": "session", "version": 3, "id": "other",
        "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/home/dev/my-project" }));
    fs::write(dir.join("other.jsonl"), sibling.text()).expect("written");
    let named = dir.join("2026-01-02T03-04-05-678Z_my-id.jsonl");
    fs::write(&named, entries).expect("written");
    let new = world.ok(&["-q", "repair", named.to_str().expect("UTF-8")]);
    let header = world.ok(&["-s", new.trim(), "cat-entry", "--header"]);
    let header: Value = serde_json::from_str(&header).expect("JSON");
    assert_eq!(
        header,
        json!({ "type": "session", "version": 3, "id": "my-id",
            "timestamp": "2026-01-02T03:04:05.678Z", "cwd": "/home/dev/my-project" })
    );
    assert_eq!(
        fs::read_to_string(new.trim())
            .expect("it")
            .split_once('\n')
            .expect("lines")
            .1,
        entries
    );

    // A name that says nothing, in a directory that says nothing.
    let healed = heal(entries);
    let header = healed
        .world
        .ok(&["-s", "new.jsonl", "cat-entry", "--header"]);
    let header: Value = serde_json::from_str(&header).expect("JSON");
    assert_eq!(header["timestamp"], "2026-01-01T00:00:01.000Z");
    assert_eq!(header["cwd"], healed.world.work().to_str().expect("UTF-8"));
    assert_eq!(header["id"].as_str().map(str::len), Some(36));
}

#[test]
fn headers_are_moved_to_the_front_and_found_in_broken_lines() {
    let text = talk().text();
    let all = lines(&text);
    let rest = all[2..].join("\n");
    for (damaged, aside) in [
        (format!("\u{feff}{text}"), ""),
        (format!("{}\n{}\n{rest}\n", all[1], all[0]), ""),
        (format!("{}{}\n{rest}\n", all[0], all[1]), ""),
        (format!("{{\"type\":\"sess{text}"), "{\"type\":\"sess\n"),
        (format!("\n\nnot json\n{text}"), "not json\n"),
        (
            format!("{{\"type\":\"title\",\"title\":\"x\"}}\n{text}"),
            "{\"type\":\"title\",\"title\":\"x\"}\n",
        ),
        (format!("{text}{}\n", all[0]), &format!("{}\n", all[0])),
    ] {
        let healed = heal(&damaged);
        assert_eq!(healed.text(), text, "{damaged}");
        assert_eq!(healed.quarantine(), aside, "{damaged}");
    }
}

#[test]
fn old_bodies_get_the_ids_that_reading_shows() {
    let v1 = fs::read_to_string(fixture("v1.jsonl")).expect("the fixture");
    let claimed = v1.replacen(
        "\"type\":\"session\"",
        "\"type\":\"session\",\"version\":3",
        1,
    );
    let v2 = fs::read_to_string(fixture("v2.jsonl")).expect("the fixture");
    for old in [&v1, &claimed, &v2] {
        let healed = heal(old);
        let shown = healed.world.on(&["-q", "context", "--entries"]);
        let (old, new) = (
            healed.world.lines(&["-q", "-s", "s.jsonl", "rev-path"]),
            healed.path(),
        );
        assert_eq!(old, new);
        let context = |file| healed.world.ok(&["-q", "-s", file, "context"]);
        assert_eq!(context("s.jsonl"), context("new.jsonl"));
        assert_eq!(shown.code, 0);
        let header = healed
            .world
            .ok(&["-q", "-s", "new.jsonl", "cat-entry", "--header"]);
        assert!(header.contains("\"version\":3"), "{header}");
    }
    // What is had back takes its place in the chain, and moves no id.
    let mut glued: Vec<String> = v1.lines().map(str::to_owned).collect();
    let before = World::with(&v1).lines(&["-q", "-s", "s.jsonl", "rev-path"]);
    let extra = glued[2].clone();
    let broken = format!("{{\"type\":\"mess{extra}");
    glued.insert(3, broken);
    let healed = heal(glued.join("\n"));
    let path = healed.path();
    assert_eq!(path.len(), before.len() + 1);
    let without: Vec<_> = path.iter().filter(|id| before.contains(id)).collect();
    assert_eq!(without, before.iter().collect::<Vec<_>>());
}

#[test]
fn an_orphan_hangs_where_the_label_hung_that_its_parent_session_has() {
    let world = World::new();
    let parent = talk()
        .label("ffffffff", "dddddddd", "aaaaaaaa", "good")
        .label("gggggggg", "ffffffff", "bbbbbbbb", "better");
    world.write("parent.jsonl", parent.text());
    let header = json!({ "type": "session", "version": 3, "id": "child",
        "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/x",
        "parentSession": world.path("parent.jsonl") });
    // Behind another branch, so that the entry before is not the right one.
    let child = talk()
        .header(&header)
        .user("eeeeeeee", "aaaaaaaa", "another way")
        .user("hhhhhhhh", "gggggggg", "on the label");
    world.write("child.jsonl", child.text());
    let new = world.ok(&["-q", "repair", "child.jsonl"]);
    assert_eq!(
        world.lines(&["-q", "-s", new.trim(), "rev-path"]),
        ["aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd", "hhhhhhhh"]
    );
}

#[test]
fn links_are_set_right() {
    let own = talk().user("eeeeeeee", "eeeeeeee", "x").text();
    let circle = talk()
        .user("eeeeeeee", "ffffffff", "x")
        .user("ffffffff", "eeeeeeee", "y")
        .text();
    for (text, more) in [
        (own, &["eeeeeeee"][..]),
        (circle, &["eeeeeeee", "ffffffff"]),
    ] {
        assert_eq!(heal(text).path(), [&ALL, more].concat());
    }
    // The same record twice: once is enough. The same id twice: each has its own children.
    let text = talk().text();
    let healed = heal(format!("{text}{}\n", lines(&text)[2]));
    assert_eq!(healed.text(), text);
    let healed = heal(
        talk()
            .user("bbbbbbbb", "dddddddd", "an id once more")
            .label("eeeeeeee", "bbbbbbbb", "bbbbbbbb", "good")
            .text(),
    );
    let path = healed.path();
    assert_eq!((path.len(), &path[..4]), (6, &ALL.map(str::to_owned)[..]));
    let labels = healed
        .world
        .ok(&["-q", "-s", "new.jsonl", "for-each-label"]);
    assert_eq!(labels, format!("{} good\n", path[4]));
    // Without an id, an entry can have no children; what names no parent behind it is one.
    let nameless = talk()
        .raw(r#"{"type":"custom","customType":"x","parentId":"dddddddd","timestamp":"2026-01-01T00:00:09.000Z"}"#)
        .raw(r#"{"type":"custom","customType":"y","id":"ffffffff","timestamp":"2026-01-01T00:00:09.000Z"}"#);
    let path = heal(nameless.text()).path();
    assert_eq!((path.len(), path[5].as_str()), (6, "ffffffff"));
}

#[test]
fn contents_are_such_that_pi_can_read_them() {
    let mut answer = assistant(json!("just words"));
    answer.as_object_mut().expect("an object").remove("usage");
    let mut free = assistant(
        json!([null, { "type": "text", "text": "x" }, 7, { "type": "thinking", "thinking": null }]),
    );
    free["usage"]
        .as_object_mut()
        .expect("an object")
        .remove("cost");
    let healed = heal(
        Build::new()
            .message("aaaaaaaa", "", json!({ "role": "user", "content": null }))
            .message("bbbbbbbb", "aaaaaaaa", answer)
            .message(
                "cccccccc",
                "bbbbbbbb",
                json!({ "role": "user", "content": { "a": 1 } }),
            )
            .message("dddddddd", "cccccccc", free)
            .entry("eeeeeeee", "dddddddd", json!({ "type": "message" }))
            .entry(
                "ffffffff",
                "eeeeeeee",
                json!({ "type": "session_info", "name": 7 }),
            )
            .message(
                "gggggggg",
                "ffffffff",
                json!({ "role": "hookMessage", "content": "x" }),
            )
            .text(),
    );
    let new: Vec<Value> = healed
        .text()
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
    assert_eq!(new[1]["message"]["content"], json!([]));
    assert_eq!(
        new[2]["message"]["content"],
        json!([{ "type": "text", "text": "just words" }])
    );
    assert_eq!(new[2]["message"]["usage"]["cost"]["total"], 0);
    assert_eq!(new[3]["message"]["content"], json!([]));
    assert_eq!(
        new[4]["message"]["content"],
        json!([{ "type": "text", "text": "x" }])
    );
    assert_eq!(new[4]["message"]["usage"]["input"], 10);
    assert_eq!(new[4]["message"]["usage"]["cost"]["total"], 0);
    assert_eq!(
        (&new[5]["id"], &new[5]["parentId"]),
        (&json!("ffffffff"), &json!("dddddddd"))
    );
    assert_eq!(new[5]["name"], "7");
    assert_eq!(new[6]["message"]["role"], "custom");
    assert_eq!(
        healed.quarantine().lines().count(),
        3,
        "what was left out is kept"
    );
}

#[test]
fn bytes_that_are_sound_stay_as_they_are() {
    let odd = r#"{"type":"custom","customType":"x","id":"eeeeeeee","parentId":"gone0000","timestamp":"2026-01-01T00:00:09.000Z", "data" : {"z":1.0,"a":12345678901234567890123,"b":"\ud83d \u00e9"} }"#;
    let mut bytes = format!("{}{odd}\r\n", talk().text().replace('\n', "\r\n")).into_bytes();
    let at = memchr::memmem::find(&bytes, b"hi").expect("a text");
    bytes.splice(at..at, *b"\xff\xfe");
    let healed = heal(&bytes);
    let new = fs::read(healed.world.path("new.jsonl")).expect("it");
    let wanted = String::from_utf8_lossy(&bytes).replace("gone0000", "dddddddd");
    assert_eq!(String::from_utf8_lossy(&new), wanted);
    assert!(memchr::memmem::find(&new, b"\xff\xfe").is_some());
}

#[test]
fn the_report_has_its_fields_and_a_dry_run_writes_nothing() {
    let torn = format!("{}{{\"type\":\"mess", talk().text());
    let world = World::with(&torn);
    let ran = world.read(&["--json", "repair", "--dry-run", "s.jsonl"]);
    let report = ran.object();
    assert_eq!(
        fields(&report),
        [
            "actions",
            "backup",
            "leaf",
            "quarantine",
            "remaining",
            "session",
            "sessionId"
        ]
    );
    assert_eq!(
        fields(&report["actions"][0]),
        ["action", "end", "id", "lineNumber", "message", "start"]
    );
    assert_eq!(report["session"], Value::Null);
    assert_eq!(report["leaf"], "dddddddd");
    let ran = world.read(&["repair", "-n", "s.jsonl"]);
    assert_eq!(ran.stdout, "6: quarantined: what is no record\n");

    // A new file beside it, and never over another one.
    for name in ["s.repaired.jsonl", "s.repaired2.jsonl"] {
        let ran = world.pis(&["repair", "s.jsonl"]);
        let path = world.path(name);
        assert_eq!(ran.stdout, format!("{}\n", path.display()));
        assert!(
            ran.stderr.contains("quarantined: what is no record"),
            "{ran:?}"
        );
        let aside = fs::read(world.path(&format!("{name}.quarantine"))).expect("it");
        assert_eq!(aside, b"{\"type\":\"mess\n");
        assert_eq!(
            fs::metadata(&path).expect("it").permissions().mode() & 0o777,
            0o600
        );
    }
    let ran = world.pis(&["repair", "s.jsonl", "-o", "s.repaired.jsonl"]);
    assert_eq!(ran.code, 128, "{ran:?}");
    assert!(
        !world.path("s.repaired.jsonl.quarantine2").exists(),
        "nothing is left"
    );
    // Where there is nothing to do, a file is written only where one is asked for.
    let ran = world.pis(&["--json", "repair", "s.repaired.jsonl"]);
    assert_eq!(
        (ran.code, ran.notes()),
        (0, vec!["nothing-done".to_owned()])
    );
    world.ok(&["-q", "repair", "s.repaired.jsonl", "-o", "same.jsonl"]);
    assert_eq!(
        fs::read(world.path("same.jsonl")).expect("it"),
        fs::read(world.path("s.repaired.jsonl")).expect("it")
    );
}

#[test]
fn in_place_keeps_backup_leaf_mode_and_links() {
    let torn = format!("{}{{\"type\":\"mess", talk().text());
    let world = World::with(&torn);
    let real = world.path("real.jsonl");
    fs::rename(world.path("s.jsonl"), &real).expect("moved");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("a mode");
    std::os::unix::fs::symlink(&real, world.path("s.jsonl")).expect("a link");
    world.ok(&["-q", "-s", "s.jsonl", "set-leaf", "bbbbbbbb"]);
    let ran = world.pis(&["--json", "repair", "--in-place", "s.jsonl"]);
    let report = ran.object();
    assert_eq!(
        report["session"],
        world.path("s.jsonl").to_str().expect("UTF-8")
    );
    assert_eq!(fs::read(&real).expect("it"), talk().text().into_bytes());
    assert!(world.path("s.jsonl").is_symlink());
    let backup = report["backup"].as_str().expect("a path");
    assert_eq!(Path::new(backup), world.path("real.jsonl.bak"));
    assert_eq!(fs::read(backup).expect("it"), torn.as_bytes());
    assert_eq!(
        fs::metadata(&real).expect("it").permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(world.leaf(), "bbbbbbbb", "where it was");

    fs::hard_link(&real, world.path("other.jsonl")).expect("a link");
    fs::write(&real, &torn).expect("written");
    let ran = world.pis(&["--json", "repair", "--in-place", "s.jsonl"]);
    assert_eq!((ran.code, ran.error()), (128, "not-writable".to_owned()));
    assert_eq!(fs::read(&real).expect("it"), torn.as_bytes());
    let own = [("PI_SESSION_FILE", real.to_str().expect("UTF-8"))];
    let ran = world.pis_env(&own, &["--json", "repair", "--in-place"], "");
    assert_eq!((ran.code, ran.error()), (128, "not-writable".to_owned()));
}

#[test]
fn what_is_no_session_is_refused() {
    for (bytes, says) in [
        ("", "it is empty"),
        ("\n\n", "no line of it is JSON"),
        ("not json\n", "no line of it is JSON"),
        ("<html>", "HTML"),
        ("{\"type\":\"user\",\"uuid\":\"x\"}\n", "Claude Code"),
    ] {
        let world = World::with(bytes);
        let ran = world.read(&["repair", "s.jsonl"]);
        assert_eq!(ran.code, 128, "{ran:?}");
        assert!(ran.stderr.contains(says), "{ran:?}");
        assert_eq!(world.read(&["repair", "--in-place", "s.jsonl"]).code, 128);
    }
    let newer = talk().text().replace("\"version\":3", "\"version\":4");
    let ran = World::with(newer).read(&["--json", "repair", "s.jsonl"]);
    assert_eq!(ran.error(), "not-writable");
    assert_eq!(World::new().pis_with(&["repair", "-"], "x").code, 2);
    let world = World::new();
    let text = talk().text();
    let (_, entries) = text.split_once('\n').expect("a header");
    let ran = world.pis_with(&["-q", "repair", "-", "-o", "new.jsonl"], entries);
    assert_eq!(ran.code, 0, "{ran:?}");
    let new = fs::read_to_string(world.path("new.jsonl")).expect("it");
    assert!(new.ends_with(entries) && new.lines().count() == 5, "{new}");
    assert_eq!(World::new().pis(&["repair", "gone.jsonl"]).code, 128);
}

#[test]
fn what_is_no_entry_takes_no_place_among_them() {
    let text = talk().text();
    let dated = r#"{"type":"x","timestamp":"2026-01-01T00:00:09.000Z"}"#;
    let claude = r#"{"type":"user","uuid":"x","timestamp":"2026-01-01T00:00:09.000Z"}"#;
    for (line, is_kept) in [
        ("{}", false),
        (r#"{"level":"info"}"#, false),
        (claude, false),
        (dated, true),
    ] {
        let healed = heal(format!("{text}{line}\n"));
        let path = healed.path();
        assert_eq!(&path[..4], ALL, "{line}");
        assert_eq!(path.len(), 4 + usize::from(is_kept), "{line}");
        assert_eq!(healed.quarantine().is_empty(), is_kept, "{line}");
    }
    // Neither do objects inside of a record that was cut off.
    let inside = text
        .lines()
        .nth(1)
        .expect("an entry")
        .replace("aaaaaaaa", "phantom0");
    let torn = format!(
        r#"{{"type":"message","id":"eeeeeeee","parentId":"dddddddd","timestamp":"2026-01-01T00:00:09.000Z","message":{{"details":[{inside},{{"type":"session","id":"x","timestamp":"t","cwd":"/evil"}},"#
    );
    let healed = heal(format!("{text}{torn}"));
    assert_eq!(
        (healed.text(), healed.quarantine()),
        (text.clone(), format!("{torn}\n"))
    );
    // A message of no id and no parent is the next one.
    let lost = r#"{"type":"message","timestamp":"2026-01-01T00:00:09.000Z","message":{"role":"user","content":"x"}}"#;
    let path = heal(format!("{text}{lost}\n")).path();
    assert_eq!((path.len(), &path[..4]), (5, &ALL.map(str::to_owned)[..]));
}

#[test]
fn records_are_found_whatever_their_keys_come_first() {
    let mut text = talk().text();
    let mut lines = Vec::new();
    for n in 0..600 {
        let parent = if n == 0 {
            "dddddddd".to_owned()
        } else {
            format!("x{:07}", n - 1)
        };
        lines.push(format!(r#"{{"id":"x{n:07}","parentId":"{parent}","timestamp":"2026-01-01T00:00:09.000Z","type":"message","message":{{"role":"user","content":[{{"type":"text","text":"a"}}]}}}}"#));
    }
    let whole = format!("{text}{}\n", lines.join("\n"));
    for pair in lines.chunks(2) {
        text.push_str(&format!("{}\n", pair.concat()));
    }
    assert_eq!(heal(text).text(), whole);
}

#[test]
fn what_hung_on_something_lost_is_named_instead() {
    // A compaction that keeps from the entry that was torn.
    let compaction = json!({ "type": "compaction", "summary": "s", "tokensBefore": 1,
        "firstKeptEntryId": "cccccccc" });
    let text = talk().entry("eeeeeeee", "dddddddd", compaction).text();
    let torn = lines(&text)[3].to_owned();
    let healed = heal(text.replace(&torn, &torn[..100]));
    let kept = healed.world.ok(&["-s", "new.jsonl", "cat-entry", "@"]);
    assert!(kept.contains(r#""firstKeptEntryId":"dddddddd""#), "{kept}");
    // What hung on a root that is lost is a root.
    let text = talk()
        .entry("eeeeeeee", "", json!({ "type": "message" }))
        .user("ffffffff", "eeeeeeee", "x");
    assert_eq!(heal(text.text()).path(), ["ffffffff"]);
}

#[test]
fn a_header_that_is_not_whole_is_made_whole() {
    let text = talk().text();
    let (header, entries) = text.split_once('\n').expect("a header");
    // All of it but the id.
    let nameless = header.replace(r#""id":"01976a7c-1111-7000-8000-000000000001","#, "");
    let healed = heal(format!("{nameless}\n{entries}"));
    let ran = healed.world.pis(&["fsck", "s.jsonl"]);
    assert!(
        ran.stdout.starts_with("1: error: no-header: ") && !ran.stdout.contains("control"),
        "{ran:?}"
    );
    let new: Value = serde_json::from_str(lines(&healed.text())[0]).expect("JSON");
    assert_eq!(
        (&new["cwd"], &new["timestamp"]),
        (
            &json!("/home/dev/project"),
            &json!("2026-01-01T00:00:00.000Z")
        )
    );
    assert_eq!(new["id"].as_str().map(str::len), Some(36));
    // Cut off behind the time, or within it.
    let cut = header.find(",\"cwd\"").expect("it") + 8;
    let healed = heal(format!("{}\n{entries}", &header[..cut]));
    let new: Value = serde_json::from_str(lines(&healed.text())[0]).expect("JSON");
    assert_eq!(new["id"], "01976a7c-1111-7000-8000-000000000001");
    assert_eq!(new["timestamp"], "2026-01-01T00:00:00.000Z");
    assert_eq!(healed.quarantine(), format!("{}\n", &header[..cut]));
    // Version 1 behind entries of itself: none of them is another program's.
    let v1 = fs::read_to_string(fixture("v1.jsonl")).expect("the fixture");
    let (header, entries) = v1.split_once('\n').expect("a header");
    let healed = heal(format!(
        "{{\"type\":\"model_change\",\"timestamp\":\"t\",\"provider\":\"p\",\"modelId\":\"m\"}}\n{header}\n{entries}"
    ));
    assert_eq!((healed.path().len(), healed.quarantine().as_str()), (5, ""));
}

#[test]
fn in_place_the_leaf_stays_where_its_entry_is() {
    // The entry at the leaf shares its id, and gets another one.
    let world = World::with(
        talk()
            .user("bbbbbbbb", "dddddddd", "other")
            .user("eeeeeeee", "aaaaaaaa", "x")
            .text(),
    );
    world.ok(&["-q", "-s", "s.jsonl", "set-leaf", "bbbbbbbb"]);
    assert_eq!(
        world.ok(&["-q", "-s", "s.jsonl", "cat-entry", "--text", "@"]),
        "other\n"
    );
    let ran = world.pis(&["--json", "repair", "--in-place", "s.jsonl"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "cat-entry", "--text", "@"]),
        "other\n"
    );
    assert_eq!(ran.object()["leaf"], world.leaf());
    // One that is left out cannot be the leaf: that is told, and noted as a move.
    let world = World::with(
        talk()
            .entry("eeeeeeee", "dddddddd", json!({ "type": "message" }))
            .text(),
    );
    let ran = world.pis(&["--json", "repair", "--in-place", "s.jsonl"]);
    assert_eq!(
        (ran.object()["leaf"].as_str(), world.leaf().as_str()),
        (Some("dddddddd"), "dddddddd")
    );
    assert!(ran.notes().contains(&"other-leaf".to_owned()), "{ran:?}");
    let log = world.json(&["--json", "-s", "s.jsonl", "reflog"]);
    assert_eq!(
        (&log[0]["op"], &log[0]["old"]),
        (&json!("repair"), &json!("eeeeeeee"))
    );
}

#[test]
fn what_goes_wrong_after_the_change_is_told_and_undoes_nothing() {
    let torn = format!("{}{{\"type\":\"mess", talk().text());
    let world = World::with(&torn);
    world.ok(&["-q", "-s", "s.jsonl", "set-leaf", "bbbbbbbb"]);
    // Where HEAD should be written lies a directory.
    let head = world.path(".pis/s.jsonl.d/HEAD");
    let pointer = fs::read(&head).expect("it");
    fs::remove_file(&head).expect("it");
    fs::create_dir_all(head.join("x")).expect("made");
    let ran = world.pis(&["--json", "repair", "--in-place", "s.jsonl"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.notes().contains(&"not-logged".to_owned()), "{ran:?}");
    assert_eq!(world.bytes(), talk().text().into_bytes());
    let aside = ran.object()["quarantine"]
        .as_str()
        .expect("a path")
        .to_owned();
    assert_eq!(fs::read(aside).expect("it"), b"{\"type\":\"mess\n");
    assert!(!pointer.is_empty());
}

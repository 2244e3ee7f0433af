//! Files of older and newer versions: read as they are, never changed.

use serde_json::{Value, json};

use crate::common::{Build, World, fixture};

fn of(name: &str) -> String {
    std::fs::read_to_string(fixture(name)).expect("a fixture")
}

#[test]
fn version_1_is_a_chain_with_ids_that_never_change() {
    let world = World::new();
    let file = fixture("v1.jsonl");
    let ids = world.lines(&["-s", &file, "rev-path"]);
    assert_eq!(ids.len(), 4);
    assert!(
        ids.iter()
            .all(|id| id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit()))
    );
    world.write("sub/copy.jsonl", of("v1.jsonl"));
    for session in [&file, "sub/copy.jsonl"] {
        assert_eq!(world.lines(&["-s", session, "rev-path"]), ids);
        assert_eq!(world.lines(&["-s", session, "ls-entries"]), ids);
        assert_eq!(
            world.lines(&["-s", session, "rev-parse", "@", "@~3"]),
            [&ids[3][..], &ids[0]]
        );
    }
    let rows = world.json(&["-s", &file, "--json", "rev-path"]);
    let parents: Vec<_> = rows.iter().map(|row| row["parentId"].clone()).collect();
    assert_eq!(
        parents,
        [json!(null), json!(ids[0]), json!(ids[1]), json!(ids[2])]
    );
    // Standard input has the same ids.
    let ran = world.read_with(&["-s", "-", "rev-path"], of("v1.jsonl"));
    assert_eq!(ran.stdout.lines().collect::<Vec<_>>(), ids);
    world.read_all("sub/copy.jsonl");
}

#[test]
fn lines_of_version_1_that_do_not_count_move_no_id() {
    let world = World::new();
    let ids = world.lines(&["-s", &fixture("v1.jsonl"), "rev-path"]);
    for junk in ["\n", "null\n", "0\n", "false\n", "\"\"\n", "{broken\n"] {
        let text = of("v1.jsonl");
        let at = text.match_indices('\n').nth(1).unwrap().0 + 1;
        world.write("s.jsonl", format!("{}{junk}{}", &text[..at], &text[at..]));
        let ran = world.read(&["-s", "s.jsonl", "rev-path"]);
        assert_eq!(ran.stdout.lines().collect::<Vec<_>>(), ids, "{junk:?}");
    }
}

#[test]
fn ids_in_a_version_1_file_count_for_nothing() {
    let world = World::new();
    let header = json!({ "type": "session", "id": "v1", "cwd": "/x" });
    let text = Build::new()
        .header(&header)
        .user("aaaaaaaa", "", "one")
        .user("bbbbbbbb", "aaaaaaaa", "two")
        .user("cccccccc", "aaaaaaaa", "three")
        .text();
    world.write("s.jsonl", text);
    let path = world.lines(&["-s", "s.jsonl", "rev-path"]);
    assert_eq!(path.len(), 3, "pi flattens such a tree");
    assert!(!path.contains(&"aaaaaaaa".to_owned()));
}

#[test]
fn version_2_has_an_older_word_for_custom_messages() {
    let world = World::new();
    world.write("s.jsonl", of("v2.jsonl"));
    let rows = world.json(&["-s", "s.jsonl", "--json", "log"]);
    assert_eq!(
        (&rows[0]["role"], &rows[0]["text"]),
        (&json!("custom"), &json!("green"))
    );
    assert_eq!(
        world.lines(&["-s", "s.jsonl", "ls-entries", "--role", "custom"]),
        ["bbbbbbbb"]
    );
    let stored = world.ok(&["-s", "s.jsonl", "cat-entry", "@"]);
    assert!(stored.contains("hookMessage"), "{stored}");
    let messages = &world.json(&["-s", "s.jsonl", "context", "--as", "messages"])[0];
    assert_eq!(messages[1]["role"], "custom");
    world.read_all("s.jsonl");
}

#[test]
fn version_2_words_under_a_version_3_header_are_read_so_too() {
    let world = World::new();
    world.write(
        "s.jsonl",
        of("v2.jsonl").replace("\"version\":2", "\"version\":3"),
    );
    let rows = world.json(&["-s", "s.jsonl", "--json", "log"]);
    assert_eq!(rows[0]["role"], "custom");
}

#[test]
fn version_1_content_under_a_version_3_header_is_read_as_version_1() {
    let world = World::new();
    let text = of("v1.jsonl").replace("\"id\":\"old-one\"", "\"version\":3,\"id\":\"old-one\"");
    world.write("s.jsonl", text);
    let ran = world.read(&["--json", "-s", "s.jsonl", "rev-path"]);
    assert_eq!((ran.code, ran.notes()), (0, vec!["no-ids".to_owned()]));
    assert_eq!(
        ran.ids(),
        world.lines(&["-s", &fixture("v1.jsonl"), "rev-path"])
    );
    world.read_all("s.jsonl");
}

#[test]
fn versions_are_compared_as_javascript_compares_them() {
    let world = World::new();
    for (version, notes, keeps_ids) in [
        (json!(3), vec![], true),
        (json!("3"), vec![], true),
        (json!(2), vec![], true),
        (json!("2"), vec![], true),
        (json!(1), vec![], false),
        (json!(null), vec![], false),
        (json!(0), vec![], false),
        (json!(true), vec![], false),
        (json!(4), vec!["newer-version"], true),
        (json!(99), vec!["newer-version"], true),
        (json!("99"), vec!["newer-version"], true),
    ] {
        let header = json!({ "type": "session", "id": "s", "cwd": "/x", "version": version });
        let text = Build::new()
            .header(&header)
            .user("aaaaaaaa", "", "one")
            .text();
        world.write("s.jsonl", text);
        let ran = world.read(&["--json", "-s", "s.jsonl", "rev-path"]);
        assert_eq!(
            (ran.code, ran.notes()),
            (0, notes.iter().map(ToString::to_string).collect()),
            "{version}"
        );
        assert_eq!(ran.ids() == ["aaaaaaaa"], keeps_ids, "{version}");
    }
}

#[test]
fn a_newer_version_is_read_with_a_note() {
    let world = World::new();
    let text = of("v2.jsonl").replace("\"version\":2", "\"version\":4");
    world.write("s.jsonl", text);
    let ran = world.read(&["-s", "s.jsonl", "log", "--format", "%h"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "bbbbbbbb\naaaaaaaa\n"));
    assert_eq!(ran.stderr.lines().count(), 1);
    assert!(ran.stderr.contains("has version 4"), "{}", ran.stderr);
    world.read_all("s.jsonl");
}

#[test]
fn headers_with_odd_fields_are_sessions() {
    let world = World::new();
    for extra in [
        json!({ "branchedFrom": "/gone/old.jsonl" }),
        json!({ "parentSession": "C:\\Users\\me\\s.jsonl", "cwd": "C:\\Users\\me" }),
        json!({ "parentSession": "s.jsonl" }),
        json!({ "parentSession": 7, "cwd": null, "timestamp": 12 }),
        json!({ "provider": "x", "modelId": "y", "thinkingLevel": "off", "new": { "a": [1] } }),
    ] {
        let mut header = json!({ "type": "session", "version": 3, "id": "s", "cwd": "/x" });
        for (key, value) in extra.as_object().unwrap() {
            header[key] = value.clone();
        }
        world.write(
            "s.jsonl",
            Build::new()
                .header(&header)
                .user("aaaaaaaa", "", "one")
                .text(),
        );
        let printed = world.json(&["-s", "s.jsonl", "cat-entry", "--header"]);
        assert_eq!(printed, [header]);
        assert_eq!(world.ok(&["-s", "s.jsonl", "rev-parse", "@"]), "aaaaaaaa\n");
        world.read_all("s.jsonl");
    }
}

#[test]
fn every_id_that_pi_takes_can_name_a_session() {
    let world = World::new();
    for id in [
        "a..b",
        "HEAD",
        "0",
        "x_y-z.1",
        "550e8400-e29b-41d4-a716-446655440000",
    ] {
        let path = world.pis(&["-q", "init", "--id", id]).stdout;
        let entry = Build::new().user("aaaaaaaa", "", id).text();
        let mut text = std::fs::read_to_string(path.trim_end()).unwrap();
        text.push_str(entry.split_once('\n').unwrap().1);
        std::fs::write(path.trim_end(), text).unwrap();
        assert_eq!(
            world.ok(&["-s", id, "cat-entry", "--text", "@"]),
            format!("{id}\n")
        );
        let rev = format!("\"{id}\":@");
        assert_eq!(world.ok(&["cat-entry", "--text", &rev]), format!("{id}\n"));
    }
}

#[test]
fn a_v1_row_is_a_row_like_any_other() {
    let (world, file) = (World::new(), fixture("v1.jsonl"));
    let rows = world.json(&["-s", &file, "--json", "log"]);
    assert!(
        rows.iter()
            .all(|row| row["id"].is_string() && row["onPath"] == Value::Bool(true))
    );
    let log = world.lines(&["-s", &file, "log"]);
    assert_eq!(log.len(), 4);
    assert!(log[0].contains("three"), "{log:?}");
}

//! `pis set-leaf`, `pis undo`, `pis reflog`: where the leaf goes and where it has been.

use serde_json::{Value, json};

use crate::common::{Build, World, fields};

/// Two branches below `bbbb1111`; the last entry is `ffff1111`.
pub(crate) fn two_branches() -> Build {
    Build::new()
        .user("aaaa1111", "", "one")
        .assistant("bbbb1111", "aaaa1111", "two")
        .user("cccc1111", "bbbb1111", "three")
        .assistant("dddd1111", "cccc1111", "four")
        .user("eeee1111", "bbbb1111", "other")
        .assistant("ffff1111", "eeee1111", "five")
}

fn world() -> World {
    World::with(two_branches().text())
}

const ELSEWHERE: &str = "note: pi still opens this session at ffff1111; an append, or --write, makes the move last for pi\n";

#[test]
fn set_leaf_moves_exactly_there_and_prints_nothing() {
    let world = world();
    let before = world.bytes();
    for (rev, leaf) in [
        ("cccc1111", "cccc1111"),
        ("@^", "bbbb1111"),
        ("root", "root"),
    ] {
        let ran = world.on(&["set-leaf", rev]);
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
            (0, "", ELSEWHERE)
        );
        assert_eq!(world.leaf(), leaf);
    }
    // Where pi would open it, nothing is to be said, and no pointer is left.
    assert_eq!(world.done(&["set-leaf", "ffff1111"]), "");
    assert!(!world.path(".pis/s.jsonl.d/HEAD").exists());
    assert_eq!(world.bytes(), before);
    assert_eq!(world.on(&["-q", "set-leaf", "root"]).stderr, "");
    let ran = world.on(&["set-leaf", "nowhere"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
    assert_eq!(world.on(&["set-leaf"]).code, 2);
    assert_eq!(world.on(&["set-leaf", "a..b"]).code, 2);
    assert_eq!(world.leaf(), "root");
}

#[test]
fn set_leaf_answers_in_json_when_asked() {
    let world = world();
    let ran = world.on(&["set-leaf", "dddd1111", "--json"]);
    assert_eq!(ran.code, 0);
    let wanted =
        json!({ "leaf": "dddd1111", "previous": "ffff1111", "prompt": null, "summaryId": null });
    assert_eq!(ran.object(), wanted);
    assert_eq!(ran.notes(), ["pi-opens-elsewhere"]);
    let ran = world.on(&["set-leaf", "root", "--json"]);
    assert_eq!(ran.object()["leaf"], Value::Null);
    assert_eq!(
        world.on(&["set-leaf", "aaaa1111", "--json"]).object()["previous"],
        Value::Null
    );
}

#[test]
fn set_leaf_compares_with_the_old_leaf() {
    let world = world();
    for old in ["aaaa1111", "root", "dead0000", "bbbb"] {
        let ran = world.on(&["set-leaf", "--json", "cccc1111", old]);
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{old}");
        assert_eq!(ran.error(), "leaf-moved", "{old}");
        assert_eq!(world.leaf(), "ffff1111");
    }
    let error: Value = serde_json::from_str(
        world
            .on(&["set-leaf", "--json", "cccc1111", "root"])
            .stderr
            .trim_end(),
    )
    .expect("JSON");
    assert_eq!(error["error"]["exit"], 3);
    assert_eq!(error["error"]["retryable"], true);
    assert_eq!(world.on(&["set-leaf", "cccc1111", "ffff1111"]).code, 0);
    assert_eq!(world.on(&["set-leaf", "root", "@"]).code, 0);
    assert_eq!(world.on(&["set-leaf", "aaaa1111", "root"]).code, 0);
    assert_eq!(world.leaf(), "aaaa1111");
}

#[test]
fn a_marker_makes_pi_open_there() {
    let world = world();
    let count = world.stored(1).len();
    assert_eq!(world.done(&["set-leaf", "--write", "dddd1111"]), "");
    let new = world.stored(1 + count);
    assert_eq!(new.len(), 1);
    assert_eq!(new[0]["type"], "custom");
    assert_eq!(new[0]["customType"], "pis.leaf");
    assert_eq!(new[0]["data"], json!({ "leaf": "dddd1111" }));
    assert_eq!(new[0]["parentId"], "dddd1111");
    let marker = new[0]["id"].as_str().expect("an id").to_owned();
    assert_eq!((world.leaf().as_str(), marker.len()), (&*marker, 16));
    // Once is enough, and none is written where the file ends anyway.
    world.done(&["set-leaf", "--write", "dddd1111"]);
    world.done(&["set-leaf", "--write", "@"]);
    assert_eq!(world.stored(1).len(), count + 1);
    assert_eq!(world.leaf(), marker);
    let ran = world.on(&["set-leaf", "--write", "--json", "root"]);
    assert_eq!(ran.stderr, "");
    let root = world.stored(2 + count).remove(0);
    assert_eq!(
        (&root["parentId"], &root["data"]),
        (&Value::Null, &json!({ "leaf": null }))
    );
    assert_eq!(ran.object()["leaf"], root["id"]);
    assert_eq!(
        world.done(&["context"]),
        "{\"messages\":[],\"thinkingLevel\":\"off\",\"model\":null}\n"
    );
    // A place that pis itself chose is no trap to warn of.
    assert_eq!(
        json!(world.done(&["rev-parse", "@"]).trim_end()),
        root["id"]
    );
}

#[test]
fn a_dash_is_where_the_last_checkout_started() {
    let world = world();
    assert_eq!(world.on(&["set-leaf", "-"]).code, 128, "there was none");
    world.on(&["set-leaf", "cccc1111"]);
    world.on(&["append", "--user", "more"]);
    let appended = world.leaf();
    world.on(&["set-leaf", "aaaa1111"]);
    assert_eq!(world.done(&["rev-parse", "@{-1}"]).trim_end(), appended);
    assert_eq!(world.done(&["rev-parse", "@{-2}"]), "ffff1111\n");
    world.on(&["set-leaf", "-"]);
    assert_eq!(world.leaf(), appended);
    world.on(&["checkout", "-"]);
    assert_eq!(world.leaf(), "aaaa1111");
}

#[test]
fn the_reflog_lists_moves_newest_first() {
    let world = world();
    let ran = world.on(&["reflog", "--json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert_eq!(ran.notes(), ["empty-reflog"]);
    world.on(&["set-leaf", "dddd1111", "-m", "try\nagain"]);
    world.on(&["append", "--user", "more"]);
    let more = world.leaf();
    let entry = json!({
        "type": "custom", "customType": "x", "id": "99990000", "parentId": "aaaa1111",
        "timestamp": "2026-01-01T01:00:00.000Z",
    });
    let mut bytes = world.bytes();
    bytes.extend_from_slice(format!("{entry}\n").as_bytes());
    world.write("s.jsonl", bytes);
    world.on(&["checkout", "root"]);

    let rows: Vec<Value> = world
        .done(&["reflog", "--json"])
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
    let short: Vec<_> = rows
        .iter()
        .map(|r| {
            (
                r["n"].as_i64(),
                r["op"].as_str().unwrap(),
                r["old"].as_str(),
                r["new"].as_str(),
            )
        })
        .collect();
    let wanted = [
        (Some(0), "checkout", Some("99990000"), None),
        (Some(1), "pi", Some(&*more), Some("99990000")),
        (Some(2), "append", Some("dddd1111"), Some(&*more)),
        (Some(3), "set-leaf", Some("ffff1111"), Some("dddd1111")),
    ];
    assert_eq!(short, wanted);
    for row in &rows {
        assert_eq!(fields(row), ["n", "new", "old", "op", "reason", "time"]);
    }
    assert_eq!(rows[3]["reason"], "try\nagain");
    assert!(
        rows[3]["time"]
            .as_i64()
            .is_some_and(|t| t > 1_700_000_000_000)
    );
    assert_eq!(rows[1]["time"], Value::Null);
    for (n, row) in rows.iter().enumerate() {
        let here = world.done(&["rev-parse", &format!("@{{{}}}", n + 1)]);
        assert_eq!(
            Some(here.trim_end()),
            row["old"].as_str().or(Some("root")),
            "@{{{}}}",
            n + 1
        );
    }
    assert_eq!(world.done(&["rev-parse", "@{0}"]), "root\n");
    assert_eq!(world.on(&["rev-parse", "@{5}"]).code, 128);

    let plain = world.done(&["reflog"]);
    let plain: Vec<_> = plain.lines().collect();
    assert_eq!(plain[0], "@{0} 99990000 root checkout (now)");
    assert!(plain[1].ends_with(" 99990000 pi"), "{}", plain[1]);
    assert_eq!(plain[3], "@{3} ffff1111 dddd1111 set-leaf: try again (now)");
    assert_eq!(plain.len(), 4);
    assert_eq!(world.done(&["reflog", "-n", "1"]).lines().count(), 1);
    assert_eq!(world.done(&["reflog", "-n", "0"]), "");
}

#[test]
fn undo_goes_back_move_by_move() {
    let world = world();
    let ran = world.on(&["undo"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
    world.on(&["set-leaf", "dddd1111"]);
    world.on(&["append", "--user", "more"]);
    let more = world.leaf();
    let bytes = world.bytes();
    let ran = world.on(&["undo", "--json"]);
    let wanted = json!({ "leaf": "dddd1111", "previous": more, "prompt": null, "summaryId": null });
    assert_eq!((ran.code, ran.object()), (0, wanted));
    assert_eq!(ran.notes(), ["pi-opens-elsewhere"]);
    let ran = world.on(&["undo"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), world.leaf().as_str()),
        (0, "", "ffff1111")
    );
    assert_eq!(world.on(&["undo"]).code, 128, "all is undone");
    assert_eq!(world.bytes(), bytes, "nothing is cut");
    // What comes now is undone before what was undone before it.
    world.on(&["set-leaf", "aaaa1111"]);
    world.on(&["undo"]);
    assert_eq!(world.leaf(), "ffff1111");
    assert_eq!(world.on(&["undo"]).code, 128);
    // An undo is a move that can be gone back from.
    world.on(&["checkout", "-"]);
    assert_eq!(world.leaf(), "aaaa1111");
}

#[test]
fn undo_refuses_where_pi_moved_since() {
    let pi = |world: &World, id: &str, parent: &str| {
        let entry = Build::new().user(id, parent, "by pi").text();
        let mut bytes = world.bytes();
        bytes.extend_from_slice(entry.split_once('\n').expect("a header").1.as_bytes());
        world.write("s.jsonl", bytes);
    };
    let world = world();
    world.on(&["set-leaf", "dddd1111"]);
    pi(&world, "99990000", "ffff1111");
    let ran = world.on(&["undo", "--json"]);
    assert_eq!((ran.code, ran.error().as_str()), (3, "leaf-moved"));
    assert_eq!(world.leaf(), "99990000");
    // What pis did after pi can be undone, and no more.
    world.on(&["set-leaf", "aaaa1111"]);
    assert_eq!(world.on(&["undo"]).code, 0);
    assert_eq!(world.leaf(), "99990000");
    assert_eq!(world.on(&["undo"]).code, 3);
    assert_eq!(world.leaf(), "99990000");
}

#[test]
fn only_files_that_can_be_changed_are() {
    let world = world();
    let ran = world.on_with(&["-s", "-", "set-leaf", "root"], two_branches().text());
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("standard input"), "{}", ran.stderr);
    world.write("no.jsonl", "{\"a\":1}\n");
    let ran = world.pis(&["-s", "no.jsonl", "set-leaf", "root"]);
    assert_eq!(ran.code, 128);
    assert!(!world.path(".pis/no.jsonl.d").exists());
}

#[cfg(unix)]
#[test]
fn what_pis_notes_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let world = world();
    world.on(&["set-leaf", "root"]);
    let mode = |path: &str| {
        let meta = std::fs::metadata(world.path(path)).expect(path);
        meta.permissions().mode() & 0o777
    };
    assert_eq!((mode(".pis"), mode(".pis/s.jsonl.d")), (0o700, 0o700));
    for file in ["HEAD", "log", "lock"] {
        assert_eq!(mode(&format!(".pis/s.jsonl.d/{file}")), 0o600, "{file}");
    }
}

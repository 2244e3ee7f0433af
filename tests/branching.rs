//! `pis fork`, `pis clone`, `pis copy`, `pis new`: new files made of old ones.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::{Build, Ran, World, fields, fixture};
use crate::moving::two_branches;

/// The lines of a file, as JSON.
fn lines(path: impl AsRef<Path>) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("the new file");
    assert!(text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn ids(lines: &[Value]) -> Vec<&str> {
    lines[1..]
        .iter()
        .map(|e| e["id"].as_str().expect("an id"))
        .collect()
}

/// Every entry hangs on the one before it.
fn is_chain(lines: &[Value]) -> bool {
    let parents: Vec<_> = lines[1..].iter().map(|e| e["parentId"].clone()).collect();
    let wanted: Vec<_> = std::iter::once(Value::Null)
        .chain(lines[1..].iter().map(|e| e["id"].clone()))
        .take(parents.len())
        .collect();
    parents == wanted
}

/// The file that a run made.
fn made(ran: &Ran) -> PathBuf {
    assert_eq!(ran.code, 0, "{ran:?}");
    let path = PathBuf::from(ran.stdout.trim_end());
    assert!(path.is_absolute(), "{path:?}");
    path
}

const NOTE: &str = "note: this session is the newest of its directory now\n";

#[test]
fn a_fork_holds_what_stands_before_the_message() {
    let text = two_branches().text();
    let world = World::with(&text);
    let ran = world.on(&["fork", "cccc1111"]);
    let path = made(&ran);
    assert_eq!(ran.stderr, NOTE);
    assert_eq!(
        path.parent(),
        Some(&*world.work()),
        "it lies beside the old file"
    );
    let new = lines(&path);
    assert_eq!(ids(&new), ["aaaa1111", "bbbb1111"]);
    let header = &new[0];
    assert_eq!(
        fields(header),
        ["cwd", "id", "parentSession", "timestamp", "type", "version"]
    );
    assert_eq!(
        (&header["type"], &header["version"]),
        (&json!("session"), &json!(3))
    );
    assert_eq!(
        (&header["cwd"], &header["parentSession"]),
        (&json!("/home/dev/project"), &json!(world.path("s.jsonl")))
    );
    let (id, time) = (
        header["id"].as_str().expect("an id"),
        header["timestamp"].as_str().expect("a time"),
    );
    assert_eq!((id.len(), &id[14..15]), (36, "7"));
    let name = format!("{}_{id}.jsonl", time.replace([':', '.'], "-"));
    assert_eq!(path.file_name().and_then(|n| n.to_str()), Some(&*name));
    // The bytes of what is kept are those of the old file.
    let old: Vec<_> = text.lines().collect();
    let kept = std::fs::read_to_string(&path).expect("the file");
    assert_eq!(kept.lines().skip(1).collect::<Vec<_>>(), old[1..3]);
    assert_eq!(world.bytes(), text.as_bytes());

    let ran = world.on(&["fork", "cccc1111", "--json"]);
    let object = ran.object();
    assert_eq!(fields(&object), ["leaf", "prompt", "session", "sessionId"]);
    assert_eq!(
        (&object["leaf"], &object["prompt"]),
        (&json!("bbbb1111"), &json!("three"))
    );
    let new = lines(object["session"].as_str().expect("a path"));
    assert_eq!(object["sessionId"], new[0]["id"]);
    assert_eq!(ran.notes(), ["newest-session"]);
    assert_eq!(world.on(&["fork"]).code, 2);
    assert_eq!(world.on(&["fork", "gone0000"]).code, 128);
    assert_eq!(world.on(&["fork", "a..b"]).code, 2);
}

#[test]
fn a_fork_can_keep_the_entry_itself() {
    let world = World::with(two_branches().text());
    let fork = |args: &[&str]| {
        let ran = world.on(&[&["fork", "--json"], args].concat());
        let object = ran.object();
        let new = lines(object["session"].as_str().expect("a path"));
        let ids: Vec<_> = ids(&new).into_iter().map(str::to_owned).collect();
        assert!(is_chain(&new));
        assert_eq!(object["leaf"].as_str(), ids.last().map(String::as_str));
        (ids.join(" "), object["prompt"].clone())
    };
    assert_eq!(
        fork(&["--at", "cccc1111"]),
        ("aaaa1111 bbbb1111 cccc1111".into(), Value::Null)
    );
    assert_eq!(
        fork(&["dddd1111"]),
        ("aaaa1111 bbbb1111 cccc1111 dddd1111".into(), Value::Null)
    );
    assert_eq!(fork(&["@%"]), ("aaaa1111 bbbb1111".into(), json!("other")));
    // Before the first prompt stands nothing.
    assert_eq!(fork(&["aaaa1111"]), (String::new(), json!("one")));
    assert_eq!(fork(&["root"]), (String::new(), Value::Null));
}

#[test]
fn a_clone_is_the_path_to_the_leaf() {
    let world = World::with(two_branches().text());
    let path = made(&world.on(&["clone"]));
    assert_eq!(
        ids(&lines(path)),
        ["aaaa1111", "bbbb1111", "eeee1111", "ffff1111"]
    );
    world.on(&["set-leaf", "cccc1111"]);
    let path = made(&world.on(&["clone"]));
    assert_eq!(ids(&lines(path)), ["aaaa1111", "bbbb1111", "cccc1111"]);
    let ran = world.on(&["clone", "dddd1111", "--json", "--name", " a\nname "]);
    let object = ran.object();
    assert_eq!(fields(&object), ["leaf", "prompt", "session", "sessionId"]);
    let new = lines(object["session"].as_str().expect("a path"));
    assert!(is_chain(&new));
    let name = new.last().expect("the name");
    assert_eq!(
        (&name["type"], &name["name"], &name["id"]),
        (&json!("session_info"), &json!("a name"), &object["leaf"])
    );
    assert_eq!(object["prompt"], Value::Null);
    let path = made(&world.on(&["clone", "cccc1111", "--name", " "]));
    assert_eq!(lines(path).len(), 4, "an empty name is none");
}

#[test]
fn labels_are_made_again_at_the_end() {
    let text = Build::new()
        .user("aaaa1111", "", "one")
        .label("1111cccc", "aaaa1111", "aaaa1111", "A")
        .assistant("bbbb1111", "1111cccc", "two")
        .label("2222cccc", "bbbb1111", "bbbb1111", "B")
        .label("3333cccc", "2222cccc", "cccc1111", "early")
        .user("cccc1111", "3333cccc", "three")
        .user("dddd1111", "bbbb1111", "elsewhere")
        .label("4444cccc", "cccc1111", "dddd1111", "D")
        .label("5555cccc", "4444cccc", "aaaa1111", "A again")
        .label("6666cccc", "5555cccc", "bbbb1111", "")
        .assistant("eeee1111", "6666cccc", "four")
        .label("7777cccc", "eeee1111", "bbbb1111", "B late")
        .text();
    let world = World::with(text);
    let new = lines(made(&world.on(&["clone", "eeee1111"])));
    assert!(is_chain(&new));
    assert_eq!(
        ids(&new)[..4],
        ["aaaa1111", "bbbb1111", "cccc1111", "eeee1111"]
    );
    let made_again: Vec<_> = new[5..]
        .iter()
        .map(|l| {
            (
                l["targetId"].as_str().expect("a target"),
                l["label"].as_str().expect("a name"),
                l["timestamp"].as_str().expect("a time"),
            )
        })
        .collect();
    // In the order in which each got one since it was last without; the time is that of the last word.
    let at = |second: u32| format!("2026-01-01T00:00:{second:02}.000Z");
    let wanted = [
        ("aaaa1111", "A again", at(9)),
        ("cccc1111", "early", at(5)),
        ("bbbb1111", "B late", at(12)),
    ];
    assert_eq!(
        made_again,
        wanted.each_ref().map(|(t, l, s)| (*t, *l, s.as_str()))
    );
    let own: Vec<_> = ids(&new)[4..].iter().map(|id| id.len()).collect();
    assert_eq!(own, [16, 16, 16]);
    let ran = world.on(&["clone", "eeee1111", "--json"]);
    let new = lines(ran.object()["session"].as_str().expect("a path"));
    assert_eq!(
        ran.object()["leaf"],
        new[7]["id"],
        "the last label is the leaf"
    );
}

#[test]
fn a_compaction_that_keeps_from_a_label_keeps_from_what_follows_it() {
    let compaction = |first: &str| json!({ "type": "compaction", "summary": "s", "firstKeptEntryId": first, "tokensBefore": 5 });
    let edit = json!({ "type": "context_edit", "targetId": "1111cccc", "replacement": null });
    let summary = json!({ "type": "branch_summary", "fromId": "1111cccc", "summary": "s" });
    let text = Build::new()
        .user("aaaa1111", "", "one")
        .label("1111cccc", "aaaa1111", "aaaa1111", "A")
        .label("2222cccc", "1111cccc", "aaaa1111", "B")
        .assistant("bbbb1111", "2222cccc", "two")
        .entry("3333cccc", "bbbb1111", compaction("1111cccc"))
        .entry("4444cccc", "3333cccc", compaction("4444cccc"))
        .entry("5555cccc", "4444cccc", compaction("bbbb1111"))
        .entry("6666cccc", "5555cccc", edit)
        .entry("7777cccc", "6666cccc", summary)
        .text();
    let world = World::with(text);
    let new = lines(made(&world.on(&["clone"])));
    assert!(is_chain(&new));
    let kept: Vec<_> = new
        .iter()
        .filter_map(|e| e.get("firstKeptEntryId"))
        .collect();
    assert_eq!(kept, ["bbbb1111", "4444cccc", "bbbb1111"]);
    assert!(
        new.iter()
            .any(|e| e["targetId"] == "1111cccc" && e["type"] == "context_edit")
    );
    assert!(new.iter().any(|e| e["fromId"] == "1111cccc"));
}

#[test]
fn bytes_are_kept() {
    let header = r#"{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x","extra":{"b":1}}"#;
    let entries: [&[u8]; 4] = [
        br#"{ "z":1.0, "type":"message","id":"aaaa1111","parentId" : null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"timestamp":1e3,"role":"user","content":"\ud83d \u0041\/"}}"#,
        b"{\"type\":\"later\",\"parentId\":\"aaaa1111\",\"id\":\"bbbb1111\",\"raw\":\"\xff\xfe\",\"big\":1e400,\"twice\":1,\"twice\":2}",
        br#"{"type":"label","id":"cccc1111","parentId":"bbbb1111","targetId":"gone","label":"x"}"#,
        br#"{"type":"custom","customType":"x","data":{"parentId":"cccc1111"},"id":"dddd1111","parentId":"cccc1111","n":0.10}  "#,
    ];
    let mut text = format!("{header}\n").into_bytes();
    for entry in entries {
        text.extend_from_slice(entry);
        text.push(b'\n');
    }
    let world = World::with(&text);
    let body = |ran: &Ran| {
        let bytes = std::fs::read(made(ran)).expect("the file");
        let at = bytes.iter().position(|&b| b == b'\n').expect("a header");
        bytes[at + 1..].to_vec()
    };
    let clone = body(&world.on(&["clone"]));
    let mut wanted = Vec::new();
    for n in [0, 1, 3] {
        let line = String::from_utf8_lossy(entries[n]);
        if n == 3 {
            // Only the link changes, and only the entry's own.
            let line = line.trim_end().replace(
                r#""id":"dddd1111","parentId":"cccc1111""#,
                r#""id":"dddd1111","parentId":"bbbb1111""#,
            );
            wanted.extend_from_slice(line.as_bytes());
        } else {
            wanted.extend_from_slice(entries[n]);
        }
        wanted.push(b'\n');
    }
    assert_eq!(
        String::from_utf8_lossy(&clone),
        String::from_utf8_lossy(&wanted)
    );
    assert!(clone == wanted);
    let copy = body(&world.on(&["copy"]));
    let all = entries.map(|entry| [entry.trim_ascii_end(), b"\n"].concat());
    assert!(copy == all.concat(), "{}", String::from_utf8_lossy(&copy));
}

#[test]
fn a_copy_holds_everything_and_belongs_here() {
    let text = two_branches()
        .label("1111cccc", "ffff1111", "aaaa1111", "A")
        .raw("not json")
        .text();
    let world = World::with(&text);
    world.on(&["set-leaf", "cccc1111"]);
    let ran = world.on(&["copy", "--json"]);
    let object = ran.object();
    let path = PathBuf::from(object["session"].as_str().expect("a path"));
    let sessions = world
        .home()
        .canonicalize()
        .expect("a home")
        .join(".pi/agent/sessions");
    let dir = path.parent().and_then(|p| p.canonicalize().ok());
    assert_eq!(
        dir.as_deref().and_then(Path::parent),
        Some(&*sessions),
        "where pi looks for sessions of this directory"
    );
    let new = lines(&path);
    assert_eq!(
        (&new[0]["cwd"], &new[0]["parentSession"]),
        (&json!(world.work()), &json!(world.path("s.jsonl")))
    );
    let old: Vec<_> = text
        .lines()
        .skip(1)
        .take(7)
        .map(|l| serde_json::from_str::<Value>(l).expect("JSON"))
        .collect();
    assert_eq!(new[1..], old);
    assert_eq!(
        (&object["leaf"], &object["prompt"]),
        (&json!("1111cccc"), &Value::Null)
    );
    assert_eq!(object["sessionId"], new[0]["id"]);
    assert!(ran.stderr.contains("newest-session"));
    // A name, another directory, and a session named by its path.
    let path = made(&world.pis(&["copy", "s.jsonl", "--cwd", "../other", "--name", "n"]));
    let new = lines(&path);
    assert!(
        path.to_str().is_some_and(|p| p.contains("-other--/")),
        "{path:?}"
    );
    assert!(
        new[0]["cwd"]
            .as_str()
            .is_some_and(|c| c.ends_with("/other"))
    );
    let name = new.last().expect("the name");
    assert_eq!(
        (&name["name"], &name["parentId"]),
        (&json!("n"), &json!("1111cccc"))
    );
    assert_eq!(world.pis(&["copy", "gone.jsonl"]).code, 128);
}

#[test]
fn older_versions_become_version_3() {
    for (file, args) in [
        ("v1.jsonl", &["copy"][..]),
        ("v1.jsonl", &["clone"]),
        ("v2.jsonl", &["copy"]),
        ("v2.jsonl", &["clone"]),
    ] {
        let world = World::with(std::fs::read(fixture(file)).expect("the fixture"));
        let before = world.bytes();
        let shown = world.on(&["ls-entries"]).stdout;
        let context = world.on(&["context"]).stdout;
        let path = made(&world.on(args));
        let new = lines(&path);
        assert_eq!(new[0]["version"], 3);
        assert_eq!(
            ids(&new),
            shown.lines().collect::<Vec<_>>(),
            "{file} {args:?}"
        );
        assert!(is_chain(&new), "{file}");
        assert!(new.iter().all(|e| e["message"]["role"] != "hookMessage"));
        let path = path.to_str().expect("UTF-8");
        assert_eq!(
            world.ok(&["-s", path, "context"]),
            context,
            "{file} {args:?}"
        );
        assert_eq!(world.pis(&["-s", path, "append", "--user", "x"]).code, 0);
        assert_eq!(world.bytes(), before);
    }
}

#[test]
fn where_the_new_file_lies() {
    let world = World::with(two_branches().text());
    // A session directory that was chosen holds it.
    let ran = world.on(&["--session-dir", "all", "clone"]);
    assert_eq!(made(&ran).parent(), Some(&*world.path("all")));
    let vars = [
        ("PIS_SESSION", "./s.jsonl"),
        ("PI_CODING_AGENT_SESSION_DIR", "all"),
    ];
    assert_eq!(
        made(&world.pis_env(&vars, &["fork", "@%"], "")).parent(),
        Some(&*world.path("all"))
    );
    // Another directory has a place of its own.
    let path = made(&world.on(&["clone", "--cwd", "/srv/app"]));
    assert!(
        path.to_str()
            .is_some_and(|p| p.contains("/sessions/--srv-app--/")),
        "{path:?}"
    );
    assert_eq!(lines(&path)[0]["cwd"], "/srv/app");
    // A header without a directory changes nothing in where it lies.
    world.write(
        "bare/s.jsonl",
        "{\"type\":\"session\",\"version\":3,\"id\":\"x\"}\n",
    );
    let path = made(&world.pis(&["-s", "bare/s.jsonl", "clone"]));
    assert_eq!(path.parent(), Some(&*world.path("bare")));
    assert_eq!(lines(&path)[0]["cwd"], json!(world.work()));
    // Standard input has no place.
    let ran = world.on_with(&["-s", "-", "clone", "--json"], two_branches().text());
    let path = ran.object()["session"].as_str().expect("a path").to_owned();
    assert!(path.contains("/.pi/agent/sessions/--"), "{path}");
    assert_eq!(lines(path)[0].get("parentSession"), None);
}

#[test]
fn a_file_can_be_chosen_and_is_never_replaced() {
    let world = World::with(two_branches().text());
    let ran = world.on(&["clone", "-o", "sub/copy.jsonl"]);
    assert_eq!(made(&ran), world.path("sub/copy.jsonl"));
    assert_eq!(ran.stderr, "", "it is no newest session of anything");
    for args in [
        &["clone", "-o", "s.jsonl"][..],
        &["fork", "@", "-o", "sub/copy.jsonl"],
        &["copy", "-o", "sub/copy.jsonl"],
    ] {
        let before = (
            world.bytes(),
            std::fs::read(world.path("sub/copy.jsonl")).expect("it"),
        );
        let ran = world.on(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (128, ""), "{args:?}");
        assert!(ran.stderr.contains("exist"), "{}", ran.stderr);
        assert_eq!(
            (
                world.bytes(),
                std::fs::read(world.path("sub/copy.jsonl")).expect("it")
            ),
            before
        );
    }
    assert_eq!(
        std::fs::read_dir(world.path("sub")).expect("sub").count(),
        1,
        "nothing is left over"
    );
    // In a directory where pi looks it is said.
    let first = made(&world.pis(&["new"]));
    let there = first.with_file_name("there.jsonl");
    let ran = world.on(&["copy", "-o", there.to_str().expect("UTF-8")]);
    assert_eq!(ran.stderr, NOTE);
    let ran = world.on(&["--session-dir", "all", "copy", "-o", "all/x.jsonl"]);
    assert_eq!(ran.stderr, NOTE);
    let ran = world.on(&["--session-dir", "all", "copy", "-o", "all/x.txt"]);
    assert_eq!(ran.stderr, "");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(there).expect("it").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_new_session_is_what_commands_use_next() {
    let world = World::with(two_branches().text());
    let ran = world.pis(&["new", "three\nplans"]);
    let path = made(&ran);
    assert_eq!(ran.stderr, NOTE);
    let new = lines(&path);
    assert_eq!(
        (new.len(), &new[1]["name"], &new[0]["cwd"]),
        (2, &json!("three plans"), &json!(world.work()))
    );
    assert_eq!(world.ok(&["name"]), "three plans\n");
    let ran = world.pis(&["new", "--json"]);
    let object = ran.object();
    assert_eq!(fields(&object), ["leaf", "prompt", "session", "sessionId"]);
    assert_eq!(
        (&object["leaf"], &object["prompt"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(ran.notes(), ["newest-session"]);
    assert_eq!(world.pis(&["new", "-q"]).stderr, "");
    assert_eq!(world.pis(&["new", "a", "b"]).code, 2);
    // pi's own keys come in pi's order.
    let text =
        std::fs::read_to_string(object["session"].as_str().expect("a path")).expect("the file");
    assert!(
        text.starts_with("{\"type\":\"session\",\"version\":3,\"id\":"),
        "{text}"
    );
}

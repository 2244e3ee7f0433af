//! `pis import`: sessions that other machines, shares and exports left as files.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Build, World, fields, fixture};

fn talk() -> Build {
    Build::new()
        .user("aaaaaaaa", "", "hi")
        .assistant("bbbbbbbb", "aaaaaaaa", "yo")
        .user("cccccccc", "aaaaaaaa", "another way")
}

const NAME: &str = "2026-01-01T00-00-00-000Z_01976a7c-1111-7000-8000-000000000001.jsonl";

#[test]
fn a_session_keeps_all_but_its_directory() {
    let odd = "broken {\n{\"type\":\"custom\" ,\"id\":\"dddddddd\",\"parentId\":\"cccccccc\",\"n\":1.0,\"timestamp\":\"2026-01-01T00:00:09.000Z\"}\r\n";
    let text = format!("{}{odd}", talk().text());
    let world = World::with(&text);
    let ran = world.pis(&["--json", "import", "s.jsonl"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        fields(&ran.object()),
        ["leaf", "prompt", "session", "sessionId"]
    );
    assert_eq!(ran.object()["leaf"], "dddddddd");
    assert_eq!(ran.notes(), ["unparseable-line", "newest-session"]);
    let path = ran.object()["session"].as_str().expect("a path").to_owned();
    assert!(path.ends_with(&format!("--/{NAME}")), "{path}");
    let cwd = world.work().to_str().expect("UTF-8").to_owned();
    let wanted = text.replacen("/home/dev/project", &cwd, 1);
    assert_eq!(fs::read_to_string(&path).expect("it"), wanted);
    assert_eq!(world.bytes(), text.as_bytes());
    assert_eq!(
        world.ok(&["-q", "rev-parse", "@"]),
        "dddddddd\n",
        "it is the newest here"
    );

    let again = world.pis(&["--json", "-q", "import", "s.jsonl"]);
    assert_eq!((again.code, again.error().as_str()), (2, "usage"));
    assert!(again.stderr.contains("is here already"), "{again:?}");
    let elsewhere = world.pis(&["import", "s.jsonl", "--cwd", "/srv/app"]);
    assert_eq!(elsewhere.code, 2, "an id is one session's: {elsewhere:?}");
}

#[test]
fn it_belongs_where_it_is_wanted() {
    let world = World::new();
    let ran = world.pis_with(
        &[
            "-q",
            "import",
            "-",
            "--cwd",
            "/srv/app",
            "--name",
            "from afar",
        ],
        talk().text(),
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout
            .trim()
            .ends_with(&format!("sessions/--srv-app--/{NAME}")),
        "{ran:?}"
    );
    let rows = world.json(&["--json", "sessions", "--all"]);
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (&rows[0]["name"], &rows[0]["cwd"]),
        (&json!("from afar"), &json!("/srv/app"))
    );
    assert_eq!(rows[0]["id"], "01976a7c-1111-7000-8000-000000000001");
    let path = world.lines(&["-s", ran.stdout.trim(), "rev-path"]);
    assert_eq!((path.len(), path[1].as_str()), (3, "cccccccc"));
}

#[test]
fn old_sessions_are_brought_to_version_3() {
    for name in ["v1.jsonl", "v2.jsonl"] {
        let old = fixture(name);
        let world = World::new();
        let new = world.ok(&["-q", "import", &old]);
        let header = world.ok(&["-s", new.trim(), "cat-entry", "--header"]);
        let header: Value = serde_json::from_str(&header).expect("JSON");
        assert_eq!(header["version"], 3);
        for command in ["rev-path", "context", "for-each-label"] {
            let show = |file: &str| world.ok(&["-q", "-s", file, command]);
            assert_eq!(show(new.trim()), show(&old), "{name} {command}");
        }
        world.ok(&["-q", "-s", new.trim(), "append", "--user", "x"]);
    }
}

#[test]
fn what_other_programs_put_first_is_left_out() {
    let title = "{\"type\":\"title\",\"title\":\"A talk\"}";
    for before in [
        format!("{title}\n"),
        "\u{feff}".to_owned(),
        "\n\n".to_owned(),
    ] {
        let world = World::with(format!("{before}{}", talk().text()));
        let new = world.ok(&["-q", "import", "s.jsonl"]);
        let bytes = fs::read_to_string(new.trim()).expect("it");
        assert!(bytes.starts_with("{\"type\":\"session\""), "{bytes}");
        assert_eq!(bytes.lines().count(), 4);
        let ran = world.pis(&["-s", new.trim(), "rev-path"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{before}");
    }
}

#[test]
fn what_is_no_session_is_said_to_be_what_it_is() {
    let entry = talk().text().lines().nth(1).expect("an entry").to_owned();
    for (bytes, says) in [
        ("", "it is empty"),
        ("<!DOCTYPE html><html>", "HTML page"),
        ("\u{1f}", "no line of it is JSON"),
        ("PK\u{3}\u{4}", "zip archive"),
        ("{\"v\":4,\"kind\":\"header\"}\n", "another product"),
        ("{\"type\":\"user\",\"uuid\":\"x\"}\n", "Claude Code"),
        ("{\"type\":\"session_meta\"}\n", "Codex"),
        ("[1,2]\n", "no JSON object"),
        (entry.as_str(), "'pis repair FILE -o OTHER'"),
        (
            &talk().text().replace("\"version\":3", "\"version\":4"),
            "its version is 4",
        ),
        (
            &talk().text().replace("01976a7c-1111", "../../x"),
            "takes no session id",
        ),
    ] {
        let world = World::with(bytes);
        let ran = world.read(&["import", "s.jsonl"]);
        assert_eq!(ran.code, 128, "{ran:?}");
        assert!(ran.stderr.contains(says), "{ran:?}");
    }
    assert_eq!(World::new().pis(&["import"]).code, 2);
    assert_eq!(World::new().pis(&["import", "gone.jsonl"]).code, 128);
}

#[test]
fn what_a_file_says_of_itself_leads_nowhere_else() {
    let text = talk()
        .text()
        .replacen("2026-01-01T00:00:00.000Z", "../../../x", 1);
    let world = World::with(text);
    let new = world.ok(&["-q", "import", "s.jsonl"]);
    let dir = world
        .home()
        .join(".pi/agent/sessions")
        .canonicalize()
        .expect("it");
    let new = fs::canonicalize(new.trim()).expect("it");
    assert_eq!(new.parent().and_then(|p| p.parent()), Some(dir.as_path()));
}

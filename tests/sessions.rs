//! `pis sessions`: which sessions are listed, in which order, and how they look.
#![expect(
    clippy::disallowed_methods,
    reason = "ages are counted from now, so sessions begin some time before it"
)]

use std::path::PathBuf;
use std::time::SystemTime;

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::common::{World, assistant, fields};
use crate::terminal::{assert_harmless, has_terminal, in_pipe, on_terminal, without_styles};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A session in a few words.
#[derive(Clone, Copy)]
struct Story<'a> {
    id: &'a str,
    name: &'a str,
    says: &'a str,
    /// How long ago it was said, in milliseconds.
    ago: i64,
    parent: &'a str,
}

const TALK: Story<'_> = Story {
    id: "01976a7c-1111-7000-8000-000000000001",
    name: "",
    says: "Fix the parser",
    ago: 0,
    parent: "",
};

fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    i64::try_from(since.expect("after 1970").as_millis()).expect("before 292278994")
}

fn text(story: Story<'_>, cwd: &str) -> String {
    let mut header = json!({ "type": "session", "version": 3, "id": story.id, "cwd": cwd,
        "timestamp": "2026-01-01T00:00:00.000Z" });
    if !story.parent.is_empty() {
        header["parentSession"] = story.parent.into();
    }
    let mut lines = vec![header];
    let time = now() - story.ago;
    let entry = |id: &str, mut entry: Value| {
        entry["id"] = id.into();
        entry["parentId"] = Value::Null;
        entry
    };
    if !story.says.is_empty() {
        let user = json!({ "role": "user", "content": story.says, "timestamp": time });
        lines.push(entry("a", json!({ "type": "message", "message": user })));
        let mut answer = assistant(json!([{ "type": "text", "text": "It is done: ünits" }]));
        answer["timestamp"] = time.into();
        lines.push(entry("b", json!({ "type": "message", "message": answer })));
    }
    if !story.name.is_empty() {
        lines.push(entry(
            "c",
            json!({ "type": "session_info", "name": story.name }),
        ));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Writes a session of a directory, the working one if it is empty. Its file is the newest.
fn put(world: &World, cwd: &str, file: &str, story: Story<'_>) -> PathBuf {
    let work = world.work();
    let cwd = if cwd.is_empty() {
        work.to_str().expect("UTF-8")
    } else {
        cwd
    };
    put_text(world, cwd, file, &text(story, cwd))
}

fn put_text(world: &World, cwd: &str, file: &str, text: &str) -> PathBuf {
    let dir = cwd.trim_start_matches('/').replace('/', "-");
    let dir = world.home().join(format!(".pi/agent/sessions/--{dir}--"));
    std::fs::create_dir_all(&dir).expect("a directory");
    let path = dir.join(file);
    std::fs::write(&path, text).expect("a session");
    path
}

/// Four sessions here, of which the last written is current, and one elsewhere.
fn prepared() -> World {
    let world = World::new();
    let plans = put(
        &world,
        "",
        "1.jsonl",
        Story {
            name: "three plans",
            says: "Refactor auth, plans first\nthen wait",
            ago: 2 * HOUR,
            ..TALK
        },
    );
    let fork = Story {
        id: "01976a7c-2222-7000-8000-000000000002",
        says: "",
        ago: DAY,
        ..TALK
    };
    put(
        &world,
        "",
        "2.jsonl",
        Story {
            parent: plans.to_str().expect("UTF-8"),
            ..fork
        },
    );
    let odd = Story {
        id: "0199ffff",
        says: "日本語のテキスト مرحبا 👩‍💻 \u{1b}[31mred",
        ..TALK
    };
    put(
        &world,
        "",
        "3.jsonl",
        Story {
            ago: 3 * DAY,
            parent: "/gone.jsonl",
            ..odd
        },
    );
    put(
        &world,
        "/elsewhere/a/long/way/off",
        "4.jsonl",
        Story {
            id: "my-own-id",
            ago: 5 * DAY,
            ..TALK
        },
    );
    put(
        &world,
        "",
        "5.jsonl",
        Story {
            id: "0199eeee",
            ago: MINUTE / 2,
            ..TALK
        },
    );
    world
}

/// The names of the files that are listed.
fn files(world: &World, args: &[&str]) -> String {
    let rows = world.json(&[&["sessions", "--json"], args].concat());
    let path = |row: &Value| row["path"].as_str().expect("a path").to_owned();
    let name = |path: String| {
        path.rsplit('/')
            .next()
            .expect("a name")
            .replace(".jsonl", "")
    };
    rows.iter()
        .map(|row| name(path(row)))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn a_row_says_what_pis_list_shows() {
    let world = prepared();
    let rows = world.json(&["sessions", "--json"]);
    assert_eq!(world.json(&["ls", "--json"]), rows);
    let plans = rows
        .iter()
        .find(|row| row["name"] == "three plans")
        .expect("it is listed");
    assert_eq!(
        fields(plans),
        [
            "created",
            "cwd",
            "firstMessage",
            "id",
            "messageCount",
            "modified",
            "name",
            "parentSession",
            "path",
            "size"
        ]
    );
    assert_eq!(
        plans["firstMessage"],
        "Refactor auth, plans first\nthen wait"
    );
    assert_eq!(plans["messageCount"], 2);
    assert_eq!(plans["created"], "2026-01-01T00:00:00.000Z");
    assert_eq!(plans["cwd"], world.work().to_str().expect("UTF-8"));
    let path = plans["path"].as_str().expect("a path");
    assert_eq!(
        plans["size"],
        std::fs::metadata(path).expect("the file").len()
    );
    // Nothing was said: it is as old as its header.
    let fork = rows.last().expect("rows");
    assert_eq!(fork["parentSession"], path);
    assert_eq!(
        (&fork["firstMessage"], &fork["name"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(fork["modified"], fork["created"]);
}

#[test]
fn options_choose_and_order() {
    let world = prepared();
    for (args, wanted) in [
        (&[][..], "5 1 3 2"),
        (&["-r"], "2 3 1 5"),
        (&["--all"], "5 1 3 4 2"),
        (&["-n", "2"], "5 1"),
        (&["--named"], "1"),
        (&["--since", "1 day ago"], "5 1"),
        (&["--roots"], "5 1 3"),
        (&["--roots", "--all", "-n", "3"], "5 1 3"),
        (&["--sort", "name", "-n", "1"], "1"),
        (&["--sort", "messages", "-r", "-n", "1"], "2"),
        (&["--sort", "size", "-n", "1"], "1"),
        (&["--sort", "cost", "-r", "-n", "1"], "2"),
        (&["--search", "PARSER"], "5"),
        (&["--search", "ünits"], "5 1 3"),
        (&["--search", "\"first  THEN wait\""], "1"),
        (&["--search", "\"plans it\""], ""),
        (&["--search", "re:plans.first"], "1"),
        (&["--search", "0199ffff"], "3"),
        (&["--search", "elsewhere", "--all"], "4"),
        (&["--search", "thrpl"], "1"),
    ] {
        let args = [args, &["-q"]].concat();
        assert_eq!(files(&world, &args), wanted, "{args:?}");
    }
    let ran = world.pis(&["sessions", "--search", "nowhere", "--json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert_eq!(ran.notes(), ["nothing-shown"]);
    for args in [
        &["--search", "re:("][..],
        &["--since", "soon"],
        &["--format", "%(nope)"],
    ] {
        let ran = world.pis(&[&["sessions"], args].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
    }
}

#[test]
fn a_family_is_what_forks_join() {
    let world = prepared();
    let work = world.work();
    let outside = world.write("outside.jsonl", text(TALK, "/x"));
    let root = outside.to_str().expect("UTF-8");
    let child = Story {
        id: "c1",
        parent: root,
        ..TALK
    };
    let first = put(&world, "/x", "6.jsonl", child);
    // A path that is relative is meant from where pi ran.
    put(
        &world,
        "",
        "7.jsonl",
        Story {
            id: "c2",
            parent: "outside.jsonl",
            ..TALK
        },
    );
    put(
        &world,
        "/y",
        "8.jsonl",
        Story {
            parent: first.to_str().expect("UTF-8"),
            ..child
        },
    );
    put(
        &world,
        "/y",
        "9.jsonl",
        Story {
            id: "c3",
            parent: "/gone.jsonl",
            ..TALK
        },
    );
    let family = |session: &str| {
        let mut found: Vec<_> = files(&world, &["-s", session, "--family"])
            .split(' ')
            .map(str::to_owned)
            .collect();
        found.sort();
        found.join(" ")
    };
    for session in [root, "c2", "c1"] {
        // c1 names two sessions, so the file does.
        let session = if session == "c1" {
            first.to_str().expect("UTF-8")
        } else {
            session
        };
        assert_eq!(family(session), "6 7 8 outside", "{session}");
    }
    assert_eq!(
        family("c3"),
        "3 9",
        "both were forked from one that is gone"
    );
    assert_eq!(family("0199eeee"), "5");
    assert_eq!(
        files(&world, &["--all", "--roots", "-n", "9"])
            .split(' ')
            .count(),
        5
    );
    let ran = world.pis(&["-s", "nobody", "sessions", "--family", "--json"]);
    assert_eq!((ran.code, ran.error().as_str()), (128, "no-session"));
    // Whoever names a session that is not there gets the list.
    let gone = work.join("gone.jsonl");
    let ran = world.pis(&["-s", gone.to_str().expect("UTF-8"), "sessions"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 5));
}

#[test]
fn one_odd_session_hides_no_other() {
    let world = World::new();
    let work = world.work();
    let work = work.to_str().expect("UTF-8");
    let whole = text(TALK, work);
    let odd = [
        r#"{"type":"message","id":"x","parentId":null}"#,
        r#"{"type":"message","id":"x","parentId":null,"message":null}"#,
        r#"{"type":"message","id":"x","parentId":null,"message":{"role":"user","content":null}}"#,
        r#"{"type":"message","id":"x","parentId":null,"message":{"role":"user","content":[null]}}"#,
        r#"{"type":"session_info","id":"x","parentId":null,"name":7}"#,
        "[]",
        "{\"torn",
    ];
    for (n, line) in odd.iter().enumerate() {
        put_text(
            &world,
            work,
            &format!("odd-{n}.jsonl"),
            &format!("{whole}{line}"),
        );
    }
    let header = whole.lines().next().expect("a header");
    let entry = whole.lines().nth(1).expect("an entry");
    for (name, text) in [
        ("empty.jsonl", String::new()),
        (
            "foreign.jsonl",
            "{\"type\":\"summary\",\"uuid\":\"x\"}\n".to_owned(),
        ),
        ("no-id.jsonl", "{\"type\":\"session\"}\n".to_owned()),
        ("noise.jsonl", "\0\0\0\n".repeat(9)),
        ("notes.txt", whole.clone()),
        ("headless.jsonl", format!("{entry}\n")),
        ("bom.jsonl", format!("\u{feff}{whole}")),
        ("late.jsonl", format!("{entry}\n{header}\n")),
    ] {
        put_text(&world, work, name, &text);
    }
    let dir = put_text(&world, work, "link", "");
    std::os::unix::fs::symlink("nowhere", dir.with_file_name("dangling.jsonl")).expect("a link");
    std::fs::create_dir(dir.with_file_name("directory.jsonl")).expect("a directory");
    let ran = world.read(&["sessions", "--json"]);
    assert_eq!(ran.code, 1, "one could not be read");
    assert_eq!(ran.stdout.lines().count(), odd.len(), "{}", ran.stdout);
    let mut notes = ran.notes();
    notes.sort();
    let wanted = [
        "bom",
        "header-not-first",
        "no-header",
        "unparseable-line",
        "unreadable",
    ];
    assert_eq!(notes, wanted);
    for row in ran.stdout.lines() {
        let row: Value = serde_json::from_str(row).expect("JSON");
        assert_eq!(row["firstMessage"], TALK.says, "{row}");
    }
}

#[test]
fn where_there_is_none_a_note_says_what_to_do() {
    let world = World::new();
    for args in [
        &["sessions"][..],
        &["sessions", "--all"],
        &["--session-dir", "d", "ls"],
    ] {
        let ran = world.pis(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{args:?}");
        assert!(
            ran.stderr.starts_with("note: there are no sessions "),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("'pis init'"), "{}", ran.stderr);
    }
    let error = world.pis(&["log"]).stderr;
    assert!(error.contains("'pis sessions --all'"), "{error}");
}

#[test]
fn a_shared_directory_is_sorted_out_by_the_headers() {
    let world = World::new();
    let work = world.work();
    let work = work.to_str().expect("UTF-8");
    world.write("d/1.jsonl", text(TALK, work));
    world.write("d/2.jsonl", text(Story { ago: HOUR, ..TALK }, "/x"));
    world.write(
        "d/3.jsonl",
        text(Story { ago: DAY, ..TALK }, &format!("{work}/../work")),
    );
    assert_eq!(files(&world, &["--session-dir", "d"]), "1 3");
    assert_eq!(files(&world, &["--session-dir", "d", "--all"]), "1 2 3");
}

#[test]
fn a_template_takes_the_fields_of_sessions() {
    let world = prepared();
    let shown = |format: &str| {
        let args = [
            "sessions", "-z", "--format", format, "--sort", "name", "-n", "2",
        ];
        world.ok(&args)
    };
    assert_eq!(
        shown("%h|%s|%b|%l|%(messageCount)|%ar|%d|%(leaf)|%c"),
        "01976a7c-1|three plans|Refactor auth, plans first\nthen wait\
         |three plans|2|2h||false|0.3\0\
         0199eeee|Fix the parser|||2|now|@|true|0.3\0"
    );
    let rows = world.json(&["sessions", "--json", "--sort", "name", "-n", "2"]);
    for (row, printed) in rows.iter().zip(shown("%(json)").split('\0')) {
        assert_eq!(*row, serde_json::from_str::<Value>(printed).expect("JSON"));
    }
    // An entry has no such field.
    assert_eq!(world.pis(&["log", "--format", "%(path)"]).code, 2);
}

#[test]
fn rows_fit_the_terminal() {
    let world = prepared();
    let shown = |columns: &str, args: &[&str]| {
        let ran = in_pipe(&world, args, &[("COLUMNS", columns)]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        format!("\n{}", ran.stdout)
    };
    assert_eq!(shown("40", &["ls", "-n", "3"]), NARROW);
    let ordinary = shown("80", &["ls", "-n", "3"]);
    // How large a file is depends on where it lies.
    let without_size = ordinary
        .lines()
        .map(|row| row.rsplit_once(' ').map_or("", |(row, _)| row.trim_end()));
    assert_eq!(
        without_size.collect::<Vec<_>>(),
        ORDINARY.trim_end().lines().collect::<Vec<_>>()
    );
    let all = shown("80", &["ls", "--all", "-n", "4"]);
    assert!(all.contains("…here/a/long/way/off"), "{all}");
    let wide = shown("200", &["ls"]);
    assert!(
        wide.contains("three plans  Refactor auth, plans first then wait "),
        "{wide}"
    );
    assert!(wide.contains("$0.300") && !ordinary.contains('$'), "{wide}");

    let long = ["日本語のテキスト", "مرحبا بالعالم", "👩‍💻é", "\u{202e}\u{7}x"];
    for (n, text) in long.iter().enumerate() {
        let text = format!("{text} ").repeat(60);
        let id = "i".repeat(60);
        put(
            &world,
            &format!("/{}", "漢字/".repeat(20)),
            &format!("long-{n}.jsonl"),
            Story {
                id: if n == 0 { &id } else { TALK.id },
                name: if n % 2 == 0 { &text } else { "" },
                says: &text,
                ..TALK
            },
        );
    }
    for columns in [20, 40, 60, 80, 139, 200] {
        for locale in ["C.UTF-8", "C"] {
            let text = columns.to_string();
            let env = [("COLUMNS", text.as_str()), ("LANG", locale)];
            for args in [
                &["ls"][..],
                &["ls", "--all"],
                &["ls", "--all", "--color=always"],
            ] {
                let ran = in_pipe(&world, args, &env);
                let plain = without_styles(&ran.stdout);
                assert_harmless(&plain, &args.join(" "));
                assert_eq!(plain.lines().count(), if args.len() > 1 { 9 } else { 4 });
                let widest = plain.lines().map(UnicodeWidthStr::width).max();
                assert!(widest <= Some(columns), "{columns}: {plain}");
                assert!(!plain.contains('…') || locale != "C", "{plain}");
            }
        }
    }
}

const NARROW: &str = "
* 0199eeee    Fix the parser      2  now
  01976a7c-1  three plans  Refac… 2   2h
  0199ffff    日本語のテキスト م… 2   3d
";
const ORDINARY: &str = "
* 0199eeee    Fix the parser                                    2  now
  01976a7c-1  three plans  Refactor auth, plans first then wait 2   2h
  0199ffff    日本語のテキスト مرحبا 👩\u{200d}💻 ^[[31mred               2   3d
";

#[test]
fn a_terminal_gets_colours_and_a_pager() {
    if !has_terminal() {
        return;
    }
    let world = prepared();
    let shown = on_terminal(
        &world,
        &["sessions", "--all"],
        &[("PIS_PAGER", "sed s/^/PAGED:/")],
    );
    assert_eq!((shown.code, shown.text.lines().count()), (0, 5));
    assert!(shown.text.starts_with("PAGED:"), "{}", shown.text);
    assert!(shown.text.contains('\u{1b}'), "{}", shown.text);
    assert_harmless(&without_styles(&shown.text), "sessions --all");
}

//! `pis log`: what was said, newest first; with a graph, all branches.

use serde_json::json;

use crate::common::{Build, World, fields, fixture};

/// Ages depend on the day, so they are all given as `age`.
fn ageless(text: &str) -> String {
    let age =
        regex::Regex::new(r"(?m) (?:  \d[mhdy]| \d\d[mhdy]| \dmo|\d\dmo)(  |$)").expect("fine");
    age.replace_all(text, "  age$1").into_owned()
}

fn log(args: &[&str]) -> String {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let args: Vec<_> = ["-s", &file, "log"].iter().chain(args).copied().collect();
    ageless(&world.ok(&args))
}

fn ids(args: &[&str]) -> Vec<String> {
    let args: Vec<_> = args.iter().chain(&["--format", "%H"]).copied().collect();
    log(&args).lines().map(str::to_owned).collect()
}

#[test]
fn the_graph_shows_all_branches() {
    assert_eq!(
        log(&["--graph"]),
        "\
●  f4b8236e assistant  Done: the id, never the token (1 tool)      age  ← @
●  1d9e4b72 user       Log the user id, never the token            age
●  840e16a9 assistant  Done: errors keep their type (2 tools)      age  [good]
●  a96ab147 user       Keep the return value, only add logs        age
│ ○  c20b91a8 assistant  Rewrote the module; 5 tests f… (9 tools)  age
│ ○  78743def user       Try an aggressive rewrite                 age
├─╯
●  0fa4a08e assistant  Three plans: A conservative, B abstractio…  age  [plans]
●  dd4f6f16 user       Refactor auth, plans first                  age
"
    );
}

#[test]
fn paths_choose_the_answers_that_touched_them() {
    let call = |path: &str| {
        crate::common::assistant(json!([
            { "type": "toolCall", "id": "c", "name": "edit", "arguments": { "path": path, "edits": [] } },
        ]))
    };
    // The session ran in /home/dev/project.
    let session = Build::new()
        .user("aaaaaaa1", "", "src/a.rs")
        .message("bbbbbbb1", "aaaaaaa1", call("src/a.rs"))
        .message("bbbbbbb2", "bbbbbbb1", call("/home/dev/project/src/b/c.rs"))
        .message("bbbbbbb3", "bbbbbbb2", call("../other/src/a.rs"))
        .message("bbbbbbb4", "bbbbbbb3", call("src/a.rs.bak"));
    let world = World::with(session.text());
    for (paths, wanted) in [
        (&["src/a.rs"][..], "bbbbbbb1\n"),
        (&["./src/b/../a.rs"], "bbbbbbb1\n"),
        (&["src"], "bbbbbbb4\nbbbbbbb2\nbbbbbbb1\n"),
        (&["/home/dev/other", "src/b"], "bbbbbbb3\nbbbbbbb2\n"),
    ] {
        let args = [&["log", "--format", "%H", "--"], paths].concat();
        assert_eq!(world.done(&args), wanted, "{paths:?}");
        let people = world.done(&[&["log", "--"], paths].concat());
        assert_eq!(people.lines().count(), wanted.lines().count(), "{people}");
    }
    let none = world.on(&["log", "--", "nowhere"]);
    assert_eq!((none.code, none.stdout.as_str()), (0, ""));
    assert_eq!(none.stderr, "note: there is nothing to show\n");
}

#[test]
fn the_graph_can_be_drawn_with_ascii() {
    let wanted = "\
*  f4b8236e assistant  Done: the id, never the token (1 tool)      age  <- @
*  1d9e4b72 user       Log the user id, never the token            age
*  840e16a9 assistant  Done: errors keep their type (2 tools)      age  [good]
*  a96ab147 user       Keep the return value, only add logs        age
| o  c20b91a8 assistant  Rewrote the module; 5 tests f~ (9 tools)  age
| o  78743def user       Try an aggressive rewrite                 age
|/
*  0fa4a08e assistant  Three plans: A conservative, B abstractio~  age  [plans]
*  dd4f6f16 user       Refactor auth, plans first                  age
";
    assert_eq!(log(&["--graph", "--ascii"]), wanted);
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    for (name, value) in [("LC_ALL", "C"), ("TERM", "dumb")] {
        let mut command = world.command(&["-s", &file, "log", "--graph"]);
        let output = command.env(name, value).output().unwrap();
        assert_eq!(
            ageless(&String::from_utf8(output.stdout).unwrap()),
            wanted,
            "{name}"
        );
    }
}

#[test]
fn without_a_graph_it_is_the_path() {
    let wanted = "\
f4b8236e assistant  Done: the id, never the token (1 tool)          age  ← @
1d9e4b72 user       Log the user id, never the token                age
840e16a9 assistant  Done: errors keep their type (2 tools)          age  [good]
a96ab147 user       Keep the return value, only add logs            age
0fa4a08e assistant  Three plans: A conservative, B abstraction, C…  age  [plans]
dd4f6f16 user       Refactor auth, plans first                      age
";
    assert_eq!(log(&[]), wanted);
    assert_eq!(log(&["@"]), wanted);
    let mut lines: Vec<_> = wanted.lines().collect();
    assert_eq!(
        ids(&["--filter", "no-tools", "-n", "2"]),
        ["f4b8236e", "1d9e4b72"]
    );
    lines.reverse();
    assert_eq!(log(&["--reverse"]).lines().collect::<Vec<_>>(), lines);
}

#[test]
fn one_line_each_has_no_columns() {
    assert_eq!(
        log(&["--oneline"]),
        "\
f4b8236e assistant  Done: the id, never the token (1 tool)  ← @
1d9e4b72 user  Log the user id, never the token
840e16a9 assistant  Done: errors keep their type (2 tools)  [good]
a96ab147 user  Keep the return value, only add logs
0fa4a08e assistant  Three plans: A conservative, B abstraction, C rewr…  [plans]
dd4f6f16 user  Refactor auth, plans first
"
    );
}

#[test]
fn nothing_wraps_at_any_width() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    for columns in [20, 30, 40, 59, 60, 80, 139, 140, 200] {
        for args in [
            &["log"][..],
            &["log", "--graph"],
            &["log", "--oneline"],
            &["tree"],
        ] {
            let args: Vec<_> = ["-s", &file].iter().chain(args).copied().collect();
            let output = world
                .command(&args)
                .env("COLUMNS", columns.to_string())
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            // Under 40 columns only the lines of the graph and the id are sure to be whole.
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(
                widest <= columns.max(40),
                "{args:?} at {columns}: {widest}\n{text}"
            );
        }
    }
}

#[test]
fn a_wide_terminal_has_room_for_model_and_cost() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let wide = |columns: &str| {
        let mut command = world.command(&["-s", &file, "log", "--graph"]);
        String::from_utf8(command.env("COLUMNS", columns).output().unwrap().stdout).unwrap()
    };
    let text = wide("200");
    let line = text.lines().find(|line| line.contains("c20b91a8")).unwrap();
    assert!(
        line.contains("Rewrote the module; 5 tests fail (9 tools) "),
        "{line}"
    );
    assert!(
        line.contains(" claude-opus-4-5 ") && line.contains(" $0.016 "),
        "{line}"
    );
    assert!(!wide("80").contains("claude"));
}

#[test]
fn filters_are_pis() {
    assert_eq!(
        ids(&["--filter", "user-only"]),
        ["1d9e4b72", "a96ab147", "dd4f6f16"]
    );
    assert_eq!(ids(&["--filter", "labeled-only"]), ["840e16a9", "0fa4a08e"]);
    let no_tools = [
        "f4b8236e", "1d9e4b72", "840e16a9", "a96ab147", "0fa4a08e", "dd4f6f16",
    ];
    assert_eq!(ids(&["--filter", "no-tools"]), no_tools);
    let default = ids(&["--filter", "default"]);
    assert_eq!(default.len(), 9, "with three tool results");
    assert_eq!(
        ids(&["--filter", "all"]).len(),
        13,
        "with labels and settings"
    );
    assert_eq!(ids(&[]).len(), 15, "a format hides nothing");
    assert_eq!(ids(&["--all"]).len(), 30);
}

#[test]
fn roles_types_text_and_time_select() {
    assert_eq!(
        ids(&["--role", "user"]),
        ["1d9e4b72", "a96ab147", "dd4f6f16"]
    );
    assert_eq!(ids(&["--role", "tool"]).len(), 3);
    assert_eq!(ids(&["--type", "label"]), ["7a35f8c0", "6de81c37"]);
    assert_eq!(ids(&["--grep", "^Done:"]), ["f4b8236e", "840e16a9"]);
    assert_eq!(ids(&["--all", "--grep", "(?i)AGGRESSIVE"]), ["78743def"]);
    assert_eq!(ids(&["--since", "2026-11-29"]).len(), 4);
    assert_eq!(ids(&["--until", "2026-11-26 09:02:38.204"]).len(), 4);
    let range = [
        "--since",
        "2026-11-27",
        "--until",
        "2026-11-28T07:06:11.634Z",
        "--role",
        "user",
    ];
    assert_eq!(ids(&range), ["a96ab147"]);
    assert_eq!(ids(&["--role", "user", "-n", "1"]), ["1d9e4b72"]);
    assert_eq!(
        log(&["--type", "label"]).lines().count(),
        2,
        "what is asked for is shown"
    );
}

#[test]
fn revisions_and_ranges_choose_the_entries() {
    assert_eq!(ids(&["plans", "--role", "user"]), ["dd4f6f16"]);
    assert_eq!(ids(&["plans..good", "--role", "user"]), ["a96ab147"]);
    assert_eq!(
        ids(&["good...c20b", "--role", "user"]),
        ["a96ab147", "78743def"]
    );
    assert_eq!(
        log(&["--graph", "6de81c37..c20b"]),
        "\
○  c20b91a8 assistant  Rewrote the module; 5 tests fail (9 tools)  age
○  78743def user       Try an aggressive rewrite                   age
"
    );
}

#[test]
fn json_hides_nothing_and_has_every_field() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let rows = world.json(&["-s", &file, "--json", "log"]);
    assert_eq!(rows.len(), 15);
    assert_eq!(
        rows[0],
        json!({
            "id": "f4b8236e", "parentId": "02e7d19f", "type": "message", "role": "assistant",
            "timestamp": "2026-11-29T00:06:45.764Z", "time": 1_795_910_805_764_i64,
            "label": null, "leaf": true, "onPath": true, "text": "Done: the id, never the token",
        })
    );
    assert!(rows.iter().all(|row| fields(row) == fields(&rows[0])));
    assert_eq!(rows[14]["parentId"], json!(null));
    assert_eq!(rows[14]["role"], json!(null));
    let all = world.json(&["-s", &file, "--json", "log", "--graph"]);
    assert_eq!(all.len(), 30);
    assert_eq!(
        all.iter()
            .filter(|row| row["onPath"] == json!(false))
            .count(),
        15
    );
    assert_eq!(
        world
            .json(&["-s", &file, "--json", "log", "--filter", "user-only"])
            .len(),
        3
    );
}

#[test]
fn the_label_of_an_old_entry_shows_where_only_the_path_is_read() {
    let (world, file) = (World::new(), fixture("kinds.jsonl"));
    let rows = world.json(&["-s", &file, "--json", "log", "--role", "user"]);
    assert_eq!(rows[0]["label"], "start");
}

#[test]
fn nothing_to_show_is_told() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let none = [
        &["root"][..],
        &["--grep", "no such"],
        &["-n", "0"],
        &["--graph", "--type", "x"],
    ];
    for args in none {
        let args: Vec<_> = ["-s", &file, "log"].iter().chain(args).copied().collect();
        let ran = world.read(&args);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{args:?}");
        assert_eq!(ran.stderr, "note: there is nothing to show\n");
    }
    assert_eq!(world.ok(&["-q", "-s", &file, "log", "root"]), "");
}

#[test]
fn mistakes_are_usage_errors() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    for (args, says) in [
        (&["--graph", "--reverse"][..], "cannot be used with"),
        (&["--all", "@"], "cannot be used with"),
        (&["--grep", "("], "invalid value '('"),
        (&["--since", "whenever"], "'whenever' is no time"),
        (&["--filter", "some"], "invalid value 'some'"),
        (&["--format", "%q"], "'--format' does not know '%q'"),
        (&["-n", "x"], "invalid value 'x'"),
    ] {
        let args: Vec<_> = ["-s", &file, "log"].iter().chain(args).copied().collect();
        let ran = world.read(&args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
        assert!(
            ran.stderr.starts_with("error: ") && ran.stderr.contains(says),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn every_placeholder_of_a_format_is_filled() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let format = |format: &str, rev: &str| {
        world.ok(&["-s", &file, "log", "-n", "1", "--format", format, rev])
    };
    for (template, wanted) in [
        (
            "%H %(id) %h %(shortId)",
            "0fa4a08e 0fa4a08e 0fa4a08e 0fa4a08e",
        ),
        (
            "%P %(parentId) %p %(shortParentId)",
            "dd4f6f16 dd4f6f16 dd4f6f16 dd4f6f16",
        ),
        (
            "%T %(type) %r %(role)",
            "message message assistant assistant",
        ),
        (
            "%t %(timestamp)",
            "2026-11-26T09:02:38.204Z 2026-11-26T09:02:38.204Z",
        ),
        ("%at %(time)", "1795683758204 1795683758204"),
        (
            "%s",
            "Three plans: A conservative, B abstraction, C rewrite",
        ),
        (
            "%l %(label)|%d %(marks)|%(leaf) %(onPath)",
            "plans plans|[plans] [plans]|false true",
        ),
        ("%m %(model)", "claude-sonnet-4-5 claude-sonnet-4-5"),
        ("%k %(tokens)", "4486 4486"),
        ("%c %(cost)", "0.020019 0.020019"),
        ("100%% %x41%x00%n", "100% A\0\n"),
        ("%C(red)x%Creset", "x"),
        ("", ""),
    ] {
        assert_eq!(
            format(template, "plans"),
            format!("{wanted}\n"),
            "{template}"
        );
    }
    assert!(format("%b", "plans").starts_with("\nA keeps every"));
    assert_eq!(format("%B", "plans"), format("%s%n%b", "plans"));
    assert_eq!(format("%B", "plans"), format("%(text)", "plans"));
    assert_eq!(format("[%r%l%m%k%c%P]", "5c1f0b7e"), "[]\n");
    let object = format("%(json)", "plans");
    assert_eq!(
        object,
        world.ok(&["-s", &file, "--json", "log", "-n", "1", "plans"])
    );
    let red = [
        "-s",
        &file,
        "--color",
        "always",
        "log",
        "-n1",
        "--format",
        "%C(red)x%Creset",
    ];
    assert_eq!(world.ok(&red), "\u{1b}[31mx\u{1b}[0m\n");
}

#[test]
fn rows_can_end_in_nul() {
    let text = log(&["-z", "--format", "%h"]);
    assert_eq!(text.matches('\0').count(), 15);
    assert!(!text.contains('\n'));
}

#[test]
fn texts_of_hostile_sessions_are_harmless() {
    let world = World::new();
    let hostile = "a\u{1b}[31mb\u{1b}]8;;http://x\u{7}\u{202e}\r\nz\u{9b}2J\u{7f}";
    let text = Build::new()
        .user("aaaaaaaa", "", hostile)
        .label("bb\u{1b}[1m", "aaaaaaaa", "aaaaaaaa", hostile)
        .entry(
            "cccccccc",
            "bb\u{1b}[1m",
            json!({ "type": hostile, "label": hostile }),
        )
        .text();
    world.write("s.jsonl", text);
    let all = ["--filter", "all"];
    for args in [
        &["log"][..],
        &["log", "--graph"],
        &["tree"],
        &["log", "--oneline"],
    ] {
        let args: Vec<_> = ["-s", "s.jsonl"]
            .iter()
            .chain(args)
            .chain(&all)
            .copied()
            .collect();
        let ran = world.read(&args);
        let printed = ran.stdout + &ran.stderr;
        let active = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}');
        assert!(!printed.contains(active), "{args:?}: {printed:?}");
        assert!(printed.contains("^[[31m"), "{printed}");
    }
}

#[test]
fn text_is_as_wide_as_a_terminal_shows_it() {
    let world = World::new();
    let text = Build::new()
        .user("aaaaaaaa", "", &"日本語テキスト".repeat(20))
        .user("bbbbbbbb", "aaaaaaaa", "ascii")
        .text();
    world.write("s.jsonl", text);
    let lines = world.lines(&["-s", "s.jsonl", "log"]);
    let wide = |c: char| if c as u32 > 0x2fff { 2 } else { 1 };
    let width: usize = lines[1].chars().map(wide).sum();
    assert!(width <= 80, "{}", lines[1]);
    assert!(lines[1].contains('…'));
}

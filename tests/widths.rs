//! Columns: no line is wider than the terminal, what is shown follows the width, and lines are
//! drawn with ASCII where nothing else can be shown.

use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use crate::common::{Build, World, assistant};
use crate::terminal::{in_pipe, plain_session, plain_world};

/// A session that is hard to lay out: wide characters, long ids, labels, names, many columns.
fn wide_session() -> String {
    let long = "word ".repeat(100);
    let wide = "日本語のテキスト👩‍💻é ".repeat(30);
    let mut call = assistant(json!([{
        "type": "toolCall", "id": "t", "name": "n".repeat(70), "arguments": { "path": wide },
    }]));
    call["model"] = json!("a-model-with-a-name-that-is-longer-than-its-column");
    let mut build = Build::new()
        .user("dd4f6f16", "", &long)
        .assistant("0fa4a08e", "dd4f6f16", &wide)
        .message("0fa4a08f", "0fa4a08e", call)
        .user(
            "a-long-id-that-somebody-chose-because-any-string-will-do",
            "0fa4a08f",
            "short",
        )
        .user(
            "漢字の識別子漢字の識別子漢字の識別子",
            "0fa4a08f",
            "an id of wide characters",
        )
        .user("an id with blanks in it", "0fa4a08f", &wide)
        .message(
            "0fa4a090",
            "0fa4a08f",
            json!({ "role": "r".repeat(50), "content": "x" }),
        )
        .entry(
            "0fa4a091",
            "0fa4a08f",
            json!({ "type": "t".repeat(50), "content": "x" }),
        );
    // A deep tree of branches, and many columns at once.
    let mut parent = "0fa4a08e".to_owned();
    for n in 0..40 {
        let (main, side) = (format!("{n:08x}"), format!("{:08x}", 0x1000 + n));
        build = build
            .user(&main, &parent, &long)
            .user(&side, &parent, &wide);
        parent = main;
    }
    build
        .label(
            "0fa4b001",
            "0fa4a08e",
            "0fa4a08e",
            &"long label ".repeat(20),
        )
        .label(
            "0fa4b002",
            "0fa4b001",
            "0fa4a08f",
            "長いラベル長いラベル長いラベル長いラベル長いラベル",
        )
        .user("0fa4b003", "0fa4b002", &long)
        .label("0fa4b004", "0fa4b003", "0fa4b003", "here")
        .text()
}

const DRAWN: &[&[&str]] = &[
    &["log"],
    &["log", "--all"],
    &["log", "--graph"],
    &["log", "--graph", "--filter", "all"],
    &["log", "--graph", "--oneline"],
    &["log", "--oneline"],
    &["log", "--oneline", "--all", "--filter", "all"],
    &["tree"],
    &["tree", "--filter", "all"],
];

/// What has no `--ascii` of its own, and no row for each entry.
const SHOWN: &[&[&str]] = &[
    &["branch"],
    &["status"],
    &["log", "--stat"],
    &["log", "--stat", "--graph"],
    &[],
];

#[test]
fn no_line_is_wider_than_the_terminal() {
    let world = World::new();
    world.write("wide.jsonl", wide_session());
    world.write("plain.jsonl", plain_session());
    let mut wrong = Vec::new();
    for session in ["./plain.jsonl", "./wide.jsonl"] {
        for columns in [40, 80, 200] {
            for args in DRAWN.iter().chain(SHOWN) {
                for ascii in [false, true] {
                    if ascii && SHOWN.contains(args) {
                        continue;
                    }
                    let mut all = [&["-s", session], *args].concat();
                    all.extend(ascii.then_some("--ascii"));
                    let text = columns.to_string();
                    let ran = in_pipe(&world, &all, &[("COLUMNS", &text)]);
                    assert_eq!(ran.code, 0, "{}", ran.stderr);
                    let widest = ran.stdout.lines().max_by_key(|line| line.width());
                    let widest = widest.expect("it prints something");
                    if widest.width() > columns {
                        wrong.push(format!("{all:?} at {columns}: {} {widest}", widest.width()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn what_is_shown_follows_the_width() {
    let world = plain_world();
    let shown = |columns: &str, args: &[&str]| {
        let ran = in_pipe(
            &world,
            &[&["-s", "./s.jsonl"], args].concat(),
            &[("COLUMNS", columns)],
        );
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
        ran.stdout
    };
    for args in DRAWN {
        for columns in ["40", "80", "200"] {
            let text = shown(columns, args);
            let row = text
                .lines()
                .find(|line| line.contains("840e"))
                .expect("the newest answer");
            let who = if columns == "40" { "asst" } else { "assistant" };
            assert!(row.contains(who), "{args:?} at {columns}: {row}");
            assert!(row.contains("Done"), "{args:?} at {columns}: {row}");
        }
    }
    for args in [&["log"][..], &["log", "--graph"]] {
        for (columns, wanted) in [("40", false), ("80", false), ("200", true)] {
            let text = shown(columns, args);
            assert_eq!(
                text.contains("claude-a"),
                wanted,
                "{args:?} at {columns}: {text}"
            );
            assert_eq!(
                text.contains("$0.300"),
                wanted,
                "{args:?} at {columns}: {text}"
            );
        }
    }
}

#[test]
fn ascii_where_nothing_else_can_be_shown() {
    let world = plain_world();
    for args in DRAWN {
        // The environment, an option; whether only ASCII may come out.
        for (env, option, ascii) in [
            (&[("LANG", "C.UTF-8")][..], None, false),
            (&[("LANG", "C.UTF-8")], Some("--ascii"), true),
            (&[("LANG", "C")], None, true),
            (&[("LANG", "!")], None, true),
            (&[("LANG", "de_DE.utf8")], None, false),
            (&[("LANG", "C.UTF-8"), ("LC_ALL", "POSIX")], None, true),
            (&[("LANG", "C"), ("LC_CTYPE", "en_US.UTF-8")], None, false),
            (&[("LC_CTYPE", "en_US.UTF-8"), ("LC_ALL", "C")], None, true),
            (&[("LC_ALL", ""), ("LANG", "C.UTF-8")], None, false),
            (&[("TERM", "dumb")], None, true),
        ] {
            let mut all = [&["-s", "./s.jsonl"], *args].concat();
            all.extend(option);
            let ran = in_pipe(&world, &all, env);
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{all:?} {env:?}");
            // The leaf's mark is there in any case.
            assert_eq!(
                ran.stdout.is_ascii(),
                ascii,
                "{all:?} {env:?}: {}",
                ran.stdout
            );
        }
    }
}

//! `pis show` and `pis log -p`, `--stat`: entries in full.

use serde_json::json;

use crate::common::{Build, World, assistant, fixture};
use crate::terminal::in_pipe;

/// A world whose session holds one answer that does a bit of everything.
fn world() -> World {
    let call = |id: &str, name: &str, arguments: serde_json::Value| json!({ "type": "toolCall", "id": id, "name": name, "arguments": arguments });
    let edits = json!({ "path": "src/a.rs", "edits": [
        { "oldText": "fn a() {\n    one();\n}\n", "newText": "fn a() {\n    two();\n}\n" },
    ] });
    let mut answer = assistant(json!([
        { "type": "thinking", "thinking": "Hmm, what now?" },
        { "type": "text", "text": "## Plan\n\n1. *first*\n2. **second** with `code`\n\n```sh\nls -l\n```" },
        call("c1", "bash", json!({ "command": "ls\nwc -l" })),
        call("c2", "edit", edits),
        call("c3", "write", json!({ "path": "new.txt", "content": "a\nb\n" })),
        call("c4", "search", json!({ "query": "x", "deep": { "n": 1 } })),
    ]));
    answer["usage"] = json!({ "input": 1200, "output": 30, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1230,
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.0123 } });
    answer["stopReason"] = json!("toolUse");
    let result = |call: &str, text: &str, failed: bool| {
        json!({ "role": "toolResult", "toolCallId": call,
        "toolName": "bash", "content": [{ "type": "text", "text": text }], "isError": failed, "timestamp": 1 })
    };
    let lines: Vec<_> = (1..=15).map(|n| format!("line {n}")).collect();
    let image = json!({ "role": "user", "timestamp": 1, "content": [
        { "type": "text", "text": "Look *here*:\n\tindented" },
        { "type": "image", "mimeType": "image/png", "data": "A".repeat(2000) },
    ] });
    World::with(
        Build::new()
            .message("aaaaaaa1", "", image)
            .message("bbbbbbb1", "aaaaaaa1", answer)
            .message(
                "ccccccc1",
                "bbbbbbb1",
                result("c1", &lines.join("\n"), false),
            )
            .message("ccccccc2", "ccccccc1", result("c2", "no such text", true))
            .assistant("ddddddd1", "ccccccc2", "Done.")
            .label("eeeeeee1", "ddddddd1", "ddddddd1", "end")
            .text(),
    )
}

/// The lines without the one that tells the date, which depends on the day.
fn shown(world: &World, args: &[&str]) -> String {
    let text = world.done(args);
    let lines = text.lines().filter(|line| !line.contains("Date:   "));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn an_answer_shows_its_text_its_calls_and_their_results() {
    let wanted = "\
assistant bbbbbbb1
Parent:  aaaaaaa1
Model:   anthropic/claude-a
Usage:   1k in, 30 out; $0.012

    (thinking: 14 characters)
    ## Plan

    1. *first*
    2. **second** with `code`

    sh
      ls -l

    ▸ bash
      $ ls
      wc -l
    → result ccccccc1
      line 1
      line 2
      line 3
      line 4
      line 5
      line 6
      line 7
      line 8
      line 9
      line 10
      … 5 more lines (pis show ccccccc1)

    ▸ edit src/a.rs
       fn a() {
      -    one();
      +    two();
       }
    → failed ccccccc2
      no such text

    ▸ write new.txt
      +a
      +b

    ▸ search
      query: x
      deep: {\"n\":1}
";
    let world = world();
    assert_eq!(shown(&world, &["show", "bbbbbbb1"]), wanted);
    let full = shown(&world, &["show", "--full", "bbbbbbb1"]);
    assert!(full.contains("    Hmm, what now?\n"), "{full}");
    assert!(full.contains("      line 15\n\n"), "{full}");
    let raw = shown(&world, &["show", "--raw", "bbbbbbb1"]);
    assert!(raw.contains("    ```sh\n    ls -l\n    ```\n"), "{raw}");
}

#[test]
fn each_kind_of_entry_can_be_shown() {
    let world = world();
    assert_eq!(
        shown(&world, &["show", "aaaaaaa1", "ccccccc2", "end", "@"]),
        "\
user aaaaaaa1

    Look *here*:
            indented

    [image/png, 1.5 kB]

tool ccccccc2
Parent:  ccccccc1
Answers: [edit: src/a.rs] (failed)

    no such text

assistant ddddddd1  [end]
Parent:  ccccccc2
Model:   anthropic/claude-a
Usage:   10 in, 5 out; $0.300

    Done.

label eeeeeee1  ← @
Parent:  ddddddd1
Target:  ddddddd1

    end on ddddddd1
"
    );
    let (kinds, file) = (World::new(), fixture("kinds.jsonl"));
    let ids = kinds.lines(&["-s", &file, "ls-entries"]);
    let text = kinds.ok(&[
        &["-s", &file, "show"],
        &*ids.iter().map(String::as_str).collect::<Vec<_>>(),
    ]
    .concat());
    for said in [
        "Kind:    notes",
        "\"n\": 1",
        "From:    root",
        "Keeps:   00000007",
        "Before:  12k tokens",
        "anthropic/claude-a",
        "\"beam\": true",
        "$ ls",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn colour_marks_what_changed_inside_a_line() {
    let world = world();
    let text = world.done(&["--color=always", "show", "bbbbbbb1"]);
    assert!(
        text.contains("\u{1b}[31m-    \u{1b}[0m\u{1b}[31;7mone\u{1b}[0m\u{1b}[31m();\u{1b}[0m"),
        "{text:?}"
    );
    assert!(text.contains("\u{1b}[32;7mtwo"), "{text:?}");
    // With colour, Markdown needs no signs.
    assert!(
        text.contains("\u{1b}[3mfirst\u{1b}[0m") && !text.contains("**"),
        "{text:?}"
    );
}

#[test]
fn prose_follows_the_width_and_code_does_not_in_a_pipe() {
    let long = format!(
        "{} \n\n```\n{}\n```",
        "日本語 مرحبا 👩‍💻 word ".repeat(20),
        "x".repeat(300)
    );
    let world = World::with(Build::new().assistant("aaaaaaa1", "", &long).text());
    for (columns, most) in [("40", 40), ("80", 80), ("200", 104)] {
        let ran = in_pipe(
            &world,
            &["-s", "./s.jsonl", "show"],
            &[("COLUMNS", columns)],
        );
        let (code, prose): (Vec<_>, Vec<_>) =
            ran.stdout.lines().partition(|line| line.contains("xx"));
        let widest = prose
            .iter()
            .map(|line| unicode_width::UnicodeWidthStr::width(*line))
            .max();
        assert!(
            widest.is_some_and(|w| w <= most && w > most - 20),
            "{columns}: {widest:?}"
        );
        assert_eq!(code.len(), 1);
    }
}

#[test]
fn what_cannot_be_shown_is_said() {
    let world = World::with(Build::new().text());
    let ran = world.on(&["show"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
    assert!(
        ran.stderr
            .starts_with("error: '@' stands before the first entry"),
        "{}",
        ran.stderr
    );
    let world = self::world();
    let ran = world.on(&["show", "end", "nothing"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (128, ""),
        "nothing is shown where one is mistyped"
    );
    let row: serde_json::Value =
        serde_json::from_str(&world.done(&["--json", "show", "end"])).unwrap();
    assert_eq!(
        (&row["id"], &row["text"]),
        (&json!("ddddddd1"), &json!("Done."))
    );
}

#[test]
fn a_log_can_show_entries_in_full() {
    let world = world();
    let text = shown(&world, &["log", "-p", "-n", "2"]);
    let wanted = [
        shown(&world, &["show", "end"]),
        shown(&world, &["show", "bbbbbbb1"]),
    ]
    .join("\n");
    assert_eq!(
        text, wanted,
        "answers that only call tools are not left out"
    );
    // Where results are shown as entries, calls do not repeat them.
    let text = shown(&world, &["log", "-p", "--filter", "all"]);
    assert_eq!(text.matches("no such text").count(), 1, "{text}");
    let text = shown(&world, &["log", "-p", "--graph", "-n", "1"]);
    assert!(
        text.starts_with("●  assistant ddddddd1  [end]\n│  Parent:"),
        "{text}"
    );
}

#[test]
fn a_log_can_show_what_was_done() {
    let world = world();
    let age = regex::Regex::new(r" +\d+(m|h|d|mo|y)( |$)").unwrap();
    let text = world.done(&["log", "--stat", "--filter", "no-tools"]);
    let text: Vec<_> = text
        .lines()
        .map(|line| age.replace(line, "$2").into_owned())
        .collect();
    assert_eq!(
        text.join("\n"),
        "\
ddddddd1 assistant  Done. (2 tools)  [end]  ← @
 1 failed; 10 in, 5 out; $0.300
bbbbbbb1 assistant  ## Plan 1. *first* 2. **second** with `cod…
 src/a.rs | +1 -1
 new.txt  | +2
 bash 1, edit 1, write 1, search 1; 1k in, 30 out; $0.012
aaaaaaa1 user       Look *here*: indented (1 image)"
    );
}

#[test]
fn every_script_is_laid_out_by_its_width() {
    let text = "| 列 | قيمة |\n|---|---|\n| 日本語 | مرحبا 👩‍💻 |\n\n> 引用 **重要**\n\n\
        1. مرحبا بالعالم هذا نص طويل جدا يجب أن يلتف على عدة أسطر\n   - 👩‍💻 emoji";
    let prompt = "请帮我重构这个模块，并添加日志。".repeat(3);
    let build = Build::new().user("aaaaaaa1", "", &prompt);
    let world = World::with(build.assistant("aaaaaaa2", "aaaaaaa1", text).text());
    let shown = |columns: &str| {
        let args = ["-s", "./s.jsonl", "show", "aaaaaaa1", "aaaaaaa2"];
        let text = in_pipe(&world, &args, &[("COLUMNS", columns)]).stdout;
        let indented = text.lines().filter(|line| line.starts_with("  "));
        indented.map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_eq!(
        shown("40"),
        "  请帮我重构这个模块，并添加日志。请帮我
  重构这个模块，并添加日志。请帮我重构这
  个模块，并添加日志。
  列     │ قيمة
  ───────┼─────────
  日本語 │ مرحبا 👩‍💻
  │ 引用 **重要**
  1. مرحبا بالعالم هذا نص طويل جدا يجب
     أن يلتف على عدة أسطر
     • 👩‍💻 emoji
"
    );
    assert_eq!(
        shown("80"),
        "    请帮我重构这个模块，并添加日志。请帮我重构这个模块，并添加日志。请帮我重构这
    个模块，并添加日志。
    列     │ قيمة
    ───────┼─────────
    日本語 │ مرحبا 👩‍💻
    │ 引用 **重要**
    1. مرحبا بالعالم هذا نص طويل جدا يجب أن يلتف على عدة أسطر
       • 👩‍💻 emoji
"
    );
}

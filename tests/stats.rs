//! `pis stats`: what is counted, what is no number or has no price, parts of a session, columns.

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::common::{Build, World, assistant, fields, fixture};
use crate::terminal::{assert_harmless, in_pipe, without_styles};

/// An answer by a model, with this usage.
fn answer(provider: &str, model: &str, usage: Value) -> Value {
    let call =
        |n: u64, name: &str| json!({ "type": "toolCall", "id": n, "name": name, "arguments": {} });
    let mut answer = assistant(json!([call(1, "read"), call(2, "ba\u{1b}sh")]));
    answer["provider"] = json!(provider);
    answer["model"] = json!(model);
    answer["usage"] = usage;
    answer
}

#[expect(clippy::needless_pass_by_value, reason = "in few words")]
fn usage(tokens: u64, cost: Value) -> Value {
    json!({ "input": tokens, "output": 5, "cacheRead": 0, "cacheWrite": 0, "cost": cost })
}

fn result(tool: &str, failed: bool) -> Value {
    let image = json!({ "type": "image", "data": "aaaa", "mimeType": "image/png" });
    json!({
        "role": "toolResult", "toolCallId": "1", "toolName": tool, "isError": failed,
        "content": [{ "type": "text", "text": "x".repeat(50) }, image], "details": { "d": 1 },
    })
}

/// Two branches, three models, one without a price, two days, a failure, odd names.
fn session() -> Build {
    Build::new()
        .user("aaaaaaaa", "", "go")
        .message(
            "bbbbbbbb",
            "aaaaaaaa",
            answer("anthropic", "claude-a", usage(1000, json!({ "total": 0.5 }))),
        )
        .message("cccccccc", "bbbbbbbb", result("read", false))
        .message("dddddddd", "cccccccc", result("ba\u{1b}sh", true))
        .message(
            "eeeeeeee",
            "dddddddd",
            answer("local", "ll\u{202e}ama", usage(200, json!(null))),
        )
        .entry(
            "ffffffff",
            "bbbbbbbb",
            json!({
                "type": "compaction", "summary": "s", "firstKeptEntryId": "aaaaaaaa",
                "tokensBefore": 9, "timestamp": "2026-01-02T00:00:00.000Z",
                "usage": usage(30, json!({ "total": 0.25 })),
            }),
        )
        .entry(
            "abababab",
            "ffffffff",
            json!({
                "type": "usage", "kind": "k", "provider": "anthropic", "model": "claude-b",
                "timestamp": "2026-01-02T00:00:00.000Z", "usage": usage(1, json!({ "total": 0.125 })),
            }),
        )
}

fn stats(world: &World, revs: &[&str]) -> Value {
    let ran = world.on(&[&["stats", "--json"], revs].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{revs:?}");
    ran.object()
}

#[test]
fn all_entries_count_where_no_revision_is_given() {
    let got = stats(&World::with(session().text()), &[]);
    assert_eq!(
        got["messages"],
        json!({ "user": 1, "assistant": 2, "toolResult": 2, "toolCall": 4, "total": 5 })
    );
    assert_eq!(
        got["tokens"],
        json!({ "input": 1231, "output": 20, "cacheRead": 0, "cacheWrite": 0, "total": 1251 })
    );
    assert_eq!((&got["cost"], &got["unpriced"]), (&json!(0.875), &json!(1)));
    let model = |model: &str, tokens: u64, cost: Value, unpriced: u64| json!({ "model": model, "requests": 1, "tokens": tokens, "cost": cost, "unpriced": unpriced });
    assert_eq!(
        got["byModel"],
        json!([
            model("anthropic/claude-a", 1005, json!(0.5), 0),
            model("Tools/summaries", 35, json!(0.25), 0),
            model("anthropic/claude-b", 6, json!(0.125), 0),
            model("local/ll\u{202e}ama", 205, json!(null), 1),
        ])
    );
    let day = |day: &str, messages: u64, tokens: u64, cost: f64, unpriced: u64| json!({ "day": day, "messages": messages, "tokens": tokens, "cost": cost, "unpriced": unpriced });
    assert_eq!(
        got["byDay"],
        json!([
            day("2026-01-01", 5, 1210, 0.5, 1),
            day("2026-01-02", 0, 41, 0.375, 0),
        ])
    );
    let tools: Vec<_> = got["tools"].as_array().expect("a list").iter().collect();
    let tool = |n: usize, key: &str| tools[n][key].clone();
    assert_eq!(tools.len(), 2);
    for (n, name, failures) in [(0, "ba\u{1b}sh", 1), (1, "read", 0)] {
        let wanted = [json!(name), json!(2), json!(1), json!(failures)];
        assert_eq!(
            ["tool", "calls", "results", "failures"].map(|key| tool(n, key)),
            wanted
        );
    }
}

#[test]
fn a_revision_is_its_path_and_a_range_its_entries() {
    let world = World::with(session().text());
    for (revs, messages, cost) in [
        (&["@"][..], 2, 0.875),
        (&["eeeeeeee"], 5, 0.5),
        (&["bbbbbbbb..eeeeeeee"], 3, 0.0),
        (&["eeeeeeee..@"], 0, 0.375),
        (&["eeeeeeee...@"], 3, 0.375),
        (&["bbbbbbbb", "bbbbbbbb..@"], 2, 0.875),
    ] {
        let got = stats(&world, revs);
        assert_eq!(got["messages"]["total"], json!(messages), "{revs:?}");
        assert_eq!(got["cost"].as_f64(), Some(cost), "{revs:?}");
    }
    assert_eq!(world.on(&["stats", "nowhere"]).code, 128);
    assert_eq!(world.on(&["stats", "a..b..c"]).code, 2);
}

#[test]
fn sizes_add_up_to_the_file() {
    let text = session().raw("junk{").raw("").text();
    let world = World::with(&text);
    let ran = world.on(&["stats", "--json"]);
    let got = ran.object();
    assert!(ran.stderr.contains("unparseable-line"), "{}", ran.stderr);
    let size = &got["size"];
    let sum = |rows: &Value| -> u64 {
        let rows = rows.as_array().expect("a list").iter();
        rows.map(|row| row["bytes"].as_u64().expect("a number"))
            .sum()
    };
    let line = |n: usize| text.lines().nth(n).map_or(0, |line| line.len() as u64 + 1);
    assert_eq!(size["bytes"], json!(text.len()));
    assert_eq!(size["other"], json!(line(0) + 7), "header and damage");
    assert_eq!(sum(&size["byType"]) + line(0) + 7, text.len() as u64);
    // The lines of the two results, each of its own tool.
    assert_eq!(sum(&got["tools"]), line(3) + line(4));
    let content = |name: &str| {
        let rows = size["byContent"].as_array().expect("a list").iter();
        let row = rows
            .clone()
            .find(|row| row["content"] == json!(name))
            .expect("it is there");
        (row["count"].as_u64(), row["bytes"].as_u64())
    };
    let image = r#"{"type":"image","data":"aaaa","mimeType":"image/png"}"#;
    let output = r#"{"type":"text","text":""}"#.len() + 50;
    assert_eq!(content("image"), (Some(2), Some(2 * image.len() as u64)));
    assert_eq!(content("toolOutput"), (Some(2), Some(2 * output as u64)));
    assert_eq!(content("details"), (Some(2), Some(14)));
    assert_eq!(content("toolCall").0, Some(4));
    // Of a part, its lines.
    let part = stats(&world_without_damage(), &["eeeeeeee..@"]);
    assert_eq!(part["size"]["bytes"], json!(line(6) + line(7)));
    assert_eq!(part["size"]["other"], json!(0));
}

fn world_without_damage() -> World {
    World::with(session().text())
}

#[test]
fn what_is_no_number_counts_as_nothing_and_what_is_too_large_is_null() {
    for (usage, input, cost, unpriced) in [
        (json!(null), json!(0), json!(0), 0),
        (json!("usage"), json!(0), json!(0), 0),
        (json!({}), json!(0), json!(0), 0),
        (
            json!({ "input": null, "cost": null }),
            json!(0),
            json!(0),
            0,
        ),
        (
            json!({ "input": "7", "cost": { "total": 1 } }),
            json!(0),
            json!(1),
            0,
        ),
        (
            json!({ "input": true, "cost": { "total": true } }),
            json!(1),
            json!(1),
            0,
        ),
        (json!({ "input": 1.5, "cost": [] }), json!(1.5), json!(0), 1),
        (
            json!({ "input": 7, "cost": { "total": 0 } }),
            json!(7),
            json!(0),
            0,
        ),
        (
            json!({ "input": -7, "cost": { "total": -0.0 } }),
            json!(-7),
            json!(0),
            0,
        ),
    ] {
        let text = Build::new()
            .message("aaaaaaaa", "", answer("p", "m", usage.clone()))
            .text();
        let got = stats(&World::with(text), &[]);
        let got = [&got["tokens"]["input"], &got["cost"], &got["unpriced"]];
        assert_eq!(got, [&input, &cost, &json!(unpriced)], "{usage}");
    }
    // Numbers that serde_json cannot write.
    let huge = Build::new()
        .message(
            "aaaaaaaa",
            "",
            answer("p", "m", usage(1, json!({ "total": 77 }))),
        )
        .text()
        .replace("\"input\":1,", "\"input\":1e400,")
        .replace(":77}", ":1e999}");
    let got = stats(&World::with(huge), &[]);
    assert_eq!(
        (&got["tokens"]["input"], &got["tokens"]["total"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(
        (&got["cost"], &got["byModel"][0]["cost"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(got["unpriced"], json!(1));
}

#[test]
fn the_last_of_a_repeated_key_counts_in_any_order() {
    let text = Build::new()
        .raw(
            r#"{"message":{"usage":{"input":1},"content":[{"type":"toolCall"}]},"message":{"content":[{"name":"x","type":"toolCall","name":"y"}],"content":[{"name":"z","type":"toolCall"}],"usage":{"input":5,"input":6},"model":"m","role":"user","role":"assistant"},"id":"aaaaaaaa","parentId":null,"timestamp":"t","type":"message"}"#,
        )
        .text();
    let got = stats(&World::with(text), &[]);
    assert_eq!(got["tokens"]["input"], json!(6));
    assert_eq!(got["messages"]["toolCall"], json!(1));
    assert_eq!(got["tools"][0]["tool"], json!("z"));
    assert_eq!(got["byModel"][0]["model"], json!("m"));
    assert_eq!(got["byDay"][0]["day"], json!(null));
}

#[test]
fn old_and_empty_sessions_have_the_same_fields() {
    for name in ["v1.jsonl", "v2.jsonl", "kinds.jsonl"] {
        let world = World::with(std::fs::read(fixture(name)).expect("it is there"));
        let got = stats(&world, &[]);
        let path = stats(&world, &["@"]);
        assert_eq!(fields(&got), fields(&path), "{name}");
        assert_eq!(got["messages"], path["messages"], "{name} is one path");
    }
    let empty = World::with(Build::new().text());
    let got = stats(&empty, &[]);
    assert_eq!(got["messages"]["total"], json!(0));
    assert_eq!(
        fields(&got),
        [
            "byDay", "byModel", "cost", "messages", "size", "tokens", "tools", "unpriced"
        ]
    );
    assert_eq!(
        empty.done(&["stats"]),
        "messages  0: 0 user, 0 assistant, 0 tool results, 0 tool calls\n\
         tokens    0: 0 input, 0 output, 0 cache read, 0 cache write\n\
         cost      $0.000\n"
    );
}

#[test]
fn entries_beyond_one_block_are_added_in_the_order_of_the_file() {
    // In another order these give another sum.
    let mut build = Build::new();
    let (mut parent, mut sum) = (String::new(), 0.0);
    let long = "x".repeat(100_000);
    for n in 0..120u32 {
        let cost = if n % 3 == 0 {
            1e16
        } else if n % 3 == 1 {
            3.3
        } else {
            -1e16
        };
        sum += cost;
        let id = format!("{n:08x}");
        let mut message = answer("p", "m", usage(1, json!({ "total": cost })));
        message["errorMessage"] = json!(long);
        build = build.message(&id, &parent, message);
        parent = id;
    }
    let world = World::with(build.text());
    assert_eq!(stats(&world, &[])["cost"].as_f64(), Some(sum));
    assert_eq!(stats(&world, &["@"])["cost"].as_f64(), Some(sum));
}

const SHOWN: &[&[&str]] = &[&["stats"], &["stats", "--size"]];

#[test]
fn no_line_is_wider_than_the_terminal_and_nothing_acts_on_it() {
    let names = ["x".repeat(90), "日本語".repeat(20), "a b".to_owned()];
    let mut build = session();
    for (n, name) in names.iter().enumerate() {
        let mut wide = answer(name, name, usage(u64::MAX, json!({ "total": 1e300 })));
        wide["content"] = json!([{ "type": "toolCall", "name": name }]);
        build = build.message(&format!("0000000{n}"), "aaaaaaaa", wide);
    }
    for text in [session().text(), build.text()] {
        let world = World::with(text);
        for columns in [40, 80, 200] {
            for args in SHOWN {
                for (color, lang) in [("always", "C.UTF-8"), ("never", "C")] {
                    let color = format!("--color={color}");
                    let args = [&["-s", "./s.jsonl", &color], *args].concat();
                    let text = columns.to_string();
                    let ran = in_pipe(&world, &args, &[("COLUMNS", &text), ("LANG", lang)]);
                    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
                    let plain = without_styles(&ran.stdout);
                    assert_harmless(&plain, &args.join(" "));
                    let widest = plain
                        .lines()
                        .max_by_key(|line| line.width())
                        .expect("lines");
                    assert!(widest.width() <= columns, "{args:?} at {columns}: {widest}");
                    assert_eq!(ran.stdout.contains('\u{1b}'), lang == "C.UTF-8");
                    // In little room there may be names and figures only.
                    let bars = ran.stdout.contains(['█', '#']);
                    assert!(bars || columns == 40, "{plain}");
                    assert!(lang == "C.UTF-8" || !ran.stdout.contains('█'), "{plain}");
                }
            }
        }
    }
}

const AT_40: &str = "\
messages  25: 4 user, 9 assistant,
          12 tool results,
          12 tool calls
tokens    50k: 3k input, 4k output,
          32k cache read,
          11k cache write
cost      $0.168

by model           asked  tokens    cost
  claude-opus-4-5      4     27k  $0.127
  claude-sonnet-…      5     24k  $0.041

by day        messages  tokens    cost
  2026-11-26         2      4k  $0.020
  2026-11-27        14     27k  $0.127
  2026-11-28         5     10k  $0.013
  2026-11-29         4     10k  $0.009

by tool  calls  failed
  bash       5       0  ████████████████
  edit       3       0  ██████████
  read       2       0  ██████
  write      2       0  ██████
";

const AT_80: &str = "\
messages  25: 4 user, 9 assistant, 12 tool results, 12 tool calls
tokens    50k: 3k input, 4k output, 32k cache read, 11k cache write
cost      $0.168

by model                       asked  tokens    cost
  anthropic/claude-opus-4-5        4     27k  $0.127  ██████████████████████████
  anthropic/claude-sonnet-4-5      5     24k  $0.041  ████████

by day        messages  tokens    cost
  2026-11-26         2      4k  $0.020  ██████
  2026-11-27        14     27k  $0.127  ████████████████████████████████████████
  2026-11-28         5     10k  $0.013  ████
  2026-11-29         4     10k  $0.009  ███

by tool  calls  failed
  bash       5       0  ████████████████████████████████████████
  edit       3       0  ████████████████████████
  read       2       0  ████████████████
  write      2       0  ████████████████
";

const AT_200: &str = "\
messages  25: 4 user, 9 assistant, 12 tool results, 12 tool calls
tokens    50k: 3k input, 4k output, 32k cache read, 11k cache write
cost      $0.168

by model                       asked  tokens    cost
  anthropic/claude-opus-4-5        4     27k  $0.127  ████████████████████████████████████████
  anthropic/claude-sonnet-4-5      5     24k  $0.041  █████████████

by day        messages  tokens    cost
  2026-11-26         2      4k  $0.020  ██████
  2026-11-27        14     27k  $0.127  ████████████████████████████████████████
  2026-11-28         5     10k  $0.013  ████
  2026-11-29         4     10k  $0.009  ███

by tool  calls  failed
  bash       5       0  ████████████████████████████████████████
  edit       3       0  ████████████████████████
  read       2       0  ████████████████
  write      2       0  ████████████████
";

const SIZE: &str = "\
size      10.7 kB

by type                  entries    size
  assistant                    9  5.7 kB  ██████████████████████████████████████
  toolResult                  12  3.3 kB  ██████████████████████
  user                         4   863 B  ██████
  model_change                 2   300 B  ██
  label                        2   263 B  ██
  thinking_level_change        1   135 B  █
  (no entry)                       137 B  █

inside messages  blocks    size
  tool calls         12  1.3 kB  ████████████████████████████████████████
  tool output        12   588 B  ███████████████████
  text                8   570 B  ██████████████████

results by tool  results    size
  bash                 5  1.4 kB  ████████████████████████████████████████
  edit                 3   800 B  ███████████████████████
  read                 2   548 B  ████████████████
  write                2   524 B  ███████████████
";

#[test]
fn what_people_see_at_each_width() {
    let world = World::with(std::fs::read(fixture("branched.jsonl")).expect("it is there"));
    for (columns, args, wanted) in [
        ("40", SHOWN[0], AT_40),
        ("80", SHOWN[0], AT_80),
        ("200", SHOWN[0], AT_200),
        ("80", SHOWN[1], SIZE),
    ] {
        let args = [&["-s", "./s.jsonl"], args].concat();
        let ran = in_pipe(&world, &args, &[("COLUMNS", columns), ("NO_COLOR", "1")]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
        assert_eq!(ran.stdout, wanted, "{args:?} at {columns}");
    }
}

#[test]
fn a_missing_price_is_told_from_none() {
    let shown = |cost: Value| {
        let message = answer("local", "llama", usage(7, cost));
        World::with(Build::new().message("aaaaaaaa", "", message).text()).done(&["stats"])
    };
    let row = |text: &str| {
        let row = text.lines().find(|line| line.contains("local/llama"));
        row.expect("the model").trim_end().to_owned()
    };
    let unknown = shown(json!(null));
    assert!(
        unknown.contains("cost      no price: 1 request without a price"),
        "{unknown}"
    );
    assert!(row(&unknown).ends_with("no price"), "{unknown}");
    let free = shown(json!({ "total": 0 }));
    assert!(free.contains("cost      $0.000\n"), "{free}");
    assert!(row(&free).ends_with("$0.000"), "{free}");
}

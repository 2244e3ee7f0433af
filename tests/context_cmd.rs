//! `pis context`: the forms it prints. What the context holds is compared with pi elsewhere.

use serde_json::{Value, json};

use crate::common::{Build, World, fields, fixture};

#[test]
fn the_context_is_one_document() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let context = &world.json(&["-s", &file, "context", "plans"])[0];
    assert_eq!(fields(context), ["messages", "model", "thinkingLevel"]);
    assert_eq!(context["thinkingLevel"], "medium");
    let model = json!({ "provider": "anthropic", "modelId": "claude-sonnet-4-5" });
    assert_eq!(context["model"], model);
    let messages = context["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2);
    let stored = world.json(&["-s", &file, "cat-entry", "-m", "dd4f6f16", "plans"]);
    assert_eq!(messages, &stored);
    assert_eq!(
        &world.json(&["-s", &file, "--json", "context", "plans"])[0],
        context
    );
}

#[test]
fn before_the_first_entry_it_is_empty() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let ran = world.ok(&["-s", &file, "context", "root"]);
    assert_eq!(
        ran,
        "{\"messages\":[],\"thinkingLevel\":\"off\",\"model\":null}\n"
    );
    assert_eq!(
        world.ok(&["-s", &file, "context", "--tokens", "root"]),
        "0\n"
    );
    assert_eq!(
        world.ok(&["-s", &file, "context", "--as", "text", "root"]),
        ""
    );
    assert_eq!(
        world.ok(&["-s", &file, "context", "--as", "llm", "root"]),
        "[]\n"
    );
    assert_eq!(world.ok(&["-s", &file, "context", "--entries", "root"]), "");
}

#[test]
fn messages_are_as_pi_holds_them_or_as_a_model_reads_them() {
    let (world, file) = (World::new(), fixture("kinds.jsonl"));
    let roles = |form: &str, rev: &str| {
        let list = world.json(&["-s", &file, "context", "--as", form, rev]);
        let list = list[0].as_array().unwrap().clone();
        list.iter()
            .map(|m| m["role"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        roles("messages", "00000009"),
        [
            "system",
            "user",
            "assistant",
            "toolResult",
            "bashExecution",
            "custom",
            "branchSummary"
        ]
    );
    assert_eq!(
        roles("llm", "00000009"),
        [
            "system",
            "user",
            "assistant",
            "toolResult",
            "user",
            "user",
            "user"
        ]
    );
    // The compaction keeps what begins at the bash run; the edit omits the custom message.
    assert_eq!(
        roles("messages", "@"),
        ["compactionSummary", "bashExecution", "branchSummary"]
    );
}

#[test]
fn text_is_for_people() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let text = world.ok(&["-s", &file, "context", "--as", "text", "plans"]);
    assert_eq!(
        text,
        "User:\nRefactor auth, plans first\n\nAssistant:\nThree plans: A conservative, B \
         abstraction, C rewrite\n\nA keeps every signature and adds logs.\nB puts a trait in \
         front of the store.\nC writes the module again.\n"
    );
}

#[test]
fn entries_are_the_stored_lines_that_count() {
    let (world, file) = (World::new(), fixture("kinds.jsonl"));
    let text = std::fs::read_to_string(&file).unwrap();
    let stored: Vec<_> = text.lines().collect();
    let printed = world.lines(&["-s", &file, "context", "--entries", "@"]);
    assert!(printed.iter().all(|line| stored.contains(&line.as_str())));
    assert!(printed.contains(&stored[10].to_owned()), "the compaction");
    assert!(
        !printed.contains(&stored[4].to_owned()),
        "what it stands for"
    );
}

#[test]
fn tokens_are_a_number() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    let tokens = world.ok(&["-s", &file, "context", "--tokens"]);
    assert_eq!(tokens, "4900\n", "the last answer's totalTokens");
    assert_eq!(
        world.json(&["-s", &file, "--json", "context", "--tokens"]),
        [json!(4900)]
    );
}

#[test]
fn forms_exclude_each_other() {
    let (world, file) = (World::new(), fixture("branched.jsonl"));
    for args in [
        &["--tokens", "--as", "llm"][..],
        &["--tokens", "--entries"],
        &["--entries", "--as", "text"],
        &["--as", "poem"],
        &["@", "@"],
        &["a..b"],
    ] {
        let args: Vec<_> = ["-s", &file, "context"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        assert_eq!(world.read(&args).code, 2, "{args:?}");
    }
    let ran = world.read(&["-s", &file, "context", "nobody"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
}

#[test]
fn a_compaction_of_a_v1_file_keeps_from_its_index() {
    let world = World::new();
    let index = |n: i64| {
        let text = std::fs::read_to_string(fixture("v1.jsonl")).unwrap();
        let old = "\"firstKeptEntryIndex\":2";
        text.replace(old, &format!("\"firstKeptEntryIndex\":{n}"))
    };
    // Header 0, user 1, assistant 2, compaction 3, user 4.
    for (n, kept) in [
        (1, &["compactionSummary", "user", "assistant", "user"][..]),
        (2, &["compactionSummary", "assistant", "user"]),
        (3, &["compactionSummary", "user"]),
        (0, &["compactionSummary", "user"]),
        (4, &["compactionSummary", "user"]),
        (99, &["compactionSummary", "user"]),
    ] {
        world.write("s.jsonl", index(n));
        let ran = world.read(&["-s", "s.jsonl", "context"]);
        let context: Value = serde_json::from_str(&ran.stdout).unwrap();
        let messages = context["messages"].as_array().unwrap();
        let roles: Vec<_> = messages
            .iter()
            .map(|m| m["role"].as_str().unwrap())
            .collect();
        assert_eq!(roles, kept, "index {n}");
    }
}

#[test]
fn compactions_that_point_nowhere_keep_nothing() {
    let world = World::new();
    for kept in ["zzzzzzzz", "cccccccc", "dddddddd"] {
        let compaction = json!({
            "type": "compaction", "summary": "S", "firstKeptEntryId": kept, "tokensBefore": 9,
        });
        let text = Build::new()
            .user("aaaaaaaa", "", "one")
            .assistant("bbbbbbbb", "aaaaaaaa", "two")
            .entry("cccccccc", "bbbbbbbb", compaction)
            .user("dddddddd", "cccccccc", "three")
            .text();
        world.write("s.jsonl", text);
        let list = &world.json(&["-s", "s.jsonl", "context", "--as", "messages"])[0];
        let roles: Vec<_> = list
            .as_array()
            .unwrap()
            .iter()
            .map(|m| &m["role"])
            .collect();
        assert_eq!(roles, ["compactionSummary", "user"], "{kept}");
    }
}

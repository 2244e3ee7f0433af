//! What a session says, whoever wrote it, never acts on a terminal: no command, note or error lets
//! a control character, an escape sequence or a bidirectional control through. In a pipe, plumbing
//! is raw.

use serde_json::{Value, json};

use crate::common::{Build, World, assistant};
use crate::terminal::{
    acts, assert_harmless, harm, has_terminal, in_pipe, on_terminal, quoted, shell_on_terminal,
    without_styles,
};

/// What acts on a terminal, or on the order of text, when it is printed as it is.
const HOSTILE: &str = "\u{1b}[2J\u{1b}[41;5m\u{1b}]8;;http://x.y/\u{1b}\\\u{1b}]52;c;aGk=\u{7}\u{7}\u{9b}31m\
                       \u{90}q\u{9c}\u{85}\u{8}\u{7f}\r\u{b}\u{c}\u{e}\u{202e}\u{2066}\u{200f}\u{61c}\u{feff}\
                       \u{2028}\u{e0041}\u{0}\u{1}\u{1f}";

/// A session in which everything that can hold a text holds a hostile one.
fn hostile_session() -> String {
    let h = HOSTILE;
    let named = |name: &str| format!("{name}{h}");
    let call = json!({
        "type": "toolCall", "id": named("call"), "name": named("bash"),
        "arguments": { "command": named("ls"), named("key"): named("value") },
    });
    let mut answer = assistant(json!([{ "type": "text", "text": named("yes") }, call]));
    answer["model"] = json!(named("model"));
    answer["provider"] = json!(named("provider"));
    let mut failed = assistant(json!([]));
    failed["stopReason"] = json!("error");
    failed["errorMessage"] = json!(named("overloaded"));
    let mut only_call = assistant(json!([call]));
    only_call["stopReason"] = json!("toolUse");
    let result = json!({
        "role": "toolResult", "toolCallId": named("call"), "toolName": named("bash"),
        "content": [{ "type": "text", "text": named("out") }], "isError": true, "timestamp": 3,
    });
    let bash = json!({
        "role": "bashExecution", "command": named("ls"), "output": named("out"), "timestamp": 3,
    });
    let model = json!({ "type": "model_change", "provider": named("p"), "modelId": named("m") });
    let custom = json!({
        "type": "custom_message", "customType": named("c"), "content": named("text"), "display": true,
    });
    let compaction = json!({
        "type": "compaction", "summary": named("sum"), "firstKeptEntryId": named("abcd1"),
        "tokensBefore": 5000,
    });
    let other_role = json!({ "role": named("role"), "content": named("text"), "timestamp": 4 });
    let edit = json!({ "type": "context_edit", "targetId": named("abcd1"), "replacement": null });
    Build::new()
        .user(&named("abcd1"), "", &named("do it"))
        .message(&named("abcd2"), &named("abcd1"), answer)
        .message(&named("abcd3"), &named("abcd2"), result.clone())
        .message(&named("abcd4"), &named("abcd3"), failed)
        .message("plain001", &named("abcd4"), only_call)
        .message("plain002", "plain001", result)
        .message("plain003", "plain002", bash)
        .entry("plain004", "plain003", model)
        .entry("plain005", "plain004", custom)
        .entry("plain006", "plain005", compaction)
        .message("plain007", "plain006", other_role)
        .entry(
            "plain008",
            "plain007",
            json!({ "type": named("type"), "text": named("x") }),
        )
        .entry("plain009", "plain008", edit)
        .entry(
            "plain010",
            "plain009",
            json!({ "type": "custom", "customType": named("c") }),
        )
        .entry(
            "plain011",
            "plain010",
            json!({ "type": "session_info", "name": named("n") }),
        )
        .entry(
            "plain012",
            "plain011",
            json!({ "type": "usage", "kind": named("u"), "usage": {} }),
        )
        .entry(
            "plain013",
            "plain012",
            json!({ "type": "thinking_level_change", "thinkingLevel": named("high") }),
        )
        .entry(
            "plain014",
            "plain013",
            json!({ "type": "branch_summary", "summary": named("s"), "fromId": named("abcd1") }),
        )
        .entry(
            "plain015",
            "plain014",
            json!({
                "type": "message", "timestamp": named("2026"),
                "message": { "role": "user", "content": named("a string") },
            }),
        )
        .user("plain016", &named("nowhere"), "an orphan")
        .label("plain017", "plain016", &named("abcd1"), &named("label"))
        .label("plain018", "plain017", &named("abcd2"), &named("label"))
        .label("plain019", "plain018", "plain016", &named("one"))
        .user("plain020", "plain019", "the last one")
        // The bytes themselves, which JSON allows above 0x7f, and a line that is none.
        .raw(
            "{\"type\":\"message\",\"id\":\"plain021\",\"parentId\":\"plain020\",\
             \"timestamp\":\"2026-01-01T00:02:00.000Z\",\"message\":{\"role\":\"user\",\
             \"content\":\"raw \u{9b}2J\u{85}\u{202e}\u{2028}\u{7f} end\"}}",
        )
        .raw("no JSON \u{1b}[2J\u{7}")
        .user("plain022", "plain021", &named("leaf"))
        .text()
        .replace(
            "\"cwd\":\"/home/dev/project\"",
            &format!("\"cwd\":{}", json!(named("/x"))),
        )
}

/// Those that show entries in full, or what a session adds up to.
fn looking<'a>(id_rev: &'a str, label_rev: &'a str, typed: &'a str) -> Vec<Vec<&'a str>> {
    vec![
        vec!["log", "-p", "--all", "--filter", "all"],
        vec!["log", "--stat", "--all"],
        vec!["log", "-p", "--graph"],
        vec!["show", "--full", id_rev, label_rev],
        vec!["show", "--raw", label_rev],
        vec![
            "show", "plain002", "plain003", "plain005", "plain006", "plain007", "plain008",
        ],
        vec![
            "show", "plain009", "plain010", "plain011", "plain012", "plain013", "plain014",
        ],
        vec!["show", "--json", id_rev],
        vec!["show", typed],
        vec!["branch"],
        vec!["branch", "--json"],
        vec!["branch", "--contains", typed],
        vec!["status"],
        vec!["status", "--json"],
        vec!["status", "--short"],
        vec!["grep", "."],
        vec!["grep", "-C", "1", "--json", "."],
        vec!["grep", "-l", "."],
        vec!["grep", "--tool", typed, "."],
        vec!["grep", typed],
        vec!["help", typed],
        vec!["fsck"],
        vec!["fsck", "--json"],
        vec!["repair", "-n"],
        vec![],
    ]
}

/// Every command that prints what a session says, or what someone typed.
fn commands() -> Vec<Vec<String>> {
    let quoted_label = serde_json::to_string(&format!("label{HOSTILE}")).expect("JSON");
    let quoted_id = serde_json::to_string(&format!("abcd1{HOSTILE}")).expect("JSON");
    // A zero byte cannot be an argument, but its escape can.
    let label_rev = format!("label:{}", escaped(&quoted_label));
    let id_rev = escaped(&quoted_id);
    let typed = HOSTILE.replace('\0', "");
    let typed = typed.as_str();
    let format = "%H %h %P %p %T %r %t %at %ar %s %b %B %l %d %(leaf) %m %k %c %(json)";
    let looking = looking(&id_rev, &label_rev, typed);
    let rows: Vec<Vec<&str>> = vec![
        vec!["log"],
        vec!["log", "--graph"],
        vec!["log", "--graph", "--ascii", "--filter", "all"],
        vec!["log", "--all", "--filter", "all"],
        vec!["log", "--all", "--oneline", "--filter", "all"],
        vec!["log", "--all", "--format", format],
        vec!["log", "--all", "--json"],
        vec!["log", typed],
        vec!["log", "--grep", typed],
        vec!["log", "--since", typed],
        vec!["tree"],
        vec!["tree", "--filter", "all"],
        vec!["tree", "--filter", "labeled-only"],
        vec!["tree", "--filter", "all", "--json"],
        vec!["tree", "--format", format],
        vec!["cat-entry", &id_rev, "plain021", "plain008"],
        vec!["cat-entry", "-p", &id_rev, "plain021", "plain008"],
        vec!["cat-entry", "-m", &id_rev, "plain021"],
        vec!["cat-entry", "-m", "plain008"],
        vec!["cat-entry", "-t", "plain008"],
        vec!["cat-entry", "--text", &id_rev, "plain021", "plain003"],
        vec!["cat-entry", "--json", &id_rev, "plain021"],
        vec!["cat-entry", "--header"],
        vec!["cat-entry", "--header", "--json"],
        vec!["cat-entry", typed],
        vec!["rev-path"],
        vec!["rev-path", "--entries", "plain015"],
        vec!["rev-path", "--json", "plain015"],
        vec!["rev-path", "--format", format, "plain015"],
        vec!["rev-path", "--left-right", "plain015...plain022"],
        vec!["rev-path", typed],
        vec!["rev-parse", &id_rev, "plain022~1", "plain001..plain022"],
        vec!["rev-parse", "--short", &id_rev],
        vec![
            "rev-parse",
            "--explain",
            &id_rev,
            &label_rev,
            "plain015^{/leaf|string}",
        ],
        vec!["rev-parse", "--explain", "--json", &label_rev],
        vec!["rev-parse", &label_rev, "--json"],
        vec!["rev-parse", &label_rev],
        // Candidates, the nearest names, and what is no revision.
        vec!["rev-parse", "abcd"],
        vec!["rev-parse", "abcd", "--json"],
        vec!["rev-parse", "plain0"],
        vec!["rev-parse", "labell"],
        vec!["rev-parse", "labell", "--json"],
        vec!["rev-parse", typed, "--json"],
        vec!["rev-parse", "root+"],
        vec!["merge-base", &id_rev, "plain004"],
        vec!["merge-base", &id_rev, &id_rev, "--json"],
        vec!["ls-entries"],
        vec!["ls-entries", "--text"],
        vec!["ls-entries", "--text", "--json"],
        vec!["ls-entries", "--format", format],
        vec!["ls-entries", "--tips"],
        vec!["ls-entries", "--roots"],
        vec!["for-each-label"],
        vec!["for-each-label", "--json"],
        vec!["for-each-label", "--format", format],
        vec!["for-each-tip"],
        vec!["for-each-tip", "--json"],
        vec!["for-each-tip", "--format", format],
        vec!["context"],
        vec!["context", "plain005"],
        vec!["context", "plain015", "--as", "messages"],
        vec!["context", "plain015", "--as", "llm"],
        vec!["context", "plain005", "--as", "text"],
        vec!["context", "plain015", "--entries"],
        vec!["init", "--session-dir", typed, "--name", typed],
        vec!["init", "--session-dir", typed, "--json"],
        vec!["init", "--id", typed],
        vec!["-s", typed, "log"],
        vec!["-s", typed, "log", "--json"],
        vec!["-s", "x/nowhere.jsonl", "log"],
        vec!["-C", typed, "log"],
        // What the parser of arguments says of them.
        vec![typed],
        vec!["log", "--color", typed],
        vec!["log", "--color", typed, "--json"],
        vec!["log", typed, "--json", "--graph", "--reverse"],
        vec!["tree", typed],
        vec!["nonesuch"],
        vec!["log", "--help"],
    ];
    rows.into_iter()
        .chain(looking)
        .map(|row| row.into_iter().map(str::to_owned).collect())
        .collect()
}

/// A quoted name as revisions take it, with what cannot be in an argument as an escape.
fn escaped(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if acts(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// The hostile session under a hostile name, and its path.
fn hostile_world() -> (World, String) {
    let world = World::new();
    let name = format!("evil{}.jsonl", HOSTILE.replace(['\0', '/'], ""));
    let path = world.write(&name, hostile_session());
    (world, path.to_str().expect("UTF-8").to_owned())
}

#[test]
fn what_a_session_says_never_acts_on_a_terminal() {
    if !has_terminal() {
        return;
    }
    let (world, path) = hostile_world();
    let mut wrong = Vec::new();
    for row in commands() {
        let args: Vec<&str> = row.iter().map(String::as_str).collect();
        for color in ["never", "always"] {
            let mut all = vec!["--color", color];
            if !args.contains(&"-s") {
                all.extend(["-s", &path]);
            }
            all.extend(&args);
            let shown = on_terminal(&world, &all, &[]);
            let text = match color {
                "always" => without_styles(&shown.text),
                _ => shown.text.clone(),
            };
            let harm = harm(&text).map(|harm| format!("--color={color} {args:?}: {harm}"));
            wrong.extend(harm);
            assert!(
                [0, 1, 2, 128].contains(&shown.code),
                "{args:?} ended with {}",
                shown.code
            );
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn batch_answers_do_not_act_on_a_terminal() {
    if !has_terminal() {
        return;
    }
    let (world, path) = hostile_world();
    world.write("revs", format!("plain008\nplain021\nnone{HOSTILE}\nabcd\n"));
    for batch in ["--batch", "--batch-check"] {
        let pis = quoted(env!("CARGO_BIN_EXE_pis"));
        let line = format!("{pis} -s {} cat-entry {batch} < revs", quoted(&path));
        let shown = shell_on_terminal(&world, &line, &[]);
        assert_harmless(&shown.text, batch);
        assert!(shown.text.contains("plain021 message"), "{shown:?}");
    }
}

#[test]
fn a_dangling_pointer_does_not_act_on_a_terminal() {
    if !has_terminal() {
        return;
    }
    let (world, path) = hostile_world();
    let name = std::path::Path::new(&path)
        .file_name()
        .and_then(|n| n.to_str())
        .expect("a name");
    let head = json!({ "leaf": format!("gone{HOSTILE}"), "size": hostile_session().len() });
    world.write(&format!(".pis/{name}.d/HEAD"), head.to_string());
    for extra in ["--no-pager", "--json"] {
        let shown = on_terminal(
            &world,
            &["-s", &path, "--color=never", extra, "rev-parse", "@"],
            &[],
        );
        assert!(
            shown.text.contains("dangling-leaf") || shown.text.contains("gone"),
            "{shown:?}"
        );
        assert_harmless(&shown.text, extra);
    }
}

#[test]
fn moves_and_copies_of_a_hostile_session_do_not_act_on_a_terminal() {
    if !has_terminal() {
        return;
    }
    let (world, path) = hostile_world();
    let typed = HOSTILE.replace('\0', "");
    let typed = typed.as_str();
    // A path that a shell may name; `-o` would write over nothing.
    let copy = format!("copy{}.jsonl", typed.replace('/', ""));
    let rows: &[&[&str]] = &[
        &["set-leaf", "plain005", "-m", typed],
        &["checkout", "plain015", "-m", typed],
        &["checkout", "plain016"],
        &["set-leaf", "plain005", "plain001"],
        &["label", "plain007", typed],
        &["label", "plain007", "another"],
        &["label", "plain006", typed],
        &["name"],
        &["name", typed],
        &["name"],
        &["append", "--user", typed],
        &["edit-context", "plain003", "--replace", typed],
        &["edit-context", "plain006", "--omit"],
        &["undo"],
        &["reflog"],
        &["fork", "plain015", "--name", typed],
        &["fork", "@%", "-o", &copy],
        &["clone", "plain007", "-o", &copy],
        &["copy", "--cwd", typed],
        &["new", typed],
        &["log", "--all"],
    ];
    let mut done = 0;
    for args in rows {
        for json in [&[][..], &["--json"]] {
            let all = [&["-s", &path, "--color=never"], *args, json].concat();
            let shown = on_terminal(&world, &all, &[]);
            assert_eq!(harm(&shown.text), None, "{args:?} {json:?}");
            done += usize::from(shown.code == 0);
            assert!(
                [0, 1, 2, 3, 128].contains(&shown.code),
                "{args:?}: {shown:?}"
            );
        }
    }
    assert!(
        done > rows.len(),
        "only {done} of twice {} did what was asked",
        rows.len()
    );
}

#[test]
fn in_a_pipe_plumbing_is_raw() {
    let (world, path) = hostile_world();
    let stored = hostile_session();
    let line = |part: &str| {
        let found = stored.lines().find(|line| line.contains(part)).expect(part);
        format!("{found}\n")
    };
    let pis = |args: &[&str]| in_pipe(&world, &[&["-q", "-s", &path], args].concat(), &[]).stdout;
    assert_eq!(pis(&["cat-entry", "plain021"]), line("\"plain021\""));
    assert_eq!(pis(&["cat-entry", "--header"]), line("\"session\""));
    assert_eq!(
        pis(&["cat-entry", "--text", "@"]),
        format!("leaf{HOSTILE}\n")
    );
    assert_eq!(
        pis(&["rev-path", "--entries", "-n", "1"]),
        line("\"plain022\"")
    );
    assert!(pis(&["context", "--as", "text"]).contains(HOSTILE));
    assert!(pis(&["log", "--format", "%B", "-n", "1"]).contains(HOSTILE));
    // Whoever reads JSON gets the text, whatever is escaped.
    let text = |out: String| -> Value { serde_json::from_str(out.trim_end()).expect("JSON") };
    assert_eq!(
        text(pis(&["log", "--json", "-n", "1"]))["text"],
        format!("leaf{HOSTILE}")
    );
    // Porcelain is made harmless wherever it goes: people read it, in a file, too.
    for args in [
        &["log"][..],
        &["log", "--graph"],
        &["log", "--oneline", "--all"],
        &["tree"],
    ] {
        assert_harmless(&pis(args), &args.join(" "));
    }
}

#[test]
fn json_on_a_terminal_is_the_json_of_the_pipe() {
    if !has_terminal() {
        return;
    }
    let (world, path) = hostile_world();
    for args in [
        &["log", "--json", "--all"][..],
        &["ls-entries", "--json", "--text"],
        &["for-each-label", "--json"],
        &["context", "--as", "messages", "plain005"],
    ] {
        let all = [&["-q", "-s", &path], args].concat();
        let values = |text: &str| -> Vec<Value> {
            text.lines()
                .map(|line| serde_json::from_str(line).expect("JSON"))
                .collect()
        };
        let shown = on_terminal(&world, &all, &[]);
        let piped = in_pipe(&world, &all, &[]);
        assert_eq!(values(&shown.text), values(&piped.stdout), "{args:?}");
    }
}

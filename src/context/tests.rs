//! What stands in a context: the path, compactions, edits, settings.

use super::*;

const HEADER: &str = r#"{"type":"session","version":3,"id":"s"}"#;

/// A session of entries whose ids are `a`, `b`, … in a chain.
fn chain(entries: &[&str]) -> Session {
    let mut lines = vec![HEADER.to_owned()];
    let mut parent = "null".to_owned();
    for (entry, id) in entries.iter().zip('a'..) {
        let rest = entry.trim_start_matches('{');
        lines.push(format!("{{\"id\":\"{id}\",\"parentId\":{parent},{rest}"));
        parent = format!("\"{id}\"");
    }
    Session::from_bytes(lines.join("\n").into_bytes()).unwrap()
}

fn at_leaf(session: &Session) -> Projection {
    Projection::build(session, session.leaf().unwrap().ix).unwrap()
}

fn sources(session: &Session, projection: &Projection) -> String {
    let ids = projection.sources().map(|ix| session.id(ix));
    ids.collect::<Vec<_>>().join(" ")
}

fn json(projection: &Projection) -> String {
    serde_json::to_string(&projection.to_context()).unwrap()
}

const USER: &str = r#"{"type":"message","message":{"role":"user","content":"u"}}"#;
const SYSTEM: &str = r#"{"type":"message","message":{"role":"system","content":"p"}}"#;

#[test]
fn before_the_first_entry_there_is_nothing() {
    let session = chain(&[USER]);
    let projection = Projection::build(&session, None).unwrap();
    assert_eq!(
        json(&projection),
        r#"{"messages":[],"thinkingLevel":"off","model":null}"#
    );
    assert_eq!(projection.tokens().to_string(), "0");
}

#[test]
fn settings_are_the_last_of_the_path() {
    let session = chain(&[
        r#"{"type":"model_change","provider":"p","modelId":"m"}"#,
        r#"{"type":"thinking_level_change","thinkingLevel":1.0}"#,
        r#"{"type":"message","message":{"role":"assistant","content":[],"model":"n"}}"#,
        r#"{"type":"thinking_level_change"}"#,
    ]);
    let at = |id| Projection::build(&session, session.find(id).unwrap()).unwrap();
    assert_eq!(
        json(&at("b")),
        r#"{"messages":[],"thinkingLevel":1.0,"model":{"provider":"p","modelId":"m"}}"#
    );
    assert_eq!(
        json(&at("d")),
        r#"{"messages":[{"role":"assistant","content":[],"model":"n"}],"model":{"modelId":"n"}}"#
    );
    assert_eq!(at("a").model.unwrap().name(), "p/m");
}

#[test]
fn a_compaction_comes_first_and_keeps_what_it_names() {
    let compaction = r#"{"type":"compaction","summary":"S","firstKeptEntryId":"b"}"#;
    let session = chain(&[USER, USER, SYSTEM, USER, compaction, SYSTEM, USER]);
    assert_eq!(sources(&session, &at_leaf(&session)), "e b d f g");
    for kept in ["e", "f", "nowhere"] {
        let compaction = compaction.replace("\"b\"", &format!("\"{kept}\""));
        let session = chain(&[USER, USER, SYSTEM, USER, &compaction, USER]);
        assert_eq!(sources(&session, &at_leaf(&session)), "e f", "{kept}");
    }
}

#[test]
fn an_older_compaction_that_was_kept_stays_silent() {
    let first = r#"{"type":"compaction","summary":"S","firstKeptEntryId":"a"}"#;
    let session = chain(&[USER, first, USER, &first.replace("\"a\"", "\"b\"")]);
    let projection = at_leaf(&session);
    assert_eq!(sources(&session, &projection), "d c");
    let all: Vec<_> = projection
        .entries
        .iter()
        .map(|e| session.id(e.source))
        .collect();
    assert_eq!(all, ["d", "b", "c"]);
}

#[test]
fn version_1_names_what_is_kept_by_its_place() {
    let user = r#"{"type":"message","message":{"role":"user","content":"u"}}"#;
    // The header is 0, the first entry 1; the broken line does not count, the header in
    // between does.
    for (kept, wanted) in [
        ("0", 1),
        ("1", 4),
        ("2", 1),
        ("3", 3),
        ("4", 2),
        ("5", 1),
        ("6", 1),
        ("99", 1),
        ("-1", 1),
        ("3.5", 1),
        ("\"3\"", 1),
    ] {
        let file = format!(
            "{{\"type\":\"session\",\"id\":\"s\"}}\n{user}\n{{broken\n\
             {{\"type\":\"session\",\"id\":\"t\"}}\n{user}\n{user}\n\
             {{\"type\":\"compaction\",\"summary\":\"S\",\"firstKeptEntryIndex\":{kept}}}\n"
        );
        let session = Session::from_bytes(file.into_bytes()).unwrap();
        assert_eq!(at_leaf(&session).messages().count(), wanted, "{kept}");
    }
}

#[test]
fn the_last_edit_of_a_target_counts() {
    let edit = |id: &str, replacement: &str| {
        format!(r#"{{"type":"context_edit","targetId":"{id}","replacement":{replacement}}}"#)
    };
    let session = chain(&[
        USER,
        USER,
        &edit("a", "null"),
        &edit("a", r#"{"content":"new"}"#),
        &edit("b", "null"),
        &edit("nowhere", "null"),
    ]);
    assert_eq!(
        json(&at_leaf(&session)),
        r#"{"messages":[{"role":"user","content":"new"}],"thinkingLevel":"off","model":null}"#
    );
}

#[test]
fn no_shape_of_an_entry_is_an_error() {
    let values = [
        "null",
        "true",
        "7",
        "1e400",
        "\"x\"",
        "\"\\ud83d\"",
        "[]",
        "[null,1]",
        "{}",
        "{\"content\":{\"a\":1}}",
    ];
    let types = [
        "message",
        "custom_message",
        "branch_summary",
        "compaction",
        "context_edit",
    ];
    let keys = [
        "message",
        "content",
        "summary",
        "timestamp",
        "systemMessage",
        "firstKeptEntryId",
        "targetId",
        "replacement",
        "id",
        "parentId",
    ];
    let roles = [
        "user",
        "assistant",
        "toolResult",
        "system",
        "custom",
        "bashExecution",
    ];
    let inner = [
        "content",
        "usage",
        "sections",
        "toolsAdded",
        "toolsRemoved",
        "command",
        "timestamp",
    ];
    for value in values {
        let mut entries: Vec<String> = Vec::new();
        for kind in types {
            for key in keys {
                entries.push(format!("{{\"type\":\"{kind}\",\"{key}\":{value}}}"));
            }
        }
        for role in roles {
            for key in inner {
                entries.push(format!(
                    "{{\"type\":\"message\",\"message\":{{\"role\":\"{role}\",\"{key}\":{value}}}}}"
                ));
            }
            entries.push(format!(
                "{{\"type\":\"message\",\"message\":{{\"role\":\"{role}\",\"content\":\
                 [{{\"type\":\"toolCall\",\"arguments\":{value}}},{{\"type\":{value}}},{value}]}}}}"
            ));
        }
        let before = r#"{"id":"y","parentId":null,"type":"custom"}"#;
        for entry in entries {
            let last = entry.trim_start_matches('{');
            let file = format!("{HEADER}\n{before}\n{{\"id\":\"z\",\"parentId\":\"y\",{last}");
            let session = Session::from_bytes(file.into_bytes()).unwrap();
            let projection = at_leaf(&session);
            let context = json(&projection);
            assert!(context.starts_with("{\"messages\":["), "{entry}");
            let _ = (projection.llm(), projection.text(), projection.tokens());
        }
    }
}

//! A context as plain text: what a model sees, for people and pipes.
//!
//! Each message is a heading that says who speaks, the message, and a blank line. What is no text
//! stands in brackets on a line of its own.

use super::Message;
use super::llm;
use crate::entry::Role;
use crate::json::{Raw, js};

/// The messages as a transcript, each ended by a newline, a blank line between them.
pub fn transcript<'a>(messages: impl Iterator<Item = &'a Message>) -> String {
    let blocks: Vec<String> = messages.filter_map(block).collect();
    blocks.join("\n")
}

/// One message: its heading and its lines.
fn block(message: &Message) -> Option<String> {
    let raw = message.raw();
    let word = |key: &str| raw.get(key).map(|v| v.to_text().into_owned());
    let (heading, parts) = match message.role() {
        Role::System => ("System".to_owned(), system(raw)),
        Role::User => ("User".to_owned(), content(raw)),
        Role::Assistant => ("Assistant".to_owned(), assistant(raw)),
        Role::ToolResult => (tool_result_heading(raw), content(raw)),
        Role::Custom => (
            format!("Note ({})", word("customType").unwrap_or_default()),
            content(raw),
        ),
        Role::BashExecution if llm::is_excluded(raw) => return None,
        Role::BashExecution => ("User's shell".to_owned(), shell_run(raw)),
        Role::BranchSummary => (
            "Summary of another branch".to_owned(),
            word("summary").into_iter().collect(),
        ),
        Role::CompactionSummary => (
            "Summary of what came before".to_owned(),
            word("summary").into_iter().collect(),
        ),
        Role::Other => return None,
    };
    let mut out = format!("{heading}:\n");
    for part in parts {
        let part = part.trim_end_matches('\n');
        if !part.is_empty() {
            out.push_str(part);
            out.push('\n');
        }
    }
    Some(out)
}

fn tool_result_heading(result: Raw<'_>) -> String {
    let name = result.get("toolName").map(Raw::to_text).unwrap_or_default();
    let failed = result.get("isError").is_some_and(Raw::is_truthy);
    format!(
        "Result of {name}{}",
        if failed { " (an error)" } else { "" }
    )
}

/// The parts of a content, in order.
fn content(message: Raw<'_>) -> Vec<String> {
    let Some(content) = message.get("content") else {
        return Vec::new();
    };
    match content.as_str() {
        Some(text) => vec![text.into_owned()],
        None => content.items().map(part).collect(),
    }
}

fn part(block: Raw<'_>) -> String {
    let word = |key: &str| block.get(key).map(Raw::to_text).unwrap_or_default();
    let kind = word("type");
    match &*kind {
        "text" => word("text").into_owned(),
        "thinking" => format!("[thinking] {}", word("thinking")),
        "image" => format!("[image, {}]", word("mimeType")),
        "toolCall" => {
            let arguments = block.get("arguments").map(js::stringify);
            format!(
                "[call of {}] {}",
                word("name"),
                arguments.unwrap_or_default()
            )
        }
        "" => String::new(),
        other => format!("[{other}]"),
    }
}

fn assistant(message: Raw<'_>) -> Vec<String> {
    let mut parts = content(message);
    let stopped = message.str("stopReason");
    if let Some(reason @ ("aborted" | "error")) = stopped.as_deref() {
        let why = message.str("errorMessage").unwrap_or_default();
        parts.push(format!("[{reason}] {why}").trim_end().to_owned());
    }
    parts
}

/// What a system message sets: its text, its sections by name, the tools it adds and removes.
fn system(message: Raw<'_>) -> Vec<String> {
    let mut parts = content(message);
    for (name, value) in message.get("sections").into_iter().flat_map(Raw::members) {
        parts.push(if value.is_null() {
            format!("[section {} removed]", name.text())
        } else {
            format!("[section {}]\n{}", name.text(), value.to_text())
        });
    }
    for (key, what) in [("toolsAdded", "added"), ("toolsRemoved", "removed")] {
        let tools = message.get(key).into_iter().flat_map(Raw::items);
        let names: Vec<_> = tools.filter_map(|tool| tool.str("name")).collect();
        if !names.is_empty() {
            parts.push(format!("[tools {what}: {}]", names.join(", ")));
        }
    }
    parts
}

fn shell_run(run: Raw<'_>) -> Vec<String> {
    let word = |key: &str| run.get(key).map(Raw::to_text).unwrap_or_default();
    let mut parts = vec![
        format!("$ {}", word("command")),
        word("output").into_owned(),
    ];
    parts.extend(llm::notes(run).into_iter().map(|note| format!("[{note}]")));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_says_who_speaks() {
        let messages: Vec<_> = [
            r#"{"role":"system","content":"Be brief.","sections":{"env":"linux"},"toolsAdded":[{"name":"read"}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Look\n"},{"type":"image","mimeType":"image/png"}]}"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"toolCall","name":"read","arguments":{"path" : "a"}}]}"#,
            r#"{"role":"toolResult","toolName":"read","isError":true,"content":[{"type":"text","text":"no such file"}]}"#,
            r#"{"role":"assistant","content":[],"stopReason":"error","errorMessage":"overloaded"}"#,
            r#"{"role":"bashExecution","command":"ls","output":"a\n","exitCode":1}"#,
            r#"{"role":"bashExecution","command":"secret","excludeFromContext":true}"#,
            r#"{"role":"compactionSummary","summary":"S"}"#,
            r#"{"role":"custom","customType":"x","content":"y"}"#,
        ]
        .into_iter()
        .map(Message::made)
        .collect();
        assert_eq!(
            transcript(messages.iter()),
            "System:\nBe brief.\n[section env]\nlinux\n[tools added: read]\n\n\
             User:\nLook\n[image, image/png]\n\n\
             Assistant:\n[thinking] hm\n[call of read] {\"path\":\"a\"}\n\n\
             Result of read (an error):\nno such file\n\n\
             Assistant:\n[error] overloaded\n\n\
             User's shell:\n$ ls\na\n[Its exit code was 1.]\n\n\
             Summary of what came before:\nS\n\n\
             Note (x):\ny\n"
        );
    }
}

//! The messages of a context as they go to a model: only roles that a model knows.
//!
//! Which messages pass, and as whom, is pi 1.6.0's; the words around summaries and shell runs are
//! our own.

use super::Message;
use crate::entry::Role;
use crate::json::Raw;
use crate::json::object::{Object, Text, text_block};

const COMPACTION: &str = "Earlier turns of this conversation were condensed to save room. This is \
    what they amount to:\n\n<summary>\n";
const BRANCH: &str = "Before the conversation came back to this point it went another way. This is \
    what happened there:\n\n<summary>\n";
const SUMMARY_END: &str = "\n</summary>";

/// Turns each message into what a model is given; what a model is not given is left out.
pub fn messages<'a>(messages: impl Iterator<Item = &'a Message>) -> Vec<Message> {
    messages.filter_map(message).collect()
}

fn message(message: &Message) -> Option<Message> {
    let raw = message.raw();
    match message.role() {
        Role::System | Role::User | Role::Assistant | Role::ToolResult => Some(message.clone()),
        Role::Custom => Some(user(raw, custom_content(raw).as_deref())),
        Role::BranchSummary => Some(user(raw, Some(&summary(BRANCH, raw)))),
        Role::CompactionSummary => Some(user(raw, Some(&summary(COMPACTION, raw)))),
        Role::BashExecution if is_excluded(raw) => None,
        Role::BashExecution => Some(user(raw, Some(&text_block(&shell_run(raw))))),
        Role::Other => None,
    }
}

/// Whether a shell run was kept from the model.
pub(super) fn is_excluded(run: Raw<'_>) -> bool {
    run.get("excludeFromContext").is_some_and(Raw::is_truthy)
}

/// A user message with the time of the message it stands for.
fn user(source: Raw<'_>, content: Option<&str>) -> Message {
    let mut message = Object::new("role", "\"user\"");
    if let Some(content) = content {
        message.push("content", content);
    }
    message.push_stored("timestamp", source.get("timestamp"));
    Message::made(&message.finish())
}

fn custom_content(message: Raw<'_>) -> Option<String> {
    let content = message.get("content")?;
    Some(if content.is_string() {
        text_block(&content.to_json())
    } else {
        content.to_json().into_owned()
    })
}

fn summary(lead_in: &str, message: Raw<'_>) -> String {
    let mut text = Text::new(lead_in);
    text.stored(message.get("summary"));
    text.words(SUMMARY_END);
    text_block(&text.finish())
}

/// A shell run of the user: command, output, and how it ended.
fn shell_run(run: Raw<'_>) -> String {
    let mut text = Text::new("The user ran this in a shell:\n\n");
    fenced(&mut text, run.get("command"));
    match run.get("output").filter(|output| output.is_truthy()) {
        Some(output) => {
            text.words("\n\nIt printed:\n\n");
            fenced(&mut text, Some(output));
        }
        None => text.words("\n\nIt printed nothing."),
    }
    for note in notes(run) {
        text.words("\n\n");
        text.words(&note);
    }
    text.finish()
}

/// How a shell run ended, where that is worth a word.
pub(super) fn notes(run: Raw<'_>) -> Vec<String> {
    let truthy = |key: &str| run.get(key).filter(|value| value.is_truthy());
    let mut notes = Vec::new();
    if truthy("cancelled").is_some() {
        notes.push("It was cancelled before it ended.".to_owned());
    } else if let Some(code) = run.get("exitCode").filter(|code| !code.is_null())
        && code.as_f64() != Some(0.0)
    {
        notes.push(format!("Its exit code was {}.", code.to_text()));
    }
    if truthy("truncated").is_some()
        && let Some(path) = truthy("fullOutputPath")
    {
        notes.push(format!(
            "Only a part of the output is shown; all of it is in {}.",
            path.to_text()
        ));
    }
    notes
}

/// A stored text between fences longer than any run of backticks in it.
fn fenced(text: &mut Text, value: Option<Raw<'_>>) {
    let content = value.map(Raw::to_text).unwrap_or_default();
    let mut longest = 0;
    let mut run = 0;
    for c in content.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat((longest + 1).max(3));
    text.words(&fence);
    text.words("\n");
    text.stored(value);
    if !content.ends_with('\n') {
        text.words("\n");
    }
    text.words(&fence);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(message: &str) -> Option<String> {
        let sent = super::message(&Message::made(message))?;
        Some(sent.json().to_owned())
    }

    #[test]
    fn only_known_roles_pass() {
        for message in [
            r#"{"role":"system","content":"p"}"#,
            r#"{"role":"user","content":"u","extra":1.0}"#,
            r#"{"role":"assistant","content":[]}"#,
            r#"{"role":"toolResult","content":[]}"#,
        ] {
            assert_eq!(sent(message).as_deref(), Some(message));
        }
        for message in [
            r#"{"role":"hookMessage","content":"y"}"#,
            r#"{"role":"weird"}"#,
            r#"{"role":"bashExecution","command":"ls","excludeFromContext":true}"#,
            "7",
        ] {
            assert_eq!(sent(message), None);
        }
    }

    #[test]
    fn a_custom_message_becomes_one_of_the_user() {
        for (message, wanted) in [
            (
                r#"{"role":"custom","content":"\ud83d","details":1,"timestamp":5}"#,
                r#"{"role":"user","content":[{"type":"text","text":"\ud83d"}],"timestamp":5}"#,
            ),
            (
                r#"{"role":"custom","content":[{"type":"image"}]}"#,
                r#"{"role":"user","content":[{"type":"image"}]}"#,
            ),
        ] {
            assert_eq!(sent(message).as_deref(), Some(wanted));
        }
    }

    #[test]
    fn summaries_are_wrapped() {
        for role in ["branchSummary", "compactionSummary"] {
            let sent = sent(&format!(
                r#"{{"role":"{role}","summary":"a\n\udc00","timestamp":5}}"#
            ));
            let text = sent.unwrap();
            assert!(
                text.contains(r"\n\n<summary>\na\n\udc00\n</summary>"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_shell_run_says_how_it_ended() {
        let text = |run: &str| {
            let sent = sent(run).unwrap();
            let content = Raw::new(sent.as_bytes()).get("content").unwrap();
            crate::entry::block_text(content, "")
        };
        assert_eq!(
            text(r#"{"role":"bashExecution","command":"ls","output":"a `` b\n","exitCode":0}"#),
            "The user ran this in a shell:\n\n```\nls\n```\n\nIt printed:\n\n```\na `` b\n```"
        );
        assert_eq!(
            text(r#"{"role":"bashExecution","command":"ls","output":"```","exitCode":2}"#),
            "The user ran this in a shell:\n\n```\nls\n```\n\nIt printed:\n\n````\n```\n````\n\n\
             Its exit code was 2."
        );
        assert_eq!(
            text(
                r#"{"role":"bashExecution","command":"ls","cancelled":true,"exitCode":1,"truncated":true,"fullOutputPath":"/t/x"}"#
            ),
            "The user ran this in a shell:\n\n```\nls\n```\n\nIt printed nothing.\n\n\
             It was cancelled before it ended.\n\n\
             Only a part of the output is shown; all of it is in /t/x."
        );
    }
}

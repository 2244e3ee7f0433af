//! The text of an entry: what search, revisions, listings and the editor mean by it.

use super::{Entry, Kind, Role};
use crate::json::Raw;

/// The text blocks of a content (a string is one), joined.
pub fn block_text(content: Raw<'_>, separator: &str) -> String {
    if let Some(text) = content.as_str() {
        return text.into_owned();
    }
    let texts: Vec<_> = content
        .items()
        .filter(|b| b.str("type").is_some_and(|t| t == "text"))
        .filter_map(|b| b.str("text"))
        .collect();
    texts.join(separator)
}

/// The text of an entry. User and custom messages: text blocks joined with nothing, as pi puts
/// them in its editor; assistant messages, tool results and other roles: joined with newlines;
/// a bash run: the command, then its output; a summary: itself; a label, name, model or level:
/// that word; anything else: empty.
pub fn text(entry: Entry<'_>) -> String {
    let word = |key: &str| {
        entry
            .get(key)
            .filter(|v| !v.is_null())
            .map(|v| v.to_text().into_owned())
    };
    match entry.kind() {
        Kind::Message => message_text(entry),
        Kind::CustomMessage => entry.content().map(|c| block_text(c, "")),
        Kind::BranchSummary | Kind::Compaction => word("summary"),
        Kind::Label => word("label"),
        Kind::SessionInfo => word("name"),
        Kind::ModelChange => word("modelId"),
        Kind::ThinkingLevelChange => word("thinkingLevel"),
        _ => None,
    }
    .unwrap_or_default()
}

fn message_text(entry: Entry<'_>) -> Option<String> {
    let message = entry.message()?;
    let role = Role::of(message.str("role").unwrap_or_default().as_bytes());
    if role == Role::BashExecution {
        let command = message.str("command").unwrap_or_default();
        let output = message.str("output").unwrap_or_default();
        return Some(if output.is_empty() {
            command.into_owned()
        } else {
            format!("{command}\n{output}")
        });
    }
    if matches!(role, Role::BranchSummary | Role::CompactionSummary) {
        return message.str("summary").map(std::borrow::Cow::into_owned);
    }
    let separator = if matches!(role, Role::User | Role::Custom) {
        ""
    } else {
        "\n"
    };
    message.get("content").map(|c| block_text(c, separator))
}

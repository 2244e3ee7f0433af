//! One entry's messages, and what a context edit makes of them.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::entry::{Entry, Kind, Role};
use crate::json::Raw;
use crate::json::object::{Object, text_block, with_key};
use crate::time;

/// A message as JSON text: valid UTF-8 on one line, otherwise as stored.
#[derive(Debug, Clone)]
pub struct Message {
    json: Box<RawValue>,
    role: Role,
}

impl Message {
    /// A message of stored bytes.
    pub(super) fn stored(raw: Raw<'_>) -> Message {
        Message {
            json: raw.to_raw_value(),
            role: role(raw),
        }
    }

    /// A message of JSON text that was put together here.
    pub(super) fn made(json: &str) -> Message {
        Message::stored(Raw::new(json.as_bytes()))
    }

    /// The message to look into. Not always an object: pi passes on whatever stands there.
    pub fn raw(&self) -> Raw<'_> {
        Raw::new(self.json.get().as_bytes())
    }

    /// The role, as pi 1.6.0 knows it: `Other` for one it does not know.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The message as JSON text.
    pub fn json(&self) -> &str {
        self.json.get()
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

/// The role of a message. `hookMessage` is none here: where it counts it has been renamed.
fn role(message: Raw<'_>) -> Role {
    match message.str("role").as_deref() {
        None | Some("hookMessage") => Role::Other,
        Some(name) => Role::of(name.as_bytes()),
    }
}

/// What an entry contributes, its context edit applied. `rename` says that the file is of a
/// version that calls the role `custom` otherwise.
pub(super) fn project(entry: Entry<'_>, edit: Option<Entry<'_>>, rename: bool) -> Vec<Message> {
    let messages = messages(entry, rename);
    // pi fails on an edit without a replacement; leaving the target alone loses nothing.
    let Some(replacement) = edit.and_then(|edit| edit.get("replacement")) else {
        return messages;
    };
    if replacement.is_null() {
        return Vec::new();
    }
    let content = replacement.get("content");
    let replace = |message: Message| match message.role {
        Role::User | Role::Assistant | Role::ToolResult | Role::Custom => {
            let listed = matches!(message.role, Role::Assistant | Role::ToolResult);
            let content = content.map(|content| {
                if content.is_string() && listed {
                    text_block(&content.to_json())
                } else {
                    content.to_json().into_owned()
                }
            });
            Message::made(&with_key(message.raw(), "content", content.as_deref()))
        }
        _ => message,
    };
    messages.into_iter().map(replace).collect()
}

/// What an entry contributes as it is stored.
fn messages(entry: Entry<'_>, rename: bool) -> Vec<Message> {
    match entry.kind() {
        Kind::Message => entry
            .get("message")
            // pi fails on a message that is missing; there is nothing to pass on.
            .filter(|message| !message.is_null())
            .map(|message| stored(message, rename))
            .into_iter()
            .collect(),
        Kind::CustomMessage => vec![custom(entry)],
        Kind::BranchSummary => branch_summary(entry).into_iter().collect(),
        Kind::Compaction => {
            let system = entry.get("systemMessage").filter(|m| m.is_truthy());
            let system = system.map(Message::stored);
            system.into_iter().chain([compaction(entry)]).collect()
        }
        _ => Vec::new(),
    }
}

/// A stored message, with a content where that is null or missing.
fn stored(message: Raw<'_>, rename: bool) -> Message {
    if rename && message.str("role").is_some_and(|r| r == "hookMessage") {
        return Message::made(&with_key(message, "role", Some("\"custom\"")));
    }
    let empty = match role(message) {
        Role::System => "\"\"",
        Role::User | Role::Assistant | Role::ToolResult => "[]",
        _ => return Message::stored(message),
    };
    match message.get("content").filter(|content| !content.is_null()) {
        Some(_) => Message::stored(message),
        None => Message::made(&with_key(message, "content", Some(empty))),
    }
}

fn custom(entry: Entry<'_>) -> Message {
    let content = entry.get("content").filter(|content| !content.is_null());
    let mut message = Object::new("role", "\"custom\"");
    message.push_stored("customType", entry.get("customType"));
    message.push_stored("content", Some(content.unwrap_or(Raw::new(b"[]"))));
    message.push_stored("display", entry.get("display"));
    message.push_stored("details", entry.get("details"));
    finish(message, entry)
}

fn branch_summary(entry: Entry<'_>) -> Option<Message> {
    let summary = entry.get("summary").filter(|summary| summary.is_truthy())?;
    let mut message = Object::new("role", "\"branchSummary\"");
    message.push_stored("summary", Some(summary));
    message.push_stored("fromId", entry.get("fromId"));
    Some(finish(message, entry))
}

fn compaction(entry: Entry<'_>) -> Message {
    let mut message = Object::new("role", "\"compactionSummary\"");
    message.push_stored("summary", entry.get("summary"));
    message.push_stored("tokensBefore", entry.get("tokensBefore"));
    finish(message, entry)
}

/// Adds the entry's time, which a derived message has in milliseconds.
fn finish(mut message: Object, entry: Entry<'_>) -> Message {
    let time = entry.get("timestamp").and_then(milliseconds);
    let time = time.map_or_else(|| "null".to_owned(), |ms| ms.to_string());
    message.push("timestamp", &time);
    Message::made(&message.finish())
}

/// `new Date(value).getTime()`; `None` where that is no date.
fn milliseconds(value: Raw<'_>) -> Option<i64> {
    if let Some(text) = value.as_str() {
        return time::parse(&text);
    }
    // JavaScript counts null and booleans as numbers here.
    if value.is_null() {
        return Some(0);
    }
    let flag = value.as_bool().map(|flag| f64::from(u8::from(flag)));
    time::from_number(value.as_f64().or(flag)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projected(entry: &str, edit: Option<&str>) -> Vec<String> {
        let edit = edit.map(|edit| Entry::new(edit.as_bytes()));
        project(Entry::new(entry.as_bytes()), edit, false)
            .iter()
            .map(|message| message.json().to_owned())
            .collect()
    }

    #[test]
    fn a_stored_message_keeps_its_bytes() {
        let message =
            "{\"role\":\"user\",\"content\":\"\\ud83d \u{2028}\",\"n\":1.0,\"x\":[1e400, -0]}";
        let entry = format!("{{\"type\":\"message\",\"message\":{message}}}");
        assert_eq!(
            projected(&entry, None),
            [message.replace('\u{2028}', "\\u2028")]
        );
    }

    #[test]
    fn a_missing_content_is_filled_in_by_role() {
        for (message, wanted) in [
            (
                r#"{"role":"user","content":null,"a":1}"#,
                r#"{"role":"user","content":[],"a":1}"#,
            ),
            (
                r#"{"role":"assistant"}"#,
                r#"{"role":"assistant","content":[]}"#,
            ),
            (r#"{"role":"system"}"#, r#"{"role":"system","content":""}"#),
            (
                r#"{"role":"custom","content":null}"#,
                r#"{"role":"custom","content":null}"#,
            ),
            (r#""text""#, r#""text""#),
            ("[1]", "[1]"),
            ("0", "0"),
        ] {
            let entry = format!("{{\"type\":\"message\",\"message\":{message}}}");
            assert_eq!(projected(&entry, None), [wanted]);
        }
        assert!(projected(r#"{"type":"message","message":null}"#, None).is_empty());
        assert!(projected(r#"{"type":"message"}"#, None).is_empty());
    }

    #[test]
    fn derived_messages_leave_out_what_the_entry_lacks() {
        for (entry, wanted) in [
            (
                r#"{"type":"custom_message","content":null,"details":null,"timestamp":"t"}"#,
                r#"{"role":"custom","content":[],"details":null,"timestamp":null}"#,
            ),
            (
                r#"{"type":"custom_message","customType":"x","content":"y","display":false,"timestamp":12.5}"#,
                r#"{"role":"custom","customType":"x","content":"y","display":false,"timestamp":12}"#,
            ),
            (
                r#"{"type":"branch_summary","summary":"S","fromId":"root","timestamp":null}"#,
                r#"{"role":"branchSummary","summary":"S","fromId":"root","timestamp":0}"#,
            ),
            (
                r#"{"type":"compaction","timestamp":"1970-01-01T00:00:00.007Z"}"#,
                r#"{"role":"compactionSummary","timestamp":7}"#,
            ),
        ] {
            assert_eq!(projected(entry, None), [wanted]);
        }
        assert!(projected(r#"{"type":"branch_summary","summary":""}"#, None).is_empty());
    }

    #[test]
    fn a_compaction_brings_its_system_message() {
        let entry = r#"{"type":"compaction","summary":"S","systemMessage":{"role":"system","content":"p"}}"#;
        assert_eq!(
            projected(entry, None),
            [
                r#"{"role":"system","content":"p"}"#,
                r#"{"role":"compactionSummary","summary":"S","timestamp":null}"#
            ]
        );
    }

    #[test]
    fn an_edit_replaces_or_omits() {
        let entry = |role: &str| {
            format!(
                r#"{{"type":"message","message":{{"content":"old","role":"{role}","content":"old"}}}}"#
            )
        };
        for (role, edit, wanted) in [
            (
                "user",
                r#"{"replacement":{"content":"new"}}"#,
                Some(r#"{"content":"new","role":"user"}"#),
            ),
            (
                "assistant",
                r#"{"replacement":{"content":"\ud83d"}}"#,
                Some(r#"{"content":[{"type":"text","text":"\ud83d"}],"role":"assistant"}"#),
            ),
            (
                "toolResult",
                r#"{"replacement":{"content":[]}}"#,
                Some(r#"{"content":[],"role":"toolResult"}"#),
            ),
            (
                "system",
                r#"{"replacement":{"content":"new"}}"#,
                Some(r#"{"content":"old","role":"system","content":"old"}"#),
            ),
            ("user", r#"{"replacement":7}"#, Some(r#"{"role":"user"}"#)),
            ("system", r#"{"replacement":null}"#, None),
            (
                "user",
                "{}",
                Some(r#"{"content":"old","role":"user","content":"old"}"#),
            ),
        ] {
            let wanted: Vec<&str> = wanted.into_iter().collect();
            assert_eq!(projected(&entry(role), Some(edit)), wanted, "{role} {edit}");
        }
    }

    #[test]
    fn the_old_name_of_a_role_counts_only_in_old_files() {
        let entry = br#"{"type":"message","message":{"role":"hookMessage","content":"y"}}"#;
        let message = &project(Entry::new(entry), None, true)[0];
        assert_eq!(message.json(), r#"{"role":"custom","content":"y"}"#);
        assert_eq!(message.role(), Role::Custom);
        let message = &project(Entry::new(entry), None, false)[0];
        assert_eq!(message.role(), Role::Other);
    }
}

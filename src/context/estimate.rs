//! How many tokens a context takes, as pi 1.6.0 estimates it: what the provider last measured
//! plus a quarter of the characters since, or a quarter of all characters.
//!
//! Characters are UTF-16 units of the text that JavaScript holds. Where pi fails or gets no number
//! (a missing name, a text that is none), the part counts nothing.

use hashbrown::HashMap;

use super::{Message, Projection};
use crate::entry::Role;
use crate::json::{Raw, js, utf16_len};

/// What pi takes an image for, in characters.
const IMAGE: usize = 4800;

/// The estimate for a projection.
pub fn context(projection: &Projection) -> f64 {
    if let Some(tokens) = measured(projection) {
        return tokens;
    }
    let all: usize = projection
        .messages()
        .filter(|m| m.role() != Role::System)
        .map(message)
        .sum();
    count(all + system(projection.messages()))
}

/// The estimate from the last usable usage, if nothing since then changed what it measured.
fn measured(projection: &Projection) -> Option<f64> {
    let mut later = 0;
    for entry in projection.entries.iter().rev() {
        for answer in entry.messages.iter().rev() {
            let Some(tokens) = usage(answer) else {
                later += message(answer);
                continue;
            };
            let is_valid = projection
                .last_change
                .is_none_or(|change| entry.place > change);
            return is_valid.then(|| tokens + count(later));
        }
    }
    None
}

/// The tokens an assistant message reports, unless it broke off or reports nothing.
fn usage(message: &Message) -> Option<f64> {
    if message.role() != Role::Assistant {
        return None;
    }
    let message = message.raw();
    let stopped = message.str("stopReason");
    if matches!(stopped.as_deref(), Some("aborted" | "error")) {
        return None;
    }
    usage_tokens(message.get("usage")?)
}

/// The size of the context that a usage reports: its total, or the sum of its parts.
pub fn usage_tokens(usage: Raw<'_>) -> Option<f64> {
    let total = usage.get("totalTokens").and_then(Raw::as_f64);
    let tokens = match total.filter(|&n| n != 0.0) {
        Some(total) => total,
        None => ["input", "output", "cacheRead", "cacheWrite"]
            .into_iter()
            .map(|part| usage.get(part).map_or(f64::NAN, addend))
            .sum(),
    };
    (tokens > 0.0 && tokens.is_finite()).then_some(tokens)
}

/// A value in a sum of JavaScript, where null counts nothing.
fn addend(value: Raw<'_>) -> f64 {
    match value.as_f64() {
        Some(n) => n,
        None if value.is_null() => 0.0,
        None => f64::NAN,
    }
}

/// The estimate for one message: a quarter of its characters.
pub fn message(message: &Message) -> usize {
    characters(message.role(), message.raw()).div_ceil(4)
}

fn characters(role: Role, message: Raw<'_>) -> usize {
    match role {
        Role::User | Role::Custom | Role::ToolResult => content(message.get("content")),
        Role::Assistant => message
            .get("content")
            .map_or(0, |blocks| blocks.items().map(answer_block).sum()),
        Role::System => {
            let sections = message.get("sections").map_or(0, |sections| {
                let values = values(sections);
                values.into_iter().map(length).sum()
            });
            let tools = message.get("toolsAdded").filter(|tools| tools.is_truthy());
            content(message.get("content")) + sections + tools.map_or(0, json_length)
        }
        Role::BashExecution => {
            let part = |key| message.get(key).map_or(0, length);
            part("command") + part("output")
        }
        Role::BranchSummary | Role::CompactionSummary => message.get("summary").map_or(0, length),
        Role::Other => 0,
    }
}

/// The characters of a content: texts and images.
fn content(content: Option<Raw<'_>>) -> usize {
    let Some(content) = content else { return 0 };
    if content.is_string() {
        return content.utf16_len();
    }
    let block = |block: Raw<'_>| match block.str("type").as_deref() {
        Some("text") => block.get("text").map_or(0, length),
        Some("image") => IMAGE,
        _ => 0,
    };
    content.items().map(block).sum()
}

/// The characters of a block of an answer.
fn answer_block(block: Raw<'_>) -> usize {
    let part = |key| block.get(key).map_or(0, length);
    match block.str("type").as_deref() {
        Some("text") => part("text"),
        Some("thinking") => part("thinking"),
        Some("toolCall") => part("name") + block.get("arguments").map_or(0, json_length),
        _ => 0,
    }
}

/// `value.length` of JavaScript, 0 where there is none.
fn length(value: Raw<'_>) -> usize {
    if value.is_array() {
        value.len()
    } else {
        value.utf16_len()
    }
}

/// The length of `JSON.stringify(value)`.
fn json_length(value: Raw<'_>) -> usize {
    utf16_len(&js::stringify(value))
}

/// The values of an object, each key once, or of an array.
fn values(value: Raw<'_>) -> Vec<Raw<'_>> {
    let mut last = HashMap::new();
    for (key, value) in value.members() {
        last.insert(key.text(), value);
    }
    last.into_values().chain(value.items()).collect()
}

/// The estimate for all system messages, replayed into the one that holds the current prompt and
/// tools.
fn system<'a>(messages: impl Iterator<Item = &'a Message>) -> usize {
    let mut contents: Vec<usize> = Vec::new();
    let mut sections = HashMap::new();
    let mut tools = HashMap::new();
    // `timestamp ??= …`: a time, once set, stays; a null gives way even to nothing.
    let mut time: Option<Raw<'_>> = None;
    for message in messages.filter(|m| m.role() == Role::System) {
        let message = message.raw();
        if time.is_none_or(Raw::is_null) {
            time = message.get("timestamp");
        }
        let text = message.get("content").map_or(0, joined_length);
        if text > 0 {
            contents.push(text);
        }
        for (name, value) in message.get("sections").into_iter().flat_map(Raw::members) {
            if value.is_null() {
                sections.remove(&name.text());
            } else {
                sections.insert(name.text(), length(value));
            }
        }
        let removed = message.get("toolsRemoved");
        for tool in removed.into_iter().flat_map(Raw::items) {
            tools.remove(&tool.get("name").map(Raw::to_text));
        }
        let added = message.get("toolsAdded");
        for tool in added.into_iter().flat_map(Raw::items) {
            tools.insert(tool.get("name").map(Raw::to_text), json_length(tool));
        }
    }
    if time.is_none() && tools.is_empty() {
        return 0;
    }
    let blank_lines = 2 * contents.len().saturating_sub(1);
    // A list of n elements has n - 1 commas and two brackets around it.
    let brackets = if tools.is_empty() { 0 } else { tools.len() + 1 };
    let texts: usize = contents.into_iter().sum();
    let characters = texts
        + blank_lines
        + sections.into_values().sum::<usize>()
        + tools.into_values().sum::<usize>()
        + brackets;
    characters.div_ceil(4)
}

/// The characters of a system message's content: text blocks joined with newlines.
fn joined_length(content: Raw<'_>) -> usize {
    if content.is_string() {
        return content.utf16_len();
    }
    // A number is joined as JavaScript prints it.
    let part = |text: Raw<'_>| match text.as_f64() {
        Some(n) => js::number(n).len(),
        None => text.utf16_len(),
    };
    let texts = content
        .items()
        .filter(|block| block.str("type").is_some_and(|t| t == "text"))
        .map(|block| block.get("text").map_or(0, part) + 1);
    texts.sum::<usize>().saturating_sub(1)
}

#[expect(clippy::cast_precision_loss, reason = "no file holds 2^53 characters")]
fn count(n: usize) -> f64 {
    n as f64
}

/// A number of tokens as JSON prints it: without a fraction where it has none.
pub fn number(tokens: f64) -> serde_json::Number {
    if tokens.fract() == 0.0 && (0.0..=9e15).contains(&tokens) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked"
        )]
        return (tokens as u64).into();
    }
    serde_json::Number::from_f64(tokens).unwrap_or_else(|| 0.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;

    /// The estimate at the end of a chain of messages and other entries.
    fn tokens(entries: &[&str]) -> String {
        let mut lines = vec![r#"{"type":"session","version":3,"id":"s"}"#.to_owned()];
        let mut parent = "null".to_owned();
        for (n, entry) in entries.iter().enumerate() {
            let own = match entry.strip_prefix('+') {
                Some(own) => own.to_owned(),
                None => format!("\"type\":\"message\",\"message\":{entry}"),
            };
            lines.push(format!("{{\"id\":\"e{n}\",\"parentId\":{parent},{own}}}"));
            parent = format!("\"e{n}\"");
        }
        let session = Session::from_bytes(lines.join("\n").into_bytes()).unwrap();
        let leaf = session.leaf().unwrap().ix;
        let projection = Projection::build(&session, leaf).unwrap();
        projection.tokens().to_string()
    }

    const USER: &str = r#"{"role":"user","content":"12345"}"#;
    const USAGE: &str = r#"{"role":"assistant","content":[],"usage":{"totalTokens":100}}"#;

    #[test]
    fn each_role_has_its_characters() {
        for (message, wanted) in [
            (USER, "2"),
            (r#"{"role":"user","content":"😀é\ud83d"}"#, "1"),
            (
                r#"{"role":"user","content":[{"type":"text","text":"1234"},{"type":"image"},{"type":"x"}]}"#,
                "1201",
            ),
            (
                r#"{"role":"assistant","content":"a string counts nothing"}"#,
                "0",
            ),
            (
                r#"{"role":"assistant","content":[{"type":"text","text":"12"},{"type":"thinking","thinking":"34"}]}"#,
                "1",
            ),
            // read + {"2":1,"a":2}
            (
                r#"{"role":"assistant","content":[{"type":"toolCall","name":"read","arguments":{"a" : 2.0, "2":1}}]}"#,
                "5",
            ),
            (
                r#"{"role":"assistant","content":[{"type":"toolCall","arguments":null},null,7]}"#,
                "1",
            ),
            (r#"{"role":"assistant","content":[{"type":"image"}]}"#, "0"),
            (
                r#"{"role":"bashExecution","command":"12345","output":"6789"}"#,
                "3",
            ),
            (r#"{"role":"toolResult","content":null}"#, "0"),
            (r#"{"role":"unknown","content":"12345"}"#, "0"),
        ] {
            assert_eq!(tokens(&[message]), wanted, "{message}");
        }
        assert_eq!(
            tokens(&[r#"+"type":"branch_summary","summary":"123456789""#]),
            "3"
        );
    }

    #[test]
    fn usage_counts_until_something_changes_what_it_measured() {
        let edit = r#"+"type":"context_edit","targetId":"e0","replacement":{"content":"1"}"#;
        for (entries, wanted) in [
            (&[USER, USAGE, USER][..], "102"),
            (&[USER, edit, USAGE], "100"),
            (&[USER, USAGE, edit], "1"),
            (&[USER, USAGE, r#"+"type":"compaction","summary":"S""#], "1"),
        ] {
            assert_eq!(tokens(entries), wanted, "{entries:?}");
        }
        for (usage, wanted) in [
            (
                r#"{"input":1,"output":2,"cacheRead":3,"cacheWrite":null}"#,
                "6",
            ),
            (
                r#"{"input":1.5,"output":2,"cacheRead":3,"cacheWrite":0,"totalTokens":0}"#,
                "6.5",
            ),
            (r#"{"input":1,"output":2}"#, "2"),
            (r#"{"totalTokens":-4}"#, "2"),
            (r#"{"totalTokens":1e400}"#, "2"),
            ("null", "2"),
        ] {
            let answer = format!(r#"{{"role":"assistant","content":[],"usage":{usage}}}"#);
            assert_eq!(tokens(&[USER, &answer]), wanted, "{usage}");
        }
        for reason in ["aborted", "error"] {
            let answer = USAGE.replacen('{', &format!("{{\"stopReason\":\"{reason}\","), 1);
            assert_eq!(tokens(&[USER, &answer]), "2");
        }
    }

    #[test]
    fn system_messages_are_replayed_into_one() {
        // 1234, a blank line, 56, section b: 12 units.
        let first =
            r#"{"role":"system","content":"1234","sections":{"a":"gone","b":"old"},"timestamp":1}"#;
        let second = r#"{"role":"system","content":[{"type":"text","text":"56"}],"sections":{"a":null,"b":"1234"}}"#;
        assert_eq!(tokens(&[first, second]), "3");
        // [{"name":"w"},{"name":"r"}]: 27 units; `x` came and went.
        let tools = r#"{"role":"system","toolsAdded":[{"name":"r"},{"name":"x"}]}"#;
        let more = r#"{"role":"system","toolsRemoved":[{"name":"x"}],"toolsAdded":[{"name":"w"}]}"#;
        assert_eq!(tokens(&[tools, more]), "7");
        assert_eq!(
            tokens(&[r#"{"role":"system","content":"without a time or tools"}"#]),
            "0"
        );
    }
}

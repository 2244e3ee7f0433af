//! Contents that pi cannot read, made such that it can. What is there stays as it is stored.

use crate::check::Code;
use crate::entry::{Entry, Kind, splice};
use crate::json::Raw;
use crate::write::build::quote;

/// A usage of nothing at all, with everything that pi adds up.
const NO_USAGE: &str = r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}"#;

/// A price of nothing.
const NO_COST: &str = r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}"#;

/// An entry that was set right.
pub(super) struct Fixed {
    pub(super) line: Vec<u8>,
    /// What was done, for people.
    pub(super) message: &'static str,
    /// Whether something of it was left out.
    pub(super) lossy: bool,
}

/// Whether pi can read a block: an object, with a text where it takes the length of one.
fn is_block(block: Raw<'_>) -> bool {
    let kind = block.str("type").unwrap_or_default();
    let wants_text = matches!(&*kind, "text" | "thinking");
    block.is_object() && (!wants_text || block.get(&kind).is_some_and(Raw::is_string))
}

/// Sets one thing right; `None` where that cannot be done.
pub(super) fn fixed(line: &[u8], code: Code) -> Option<Fixed> {
    let entry = Entry::new(line);
    let within = |key: &str, value: &[u8]| match entry.message() {
        Some(message) => {
            let message = splice::set(message.bytes(), key, value);
            splice::set(line, "message", message)
        }
        None => splice::set(line, key, value),
    };
    let role = entry.role_name().unwrap_or_default();
    let lists = matches!(role.as_str(), "user" | "assistant" | "toolResult");
    let content = entry.content();
    let (line, message, lossy) = match code {
        Code::NoContent => {
            let nothing: &[u8] = if lists { b"[]" } else { b"\"\"" };
            (
                within("content", nothing),
                "gave it an empty content",
                false,
            )
        }
        Code::BadContent => match content.filter(|content| content.is_string()) {
            Some(text) => {
                let mut blocks = b"[{\"type\":\"text\",\"text\":".to_vec();
                blocks.extend_from_slice(text.bytes());
                blocks.extend_from_slice(b"}]");
                (
                    within("content", &blocks),
                    "made its content a block",
                    false,
                )
            }
            None => (
                within("content", b"[]"),
                "left out its content, which pi cannot read",
                true,
            ),
        },
        Code::BadBlock => {
            let blocks = content?.items().filter(|block| is_block(*block));
            let blocks: Vec<_> = blocks.map(Raw::bytes).collect();
            let mut list = b"[".to_vec();
            list.extend_from_slice(&blocks.join(&b","[..]));
            list.push(b']');
            (
                within("content", &list),
                "left out what is no block of its content",
                true,
            )
        }
        Code::NoUsage => (
            within("usage", NO_USAGE.as_bytes()),
            "gave it a usage of nothing",
            false,
        ),
        Code::NoCost => {
            let message = entry.message().unwrap_or(entry.raw());
            let usage = splice::set(message.get("usage")?.bytes(), "cost", NO_COST);
            (
                within("usage", &usage),
                "gave its usage a cost of nothing",
                false,
            )
        }
        Code::OldRole => (
            within("role", b"\"custom\""),
            "called the role custom, as version 3 does",
            false,
        ),
        Code::BadName if entry.kind() == Kind::SessionInfo => {
            let name = entry.get("name").filter(|name| !name.is_null());
            let name = name.map_or_else(String::new, |name| name.to_json().into_owned());
            (
                splice::set(line, "name", quote(&name)),
                "made the name a string",
                false,
            )
        }
        _ => return None,
    };
    Some(Fixed {
        line,
        message,
        lossy,
    })
}

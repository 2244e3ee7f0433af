//! Entries from what a caller gives: missing parts are filled in, and what pi 1.6.0 could not
//! read back is refused, with the field that is wrong.

use std::borrow::Cow;
use std::fmt::Display;

use crate::entry::{Kind, Role};
use crate::json::Raw;
use crate::json::draft::Draft;
use crate::json::object::text_block;

/// Provider, model and wire format of the answers at some place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelInForce<'a> {
    /// JSON text of each; `None` where nothing says.
    pub provider: Option<Cow<'a, str>>,
    /// The model's id.
    pub model: Option<Cow<'a, str>>,
    /// The wire format.
    pub api: Option<Cow<'a, str>>,
}

impl ModelInForce<'_> {
    /// The same, free of what it was read from.
    pub fn into_owned(self) -> ModelInForce<'static> {
        let owned = |text: Option<Cow<'_, str>>| text.map(|text| Cow::Owned(text.into_owned()));
        ModelInForce {
            provider: owned(self.provider),
            model: owned(self.model),
            api: owned(self.api),
        }
    }
}

/// What is filled in where an entry says nothing.
#[derive(Clone)]
pub struct Defaults<'a> {
    /// Now, as pi writes times.
    pub timestamp: &'a str,
    /// Now, in Unix milliseconds.
    pub now: i64,
    /// The entry's id.
    pub id: &'a str,
    /// The entry it hangs on; `None` makes a root.
    pub parent: Option<&'a str>,
    /// For answers: the model in force at the parent.
    pub model: &'a dyn Fn() -> ModelInForce<'static>,
    /// For compactions: the estimated tokens at the parent.
    pub tokens_before: &'a dyn Fn() -> u64,
}

/// What is wrong with an entry: the field, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Such as `message.content[0].text`.
    pub field: String,
    /// What was expected.
    pub why: String,
}

/// A session's name as pi stores it: on one line, without white space at its ends.
pub fn session_name(name: &str) -> String {
    let lines: Vec<_> = name
        .split(['\r', '\n'])
        .filter(|part| !part.is_empty())
        .collect();
    lines.join(" ").trim().to_owned()
}

type Checked<T> = std::result::Result<T, Wrong>;

fn wrong<T>(field: impl Into<String>, why: impl Into<String>) -> Checked<T> {
    Err(Wrong {
        field: field.into(),
        why: why.into(),
    })
}

/// JSON text of a string.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(&mut out, text);
    out
}

fn push_quoted(out: &mut String, text: &str) {
    // Ids and times need no escapes; looked at without a branch, many bytes are at once.
    let is_plain = |b: u8| b.is_ascii_alphanumeric() | matches!(b, b'-' | b':' | b'.');
    if text.bytes().fold(true, |plain, b| plain & is_plain(b)) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&serde_json::to_string(text).unwrap_or_default());
    }
}

/// An entry, filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built<'a> {
    /// The id that it came with, if it did.
    pub own_id: Option<String>,
    /// What it is.
    pub kind: Kind,
    /// The role of its message; `Other` for anything but a message.
    pub role: Role,
    /// What a label or an edit is about.
    pub target: Option<String>,
    /// The model in force behind it, where it says.
    pub model: Option<ModelInForce<'a>>,
}

/// Appends the line, without its newline, of the entry made of a message (it has `role`) or an
/// entry (it has `type`).
pub fn build<'a>(
    given: &'a [u8],
    defaults: &Defaults<'_>,
    line: &mut String,
) -> Checked<Built<'a>> {
    if !crate::json::is_valid(given) {
        return wrong("", "it is not JSON");
    }
    let given = Raw::new(given);
    if !given.is_object() {
        return wrong("", "it is no JSON object");
    }
    let draft = Draft::new(given);
    if draft.get("type").is_some() {
        return entry(draft, defaults, line);
    }
    if draft.get("role").is_none() {
        return wrong(
            "type",
            "it has neither 'role' (a message) nor 'type' (an entry)",
        );
    }
    let (message, role, model) = message(draft, defaults, "")?;
    line.push_str("{\"type\":\"message\",\"id\":");
    push_quoted(line, defaults.id);
    line.push_str(",\"parentId\":");
    match defaults.parent {
        Some(parent) => push_quoted(line, parent),
        None => line.push_str("null"),
    }
    line.push_str(",\"timestamp\":");
    push_quoted(line, defaults.timestamp);
    line.push_str(",\"message\":");
    message.write(line);
    line.push('}');
    Ok(Built {
        own_id: None,
        kind: Kind::Message,
        role,
        target: None,
        model,
    })
}

fn parent_of(defaults: &Defaults<'_>) -> String {
    defaults.parent.map_or_else(|| "null".to_owned(), quote)
}

/// Fills an entry in. Its own `id` and `timestamp` stay, its `parentId` is the defaults'.
fn entry<'a>(
    mut draft: Draft<'a>,
    defaults: &Defaults<'_>,
    line: &mut String,
) -> Checked<Built<'a>> {
    let Some(name) = draft.str("type").filter(|t| !t.is_empty()) else {
        return wrong("type", "must be a string");
    };
    let kind = Kind::of(name.as_bytes());
    let own_id = if draft.lacks("id") {
        None
    } else {
        string(&draft, "id", "")?;
        draft.str("id").map(Cow::into_owned)
    };
    if own_id.as_deref() == Some("") {
        return wrong("id", "must not be empty");
    }
    let id = quote(own_id.as_deref().unwrap_or(defaults.id));
    let (mut role, mut model) = (Role::Other, None);
    match kind {
        Kind::Session => return wrong("type", "a session has one header, which it has already"),
        Kind::Message => {
            let Some(inner) = draft.get("message").filter(|m| m.is_object()) else {
                return wrong("message", "must be an object");
            };
            let filled = message(Draft::new(inner), defaults, "message.")?;
            draft.set("message", filled.0.finish());
            (role, model) = (filled.1, filled.2);
        }
        Kind::CustomMessage => {
            string(&draft, "customType", "")?;
            user_content(&draft, "")?;
            draft.fill("display", "true");
        }
        Kind::BranchSummary => {
            string(&draft, "summary", "")?;
            if draft.lacks("fromId") {
                draft.set("fromId", quote(defaults.parent.unwrap_or("root")));
            } else {
                string(&draft, "fromId", "")?;
            }
        }
        Kind::Compaction => {
            string(&draft, "summary", "")?;
            if draft.lacks("firstKeptEntryId") {
                draft.set("firstKeptEntryId", id.clone());
            } else {
                string(&draft, "firstKeptEntryId", "")?;
            }
            if draft.lacks("tokensBefore") {
                draft.set("tokensBefore", (defaults.tokens_before)().to_string());
            } else if !draft.get("tokensBefore").is_some_and(Raw::is_number) {
                return wrong("tokensBefore", "must be a number");
            }
        }
        Kind::ContextEdit => {
            string(&draft, "targetId", "")?;
            replacement(&draft)?;
        }
        Kind::ModelChange => {
            string(&draft, "provider", "")?;
            string(&draft, "modelId", "")?;
            model = Some(ModelInForce {
                provider: draft.json("provider"),
                model: draft.json("modelId"),
                api: None,
            });
        }
        Kind::ThinkingLevelChange => string(&draft, "thinkingLevel", "")?,
        Kind::Usage => {
            for key in ["kind", "provider", "model"] {
                string(&draft, key, "")?;
            }
            fill_usage(&mut draft, "")?;
        }
        Kind::Label => {
            string(&draft, "targetId", "")?;
            if !draft.lacks("label") {
                string(&draft, "label", "")?;
            }
        }
        Kind::SessionInfo => string(&draft, "name", "")?,
        Kind::Custom => string(&draft, "customType", "")?,
        Kind::Other => {}
    }
    draft.fill("id", id);
    draft.fill("timestamp", quote(defaults.timestamp));
    draft.set("parentId", parent_of(defaults));
    let has_target = matches!(kind, Kind::Label | Kind::ContextEdit);
    let target = draft
        .str("targetId")
        .filter(|_| has_target)
        .map(Cow::into_owned);
    draft.write(line);
    Ok(Built {
        own_id,
        kind,
        role,
        target,
        model,
    })
}

fn string(draft: &Draft<'_>, key: &str, at: &str) -> Checked<()> {
    let value = draft.get(key).unwrap_or_default();
    is_string(value, key, at)
}

fn is_string(value: Raw<'_>, key: &str, at: impl Display) -> Checked<()> {
    if value.is_string() {
        return Ok(());
    }
    wrong(format!("{at}{key}"), "must be a string")
}

type Message<'a> = (Draft<'a>, Role, Option<ModelInForce<'a>>);

/// Fills a message in. `at` stands before the names of its fields.
fn message<'a>(mut draft: Draft<'a>, defaults: &Defaults<'_>, at: &str) -> Checked<Message<'a>> {
    let name = draft.str("role").unwrap_or_default();
    let role = Role::of(name.as_bytes());
    let mut model = None;
    match role {
        Role::User => user_content(&draft, at)?,
        Role::Custom if name == "custom" => {
            string(&draft, "customType", at)?;
            user_content(&draft, at)?;
            draft.fill("display", "true");
        }
        Role::Assistant => model = Some(answer(&mut draft, defaults, at)?),
        Role::ToolResult => {
            string(&draft, "toolCallId", at)?;
            string(&draft, "toolName", at)?;
            if !listed_content(&mut draft, at)? {
                user_content(&draft, at)?;
            }
            draft.fill("isError", "false");
            if !draft.lacks("usage") {
                fill_usage(&mut draft, at)?;
            }
        }
        Role::System => {
            if draft.lacks("content") {
                draft.set("content", "\"\"");
            } else {
                user_content(&draft, at)?;
            }
        }
        Role::BashExecution => {
            string(&draft, "command", at)?;
            if !draft.lacks("output") {
                string(&draft, "output", at)?;
            }
            draft.fill("output", "\"\"");
            draft.fill("cancelled", "false");
            draft.fill("truncated", "false");
        }
        Role::BranchSummary => {
            return wrong(
                format!("{at}role"),
                "append an entry of type 'branch_summary' instead",
            );
        }
        Role::CompactionSummary => {
            return wrong(
                format!("{at}role"),
                "append an entry of type 'compaction' instead",
            );
        }
        Role::Custom | Role::Other => {
            let roles = "user, assistant, toolResult, system, bashExecution or custom";
            return wrong(format!("{at}role"), format!("must be {roles}"));
        }
    }
    if draft.lacks("timestamp") {
        draft.set("timestamp", defaults.now.to_string());
    } else if !draft.get("timestamp").is_some_and(Raw::is_number) {
        return wrong(format!("{at}timestamp"), "must be a number of milliseconds");
    }
    Ok((draft, role, model))
}

/// Fills an answer in; returns the model that it says it is by.
fn answer<'a>(
    draft: &mut Draft<'a>,
    defaults: &Defaults<'_>,
    at: &str,
) -> Checked<ModelInForce<'a>> {
    if !listed_content(draft, at)? {
        assistant_content(draft, at)?;
    }
    let lacks = ["api", "provider", "model"]
        .iter()
        .any(|key| draft.lacks(key));
    let model = if lacks {
        (defaults.model)()
    } else {
        ModelInForce::default()
    };
    let known = [
        ("api", model.api),
        ("provider", model.provider),
        ("model", model.model),
    ];
    for (key, in_force) in known {
        if !draft.lacks(key) {
            string(draft, key, at)?;
        } else if let Some(value) = in_force {
            draft.set(key, value);
        } else {
            let why = "no model is in force at the parent, so the message must name its own";
            return wrong(format!("{at}{key}"), why);
        }
    }
    fill_usage(draft, at)?;
    if draft.lacks("stopReason") {
        let calls = draft.get("content").into_iter().flat_map(Raw::items);
        let calls = calls.filter(|b| b.str("type").is_some_and(|t| t == "toolCall"));
        let reason = if calls.count() > 0 {
            "\"toolUse\""
        } else {
            "\"stop\""
        };
        draft.set("stopReason", reason);
    } else {
        string(draft, "stopReason", at)?;
    }
    Ok(ModelInForce {
        provider: draft.json("provider"),
        model: draft.json("model"),
        api: draft.json("api"),
    })
}

/// For roles whose content pi reads as a list: a string, or nothing, becomes one. False where it
/// is one already.
fn listed_content(draft: &mut Draft<'_>, at: &str) -> Checked<bool> {
    match draft.get("content").filter(|c| !c.is_null()) {
        None => draft.set("content", "[]"),
        Some(content) if content.is_string() => {
            draft.set("content", text_block(&content.to_json()));
        }
        Some(content) if content.is_array() => return Ok(false),
        Some(_) => {
            return wrong(
                format!("{at}content"),
                "must be a string or a list of blocks",
            );
        }
    }
    Ok(true)
}

/// A string, or a list of text and image blocks.
fn user_content(draft: &Draft<'_>, at: &str) -> Checked<()> {
    let content = draft.get("content").unwrap_or_default();
    if content.is_string() {
        return Ok(());
    }
    user_blocks(content, format_args!("{at}content"))
}

fn user_blocks(content: Raw<'_>, at: impl Display) -> Checked<()> {
    if content.is_string() {
        return Ok(());
    }
    if !content.is_array() {
        return wrong(at.to_string(), "must be a string or a list of blocks");
    }
    for (n, block) in content.items().enumerate() {
        let at = format_args!("{at}[{n}].");
        let string = |key| is_string(block.get(key).unwrap_or_default(), key, at);
        match block.str("type").as_deref() {
            Some("text") => string("text")?,
            Some("image") => {
                string("data")?;
                string("mimeType")?;
            }
            _ => return wrong(format!("{at}type"), "must be 'text' or 'image'"),
        }
    }
    Ok(())
}

/// A list of text, thinking and toolCall blocks.
fn assistant_content(draft: &Draft<'_>, at: &str) -> Checked<()> {
    let content = draft.get("content").unwrap_or_default();
    for (n, block) in content.items().enumerate() {
        let at = format_args!("{at}content[{n}].");
        let string = |key| is_string(block.get(key).unwrap_or_default(), key, at);
        match block.str("type").as_deref() {
            Some("text") => string("text")?,
            Some("thinking") => string("thinking")?,
            Some("toolCall") => {
                string("id")?;
                string("name")?;
                if !block.get("arguments").is_some_and(Raw::is_object) {
                    return wrong(format!("{at}arguments"), "must be an object");
                }
            }
            _ => {
                return wrong(
                    format!("{at}type"),
                    "must be 'text', 'thinking' or 'toolCall'",
                );
            }
        }
    }
    Ok(())
}

/// What pi adds up in a usage, the sum last.
const TOKENS: [&str; 5] = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"];

/// The same of its cost.
const COSTS: [&str; 5] = ["input", "output", "cacheRead", "cacheWrite", "total"];

/// Fills in a usage, with everything that pi adds up.
fn fill_usage(draft: &mut Draft<'_>, at: &str) -> Checked<()> {
    // Nearly all that are given are whole.
    let is_whole =
        |usage| has_numbers(usage, TOKENS).is_some_and(|cost| has_numbers(cost, COSTS).is_some());
    if draft.get("usage").is_some_and(is_whole) {
        return Ok(());
    }
    let mut usage = part(draft, "usage", at)?;
    let at = format_args!("{at}usage.");
    fill_sums(&mut usage, at, TOKENS)?;
    let mut cost = part(&usage, "cost", at)?;
    fill_sums(&mut cost, format_args!("{at}cost."), COSTS)?;
    usage.set("cost", cost.finish());
    draft.set("usage", usage.finish());
    Ok(())
}

/// Whether each key has a number; the value of `cost` if so, which a cost does not have.
fn has_numbers<'a>(object: Raw<'a>, keys: [&str; 5]) -> Option<Raw<'a>> {
    let mut found = [false; 5];
    let mut cost = Raw::default();
    for (key, value) in object.members() {
        // The last one wins.
        match keys.iter().position(|name| key.is(name)) {
            Some(n) => found[n] = value.is_number(),
            None if key.is("cost") => cost = value,
            None => {}
        }
    }
    (found == [true; 5]).then_some(cost)
}

/// An object inside of another one, empty where it is not there.
fn part<'a>(draft: &Draft<'a>, key: &str, at: impl Display) -> Checked<Draft<'a>> {
    let value = draft.get(key).filter(|value| !value.is_null());
    if value.is_some_and(|value| !value.is_object()) {
        return wrong(format!("{at}{key}"), "must be an object");
    }
    Ok(Draft::new(value.unwrap_or_default()))
}

/// Fills in the kinds of tokens, or their costs, and their sum.
fn fill_sums(draft: &mut Draft<'_>, at: impl Display, keys: [&'static str; 5]) -> Checked<()> {
    let mut total = 0.0;
    for key in keys {
        if draft.lacks(key) {
            let number = if key == keys[4] { total } else { 0.0 };
            draft.set(key, crate::json::js::number(number));
        } else if let Some(number) = draft.get(key).and_then(Raw::as_f64) {
            total += number;
        } else {
            return wrong(format!("{at}{key}"), "must be a number");
        }
    }
    Ok(())
}

/// What a `context_edit` puts in its target's place: nothing, or a content.
fn replacement(draft: &Draft<'_>) -> Checked<()> {
    let Some(value) = draft.get("replacement") else {
        return wrong("replacement", "must be null or an object with 'content'");
    };
    if value.is_null() {
        return Ok(());
    }
    match value.get("content").filter(|_| value.is_object()) {
        None => wrong("replacement", "must be null or an object with 'content'"),
        Some(content) => user_blocks(content, "replacement.content"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(json: &str) -> Checked<String> {
        let model = ModelInForce {
            provider: Some("\"p\"".into()),
            model: Some("\"m\"".into()),
            api: Some("\"a\"".into()),
        };
        let defaults = Defaults {
            timestamp: "T",
            now: 7,
            id: "new",
            parent: Some("up"),
            model: &|| model.clone(),
            tokens_before: &|| 42,
        };
        let mut line = String::new();
        build(json.as_bytes(), &defaults, &mut line).map(|_| line)
    }

    #[test]
    fn what_pi_needs_is_filled_in() {
        let zero = r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}"#;
        let head = r#""id":"new","parentId":"up","timestamp":"T""#;
        for (given, wanted) in [
            (
                r#"{"role":"user","content":"hi"}"#.to_owned(),
                format!(r#"{{"type":"message",{head},"message":{{"role":"user","content":"hi","timestamp":7}}}}"#),
            ),
            (
                r#"{"role":"assistant","content":"hi\ud83d"}"#.to_owned(),
                format!(
                    r#"{{"type":"message",{head},"message":{{"role":"assistant","content":[{{"type":"text","text":"hi\ud83d"}}],"api":"a","provider":"p","model":"m","usage":{zero},"stopReason":"stop","timestamp":7}}}}"#
                ),
            ),
            (
                r#"{"type":"compaction","summary":"S","x":1.0}"#.to_owned(),
                r#"{"type":"compaction","summary":"S","x":1.0,"firstKeptEntryId":"new","tokensBefore":42,"id":"new","timestamp":"T","parentId":"up"}"#.to_owned(),
            ),
            (
                r#"{"type":"later","id":"own","timestamp":"then","parentId":"x","z":1}"#.to_owned(),
                r#"{"type":"later","id":"own","timestamp":"then","parentId":"up","z":1}"#.to_owned(),
            ),
        ] {
            assert_eq!(built(&given), Ok(wanted));
        }
        let partial = built(
            r#"{"role":"assistant","content":[],"usage":{"input":3,"output":4,"cost":{"input":0.5}}}"#,
        );
        let entry = partial.unwrap();
        let usage = Raw::new(entry.as_bytes())
            .get("message")
            .and_then(|m| m.get("usage"))
            .unwrap();
        assert_eq!(usage.get("totalTokens").and_then(Raw::as_f64), Some(7.0));
        assert_eq!(
            usage.get("cost").and_then(|c| c.get("total")?.as_f64()),
            Some(0.5)
        );
    }

    #[test]
    fn what_pi_could_not_read_is_refused_with_its_field() {
        for (given, field) in [
            ("[]", ""),
            ("{}", "type"),
            (r#"{"type":5}"#, "type"),
            (r#"{"type":"session","id":"x"}"#, "type"),
            (r#"{"type":"message"}"#, "message"),
            (
                r#"{"type":"message","message":{"role":"user"}}"#,
                "message.content",
            ),
            (r#"{"role":"nobody"}"#, "role"),
            (r#"{"role":"user","content":5}"#, "content"),
            (
                r#"{"role":"user","content":[{"type":"text"}]}"#,
                "content[0].text",
            ),
            (
                r#"{"role":"user","content":[{"type":"image","data":"x"}]}"#,
                "content[0].mimeType",
            ),
            (
                r#"{"role":"user","content":"x","timestamp":"now"}"#,
                "timestamp",
            ),
            (
                r#"{"role":"assistant","content":[{"type":"text","text":null}]}"#,
                "content[0].text",
            ),
            (
                r#"{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"n"}]}"#,
                "content[0].arguments",
            ),
            (
                r#"{"role":"assistant","content":[],"usage":{"input":"x"}}"#,
                "usage.input",
            ),
            (
                r#"{"role":"assistant","content":[],"usage":{"cost":{"total":"x"}}}"#,
                "usage.cost.total",
            ),
            (r#"{"role":"toolResult","content":[]}"#, "toolCallId"),
            (r#"{"role":"compactionSummary","summary":"x"}"#, "role"),
            (r#"{"type":"context_edit","targetId":"x"}"#, "replacement"),
            (
                r#"{"type":"context_edit","targetId":"x","replacement":{"content":5}}"#,
                "replacement.content",
            ),
            (
                r#"{"type":"context_edit","targetId":"x","replacement":{"content":[{"type":"text"}]}}"#,
                "replacement.content[0].text",
            ),
            (
                r#"{"type":"branch_summary","summary":"s","fromId":5}"#,
                "fromId",
            ),
            (
                r#"{"type":"compaction","summary":"s","firstKeptEntryId":{}}"#,
                "firstKeptEntryId",
            ),
            (
                r#"{"type":"compaction","summary":"s","tokensBefore":"many"}"#,
                "tokensBefore",
            ),
            (r#"{"type":"session_info"}"#, "name"),
            (r#"{"type":"label","targetId":"x","label":5}"#, "label"),
            (r#"{"type":"usage","kind":"k","provider":"p"}"#, "model"),
            (r#"{"type":"later","id":5}"#, "id"),
        ] {
            assert_eq!(built(given).unwrap_err().field, field, "{given}");
        }
    }
}

//! Entries from what a caller gives: missing parts are filled in, and what pi 1.6.0 could not
//! read back is refused, with the field that is wrong.

use crate::entry::{Kind, Role};
use crate::json::Raw;
use crate::json::object::{Object, text_block, with_key};

/// Provider, model and wire format of the answers at some place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelInForce {
    /// JSON text of each; `None` where nothing says.
    pub provider: Option<String>,
    /// The model's id.
    pub model: Option<String>,
    /// The wire format.
    pub api: Option<String>,
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
    /// For answers.
    pub model: &'a ModelInForce,
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
    serde_json::to_string(text).unwrap_or_default()
}

/// The line of an entry made of a message (it has `role`) or an entry (it has `type`), without its
/// newline.
pub fn line(given: Raw<'_>, defaults: &Defaults<'_>) -> Checked<String> {
    if !given.is_object() {
        return wrong("", "it is no JSON object");
    }
    if given.get("type").is_some() {
        return entry(given, defaults);
    }
    if given.get("role").is_some() {
        let message = message(given, defaults, "")?;
        let mut out = Object::new("type", "\"message\"");
        let parent = defaults.parent.map_or_else(|| "null".to_owned(), quote);
        out.push("id", &quote(defaults.id));
        out.push("parentId", &parent);
        out.push("timestamp", &quote(defaults.timestamp));
        out.push("message", &message);
        return Ok(out.finish());
    }
    wrong(
        "type",
        "it has neither 'role' (a message) nor 'type' (an entry)",
    )
}

/// Fills an entry in. Its own `id` and `timestamp` stay, its `parentId` is the defaults'.
fn entry(given: Raw<'_>, defaults: &Defaults<'_>) -> Checked<String> {
    let Some(name) = given.str("type").filter(|t| !t.is_empty()) else {
        return wrong("type", "must be a string");
    };
    let kind = Kind::of(name.as_bytes());
    let mut out = given.to_json().into_owned();
    let mut set = |key: &str, value: &str| {
        out = with_key(Raw::new(out.as_bytes()), key, Some(value));
    };
    match kind {
        Kind::Session => return wrong("type", "a session has one header, which it has already"),
        Kind::Message => {
            let inner = given.get("message").filter(|m| m.is_object());
            let Some(inner) = inner else {
                return wrong("message", "must be an object");
            };
            set("message", &message(inner, defaults, "message.")?);
        }
        Kind::CustomMessage => {
            string(given, "customType", "")?;
            user_content(given, "")?;
            if missing(given, "display") {
                set("display", "true");
            }
        }
        Kind::BranchSummary => {
            string(given, "summary", "")?;
            if missing(given, "fromId") {
                set("fromId", &quote(defaults.parent.unwrap_or("root")));
            }
        }
        Kind::Compaction => {
            string(given, "summary", "")?;
            if missing(given, "firstKeptEntryId") {
                let own = given.str("id");
                set(
                    "firstKeptEntryId",
                    &quote(own.as_deref().unwrap_or(defaults.id)),
                );
            }
            if missing(given, "tokensBefore") {
                set("tokensBefore", &(defaults.tokens_before)().to_string());
            }
        }
        Kind::ContextEdit => {
            string(given, "targetId", "")?;
            replacement(given)?;
        }
        Kind::ModelChange => {
            string(given, "provider", "")?;
            string(given, "modelId", "")?;
        }
        Kind::ThinkingLevelChange => string(given, "thinkingLevel", "")?,
        Kind::Usage => {
            for key in ["kind", "provider", "model"] {
                string(given, key, "")?;
            }
            set("usage", &usage(given.get("usage"), "usage")?);
        }
        Kind::Label => {
            string(given, "targetId", "")?;
            if !missing(given, "label") {
                string(given, "label", "")?;
            }
        }
        Kind::SessionInfo => string(given, "name", "")?,
        Kind::Custom => string(given, "customType", "")?,
        Kind::Other => {}
    }
    for (key, value) in [("id", defaults.id), ("timestamp", defaults.timestamp)] {
        if missing(given, key) {
            set(key, &quote(value));
        } else if key == "id" {
            string(given, key, "")?;
            if given.str("id").is_some_and(|id| id.is_empty()) {
                return wrong("id", "must not be empty");
            }
        }
    }
    set(
        "parentId",
        &defaults.parent.map_or_else(|| "null".to_owned(), quote),
    );
    Ok(out)
}

fn missing(given: Raw<'_>, key: &str) -> bool {
    given.get(key).is_none_or(Raw::is_null)
}

fn string(given: Raw<'_>, key: &str, at: &str) -> Checked<()> {
    if given.get(key).is_some_and(Raw::is_string) {
        return Ok(());
    }
    wrong(format!("{at}{key}"), "must be a string")
}

/// Fills a message in. `at` stands before the names of its fields.
fn message(given: Raw<'_>, defaults: &Defaults<'_>, at: &str) -> Checked<String> {
    let role = given.str("role").unwrap_or_default();
    let mut out = given.to_json().into_owned();
    let mut set = |key: &str, value: &str| {
        out = with_key(Raw::new(out.as_bytes()), key, Some(value));
    };
    match Role::of(role.as_bytes()) {
        Role::User => user_content(given, at)?,
        Role::Custom if role == "custom" => {
            string(given, "customType", at)?;
            user_content(given, at)?;
            if missing(given, "display") {
                set("display", "true");
            }
        }
        Role::Assistant => answer(given, defaults, at, &mut set)?,
        Role::ToolResult => {
            string(given, "toolCallId", at)?;
            string(given, "toolName", at)?;
            if let Some(content) = list_content(given, at)? {
                set("content", &content);
            } else {
                user_content(given, at)?;
            }
            if missing(given, "isError") {
                set("isError", "false");
            }
            if !missing(given, "usage") {
                set("usage", &usage(given.get("usage"), &format!("{at}usage"))?);
            }
        }
        Role::System => {
            if missing(given, "content") {
                set("content", "\"\"");
            } else {
                user_content(given, at)?;
            }
        }
        Role::BashExecution => {
            string(given, "command", at)?;
            for (key, value) in [
                ("output", "\"\""),
                ("cancelled", "false"),
                ("truncated", "false"),
            ] {
                if missing(given, key) {
                    set(key, value);
                }
            }
            if !missing(given, "output") {
                string(given, "output", at)?;
            }
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
    match given.get("timestamp").filter(|t| !t.is_null()) {
        None => set("timestamp", &defaults.now.to_string()),
        Some(time) if time.as_f64().is_none() => {
            return wrong(format!("{at}timestamp"), "must be a number of milliseconds");
        }
        Some(_) => {}
    }
    Ok(out)
}

/// Fills an answer in; `set` sets its keys.
fn answer(
    given: Raw<'_>,
    defaults: &Defaults<'_>,
    at: &str,
    set: &mut dyn FnMut(&str, &str),
) -> Checked<()> {
    if let Some(content) = list_content(given, at)? {
        set("content", &content);
    } else {
        assistant_content(given, at)?;
    }
    let model = defaults.model;
    let known = [
        ("api", &model.api),
        ("provider", &model.provider),
        ("model", &model.model),
    ];
    for (key, in_force) in known {
        if !missing(given, key) {
            string(given, key, at)?;
        } else if let Some(value) = in_force {
            set(key, value);
        } else {
            let why = "no model is in force at the parent, so the message must name its own";
            return wrong(format!("{at}{key}"), why);
        }
    }
    set("usage", &usage(given.get("usage"), &format!("{at}usage"))?);
    if missing(given, "stopReason") {
        let calls = given.get("content").into_iter().flat_map(Raw::items);
        let calls = calls.filter(|b| b.str("type").is_some_and(|t| t == "toolCall"));
        let reason = if calls.count() > 0 {
            "\"toolUse\""
        } else {
            "\"stop\""
        };
        set("stopReason", reason);
    } else {
        string(given, "stopReason", at)?;
    }
    Ok(())
}

/// For roles whose content pi reads as a list: the list that a string, or nothing, stands for;
/// `None` where it is one already.
fn list_content(given: Raw<'_>, at: &str) -> Checked<Option<String>> {
    match given.get("content").filter(|c| !c.is_null()) {
        None => Ok(Some("[]".to_owned())),
        Some(content) if content.is_string() => Ok(Some(text_block(&content.to_json()))),
        Some(content) if content.is_array() => Ok(None),
        Some(_) => wrong(
            format!("{at}content"),
            "must be a string or a list of blocks",
        ),
    }
}

/// A string, or a list of text and image blocks.
fn user_content(given: Raw<'_>, at: &str) -> Checked<()> {
    let content = given.get("content").unwrap_or_default();
    if content.is_string() {
        return Ok(());
    }
    if !content.is_array() {
        return wrong(
            format!("{at}content"),
            "must be a string or a list of blocks",
        );
    }
    for (n, block) in content.items().enumerate() {
        let at = format!("{at}content[{n}].");
        match block.str("type").as_deref() {
            Some("text") => string(block, "text", &at)?,
            Some("image") => {
                string(block, "data", &at)?;
                string(block, "mimeType", &at)?;
            }
            _ => return wrong(format!("{at}type"), "must be 'text' or 'image'"),
        }
    }
    Ok(())
}

/// A list of text, thinking and toolCall blocks.
fn assistant_content(given: Raw<'_>, at: &str) -> Checked<()> {
    let content = given.get("content").unwrap_or_default();
    for (n, block) in content.items().enumerate() {
        let at = format!("{at}content[{n}].");
        match block.str("type").as_deref() {
            Some("text") => string(block, "text", &at)?,
            Some("thinking") => string(block, "thinking", &at)?,
            Some("toolCall") => {
                string(block, "id", &at)?;
                string(block, "name", &at)?;
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

/// A usage with everything that pi adds up.
fn usage(given: Option<Raw<'_>>, at: &str) -> Checked<String> {
    const KINDS: [&str; 4] = ["input", "output", "cacheRead", "cacheWrite"];
    let given = given.filter(|u| !u.is_null()).unwrap_or(Raw::new(b"{}"));
    if !given.is_object() {
        return wrong(at, "must be an object");
    }
    let mut out = given.to_json().into_owned();
    let number = |object: Raw<'_>, key: &str, at: &str| match object.get(key) {
        None => Ok(0.0),
        Some(value) if value.is_null() => Ok(0.0),
        Some(value) => value.as_f64().ok_or_else(|| Wrong {
            field: format!("{at}.{key}"),
            why: "must be a number".to_owned(),
        }),
    };
    let fill = |out: &mut String, object: Raw<'_>, at: &str, last: &str| -> Checked<()> {
        let mut total = 0.0;
        for key in KINDS {
            total += number(object, key, at)?;
            if missing(object, key) {
                *out = with_key(Raw::new(out.as_bytes()), key, Some("0"));
            }
        }
        number(object, last, at)?;
        if missing(object, last) {
            let total = crate::json::js::number(total);
            *out = with_key(Raw::new(out.as_bytes()), last, Some(&total));
        }
        Ok(())
    };
    fill(&mut out, given, at, "totalTokens")?;
    let cost = given
        .get("cost")
        .filter(|c| !c.is_null())
        .unwrap_or(Raw::new(b"{}"));
    let cost_at = format!("{at}.cost");
    if !cost.is_object() {
        return wrong(cost_at, "must be an object");
    }
    let mut filled = cost.to_json().into_owned();
    fill(&mut filled, cost, &cost_at, "total")?;
    Ok(with_key(Raw::new(out.as_bytes()), "cost", Some(&filled)))
}

/// What a `context_edit` puts in its target's place: nothing, or a content.
fn replacement(given: Raw<'_>) -> Checked<()> {
    let Some(value) = given.get("replacement") else {
        return wrong("replacement", "must be null or an object with 'content'");
    };
    if value.is_null() {
        return Ok(());
    }
    if !value.is_object() || value.get("content").is_none() {
        return wrong("replacement", "must be null or an object with 'content'");
    }
    let content = value.get("content").unwrap_or_default();
    if content.is_string() || content.is_array() {
        return Ok(());
    }
    wrong(
        "replacement.content",
        "must be a string or a list of blocks",
    )
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
            model: &model,
            tokens_before: &|| 42,
        };
        line(Raw::new(json.as_bytes()), &defaults)
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
            (r#"{"type":"session_info"}"#, "name"),
            (r#"{"type":"label","targetId":"x","label":5}"#, "label"),
            (r#"{"type":"usage","kind":"k","provider":"p"}"#, "model"),
            (r#"{"type":"later","id":5}"#, "id"),
        ] {
            assert_eq!(built(given).unwrap_err().field, field, "{given}");
        }
    }
}

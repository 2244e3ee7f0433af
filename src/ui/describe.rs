//! An entry in a few words, for people.

use super::sanitize::one_line;
use super::style::Mark;
use crate::entry::{self, Entry, Kind, Role};
use crate::error::Result;
use crate::json::Raw;
use crate::session::Session;
use crate::store::index::Ix;

/// An entry in a few words.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    /// Who or what it is, in one word.
    pub(crate) who: String,
    /// The same in at most four columns.
    pub(crate) short_who: &'static str,
    pub(crate) mark: Mark,
    /// What it says, on one line, harmless.
    pub(crate) text: String,
}

/// Describes an entry whose line is given.
pub(crate) fn describe(session: &Session, ix: Ix, line: &[u8]) -> Result<Described> {
    let entry = Entry::new(line);
    let (who, short_who, mark) = who(session, ix);
    let text = match (session.kind(ix), session.role(ix)) {
        (Kind::Message, Role::Assistant) => assistant(entry),
        (Kind::Message, Role::ToolResult) => tool_result(session, ix, entry)?,
        (Kind::Message, Role::BashExecution) => {
            let command = entry
                .message()
                .and_then(|m| m.str("command"))
                .unwrap_or_default();
            format!("$ {}", one_line(&command))
        }
        (Kind::Message, Role::System) => system(entry),
        (Kind::Message | Kind::CustomMessage, _) => with_images(entry),
        (Kind::Compaction, _) => {
            let before = entry
                .get("tokensBefore")
                .and_then(Raw::as_f64)
                .unwrap_or_default();
            format!(
                "{} ({} tokens before)",
                one_line(&entry::text(entry)),
                thousands(before)
            )
        }
        (Kind::Label, _) => label(entry),
        (Kind::ContextEdit, _) => {
            let target = one_line(&entry.raw().str("targetId").unwrap_or_default());
            let omits = entry.get("replacement").is_none_or(Raw::is_null);
            format!("{} {target}", if omits { "omits" } else { "replaces" })
        }
        (Kind::ModelChange, _) => {
            let provider = entry.raw().str("provider").unwrap_or_default();
            one_line(&format!("{provider}/{}", entry::text(entry)))
        }
        (Kind::Usage, _) => one_line(&entry.raw().str("kind").unwrap_or_default()),
        (Kind::Custom, _) => one_line(&entry.raw().str("customType").unwrap_or_default()),
        (Kind::Other, _) => String::new(),
        _ => one_line(&entry::text(entry)),
    };
    let who = match session.kind(ix) {
        Kind::Other => format!("[{}]", one_line(&entry.type_name())),
        Kind::Message if session.role(ix) == Role::Other => {
            one_line(&entry.role_name().unwrap_or_else(|| "message".to_owned()))
        }
        _ => who.to_owned(),
    };
    Ok(Described {
        who,
        short_who,
        mark,
        text,
    })
}

fn who(session: &Session, ix: Ix) -> (&'static str, &'static str, Mark) {
    match (session.kind(ix), session.role(ix)) {
        (Kind::Message, role) => match role {
            Role::User => ("user", "user", Mark::User),
            Role::Assistant => ("assistant", "asst", Mark::Assistant),
            Role::ToolResult => ("tool", "tool", Mark::Tool),
            Role::System => ("system", "sys", Mark::Meta),
            Role::BashExecution => ("bash", "bash", Mark::Tool),
            Role::Custom => ("custom", "cust", Mark::Meta),
            Role::BranchSummary | Role::CompactionSummary => ("summary", "summ", Mark::Meta),
            Role::Other => ("message", "msg", Mark::Meta),
        },
        (Kind::CustomMessage, _) => ("custom", "cust", Mark::Meta),
        (Kind::BranchSummary, _) => ("summary", "summ", Mark::Meta),
        (Kind::Compaction, _) => ("compacted", "comp", Mark::Meta),
        (Kind::ContextEdit, _) => ("edit", "edit", Mark::Meta),
        (Kind::ModelChange, _) => ("model", "modl", Mark::Meta),
        (Kind::ThinkingLevelChange, _) => ("thinking", "thnk", Mark::Meta),
        (Kind::Usage, _) => ("usage", "usge", Mark::Meta),
        (Kind::Label, _) => ("label", "labl", Mark::Meta),
        (Kind::SessionInfo, _) => ("name", "name", Mark::Meta),
        (Kind::Custom, _) => ("state", "stat", Mark::Meta),
        (Kind::Session | Kind::Other, _) => ("other", "othr", Mark::Meta),
    }
}

fn with_images(entry: Entry<'_>) -> String {
    let mut text = one_line(&entry::text(entry));
    let images = entry.blocks("image").count();
    if images > 0 {
        let space = if text.is_empty() { "" } else { " " };
        let plural = if images == 1 { "image" } else { "images" };
        text.push_str(&format!("{space}({images} {plural})"));
    }
    text
}

/// A system message often has no text of its own, but sections and tools.
fn system(entry: Entry<'_>) -> String {
    let text = one_line(&entry::text(entry));
    if !text.is_empty() {
        return text;
    }
    let message = entry.message().unwrap_or_default();
    let sections = message
        .get("sections")
        .unwrap_or_default()
        .members()
        .count();
    let tools = message
        .get("toolsAdded")
        .unwrap_or_default()
        .items()
        .count();
    format!("({sections} sections, {tools} tools)")
}

fn assistant(entry: Entry<'_>) -> String {
    let mut text = with_images(entry);
    let message = entry.message().unwrap_or_default();
    if text.is_empty() {
        let calls: Vec<_> = entry.blocks("toolCall").map(call).collect();
        text = calls.join(" ");
    }
    let stop = message.str("stopReason").unwrap_or_default();
    match &*stop {
        "aborted" => text.push_str(" (aborted)"),
        "error" => {
            let why = one_line(&message.str("errorMessage").unwrap_or_default());
            text.push_str(&format!(" (error: {why})"));
        }
        "length" => text.push_str(" (cut off)"),
        _ => {}
    }
    if text.is_empty() {
        "(no text)".to_owned()
    } else {
        text.trim_start().to_owned()
    }
}

/// A tool call: its name, and the argument that says most.
fn call(block: Raw<'_>) -> String {
    let name = one_line(&block.str("name").unwrap_or_default());
    let arguments = block.get("arguments").unwrap_or_default();
    let telling = ["path", "file_path", "command", "pattern", "query", "url"];
    let argument = telling.iter().find_map(|key| arguments.str(key));
    let argument = argument.or_else(|| arguments.members().find_map(|(_, v)| v.as_str()));
    match argument {
        Some(argument) => format!("[{name}: {}]", one_line(&argument)),
        None => format!("[{name}]"),
    }
}

/// A tool result is shown as the call it answers, which stands a few steps above it.
fn tool_result(session: &Session, ix: Ix, entry: Entry<'_>) -> Result<String> {
    /// More results than this to one message are not looked past.
    const STEPS: usize = 64;
    let message = entry.message().unwrap_or_default();
    let id = message.str("toolCallId").unwrap_or_default();
    let failed = message.get("isError").and_then(Raw::as_bool) == Some(true);
    let failed = if failed { " (failed)" } else { "" };
    for above in session.ancestors(ix).take(STEPS) {
        let above = above?;
        if session.role(above) != Role::Assistant {
            continue;
        }
        let line = session.line(above)?;
        let hit = Entry::new(&line)
            .blocks("toolCall")
            .find(|b| b.str("id").is_some_and(|i| i == id));
        if let Some(block) = hit {
            return Ok(format!("{}{failed}", call(block)));
        }
        break;
    }
    Ok(format!(
        "[{}]{failed}",
        one_line(&message.str("toolName").unwrap_or_default())
    ))
}

fn label(entry: Entry<'_>) -> String {
    let target = one_line(&entry.raw().str("targetId").unwrap_or_default());
    let name = one_line(&entry::text(entry));
    if name.is_empty() {
        format!("cleared on {target}")
    } else {
        format!("{name} on {target}")
    }
}

/// A number of bytes in few digits: `950 B`, `1.2 kB`, `120 kB`, `1.2 MB`.
pub(crate) fn bytes(n: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let n = n as f64;
    if n < 1000.0 {
        format!("{n:.0} B")
    } else if n < 99_950.0 {
        format!("{:.1} kB", n / 1000.0)
    } else if n < 999_500.0 {
        format!("{:.0} kB", n / 1000.0)
    } else {
        format!("{:.1} MB", n / 1_000_000.0)
    }
}

/// A number of tokens in few digits: `950`, `12k`, `1.2M`.
pub(crate) fn thousands(n: f64) -> String {
    if n < 1000.0 {
        format!("{n:.0}")
    } else if n < 999_500.0 {
        format!("{:.0}k", n / 1000.0)
    } else {
        format!("{:.1}M", n / 1_000_000.0)
    }
}

/// An amount of money: `$0.012`.
pub(crate) fn dollars(amount: f64) -> String {
    format!("${amount:.3}")
}

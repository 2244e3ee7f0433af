//! One entry in full, for people: who, when, by which model, at what price, and all it says.

use jiff::tz::TimeZone;

use super::Ui;
use super::calls::{Painted, arguments, subject};
use super::describe::{bytes, describe, dollars, thousands};
use super::markdown::{Look, render};
use super::record::parent_id;
use super::rows::Shortener;
use super::sanitize::one_line;
use super::style::{Mark, Painter};
use super::styled::{Styled, plain_lines};
use crate::entry::{self, Entry, Kind, Role};
use crate::error::Result;
use crate::json::{Raw, pretty};
use crate::session::Session;
use crate::store::index::Ix;
use crate::time;

/// Prose is hard to read in longer lines.
const PROSE: usize = 100;
/// Under this many columns, text is indented less.
const NARROW: usize = 60;
/// How many lines of a tool's output are shown where it is folded.
const FOLD: usize = 10;

/// How much is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Detail {
    /// Thinking, and tool output to its end.
    pub(crate) full: bool,
    /// Markdown as it is written.
    pub(crate) raw: bool,
    /// Calls without their results, which are shown as entries of their own.
    pub(crate) no_results: bool,
}

/// Shows entries in full.
pub(crate) struct Full {
    painter: Painter,
    unicode: bool,
    indent: usize,
    prose: usize,
    /// Columns for code, where its lines must be broken.
    code: Option<usize>,
    detail: Detail,
    now: i64,
    short: Shortener,
    leaf: Option<Ix>,
    lines: Vec<String>,
}

impl Full {
    pub(crate) fn new(
        ui: &Ui,
        session: &Session,
        leaf: Option<Ix>,
        detail: Detail,
        now: i64,
    ) -> Full {
        let indent = if ui.width < NARROW { 2 } else { 4 };
        let room = ui.width.saturating_sub(indent).max(10);
        Full {
            painter: ui.painter,
            unicode: ui.unicode(),
            indent,
            prose: room.min(PROSE),
            // In a pipe the lines of code are whole.
            code: ui.is_terminal().then_some(room),
            detail,
            now,
            short: Shortener::new(session, 8),
            leaf,
            lines: Vec::new(),
        }
    }

    /// The same behind a graph of so many columns.
    pub(crate) fn beside(mut self, columns: usize) -> Full {
        self.prose = self.prose.saturating_sub(columns).max(10);
        self.code = self.code.map(|code| code.saturating_sub(columns).max(10));
        self
    }

    /// The lines that show an entry.
    pub(crate) fn show(&mut self, session: &Session, ix: Ix) -> Result<Vec<String>> {
        let line = session.line(ix)?;
        let entry = Entry::new(&line);
        self.head(session, ix, &line)?;
        self.lines.push(String::new());
        match (entry.kind(), session.role(ix)) {
            (Kind::Message, Role::Assistant) => self.assistant(session, ix, entry)?,
            (Kind::Message, Role::ToolResult) => {
                let message = entry.message().unwrap_or_default();
                self.output(message, usize::MAX, "");
            }
            (Kind::Message, Role::BashExecution) => self.bash(entry),
            (Kind::Message, Role::System) => self.system(entry),
            (Kind::Message | Kind::CustomMessage, role) => {
                let text = entry::text(entry);
                if role == Role::User {
                    self.typed(&text);
                } else {
                    self.prose(&text);
                }
                self.images(entry.content().unwrap_or_default());
            }
            (Kind::BranchSummary | Kind::Compaction, _) => self.prose(&entry::text(entry)),
            (Kind::Custom, _) => self.json(entry.get("data").unwrap_or_default()),
            (Kind::ContextEdit, _) => {
                match entry.get("replacement").and_then(|r| r.get("content")) {
                    Some(content) => self.typed(&entry::block_text(content, "\n")),
                    None => self.note("the target is left out of the context"),
                }
            }
            (Kind::Usage | Kind::Other | Kind::Session, _) => self.json(entry.raw()),
            _ => {
                let described = describe(session, ix, &line)?;
                self.typed(&described.text);
            }
        }
        while self.lines.last().is_some_and(|line| line.trim().is_empty()) {
            self.lines.pop();
        }
        Ok(std::mem::take(&mut self.lines))
    }

    fn head(&mut self, session: &Session, ix: Ix, line: &[u8]) -> Result<()> {
        let entry = Entry::new(line);
        let described = describe(session, ix, line)?;
        let mut title = Styled::new(described.mark, &described.who);
        title.push(Mark::Plain, " ");
        title.push(
            Mark::Id,
            &one_line(&crate::rev::syntax::quote_name(&session.id(ix))),
        );
        if let Some(label) = session.label(ix)? {
            title.push(Mark::Plain, "  ");
            title.push(Mark::Label, &format!("[{}]", one_line(&label)));
        }
        if self.leaf == Some(ix) {
            title.push(Mark::Plain, "  ");
            title.push(Mark::Leaf, if self.unicode { "← @" } else { "<- @" });
        }
        let columns = self.prose + self.indent;
        self.lines.extend(title.wrap(columns, self.painter));

        let parent = parent_id(&session.index(), ix).map(|id| self.short.short(&id));
        let short = |id: Option<String>| {
            id.map(|id| match id.as_str() {
                // What pi says where it left no entry.
                "root" => id,
                id => self.short.short(id),
            })
        };
        let word = |key| entry.raw().str(key).map(|word| one_line(&word));
        let message = entry.message().unwrap_or_default();
        let mut fields = vec![("Parent", parent), ("Date", self.date(session, ix))];
        fields.push(("Model", model(message)));
        fields.push(("From", short(word("fromId"))));
        fields.push(("Keeps", short(word("firstKeptEntryId"))));
        fields.push(("Target", short(word("targetId"))));
        fields.push((
            "Kind",
            word("customType").or_else(|| message.str("customType").map(|t| one_line(&t))),
        ));
        fields.push((
            "Before",
            entry
                .get("tokensBefore")
                .and_then(Raw::as_f64)
                .map(|n| format!("{} tokens", thousands(n))),
        ));
        if session.role(ix) == Role::ToolResult {
            fields.push(("Answers", Some(describe(session, ix, line)?.text)));
        }
        let usage = message.get("usage").or_else(|| entry.get("usage"));
        fields.push(("Usage", usage.filter(|u| u.is_object()).map(usage_line)));
        fields.push(("Ended", ending(message)));
        for (name, value) in fields {
            let Some(value) = value.filter(|v| !v.is_empty()) else {
                continue;
            };
            let field = Styled::new(Mark::Plain, &format!("{:8} {value}", format!("{name}:")));
            self.lines.extend(field.wrap(columns, self.painter));
        }
        Ok(())
    }

    fn date(&self, session: &Session, ix: Ix) -> Option<String> {
        let then = session.index().time(ix)?;
        let at = jiff::Timestamp::from_millisecond(then).ok()?;
        let at = at.to_zoned_datetime(TimeZone::system());
        let ago = match time::ago(self.now, then) {
            now if now == "now" => now,
            ago => format!("{ago} ago"),
        };
        Some(format!("{} ({ago})", at.strftime("%Y-%m-%d %H:%M:%S %:z")))
    }

    fn assistant(&mut self, session: &Session, ix: Ix, entry: Entry<'_>) -> Result<()> {
        let message = entry.message().unwrap_or_default();
        let content = message.get("content").unwrap_or_default();
        if content.is_string() {
            self.prose(&content.to_text());
        }
        let has_calls = entry.blocks("toolCall").next().is_some();
        let results = if has_calls && !self.detail.no_results {
            Self::results(session, ix)?
        } else {
            Vec::new()
        };
        for block in content.items() {
            match block.str("type").as_deref() {
                Some("text") => self.prose(&block.str("text").unwrap_or_default()),
                Some("thinking") => self.thinking(block),
                Some("toolCall") => self.call(session, block, &results)?,
                Some("image") => self.image(block),
                _ => self.json(block),
            }
        }
        if let Some(error) = message.str("errorMessage") {
            self.add(Mark::Failed, &plain_lines(&error, Some(self.prose), false));
        }
        Ok(())
    }

    fn thinking(&mut self, block: Raw<'_>) {
        let text = block.str("thinking").unwrap_or_default();
        if self.detail.full && !text.is_empty() {
            self.add(Mark::Dim, &plain_lines(&text, Some(self.prose), false));
            return;
        }
        let said = match text.chars().count() {
            0 => "(thinking, not shown by the model)".to_owned(),
            n => format!("(thinking: {n} characters)"),
        };
        self.note(&said);
    }

    /// The results of an answer's calls, by the id of the call: what hangs on it before anything
    /// else is said, the newest where there are several.
    fn results(session: &Session, ix: Ix) -> Result<Vec<(String, Ix)>> {
        let tree = session.tree()?;
        let mut results: Vec<(String, Ix)> = Vec::new();
        let mut below = tree.children(ix).to_vec();
        while let Some(ix) = below.pop() {
            let is_result = session.role(ix) == Role::ToolResult;
            if !is_result && !session.kind(ix).is_bookkeeping() {
                continue;
            }
            below.extend(tree.children(ix));
            if !is_result {
                continue;
            }
            let line = session.line(ix)?;
            let message = Entry::new(&line).message().unwrap_or_default();
            let call = message.str("toolCallId").unwrap_or_default().into_owned();
            match results.iter_mut().find(|(id, _)| *id == call) {
                Some((_, held)) => *held = ix.min(*held),
                None => results.push((call, ix)),
            }
        }
        Ok(results)
    }

    fn call(&mut self, session: &Session, block: Raw<'_>, results: &[(String, Ix)]) -> Result<()> {
        let name = block.str("name").unwrap_or_default();
        let given = block.get("arguments").unwrap_or_default();
        let mut title = Styled::new(Mark::Dim, if self.unicode { "▸ " } else { "> " });
        title.push(Mark::Tool, &one_line(&name));
        title.push(Mark::Plain, " ");
        title.push(Mark::Plain, &subject(given));
        let title = title.wrap(self.prose, self.painter);
        self.add(Mark::Plain, &title);
        let code = self.code.map(|columns| columns.saturating_sub(2).max(8));
        let shown = arguments(&name, given, code, self.painter);
        let fold = if name == "write" { FOLD } else { usize::MAX };
        self.folded(shown, fold, "", "  ");
        let id = block.str("id").unwrap_or_default();
        let Some((_, result)) = results.iter().find(|(call, _)| *call == id) else {
            self.end_block();
            return Ok(());
        };
        let line = session.line(*result)?;
        let message = Entry::new(&line).message().unwrap_or_default();
        let short = self.short.short(&session.id(*result));
        let failed = is_failed(message);
        let mark = if failed { Mark::Failed } else { Mark::Dim };
        let said = if failed { "failed" } else { "result" };
        let arrow = if self.unicode { "→" } else { "->" };
        let title = Styled::new(mark, &format!("{arrow} {said} {short}"));
        self.add(Mark::Plain, &title.lines(self.painter));
        self.output(message, FOLD, &short);
        Ok(())
    }

    /// What a tool gave back.
    fn output(&mut self, message: Raw<'_>, fold: usize, id: &str) {
        let content = message.get("content").unwrap_or_default();
        let text = entry::block_text(content, "\n");
        let inner = if id.is_empty() { "" } else { "  " };
        if !text.trim().is_empty() {
            let code = self
                .code
                .map(|columns| columns.saturating_sub(inner.len()).max(8));
            let mark = if is_failed(message) && id.is_empty() {
                Mark::Failed
            } else {
                Mark::Plain
            };
            let lines = plain_lines(&text, code, true).into_iter();
            self.folded(lines.map(|line| (mark, line)).collect(), fold, id, inner);
        }
        self.images(content);
        self.end_block();
    }

    fn bash(&mut self, entry: Entry<'_>) {
        let message = entry.message().unwrap_or_default();
        let command = message.str("command").unwrap_or_default();
        let lines = |text: &str, code| plain_lines(text, code, true);
        let command = lines(&format!("$ {command}"), self.code);
        self.add(Mark::Code, &command);
        let output = message.str("output").unwrap_or_default();
        let output = lines(&output, self.code);
        self.add(Mark::Plain, &output);
        let exit = message
            .get("exitCode")
            .and_then(Raw::as_f64)
            .filter(|code| *code != 0.0);
        if let Some(code) = exit {
            self.end_block();
            self.add(Mark::Failed, &[format!("(exit code {code})")]);
        }
        for (key, said) in [
            ("cancelled", "(cancelled)"),
            ("truncated", "(output cut off)"),
        ] {
            if message.get(key).is_some_and(Raw::is_truthy) {
                self.note(said);
            }
        }
    }

    fn system(&mut self, entry: Entry<'_>) {
        let message = entry.message().unwrap_or_default();
        self.prose(&entry::text(entry));
        let sections = message.get("sections").unwrap_or_default();
        for (name, text) in sections.members() {
            let name = one_line(&name.text());
            let said = match text.as_str() {
                None => format!("(section {name} is removed)"),
                Some(text) if self.detail.full => {
                    self.add(Mark::Strong, &[name]);
                    self.prose(&text);
                    continue;
                }
                Some(text) => format!("(section {name}: {} characters)", text.chars().count()),
            };
            self.note(&said);
        }
        let names = |key| -> Vec<String> {
            let tools = message.get(key).unwrap_or_default().items();
            let name = |tool: Raw<'_>| {
                tool.str("name")
                    .or(tool.as_str())
                    .map(|name| one_line(&name))
            };
            tools.filter_map(name).collect()
        };
        for (key, said) in [("toolsAdded", "tools"), ("toolsRemoved", "tools removed")] {
            let names = names(key);
            if !names.is_empty() {
                self.note(&format!("({said}: {})", names.join(", ")));
            }
        }
    }

    /// Text that is Markdown.
    fn prose(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if self.detail.raw {
            return self.typed(text);
        }
        let look = Look {
            columns: self.prose,
            code: self.code,
            painter: self.painter,
            unicode: self.unicode,
        };
        self.add(Mark::Plain, &render(text, look));
        self.end_block();
    }

    /// Text as it was typed.
    fn typed(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.add(Mark::Plain, &plain_lines(text, Some(self.prose), false));
            self.end_block();
        }
    }

    fn json(&mut self, value: Raw<'_>) {
        if !value.bytes().is_empty() {
            let text = pretty::indent(value);
            self.add(Mark::Plain, &plain_lines(&text, self.code, true));
            self.end_block();
        }
    }

    fn images(&mut self, content: Raw<'_>) {
        for block in content
            .items()
            .filter(|b| b.str("type").is_some_and(|t| t == "image"))
        {
            self.image(block);
        }
    }

    fn image(&mut self, block: Raw<'_>) {
        let kind = block.str("mimeType").unwrap_or("image".into());
        let size = block.get("data").map_or(0, |data| {
            data.bytes().len().saturating_sub(2) as u64 / 4 * 3
        });
        self.note(&format!("[{}, {}]", one_line(&kind), bytes(size)));
    }

    /// Lines of output, the first ones only where there are many.
    fn folded(&mut self, mut lines: Vec<Painted>, fold: usize, id: &str, inner: &str) {
        // One line more takes no more room than saying that there is one.
        let hidden = if self.detail.full || lines.len() <= fold.saturating_add(1) {
            0
        } else {
            lines.len() - fold
        };
        lines.truncate(lines.len() - hidden);
        for (mark, line) in lines {
            self.add(mark, &[format!("{inner}{line}")]);
        }
        if hidden > 0 {
            let how = if id.is_empty() {
                "--full".to_owned()
            } else {
                format!("pis show {id}")
            };
            let dots = if self.unicode { "…" } else { "..." };
            self.add(
                Mark::Dim,
                &[format!("{inner}{dots} {hidden} more lines ({how})")],
            );
        }
    }

    fn note(&mut self, text: &str) {
        self.add(Mark::Dim, &[text.to_owned()]);
    }

    fn add<L: AsRef<str>>(&mut self, mark: Mark, lines: &[L]) {
        for line in lines {
            let line = self.painter.paint(mark, line.as_ref());
            let line = format!("{}{line}", " ".repeat(self.indent));
            self.lines.push(line.trim_end().to_owned());
        }
    }

    /// A blank line before what comes next.
    fn end_block(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }
}

fn is_failed(message: Raw<'_>) -> bool {
    message.get("isError").and_then(Raw::as_bool) == Some(true)
}

fn model(message: Raw<'_>) -> Option<String> {
    let model = message.str("model")?;
    let model = match message.str("provider") {
        Some(provider) => format!("{provider}/{model}"),
        None => model.into_owned(),
    };
    let level = message
        .str("thinkingLevel")
        .map(|level| format!(", thinking {level}"));
    Some(one_line(&format!("{model}{}", level.unwrap_or_default())))
}

/// How an answer ended, where it did not end by itself.
fn ending(message: Raw<'_>) -> Option<String> {
    let reason = message.str("stopReason")?;
    (!matches!(&*reason, "stop" | "toolUse")).then(|| one_line(&reason))
}

/// Tokens by kind, and what they cost.
pub(crate) fn usage_line(usage: Raw<'_>) -> String {
    let kinds = [
        ("input", "in"),
        ("output", "out"),
        ("cacheRead", "cache read"),
        ("cacheWrite", "cache write"),
    ];
    let count = |(key, name)| {
        let n = usage.get(key).and_then(Raw::as_f64).filter(|n| *n != 0.0)?;
        Some(format!("{} {name}", thousands(n)))
    };
    let counts: Vec<_> = kinds.into_iter().filter_map(count).collect();
    let cost = usage
        .get("cost")
        .and_then(|c| c.get("total"))
        .and_then(Raw::as_f64);
    let cost = cost.filter(|cost| *cost != 0.0).map(dollars);
    [counts.join(", ")]
        .into_iter()
        .chain(cost)
        .filter(|s| !s.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}

//! What an entry did, in numbers: files changed, tools called, tokens and cost.

use super::calls;
use super::describe::{dollars, thousands};
use super::sanitize::one_line;
use super::style::{Mark, Painter};
use super::width::{cut, fit, width};
use crate::entry::{Entry, Role};
use crate::error::Result;
use crate::json::Raw;
use crate::session::Session;
use crate::store::index::Ix;

/// Sums over one entry, or over one and those that are folded into it.
#[derive(Debug, Default)]
pub(crate) struct Stat {
    /// Path, lines put in, lines taken out; in the order of the first call.
    files: Vec<(String, usize, usize)>,
    /// Name and number of calls.
    tools: Vec<(String, usize)>,
    failed: usize,
    input: f64,
    output: f64,
    cost: f64,
}

impl Stat {
    /// Adds what an entry did.
    pub(crate) fn add(&mut self, session: &Session, ix: Ix) -> Result<()> {
        let role = session.role(ix);
        if role != Role::Assistant && role != Role::ToolResult {
            return Ok(());
        }
        let line = session.line(ix)?;
        let entry = Entry::new(&line);
        let message = entry.message().unwrap_or_default();
        self.failed += usize::from(message.get("isError").and_then(Raw::as_bool) == Some(true));
        let usage = message.get("usage").unwrap_or_default();
        let number = |raw: Option<Raw<'_>>| raw.and_then(Raw::as_f64).unwrap_or_default();
        for key in ["input", "cacheRead", "cacheWrite"] {
            self.input += number(usage.get(key));
        }
        self.output += number(usage.get("output"));
        self.cost += number(usage.get("cost").and_then(|cost| cost.get("total")));
        for call in entry.blocks("toolCall") {
            let name = one_line(&call.str("name").unwrap_or_default());
            match self.tools.iter_mut().find(|(held, _)| *held == name) {
                Some((_, n)) => *n += 1,
                None => self.tools.push((name.clone(), 1)),
            }
            let arguments = call.get("arguments").unwrap_or_default();
            if let Some((added, removed)) = calls::changes(&name, arguments) {
                let path = calls::subject(arguments);
                match self.files.iter_mut().find(|(held, ..)| *held == path) {
                    Some((_, a, r)) => (*a, *r) = (*a + added, *r + removed),
                    None => self.files.push((path, added, removed)),
                }
            }
        }
        Ok(())
    }

    /// The lines that say so, in so many columns; none where nothing was done.
    pub(crate) fn lines(&self, columns: usize, mark: &str, painter: Painter) -> Vec<String> {
        let room = columns.saturating_sub(20).max(10);
        let widest = self.files.iter().map(|(path, ..)| width(path)).max();
        let widest = widest.unwrap_or_default().min(room);
        let file = |(path, added, removed): &(String, usize, usize)| {
            let mut line = format!(" {} |", fit(path, widest, mark));
            for (sign, n, style) in [('+', added, Mark::Added), ('-', removed, Mark::Removed)] {
                if *n > 0 {
                    line.push(' ');
                    line.push_str(&painter.paint(style, &format!("{sign}{n}")));
                }
            }
            line
        };
        let mut lines: Vec<_> = self.files.iter().map(file).collect();
        let mut parts = Vec::new();
        let tools = self.tools.iter().map(|(name, n)| format!("{name} {n}"));
        parts.push(tools.collect::<Vec<_>>().join(", "));
        parts.push(match self.failed {
            0 => String::new(),
            n => format!("{n} failed"),
        });
        if self.input + self.output > 0.0 {
            let (input, output) = (thousands(self.input), thousands(self.output));
            parts.push(format!("{input} in, {output} out"));
        }
        if self.cost > 0.0 {
            parts.push(dollars(self.cost));
        }
        parts.retain(|part| !part.is_empty());
        if !parts.is_empty() {
            let sum = cut(&format!(" {}", parts.join("; ")), columns, mark);
            lines.push(painter.paint(Mark::Dim, &sum));
        }
        lines
    }
}

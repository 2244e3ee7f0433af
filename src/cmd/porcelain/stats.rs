//! `pis stats`.

use std::cmp::Reverse;

use clap::Args;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::ranges::{Entries, entries_of};
use crate::stats::{Content, DayUse, ModelUse, Number, Stats as Sums, ToolUse, Weight};
use crate::ui::Ui;
use crate::ui::chart::{Row, print};
use crate::ui::describe::{bytes, thousands};
use crate::ui::style::Mark;
use crate::ui::width::{cut, width};

/// Show messages, tokens, cost, models, days and tools
///
/// Without an argument, of all entries of the session, as pi adds them up: branches that were left
/// and history that was compacted count. With a revision, of the path to it; with a range, of its
/// entries.
///
/// Days are those of UTC. A price that is not stored is not 0: what has none is told apart. Bars
/// show cost by model and day (tokens where no cost is known), calls by tool, and bytes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis stats
  pis stats @
  pis stats good..@
  pis stats --size
  pis stats --json | jq -r '.byModel[] | [.model, .cost] | @tsv'")]
pub(crate) struct Stats {
    /// Show what fills the file: types of entries, what is inside messages, results by tool
    #[arg(long)]
    size: bool,
    /// Revisions or ranges
    #[arg(value_name = "REV|RANGE", add = complete::revisions())]
    revs: Vec<String>,
}

impl Stats {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let sums = if self.revs.is_empty() {
            Sums::of_all(&*context.session()?)?
        } else {
            let Entries { session, walk } = entries_of(context, &self.revs)?;
            let entries = walk.map(|step| step.map(|(_, ix)| ix));
            let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
            // From the root, the order in which they were paid for.
            entries.reverse();
            Sums::of(&session, &entries)?
        };
        if context.json() {
            context.ui.json_row(&sums)?;
        } else if self.size {
            size(&mut context.ui, &sums)?;
        } else {
            usage(&mut context.ui, &sums)?;
        }
        Ok(Exit::Yes)
    }
}

fn usage(ui: &mut Ui, sums: &Sums) -> std::io::Result<()> {
    summary(ui, sums)?;
    let paid = sums.cost.0 > 0.0;
    let value = |cost: Option<Number>, tokens: Number| {
        if paid {
            cost.unwrap_or_default().0
        } else {
            tokens.0
        }
    };
    if !sums.by_model.is_empty() {
        let row = |row: &ModelUse| Row {
            name: row.model.clone().unwrap_or_else(|| "(no name)".to_owned()),
            short: row
                .model
                .as_ref()
                .and_then(|name| Some(name.split_once('/')?.1.to_owned())),
            cells: vec![
                row.requests.to_string(),
                tokens(row.tokens),
                price(row.cost, row.unpriced),
            ],
            value: value(row.cost, row.tokens),
        };
        let rows: Vec<_> = sums.by_model.iter().map(row).collect();
        ui.row("")?;
        print(ui, "by model", &["asked", "tokens", "cost"], &rows)?;
    }
    if !sums.by_day.is_empty() {
        let row = |row: &DayUse| Row {
            name: row.day.clone().unwrap_or_else(|| "(no date)".to_owned()),
            short: None,
            cells: vec![
                row.messages.to_string(),
                tokens(row.tokens),
                price(row.cost, row.unpriced),
            ],
            value: value(row.cost, row.tokens),
        };
        let rows: Vec<_> = sums.by_day.iter().map(row).collect();
        ui.row("")?;
        print(ui, "by day", &["messages", "tokens", "cost"], &rows)?;
    }
    if !sums.tools.is_empty() {
        let row = |row: &ToolUse| Row {
            name: row.tool.clone().unwrap_or_else(|| "(no name)".to_owned()),
            short: None,
            cells: vec![row.calls.to_string(), row.failures.to_string()],
            value: count(row.calls),
        };
        let rows: Vec<_> = sums.tools.iter().map(row).collect();
        ui.row("")?;
        print(ui, "by tool", &["calls", "failed"], &rows)?;
    }
    Ok(())
}

fn summary(ui: &mut Ui, sums: &Sums) -> std::io::Result<()> {
    let (messages, spent) = (&sums.messages, &sums.tokens);
    let other = messages.total - messages.user - messages.assistant - messages.tool_result;
    let mut parts = vec![
        format!("{} user", messages.user),
        format!("{} assistant", messages.assistant),
        several(messages.tool_result, "tool result"),
    ];
    if other > 0 {
        parts.push(format!("{other} other"));
    }
    parts.push(several(messages.tool_call, "tool call"));
    listed(ui, "messages", &messages.total.to_string(), &parts)?;
    let parts = [
        ("input", spent.input),
        ("output", spent.output),
        ("cache read", spent.cache_read),
        ("cache write", spent.cache_write),
    ];
    let parts = parts.map(|(name, n)| format!("{} {name}", tokens(n)));
    listed(ui, "tokens", &tokens(spent.total), &parts)?;
    let known = sums.by_model.iter().any(|row| row.cost.is_some()) || sums.unpriced == 0;
    let unpriced = (sums.unpriced > 0)
        .then(|| format!("{} without a price", several(sums.unpriced, "request")));
    let cost = if known {
        price(Some(sums.cost), 0)
    } else {
        price(None, sums.unpriced)
    };
    listed(ui, "cost", &cost, unpriced.as_slice())
}

/// Prints a figure and what it is made of, on as many lines as that needs.
fn listed(ui: &mut Ui, title: &str, figure: &str, parts: &[String]) -> std::io::Result<()> {
    const TITLE: usize = 10;
    let columns = ui.width;
    let mut line = format!(
        "{}{figure}",
        ui.painter.paint(Mark::Strong, &format!("{title:TITLE$}"))
    );
    let mut used = TITLE + width(figure);
    for (n, part) in parts.iter().enumerate() {
        let lead = if n == 0 { ": " } else { ", " };
        if used + width(lead) + width(part) < columns {
            line.push_str(lead);
            used += width(lead);
        } else {
            line.push_str(lead.trim_end());
            ui.row(&line)?;
            line = " ".repeat(TITLE);
            used = TITLE;
        }
        let part = cut(part, columns.saturating_sub(used), "");
        used += width(&part);
        line.push_str(&part);
    }
    ui.row(&line)
}

fn size(ui: &mut Ui, sums: &Sums) -> std::io::Result<()> {
    let size = &sums.size;
    let row = |name: String, weight: Weight| Row {
        name,
        short: None,
        cells: vec![weight.count.to_string(), bytes(weight.bytes)],
        value: count(weight.bytes),
    };
    listed(ui, "size", &bytes(size.bytes), &[])?;
    let types = size.by_type.iter().map(|part| {
        let name = match (&part.role, part.kind.as_str()) {
            (Some(role), _) => role,
            (None, "") => "(no type)",
            (None, kind) => kind,
        };
        row(name.to_owned(), part.weight)
    });
    let mut rows: Vec<_> = types.collect();
    if size.other > 0 {
        let mut other = row(
            "(no entry)".to_owned(),
            Weight {
                count: 0,
                bytes: size.other,
            },
        );
        other.cells[0].clear();
        rows.push(other);
    }
    ui.row("")?;
    print(ui, "by type", &["entries", "size"], &rows)?;
    if !size.by_content.is_empty() {
        let rows = size.by_content.iter();
        let rows = rows.map(|part| row(content(part.content).to_owned(), part.weight));
        let rows: Vec<_> = rows.collect();
        ui.row("")?;
        print(ui, "inside messages", &["blocks", "size"], &rows)?;
    }
    let mut tools: Vec<_> = sums.tools.iter().filter(|tool| tool.results > 0).collect();
    tools.sort_by_key(|tool| Reverse(tool.bytes));
    if !tools.is_empty() {
        let rows = tools.into_iter().map(|tool| {
            let name = tool.tool.clone().unwrap_or_else(|| "(no name)".to_owned());
            let (count, bytes) = (tool.results, tool.bytes);
            row(name, Weight { count, bytes })
        });
        let rows: Vec<_> = rows.collect();
        ui.row("")?;
        print(ui, "results by tool", &["results", "size"], &rows)?;
    }
    Ok(())
}

fn content(content: Content) -> &'static str {
    match content {
        Content::Text => "text",
        Content::Thinking => "thinking",
        Content::ToolCall => "tool calls",
        Content::ToolOutput => "tool output",
        Content::Details => "details of results",
        Content::Image => "images",
    }
}

fn several(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn tokens(n: Number) -> String {
    match n.0 {
        n if !n.is_finite() => "?".to_owned(),
        n if n.abs() >= 1e12 => format!("{n:.1e}"),
        n => thousands(n),
    }
}

/// A price; `+` says that it is not all.
fn price(cost: Option<Number>, unpriced: u64) -> String {
    match cost {
        None if unpriced > 0 => "no price".to_owned(),
        None => "-".to_owned(),
        Some(Number(cost)) if !cost.is_finite() => "?".to_owned(),
        Some(Number(cost)) if cost.abs() >= 1e9 => format!("${cost:.2e}"),
        Some(Number(cost)) => format!("${cost:.3}{}", if unpriced > 0 { "+" } else { "" }),
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is drawn as a bar")]
fn count(n: u64) -> f64 {
    n as f64
}

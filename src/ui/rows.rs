//! A row for an entry: id, who, text, age, label, leaf, in columns that fit the terminal.

use hashbrown::HashSet;

use super::Ui;
use super::describe::{Described, describe, dollars, thousands};
use super::record::Marks;
use super::sanitize::one_line;
use super::style::{Mark, Painter};
use super::width::{cut, fit, width};
use crate::entry::{Entry, Role};
use crate::error::Result;
use crate::json::Raw;
use crate::rev::syntax::quote_name;
use crate::session::Session;
use crate::store::index::Ix;
use crate::time;

/// What a row says, before it is laid out.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) described: Described,
    /// Tool results that are hidden between this entry and the visible one above it.
    pub(crate) tools: usize,
    /// `  [label]  ← @`.
    pub(crate) suffix: Vec<(Mark, String)>,
    pub(crate) on_path: bool,
    age: String,
    /// Model and cost of an answer.
    extra: Option<(String, String)>,
}

/// How ids are shortened in one session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shortener {
    len: usize,
}

/// Ids of this many characters are shown whole, as pi's own are.
const WHOLE: usize = 8;

impl Shortener {
    /// The fewest characters, at least `least`, that tell the ids read so far apart.
    pub(crate) fn new(session: &Session, least: usize) -> Shortener {
        let index = session.index();
        let ids: Vec<_> = index
            .newest_first()
            .filter(|&ix| index.is_current(ix))
            .collect();
        let tells_apart = |len: &usize| {
            let mut seen = HashSet::with_capacity(ids.len());
            ids.iter().all(|&ix| {
                let id = index.id_text(ix);
                seen.insert(id.chars().take(*len).collect::<String>())
            })
        };
        let len = (least..=WHOLE)
            .chain([12, 16, 24])
            .find(tells_apart)
            .unwrap_or(usize::MAX);
        Shortener { len }
    }

    /// The id, or a beginning of it that names the same entry.
    pub(crate) fn short(self, id: &str) -> String {
        let quoted = quote_name(id);
        if quoted.len() != id.len() {
            return one_line(&quoted);
        }
        // Only what looks like random hex is cut: other ids are names.
        if id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') {
            return id.chars().take(self.len).collect();
        }
        id.to_owned()
    }
}

/// Columns for rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    width: usize,
    id: usize,
    who: usize,
    /// Where text ends, the graph's columns counted in.
    text: usize,
    suffix: usize,
    unicode: bool,
    pub(crate) now: i64,
    pub(crate) short: Shortener,
}

/// Under this many columns, ids and roles shrink.
const NARROW: usize = 60;
/// From this many columns on, model and cost are shown.
const WIDE: usize = 140;
const MODEL: usize = 20;
const COST: usize = 8;
const AGE: usize = 4;
/// Text has this many columns before labels have any.
const TEXT: usize = 8;
/// Who it is takes no more where it has no column of its own: a role can be any string.
const WHO: usize = 24;

impl Layout {
    pub(crate) fn new(ui: &Ui, session: &Session, now: i64, ascii: bool) -> Layout {
        let narrow = ui.width < NARROW;
        let short = Shortener::new(session, if narrow { 4 } else { WHOLE });
        Layout {
            width: ui.width,
            id: 0,
            who: if narrow { 4 } else { 9 },
            text: 0,
            suffix: 0,
            unicode: ui.unicode() && !ascii,
            now,
            short,
        }
    }

    /// Where the leaf is.
    pub(crate) fn leaf_mark(&self) -> &'static str {
        if self.unicode { "← @" } else { "<- @" }
    }

    /// What stands for what was cut.
    pub(crate) fn ellipsis(&self) -> &'static str {
        if self.unicode { "…" } else { "~" }
    }

    /// Gathers what a row says.
    pub(crate) fn row(&self, session: &Session, ix: Ix, marks: &Marks, leaf: bool) -> Result<Row> {
        let line = session.line(ix)?;
        let label = session.label(ix)?;
        let mut suffix = Vec::new();
        if let Some(label) = label {
            suffix.push((Mark::Label, format!("[{}]", one_line(&label))));
        }
        if leaf {
            suffix.push((Mark::Leaf, self.leaf_mark().to_owned()));
        }
        let then = session.index().time(ix);
        Ok(Row {
            id: self.short.short(&session.id(ix)),
            described: describe(session, ix, &line)?,
            tools: 0,
            suffix,
            on_path: marks.on_path(ix),
            age: then.map_or_else(|| "-".to_owned(), |then| time::ago(self.now, then)),
            extra: (self.width >= WIDE).then(|| model_and_cost(session, ix, &line)),
        })
    }

    /// Makes room for what the rows need, each behind a graph of so many columns: no column is
    /// wider than what stands in it.
    pub(crate) fn measure<'r>(&mut self, rows: impl Iterator<Item = (usize, &'r Row)>) {
        for (indent, row) in rows {
            self.measure_id(row);
            let text = with_count(&row.described.text, row.tools, self.width, "");
            self.text = self.text.max(indent + width(&text));
            self.suffix = self.suffix.max(suffix_width(row)).min(self.width / 4);
        }
    }

    /// Makes room for one more id.
    pub(crate) fn measure_id(&mut self, row: &Row) {
        self.id = self.id.max(width(&row.id).min(self.width / 4).max(4));
    }

    /// A row of the tree: id, lines and branch, who, text, label, leaf.
    pub(crate) fn render_tree(&self, ui: &Ui, row: &Row, lead: &str) -> String {
        let mark = self.ellipsis();
        let most = if self.width < NARROW {
            self.width / 3
        } else {
            self.width / 2
        };
        let lead = cut(lead, most, "");
        let who = cut(self.who(row), WHO, mark);
        let suffix = self.suffixes(row);
        let used = self.id + 2 + width(&lead) + width(&who) + 2 + total_width(&suffix);
        let room = self.width.saturating_sub(used).max(TEXT);
        let text = with_count(&row.described.text, row.tools, room, mark);
        let mut line = Line::new(ui, row.on_path, self.width, mark);
        line.push(Mark::Id, &fit(&row.id, self.id, mark));
        line.push(Mark::Plain, "  ");
        line.push_always(Mark::Dim, &lead);
        line.push(row.described.mark, &format!("{who}:"));
        line.push(Mark::Plain, " ");
        line.push(Mark::Plain, &text);
        line.push_suffixes(&suffix);
        line.finish()
    }

    /// The row in columns, behind a graph that takes `indent` of them.
    pub(crate) fn render(&self, ui: &Ui, row: &Row, indent: usize) -> String {
        let mark = self.ellipsis();
        let extra = if self.width >= WIDE {
            MODEL + COST + 2
        } else {
            0
        };
        // Where there is little room, only the rows that end in a label or mark give way to it.
        let suffix = if self.width < NARROW {
            suffix_width(row).min(self.width / 4)
        } else {
            self.suffix
        };
        let fixed = self.id + 1 + self.who + 2 + extra + 1 + AGE;
        let free = self.width.saturating_sub(indent + fixed);
        let suffix = suffix.min(free.saturating_sub(TEXT));
        let room = (free - suffix).min(self.text.saturating_sub(indent));
        let text = with_count(&row.described.text, row.tools, room, mark);

        let mut line = Line::new(ui, row.on_path, self.width.saturating_sub(indent), mark);
        line.push(Mark::Id, &fit(&row.id, self.id, mark));
        line.push(Mark::Plain, " ");
        line.push(row.described.mark, &fit(self.who(row), self.who, mark));
        line.push(Mark::Plain, "  ");
        line.push(Mark::Plain, &fit(&text, room, mark));
        if extra > 0 {
            let (model, cost) = row.extra.clone().unwrap_or_default();
            let columns = format!(" {} {cost:>COST$}", fit(&model, MODEL, mark));
            line.push_always(Mark::Dim, &columns);
        }
        line.push_always(Mark::Dim, &format!(" {:>AGE$}", row.age));
        let mut left = suffix;
        for (kind, text) in &row.suffix {
            let text = cut(text, left.saturating_sub(2), mark);
            left = left.saturating_sub(width(&text) + 2);
            if !text.is_empty() {
                line.push(Mark::Plain, "  ");
                line.push(*kind, &text);
            }
        }
        line.finish()
    }

    /// The row without columns: id, who, text, label, leaf.
    pub(crate) fn render_oneline(&self, ui: &Ui, row: &Row, indent: usize) -> String {
        let mark = self.ellipsis();
        let id = cut(&row.id, (self.width / 4).max(WHOLE), mark);
        let who = cut(self.who(row), WHO, mark);
        let suffix = self.suffixes(row);
        let fixed = width(&id) + 1 + width(&who) + 2 + total_width(&suffix);
        let room = self.width.saturating_sub(indent + fixed).max(TEXT);
        let text = with_count(&row.described.text, row.tools, room, mark);
        let mut line = Line::new(ui, row.on_path, self.width.saturating_sub(indent), mark);
        line.push(Mark::Id, &id);
        line.push(Mark::Plain, " ");
        line.push(row.described.mark, &who);
        line.push(Mark::Plain, "  ");
        line.push(Mark::Plain, &text);
        line.push_suffixes(&suffix);
        line.finish()
    }

    /// Label and leaf, none longer than a quarter of the row.
    fn suffixes(&self, row: &Row) -> Vec<(Mark, String)> {
        let cut = |text: &str| cut(text, self.width / 4, self.ellipsis());
        row.suffix
            .iter()
            .map(|(kind, text)| (*kind, cut(text)))
            .collect()
    }

    fn who<'r>(&self, row: &'r Row) -> &'r str {
        if self.width < NARROW {
            row.described.short_who
        } else {
            &row.described.who
        }
    }
}

fn suffix_width(row: &Row) -> usize {
    total_width(&row.suffix)
}

fn total_width(suffixes: &[(Mark, String)]) -> usize {
    suffixes.iter().map(|(_, text)| width(text) + 2).sum()
}

/// A row under construction: what would go past the last column is cut.
pub(super) struct Line {
    out: String,
    room: usize,
    painter: Painter,
    on_path: bool,
    ellipsis: &'static str,
}

impl Line {
    pub(super) fn new(ui: &Ui, on_path: bool, room: usize, ellipsis: &'static str) -> Line {
        Line {
            out: String::new(),
            room,
            painter: ui.painter,
            on_path,
            ellipsis,
        }
    }

    /// Adds a piece, in its style on the path to the leaf and dim elsewhere.
    pub(super) fn push(&mut self, mark: Mark, text: &str) {
        self.push_always(if self.on_path { mark } else { Mark::Dim }, text);
    }

    /// Adds a piece in its style.
    fn push_always(&mut self, mark: Mark, text: &str) {
        let text = cut(text, self.room, self.ellipsis);
        self.room -= width(&text);
        if text.trim().is_empty() {
            self.out.push_str(&text);
        } else {
            self.out.push_str(&self.painter.paint(mark, &text));
        }
    }

    fn push_suffixes(&mut self, suffixes: &[(Mark, String)]) {
        for (mark, text) in suffixes {
            self.push(Mark::Plain, "  ");
            self.push(*mark, text);
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.out.truncate(self.out.trim_end().len());
        self.out
    }
}

/// The text, and how many tool results are folded into it, in at most `room` columns.
pub(crate) fn with_count(text: &str, tools: usize, room: usize, mark: &str) -> String {
    if tools == 0 {
        return cut(text, room, mark);
    }
    let count = format!("({tools} {})", if tools == 1 { "tool" } else { "tools" });
    let text = cut(text, room.saturating_sub(width(&count) + 1), mark);
    let space = if text.is_empty() { "" } else { " " };
    cut(&format!("{text}{space}{count}"), room, mark)
}

/// The model and the cost of an answer; empty for anything else.
fn model_and_cost(session: &Session, ix: Ix, line: &[u8]) -> (String, String) {
    if session.role(ix) != Role::Assistant {
        return Default::default();
    }
    let message = Entry::new(line).message().unwrap_or_default();
    let model = message.str("model").unwrap_or_default();
    let usage = message.get("usage").unwrap_or_default();
    let cost = usage
        .get("cost")
        .and_then(|c| c.get("total"))
        .and_then(Raw::as_f64);
    let cost = match cost {
        Some(cost) => dollars(cost),
        None => usage
            .get("totalTokens")
            .and_then(Raw::as_f64)
            .map_or_else(String::new, thousands),
    };
    (one_line(&model), cost)
}

//! What a session, or a part of it, adds up to: messages, tokens, cost, models, days, tools, bytes.
//!
//! The sums are pi's: over all entries, branches that were left and history that was compacted
//! included, added in the order of the file. A price that is not there is not 0: it adds nothing
//! to a sum, but is counted.

mod gather;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::error::Result;
use crate::json::js;
use crate::session::Session;
use crate::store::index::Ix;
use crate::time;
use gather::{Bill, Gathered, Tally};

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// A number as JavaScript adds it up and prints it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        RawValue::from_string(js::number(self.0))
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

/// Messages by who speaks, and tool calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are pi's own")]
pub struct Messages {
    pub user: u64,
    pub assistant: u64,
    pub tool_result: u64,
    /// Calls inside the assistant's messages.
    pub tool_call: u64,
    /// Messages of any role.
    pub total: u64,
}

/// Tokens by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are pi's own")]
pub struct Tokens {
    pub input: Number,
    pub output: Number,
    pub cache_read: Number,
    pub cache_write: Number,
    pub total: Number,
}

/// What one model took.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelUse {
    /// Provider and model; `None` where neither is named. Tool results and summaries have one name
    /// of their own.
    pub model: Option<String>,
    /// How many times it was asked.
    pub requests: u64,
    /// Tokens of all kinds.
    pub tokens: Number,
    /// What it cost; `None` where no price is known.
    pub cost: Option<Number>,
    /// Requests that took tokens and have no price.
    pub unpriced: u64,
}

/// What one day took.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DayUse {
    /// The day in UTC, `2026-01-31`; `None` for entries without a date.
    pub day: Option<String>,
    /// Messages of any role.
    pub messages: u64,
    /// Tokens of all kinds.
    pub tokens: Number,
    /// What it cost; `None` where no price is known.
    pub cost: Option<Number>,
    /// Requests that took tokens and have no price.
    pub unpriced: u64,
}

/// How often a tool was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolUse {
    /// Its name; `None` where calls or results have none.
    pub tool: Option<String>,
    /// Calls by the model.
    pub calls: u64,
    /// Results, which a call that was broken off lacks.
    pub results: u64,
    /// Results that are errors.
    pub failures: u64,
    /// Bytes of the lines that hold its results.
    pub bytes: u64,
}

/// How many of a kind there are, and how much of the file they take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Weight {
    /// How many.
    pub count: u64,
    /// Bytes as stored.
    pub bytes: u64,
}

impl Weight {
    fn add(&mut self, bytes: u64) {
        self.take(Weight { count: 1, bytes });
    }

    fn take(&mut self, other: Weight) {
        self.count += other.count;
        self.bytes += other.bytes;
    }
}

/// What is inside messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Content {
    Text,
    Thinking,
    ToolCall,
    /// Text of tool results.
    ToolOutput,
    /// What a tool keeps beside its result.
    Details,
    Image,
}

/// All kinds of content, each at its number.
const CONTENTS: [Content; 6] = [
    Content::Text,
    Content::Thinking,
    Content::ToolCall,
    Content::ToolOutput,
    Content::Details,
    Content::Image,
];

/// The entries of one type, or the messages of one role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypeSize {
    /// `type` as stored.
    #[serde(rename = "type")]
    pub kind: String,
    /// The role of messages; `None` for other entries, and where a message has none.
    pub role: Option<String>,
    /// How many, and how large.
    #[serde(flatten)]
    pub weight: Weight,
}

/// What one kind of content takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContentSize {
    /// Which.
    pub content: Content,
    /// How many blocks, and how large.
    #[serde(flatten)]
    pub weight: Weight,
}

/// What fills a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Size {
    /// Bytes of the file, or of the entries that were asked for.
    pub bytes: u64,
    /// Bytes that belong to no entry: the header, blank and damaged lines.
    pub other: u64,
    /// By type and role, the largest first.
    pub by_type: Vec<TypeSize>,
    /// By what is inside messages, the largest first. A part of the above.
    pub by_content: Vec<ContentSize>,
}

/// What a session, or a part of it, adds up to.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Messages.
    pub messages: Messages,
    /// Tokens.
    pub tokens: Tokens,
    /// All prices that are known.
    pub cost: Number,
    /// Requests that took tokens and have no price.
    pub unpriced: u64,
    /// By model, the dearest first, without those that took nothing.
    pub by_model: Vec<ModelUse>,
    /// By day.
    pub by_day: Vec<DayUse>,
    /// By tool, the most called first.
    pub tools: Vec<ToolUse>,
    /// What fills the file.
    pub size: Size,
}

impl Stats {
    /// The statistics of all entries of a session. One pass over the file.
    pub fn of_all(session: &Session) -> Result<Stats> {
        let mut stats = Stats::add_up(session.pass_all()?);
        let size = &mut stats.size;
        size.other = session.size().saturating_sub(size.bytes);
        size.bytes += size.other;
        Ok(stats)
    }

    /// The statistics of some entries, added up in the order given.
    pub fn of(session: &Session, entries: &[Ix]) -> Result<Stats> {
        Ok(Stats::add_up(session.pass(entries)?))
    }

    fn add_up(parts: Vec<Gathered>) -> Stats {
        let mut stats = Stats::default();
        let mut sums = [0.0; 4];
        let mut all = Account::default();
        let mut models: Tally<Account> = Tally::default();
        let mut days: BTreeMap<Option<i32>, (u64, Account)> = BTreeMap::new();
        let mut tools: Tally<gather::ToolCount> = Tally::default();
        let mut types: Tally<Weight> = Tally::default();
        let mut roles: Tally<Weight> = Tally::default();
        let mut contents = CONTENTS.map(|content| (content, Weight::default()));
        for part in parts {
            stats.messages.take(part.messages);
            for bill in &part.bills {
                for (sum, n) in sums.iter_mut().zip(bill.usage.tokens) {
                    *sum += n;
                }
                all.add(bill);
                models.at(&part.payers.rows[bill.payer].0).add(bill);
                days.entry(bill.day).or_default().1.add(bill);
            }
            for (day, messages) in part.days {
                days.entry(day).or_default().0 += messages;
            }
            for (name, tool) in &part.tools.rows {
                tools.at(name).take(*tool);
            }
            for (sums, parts) in [(&mut types, &part.types), (&mut roles, &part.roles)] {
                for (name, weight) in &parts.rows {
                    sums.at(name).take(*weight);
                }
            }
            for ((_, sum), weight) in contents.iter_mut().zip(part.contents) {
                sum.take(weight);
            }
        }
        let [input, output, cache_read, cache_write] = sums;
        stats.tokens = Tokens {
            input: Number(input),
            output: Number(output),
            cache_read: Number(cache_read),
            cache_write: Number(cache_write),
            total: Number(input + output + cache_read + cache_write),
        };
        stats.cost = Number(all.cost);
        stats.unpriced = all.unpriced;
        stats.by_model = by_model(models);
        stats.by_day = by_day(days);
        stats.tools = by_tool(tools);
        stats.size = size(types, roles, contents);
        stats
    }
}

impl Messages {
    fn take(&mut self, other: Messages) {
        self.user += other.user;
        self.assistant += other.assistant;
        self.tool_result += other.tool_result;
        self.tool_call += other.tool_call;
        self.total += other.total;
    }
}

impl gather::ToolCount {
    fn take(&mut self, other: gather::ToolCount) {
        self.calls += other.calls;
        self.results += other.results;
        self.failures += other.failures;
        self.bytes += other.bytes;
    }
}

/// A sum of bills.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    requests: u64,
    tokens: [f64; 4],
    cost: f64,
    /// The sum of the prices that can be paid, and whether there was one.
    known: Option<f64>,
    unpriced: u64,
}

impl Account {
    fn add(&mut self, bill: &Bill) {
        self.requests += 1;
        for (sum, n) in self.tokens.iter_mut().zip(bill.usage.tokens) {
            *sum += n;
        }
        self.cost += bill.usage.cost.unwrap_or_default();
        match bill.usage.cost.filter(|cost| cost.is_finite()) {
            Some(cost) => *self.known.get_or_insert_default() += cost,
            None if bill.usage.tokens.iter().any(|&n| n != 0.0) => self.unpriced += 1,
            None => {}
        }
    }

    fn total(&self) -> f64 {
        // In pi's order: each kind is summed first.
        self.tokens.iter().sum()
    }

    fn price(&self) -> Option<Number> {
        self.known.map(Number)
    }
}

/// A name; an empty one is none.
fn named(name: String) -> Option<String> {
    (!name.is_empty()).then_some(name)
}

fn by_model(models: Tally<Account>) -> Vec<ModelUse> {
    let rows = models.rows.into_iter();
    let mut rows: Vec<_> = rows
        .filter(|(_, sum)| sum.cost > 0.0 || sum.total() > 0.0)
        .map(|(name, sum)| ModelUse {
            model: named(name),
            requests: sum.requests,
            tokens: Number(sum.total()),
            cost: sum.price(),
            unpriced: sum.unpriced,
        })
        .collect();
    // A stable sort: what costs the same stays in the order in which it first came.
    let cost = |row: &ModelUse| row.cost.unwrap_or_default().0;
    rows.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    rows
}

fn by_day(days: BTreeMap<Option<i32>, (u64, Account)>) -> Vec<DayUse> {
    let row = |(day, (messages, sum)): (Option<i32>, (u64, Account))| DayUse {
        day: day.and_then(date),
        messages,
        tokens: Number(sum.total()),
        cost: sum.price(),
        unpriced: sum.unpriced,
    };
    let mut rows: Vec<_> = days.into_iter().map(row).collect();
    // Entries without a date sort before the first day; they are what is left over.
    rows.sort_by_key(|row| row.day.is_none());
    rows
}

fn date(day: i32) -> Option<String> {
    let text = time::format(i64::from(day) * DAY)?;
    text.split_once('T').map(|(date, _)| date.to_owned())
}

fn by_tool(tools: Tally<gather::ToolCount>) -> Vec<ToolUse> {
    let row = |(name, sum): (String, gather::ToolCount)| ToolUse {
        tool: named(name),
        calls: sum.calls,
        results: sum.results,
        failures: sum.failures,
        bytes: sum.bytes,
    };
    let mut rows: Vec<_> = tools.rows.into_iter().map(row).collect();
    rows.sort_by(|a, b| (b.calls, b.results, &a.tool).cmp(&(a.calls, a.results, &b.tool)));
    rows
}

fn size(
    types: Tally<Weight>,
    roles: Tally<Weight>,
    contents: [(Content, Weight); CONTENTS.len()],
) -> Size {
    let row = |kind: String, role, weight| TypeSize { kind, role, weight };
    let bytes = types.rows.iter().map(|(_, weight)| weight.bytes).sum();
    let entries = types.rows.into_iter();
    let mut by_type: Vec<_> = entries
        .filter(|(kind, _)| kind != "message")
        .map(|(kind, weight)| row(kind, None, weight))
        .collect();
    let messages = roles.rows.into_iter();
    by_type.extend(messages.map(|(role, weight)| row("message".to_owned(), named(role), weight)));
    by_type.sort_by_key(|row| Reverse(row.weight.bytes));
    let mut by_content: Vec<_> = contents
        .into_iter()
        .filter(|(_, weight)| weight.count > 0)
        .map(|(content, weight)| ContentSize { content, weight })
        .collect();
    by_content.sort_by_key(|row| Reverse(row.weight.bytes));
    Size {
        bytes,
        other: 0,
        by_type,
        by_content,
    }
}

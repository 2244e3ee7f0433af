//! What statistics need of each entry, kept while the entry is validated, so that no line is read
//! twice and no text is held.
//!
//! Keys come in any order, and the last of a repeated one counts, so a line is weighed only when
//! it has ended. Counts are summed at once; usage is kept one by one, because the sum of floating
//! numbers depends on their order.

use std::collections::BTreeMap;

use crate::entry::{Kind, Role};
use crate::json::scan::{Bad, Key, Shape, Window};
use crate::store::index::{Along, Passed};

use super::{CONTENTS, Content, Messages, Weight};

/// Sums by name, in the order in which the names came.
#[derive(Debug)]
pub(super) struct Tally<T> {
    places: hashbrown::HashMap<String, usize>,
    pub(super) rows: Vec<(String, T)>,
}

impl<T> Default for Tally<T> {
    fn default() -> Self {
        Tally {
            places: hashbrown::HashMap::new(),
            rows: Vec::new(),
        }
    }
}

impl<T: Default> Tally<T> {
    /// The place of a name; a new one gets the next.
    pub(super) fn place(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.rows.len();
        self.places.insert(name.to_owned(), place);
        self.rows.push((name.to_owned(), T::default()));
        place
    }

    /// What is summed under a name.
    pub(super) fn at(&mut self, name: &str) -> &mut T {
        let place = self.place(name);
        &mut self.rows[place].1
    }
}

/// What one answer, or another request to a model, took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usage {
    /// Input, output, read from the cache, written to it. What is no number counts as nothing.
    pub(super) tokens: [f64; 4],
    /// The price, if there is one. It may be infinite.
    pub(super) cost: Option<f64>,
}

/// A usage, to whom it goes and on which day.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bill {
    pub(super) usage: Usage,
    pub(super) payer: usize,
    pub(super) day: Option<i32>,
}

/// What is counted of a tool.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ToolCount {
    pub(super) calls: u64,
    pub(super) results: u64,
    pub(super) failures: u64,
    pub(super) bytes: u64,
}

/// What a stretch of entries adds up to.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) messages: Messages,
    pub(super) bills: Vec<Bill>,
    /// To whom bills go: models, and one bucket for all else.
    pub(super) payers: Tally<()>,
    /// Messages of each day.
    pub(super) days: BTreeMap<Option<i32>, u64>,
    /// By name; the empty one is that of no name.
    pub(super) tools: Tally<ToolCount>,
    /// By type.
    pub(super) types: Tally<Weight>,
    /// Messages by role.
    pub(super) roles: Tally<Weight>,
    pub(super) contents: [Weight; CONTENTS.len()],
    line: Line,
    scratch: Vec<u8>,
}

/// The name under which usage goes that no model is named for, as pi has it.
pub(super) const ELSEWHERE: &str = "Tools/summaries";

/// A value where a word is expected.
#[derive(Debug, Default)]
struct Word {
    is_there: bool,
    text: Vec<u8>,
}

impl Word {
    fn clear(&mut self) {
        self.is_there = false;
        self.text.clear();
    }

    fn read(&mut self, window: &mut Window<'_>) -> Result<(), Bad> {
        self.is_there = window.capture(&mut self.text)? != Shape::Null;
        Ok(())
    }

    fn text(&self) -> &str {
        // Captured text is UTF-8.
        std::str::from_utf8(&self.text).unwrap_or_default()
    }
}

/// What one line holds, as far as it was read.
#[derive(Debug, Default)]
struct Line {
    /// The entry's own usage, provider and model, as `usage` entries and summaries have them.
    usage: Option<Usage>,
    provider: Word,
    model: Word,
    message: Message,
    content: Blocks,
}

/// What the message of the line holds.
#[derive(Debug, Default)]
struct Message {
    usage: Option<Usage>,
    provider: Word,
    model: Word,
    response_model: Word,
    tool: Word,
    failed: bool,
    details: u64,
    content: Blocks,
}

/// The blocks of a content.
#[derive(Debug, Default)]
struct Blocks {
    /// The names of the tools that are called.
    calls: Vec<String>,
    weights: [Weight; CONTENTS.len()],
}

impl Blocks {
    fn clear(&mut self) {
        self.calls.clear();
        self.weights = Default::default();
    }

    fn add(&mut self, what: Content, bytes: u64) {
        self.weights[what as usize].add(bytes);
    }

    fn read(&mut self, window: &mut Window<'_>, scratch: &mut Vec<u8>) -> Result<(), Bad> {
        self.clear();
        let start = window.offset();
        let shape = window.elements(|w| self.block(w, scratch))?;
        if shape == Shape::String {
            self.add(Content::Text, window.offset() - start);
        }
        Ok(())
    }

    fn block(&mut self, window: &mut Window<'_>, kind: &mut Vec<u8>) -> Result<(), Bad> {
        if !window.enter_object()? {
            return Ok(());
        }
        // The brace has been passed.
        let start = window.offset() - 1;
        let mut name = Vec::new();
        kind.clear();
        window.members(|w, key| match key {
            Key::Type => w.capture_string(kind),
            Key::Name => w.capture(&mut name).map(|_| ()),
            _ => w.skip_value().map(|_| ()),
        })?;
        let what = match kind.as_slice() {
            b"text" => Content::Text,
            b"thinking" => Content::Thinking,
            b"toolCall" => Content::ToolCall,
            b"image" => Content::Image,
            _ => return Ok(()),
        };
        if what == Content::ToolCall {
            self.calls.push(String::from_utf8_lossy(&name).into_owned());
        }
        self.add(what, window.offset() - start);
        Ok(())
    }
}

impl Message {
    fn clear(&mut self) {
        self.usage = None;
        self.provider.clear();
        self.model.clear();
        self.response_model.clear();
        self.tool.clear();
        self.failed = false;
        self.details = 0;
        self.content.clear();
    }
}

/// Reads a usage. What JavaScript takes for true is one; only an object holds anything.
fn usage(window: &mut Window<'_>, scratch: &mut Vec<u8>) -> Result<Option<Usage>, Bad> {
    let mut usage = Usage::default();
    if !window.enter_object()? {
        return Ok(None);
    }
    window.members(|w, key| {
        let at = match key {
            Key::Input => 0,
            Key::Output => 1,
            Key::CacheRead => 2,
            Key::CacheWrite => 3,
            Key::Cost => {
                usage.cost = None;
                if !w.enter_object()? {
                    return Ok(());
                }
                return w.members(|w, key| {
                    if key != Key::Total {
                        return w.skip_value().map(|_| ());
                    }
                    usage.cost = w.number_value(scratch)?;
                    Ok(())
                });
            }
            _ => return w.skip_value().map(|_| ()),
        };
        usage.tokens[at] = w.number_value(scratch)?.unwrap_or_default();
        Ok(())
    })?;
    Ok(Some(usage))
}

impl Along for Gathered {
    fn begin(&mut self) {
        let line = &mut self.line;
        line.usage = None;
        line.provider.clear();
        line.model.clear();
        line.content.clear();
        line.message.clear();
    }

    fn begin_message(&mut self) {
        self.line.message.clear();
    }

    fn member(&mut self, window: &mut Window<'_>, key: Key) -> Result<(), Bad> {
        let line = &mut self.line;
        match key {
            Key::Usage => line.usage = usage(window, &mut self.scratch)?,
            Key::Provider => line.provider.read(window)?,
            Key::Model => line.model.read(window)?,
            Key::Content => line.content.read(window, &mut self.scratch)?,
            _ => {
                window.skip_value()?;
            }
        }
        Ok(())
    }

    fn message_member(&mut self, window: &mut Window<'_>, key: Key) -> Result<(), Bad> {
        let message = &mut self.line.message;
        match key {
            Key::Usage => message.usage = usage(window, &mut self.scratch)?,
            Key::Provider => message.provider.read(window)?,
            Key::Model => message.model.read(window)?,
            Key::ResponseModel => message.response_model.read(window)?,
            Key::ToolName => message.tool.read(window)?,
            Key::IsError => {
                message.failed = window.number_value(&mut self.scratch)? == Some(1.0);
            }
            Key::Content => message.content.read(window, &mut self.scratch)?,
            Key::Details => {
                let start = window.offset();
                window.skip_value()?;
                message.details = window.offset() - start;
            }
            _ => {
                window.skip_value()?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, head: &Passed<'_>) {
        let day = head
            .time
            .and_then(|ms| i32::try_from(ms.div_euclid(super::DAY)).ok());
        let kind = head.kind.name().map_or_else(
            || String::from_utf8_lossy(head.kind_name),
            std::borrow::Cow::Borrowed,
        );
        self.types.at(&kind).add(head.bytes);
        match head.kind {
            Kind::Message => self.message(head, day),
            Kind::CustomMessage => {
                let weights = self.line.content.weights;
                self.weigh(weights);
            }
            Kind::Usage => {
                let payer = model(&self.line.provider, &self.line.model);
                self.bill(self.line.usage, &payer, day);
            }
            Kind::BranchSummary | Kind::Compaction => self.bill(self.line.usage, ELSEWHERE, day),
            _ => {}
        }
    }
}

impl Gathered {
    fn message(&mut self, head: &Passed<'_>, day: Option<i32>) {
        self.messages.total += 1;
        *self.days.entry(day).or_default() += 1;
        let role = match head.role {
            Role::Other => String::from_utf8_lossy(head.role_name),
            role => role.name().into(),
        };
        self.roles.at(&role).add(head.bytes);
        let mut weights = self.line.message.content.weights;
        match head.role {
            Role::User => self.messages.user += 1,
            Role::Assistant => self.answer(day),
            Role::ToolResult => {
                self.result(head.bytes, day);
                // What a tool says is no text of the conversation.
                weights[Content::ToolOutput as usize] =
                    std::mem::take(&mut weights[Content::Text as usize]);
                if self.line.message.details > 0 {
                    weights[Content::Details as usize].add(self.line.message.details);
                }
            }
            _ => {}
        }
        self.weigh(weights);
    }

    fn answer(&mut self, day: Option<i32>) {
        let message = &self.line.message;
        self.messages.assistant += 1;
        self.messages.tool_call += message.content.calls.len() as u64;
        for name in &message.content.calls {
            self.tools.at(name).calls += 1;
        }
        let named = if message.response_model.is_there {
            &message.response_model
        } else {
            &message.model
        };
        let payer = model(&message.provider, named);
        self.bill(message.usage, &payer, day);
    }

    fn result(&mut self, bytes: u64, day: Option<i32>) {
        let message = &self.line.message;
        self.messages.tool_result += 1;
        let tool = self.tools.at(message.tool.text());
        tool.results += 1;
        tool.failures += u64::from(message.failed);
        tool.bytes += bytes;
        self.bill(message.usage, ELSEWHERE, day);
    }

    fn bill(&mut self, usage: Option<Usage>, payer: &str, day: Option<i32>) {
        let Some(usage) = usage else { return };
        let payer = self.payers.place(payer);
        self.bills.push(Bill { usage, payer, day });
    }

    fn weigh(&mut self, weights: [Weight; CONTENTS.len()]) {
        for (sum, weight) in self.contents.iter_mut().zip(weights) {
            sum.take(weight);
        }
    }
}

/// The name of a model: its provider's and its own; empty where there is neither.
fn model(provider: &Word, model: &Word) -> String {
    let parts = [provider.text(), model.text()].map(|part| (!part.is_empty()).then_some(part));
    parts.into_iter().flatten().collect::<Vec<_>>().join("/")
}

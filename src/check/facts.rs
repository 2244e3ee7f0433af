//! What is inside entries, kept while they are validated.

use super::{Code, Finding};
use crate::entry::{Kind, Role};
use crate::error::Result;
use crate::json::Raw;
use crate::json::scan::{Bad, Key, Shape, Window};
use crate::session::Session;
use crate::store::header::Migration;
use crate::store::index::{Along, Ix, Passed};

/// What is kept of an entry.
#[derive(Debug, Default)]
pub(crate) struct Fact {
    /// What is wrong with it by itself.
    wrong: Vec<Code>,
    /// The ids of the tool calls in it.
    pub(super) calls: Vec<Box<str>>,
    /// The id of an entry or call that it names.
    pub(super) target: Option<Box<str>>,
    /// Whether it is an answer that broke off.
    pub(super) failed: bool,
}

/// What is kept of all entries, in file order.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    entries: Vec<Fact>,
    line: Line,
    nothing: Fact,
}

/// What one line holds, as far as it was read.
#[derive(Debug, Default)]
struct Line {
    /// Whether `message` is an object.
    has_message: bool,
    usage: Usage,
    name: Option<Shape>,
    target: Option<Box<str>>,
    /// Of an entry with content of its own.
    content: Content,
    message: Message,
    text: Vec<u8>,
}

#[derive(Debug, Default)]
struct Message {
    usage: Usage,
    target: Option<Box<str>>,
    failed: bool,
    content: Content,
}

#[derive(Debug, Default)]
struct Content {
    shape: Option<Shape>,
    bad_block: bool,
    bad_call: bool,
    calls: Vec<Box<str>>,
}

/// How much of a usage is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Usage {
    #[default]
    None,
    WithoutCost,
    Whole,
}

fn usage(window: &mut Window<'_>) -> Result<Usage, Bad> {
    if !window.enter_object()? {
        return Ok(Usage::None);
    }
    let mut usage = Usage::WithoutCost;
    window.members(|w, key| {
        let shape = w.skip_value()?;
        if key == Key::Cost {
            usage = if shape == Shape::Object {
                Usage::Whole
            } else {
                Usage::WithoutCost
            };
        }
        Ok(())
    })?;
    Ok(usage)
}

/// The text of a string or number.
fn word(window: &mut Window<'_>, text: &mut Vec<u8>) -> Result<Option<Box<str>>, Bad> {
    let shape = window.capture(text)?;
    let is_word = matches!(shape, Shape::String | Shape::Number);
    Ok(is_word.then(|| String::from_utf8_lossy(text).into()))
}

impl Content {
    fn read(window: &mut Window<'_>, text: &mut Vec<u8>) -> Result<Content, Bad> {
        let mut content = Content::default();
        let shape = window.elements(|w| content.block(w, text))?;
        content.shape = Some(shape);
        Ok(content)
    }

    fn block(&mut self, window: &mut Window<'_>, text: &mut Vec<u8>) -> Result<(), Bad> {
        if !window.enter_object()? {
            self.bad_block = true;
            return Ok(());
        }
        let (mut is_call, mut id, mut name, mut arguments) = (false, None, None, None);
        // What pi takes the length of.
        let (mut wanted, mut words, mut thoughts) = (Key::Other, None, None);
        window.members(|w, key| {
            match key {
                Key::Type => {
                    w.capture_string(text)?;
                    is_call = text == b"toolCall";
                    wanted = match text.as_slice() {
                        b"text" => Key::Text,
                        b"thinking" => Key::Thinking,
                        _ => Key::Other,
                    };
                }
                Key::Id => id = word(w, text)?,
                Key::Name => name = word(w, text)?,
                Key::Arguments => arguments = Some(w.skip_value()?),
                Key::Text => words = Some(w.skip_value()?),
                Key::Thinking => thoughts = Some(w.skip_value()?),
                _ => {
                    w.skip_value()?;
                }
            }
            Ok(())
        })?;
        self.bad_block |= match wanted {
            Key::Text => words != Some(Shape::String),
            Key::Thinking => thoughts != Some(Shape::String),
            _ => false,
        };
        if is_call {
            self.bad_call |= id.is_none() || name.is_none() || arguments != Some(Shape::Object);
            self.calls.extend(id);
        }
        Ok(())
    }

    /// What is wrong with the content of a message.
    fn wrong(&self, role: Role, wrong: &mut Vec<Code>) {
        let lists = matches!(role, Role::Assistant | Role::ToolResult);
        match self.shape {
            None | Some(Shape::Null) => wrong.push(Code::NoContent),
            Some(Shape::Array) => {}
            Some(Shape::String) if !lists => {}
            Some(_) => wrong.push(Code::BadContent),
        }
        if self.bad_block {
            wrong.push(Code::BadBlock);
        }
        if self.bad_call {
            wrong.push(Code::BadCall);
        }
    }
}

impl Along for Facts {
    fn begin(&mut self) {
        let text = std::mem::take(&mut self.line.text);
        self.line = Line {
            text,
            ..Line::default()
        };
    }

    fn begin_message(&mut self) {
        self.line.message = Message::default();
        self.line.has_message = false;
    }

    fn enter_message(&mut self) {
        self.line.has_message = true;
    }

    fn member(&mut self, window: &mut Window<'_>, key: Key) -> Result<(), Bad> {
        let line = &mut self.line;
        match key {
            Key::Usage => line.usage = usage(window)?,
            Key::Name => line.name = Some(window.skip_value()?),
            Key::Content => line.content = Content::read(window, &mut line.text)?,
            // No entry has two of these.
            Key::TargetId | Key::FirstKeptEntryId | Key::FromId => {
                line.target = word(window, &mut line.text)?;
            }
            _ => {
                window.skip_value()?;
            }
        }
        Ok(())
    }

    fn message_member(&mut self, window: &mut Window<'_>, key: Key) -> Result<(), Bad> {
        let (message, text) = (&mut self.line.message, &mut self.line.text);
        match key {
            Key::Usage => message.usage = usage(window)?,
            Key::Content => message.content = Content::read(window, text)?,
            Key::ToolCallId => message.target = word(window, text)?,
            Key::StopReason => {
                window.capture_string(text)?;
                message.failed = matches!(text.as_slice(), b"error" | b"aborted");
            }
            _ => {
                window.skip_value()?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, head: &Passed<'_>) {
        let line = &mut self.line;
        let mut fact = Fact {
            target: line.target.take(),
            ..Fact::default()
        };
        let wrong = &mut fact.wrong;
        if head.time.is_none() {
            wrong.push(Code::BadTimestamp);
        }
        let mut priced = line.usage;
        match head.kind {
            Kind::Message if !line.has_message => wrong.push(Code::NoMessage),
            Kind::Message => {
                let message = &mut line.message;
                priced = message.usage;
                match head.role {
                    Role::Other => wrong.push(Code::UnknownRole),
                    Role::BashExecution | Role::BranchSummary | Role::CompactionSummary => {}
                    role => message.content.wrong(role, wrong),
                }
                if head.role_name == b"hookMessage" {
                    wrong.push(Code::OldRole);
                }
                if head.role == Role::Assistant {
                    if message.usage == Usage::None {
                        wrong.push(Code::NoUsage);
                    }
                    fact.failed = message.failed;
                    fact.calls = std::mem::take(&mut message.content.calls);
                }
                fact.target = message.target.take();
            }
            Kind::CustomMessage => line.content.wrong(Role::Custom, wrong),
            Kind::SessionInfo if line.name.is_some_and(|shape| shape != Shape::String) => {
                wrong.push(Code::BadName);
            }
            Kind::Other if head.kind_name.is_empty() => wrong.push(Code::NoType),
            Kind::Other => wrong.push(Code::UnknownType),
            _ => {}
        }
        if priced == Usage::WithoutCost {
            wrong.push(Code::NoCost);
        }
        self.entries.push(fact);
    }
}

impl FromIterator<Facts> for Facts {
    fn from_iter<T: IntoIterator<Item = Facts>>(blocks: T) -> Self {
        let mut all = Facts::default();
        for mut block in blocks {
            all.entries.append(&mut block.entries);
        }
        all
    }
}

impl Facts {
    /// What is kept of an entry.
    pub(super) fn of(&self, ix: Ix) -> &Fact {
        // Entries are numbered from the end of the file.
        let place = self.entries.len().checked_sub(1 + ix.at());
        // A file that is cut while it is read may have fewer by now.
        let fact = place.and_then(|place| self.entries.get(place));
        fact.unwrap_or(&self.nothing)
    }

    /// Goes through all entries of a session.
    pub(crate) fn of_all(session: &Session) -> Result<Facts> {
        Ok(session.pass_all::<Facts>()?.into_iter().collect())
    }

    /// What is wrong with an entry by itself.
    pub(crate) fn wrong(&self, ix: Ix) -> &[Code] {
        &self.of(ix).wrong
    }

    /// Tells what is wrong with entries by themselves.
    pub(super) fn check(&self, session: &Session) -> Result<Vec<Finding>> {
        let mut found = Vec::new();
        let entries = session.index().file_order();
        for ix in entries {
            for &code in self.wrong(ix) {
                if code == Code::OldRole && session.migration() != Migration::None {
                    continue;
                }
                let (message, repairable) = about(code, session, ix)?;
                let finding = Finding::of(session, code, ix, message);
                found.push(Finding {
                    repairable,
                    ..finding
                });
            }
            found.extend(odd_id(session, ix)?);
        }
        Ok(found)
    }
}

/// What to say of an entry, and whether it can be set right.
fn about(code: Code, session: &Session, ix: Ix) -> Result<(String, bool)> {
    let quoted = |value: Option<Raw<'_>>| match value {
        Some(value) => value.to_json().chars().take(40).collect(),
        None => "nothing".to_owned(),
    };
    let line = session.line(ix)?;
    let entry = crate::entry::Entry::new(&line);
    let message = entry.message();
    Ok(match code {
        Code::NoMessage => ("the message is missing or no object".to_owned(), false),
        Code::BadTimestamp => {
            let time = quoted(entry.get("timestamp"));
            (format!("the timestamp is no date: {time}"), false)
        }
        Code::UnknownRole => {
            let role = quoted(message.and_then(|m| m.get("role")));
            (format!("no role of pi's: {role}"), false)
        }
        Code::OldRole => (
            "the role is hookMessage, custom since version 3".to_owned(),
            true,
        ),
        Code::NoContent => ("the content is missing or null".to_owned(), true),
        Code::BadContent => ("the content is no list of blocks".to_owned(), true),
        Code::BadBlock => {
            let message = "a block of the content is no object, or has no text where it wants one";
            (message.to_owned(), true)
        }
        Code::BadCall => (
            "a tool call lacks its id, name or arguments".to_owned(),
            false,
        ),
        Code::NoUsage => ("the answer has no usage".to_owned(), true),
        Code::NoCost => ("the usage has no cost".to_owned(), true),
        Code::BadName => ("the name is no string".to_owned(), true),
        Code::NoType => ("the entry has no type".to_owned(), false),
        Code::UnknownType => {
            let kind = quoted(entry.get("type"));
            (format!("no type of pi's: {kind}"), false)
        }
        code => (code.meaning().to_owned(), false),
    })
}

/// An id that is empty or no string. Only what could be a number is looked at again.
fn odd_id(session: &Session, ix: Ix) -> Result<Option<Finding>> {
    let may_be_odd = {
        let index = session.index();
        let id = index.id_text(ix);
        index.id(ix).is_some() && (id.is_empty() || id.parse::<f64>().is_ok())
    };
    if !may_be_odd || session.migration() == Migration::Ids {
        return Ok(None);
    }
    let line = session.line(ix)?;
    let id = Raw::new(&line).get("id");
    let is_good = id.is_some_and(|id| id.is_string() && id.bytes() != b"\"\"");
    let message = "the id is empty, or no string";
    let finding = || Finding {
        repairable: id.is_some_and(Raw::is_string),
        ..Finding::of(session, Code::BadId, ix, message)
    };
    Ok((!is_good).then(finding))
}

//! What a model sees: the path to an entry, turned into messages exactly as pi 1.6.0 does it.
//!
//! [`Projection::build`] walks the path, honours the latest compaction and the context edits, and
//! keeps which entry each message came from. [`estimate`] measures it, [`llm`] turns it into the
//! messages of a request, [`mod@text`] into something to read. Messages stay JSON text, so that
//! numbers, lone surrogates and unknown fields come out as they were stored. No shape of an entry
//! is an error here: what pi fails on contributes nothing.

use hashbrown::HashMap;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::entry::{Entry, Kind, Role};
use crate::error::Result;
use crate::json::Raw;
use crate::session::Session;
use crate::store::header::Migration;
use crate::store::index::Ix;

pub mod estimate;
pub mod llm;
mod message;
pub mod text;

pub use message::Message;

/// The context at an entry, with the entry that each message came from.
#[derive(Debug, Clone)]
pub struct Projection {
    /// The entries that stand in the context, in its order: the latest compaction of the path
    /// first, then what it kept, then what follows it.
    pub entries: Vec<Projected>,
    /// What the last `thinking_level_change` of the path says, `"off"` if there is none; `None`
    /// where it says nothing.
    pub thinking_level: Option<Box<RawValue>>,
    /// The model in force: that of the last `model_change` or assistant message of the path.
    pub model: Option<Model>,
    /// The place on the path of the last compaction or context edit: usage that was measured
    /// before it tells nothing about this context.
    last_change: Option<usize>,
}

/// An entry in the context.
#[derive(Debug, Clone)]
pub struct Projected {
    /// The entry.
    pub source: Ix,
    /// What it contributes, which can be nothing.
    pub messages: Vec<Message>,
    /// Its place on the path from the root, from 0.
    place: usize,
}

/// A model as an entry names it; a part that the entry lacks is left out.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// The provider, as stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<Box<RawValue>>,
    /// The model's id, as stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_id: Option<Box<RawValue>>,
}

impl Model {
    fn of(source: Raw<'_>, id_key: &str) -> Model {
        Model {
            provider: source.get("provider").map(Raw::to_raw_value),
            model_id: source.get(id_key).map(Raw::to_raw_value),
        }
    }

    /// `provider/model`, as people write it.
    pub fn name(&self) -> String {
        let text = |part: &Option<Box<RawValue>>| {
            part.as_deref().map_or_else(String::new, |p| {
                Raw::new(p.get().as_bytes()).to_text().into_owned()
            })
        };
        format!("{}/{}", text(&self.provider), text(&self.model_id))
    }
}

/// The context as `context` prints it; equal as JSON to pi's `buildSessionContext()`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Context<'a> {
    messages: Vec<&'a Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'a RawValue>,
    model: Option<&'a Model>,
}

impl Projection {
    /// Builds the context at an entry, or before the first one. Linear in the length of the path;
    /// only lines that contribute something are read.
    pub fn build(session: &Session, leaf: Option<Ix>) -> Result<Projection> {
        let path = match leaf {
            Some(ix) => session.path_to(ix)?,
            None => Vec::new(),
        };
        let kinds: Vec<Kind> = path.iter().map(|&ix| session.kind(ix)).collect();
        let last_change = kinds
            .iter()
            .rposition(|kind| matches!(kind, Kind::Compaction | Kind::ContextEdit));
        let places = selection(session, &path, &kinds)?;
        let edits = edits(session, &path, &kinds, &places)?;
        let rename = session.migration() != Migration::None;

        let mut entries = Vec::with_capacity(places.len());
        for (nth, &place) in places.iter().enumerate() {
            let (source, kind) = (path[place], kinds[place]);
            // A compaction that an even later one kept has nothing left to say.
            let messages = if is_silent(kind) || (kind == Kind::Compaction && nth > 0) {
                Vec::new()
            } else {
                let edit = edits.get(&session.id(source)).map(|line| Entry::new(line));
                let line = session.line(source)?;
                message::project(Entry::new(&line), edit, rename)
            };
            entries.push(Projected {
                source,
                messages,
                place,
            });
        }
        Ok(Projection {
            entries,
            thinking_level: thinking_level(session, &path, &kinds)?,
            model: model(session, &path, &kinds)?,
            last_change,
        })
    }

    /// The messages, in order.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.entries.iter().flat_map(|entry| &entry.messages)
    }

    /// The entries that contribute at least one message, in the order of the context.
    pub fn sources(&self) -> impl Iterator<Item = Ix> {
        self.entries
            .iter()
            .filter(|entry| !entry.messages.is_empty())
            .map(|entry| entry.source)
    }

    /// The context as JSON: `{"messages":[…],"thinkingLevel":…,"model":…}`.
    pub fn to_context(&self) -> Context<'_> {
        Context {
            messages: self.messages().collect(),
            thinking_level: self.thinking_level.as_deref(),
            model: self.model.as_ref(),
        }
    }

    /// The messages as they go to a model.
    pub fn llm(&self) -> Vec<Message> {
        llm::messages(self.messages())
    }

    /// The context as something to read.
    pub fn text(&self) -> String {
        text::transcript(self.messages())
    }

    /// How many tokens the context takes, as pi 1.6.0 estimates it.
    pub fn tokens(&self) -> serde_json::Number {
        estimate::number(estimate::context(self))
    }
}

/// Kinds that contribute no message, so that their lines need not be read.
fn is_silent(kind: Kind) -> bool {
    !kind.is_message_like()
}

/// The places on the path of the entries that stand in the context, in its order.
fn selection(session: &Session, path: &[Ix], kinds: &[Kind]) -> Result<Vec<usize>> {
    let Some(compaction) = kinds.iter().rposition(|&kind| kind == Kind::Compaction) else {
        return Ok((0..path.len()).collect());
    };
    let line = session.line(path[compaction])?;
    let kept_from = match session.first_kept(Entry::new(&line)) {
        Some(id) => {
            let index = session.index();
            path[..compaction]
                .iter()
                .position(|&ix| index.id(ix) == Some(id.as_bytes()))
                .unwrap_or(compaction)
        }
        None => compaction,
    };
    // The compaction replays the system messages, so kept ones would count twice.
    let is_kept = |&place: &usize| session.role(path[place]) != Role::System;
    let mut places = vec![compaction];
    places.extend((kept_from..compaction).filter(is_kept));
    places.extend(compaction + 1..path.len());
    Ok(places)
}

/// The lines of the context edits that count, by the id of their target: the last one of each.
fn edits(
    session: &Session,
    path: &[Ix],
    kinds: &[Kind],
    places: &[usize],
) -> Result<HashMap<String, Vec<u8>>> {
    let mut edits = HashMap::new();
    for &place in places {
        if kinds[place] != Kind::ContextEdit {
            continue;
        }
        let line = session.line(path[place])?;
        if let Some(target) = Entry::new(&line).get("targetId").and_then(Raw::as_id) {
            edits.insert(target, line);
        }
    }
    Ok(edits)
}

fn thinking_level(session: &Session, path: &[Ix], kinds: &[Kind]) -> Result<Option<Box<RawValue>>> {
    let last = kinds
        .iter()
        .rposition(|&kind| kind == Kind::ThinkingLevelChange);
    let Some(place) = last else {
        return Ok(Some(Raw::new(b"\"off\"").to_raw_value()));
    };
    let line = session.line(path[place])?;
    Ok(Entry::new(&line)
        .get("thinkingLevel")
        .map(Raw::to_raw_value))
}

fn model(session: &Session, path: &[Ix], kinds: &[Kind]) -> Result<Option<Model>> {
    let last = (0..path.len()).rfind(|&place| {
        kinds[place] == Kind::ModelChange || session.role(path[place]) == Role::Assistant
    });
    let Some(place) = last else { return Ok(None) };
    let line = session.line(path[place])?;
    let entry = Entry::new(&line);
    Ok(Some(match entry.message() {
        Some(message) => Model::of(message, "model"),
        None => Model::of(entry.raw(), "modelId"),
    }))
}

#[cfg(test)]
mod tests;

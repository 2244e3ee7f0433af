//! Several entries that are appended together, each the child of the one before. All are checked
//! before one is written.

use hashbrown::HashMap;

use super::build::{Built, Defaults, ModelInForce, Wrong, build};
use crate::context::Projection;
use crate::entry::{Entry, Kind, Role};
use crate::error::{Error, Result};
use crate::json::Raw;
use crate::session::Session;
use crate::store::index::Ix;

/// Where ids and times come from: the edge of the program.
#[derive(Clone, Copy)]
pub struct Fresh<'a> {
    /// Now, in Unix milliseconds.
    pub now: i64,
    /// Now, as pi writes times.
    pub timestamp: &'a str,
    /// Makes an entry id that no other entry has.
    pub new_id: &'a dyn Fn() -> String,
}

/// The entries gathered so far.
pub struct Batch<'a> {
    session: &'a Session,
    fresh: Fresh<'a>,
    start: Option<Ix>,
    model: Option<ModelInForce>,
    lines: Lines,
    /// For each entry, whether a context edit may name it.
    editable: Vec<bool>,
    /// The places of the first so many entries by id; filled when something asks for one.
    places: HashMap<String, usize>,
}

/// The lines of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// The lines, each with its newline.
    pub bytes: Vec<u8>,
    /// The id of each entry; each hangs on the one before.
    pub ids: Vec<String>,
    /// What the first one hangs on.
    pub parent: Option<String>,
}

impl Lines {
    /// The id of the last entry; of the one the first hangs on where there is none.
    pub fn leaf(&self) -> Option<&str> {
        self.ids.last().or(self.parent.as_ref()).map(String::as_str)
    }

    /// Each entry's id and what it hangs on.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let parents = std::iter::once(self.parent.as_deref());
        let parents = parents.chain(self.ids.iter().map(|id| Some(id.as_str())));
        self.ids.iter().map(String::as_str).zip(parents)
    }
}

impl<'a> Batch<'a> {
    /// A batch whose first entry hangs on `start`; `None` makes it a root.
    pub fn new(session: &'a Session, start: Option<Ix>, fresh: Fresh<'a>) -> Batch<'a> {
        let parent = start.map(|ix| session.id(ix));
        Batch {
            session,
            fresh,
            start,
            model: None,
            lines: Lines {
                parent,
                ..Lines::default()
            },
            editable: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Adds a message or an entry, filled in; fails with what is wrong with it. `place` says which
    /// one it is, such as `line 3`.
    pub fn add(&mut self, given: &[u8], place: &dyn std::fmt::Display) -> Result<()> {
        let refuse = |wrong: Wrong| {
            let field = match wrong.field.as_str() {
                "" => String::new(),
                field => format!(" '{field}'"),
            };
            Error::BadEntry {
                message: format!("{place}:{field} {}", wrong.why),
            }
        };
        let id = (self.fresh.new_id)();
        // Looking for the model reads up to the root where none was ever chosen. What cannot be
        // read names none, which an answer that needs one is told.
        let model = || match &self.model {
            Some(model) => model.clone(),
            None => model_at(self.session, self.start).unwrap_or_default(),
        };
        let tokens = || {
            let projection = Projection::build(self.session, self.start);
            projection
                .ok()
                .and_then(|p| p.tokens().as_u64())
                .unwrap_or_default()
        };
        let defaults = Defaults {
            timestamp: self.fresh.timestamp,
            now: self.fresh.now,
            id: &id,
            parent: self.lines.leaf(),
            model: &model,
            tokens_before: &tokens,
        };
        let mut built = build(Raw::new(given), &defaults).map_err(refuse)?;
        if let Some(new) = &mut built.model
            && new.api.is_none()
        {
            // A change of model says nothing of the wire format.
            let before = model();
            let same = before.api.filter(|_| before.provider == new.provider);
            new.api = same.or_else(|| Some(DEFAULT_API.to_owned()));
        }
        let mut wrong = None;
        if built.id != id {
            wrong = self.check_id(&built.id)?;
        }
        if wrong.is_none() {
            wrong = self.check_target(&built)?;
        }
        if let Some(wrong) = wrong {
            return Err(refuse(wrong));
        }
        self.model = built.model.or(self.model.take());
        self.lines.bytes.extend_from_slice(built.line.as_bytes());
        self.lines.bytes.push(b'\n');
        self.lines.ids.push(built.id);
        self.editable.push(is_editable(built.kind, built.role));
        Ok(())
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.lines.ids.is_empty()
    }

    /// The id of the last entry; of the one the batch hangs on where it is empty.
    pub fn leaf(&self) -> Option<&str> {
        self.lines.leaf()
    }

    /// The lines, ready to be appended.
    pub fn finish(self) -> Lines {
        self.lines
    }

    /// The place in the batch of the entry with an id.
    fn place_of(&mut self, id: &str) -> Option<usize> {
        let from = self.places.len();
        for (n, id) in self.lines.ids.iter().enumerate().skip(from) {
            self.places.insert(id.clone(), n);
        }
        self.places.get(id).copied()
    }

    /// An id that the caller chose must be new: it would hide the entry that has it.
    fn check_id(&mut self, id: &str) -> Result<Option<Wrong>> {
        let taken = self.place_of(id).is_some() || self.session.find(id)?.is_some();
        Ok(taken.then(|| Wrong {
            field: "id".into(),
            why: format!("an entry has the id '{id}' already"),
        }))
    }

    /// What a label or an edit names must be there, as pi demands when it makes one.
    fn check_target(&mut self, built: &Built) -> Result<Option<Wrong>> {
        let Some(target) = &built.target else {
            return Ok(None);
        };
        let kind = built.kind;
        let wrong = |why: String| {
            Ok(Some(Wrong {
                field: "targetId".into(),
                why,
            }))
        };
        if let Some(place) = self.place_of(target) {
            return match kind {
                Kind::ContextEdit if !self.editable[place] => wrong(NOT_EDITABLE.into()),
                _ => Ok(None),
            };
        }
        let Some(ix) = self.session.find(target)? else {
            return wrong(format!("no entry has the id '{target}'"));
        };
        if kind == Kind::Label {
            return Ok(None);
        }
        let mut path = self
            .start
            .into_iter()
            .flat_map(|start| self.session.ancestors(start));
        if !path.any(|above| above.is_ok_and(|above| above == ix)) {
            return wrong(format!("'{target}' is not on the path"));
        }
        if !is_editable(self.session.kind(ix), self.session.role(ix)) {
            return wrong(NOT_EDITABLE.into());
        }
        Ok(None)
    }
}

const NOT_EDITABLE: &str =
    "an edit needs a user, assistant or toolResult message or a custom_message";

fn is_editable(kind: Kind, role: Role) -> bool {
    let is_editable_role = matches!(role, Role::User | Role::Assistant | Role::ToolResult);
    kind == Kind::CustomMessage || (kind == Kind::Message && is_editable_role)
}

/// The wire format of most servers, in JSON, where nothing says.
const DEFAULT_API: &str = "\"openai-completions\"";

/// What an answer at a place would be said to come from: the nearest model above it.
fn model_at(session: &Session, at: Option<Ix>) -> Result<ModelInForce> {
    let mut model = ModelInForce::default();
    for ix in at.into_iter().flat_map(|ix| session.ancestors(ix)) {
        let ix = ix?;
        let (kind, role) = (session.kind(ix), session.role(ix));
        if kind != Kind::ModelChange && role != Role::Assistant {
            continue;
        }
        let line = session.line(ix)?;
        let entry = Entry::new(&line);
        if model.model.is_none() {
            model = model_after(entry, model);
        } else if let Some(api) = api_of(entry, &model) {
            // A change of model says nothing of the wire format; an answer by that provider does.
            model.api = Some(api);
        }
        if model.api.is_some() {
            break;
        }
    }
    if model.model.is_some() && model.api.is_none() {
        model.api = Some(DEFAULT_API.to_owned());
    }
    Ok(model)
}

fn api_of(entry: Entry<'_>, model: &ModelInForce) -> Option<String> {
    let message = entry.message()?;
    let provider = message.get("provider")?.to_json();
    if Some(&*provider) != model.provider.as_deref() {
        return None;
    }
    Some(
        message
            .get("api")
            .filter(|a| a.is_string())?
            .to_json()
            .into_owned(),
    )
}

/// The model in force behind an entry.
fn model_after(entry: Entry<'_>, before: ModelInForce) -> ModelInForce {
    let text = |value: Option<Raw<'_>>| {
        value
            .filter(|v| v.is_string())
            .map(|v| v.to_json().into_owned())
    };
    match entry.kind() {
        Kind::ModelChange => {
            let provider = text(entry.get("provider"));
            let api = before.api.filter(|_| provider == before.provider);
            ModelInForce {
                provider,
                model: text(entry.get("modelId")),
                api,
            }
        }
        Kind::Message if entry.role_name().is_some_and(|r| r == "assistant") => {
            let message = entry.message().unwrap_or_default();
            ModelInForce {
                provider: text(message.get("provider")),
                model: text(message.get("model")),
                api: text(message.get("api")),
            }
        }
        _ => before,
    }
}

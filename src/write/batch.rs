//! Several entries that are appended together, each the child of the one before. All are checked
//! before one is written.

use hashbrown::HashMap;

use super::build::{self, Defaults, ModelInForce, Wrong};
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
    parent: Option<String>,
    model: Option<ModelInForce>,
    /// Ids of the batch, and whether a context edit may name them.
    new: HashMap<String, bool>,
    written: Vec<Written>,
    bytes: Vec<u8>,
}

/// An entry of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its id.
    pub id: String,
    /// The entry it hangs on.
    pub parent: Option<String>,
}

impl<'a> Batch<'a> {
    /// A batch whose first entry hangs on `start`; `None` makes it a root.
    pub fn new(session: &'a Session, start: Option<Ix>, fresh: Fresh<'a>) -> Batch<'a> {
        Batch {
            session,
            fresh,
            start,
            parent: start.map(|ix| session.id(ix)),
            model: None,
            new: HashMap::new(),
            written: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Adds a message or an entry, filled in, and returns its id; fails with what is wrong with it.
    /// `place` says which one it is, such as `line 3`.
    pub fn add(&mut self, given: &[u8], place: &str) -> Result<String> {
        let refuse = |wrong: Wrong| {
            let dot = if wrong.field.is_empty() {
                String::new()
            } else {
                format!(" '{}'", wrong.field)
            };
            Error::BadEntry {
                message: format!("{place}:{dot} {}", wrong.why),
            }
        };
        let raw = Raw::new(given);
        self.check_id(raw)?
            .map_or(Ok(()), |wrong| Err(refuse(wrong)))?;
        let model = match &self.model {
            Some(model) => model.clone(),
            None => model_at(self.session, self.start)?,
        };
        let id = (self.fresh.new_id)();
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
            parent: self.parent.as_deref(),
            model: &model,
            tokens_before: &tokens,
        };
        let line = build::line(raw, &defaults).map_err(refuse)?;
        let entry = Entry::new(line.as_bytes());
        if let Some(wrong) = self.check_target(entry)? {
            return Err(refuse(wrong));
        }
        let id = entry
            .raw()
            .str("id")
            .map_or(id, std::borrow::Cow::into_owned);
        self.model = Some(model_after(entry, model));
        self.new.insert(id.clone(), is_editable(entry));
        self.bytes.extend_from_slice(line.as_bytes());
        self.bytes.push(b'\n');
        let parent = self.parent.replace(id.clone());
        self.written.push(Written {
            id: id.clone(),
            parent,
        });
        Ok(id)
    }

    /// The lines, whole.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The entries, in order.
    pub fn written(&self) -> &[Written] {
        &self.written
    }

    /// The id of the last entry; of the one the batch hangs on where it is empty.
    pub fn leaf(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// An id that the caller chose must be new: it would hide the entry that has it.
    fn check_id(&self, given: Raw<'_>) -> Result<Option<Wrong>> {
        if given.get("type").is_none() {
            return Ok(None);
        }
        let Some(id) = given.str("id") else {
            return Ok(None);
        };
        let taken = self.new.contains_key(&*id) || self.session.find(&id)?.is_some();
        Ok(taken.then(|| Wrong {
            field: "id".into(),
            why: format!("an entry has the id '{id}' already"),
        }))
    }

    /// What a label or an edit names must be there, as pi demands when it makes one.
    fn check_target(&self, entry: Entry<'_>) -> Result<Option<Wrong>> {
        let kind = entry.kind();
        if !matches!(kind, Kind::Label | Kind::ContextEdit) {
            return Ok(None);
        }
        let target = entry.raw().str("targetId").unwrap_or_default();
        let wrong = |why: String| {
            Ok(Some(Wrong {
                field: "targetId".into(),
                why,
            }))
        };
        if let Some(editable) = self.new.get(&*target) {
            return match kind {
                Kind::ContextEdit if !editable => wrong(NOT_EDITABLE.into()),
                _ => Ok(None),
            };
        }
        let Some(ix) = self.session.find(&target)? else {
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
        if !is_editable(Entry::new(&self.session.line(ix)?)) {
            return wrong(NOT_EDITABLE.into());
        }
        Ok(None)
    }
}

const NOT_EDITABLE: &str =
    "an edit needs a user, assistant or toolResult message or a custom_message";

fn is_editable(entry: Entry<'_>) -> bool {
    match entry.kind() {
        Kind::CustomMessage => true,
        Kind::Message => {
            let role = entry.role_name().unwrap_or_default();
            matches!(
                Role::of(role.as_bytes()),
                Role::User | Role::Assistant | Role::ToolResult
            )
        }
        _ => false,
    }
}

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
        model.api = Some("\"openai-completions\"".to_owned());
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

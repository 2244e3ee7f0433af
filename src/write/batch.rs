//! Several entries that are appended together, each the child of the one before. All are checked
//! before one is written.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::Display;

use hashbrown::HashMap;
use rayon::prelude::*;

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
    model: Option<ModelInForce<'static>>,
    lines: Lines,
    /// For each entry, whether a context edit may name it.
    editable: Vec<bool>,
    /// The places of the first so many entries by id; filled when something asks for one.
    places: HashMap<String, usize>,
}

/// The lines of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// The lines, each with its newline, in as many pieces as they were made in.
    pub pieces: Vec<Vec<u8>>,
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

/// How many lines of a long input are built by one core at a time.
const SHARE: usize = 256;

/// More than the frame of a message takes.
const OVERHEAD: usize = 160;

/// Entries built without knowing those before them.
#[derive(Default)]
struct Share<'a> {
    bytes: String,
    /// Each entry, if it can be built alone, and where its line ends.
    built: Vec<(Option<Built<'a>>, usize)>,
}

impl<'a> Share<'a> {
    fn add(&mut self, given: &'a [u8], id: &str, parent: Option<&str>, now: i64, timestamp: &str) {
        let stands_alone = Cell::new(true);
        let defaults = Defaults {
            timestamp,
            now,
            id,
            parent,
            model: &|| {
                stands_alone.set(false);
                ModelInForce::default()
            },
            tokens_before: &|| {
                stands_alone.set(false);
                0
            },
        };
        let built = build(given, &defaults, &mut self.bytes).ok();
        self.bytes.push('\n');
        let built = built.filter(|b| {
            let needs_model = b.model.as_ref().is_some_and(|m| m.api.is_none());
            stands_alone.get() && !needs_model && b.own_id.is_none() && b.target.is_none()
        });
        self.built.push((built, self.bytes.len()));
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
    pub fn add(&mut self, given: &[u8], place: &dyn Display) -> Result<()> {
        self.add_as((self.fresh.new_id)(), given, place).map(|_| ())
    }

    /// [`Batch::add`] for all of them, on all cores.
    pub fn add_all<P: Display + Sync>(&mut self, given: &[(P, &[u8])]) -> Result<()> {
        if given.len() <= SHARE {
            return given
                .iter()
                .try_for_each(|(place, line)| self.add(line, place));
        }
        // With ids drawn ahead, most lines can be built without knowing those before them.
        let ids: Vec<_> = given.iter().map(|_| (self.fresh.new_id)()).collect();
        let above = self.lines.leaf().map(str::to_owned);
        let (now, timestamp) = (self.fresh.now, self.fresh.timestamp);
        // One write takes 1024 pieces on Linux.
        let size = SHARE.max(given.len().div_ceil(512));
        let shares = given.par_chunks(size).enumerate();
        let shares = shares.map(|(n, lines)| {
            let len: usize = lines.iter().map(|(_, line)| line.len() + OVERHEAD).sum();
            let mut share = Share {
                bytes: String::with_capacity(len),
                ..Share::default()
            };
            for (n, (_, line)) in (n * size..).zip(lines) {
                let parent = n.checked_sub(1).map_or(above.as_deref(), |n| Some(&ids[n]));
                share.add(line, &ids[n], parent, now, timestamp);
            }
            share
        });
        let shares: Vec<Share<'_>> = shares.collect();
        let mut lines = ids.into_iter().zip(given);
        // Whether the line before has the id that was drawn for it.
        let mut is_as_drawn = true;
        for share in shares {
            if is_as_drawn && share.built.iter().all(|(built, _)| built.is_some()) {
                self.lines.pieces.push(share.bytes.into_bytes());
                let built = share.built.into_iter().filter_map(|(built, _)| built);
                for (built, (id, _)) in built.zip(&mut lines) {
                    self.note(built, id);
                }
                continue;
            }
            let mut start = 0;
            for ((built, end), (id, (place, line))) in share.built.into_iter().zip(&mut lines) {
                match built {
                    Some(built) if is_as_drawn => {
                        self.push(&share.bytes[start..end]);
                        self.note(built, id);
                    }
                    _ => is_as_drawn = self.add_as(id, line, place)?,
                }
                start = end;
            }
        }
        Ok(())
    }

    /// Adds an entry, under an id where it has none of its own; returns whether that is so.
    fn add_as(&mut self, id: String, given: &[u8], place: &dyn Display) -> Result<bool> {
        let refuse = |wrong: Wrong| {
            let field = match wrong.field.as_str() {
                "" => String::new(),
                field => format!(" '{field}'"),
            };
            Error::BadEntry {
                message: format!("{place}:{field} {}", wrong.why),
            }
        };
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
        let mut line = String::new();
        let mut built = build(given, &defaults, &mut line).map_err(refuse)?;
        if let Some(new) = &mut built.model
            && new.api.is_none()
        {
            // A change of model says nothing of the wire format.
            let before = model();
            let same = before.api.filter(|_| before.provider == new.provider);
            new.api = same.or(Some(Cow::Borrowed(DEFAULT_API)));
        }
        let own_id = built.own_id.take();
        let mut wrong = None;
        if let Some(own) = &own_id {
            wrong = self.check_id(own)?;
        }
        if wrong.is_none() {
            wrong = self.check_target(&built)?;
        }
        if let Some(wrong) = wrong {
            return Err(refuse(wrong));
        }
        let is_drawn = own_id.is_none();
        line.push('\n');
        self.push(&line);
        self.note(built, own_id.unwrap_or(id));
        Ok(is_drawn)
    }

    fn push(&mut self, line: &str) {
        match self.lines.pieces.last_mut() {
            Some(piece) => piece.extend_from_slice(line.as_bytes()),
            None => self.lines.pieces.push(line.as_bytes().to_vec()),
        }
    }

    fn note(&mut self, built: Built<'_>, id: String) {
        if built.model.is_some() && built.model != self.model {
            self.model = built.model.map(ModelInForce::into_owned);
        }
        self.lines.ids.push(id);
        self.editable.push(is_editable(built.kind, built.role));
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
    fn check_target(&mut self, built: &Built<'_>) -> Result<Option<Wrong>> {
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
fn model_at(session: &Session, at: Option<Ix>) -> Result<ModelInForce<'static>> {
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
            model = model_after(entry).into_owned();
        } else if let Some(api) = api_of(entry, &model) {
            // A change of model says nothing of the wire format; an answer by that provider does.
            model.api = Some(Cow::Owned(api));
        }
        if model.api.is_some() {
            break;
        }
    }
    if model.model.is_some() && model.api.is_none() {
        model.api = Some(Cow::Borrowed(DEFAULT_API));
    }
    Ok(model)
}

fn api_of(entry: Entry<'_>, model: &ModelInForce<'_>) -> Option<String> {
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

/// The model that an answer or a change of model puts in force.
fn model_after(entry: Entry<'_>) -> ModelInForce<'_> {
    let text = |value: Option<Raw<'_>>| {
        value
            .filter(|v| v.is_string())
            .map(|v| v.to_json().into_owned().into())
    };
    if entry.kind() == Kind::ModelChange {
        return ModelInForce {
            provider: text(entry.get("provider")),
            model: text(entry.get("modelId")),
            api: None,
        };
    }
    let message = entry.message().unwrap_or_default();
    ModelInForce {
        provider: text(message.get("provider")),
        model: text(message.get("model")),
        api: text(message.get("api")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &[u8] = br#"{"type":"session","version":3,"id":"s","timestamp":"T","cwd":"/"}
{"type":"message","id":"a","parentId":null,"timestamp":"T","message":{"role":"user","content":"hi"}}
"#;

    fn counted(counter: &Cell<usize>) -> String {
        counter.set(counter.get() + 1);
        format!("n{}", counter.get())
    }

    fn many() -> Vec<String> {
        let answer = |rest: &str| format!(r#"{{"role":"assistant","content":"ok"{rest}}}"#);
        let models = r#","api":"x","provider":"p","model":"m""#;
        let odd = [
            answer(models),
            r#"{"type":"model_change","provider":"p","modelId":"m2"}"#.to_owned(),
            answer(""),
            r#"{"type":"message","id":"own","message":{"role":"user","content":"mine"}}"#
                .to_owned(),
            r#"{"role":"user","content":"after it"}"#.to_owned(),
            r#"{"type":"label","targetId":"own","label":"L"}"#.to_owned(),
            r#"{"type":"compaction","summary":"S"}"#.to_owned(),
        ];
        let plain = (0..SHARE * 2).map(|n| format!(r#"{{"role":"user","content":"{n}"}}"#));
        let mut lines: Vec<_> = plain.collect();
        // Within a share, and where one ends.
        for (n, line) in odd.into_iter().enumerate() {
            lines.insert(SHARE - 3 + n, line);
        }
        lines
    }

    #[test]
    fn many_lines_at_once_are_the_lines_one_by_one() {
        let session = Session::from_bytes(SESSION.to_vec()).unwrap();
        let start = session.find("a").unwrap();
        let lines = many();
        let batch = |all: bool| {
            let counter = Cell::new(0);
            let new_id = || counted(&counter);
            let fresh = Fresh {
                now: 7,
                timestamp: "T",
                new_id: &new_id,
            };
            let mut batch = Batch::new(&session, start, fresh);
            let given: Vec<_> = lines.iter().map(|line| ("line", line.as_bytes())).collect();
            if all {
                batch.add_all(&given).unwrap();
            } else {
                for (place, line) in &given {
                    batch.add(line, place).unwrap();
                }
            }
            let lines = batch.finish();
            (lines.pieces.concat(), lines.ids)
        };
        let (bytes, ids) = batch(true);
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(text.contains(r#""parentId":"own""#) && text.contains(r#""model":"m2""#));
        assert_eq!((bytes, ids), batch(false));
    }

    #[test]
    fn the_first_of_many_that_is_wrong_is_named() {
        let session = Session::from_bytes(SESSION.to_vec()).unwrap();
        let new_id = || "x".to_owned();
        let fresh = Fresh {
            now: 7,
            timestamp: "T",
            new_id: &new_id,
        };
        let mut given: Vec<_> = (0..SHARE * 2)
            .map(|n| (n, &br#"{"role":"user","content":""}"#[..]))
            .collect();
        given[SHARE + 4].1 = b"{";
        given[SHARE + 2].1 = br#"{"role":"user"}"#;
        let e = Batch::new(&session, None, fresh)
            .add_all(&given)
            .unwrap_err();
        let wanted = format!(
            "{}: 'content' must be a string or a list of blocks",
            SHARE + 2
        );
        assert_eq!(e.to_string(), wanted);
    }
}

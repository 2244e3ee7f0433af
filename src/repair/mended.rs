//! The last step, on entries that all parse: ids, links and contents.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::Surroundings;
use super::content::fixed;
use super::draft::{Did, Draft};
use super::links::{Ids, Lost, Why, links};
use crate::check::salvage::head_of;
use crate::check::{Code, Facts};
use crate::entry::{Kind, splice};
use crate::error::Result;
use crate::json::Raw;
use crate::rev::syntax::quote_name;
use crate::session::Session;
use crate::store::index::{Index, Ix, ParentId};
use crate::write::build::quote;

/// Sets right what can be set right.
pub(super) fn mend(draft: &mut Draft, path: &Path, around: Surroundings<'_>) -> Result<()> {
    let session = draft.entries()?;
    let facts = Facts::of_all(&session)?;
    let index = session.index();
    let mut mender = Mender {
        session: &session,
        index: &index,
        draft,
        lines: HashMap::new(),
        new_ids: HashMap::new(),
        left_out: HashSet::new(),
    };
    mender.contents(&facts)?;
    let mut ids = Ids::new(&index);
    mender.ids(&mut ids, around)?;
    mender.links(&ids, path)?;
    mender.targets(&ids)?;
    mender.finish()
}

struct Mender<'a> {
    session: &'a Session,
    index: &'a Index,
    draft: &'a mut Draft,
    /// Entries that are not as they were.
    lines: HashMap<Ix, Vec<u8>>,
    /// The ids, as JSON, of entries that had none, or one that others have.
    new_ids: HashMap<Ix, String>,
    left_out: HashSet<Ix>,
}

impl Mender<'_> {
    /// The place of an entry among the lines of the new file, which are the same in number.
    fn nth(&self, ix: Ix) -> usize {
        self.index.len() - 1 - ix.at()
    }

    fn span(&self, ix: Ix) -> (u64, u64) {
        self.draft.lines[self.nth(ix)].span
    }

    fn name(&self, ix: Ix) -> Option<String> {
        match self.new_ids.get(&ix) {
            Some(id) => Raw::new(id.as_bytes()).as_id(),
            None => self
                .index
                .id(ix)
                .map(|_| self.index.id_text(ix).into_owned()),
        }
    }

    fn did(&mut self, did: Did, ix: Ix, message: impl Into<String>) {
        let (span, name) = (self.span(ix), self.name(ix));
        self.draft.did(did, span, name, message);
    }

    fn line(&self, ix: Ix) -> Result<Vec<u8>> {
        match self.lines.get(&ix) {
            Some(line) => Ok(line.clone()),
            None => self.session.line(ix),
        }
    }

    fn set(&mut self, ix: Ix, key: &str, value: &str) -> Result<()> {
        let line = splice::set(&self.line(ix)?, key, value);
        self.lines.insert(ix, line);
        Ok(())
    }

    fn contents(&mut self, facts: &Facts) -> Result<()> {
        for ix in self.index.file_order() {
            for &code in facts.wrong(ix) {
                let line = self.line(ix)?;
                if code == Code::NoMessage {
                    self.left_out.insert(ix);
                    self.draft.lost.extend(head_of(&line));
                    let span = self.span(ix);
                    self.draft
                        .set_aside(span, "a message entry without a message");
                } else if let Some(fixed) = fixed(&line, code) {
                    self.did(Did::Content, ix, fixed.message);
                    if fixed.lossy {
                        let span = self.span(ix);
                        self.draft.keep_aside(span);
                    }
                    self.lines.insert(ix, fixed.line);
                }
            }
        }
        Ok(())
    }

    /// Gives an id to entries that have none or share one. A record that stands twice is left out.
    fn ids(&mut self, ids: &mut Ids<'_>, around: Surroundings<'_>) -> Result<()> {
        for ix in ids.repeated() {
            let id = self.index.id(ix).unwrap_or_default();
            let first = ids.first(id).unwrap_or(ix);
            let line = self.session.line(ix)?;
            if line.trim_ascii() == self.session.line(first)?.trim_ascii() {
                self.did(
                    Did::DroppedRepetition,
                    ix,
                    "left out a record that stands twice",
                );
                self.left_out.insert(ix);
                continue;
            }
            let old = quote_name(&self.index.id_text(ix)).into_owned();
            self.give_id(ix, &(around.entry_id)())?;
            self.did(
                Did::Id,
                ix,
                format!("gave it an id of its own instead of {old}"),
            );
        }
        ids.forget(&self.left_out);
        for ix in self.index.file_order() {
            if ids.is_nameless(ix) && !self.left_out.contains(&ix) {
                self.give_id(ix, &(around.entry_id)())?;
                self.did(Did::Id, ix, "gave it an id");
            }
        }
        Ok(())
    }

    fn give_id(&mut self, ix: Ix, id: &str) -> Result<()> {
        let id = quote(id);
        self.set(ix, "id", &id)?;
        self.new_ids.insert(ix, id);
        Ok(())
    }

    /// The id of an entry as JSON, which need not be a string.
    fn id_json(&self, ix: Ix) -> Result<String> {
        if let Some(id) = self.new_ids.get(&ix) {
            return Ok(id.clone());
        }
        let line = self.session.line(ix)?;
        let id = Raw::new(&line).get("id");
        Ok(id.map_or_else(|| "null".to_owned(), |id| id.to_json().into_owned()))
    }

    fn links(&mut self, ids: &Ids<'_>, path: &Path) -> Result<()> {
        let parent_session = parent_session(self.session, path);
        let links = links(
            ids,
            &Lost {
                heads: &self.draft.lost,
                parent: parent_session.as_ref(),
                dropped: &self.left_out,
            },
        )?;
        let why: HashMap<Ix, Why> = links.changed.into_iter().collect();
        self.name_next_kept(&why)?;
        for ix in self.index.file_order() {
            if self.left_out.contains(&ix) {
                continue;
            }
            let parent = links.parents[ix.at()];
            let Some(why) = why.get(&ix) else {
                // Named as it was, unless the parent got another id.
                if let Some(id) = parent.and_then(|parent| self.new_ids.get(&parent)) {
                    let id = id.clone();
                    self.set(ix, "parentId", &id)?;
                    self.did(Did::Linked, ix, "names its parent by the new id");
                }
                continue;
            };
            let json =
                parent.map_or_else(|| Ok("null".to_owned()), |parent| self.id_json(parent))?;
            let new = match parent.and_then(|parent| self.name(parent)) {
                Some(parent) => format!("hangs on {}", quote_name(&parent)),
                None => "is a root".to_owned(),
            };
            let line = self.line(ix)?;
            let old = Raw::new(&line).get("parentId").and_then(Raw::as_id);
            let old = old.map_or_else(String::new, |old| quote_name(&old).into_owned());
            let before = parent.map_or("", |_| "; this is the entry before it");
            let why = match why {
                Why::LostBetween => format!("{old}, its parent, is lost and hung there"),
                Why::Lost => format!("{old}, its parent, is lost{before}"),
                Why::Cycle => format!("{old}, its parent, is below it{before}"),
                Why::Nameless => "there was no id to name".to_owned(),
                Why::None => "it named no parent".to_owned(),
            };
            self.set(ix, "parentId", &json)?;
            self.did(Did::Linked, ix, format!("{new}: {why}"));
        }
        Ok(())
    }

    /// A compaction that keeps from an entry which is lost keeps from what hung on that instead.
    fn name_next_kept(&mut self, why: &HashMap<Ix, Why>) -> Result<()> {
        let mut below: HashMap<String, Ix> = HashMap::new();
        for ix in self.index.file_order() {
            if let ParentId::Id(id) = self.index.parent_id(ix)
                && matches!(why.get(&ix), Some(Why::Lost | Why::LostBetween))
                && !self.left_out.contains(&ix)
            {
                let id = String::from_utf8_lossy(id).into_owned();
                below.entry(id).or_insert(ix);
            }
        }
        for ix in self.index.file_order() {
            if below.is_empty() || self.index.kind(ix) != Kind::Compaction {
                continue;
            }
            let line = self.line(ix)?;
            let kept = Raw::new(&line).get("firstKeptEntryId").and_then(Raw::as_id);
            // Numbers count from the end: a greater one is an earlier line.
            let next = kept
                .and_then(|kept| below.get(&kept))
                .filter(|next| **next > ix);
            if let Some(&next) = next {
                let id = self.id_json(next)?;
                self.set(ix, "firstKeptEntryId", &id)?;
                let message = "keeps from the next entry: the first that it kept is lost";
                self.did(Did::Linked, ix, message);
            }
        }
        Ok(())
    }

    /// Follows entries that got another id with what names them.
    fn targets(&mut self, ids: &Ids<'_>) -> Result<()> {
        if self.new_ids.is_empty() {
            return Ok(());
        }
        for ix in self.index.file_order() {
            let key = match self.index.kind(ix) {
                Kind::Label | Kind::ContextEdit => "targetId",
                Kind::Compaction => "firstKeptEntryId",
                Kind::BranchSummary => "fromId",
                _ => continue,
            };
            let line = self.line(ix)?;
            let Some(target) = Raw::new(&line).get(key).and_then(Raw::as_id) else {
                continue;
            };
            let meant = ids.meant(target.as_bytes(), ix);
            if let Some(id) = meant.and_then(|meant| self.new_ids.get(&meant)) {
                let id = id.clone();
                self.set(ix, key, &id)?;
                self.did(Did::Linked, ix, "names an entry by the new id");
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        let last = self.index.len().wrapping_sub(1);
        for (ix, mut line) in self.lines {
            // A CR, say.
            let stored = self.session.line(ix)?;
            line.extend_from_slice(&stored[stored.trim_ascii_end().len()..]);
            self.draft.lines[last - ix.at()].made = Some(line);
        }
        let left_out: HashSet<usize> = self.left_out.iter().map(|ix| last - ix.at()).collect();
        if !left_out.is_empty() {
            let mut nth = 0..;
            self.draft
                .lines
                .retain(|_| nth.next().is_some_and(|nth| !left_out.contains(&nth)));
        }
        Ok(())
    }
}

/// The session that this one was made of, if it is there.
fn parent_session(session: &Session, path: &Path) -> Option<Session> {
    let parent = session.header().parent_path()?;
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    if real(&parent) == real(path) {
        return None;
    }
    Session::open(&parent).ok()
}

//! What each entry hangs on.
//!
//! Where a parent is lost, what is left of it may say where it hung, or the session that this one
//! was made of; else the entry before it in the file is taken for it, which it was in nearly every
//! session: most never branch, and what is written next hangs on what was written last.

use std::collections::{HashMap, HashSet};

use crate::check::salvage::Above;
use crate::error::Result;
use crate::json::Raw;
use crate::session::Session;
use crate::store::index::{Index, Ix, ParentId};
use crate::tree::{Parent, cut_cycles};

/// How a parent was found that is not the one that the entry names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// The entry that it names is lost, but what it hung on is known.
    LostBetween,
    /// The entry that it names is lost.
    Lost,
    /// The entry that it names is itself or below it.
    Cycle,
    /// It names none: it has no id either, or the entry before had none to name.
    Nameless,
    /// It names none.
    None,
}

/// The parents of all entries, by number.
pub(super) struct Links {
    pub(super) parents: Vec<Option<Ix>>,
    /// The entries whose parent is not the one they name.
    pub(super) changed: Vec<(Ix, Why)>,
}

/// What there is to find lost parents with.
pub(super) struct Lost<'a> {
    /// The parents of entries that are lost, by id.
    pub(super) heads: &'a HashMap<String, Above<String>>,
    /// The session that this one was made of.
    pub(super) parent: Option<&'a Session>,
    /// Entries that are left out.
    pub(super) dropped: &'a HashSet<Ix>,
}

/// Where ids are defined. An id may stand for several entries; whoever wrote it meant the last one
/// before.
pub(super) struct Ids<'i> {
    index: &'i Index,
    /// The entries of each id, in file order.
    places: HashMap<&'i [u8], Vec<Ix>>,
}

impl<'i> Ids<'i> {
    pub(super) fn new(index: &'i Index) -> Ids<'i> {
        let mut places: HashMap<&[u8], Vec<Ix>> = HashMap::new();
        for ix in index.file_order() {
            if let Some(id) = index.id(ix).filter(|id| !id.is_empty()) {
                places.entry(id).or_default().push(ix);
            }
        }
        Ids { index, places }
    }

    /// The entry that an id in an entry stands for.
    pub(super) fn meant(&self, id: &[u8], by: Ix) -> Option<Ix> {
        let places = self.places.get(id)?;
        // Numbers count from the end: a greater one is an earlier line.
        let before = places.partition_point(|place| *place > by);
        places.get(before.saturating_sub(1)).copied()
    }

    /// The entries that share an id with an earlier one.
    pub(super) fn repeated(&self) -> Vec<Ix> {
        let several = self.places.values().filter(|places| places.len() > 1);
        let mut repeated: Vec<Ix> = several.flat_map(|places| &places[1..]).copied().collect();
        repeated.sort_unstable_by(|a, b| b.cmp(a));
        repeated
    }

    /// Whether nothing can name the entry.
    pub(super) fn is_nameless(&self, ix: Ix) -> bool {
        self.index.id(ix).is_none_or(<[u8]>::is_empty)
    }

    /// The first entry with an id.
    pub(super) fn first(&self, id: &[u8]) -> Option<Ix> {
        self.places.get(id)?.first().copied()
    }

    /// Entries are left out, for which others with their ids stand.
    pub(super) fn forget(&mut self, left_out: &HashSet<Ix>) {
        for places in self.places.values_mut().filter(|places| places.len() > 1) {
            places.retain(|place| !left_out.contains(place));
        }
    }

    fn index(&self) -> &'i Index {
        self.index
    }
}

/// Finds what every entry hangs on.
pub(super) fn links(ids: &Ids<'_>, lost: &Lost<'_>) -> Result<Links> {
    let index = ids.index();
    let mut links = Links {
        parents: vec![None; index.len()],
        changed: Vec::new(),
    };
    let mut before = None;
    for ix in index.file_order() {
        let nameless = before.filter(|&before| ids.is_nameless(before) || ids.is_nameless(ix));
        match index.parent_id(ix) {
            ParentId::Null => {}
            ParentId::Missing | ParentId::Invalid => {
                links.parents[ix.at()] = nameless;
                let why = nameless.map_or(Why::None, |_| Why::Nameless);
                links.changed.push((ix, why));
            }
            ParentId::Id(id) => match ids.meant(id, ix) {
                Some(parent) if !lost.dropped.contains(&parent) => {
                    links.parents[ix.at()] = Some(parent);
                }
                _ => {
                    let found = lost.above(ids, ix, &String::from_utf8_lossy(id))?;
                    let (parent, why) = match found {
                        Above::Entry(parent) => (Some(parent), Why::LostBetween),
                        Above::Nothing => (None, Why::LostBetween),
                        Above::Unknown => (before, Why::Lost),
                    };
                    links.parents[ix.at()] = parent;
                    links.changed.push((ix, why));
                }
            },
        }
        if !lost.dropped.contains(&ix) {
            before = Some(ix);
        }
    }
    links.cut(index, lost);
    Ok(links)
}

impl Links {
    /// Opens cycles: an entry that closes one hangs on the entry before it instead.
    fn cut(&mut self, index: &Index, lost: &Lost<'_>) {
        let parents = self.parents.iter();
        let mut cut: Vec<Parent> = parents
            .map(|p| p.map_or(Parent::Root, Parent::Entry))
            .collect();
        cut_cycles(&mut cut);
        let closing: Vec<Ix> = index
            .file_order()
            .filter(|ix| cut[ix.at()] == Parent::Cycle)
            .collect();
        for &ix in &closing {
            self.parents[ix.at()] = None;
        }
        // Mostly nothing hangs on a later line, so that no earlier entry can be below one.
        let is_later = |(n, parent): (usize, &Option<Ix>)| parent.is_some_and(|p| p.at() <= n);
        let must_look = self.parents.iter().enumerate().any(is_later);
        let number = u32::try_from(index.len()).unwrap_or(u32::MAX);
        for &ix in &closing {
            let mut earlier = (ix.0 + 1..number).map(Ix);
            let fits = |&before: &Ix| {
                let is_below = || must_look && self.is_above(ix, before);
                !lost.dropped.contains(&before) && !is_below()
            };
            self.parents[ix.at()] = earlier.find(fits);
        }
        let closing: HashSet<Ix> = closing.into_iter().collect();
        self.changed
            .retain(|(changed, _)| !closing.contains(changed));
        self.changed
            .extend(closing.into_iter().map(|ix| (ix, Why::Cycle)));
    }

    /// Whether an entry is at or above another one. There is no cycle left.
    fn is_above(&self, above: Ix, ix: Ix) -> bool {
        let mut at = Some(ix);
        while let Some(here) = at {
            if here == above {
                return true;
            }
            at = self.parents[here.at()];
        }
        false
    }
}

impl Lost<'_> {
    /// The nearest entry above one that is lost that is here, as far as that is known.
    fn above(&self, ids: &Ids<'_>, by: Ix, id: &str) -> Result<Above<Ix>> {
        let mut seen = HashSet::new();
        let mut id = id.to_owned();
        while seen.insert(id.clone()) {
            let parent = match self.parent_of(&id)? {
                Above::Entry(parent) => parent,
                Above::Nothing => return Ok(Above::Nothing),
                Above::Unknown => return Ok(Above::Unknown),
            };
            match ids.meant(parent.as_bytes(), by) {
                // Numbers count from the end: a greater one is an earlier line.
                Some(here) if !self.dropped.contains(&here) && here > by => {
                    return Ok(Above::Entry(here));
                }
                _ => id = parent,
            }
        }
        Ok(Above::Unknown)
    }

    /// The parent that an entry which is not here had.
    fn parent_of(&self, id: &str) -> Result<Above<String>> {
        if let Some(above) = self.heads.get(id) {
            return Ok(above.clone());
        }
        let Some(session) = self.parent else {
            return Ok(Above::Unknown);
        };
        let Some(ix) = session.find(id)? else {
            return Ok(Above::Unknown);
        };
        if let Parent::Entry(parent) = session.parent(ix)? {
            return Ok(Above::Entry(session.id(parent)));
        }
        let line = session.line(ix)?;
        let stored = Raw::new(&line).get("parentId").and_then(Raw::as_id);
        Ok(stored.map_or(Above::Nothing, Above::Entry))
    }
}

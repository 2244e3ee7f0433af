//! The second step, for entries of version 1: the ids that reading shows, and a chain of parents.

use std::collections::{HashMap, HashSet};

use super::Surroundings;
use super::draft::{Did, Draft};
use crate::entry::{Entry, Kind};
use crate::error::Result;
use crate::session::Session;
use crate::store::header::Migration;
use crate::write::migrate::with_links;

/// Gives every entry its id and its parent. Where the old file can be read as version 1, entries
/// keep the ids that it shows; records that were had back get new ones.
pub(super) fn number(
    draft: &mut Draft,
    old: Option<&Session>,
    around: Surroundings<'_>,
) -> Result<()> {
    let now = draft.entries()?;
    let old = old.filter(|old| old.migration() == Migration::Ids);
    let shown: HashMap<u64, String> = old.map_or_else(HashMap::new, |old| {
        let index = old.index();
        let shown = index.file_order();
        shown
            .map(|ix| (index.span(ix).0, index.id_text(ix).into_owned()))
            .collect()
    });
    let entries: Vec<_> = now.index().file_order().collect();
    let mut ids = HashSet::new();
    let mut parent = None;
    for (line, ix) in draft.lines.iter_mut().zip(entries) {
        let stored = now.line(ix)?;
        let id = match (old, shown.get(&line.span.0)) {
            (Some(_), Some(id)) => id.clone(),
            (Some(_), None) => (around.entry_id)(),
            (None, _) => now.id(ix),
        };
        let kept = (now.kind(ix) == Kind::Compaction)
            .then(|| old.unwrap_or(&now).first_kept(Entry::new(&stored)))
            .flatten();
        let kept = kept.filter(|kept| ids.contains(kept) || *kept == id);
        let made = with_links(&stored, &id, parent.as_deref(), kept.as_deref());
        line.made = Some(made);
        ids.insert(id.clone());
        parent = Some(id);
    }
    let message = "gave the entries of version 1 the ids that reading shows";
    draft.did(Did::Migrated, draft.header_span, None, message);
    Ok(())
}

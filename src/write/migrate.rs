//! Bringing sessions of version 1 and 2 to version 3, as pi 1.6.0 does when it opens them, but
//! without losing a byte that means something: what does not parse stays, and the ids of version 1
//! are the ones that reading shows.

use std::sync::Arc;

use super::build::quote;
use crate::entry::{Entry, Kind, splice};
use crate::error::Result;
use crate::session::Session;
use crate::store::header::Migration;
use crate::store::index::Ix;
use crate::store::source::{Pieces, Source};

/// The whole file as version 3. Only the version, ids, parents, `firstKeptEntryId` and the role
/// `hookMessage` differ from what is stored; the rest is the same, byte for byte.
pub fn migrated_file(session: &Session) -> Result<Source> {
    let mut pieces = Pieces::new(session.source().clone());
    let (start, end) = session.header_span().unwrap_or_default();
    pieces.push_stored(0, start);
    pieces.push_made(header_of_now(session));
    push_entries(&mut pieces, session, end)?;
    Ok(Source::Pieces(Arc::new(pieces)))
}

/// The header and all that follows it as a file of its own, of version 3, which belongs to a
/// directory. What stands before the header is left out.
pub fn moved_file(session: &Session, cwd: &str) -> Result<Source> {
    let mut pieces = Pieces::new(session.source().clone());
    pieces.push_made(splice::set(&header_of_now(session), "cwd", quote(cwd)));
    let (_, end) = session.header_span().unwrap_or_default();
    push_entries(&mut pieces, session, end)?;
    Ok(Source::Pieces(Arc::new(pieces)))
}

/// The header's line, of version 3 if it is older. White space behind it is left out.
fn header_of_now(session: &Session) -> Vec<u8> {
    let header = session.header();
    if header.version < 3.0 {
        return splice::set(&header.line, "version", "3");
    }
    header.line.trim_ascii().to_vec()
}

/// Adds everything from an offset on, entries as version 3 has them.
fn push_entries(pieces: &mut Pieces, session: &Session, from: u64) -> Result<()> {
    session.load_all()?;
    let mut at = from;
    let is_old = session.migration() != Migration::None;
    let entries: Vec<Ix> = session.index().file_order().filter(|_| is_old).collect();
    for ix in entries {
        let stored = session.line(ix)?;
        let line = migrated(session, ix)?;
        if line == stored.trim_ascii() {
            continue;
        }
        let (start, end) = session.index().span(ix);
        // White space around a record is no part of it; a CR, say.
        let lead = stored.len() - stored.trim_ascii_start().len();
        let trail = stored.len() - stored.trim_ascii_end().len();
        pieces.push_stored(at, start + lead as u64);
        pieces.push_made(line);
        at = end - trail as u64;
    }
    pieces.push_stored(at, session.size());
    Ok(())
}

/// The entry's line as version 3 has it: the stored bytes, unless the file is older.
pub(super) fn migrated(session: &Session, ix: Ix) -> Result<Vec<u8>> {
    let mut line = session.line(ix)?.trim_ascii().to_vec();
    let migration = session.migration();
    if migration == Migration::Ids {
        let parent = session.parent(ix)?.entry().map(|parent| session.id(parent));
        let mut kept = None;
        if session.kind(ix) == Kind::Compaction
            && let Some(first) = session.first_kept(Entry::new(&line))
            && session.find(&first)?.is_some()
        {
            kept = Some(first);
        }
        line = with_links(&line, &session.id(ix), parent.as_deref(), kept.as_deref());
    }
    if migration != Migration::None
        && let Some(message) = Entry::new(&line).message()
        && message
            .str("role")
            .is_some_and(|role| role == "hookMessage")
    {
        let message = splice::set(message.bytes(), "role", "\"custom\"");
        line = splice::set(&line, "message", message);
    }
    Ok(line)
}

/// An entry of version 1 with its id, its parent and what it keeps.
pub(crate) fn with_links(
    line: &[u8],
    id: &str,
    parent: Option<&str>,
    kept: Option<&str>,
) -> Vec<u8> {
    let mut line = splice::set(line, "id", quote(id));
    line = splice::set(&line, "parentId", parent.map_or("null".into(), quote));
    if let Some(kept) = kept {
        line = splice::set(&line, "firstKeptEntryId", quote(kept));
    }
    line
}

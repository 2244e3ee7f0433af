//! The first step: every record that parses, or is whole inside of what does not.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use super::draft::{Did, Draft, Line};
use super::{Surroundings, header};
use crate::check::gaps;
use crate::check::salvage::{What, head_of, salvage};
use crate::entry::{Entry, Kind};
use crate::json::Raw;
use crate::store::header::{Header, looks_like_entry};
use crate::store::index::{Index, Odd};
use crate::store::source::Source;

/// Something in the old file.
enum Item {
    /// A line that is an entry, or could be one.
    Entry,
    /// A line that says it is a header.
    Header,
    /// A part of what does not parse.
    Piece(What),
}

type Span = (u64, u64);

/// Takes the old file apart.
pub(super) fn salvaged(
    path: &Path,
    source: &Source,
    around: Surroundings<'_>,
) -> io::Result<Draft> {
    let mut draft = Draft::new(source.clone());
    let bom = source.read_range(0, 3)? == b"\xef\xbb\xbf";
    if bom {
        draft.did(Did::Header, (0, 3), None, "left out the byte order mark");
    }
    let (items, nameless) = items(source, if bom { 3 } else { 0 })?;
    let (header_at, header) = match find_header(source, &items)? {
        Some((span, line)) => (Some(span), Some(line)),
        None => (None, None),
    };
    let len = source.len();
    for (span, item) in items {
        if Some(span) == header_at {
            if !draft.is_empty() {
                draft.did(
                    Did::Header,
                    span,
                    None,
                    "moved the header to the first line",
                );
            }
            if matches!(item, Item::Piece(_)) {
                draft.did(
                    Did::Recovered,
                    span,
                    None,
                    "took the header out of its line",
                );
            }
            continue;
        }
        let line = |made| Line {
            span,
            made,
            ended: false,
        };
        match item {
            Item::Entry => {
                let is_before = header_at.is_some_and(|header| span.0 < header.0);
                let is_odd = is_before || nameless.contains(&span.0);
                if is_odd && is_foreign(&source.read_range(span.0, span.1)?, is_before) {
                    draft.set_aside(span, "a record that is no entry");
                    continue;
                }
                let ended = span.1 < len;
                if !ended {
                    draft.did(Did::Ended, span, None, "ended the last line");
                }
                draft.lines.push(Line {
                    ended,
                    ..line(None)
                });
            }
            Item::Header => draft.set_aside(span, "another header"),
            Item::Piece(What::Value(_)) => draft.set_aside(span, "JSON that is no record"),
            Item::Piece(What::Nul) => {
                let count = span.1 - span.0;
                draft.did(
                    Did::DroppedNuls,
                    span,
                    None,
                    format!("left out {count} NULs"),
                );
            }
            Item::Piece(What::Fragment) => {
                // Its head, at most: what an entry is comes before what it says.
                const HEAD: u64 = 4096;
                let head = source.read_range(span.0, span.1.min(span.0 + HEAD))?;
                let mut what = "what is no record".to_owned();
                if let Some((id, parent)) = head_of(&head) {
                    what = format!("what is left of {id}");
                    draft.lost.insert(id, parent);
                }
                draft.set_aside(span, what);
            }
            Item::Piece(What::Record) => {
                let stored = source.read_range(span.0, span.1)?;
                take(
                    &mut draft,
                    line(None),
                    &stored,
                    "took a whole record out of a broken line",
                );
            }
            Item::Piece(What::Mended(made)) => {
                let stored = made.clone();
                let message = "escaped the control characters and line ends in a record";
                take(&mut draft, line(Some(made)), &stored, message);
            }
        }
    }
    draft.header_span = header_at.unwrap_or_default();
    if let Some(header) = header {
        draft.header = header;
    } else if let Some(at) = first_entry(&draft)? {
        let at = (at, at);
        let message = "made a header of the file's name, directory and first time";
        draft.did(Did::Header, at, None, message);
        draft.header = header::made(path, first_time(&draft)?.as_deref(), around);
    }
    Ok(draft)
}

/// Whether a record is one of another program: a title, say, that it puts before the header, or a
/// line of a log. Without an id, an entry of any type still has a time.
fn is_foreign(line: &[u8], is_before_header: bool) -> bool {
    let raw = Raw::new(line);
    let has = |key: &str| raw.get(key).is_some();
    let is_dated = raw.str("type").is_some() && has("timestamp") && !has("uuid");
    !looks_like_entry(line) && (is_before_header || !is_dated)
}

/// Takes a record that was had back.
fn take(draft: &mut Draft, line: Line, stored: &[u8], message: &str) {
    let entry = Entry::new(stored);
    if entry.kind() == Kind::Session {
        draft.set_aside(line.span, "another header");
        return;
    }
    draft.did(
        Did::Recovered,
        line.span,
        entry.get("id").and_then(Raw::as_id),
        message,
    );
    draft.lines.push(line);
}

/// All there is, in the order of the file, and where entries without an id begin.
fn items(source: &Source, first_byte: u64) -> io::Result<(Vec<(Span, Item)>, HashSet<u64>)> {
    let mut index = Index::new(source.len(), first_byte);
    index.read_all(source)?;
    let mut items = Vec::with_capacity(index.len());
    items.extend(index.file_order().map(|ix| (index.span(ix), Item::Entry)));
    let mut nameless = HashSet::new();
    for odd in index.oddities() {
        match odd.what {
            Odd::Header => items.push(((odd.start, odd.end), Item::Header)),
            Odd::NoId => drop(nameless.insert(odd.start)),
            _ => {}
        }
    }
    for (start, end) in gaps(&index) {
        let pieces = salvage(source, start, end)?.into_iter();
        items.extend(pieces.map(|piece| ((piece.start, piece.end), Item::Piece(piece.what))));
    }
    items.sort_by_key(|(span, _)| *span);
    Ok((items, nameless))
}

/// The first header, and where it lies.
fn find_header(source: &Source, items: &[(Span, Item)]) -> io::Result<Option<(Span, Vec<u8>)>> {
    for (span, item) in items {
        let line = match item {
            Item::Header | Item::Piece(What::Record) => source.read_range(span.0, span.1)?,
            Item::Piece(What::Mended(line)) => line.clone(),
            Item::Entry | Item::Piece(_) => continue,
        };
        if Header::read(&line).is_some() {
            return Ok(Some((*span, line)));
        }
    }
    Ok(None)
}

/// Where the first line lies that is an entry of pi, and no record of another program.
fn first_entry(draft: &Draft) -> io::Result<Option<u64>> {
    for line in &draft.lines {
        let stored = draft.source.read_range(line.span.0, line.span.1)?;
        if looks_like_entry(line.made.as_deref().unwrap_or(&stored)) {
            return Ok(Some(line.span.0));
        }
    }
    Ok(None)
}

/// The time of the first entry that has one.
fn first_time(draft: &Draft) -> io::Result<Option<String>> {
    for line in &draft.lines {
        let stored = draft.source.read_range(line.span.0, line.span.1)?;
        let line = line.made.as_deref().unwrap_or(&stored);
        let time = Raw::new(line)
            .str("timestamp")
            .filter(|t| crate::time::parse(t).is_some());
        if let Some(time) = time {
            return Ok(Some(time.into_owned()));
        }
    }
    Ok(None)
}

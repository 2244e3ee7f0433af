//! The first step: every record that parses, or is whole inside of what does not.

use std::io;
use std::path::Path;

use super::draft::{Did, Draft, Line};
use super::{Surroundings, header};
use crate::check::gaps;
use crate::check::salvage::{What, head_of, salvage};
use crate::entry::{Entry, Kind, splice};
use crate::json::Raw;
use crate::store::header::{Header, looks_like_entry};
use crate::store::index::{Index, Odd};
use crate::store::source::Source;
use crate::write::build::quote;

/// Something in the old file.
enum Item {
    /// A line that is an entry, or could be one; whether it has an id.
    Entry(bool),
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
    let items = items(source, if bom { 3 } else { 0 })?;
    let (header_at, header) = match find_header(source, &items, around)? {
        Some((span, line)) => (Some(span), Some(line)),
        None => (None, None),
    };
    // What is left of a header that was cut off.
    let mut left = Vec::new();
    for (span, item) in items {
        let is_before = header_at.is_some_and(|header| span.0 < header.0);
        match item {
            _ if Some(span) == header_at => take_header(&mut draft, span, &item)?,
            Item::Entry(has_id) => take_entry(&mut draft, span, has_id, is_before)?,
            Item::Header => draft.set_aside(span, "another header"),
            Item::Piece(what) => take_piece(&mut draft, span, what, &mut left)?,
        }
    }
    draft.header_span = header_at.unwrap_or_default();
    if let Some(header) = header {
        draft.header = header;
    } else if let Some(at) = first_entry(&draft)? {
        let message = "made a header of what the file, its name and its directory say";
        draft.did(Did::Header, (at, at), None, message);
        draft.header = header::made(path, &left, first_time(&draft)?.as_deref(), around);
    }
    Ok(draft)
}

fn take_header(draft: &mut Draft, span: Span, item: &Item) -> io::Result<()> {
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
    } else if Header::read(&draft.source.read_range(span.0, span.1)?).is_none() {
        draft.did(Did::Header, span, None, "gave the header an id");
    }
    Ok(())
}

fn take_entry(draft: &mut Draft, span: Span, has_id: bool, is_before: bool) -> io::Result<()> {
    let is_odd = is_before || !has_id;
    if is_odd && is_foreign(&draft.source.read_range(span.0, span.1)?, is_before) {
        draft.set_aside(span, "a record that is no entry");
        return Ok(());
    }
    let ended = span.1 < draft.source.len();
    if !ended {
        draft.did(Did::Ended, span, None, "ended the last line");
    }
    draft.lines.push(Line {
        span,
        made: None,
        ended,
    });
    Ok(())
}

fn take_piece(draft: &mut Draft, span: Span, what: What, left: &mut Vec<u8>) -> io::Result<()> {
    match what {
        What::Value(_) => draft.set_aside(span, "JSON that is no record"),
        What::Nul => {
            let count = span.1 - span.0;
            draft.did(
                Did::DroppedNuls,
                span,
                None,
                format!("left out {count} NULs"),
            );
        }
        What::Fragment => {
            // Its head, at most: what an entry is comes before what it says.
            const HEAD: u64 = 4096;
            let head = draft.source.read_range(span.0, span.1.min(span.0 + HEAD))?;
            let is_header = Raw::new(&head)
                .str("type")
                .is_some_and(|kind| kind == "session");
            let mut message = "what is no record".to_owned();
            if is_header {
                "what is left of a header".clone_into(&mut message);
                if left.is_empty() {
                    *left = head;
                }
            } else if let Some((id, above)) = head_of(&head) {
                message = format!("what is left of {id}");
                draft.lost.insert(id, above);
            }
            draft.set_aside(span, message);
        }
        What::Record => {
            let stored = draft.source.read_range(span.0, span.1)?;
            let message = "took a whole record out of a broken line";
            take(draft, span, None, &stored, message);
        }
        What::Mended(line) => {
            let stored = line.clone();
            let message = "escaped the control characters and line ends in a record";
            take(draft, span, Some(line), &stored, message);
        }
    }
    Ok(())
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
fn take(draft: &mut Draft, span: Span, made: Option<Vec<u8>>, stored: &[u8], message: &str) {
    let entry = Entry::new(stored);
    if entry.kind() == Kind::Session {
        draft.set_aside(span, "another header");
        return;
    }
    draft.did(
        Did::Recovered,
        span,
        entry.get("id").and_then(Raw::as_id),
        message,
    );
    draft.lines.push(Line {
        span,
        made,
        ended: false,
    });
}

/// All there is, in the order of the file.
fn items(source: &Source, first_byte: u64) -> io::Result<Vec<(Span, Item)>> {
    let mut index = Index::new(source.len(), first_byte);
    index.read_all(source)?;
    let entry = |ix| (index.span(ix), Item::Entry(index.id(ix).is_some()));
    let mut items: Vec<_> = index.file_order().map(entry).collect();
    for odd in index.oddities() {
        if odd.what == Odd::Header {
            items.push(((odd.start, odd.end), Item::Header));
        }
    }
    for (start, end) in gaps(&index) {
        let pieces = salvage(source, start, end)?.into_iter();
        items.extend(pieces.map(|piece| ((piece.start, piece.end), Item::Piece(piece.what))));
    }
    items.sort_by_key(|(span, _)| *span);
    Ok(items)
}

/// The first header, and where it lies; else the first line that would be one if it had an id.
fn find_header(
    source: &Source,
    items: &[(Span, Item)],
    around: Surroundings<'_>,
) -> io::Result<Option<(Span, Vec<u8>)>> {
    let mut nameless = None;
    for (span, item) in items {
        let line = match item {
            Item::Header | Item::Piece(What::Record) => source.read_range(span.0, span.1)?,
            Item::Piece(What::Mended(line)) => line.clone(),
            Item::Entry(_) | Item::Piece(_) => continue,
        };
        if Header::read(&line).is_some() {
            return Ok(Some((*span, line)));
        }
        let is_one = matches!(item, Item::Header) && Raw::new(&line).str("cwd").is_some();
        if is_one && nameless.is_none() {
            nameless = Some((*span, splice::set(&line, "id", quote(around.session_id))));
        }
    }
    Ok(nameless)
}

/// What the first line gives that gives anything.
fn first<T>(draft: &Draft, look: impl Fn(&Line, &[u8]) -> Option<T>) -> io::Result<Option<T>> {
    for line in &draft.lines {
        let stored = draft.source.read_range(line.span.0, line.span.1)?;
        let found = look(line, line.made.as_deref().unwrap_or(&stored));
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Where the first line lies that is an entry of pi, and no record of another program.
fn first_entry(draft: &Draft) -> io::Result<Option<u64>> {
    first(draft, |line, bytes| {
        looks_like_entry(bytes).then_some(line.span.0)
    })
}

/// The time of the first entry that has one.
fn first_time(draft: &Draft) -> io::Result<Option<String>> {
    first(draft, |_, bytes| {
        let time = Raw::new(bytes).str("timestamp")?.into_owned();
        crate::time::parse(&time).map(|_| time)
    })
}

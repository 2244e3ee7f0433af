//! Lines that are no entries: what broke them, and what they still hold.

use std::io;

use super::salvage::{Piece, What, salvage};
use super::{Code, Finding};
use crate::error::Result;
use crate::json::Raw;
use crate::session::Session;
use crate::store::index::{Index, Odd};
use crate::store::source::Source;

/// Checks the lines of a session that are no entries.
pub(super) fn check(session: &Session) -> Result<Vec<Finding>> {
    let (source, size) = (session.source(), session.size());
    let mut found = Vec::new();
    let mut stretches = gaps(&session.index());
    // What stands before the first record is not in the index.
    let first = session.index().file_order().next();
    let first = first.map(|ix| session.index().span(ix).0);
    let header = session.header_span().map(|(start, _)| start);
    if let Some(first) = first.into_iter().chain(header).min() {
        stretches.insert(0, (session.first_byte(), first));
    }
    for (start, end) in stretches {
        found.extend(broken(source, start, end, size).map_err(session.io_error())?);
    }
    for odd in session.oddities() {
        if odd.what == Odd::Header {
            let message = "another header, which counts for nothing";
            found
                .push(Finding::new(Code::SecondHeader, (odd.start, odd.end), message).repairable());
        }
    }
    let last = session.index().newest_first().next();
    let end = last.map_or(0, |ix| session.index().span(ix).1);
    if let Some(ix) = last
        && end == size
    {
        let message = "no newline ends the last line";
        found.push(Finding::of(session, Code::NoFinalNewline, ix, message).repairable());
    }
    Ok(found)
}

/// The stretches between entries and headers that hold something else, in file order.
pub(crate) fn gaps(index: &Index) -> Vec<(u64, u64)> {
    let starts: Vec<u64> = index.file_order().map(|ix| index.span(ix).0).collect();
    let mut gaps: Vec<(u64, u64)> = Vec::new();
    // The place of the entry that follows the stretch at hand.
    let mut at_hand = None;
    for odd in index.oddities() {
        match odd.what {
            Odd::NoId => continue,
            Odd::Header => {
                at_hand = None;
                continue;
            }
            Odd::Unparseable(_) | Odd::TornTail | Odd::NotObject(_) => {}
        }
        let next = starts.partition_point(|start| *start < odd.start);
        match gaps.last_mut() {
            Some(gap) if at_hand == Some(next) => gap.1 = odd.end,
            _ => gaps.push((odd.start, odd.end)),
        }
        at_hand = Some(next);
    }
    gaps
}

/// Says what is wrong with each line of a stretch that holds no entry. `size` is that of the file.
pub(super) fn broken(source: &Source, start: u64, end: u64, size: u64) -> io::Result<Vec<Finding>> {
    let pieces = salvage(source, start, end)?;
    let mut pieces = pieces.as_slice();
    let mut found = Vec::new();
    for line in lines(source, start, end)? {
        let here = pieces.iter().take_while(|piece| piece.start < line.1);
        let (mut here, rest) = pieces.split_at(here.count());
        pieces = rest;
        if let Some((last, before)) = here.split_last()
            && last.end > line.1
        {
            let message =
                "line ends stand in a record as they are, so that it lies on several lines";
            let finding = Finding::new(Code::SplitRecord, (last.start, last.end), message);
            found.push(had_back(finding, last, source)?);
            here = before;
        }
        if !here.is_empty() {
            found.extend(line_of(source, here, line, line.1 == size)?);
        }
    }
    Ok(found)
}

/// Says what is wrong with a line that is made of these pieces.
fn line_of(
    source: &Source,
    here: &[Piece],
    line: (u64, u64),
    is_last: bool,
) -> io::Result<Option<Finding>> {
    let records: Vec<&Piece> = here.iter().filter(|piece| piece.is_record()).collect();
    let holds = match records.len() {
        0 => "no whole record".to_owned(),
        1 => "a whole record".to_owned(),
        n => format!("{n} whole records"),
    };
    let nuls = here.iter().find(|piece| piece.what == What::Nul);
    let is_value = matches!(here, [piece] if matches!(piece.what, What::Value(_)));
    let (code, message) = match (records.len(), nuls) {
        (_, Some(nuls)) => {
            let count = nuls.end - nuls.start;
            (
                Code::NulBytes,
                format!("{count} NULs; the line holds {holds}"),
            )
        }
        // Among lines that are no session, it may be sound.
        (1, _)
            if matches!(
                here,
                [Piece {
                    what: What::Record,
                    ..
                }]
            ) =>
        {
            return Ok(None);
        }
        (1, _) if here.len() == 1 => (
            Code::ControlCharacter,
            "control characters stand in a string as they are".to_owned(),
        ),
        (n, _) if n > 0 && n == here.len() => {
            (Code::GluedRecords, format!("the line holds {holds}"))
        }
        (1.., _) => (
            Code::FusedRecord,
            format!("the line holds {holds} beside a broken one"),
        ),
        (0, _) if is_value => (
            Code::NotAnObject,
            "the line is JSON, but no record".to_owned(),
        ),
        (0, _) if is_last => (
            Code::TornTail,
            format!("the file ends at byte {} inside a record", line.1),
        ),
        (0, _) => (Code::UnparseableLine, "the line is not JSON".to_owned()),
    };
    let span = nuls.map_or(line, |nuls| (nuls.start, nuls.end));
    let finding = Finding::new(code, span, message);
    match records.first() {
        Some(record) => had_back(finding, record, source).map(Some),
        None => Ok(Some(finding)),
    }
}

/// Names the record that can be had back.
fn had_back(finding: Finding, record: &Piece, source: &Source) -> io::Result<Finding> {
    let stored;
    let line = match &record.what {
        What::Mended(line) => line.as_slice(),
        _ => {
            stored = source.read_range(record.start, record.end)?;
            &stored
        }
    };
    let id = Raw::new(line).get("id").and_then(Raw::as_id);
    Ok(Finding {
        id,
        repairable: true,
        ..finding
    })
}

/// The lines of a stretch, without their LFs.
fn lines(source: &Source, start: u64, end: u64) -> io::Result<Vec<(u64, u64)>> {
    const BLOCK: u64 = 256 * 1024;
    let mut lines = Vec::new();
    let (mut line, mut at) = (start, start);
    while at < end {
        let block = source.read_range(at, (at + BLOCK).min(end))?;
        if block.is_empty() {
            break;
        }
        for n in memchr::memchr_iter(b'\n', &block) {
            lines.push((line, at + n as u64));
            line = at + n as u64 + 1;
        }
        at += block.len() as u64;
    }
    if line < end {
        lines.push((line, end));
    }
    Ok(lines)
}

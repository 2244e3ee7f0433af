//! Bytes that are not UTF-8, in lines that parse all the same.

use rayon::prelude::*;

use super::{Code, Finding};
use crate::error::Result;
use crate::session::Session;

/// How much one thread looks at in one go.
const BLOCK: u64 = 1 << 20;

/// Finds lines that hold such bytes, each once.
pub(super) fn check(session: &Session) -> Result<Vec<Finding>> {
    let (source, size) = (session.source(), session.size());
    let look = |n: u64| {
        let (from, to) = (n * BLOCK, ((n + 1) * BLOCK).min(size));
        // A character that lies across the border belongs to the block it begins in.
        let bytes = source.read_range(from, (to + 3).min(size))?;
        let border = |at: u64| {
            let rest = &bytes[usize::try_from(at - from).unwrap_or(0).min(bytes.len())..];
            let inside = rest.iter().take(3).take_while(|b| **b & 0xc0 == 0x80);
            at + inside.count() as u64
        };
        let start = if n == 0 { 0 } else { border(from) };
        let end = if to == size { to } else { border(to) };
        let at = |offset: u64| {
            usize::try_from(offset - from).map_or(bytes.len(), |n| n.min(bytes.len()))
        };
        Ok(bad_lines(&bytes[at(start)..at(end)], start))
    };
    let blocks = (0..size.div_ceil(BLOCK)).into_par_iter();
    let bad: std::io::Result<Vec<Vec<(u64, u64)>>> = blocks.map(look).collect();
    let bad = bad.map_err(session.io_error())?;

    let index = session.index();
    // Entries are numbered from the end of the file.
    let entries: Vec<_> = index.file_order().map(|ix| (index.span(ix), ix)).collect();
    let mut found: Vec<Finding> = Vec::new();
    for (start, end) in bad.into_iter().flatten() {
        let next = entries.partition_point(|((from, _), _)| *from <= start);
        let holder = next.checked_sub(1).map(|n| entries[n]);
        let Some((span, ix)) = holder.filter(|((_, to), _)| start < *to) else {
            continue;
        };
        if found.last().is_some_and(|last| last.span == Some(span)) {
            continue;
        }
        let message = format!("bytes {start}-{end} are not UTF-8");
        found.push(Finding::of(session, Code::InvalidUtf8, ix, message));
    }
    Ok(found)
}

/// The first bytes of each line that are not UTF-8.
fn bad_lines(mut bytes: &[u8], mut at: u64) -> Vec<(u64, u64)> {
    let mut bad = Vec::new();
    while let Err(e) = std::str::from_utf8(bytes) {
        let start = e.valid_up_to();
        let len = e.error_len().unwrap_or(bytes.len() - start);
        bad.push((at + start as u64, at + (start + len) as u64));
        let rest = start + len;
        let next = memchr::memchr(b'\n', &bytes[rest..]).map_or(bytes.len(), |n| rest + n);
        at += next as u64;
        bytes = &bytes[next..];
    }
    bad
}

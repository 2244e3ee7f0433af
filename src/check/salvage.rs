//! What a stretch of a file that does not parse still holds: whole records, and what is left
//! between them.
//!
//! Lines break in few ways: a write that was cut off and another one behind it, two writes without
//! a newline between them, blocks of a disk that were never written and read as NULs, a program
//! that put raw line ends or control characters into a string. All of them leave whole records
//! beside the break, and a record begins with `{"type":"…"`, which no string can hold unescaped.

use std::ops::Range;

use crate::entry::Kind;
use crate::json::scan::{ReadAt, Window};
use crate::json::{Raw, is_valid};

/// What a part of such a stretch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A whole record as it is stored.
    Record,
    /// A record that is whole once control characters in its strings, line ends among them, are
    /// escaped: its line.
    Mended(Vec<u8>),
    /// JSON, but no record; true where JavaScript takes the value for true.
    Value(bool),
    /// The rest of a record, or anything else.
    Fragment,
    /// NULs.
    Nul,
}

/// A part of a stretch of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Offset of its first byte.
    pub start: u64,
    /// Offset behind its last byte.
    pub end: u64,
    /// What it is.
    pub what: What,
}

impl Piece {
    /// Whether it is a record.
    pub fn is_record(&self) -> bool {
        matches!(self.what, What::Record | What::Mended(_))
    }
}

/// How much is read at once while NULs are passed.
const BLOCK: usize = 256 * 1024;

/// Each byte is looked at so often at most, on the average, before a search for records ends: in
/// nothing but beginnings every one would be followed to the end.
const PATIENCE: usize = 16;

/// The parts of a stretch of a file, in order; white space between them is left out. NULs are
/// passed without holding them; what stands between NULs is held in memory.
pub fn salvage(source: &dyn ReadAt, start: u64, end: u64) -> std::io::Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut held = Vec::new();
    let mut block = vec![0; BLOCK];
    let mut at = start;
    while at < end {
        let want = usize::try_from(end - at).map_or(BLOCK, |n| n.min(BLOCK));
        let read = match source.read_at(&mut block[..want], at) {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            break;
        }
        let mut rest = &block[..read];
        while !rest.is_empty() {
            let nuls = rest.iter().take_while(|b| **b == 0).count();
            if nuls > 0 {
                flush(&mut held, at, &mut pieces);
                let next = at + nuls as u64;
                match pieces.last_mut() {
                    Some(last) if last.what == What::Nul && last.end == at => last.end = next,
                    _ => pieces.push(piece(at, next, What::Nul)),
                }
                at = next;
                rest = &rest[nuls..];
            }
            let text = memchr::memchr(0, rest).unwrap_or(rest.len());
            held.extend_from_slice(&rest[..text]);
            at += text as u64;
            rest = &rest[text..];
        }
    }
    flush(&mut held, at, &mut pieces);
    join(source, &pieces)
}

/// So many NULs may be characters of a string. What a disk has not written is a block at least, and
/// what stands before and behind it need not be of one record.
const CHARACTERS: u64 = 16;

/// Joins fragments to the record that they are once the NULs between them are escaped.
fn join(source: &dyn ReadAt, pieces: &[Piece]) -> std::io::Result<Vec<Piece>> {
    let few = |piece: &Piece| piece.what == What::Nul && piece.end - piece.start < CHARACTERS;
    let goes_on = |a: &Piece, b: &Piece| {
        let kinds = (few(a) && b.what == What::Fragment) || (few(b) && a.what == What::Fragment);
        kinds && a.end == b.start
    };
    let mut joined = Vec::with_capacity(pieces.len());
    let mut budget = usize::MAX;
    for run in pieces.chunk_by(goes_on) {
        let first_last = run.first().zip(run.last()).filter(|_| run.len() > 2);
        let Some((first, last)) = first_last else {
            joined.extend_from_slice(run);
            continue;
        };
        let bytes = source.read_range(first.start, last.end)?;
        match mended(&bytes, &mut budget) {
            Some((len, line)) if len as u64 == last.end - first.start => {
                joined.push(piece(first.start, last.end, What::Mended(line)));
            }
            _ => joined.extend_from_slice(run),
        }
    }
    Ok(joined)
}

/// Takes apart the bytes before `end` that are held.
fn flush(held: &mut Vec<u8>, end: u64, pieces: &mut Vec<Piece>) {
    let start = end - held.len() as u64;
    let found = parts(held);
    pieces.extend(
        found
            .into_iter()
            .map(|(range, what)| piece(start + range.start as u64, start + range.end as u64, what)),
    );
    held.clear();
}

fn piece(start: u64, end: u64, what: What) -> Piece {
    Piece { start, end, what }
}

/// The whole records in a line that does not parse.
pub fn records_in(line: &[u8]) -> Vec<Range<usize>> {
    let parts = parts(line).into_iter();
    parts
        .filter(|(_, what)| matches!(what, What::Record | What::Mended(_)))
        .map(|(range, _)| range)
        .collect()
}

/// The parts of bytes that are held.
fn parts(bytes: &[u8]) -> Vec<(Range<usize>, What)> {
    let mut found = Vec::new();
    let mut budget = Budget {
        uncertain: (1 << 20) + bytes.len().saturating_mul(PATIENCE),
        certain: (1 << 20) + bytes.len().saturating_mul(PATIENCE),
    };
    let mut at = 0;
    let mut line_end = 0;
    // Whether nothing has been found on the line yet.
    let mut is_fresh = true;
    // Where the fragment at hand begins.
    let mut fragment: Option<usize> = None;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let first = rest[0];
        if first == b'\n' || (fragment.is_none() && first.is_ascii_whitespace()) {
            close(bytes, fragment.take(), at, &mut found);
            is_fresh |= first == b'\n';
            at += 1;
            continue;
        }
        if first == b'{'
            && let Some((len, what)) = record(rest, &mut budget)
            // Behind the beginning of another one it may be a part of that.
            && !(fragment.is_some() && is_part(&rest[len..]))
        {
            close(bytes, fragment.take(), at, &mut found);
            found.push((at..at + len, what));
            at += len;
            is_fresh = false;
            continue;
        }
        if line_end <= at {
            line_end = at + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        }
        let value = bytes[at..line_end].trim_ascii_end();
        if std::mem::take(&mut is_fresh) && is_valid(value) {
            let truthy = Raw::new(value).is_truthy();
            found.push((at..at + value.len(), What::Value(truthy)));
            at = line_end;
            continue;
        }
        fragment.get_or_insert(at);
        at = next_object(&bytes[at..line_end]).map_or(line_end, |next| at + next);
    }
    close(bytes, fragment, bytes.len(), &mut found);
    found
}

fn close(bytes: &[u8], fragment: Option<usize>, end: usize, found: &mut Vec<(Range<usize>, What)>) {
    if let Some(start) = fragment {
        let len = bytes[start..end].trim_ascii_end().len();
        found.push((start..start + len, What::Fragment));
    }
}

/// How many bytes a search for records may still look at, at places where one certainly begins and
/// at others.
struct Budget {
    certain: usize,
    uncertain: usize,
}

/// Whether what stands before these bytes is one of several parts of something.
fn is_part(behind: &[u8]) -> bool {
    let next = behind.iter().find(|b| !matches!(b, b' ' | b'\t' | b'\r'));
    matches!(next, Some(b',' | b']' | b'}'))
}

/// The record that begins with the bytes, if they do.
fn record(bytes: &[u8], budget: &mut Budget) -> Option<(usize, What)> {
    if !begins_entry(bytes) {
        let len = whole(bytes, &mut budget.uncertain)?;
        return is_record(&bytes[..len]).then_some((len, What::Record));
    }
    if let Some(len) = stored_record(bytes, &mut budget.certain) {
        return Some((len, What::Record));
    }
    let (len, line) = mended(bytes, &mut budget.certain)?;
    Some((len, What::Mended(line)))
}

/// The record at the start of the bytes, as a line. See [`mend`].
fn mended(bytes: &[u8], budget: &mut usize) -> Option<(usize, Vec<u8>)> {
    let (len, line) = mend(bytes, budget)?;
    (is_valid(&line) && is_record(&line)).then_some((len, line))
}

/// The length of the record of a known kind that begins with the bytes, if they do.
fn stored_record(bytes: &[u8], budget: &mut usize) -> Option<usize> {
    let len = begins_entry(bytes).then(|| whole(bytes, budget))??;
    is_record(&bytes[..len]).then_some(len)
}

/// The length of the value at the start of the bytes, if it is JSON.
fn whole(bytes: &[u8], budget: &mut usize) -> Option<usize> {
    /// A window copies what it passes: most records are short, however much follows them.
    const FIRST: usize = 4096;
    let mut limit = FIRST;
    loop {
        let held = &bytes[..bytes.len().min(limit)];
        let mut window = Window::new(&held, 0, held.len() as u64);
        let passed = window.skip_value();
        let len = usize::try_from(window.offset()).ok()?;
        *budget = budget.checked_sub(len)?;
        match passed {
            Ok(_) => return Some(len),
            Err(_) if len == held.len() && limit < bytes.len() => limit *= 8,
            Err(_) => return None,
        }
    }
}

/// Whether the bytes begin as entries do: with their type, a known one.
fn begins_entry(bytes: &[u8]) -> bool {
    // Other programs than pi put spaces there.
    let tokens: [&[u8]; 4] = [b"{", b"\"type\"", b":", b"\""];
    let rest = tokens.iter().try_fold(bytes, |rest, token| {
        rest.trim_ascii_start().strip_prefix(*token)
    });
    let name = rest.and_then(|rest| rest.split(|b| *b == b'"').next());
    name.is_some_and(|name| Kind::of(name) != Kind::Other)
}

/// The next place in the bytes, behind the first one, at which an object with members begins.
fn next_object(bytes: &[u8]) -> Option<usize> {
    let begins = |at: &usize| {
        let rest = bytes[at + 1..].trim_ascii_start();
        rest.first() == Some(&b'"')
    };
    memchr::memchr_iter(b'{', bytes)
        .filter(|at| *at > 0)
        .find(begins)
}

/// Whether an object is a header or an entry, and not a part of one.
fn is_record(object: &[u8]) -> bool {
    let raw = Raw::new(object);
    let has = |key: &str| raw.get(key).is_some();
    let Some(kind) = raw.str("type") else {
        return false;
    };
    match Kind::of(kind.as_bytes()) {
        Kind::Session => raw.str("id").is_some() && has("timestamp"),
        // Blocks of a message have a type, too, and calls an id.
        Kind::Other => has("id") && (has("parentId") || has("timestamp")),
        _ => has("timestamp") || has("parentId"),
    }
}

/// Whether the bytes begin with a record that is no part of another one.
fn is_next_record(bytes: &[u8], budget: &mut usize) -> bool {
    stored_record(bytes, budget).is_some_and(|len| !is_part(&bytes[len..]))
}

/// The object at the start of the bytes, as a line: control characters in its strings escaped,
/// line ends between its tokens as spaces. `None` where it has no end before the next record.
/// Whether it is valid is left to the caller.
fn mend(bytes: &[u8], budget: &mut usize) -> Option<(usize, Vec<u8>)> {
    let mut line = Vec::new();
    let mut depth = 0usize;
    let mut in_string = false;
    let mut at = 0;
    while let Some(&b) = bytes.get(at) {
        at += 1;
        *budget = budget.checked_sub(1)?;
        match b {
            b'{' if in_string && begins_entry(&bytes[at - 1..]) => return None,
            // Cut off where a value may follow, the next record looks like that value.
            b'{' if depth > 0 && is_next_record(&bytes[at - 1..], budget) => return None,
            b'\\' if in_string => {
                line.push(b);
                line.push(*bytes.get(at)?);
                at += 1;
                continue;
            }
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.checked_sub(1)?,
            b'\n' if !in_string => {
                if begins_entry(&bytes[at..]) {
                    return None;
                }
                line.push(b' ');
                continue;
            }
            0..0x20 if in_string => {
                match b {
                    b'\n' => line.extend_from_slice(b"\\n"),
                    b'\r' => line.extend_from_slice(b"\\r"),
                    b'\t' => line.extend_from_slice(b"\\t"),
                    _ => line.extend_from_slice(format!("\\u{b:04x}").as_bytes()),
                }
                continue;
            }
            _ => {}
        }
        line.push(b);
        if depth == 0 && !in_string {
            return Some((at, line));
        }
    }
    None
}

/// What an entry that is lost hung on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Above<T> {
    /// Another entry.
    Entry(T),
    /// Nothing: it was a root.
    Nothing,
    /// That is lost, too.
    Unknown,
}

/// The id and the parent that the beginning of a record names, as far as it was written.
pub fn head_of(fragment: &[u8]) -> Option<(String, Above<String>)> {
    let raw = Raw::new(fragment);
    let id = raw.get("id")?.as_id()?;
    let above = match raw.get("parentId") {
        Some(parent) if parent.is_null() => Above::Nothing,
        parent => parent
            .and_then(Raw::as_id)
            .map_or(Above::Unknown, Above::Entry),
    };
    Some((id, above))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = r#"{"type":"message","id":"a","parentId":null,"message":{"content":[{"type":"text","text":"x"}]}}"#;
    const B: &str = r#"{"type":"label","id":"b","parentId":"a","targetId":"a"}"#;

    const SPACED: &str = r#"{ "type" : "message", "id": "c", "timestamp": 1 }"#;

    fn found(bytes: &[u8]) -> Vec<(&str, String)> {
        let name = |what: &What| match what {
            What::Record => "record",
            What::Mended(_) => "mended",
            What::Value(true) => "value",
            What::Value(false) => "nothing",
            What::Fragment => "fragment",
            What::Nul => "nul",
        };
        let text = |piece: &Piece| match &piece.what {
            What::Mended(line) => String::from_utf8_lossy(line).into_owned(),
            _ => {
                let at = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
                String::from_utf8_lossy(&bytes[at(piece.start)..at(piece.end)]).into_owned()
            }
        };
        let pieces = salvage(&bytes, 0, bytes.len() as u64).unwrap_or_default();
        pieces.iter().map(|p| (name(&p.what), text(p))).collect()
    }

    #[test]
    fn whole_records_are_found_beside_what_is_broken() {
        let torn = &A[..60];
        for (bytes, wanted) in [
            (format!("{A}{B}"), vec![("record", A), ("record", B)]),
            (format!("{A}  {B} \r"), vec![("record", A), ("record", B)]),
            (
                format!("{torn}{B}"),
                vec![("fragment", torn), ("record", B)],
            ),
            (
                format!("{torn}{B}{torn}\n\n{A}"),
                vec![
                    ("fragment", torn),
                    ("record", B),
                    ("fragment", torn),
                    ("record", A),
                ],
            ),
            // Cut off where a value may follow, the next record looks like that value.
            (
                format!("{}{B}", &A[..53]),
                vec![("fragment", &A[..53]), ("record", B)],
            ),
            (
                format!("\0\0\0{A}\0"),
                vec![("nul", "\0\0\0"), ("record", A), ("nul", "\0")],
            ),
            (torn.to_owned(), vec![("fragment", torn)]),
            (
                format!("{torn}{SPACED}{SPACED}"),
                vec![("fragment", torn), ("record", SPACED), ("record", SPACED)],
            ),
            (
                format!("{A}xyz\nnot json"),
                vec![("record", A), ("fragment", "xyz"), ("fragment", "not json")],
            ),
            (
                "42\nnull\n[1]\n{\"a\":1}".to_owned(),
                vec![
                    ("value", "42"),
                    ("nothing", "null"),
                    ("value", "[1]"),
                    ("value", "{\"a\":1}"),
                ],
            ),
            (" \r\n\t\n".to_owned(), vec![]),
        ] {
            let wanted: Vec<_> = wanted.into_iter().map(|(n, t)| (n, t.to_owned())).collect();
            assert_eq!(found(bytes.as_bytes()), wanted, "{bytes:?}");
        }
    }

    #[test]
    fn raw_control_characters_are_escaped() {
        let with = |text: &str| A.replace("\"x\"", &format!("\"{text}\""));
        for (raw, escaped) in [
            ("one\ntwo", "one\\ntwo"),
            ("\n\none\r\n\n", "\\n\\none\\r\\n\\n"),
            ("\u{1b}[0m\t{", "\\u001b[0m\\t{"),
            ("a\\\"\nb", "a\\\"\\nb"),
        ] {
            let bytes = with(raw);
            assert_eq!(found(bytes.as_bytes()), [("mended", with(escaped))]);
        }
        let laid_out = A.replace(',', ",\n  ");
        assert_eq!(
            found(laid_out.as_bytes()),
            [("mended", A.replace(',', ",   "))]
        );
        // Neither does one that what follows it seems to end.
        let cut = &A[..53];
        let wanted = [("fragment", cut), ("record", B), ("fragment", "}")];
        let wanted = wanted.map(|(name, text)| (name, text.to_owned()));
        assert_eq!(found(format!("{cut}{B}\n}}").as_bytes()), wanted);
        // What is inside of a record is none, and keeps no other from being one.
        let inside = format!("{{\"a\":[{A},{B}],\"b\":");
        let torn = format!("{}{inside}", &A[..53]);
        assert_eq!(found(torn.as_bytes()), [("fragment", torn.clone())]);
        let whole = A.replace("\"x\"", &format!("\"\u{1}\",\"y\":{B}"));
        let wanted = whole.replace('\u{1}', "\\u0001");
        assert_eq!(found(whole.as_bytes()), [("mended", wanted)]);
        // A few NULs may be characters, many are none.
        let nul = with("a\0b\0\0c");
        assert_eq!(
            found(nul.as_bytes()),
            [("mended", with("a\\u0000b\\u0000\\u0000c"))]
        );
        assert_eq!(found(with(&"\0".repeat(512)).as_bytes()).len(), 3);
        // A record that was cut off inside a string does not swallow the next one.
        let torn = format!("{}\n{}\n{B}", &A[..88], with("\u{1}"));
        let wanted = [
            ("fragment", A[..88].to_owned()),
            ("mended", with("\\u0001")),
            ("record", B.to_owned()),
        ];
        assert_eq!(found(torn.as_bytes()), wanted);
    }

    #[test]
    fn a_fragment_tells_what_it_was() {
        let head = |text: &str| head_of(text.as_bytes());
        let a = |above: Above<&str>| {
            let above = match above {
                Above::Entry(id) => Above::Entry(id.to_owned()),
                Above::Nothing => Above::Nothing,
                Above::Unknown => Above::Unknown,
            };
            Some(("a".to_owned(), above))
        };
        assert_eq!(
            head(r#"{"type":"message","id":"a","parentId":"b","ti"#),
            a(Above::Entry("b"))
        );
        assert_eq!(
            head(r#"{"type":"message","id":"a","parentId":null,"ti"#),
            a(Above::Nothing)
        );
        assert_eq!(
            head(r#"{"type":"message","id":"a","par"#),
            a(Above::Unknown)
        );
        assert_eq!(head(r#"{"type":"mess"#), None);
        assert_eq!(head("xyz"), None);
    }

    #[test]
    fn much_that_is_broken_takes_no_time() {
        let many = format!(
            "{}{{\"type\":\"x\",",
            "{\"type\":\"message\",\"a\":[".repeat(8_000)
        );
        let glued = "{ \"type\": \"label\", \"timestamp\": 1}".repeat(100_000);
        let start = std::time::Instant::now();
        assert_eq!(found(glued.as_bytes()).len(), 100_000);
        assert_eq!(found(many.as_bytes()).len(), 1);
        assert!(start.elapsed().as_secs() < 10);
    }
}

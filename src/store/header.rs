//! The header of a session, and how pi finds it: the first line that parses.

use std::io;
use std::path::{Path, PathBuf};

use crate::entry::Kind;
use crate::error::{Error, Result};
use crate::json::Raw;
use crate::json::scan::{Line, ReadAt, Window};

/// The first record of a session.
#[derive(Debug, Clone, Default)]
pub struct Header {
    /// The stored line, without its LF; empty where the file has no header.
    pub line: Vec<u8>,
    /// The session's id.
    pub id: String,
    /// The version as JavaScript compares it; see [`Header::migration`].
    pub version: f64,
    /// The directory the session belongs to.
    pub cwd: Option<String>,
    /// When it was begun, as stored.
    pub timestamp: Option<String>,
    /// The file it was forked or copied from.
    pub parent_session: Option<String>,
}

/// What pi would rewrite when it opens the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Migration {
    /// Nothing.
    None,
    /// Version 2: the role `hookMessage` is called `custom` since.
    Roles,
    /// Version 1: a linear file without ids.
    Ids,
}

/// A header, where it lies, and what that means for reading.
#[derive(Debug, Clone)]
pub struct Found {
    /// The header.
    pub header: Header,
    /// The offset of the header's line; `None` where there is none.
    pub at: Option<u64>,
    /// The offset from which entries are read.
    pub floor: u64,
    /// How the file differs from one that pi opens.
    pub state: State,
}

/// Whether pi would open the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It would.
    Fine,
    /// A byte order mark stands before the header.
    ByteOrderMark,
    /// The header is not the first record.
    HeaderNotFirst,
    /// There are entries, but no header.
    NoHeader,
}

impl Header {
    /// The header that a record is, if it is one.
    pub(crate) fn read(line: &[u8]) -> Option<Header> {
        is_header(line).then(|| Header::of(line))
    }

    fn of(line: &[u8]) -> Header {
        let raw = Raw::new(line);
        let text = |key: &str| raw.str(key).map(std::borrow::Cow::into_owned);
        Header {
            line: line.to_vec(),
            id: text("id").unwrap_or_default(),
            version: version(raw.get("version")),
            cwd: text("cwd"),
            timestamp: text("timestamp"),
            parent_session: text("parentSession").or_else(|| text("branchedFrom")),
        }
    }

    /// What pi would migrate: anything that is not at least 3.
    pub fn migration(&self) -> Migration {
        if self.version < 2.0 {
            Migration::Ids
        } else if self.version < 3.0 {
            Migration::Roles
        } else {
            Migration::None
        }
    }

    /// The file that the session was forked or copied from, which need not be there. A relative
    /// path is meant from the directory of the session's project, where pi ran.
    pub fn parent_path(&self) -> Option<PathBuf> {
        let path = self.parent_session.as_deref()?;
        let base = self.cwd.as_deref().unwrap_or_default();
        (!path.is_empty()).then(|| Path::new(base).join(path))
    }

    /// Whether the version is a number, as it should be. (None at all is version 1.)
    pub fn version_is_number(&self) -> bool {
        let version = Raw::new(&self.line).get("version");
        version.is_none_or(Raw::is_number)
    }

    /// Whether the version is one that pis knows how to write.
    pub fn is_newer(&self) -> bool {
        self.version > 3.0
    }
}

/// `header.version ?? 1`, as JavaScript compares it with a number.
fn version(value: Option<Raw<'_>>) -> f64 {
    let Some(value) = value.filter(|v| !v.is_null()) else {
        return 1.0;
    };
    if let Some(text) = value.as_str() {
        return match text.trim() {
            "" => 0.0,
            text => text.parse().unwrap_or(f64::NAN),
        };
    }
    let flag = value.as_bool().map(|b| f64::from(u8::from(b)));
    value.as_f64().or(flag).unwrap_or(f64::NAN)
}

/// The first records of a file tell what it is; a header that is not among them is not looked for.
const PROBE: usize = 3;

/// Finds the header of an opened file of `len` bytes.
pub(crate) fn find(source: &dyn ReadAt, len: u64, path: &Path) -> Result<Found> {
    let not = |reason: String| Error::NotASession {
        path: path.to_owned(),
        reason,
    };
    if len == 0 {
        return Err(not(
            "it is empty (pi writes a header into it when it opens it)".into(),
        ));
    }
    let mut start = [0; 3];
    let read = source
        .read_at(&mut start, 0)
        .map_err(Error::io("read", path))?;
    if start.starts_with(&[0x1f, 0x8b]) {
        return Err(not("it is compressed with gzip".into()));
    }
    let bom = read == 3 && start == *b"\xef\xbb\xbf";
    let mut records = Records::new(source, if bom { 3 } else { 0 }, len);
    let mut before: Vec<(Vec<u8>, u64)> = Vec::new();
    while before.len() < PROBE {
        let Some(record) = records.next().map_err(Error::io("read", path))? else {
            break;
        };
        if is_header(&record.line) {
            let state = match before.first() {
                Some(_) => State::HeaderNotFirst,
                None if bom => State::ByteOrderMark,
                None => State::Fine,
            };
            // A title line that another program put before the header is no entry.
            let floor = match before.iter().find(|(line, _)| looks_like_entry(line)) {
                Some((_, start)) => *start,
                None => record.next,
            };
            return Ok(Found {
                header: Header::of(&record.line),
                at: Some(record.start),
                floor,
                state,
            });
        }
        before.push((record.line, record.start));
    }
    match before.first() {
        None if start.starts_with(b"PK") => Err(not("it is a zip archive".into())),
        None if first_text(source, len).map_err(Error::io("read", path))? == Some(b'<') => Err(
            not("it is an HTML page; sessions are exported for other programs as JSONL".into()),
        ),
        None => Err(not("no line of it is JSON".into())),
        Some((line, start)) if looks_like_entry(line) => Ok(Found {
            header: Header {
                version: 3.0,
                ..Header::default()
            },
            at: None,
            floor: *start,
            state: State::NoHeader,
        }),
        Some((line, _)) => Err(not(format!(
            "{} (pi's begin with a header line)",
            guess(line)
        ))),
    }
}

/// Reads the header as pi's discovery does: only where it is the first record and ends within
/// the first `limit` bytes. Errors count as no header.
pub fn read_for_discovery(path: &Path, limit: u64) -> Option<Header> {
    let source = super::source::Source::open(path).ok()?;
    let len = source.len().min(limit);
    let mut records = Records::new(&source, 0, len);
    let record = records.next().ok()??;
    // Cut at the limit, the line would be longer.
    if record.next > limit || (record.next == limit && !record.newline && source.len() > limit) {
        return None;
    }
    Header::read(&record.line)
}

/// The first byte of a file that is not white space.
fn first_text(source: &dyn ReadAt, len: u64) -> io::Result<Option<u8>> {
    let start = source.read_range(0, len.min(1024))?;
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start);
    Ok(text.trim_ascii_start().first().copied())
}

/// Whether a file holds nothing but white space.
pub(crate) fn is_blank(source: &dyn ReadAt, len: u64) -> io::Result<bool> {
    let mut window = Window::new(source, 0, len);
    while window.offset() < len {
        let (line, _) = window.line(|w| w.members(|w, _| w.skip_value().map(|_| ())));
        if line != Line::Blank {
            return Ok(false);
        }
    }
    window.take_error()?;
    Ok(true)
}

fn is_header(line: &[u8]) -> bool {
    let raw = Raw::new(line);
    raw.str("type").is_some_and(|t| t == "session") && raw.str("id").is_some()
}

/// Whether a record before the header, or without one, is an entry, and not of another program.
pub(crate) fn looks_like_entry(line: &[u8]) -> bool {
    let raw = Raw::new(line);
    let kind = crate::entry::Entry::new(line).kind();
    // A header without a proper id is neither: pi refuses the file.
    let known = !matches!(kind, Kind::Other | Kind::Session);
    // Entries of version 1 have a time and no id.
    let is_dated = raw.get("timestamp").is_some();
    let is_whole = is_dated || raw.get("id").is_some() || raw.get("message").is_some();
    known && raw.get("uuid").is_none() && is_whole
}

/// What a foreign first line belongs to.
fn guess(line: &[u8]) -> String {
    let raw = Raw::new(line);
    let kind = raw.str("type").unwrap_or_default();
    if raw.get("uuid").is_some() || raw.get("sessionId").is_some() {
        "it looks like a Claude Code transcript".to_owned()
    } else if kind == "session_meta" {
        "it looks like a Codex session".to_owned()
    } else if raw.str("kind").is_some_and(|k| k == "header") {
        "its header is that of another product".to_owned()
    } else if raw.is_object() {
        "its first record is no session header".to_owned()
    } else {
        "its first record is no JSON object".to_owned()
    }
}

/// The records at the start of a file, whole. Lines that do not parse are passed over.
struct Records<'s> {
    source: &'s dyn ReadAt,
    window: Window<'s>,
}

struct Record {
    line: Vec<u8>,
    start: u64,
    next: u64,
    newline: bool,
}

impl<'s> Records<'s> {
    fn new(source: &'s dyn ReadAt, start: u64, len: u64) -> Self {
        Records {
            source,
            window: Window::new(source, start, len),
        }
    }

    fn next(&mut self) -> io::Result<Option<Record>> {
        loop {
            let start = self.window.offset();
            let (line, end) = self
                .window
                .line(|w| w.members(|w, _| w.skip_value().map(|_| ())));
            self.window.take_error()?;
            if matches!(line, Line::Object | Line::NotObject) {
                let bytes = self.source.read_range(start, end.at)?;
                let (next, newline) = (self.window.offset(), end.newline);
                return Ok(Some(Record {
                    line: bytes,
                    start,
                    next,
                    newline,
                }));
            }
            if !end.newline {
                return Ok(None);
            }
        }
    }
}

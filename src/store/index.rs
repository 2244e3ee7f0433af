//! The heads of a session's entries: where each line lies, its id, parent, kind and time.
//!
//! One structure serves both ways of reading. It grows from the end of the file towards its
//! start, so entries are numbered newest first and a number stays what it is while more is read;
//! the last entry with an id is met first, which is the one that counts. A command that looks at
//! the end only never reads the rest; one that needs everything has the rest scanned in blocks on
//! all cores. Memory grows with the number of entries, not with their size.

use std::hash::BuildHasher;
use std::io;

use hashbrown::{DefaultHashBuilder, HashTable};
use rayon::prelude::*;

use super::source::Source;
use crate::entry::{Kind, Role};
use crate::json::scan::{Bad, Key, Line, Shape, Window};
use crate::time;

/// An entry by its number: 0 is the last line of the file, counting towards its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ix(pub(crate) u32);

impl Ix {
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// What an entry's `parentId` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParentId<'a> {
    /// An id.
    Id(&'a [u8]),
    /// `null`: a root.
    Null,
    /// There is none: a root in effect.
    Missing,
    /// An empty string, or no string at all: a root in effect.
    Invalid,
}

#[derive(Debug, Clone, Copy, Default)]
struct Span {
    at: usize,
    len: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParentKind {
    Id,
    Null,
    Missing,
    Invalid,
}

/// The head of one entry.
#[derive(Debug, Clone, Copy)]
struct Rec {
    start: u64,
    end: u64,
    /// Milliseconds, or `NO_TIME`.
    time: i64,
    id: Option<Span>,
    parent: Span,
    parent_kind: ParentKind,
    kind: Kind,
    role: Role,
}

const NO_TIME: i64 = i64::MIN;

/// A line that is not an ordinary entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Oddity {
    /// Offset of the line's first byte.
    pub start: u64,
    /// Offset behind its last byte, the LF not counted.
    pub end: u64,
    /// What it is.
    pub what: Odd,
}

/// What is odd about a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Odd {
    /// It does not parse; pi skips it.
    Unparseable(Bad),
    /// It does not parse and nothing, not even an LF, follows it.
    TornTail,
    /// JSON, but no object; `true` where JavaScript takes the value for true, so that pi counts
    /// an entry without an id.
    NotObject(bool),
    /// A header, other than the file's own.
    Header,
    /// An entry without an id: it cannot be reached.
    NoId,
}

/// The entries of a stretch of the file, in file order.
#[derive(Debug, Default)]
struct Chunk {
    recs: Vec<Rec>,
    arena: Vec<u8>,
    odd: Vec<Oddity>,
}

/// All heads read so far. See the module's text.
#[derive(Debug)]
pub struct Index {
    recs: Vec<Rec>,
    arena: Vec<u8>,
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
    odd: Vec<Oddity>,
    /// Lines read from this offset on.
    frontier: u64,
    floor: u64,
}

/// How much is scanned in one go when the whole file is needed; also the least that is worth a
/// second thread.
const BLOCK: u64 = 4 << 20;

/// How many entries one thread passes in one go.
const SOME: usize = 64;

/// How much the search from the end reads first; it doubles with every step.
const FIRST_STEP: u64 = 32 * 1024;

/// Once the search from the end has passed this much, the rest is scanned on all cores.
const PATIENCE: u64 = 8 << 20;

impl Index {
    /// An index of nothing yet. `floor` is where the first entry can start.
    pub(crate) fn new(len: u64, floor: u64) -> Self {
        Index {
            recs: Vec::new(),
            arena: Vec::new(),
            ids: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            odd: Vec::new(),
            frontier: len,
            floor,
        }
    }

    /// Whether every line has been read.
    pub fn is_complete(&self) -> bool {
        self.frontier <= self.floor
    }

    /// The number of entries read so far.
    pub fn len(&self) -> usize {
        self.recs.len()
    }

    /// Whether no entry has been read.
    pub fn is_empty(&self) -> bool {
        self.recs.is_empty()
    }

    /// All entries read so far, newest first.
    pub fn newest_first(&self) -> impl DoubleEndedIterator<Item = Ix> + use<> {
        self.since(0)
    }

    /// The entries read after the first `passed` ones, newest first.
    pub(crate) fn since(&self, passed: usize) -> impl DoubleEndedIterator<Item = Ix> + use<> {
        let number = |n| u32::try_from(n).unwrap_or(u32::MAX);
        (number(passed)..number(self.recs.len())).map(Ix)
    }

    /// All entries read so far, in file order.
    pub fn file_order(&self) -> impl DoubleEndedIterator<Item = Ix> + use<> {
        self.newest_first().rev()
    }

    fn bytes(&self, span: Span) -> &[u8] {
        &self.arena[span.at..span.at + span.len as usize]
    }

    /// The entry's id; `None` where it has none.
    pub fn id(&self, ix: Ix) -> Option<&[u8]> {
        self.recs[ix.at()].id.map(|span| self.bytes(span))
    }

    /// The entry's id as text; empty where it has none. Ids decode lossily, like all text.
    pub fn id_text(&self, ix: Ix) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.id(ix).unwrap_or_default())
    }

    /// What the entry names as its parent.
    pub fn parent_id(&self, ix: Ix) -> ParentId<'_> {
        let rec = &self.recs[ix.at()];
        match rec.parent_kind {
            ParentKind::Id => ParentId::Id(self.bytes(rec.parent)),
            ParentKind::Null => ParentId::Null,
            ParentKind::Missing => ParentId::Missing,
            ParentKind::Invalid => ParentId::Invalid,
        }
    }

    /// The kind of entry.
    pub fn kind(&self, ix: Ix) -> Kind {
        self.recs[ix.at()].kind
    }

    /// The role of the entry's message; `Other` for anything but a message.
    pub fn role(&self, ix: Ix) -> Role {
        self.recs[ix.at()].role
    }

    /// The entry's `timestamp` in Unix milliseconds; `None` where it is no date.
    pub fn time(&self, ix: Ix) -> Option<i64> {
        Some(self.recs[ix.at()].time).filter(|&t| t != NO_TIME)
    }

    /// Offsets of the line's first byte and of the byte behind its last (the LF not counted).
    pub fn span(&self, ix: Ix) -> (u64, u64) {
        let rec = &self.recs[ix.at()];
        (rec.start, rec.end)
    }

    /// The lines met so far that are no ordinary entries, in file order.
    pub fn oddities(&self) -> Vec<Oddity> {
        let mut odd = self.odd.clone();
        odd.sort_by_key(|o| o.start);
        odd
    }

    /// The entry with an id among those read so far: the last one in the file.
    pub fn known(&self, id: &[u8]) -> Option<Ix> {
        let hash = self.hasher.hash_one(id);
        self.ids
            .find(hash, |&n| self.id(Ix(n)) == Some(id))
            .map(|&n| Ix(n))
    }

    /// Whether the entry is the one its id stands for: a later line may repeat the id.
    pub fn is_current(&self, ix: Ix) -> bool {
        self.id(ix).is_some_and(|id| self.known(id) == Some(ix))
    }

    /// The entry with an id; reads as far towards the start as it must.
    pub(crate) fn find(&mut self, source: &Source, id: &[u8]) -> io::Result<Option<Ix>> {
        loop {
            if let Some(ix) = self.known(id) {
                return Ok(Some(ix));
            }
            if !self.read_more(source)? {
                return Ok(None);
            }
        }
    }

    /// Reads the next stretch towards the start; false where there is none.
    pub(crate) fn read_more(&mut self, source: &Source) -> io::Result<bool> {
        if self.is_complete() {
            return Ok(false);
        }
        let passed = source.len() - self.frontier;
        if passed >= PATIENCE {
            self.read_all(source)?;
            return Ok(true);
        }
        let step = passed.max(FIRST_STEP);
        let target = self.frontier.saturating_sub(step).max(self.floor);
        // Lines that start before the target are left for later, however long they are, as long as
        // there is one behind it.
        let start = match source.next_line(target, self.frontier)? {
            Some(start) if target > self.floor => start,
            _ => source.line_start(target, self.floor)?,
        };
        let chunk = scan(source, start, self.frontier, source.len(), &mut ())?;
        self.frontier = start;
        self.absorb(chunk);
        Ok(true)
    }

    /// Reads everything that has not been read yet, on all cores.
    pub(crate) fn read_all(&mut self, source: &Source) -> io::Result<()> {
        if self.is_complete() {
            return Ok(());
        }
        self.read_rest::<()>(source).map(|_| ())
    }

    /// Reads everything that has not been read yet, and passes every entry to a companion, one a
    /// block, in file order.
    pub(crate) fn read_all_with<A: Along>(&mut self, source: &Source) -> io::Result<Vec<A>> {
        // Of what lies behind the frontier the heads are known; only the companion has not seen it.
        let behind = scan_blocks::<A>(source, self.frontier, source.len())?;
        let mut along = self.read_rest(source)?;
        along.extend(behind.into_iter().map(|(_, along)| along));
        Ok(along)
    }

    fn read_rest<A: Along>(&mut self, source: &Source) -> io::Result<Vec<A>> {
        let (start, end) = (self.floor, self.frontier.max(self.floor));
        let mut along = Vec::new();
        for (chunk, beside) in scan_blocks(source, start, end)?.into_iter().rev() {
            self.absorb(chunk);
            along.push(beside);
        }
        self.frontier = start;
        along.reverse();
        Ok(along)
    }

    /// Passes some entries to companions, in the order given, on all cores.
    pub(crate) fn pass<A: Along>(&self, source: &Source, entries: &[Ix]) -> io::Result<Vec<A>> {
        let pass = |entries: &[Ix]| {
            let mut along = A::default();
            for &ix in entries {
                let (start, end) = self.span(ix);
                // The LF belongs to the line.
                scan(source, start, end, end + 1, &mut along)?;
            }
            Ok(along)
        };
        entries.par_chunks(SOME).map(pass).collect()
    }

    /// Takes over the entries of a stretch that lies before everything read so far.
    fn absorb(&mut self, chunk: Chunk) {
        let base = self.arena.len();
        let moved = |span: Span| Span {
            at: span.at + base,
            ..span
        };
        self.arena.extend_from_slice(&chunk.arena);
        self.odd.extend(chunk.odd);
        self.recs.reserve(chunk.recs.len());
        for mut rec in chunk.recs.into_iter().rev() {
            rec.id = rec.id.map(moved);
            rec.parent = moved(rec.parent);
            let n = u32::try_from(self.recs.len()).unwrap_or(u32::MAX);
            self.recs.push(rec);
            self.add_id(n);
        }
    }

    fn add_id(&mut self, n: u32) {
        let Some(span) = self.recs[n as usize].id else {
            return;
        };
        let (recs, arena, hasher) = (&self.recs, &self.arena, &self.hasher);
        let bytes = |span: Span| &arena[span.at..span.at + span.len as usize];
        let id = bytes(span);
        let id_of = |n: u32| recs[n as usize].id.map_or(&[][..], bytes);
        let hash = hasher.hash_one(id);
        if self.ids.find(hash, |&other| id_of(other) == id).is_none() {
            self.ids
                .insert_unique(hash, n, |&other| hasher.hash_one(id_of(other)));
        }
    }

    /// Gives every entry the id and parent that version 1 implies: a chain in file order.
    ///
    /// `id_of` turns the place of a record among all that parse (the header is 0) into an id.
    pub(crate) fn chain(&mut self, first: u64, id_of: impl Fn(u64) -> String) {
        // Lines that count as records without being entries move the numbers on.
        let counted: Vec<u64> = self
            .oddities()
            .iter()
            .filter(|o| matches!(o.what, Odd::NotObject(true) | Odd::Header))
            .map(|o| o.start)
            .collect();
        self.ids.clear();
        self.arena.clear();
        let mut previous = None;
        for (nth, n) in (0..self.recs.len()).rev().enumerate() {
            let before = counted.partition_point(|&start| start < self.recs[n].start);
            let id = id_of(first + nth as u64 + before as u64);
            let span = push(&mut self.arena, id.as_bytes());
            let rec = &mut self.recs[n];
            rec.id = Some(span);
            rec.parent = previous.unwrap_or_default();
            rec.parent_kind = if previous.is_some() {
                ParentKind::Id
            } else {
                ParentKind::Null
            };
            previous = Some(span);
        }
        for n in 0..u32::try_from(self.recs.len()).unwrap_or(u32::MAX) {
            self.add_id(n);
        }
        self.odd.retain(|o| o.what != Odd::NoId);
    }
}

fn push(arena: &mut Vec<u8>, bytes: &[u8]) -> Span {
    let at = arena.len();
    arena.extend_from_slice(bytes);
    Span {
        at,
        len: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
    }
}

/// Something that goes along with the scan of heads and keeps what else it needs of an entry, so
/// that a line is passed once. It is asked to pass each value that is not part of the head.
pub(crate) trait Along: Default + Send {
    /// A line begins: what was kept of the one before is void, which may have been no entry.
    fn begin(&mut self) {}

    /// The entry's message begins, perhaps once more: the last one counts.
    fn begin_message(&mut self) {}

    /// The message that begins is an object.
    fn enter_message(&mut self) {}

    /// Passes the value of one of the entry's own keys.
    fn member(&mut self, window: &mut Window<'_>, _: Key) -> Result<(), Bad> {
        window.skip_value().map(|_| ())
    }

    /// Passes the value of one of the keys of its message.
    fn message_member(&mut self, window: &mut Window<'_>, _: Key) -> Result<(), Bad> {
        window.skip_value().map(|_| ())
    }

    /// The line was an entry.
    fn entry(&mut self, _: &Passed<'_>) {}
}

/// Nothing goes along.
impl Along for () {}

/// The head of an entry that has just been passed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passed<'a> {
    pub(crate) kind: Kind,
    /// `type` as stored; empty where it is no string.
    pub(crate) kind_name: &'a [u8],
    pub(crate) role: Role,
    /// The role as stored; empty where it is no string.
    pub(crate) role_name: &'a [u8],
    pub(crate) time: Option<i64>,
    /// Bytes of the line, its LF included.
    pub(crate) bytes: u64,
}

/// Scans a stretch in blocks, each by whichever thread is free.
fn scan_blocks<A: Along>(source: &Source, start: u64, end: u64) -> io::Result<Vec<(Chunk, A)>> {
    let blocks = (end - start).div_ceil(BLOCK);
    let scan_with = |start: u64, end: u64| {
        let mut along = A::default();
        let chunk = scan(source, start, end, source.len(), &mut along)?;
        Ok((chunk, along))
    };
    if blocks <= 1 {
        return Ok(vec![scan_with(start, end)?]);
    }
    let block = |n: u64| {
        let from = start + n * BLOCK;
        let to = (from + BLOCK).min(end);
        // A block owns the lines that start in it. A line starts at `start` or behind an LF.
        let mut first = from;
        if n > 0 {
            let mut window = Window::new(source, from - 1, to);
            window.pass_line_end();
            window.take_error()?;
            first = window.offset();
        }
        scan_with(first, to)
    };
    (0..blocks).into_par_iter().map(block).collect()
}

/// Scans the lines that start in `start..end`; the last one may reach up to `limit`.
fn scan<A: Along>(
    source: &Source,
    start: u64,
    end: u64,
    limit: u64,
    along: &mut A,
) -> io::Result<Chunk> {
    let mut window = Window::new(source, start, limit);
    let mut chunk = Chunk::default();
    let mut head = Head::default();
    while window.offset() < end {
        let at = window.offset();
        head.clear();
        along.begin();
        let (line, line_end) = window.line(|w| head.read(w, along));
        let mut odd = |what| {
            let (start, end) = (at, line_end.at);
            chunk.odd.push(Oddity { start, end, what });
        };
        match line {
            Line::Blank => {}
            Line::Object if head.kind == Kind::Session => odd(Odd::Header),
            Line::Object => {
                if !head.has_id {
                    odd(Odd::NoId);
                }
                along.entry(&head.passed(line_end.at - at + u64::from(line_end.newline)));
                let rec = head.rec(at, line_end.at, &mut chunk.arena);
                chunk.recs.push(rec);
            }
            Line::Falsy => odd(Odd::NotObject(false)),
            Line::NotObject => odd(Odd::NotObject(true)),
            Line::Bad(_) if !line_end.newline => odd(Odd::TornTail),
            Line::Bad(bad) => odd(Odd::Unparseable(bad)),
        }
    }
    window.take_error()?;
    Ok(chunk)
}

/// The time that a captured `timestamp` says, in Unix milliseconds.
pub(super) fn captured_time(shape: Shape, text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).unwrap_or_default();
    match shape {
        Shape::String => time::parse(text),
        Shape::Number => text.parse().ok().and_then(time::from_number),
        _ => None,
    }
}

/// The parts of a line that are kept while it is scanned. Buffers are reused.
struct Head {
    kind: Kind,
    kind_name: Vec<u8>,
    role: Role,
    role_name: Vec<u8>,
    id: Vec<u8>,
    has_id: bool,
    parent: Vec<u8>,
    parent_kind: ParentKind,
    time: i64,
    text: Vec<u8>,
}

impl Default for Head {
    fn default() -> Self {
        Head {
            kind: Kind::Other,
            kind_name: Vec::new(),
            role: Role::Other,
            role_name: Vec::new(),
            id: Vec::new(),
            has_id: false,
            parent: Vec::new(),
            parent_kind: ParentKind::Missing,
            time: NO_TIME,
            text: Vec::new(),
        }
    }
}

impl Head {
    fn clear(&mut self) {
        self.kind = Kind::Other;
        self.kind_name.clear();
        self.clear_role();
        self.has_id = false;
        self.parent.clear();
        self.parent_kind = ParentKind::Missing;
        self.time = NO_TIME;
    }

    fn clear_role(&mut self) {
        self.role = Role::Other;
        self.role_name.clear();
    }

    /// Passes the members of an entry, keeping what is wanted. A repeated key overwrites.
    fn read(&mut self, window: &mut Window<'_>, along: &mut impl Along) -> Result<(), Bad> {
        window.members(|w, key| {
            match key {
                Key::Type => {
                    w.capture_string(&mut self.kind_name)?;
                    self.kind = Kind::of(&self.kind_name);
                }
                Key::Id => {
                    // pi keys its map by any value; a number works there, so it does here.
                    let shape = w.capture(&mut self.id)?;
                    self.has_id = matches!(shape, Shape::String | Shape::Number);
                }
                Key::ParentId => {
                    let shape = w.capture(&mut self.parent)?;
                    self.parent_kind = match shape {
                        Shape::Null => ParentKind::Null,
                        Shape::String | Shape::Number if !self.parent.is_empty() => ParentKind::Id,
                        _ => ParentKind::Invalid,
                    };
                }
                Key::Timestamp => {
                    let shape = w.capture(&mut self.text)?;
                    self.time = captured_time(shape, &self.text).unwrap_or(NO_TIME);
                }
                Key::Message => {
                    self.clear_role();
                    along.begin_message();
                    if w.enter_object()? {
                        along.enter_message();
                        w.members(|w, key| {
                            if key != Key::Role {
                                return along.message_member(w, key);
                            }
                            w.capture_string(&mut self.role_name)?;
                            self.role = Role::of(&self.role_name);
                            Ok(())
                        })?;
                    }
                }
                _ => along.member(w, key)?,
            }
            Ok(())
        })
    }

    /// The role; only a message has one.
    fn own_role(&self) -> Role {
        if self.kind == Kind::Message {
            self.role
        } else {
            Role::Other
        }
    }

    fn passed(&self, bytes: u64) -> Passed<'_> {
        Passed {
            kind: self.kind,
            kind_name: &self.kind_name,
            role: self.own_role(),
            role_name: &self.role_name,
            time: Some(self.time).filter(|&t| t != NO_TIME),
            bytes,
        }
    }

    fn rec(&self, start: u64, end: u64, arena: &mut Vec<u8>) -> Rec {
        Rec {
            start,
            end,
            time: self.time,
            id: self.has_id.then(|| push(arena, &self.id)),
            parent: push(arena, &self.parent),
            parent_kind: self.parent_kind,
            kind: self.kind,
            role: self.own_role(),
        }
    }
}

//! A session that is open for reading: its header, its entries as far as they were needed, and
//! where its leaf is.

use std::cell::{OnceCell, Ref, RefCell};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::entry::{Entry, Kind, Role};
use crate::error::{Error, Result};
use crate::store::header::{self, Header, Migration, State};
use crate::store::index::{Along, Index, Ix, Odd, Oddity, ParentId};
use crate::store::leaf::{self, Pointer};
use crate::store::source::Source;
use crate::store::v1_id;
use crate::tree::{Labels, Parent, Tree};

/// A session, open for reading. Entries are read when something asks for them.
#[derive(Debug)]
pub struct Session {
    path: Option<PathBuf>,
    source: Source,
    header: Header,
    header_at: Option<u64>,
    state: State,
    migration: Migration,
    index: RefCell<Index>,
    tree: OnceCell<Tree>,
    labels: OnceCell<Labels>,
    newest_labels: RefCell<NewestLabels>,
    leaf: OnceCell<Leaf>,
}

/// The last label of each target, among the entries read so far.
#[derive(Debug, Default)]
struct NewestLabels {
    /// How many entries were looked at.
    passed: usize,
    by_target: hashbrown::HashMap<String, Option<String>>,
}

/// Where the leaf is, and why.
#[derive(Debug, Clone, Default)]
pub struct Leaf {
    /// The leaf; `None` before the first entry.
    pub ix: Option<Ix>,
    /// Where pi would open the file: the last entry.
    pub pi: Option<Ix>,
    /// Whether `HEAD` says so, and not the last entry.
    pub from_pointer: bool,
    /// A `HEAD` that holds for this file but names an entry that is not in it.
    pub dangling: Option<String>,
}

impl Session {
    /// Opens a session file. Only its header is read.
    pub fn open(path: &Path) -> Result<Session> {
        Session::new(Source::open(path)?, Some(path.to_owned()))
    }

    /// A session whose bytes came from elsewhere, such as standard input.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Session> {
        Session::of(Source::Memory(bytes.into()))
    }

    /// A session whose bytes are at hand.
    pub(crate) fn of(source: Source) -> Result<Session> {
        Session::new(source, None)
    }

    fn new(source: Source, path: Option<PathBuf>) -> Result<Session> {
        let name = path
            .clone()
            .unwrap_or_else(|| PathBuf::from("standard input"));
        let found = header::find(&source, source.len(), &name)?;
        let index = Index::new(source.len(), found.floor);
        let mut session = Session {
            path,
            source,
            migration: found.header.migration(),
            header: found.header,
            header_at: found.at,
            state: found.state,
            index: RefCell::new(index),
            tree: OnceCell::new(),
            labels: OnceCell::new(),
            newest_labels: RefCell::default(),
            leaf: OnceCell::new(),
        };
        if session.migration == Migration::None && session.lacks_ids()? {
            session.migration = Migration::Ids;
        }
        if session.migration == Migration::Ids {
            // The ids of version 1 follow from each record's place, so all are needed.
            session.load_all()?;
            let seed = session.header.id.clone();
            session.index.get_mut().chain(1, |nth| v1_id(&seed, nth));
        }
        Ok(session)
    }

    /// Whether this is version 1 content under a header of version 3, as pi's own `--fork` of a
    /// version 1 file makes it: entries, and not one of them with an id.
    fn lacks_ids(&self) -> Result<bool> {
        let last_has_none = loop {
            let index = self.index.borrow();
            if let Some(last) = index.newest_first().next() {
                break index.id(last).is_none();
            }
            if index.is_complete() {
                return Ok(false);
            }
            drop(index);
            self.read_more()?;
        };
        if !last_has_none {
            return Ok(false);
        }
        self.load_all()?;
        let index = self.index.borrow();
        Ok(index.newest_first().all(|ix| index.id(ix).is_none()))
    }

    /// The file; `None` for standard input.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The file's name for messages.
    pub fn name(&self) -> String {
        self.path()
            .map_or_else(|| "standard input".to_owned(), |p| p.display().to_string())
    }

    /// The session's header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How the file differs from one that pi opens.
    pub fn state(&self) -> State {
        self.state
    }

    /// What pi would rewrite on opening. `Ids` also for a version 3 file whose entries have none.
    pub fn migration(&self) -> Migration {
        self.migration
    }

    /// The number of bytes of the file.
    pub fn size(&self) -> u64 {
        self.source.len()
    }

    /// The entries read so far.
    pub fn index(&self) -> Ref<'_, Index> {
        self.index.borrow()
    }

    /// Where the file's bytes come from.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Offsets of the header's first byte and of the byte behind its last; white space behind it
    /// does not count.
    pub(crate) fn header_span(&self) -> Option<(u64, u64)> {
        let start = self.header_at?;
        let len = self.header.line.trim_ascii_end().len();
        Some((start, start + len as u64))
    }

    /// Whether entries stand before the header, or there is none.
    pub(crate) fn begins_with_entries(&self) -> bool {
        let first = self.index().file_order().next();
        let first = first.map(|ix| self.index().span(ix).0);
        first.is_some_and(|first| self.header_at.is_none_or(|header| first < header))
    }

    /// The offset of the first byte that is no byte order mark.
    pub(crate) fn first_byte(&self) -> u64 {
        if self.state == State::ByteOrderMark {
            3
        } else {
            0
        }
    }

    pub(crate) fn io_error(&self) -> impl FnOnce(std::io::Error) -> Error {
        Error::io("read", self.path().unwrap_or(Path::new("standard input")))
    }

    /// Reads more towards the start of the file; false where everything was read.
    pub fn read_more(&self) -> Result<bool> {
        self.index
            .borrow_mut()
            .read_more(&self.source)
            .map_err(self.io_error())
    }

    /// Reads the heads of all entries.
    pub fn load_all(&self) -> Result<()> {
        // Whoever holds `index()` may still ask for what needs no reading.
        if self.index.borrow().is_complete() {
            return Ok(());
        }
        self.index
            .borrow_mut()
            .read_all(&self.source)
            .map_err(self.io_error())
    }

    /// Passes all entries of the file to companions, in file order; the heads are read with them.
    pub(crate) fn pass_all<A: Along>(&self) -> Result<Vec<A>> {
        let mut index = self.index.borrow_mut();
        // The ids that version 1 implies are in place, so what is read once more changes nothing.
        index.read_all_with(&self.source).map_err(self.io_error())
    }

    /// Passes some entries to companions, in the order given.
    pub(crate) fn pass<A: Along>(&self, entries: &[Ix]) -> Result<Vec<A>> {
        self.index
            .borrow()
            .pass(&self.source, entries)
            .map_err(self.io_error())
    }

    /// The tree of all entries.
    pub fn tree(&self) -> Result<&Tree> {
        if let Some(tree) = self.tree.get() {
            return Ok(tree);
        }
        self.load_all()?;
        Ok(self.tree.get_or_init(|| Tree::new(&self.index.borrow())))
    }

    /// The entry with an id.
    pub fn find(&self, id: &str) -> Result<Option<Ix>> {
        self.find_bytes(id.as_bytes())
    }

    fn find_bytes(&self, id: &[u8]) -> Result<Option<Ix>> {
        let known = self.index.borrow().known(id);
        if known.is_some() || self.index.borrow().is_complete() {
            return Ok(known);
        }
        self.index
            .borrow_mut()
            .find(&self.source, id)
            .map_err(self.io_error())
    }

    /// What the entry hangs on.
    pub fn parent(&self, ix: Ix) -> Result<Parent> {
        if let Some(tree) = self.tree.get() {
            return Ok(tree.parent(ix));
        }
        let parent = {
            let index = self.index.borrow();
            let ParentId::Id(id) = index.parent_id(ix) else {
                return Ok(Parent::Root);
            };
            match index.known(id) {
                Some(parent) => Some(parent),
                None => {
                    let id = id.to_vec();
                    drop(index);
                    self.find_bytes(&id)?
                }
            }
        };
        match parent {
            Some(parent) if parent > ix => Ok(Parent::Entry(parent)),
            // A parent that does not come before its child: every cycle has such a link, and only
            // the whole tree tells whether this one closes one. Where there is no parent the whole
            // file was read to tell, and the tree is what damage is told from.
            None | Some(_) => Ok(self.tree()?.parent(ix)),
        }
    }

    /// The entry and all above it up to its root, nearest first. Reads as it goes.
    pub fn ancestors(&self, ix: Ix) -> impl Iterator<Item = Result<Ix>> {
        let mut next = Some(ix);
        std::iter::from_fn(move || {
            let ix = next.take()?;
            match self.parent(ix) {
                Ok(parent) => next = parent.entry(),
                Err(e) => return Some(Err(e)),
            }
            Some(Ok(ix))
        })
    }

    /// The entries from the root down to `ix`, the order in which a model reads them.
    pub fn path_to(&self, ix: Ix) -> Result<Vec<Ix>> {
        let mut path = self.ancestors(ix).collect::<Result<Vec<_>>>()?;
        path.reverse();
        Ok(path)
    }

    /// The stored bytes of the entry's line, without its LF.
    pub fn line(&self, ix: Ix) -> Result<Vec<u8>> {
        let (start, end) = self.index.borrow().span(ix);
        self.source.read_range(start, end).map_err(self.io_error())
    }

    /// Looks at the stored lines of many entries, on all cores; what `look` makes of them comes in
    /// the order of the entries, which should be that of the file.
    pub fn look_at_lines<T: Send>(
        &self,
        entries: &[Ix],
        look: impl Fn(Ix, &[u8]) -> T + Sync,
    ) -> Result<Vec<T>> {
        /// Lines that lie together are read together, up to about so many bytes.
        const TOGETHER: u64 = 1 << 20;
        let index = self.index();
        let spans: Vec<_> = entries.iter().map(|&ix| (ix, index.span(ix))).collect();
        drop(index);
        let is_near = |a: &(Ix, (u64, u64)), b: &(Ix, (u64, u64))| {
            // A block ends where its number changes, and where the next line lies before it.
            a.1.0 / TOGETHER == b.1.0 / TOGETHER && a.1.1 <= b.1.0
        };
        let groups: Vec<_> = spans.chunk_by(is_near).collect();
        let source = &self.source;
        let looked = groups.into_par_iter().map(|group| {
            let start = group[0].1.0;
            let end = group[group.len() - 1].1.1;
            let bytes = source.read_range(start, end)?;
            let line = |(from, to): (u64, u64)| {
                // A file that was cut meanwhile gives less.
                let at = |offset: u64| {
                    usize::try_from(offset - start).map_or(bytes.len(), |n| n.min(bytes.len()))
                };
                &bytes[at(from)..at(to)]
            };
            Ok(group
                .iter()
                .map(|&(ix, span)| look(ix, line(span)))
                .collect::<Vec<T>>())
        });
        let looked: std::io::Result<Vec<Vec<T>>> = looked.collect();
        let looked = looked.map_err(self.io_error())?;
        Ok(looked.into_iter().flatten().collect())
    }

    /// The entry's label, if it has one. No more of the file is read for it: a label stands behind
    /// the entry it is on.
    pub fn label(&self, ix: Ix) -> Result<Option<String>> {
        let mut newest = self.newest_labels.borrow_mut();
        let unread: Vec<Ix> = {
            let index = self.index.borrow();
            let unread = index
                .since(newest.passed)
                .filter(|&l| index.kind(l) == Kind::Label);
            newest.passed = index.len();
            unread.collect()
        };
        for label in unread {
            let line = self.line(label)?;
            let entry = Entry::new(&line);
            let target = entry.get("targetId").map(|t| t.to_text().into_owned());
            // Newest first: what was there before is the later word.
            newest
                .by_target
                .entry(target.unwrap_or_default())
                .or_insert_with(|| {
                    let is_set = entry.get("label").is_some_and(crate::json::Raw::is_truthy);
                    is_set.then(|| crate::entry::text(entry))
                });
        }
        Ok(newest.by_target.get(&self.id(ix)).cloned().flatten())
    }

    /// The id of the first entry that a compaction keeps, if it names one.
    pub fn first_kept(&self, compaction: Entry<'_>) -> Option<String> {
        if self.migration != Migration::Ids {
            return compaction.get("firstKeptEntryId")?.as_id();
        }
        // Version 1 counts the records that parse, from the header at 0. Ids of such a file follow
        // from the same count, so the number gives the id; it may be that of no entry.
        let index = compaction.get("firstKeptEntryIndex")?.as_f64()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked"
        )]
        let place = (index.fract() == 0.0 && (1.0..=9e15).contains(&index)).then_some(index as u64);
        Some(v1_id(&self.header.id, place?))
    }

    /// All labels of the file, whichever branch they were set on.
    pub fn labels(&self) -> Result<&Labels> {
        if let Some(labels) = self.labels.get() {
            return Ok(labels);
        }
        self.load_all()?;
        let mut labels = Labels::default();
        let entries: Vec<Ix> = {
            let index = self.index.borrow();
            index
                .file_order()
                .filter(|&ix| index.kind(ix) == Kind::Label)
                .collect()
        };
        for ix in entries {
            labels.apply(Entry::new(&self.line(ix)?));
        }
        Ok(self.labels.get_or_init(|| labels))
    }

    /// The session's name: the last `session_info` counts; an empty one clears it.
    pub fn session_name(&self) -> Result<Option<String>> {
        self.load_all()?;
        let last = {
            let index = self.index.borrow();
            index
                .newest_first()
                .find(|&ix| index.kind(ix) == Kind::SessionInfo)
        };
        let Some(ix) = last else { return Ok(None) };
        let line = self.line(ix)?;
        let name = Entry::new(&line)
            .raw()
            .str("name")
            .map(|n| n.trim().to_owned());
        Ok(name.filter(|n| !n.is_empty()))
    }

    /// The stored bytes of a stretch of the file.
    pub fn bytes(&self, start: u64, end: u64) -> Result<Vec<u8>> {
        self.source.read_range(start, end).map_err(self.io_error())
    }

    /// The entry's id; empty where it has none.
    pub fn id(&self, ix: Ix) -> String {
        self.index.borrow().id_text(ix).into_owned()
    }

    /// The kind of entry.
    pub fn kind(&self, ix: Ix) -> Kind {
        self.index.borrow().kind(ix)
    }

    /// The role of the entry's message; `Other` for anything but a message.
    pub fn role(&self, ix: Ix) -> Role {
        self.index.borrow().role(ix)
    }

    /// Where the leaf is: the last entry, unless `HEAD` says otherwise for exactly this file.
    pub fn leaf(&self) -> Result<&Leaf> {
        if let Some(leaf) = self.leaf.get() {
            return Ok(leaf);
        }
        let leaf = self.find_leaf()?;
        Ok(self.leaf.get_or_init(|| leaf))
    }

    fn find_leaf(&self) -> Result<Leaf> {
        let pi = self.last_entry()?;
        let mut leaf = Leaf {
            ix: pi,
            pi,
            ..Leaf::default()
        };
        let Some(pointer) = self.path().and_then(leaf::read) else {
            return Ok(leaf);
        };
        if !self.holds(&pointer)? {
            return Ok(leaf);
        }
        match pointer.leaf {
            None => {
                leaf.ix = None;
                leaf.from_pointer = true;
            }
            Some(id) => match self.find(&id)? {
                Some(ix) => {
                    leaf.ix = Some(ix);
                    leaf.from_pointer = true;
                }
                None => leaf.dangling = Some(id),
            },
        }
        Ok(leaf)
    }

    /// The last entry of the file that has an id.
    fn last_entry(&self) -> Result<Option<Ix>> {
        loop {
            let index = self.index.borrow();
            if let Some(ix) = index.newest_first().find(|&ix| index.id(ix).is_some()) {
                return Ok(Some(ix));
            }
            drop(index);
            if !self.read_more()? {
                return Ok(None);
            }
        }
    }

    /// Whether a pointer still holds: nothing but white space follows what it was set for.
    fn holds(&self, pointer: &Pointer) -> Result<bool> {
        let len = self.source.len();
        // What an append adds is at least an entry, so a long tail needs no look.
        if pointer.size > len || len - pointer.size > 64 * 1024 {
            return Ok(false);
        }
        let tail = self
            .source
            .read_range(pointer.size, len)
            .map_err(self.io_error())?;
        Ok(tail.iter().all(u8::is_ascii_whitespace))
    }

    /// The lines met so far that are no ordinary entries, in file order. Lines that pi skips like
    /// white space (`null`, `""`) are not among them.
    pub fn oddities(&self) -> Vec<Oddity> {
        let is_own_header = |o: &Oddity| o.what == Odd::Header && Some(o.start) == self.header_at;
        let mut lines = self.index.borrow().oddities();
        lines.retain(|o| o.what != Odd::NotObject(false) && !is_own_header(o));
        lines
    }

    /// The tree, if a command needed it.
    pub fn tree_if_read(&self) -> Option<&Tree> {
        self.tree.get()
    }

    /// The number, from 1, of the line that starts at an offset.
    pub fn line_number(&self, offset: u64) -> Result<u64> {
        let numbers = self.line_numbers([offset])?;
        Ok(numbers.first().copied().unwrap_or(1))
    }

    /// The numbers, from 1, of the lines that hold these offsets, which should ascend.
    pub(crate) fn line_numbers(&self, offsets: impl IntoIterator<Item = u64>) -> Result<Vec<u64>> {
        self.source.line_numbers(offsets).map_err(self.io_error())
    }
}

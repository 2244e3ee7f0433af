//! What a list says of each session: its name, its first words, how much was said, and when.
//!
//! Each file is passed once, line by line, through a small window, on all cores. Of a line only
//! the places of a name and of a content are kept; a text is read once it is known to be wanted.
//! One odd file never hides another, and one odd entry never hides its session. (pi leaves out a
//! session for a single content that is `null`.)

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rayon::prelude::*;

use super::discover::{Candidates, File, Places};
use super::header::{self, Header, State};
use super::index::captured_time;
use super::query::{Fields, Query};
use super::source::Source;
use crate::entry::{Kind, Role, block_text};
use crate::error::{Error, Result};
use crate::json::Raw;
use crate::json::scan::{Bad, Key, Line, Shape, Window};
use crate::time;

/// A session as a list shows it.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The file.
    pub path: PathBuf,
    /// Its header.
    pub header: Header,
    /// The name: the last `session_info` counts; an empty one clears it.
    pub name: Option<String>,
    /// The first text of the user that is not empty.
    pub first_message: Option<String>,
    /// How many messages there are, of any role, on all branches.
    pub message_count: u64,
    /// When it was begun, by its header, in Unix milliseconds.
    pub created: Option<i64>,
    /// When user or model last said something, else when it was begun, else when the file was
    /// written. `None` where what stands there is beyond all dates.
    pub modified: Option<i64>,
    /// The length of the file.
    pub size: u64,
    /// The dollars spent, if they were asked for and any price is known.
    pub cost: Option<f64>,
    /// How many lines are not JSON.
    pub bad_lines: u64,
    /// Whether it is what was searched for.
    pub found: bool,
}

/// What is to be found out besides what every list shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// Texts are read for this only.
    pub search: Option<&'a Query>,
    /// Whether costs are added up.
    pub cost: bool,
}

/// Sessions, and what came in the way.
#[derive(Debug, Default)]
pub struct List {
    /// The sessions, the file written last first.
    pub sessions: Vec<Summary>,
    /// What could not be read.
    pub unreadable: Vec<Error>,
    /// Files that hold entries, but that pi takes for no session, and why.
    pub headless: Vec<(PathBuf, State)>,
}

/// What a file turned out to be.
enum Outcome {
    Session(Box<Summary>),
    Headless(State),
    /// No session, or one of another directory.
    Other,
}

/// Told how many more bytes were passed, for showing progress.
pub type Passed<'a> = &'a (dyn Fn(u64) + Sync);

impl List {
    /// Reads the files that may be sessions.
    pub fn read(
        candidates: Candidates,
        places: &Places,
        wanted: Wanted<'_>,
        passed: Passed<'_>,
    ) -> List {
        let belongs = |header: &Header| {
            let is_here = |cwd: &String| places.is_cwd(cwd);
            !candidates.only_of_cwd || header.cwd.as_ref().is_some_and(is_here)
        };
        let files = candidates.files;
        // The largest first: none is left for one core at the end.
        let mut order: Vec<usize> = (0..files.len()).collect();
        order.sort_by_key(|&n| std::cmp::Reverse(files[n].size));
        let read = |n: usize| (n, read(&files[n], &belongs, wanted, passed));
        let mut outcomes: Vec<_> = order.into_par_iter().map(read).collect();
        outcomes.sort_by_key(|(n, _)| *n);

        let mut list = List {
            unreadable: candidates.unreadable,
            ..List::default()
        };
        for (n, outcome) in outcomes {
            list.take(&files[n].path, outcome);
        }
        list
    }

    fn take(&mut self, path: &Path, outcome: Result<Outcome>) {
        match outcome {
            Ok(Outcome::Session(summary)) => self.sessions.push(*summary),
            Ok(Outcome::Headless(state)) => self.headless.push((path.to_owned(), state)),
            Ok(Outcome::Other) => {}
            Err(e) => self.unreadable.push(e),
        }
    }

    /// Keeps the sessions that `parentSession` joins to the one at a path, over any number of
    /// steps; forks of a session that is gone belong together, too. Members that lie elsewhere are
    /// read.
    pub fn keep_family(&mut self, of: &Path, wanted: Wanted<'_>) {
        let start = real(of);
        let mut keys: Vec<PathBuf> = self.sessions.iter().map(|s| real(&s.path)).collect();
        let mut tried = HashSet::new();
        loop {
            let members = joined(&self.sessions, &keys, &start);
            let known: HashSet<&PathBuf> = keys.iter().collect();
            let missing = members
                .iter()
                .filter(|path| !known.contains(path) && !tried.contains(*path));
            let missing: Vec<PathBuf> = missing.cloned().collect();
            let before = self.sessions.len();
            for path in missing {
                if let Some(file) = File::at(&path) {
                    self.take(&path, read(&file, &|_| true, wanted, &|_| {}));
                }
                tried.insert(path);
            }
            if self.sessions.len() == before {
                let mut key = keys.into_iter();
                self.sessions
                    .retain(|_| key.next().is_some_and(|key| members.contains(&key)));
                return;
            }
            keys.extend(self.sessions[before..].iter().map(|s| real(&s.path)));
        }
    }
}

/// All files that are joined to `start`, those that are not there included.
fn joined(sessions: &[Summary], keys: &[PathBuf], start: &Path) -> HashSet<PathBuf> {
    let mut links: HashMap<PathBuf, Vec<PathBuf>> = HashMap::new();
    for (session, key) in sessions.iter().zip(keys) {
        if let Some(parent) = session.parent() {
            let parent = real(&parent);
            links.entry(key.clone()).or_default().push(parent.clone());
            links.entry(parent).or_default().push(key.clone());
        }
    }
    let mut members = HashSet::from([start.to_owned()]);
    let mut rest = vec![start.to_owned()];
    while let Some(path) = rest.pop() {
        for next in links.get(&path).into_iter().flatten() {
            if members.insert(next.clone()) {
                rest.push(next.clone());
            }
        }
    }
    members
}

/// The path without links, as far as there is a file.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

impl Summary {
    /// The file that this session was forked or copied from, which need not be there.
    pub fn parent(&self) -> Option<PathBuf> {
        self.header.parent_path()
    }

    /// Whether it was forked from no other session, or from one that is gone.
    pub fn is_root(&self) -> bool {
        !self.parent().is_some_and(|path| path.exists())
    }
}

/// So many bytes are passed before progress is told.
const STEP: u64 = 1 << 20;

fn read(
    file: &File,
    belongs: &dyn Fn(&Header) -> bool,
    wanted: Wanted<'_>,
    passed: Passed<'_>,
) -> Result<Outcome> {
    let source = Source::open(&file.path)?;
    let len = source.len();
    let failed = || Error::io("read", &file.path);
    let mut window = Window::new(&source, 0, len);
    let mut head = Head::new(wanted.cost);
    let mut notes = Notes::default();
    let mut found: Option<Header> = None;
    let mut told = 0;
    while window.offset() < len {
        let start = window.offset();
        head.clear();
        let (line, end) = window.line(|w| head.read(w));
        if window.offset() - told >= STEP {
            passed(window.offset() - told);
            told = window.offset();
        }
        match line {
            Line::Bad(_) => notes.bad_lines += 1,
            Line::Object if found.is_some() => {
                notes.take(&head, &source, wanted).map_err(failed())?;
            }
            Line::Object if head.kind == Kind::Session => {
                let line = source.read_range(start, end.at).map_err(failed())?;
                match Header::read(&line).filter(|header| belongs(header)) {
                    Some(header) => found = Some(header),
                    None => return Ok(Outcome::Other),
                }
            }
            Line::Object | Line::NotObject if found.is_none() => break,
            _ => {}
        }
        if !end.newline {
            break;
        }
    }
    window.take_error().map_err(failed())?;
    passed(len - told);
    let Some(header) = found else {
        return Ok(match header::find(&source, len, &file.path) {
            Ok(found) => Outcome::Headless(found.state),
            Err(_) => Outcome::Other,
        });
    };
    let name = match notes.name {
        Some((start, end)) => {
            let name = source.read_range(start, end).map_err(failed())?;
            Raw::new(&name).as_str().map(|name| name.trim().to_owned())
        }
        None => None,
    };
    let name = name.filter(|name| !name.is_empty());
    let found = wanted.search.is_none_or(|query| {
        query.matches(&Fields {
            name: name.as_deref().unwrap_or_default(),
            id: &header.id,
            cwd: header.cwd.as_deref().unwrap_or_default(),
            text: &notes.texts,
        })
    });
    let created = header.timestamp.as_deref().and_then(time::parse);
    let modified = match notes.activity {
        Some(at) if at > 0.0 => time::from_number(at),
        _ => created.or_else(|| milliseconds(file.modified)),
    };
    Ok(Outcome::Session(Box::new(Summary {
        path: file.path.clone(),
        header,
        name,
        first_message: notes.first_message,
        message_count: notes.message_count,
        created,
        modified,
        size: len,
        cost: notes.cost,
        bad_lines: notes.bad_lines,
        found,
    })))
}

/// A file's time as JavaScript holds it, rounded to milliseconds.
fn milliseconds(at: SystemTime) -> Option<i64> {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from((since.as_nanos() + 500_000) / 1_000_000).ok()
}

/// Offsets of a value.
type Span = (u64, u64);

/// What is kept of the lines that were passed.
#[derive(Debug, Default)]
struct Notes {
    name: Option<Span>,
    first_message: Option<String>,
    message_count: u64,
    activity: Option<f64>,
    cost: Option<f64>,
    bad_lines: u64,
    /// What user and model said, joined with spaces; only for a search.
    texts: String,
}

impl Notes {
    fn take(&mut self, head: &Head, source: &Source, wanted: Wanted<'_>) -> std::io::Result<()> {
        if let Some(cost) = head.total_cost() {
            *self.cost.get_or_insert(0.0) += cost;
        }
        if head.kind == Kind::SessionInfo {
            self.name = head.name;
        }
        if head.kind != Kind::Message {
            return Ok(());
        }
        self.message_count += 1;
        let message = &head.message;
        let (Some((start, end)), Role::User | Role::Assistant) = (message.content, message.role)
        else {
            return Ok(());
        };
        #[expect(clippy::cast_precision_loss, reason = "times are far below 2^53")]
        let time = message.timestamp.or(head.time.map(|ms| ms as f64));
        if let Some(time) = time {
            self.activity = Some(self.activity.unwrap_or(0.0).max(time));
        }
        let is_first = self.first_message.is_none() && message.role == Role::User;
        if !is_first && wanted.search.is_none() {
            return Ok(());
        }
        let text = block_text(Raw::new(&source.read_range(start, end)?), " ");
        if text.is_empty() {
            return Ok(());
        }
        if wanted.search.is_some() {
            if !self.texts.is_empty() {
                self.texts.push(' ');
            }
            self.texts.push_str(&text);
        }
        if is_first {
            self.first_message = Some(text);
        }
        Ok(())
    }
}

/// The parts of a line that are looked at. Buffers are reused.
struct Head {
    kind: Kind,
    time: Option<i64>,
    name: Option<Span>,
    message: Message,
    cost: Option<f64>,
    wants_cost: bool,
    text: Vec<u8>,
}

struct Message {
    role: Role,
    content: Option<Span>,
    /// Its `timestamp`, if that is a number.
    timestamp: Option<f64>,
    cost: Option<f64>,
}

impl Message {
    const NONE: Message = Message {
        role: Role::Other,
        content: None,
        timestamp: None,
        cost: None,
    };
}

impl Head {
    fn new(wants_cost: bool) -> Head {
        Head {
            kind: Kind::Other,
            time: None,
            name: None,
            message: Message::NONE,
            cost: None,
            wants_cost,
            text: Vec::new(),
        }
    }

    fn clear(&mut self) {
        self.kind = Kind::Other;
        self.time = None;
        self.name = None;
        self.message = Message::NONE;
        self.cost = None;
    }

    /// Passes the members of an entry, keeping what is wanted. A repeated key overwrites.
    fn read(&mut self, window: &mut Window<'_>) -> Result<(), Bad> {
        window.members(|w, key| {
            match key {
                Key::Type => {
                    self.kind = match w.capture(&mut self.text)? {
                        Shape::String => Kind::of(&self.text),
                        _ => Kind::Other,
                    };
                }
                Key::Timestamp => {
                    let shape = w.capture(&mut self.text)?;
                    self.time = captured_time(shape, &self.text);
                }
                Key::Name => self.name = Some(span(w)?),
                Key::Usage if self.wants_cost => self.cost = self.usage(w)?,
                Key::Message => {
                    self.message = Message::NONE;
                    if w.enter_object()? {
                        w.members(|w, key| self.message_member(w, key))?;
                    }
                }
                _ => {
                    w.skip_value()?;
                }
            }
            Ok(())
        })
    }

    fn message_member(&mut self, w: &mut Window<'_>, key: Key) -> Result<(), Bad> {
        match key {
            Key::Role => {
                self.message.role = match w.capture(&mut self.text)? {
                    Shape::String => Role::of(&self.text),
                    _ => Role::Other,
                };
            }
            Key::Timestamp => {
                self.message.timestamp = match w.capture(&mut self.text)? {
                    Shape::Number => Raw::new(&self.text).as_f64(),
                    _ => None,
                };
            }
            Key::Content => self.message.content = Some(span(w)?),
            Key::Usage if self.wants_cost => self.message.cost = self.usage(w)?,
            _ => {
                w.skip_value()?;
            }
        }
        Ok(())
    }

    /// Passes a `usage`; its `cost.total` if that is a number.
    fn usage(&mut self, w: &mut Window<'_>) -> Result<Option<f64>, Bad> {
        let mut total = None;
        if !w.enter_object()? {
            return Ok(None);
        }
        w.members(|w, key| {
            if key != Key::Cost {
                return w.skip_value().map(|_| ());
            }
            total = None;
            if !w.enter_object()? {
                return Ok(());
            }
            w.members(|w, key| {
                if key != Key::Total {
                    return w.skip_value().map(|_| ());
                }
                let shape = w.capture(&mut self.text)?;
                let number = (shape == Shape::Number).then(|| Raw::new(&self.text).as_f64());
                total = number.flatten();
                Ok(())
            })
        })?;
        Ok(total)
    }

    /// What the entry cost, where pi's statistics look for it.
    fn total_cost(&self) -> Option<f64> {
        match (self.kind, self.message.role) {
            (Kind::Usage | Kind::BranchSummary | Kind::Compaction, _) => self.cost,
            (Kind::Message, Role::Assistant | Role::ToolResult) => self.message.cost,
            _ => None,
        }
    }
}

/// Passes a value and returns where it lies.
fn span(w: &mut Window<'_>) -> Result<Span, Bad> {
    let start = w.offset();
    w.skip_value()?;
    Ok((start, w.offset()))
}

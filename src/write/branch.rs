//! New sessions made of an old one: `/fork`, `/clone` and `--fork` of pi 1.6.0.
//!
//! Entries are copied byte for byte; where a link has to change, only those bytes change. Files of
//! version 1 and 2 are brought to version 3 on the way, with the ids that reading shows.

use hashbrown::{HashMap, HashSet};

use super::build::quote;
use super::migrate::migrated;
use crate::entry::{Entry, Kind, splice};
use crate::error::Result;
use crate::json::object::Object;
use crate::session::Session;
use crate::store::index::Ix;

/// The header of a new session.
#[derive(Debug, Clone)]
pub struct Header<'a> {
    /// The session's id.
    pub id: &'a str,
    /// When it begins, as pi writes times.
    pub timestamp: &'a str,
    /// The directory it belongs to.
    pub cwd: &'a str,
    /// The file it was made of.
    pub parent_session: Option<&'a str>,
}

impl Header<'_> {
    /// The header's line, without its newline.
    pub fn line(&self) -> String {
        let mut header = Object::new("type", "\"session\"");
        header.push("version", "3");
        header.push("id", &quote(self.id));
        header.push("timestamp", &quote(self.timestamp));
        header.push("cwd", &quote(self.cwd));
        if let Some(parent) = self.parent_session {
            header.push("parentSession", &quote(parent));
        }
        header.finish()
    }
}

/// The lines of a new session, and the id of its last entry.
#[derive(Debug, Clone)]
pub struct Lines {
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// Its last entry.
    pub leaf: Option<String>,
}

impl Lines {
    /// A session that holds nothing but its header.
    pub fn new(header: &Header<'_>) -> Lines {
        Lines {
            bytes: format!("{}\n", header.line()).into_bytes(),
            leaf: None,
        }
    }

    /// Adds an entry's line.
    pub fn push(&mut self, line: &[u8], id: &str) {
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
        self.leaf = Some(id.to_owned());
    }
}

/// The path to an entry, as a session of its own. Labels of the path are left out and made again
/// at the end, one for each labelled entry, in the order in which these first got one.
pub fn of_path(
    session: &Session,
    leaf: Option<Ix>,
    header: &Header<'_>,
    new_id: &dyn Fn() -> String,
) -> Result<Lines> {
    let mut lines = Lines::new(header);
    let path = match leaf {
        Some(ix) => session.path_to(ix)?,
        None => Vec::new(),
    };
    // A compaction that keeps from a label keeps from what follows it instead.
    let mut stand_ins: HashMap<String, String> = HashMap::new();
    let mut left_out: Vec<String> = Vec::new();
    let mut kept = HashSet::new();
    for ix in path {
        let id = session.id(ix);
        if session.kind(ix) == Kind::Label {
            left_out.push(id);
            continue;
        }
        for label in left_out.drain(..) {
            stand_ins.insert(label, id.clone());
        }
        let mut line = migrated(session, ix)?;
        let parent = lines
            .leaf
            .as_deref()
            .map_or_else(|| "null".to_owned(), quote);
        let stored = Entry::new(&line)
            .get("parentId")
            .map(|p| p.bytes().to_vec());
        if stored.as_deref() != Some(parent.as_bytes()) {
            line = splice::set(&line, "parentId", &parent);
        }
        if session.kind(ix) == Kind::Compaction {
            let first = Entry::new(&line)
                .raw()
                .str("firstKeptEntryId")
                .map(std::borrow::Cow::into_owned);
            if let Some(stand_in) = first.filter(|f| *f != id).and_then(|f| stand_ins.get(&f)) {
                line = splice::set(&line, "firstKeptEntryId", quote(stand_in));
            }
        }
        lines.push(&line, &id);
        kept.insert(id);
    }
    for label in session
        .labels()?
        .iter()
        .filter(|l| kept.contains(&l.target))
    {
        let id = new_id();
        let mut entry = Object::new("type", "\"label\"");
        entry.push("id", &quote(&id));
        entry.push(
            "parentId",
            &lines
                .leaf
                .as_deref()
                .map_or_else(|| "null".to_owned(), quote),
        );
        entry.push("timestamp", &quote(&label.timestamp));
        entry.push("targetId", &quote(&label.target));
        entry.push("label", &quote(&label.name));
        lines.push(entry.finish().as_bytes(), &id);
    }
    Ok(lines)
}

/// All entries of a session as they are, under a new header.
pub fn of_all(session: &Session, header: &Header<'_>) -> Result<Lines> {
    session.load_all()?;
    let mut lines = Lines::new(header);
    let entries: Vec<Ix> = session.index().file_order().collect();
    for ix in entries {
        let line = migrated(session, ix)?;
        let id = session.id(ix);
        lines.bytes.extend_from_slice(&line);
        lines.bytes.push(b'\n');
        if !id.is_empty() {
            lines.leaf = Some(id);
        }
    }
    Ok(lines)
}

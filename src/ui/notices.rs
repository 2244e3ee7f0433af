//! What was met in a session that a person should know, once, on stderr.

use super::Ui;
use crate::error::Result;
use crate::rev::syntax::quote_name;
use crate::session::Session;
use crate::store::header::{Migration, State};
use crate::store::index::{Ix, Odd, Oddity, ParentId};
use crate::tree::{Parent, Tree};

/// Tells what is odd about a session, as far as it was read.
pub(crate) fn tell(ui: &Ui, session: &Session) -> Result<()> {
    let name = session.name();
    match session.state() {
        State::Fine => {}
        State::ByteOrderMark => ui.note(
            "bom",
            &format!("'{name}' begins with a byte order mark, so pi does not open it; 'pis repair' leaves it out"),
        ),
        State::HeaderNotFirst => ui.note(
            "header-not-first",
            &format!("the header of '{name}' is not its first record, so pi does not open it; 'pis repair' moves it"),
        ),
        State::NoHeader => {
            ui.note(
                "no-header",
                &format!("'{name}' has no header, so pi does not open it; 'pis repair' makes one"),
            );
        }
    }
    if session.header().is_newer() {
        let version = session.header().version;
        ui.note(
            "newer-version",
            &format!(
                "'{name}' has version {version}; pis knows 3, reads it so and never writes it"
            ),
        );
    }
    if session.migration() == Migration::Ids && session.header().version >= 3.0 {
        ui.note(
            "no-ids",
            &format!(
                "no entry of '{name}' has an id, though its version is 3 (pi's --fork of a version \
                 1 file makes such files): read as version 1; 'pis migrate' gives them ids"
            ),
        );
    }
    let leaf = session.leaf()?;
    if let Some(id) = &leaf.dangling {
        ui.note(
            "dangling-leaf",
            &format!(
                "the leaf pointer of '{name}' names {}, which is not in the file: the last entry \
                 counts",
                quote_name(id)
            ),
        );
    }
    for kind in KINDS {
        let is_it = |o: &Oddity| self::kind(o.what) == kind;
        let lines: Vec<_> = session.oddities().into_iter().filter(is_it).collect();
        if !lines.is_empty() {
            ui.note(kind, &odd_lines(session, &lines)?);
        }
    }
    if let Some(tree) = session.tree_if_read() {
        tell_tree(ui, session, tree)?;
    }
    tell_hidden_branch(ui, session)
}

/// The kinds of odd lines, in the order in which they are told.
const KINDS: [&str; 5] = [
    "unparseable-line",
    "torn-tail",
    "not-an-object",
    "second-header",
    "no-id",
];

fn kind(what: Odd) -> &'static str {
    match what {
        Odd::Unparseable(_) => KINDS[0],
        Odd::TornTail => KINDS[1],
        Odd::NotObject(_) => KINDS[2],
        Odd::Header => KINDS[3],
        Odd::NoId => KINDS[4],
    }
}

/// Tells of odd lines of one kind: the first, and how many more there are.
fn odd_lines(session: &Session, lines: &[Oddity]) -> Result<String> {
    let first = &lines[0];
    let what = match first.what {
        Odd::TornTail => "is cut off: the last line of the file is no whole record".to_owned(),
        Odd::Unparseable(_) => match whole_records(session, first)? {
            0 => "is not JSON".to_owned(),
            1 => "is not JSON, but holds a whole record, which 'pis repair' gets back".to_owned(),
            n => format!("is not JSON, but holds {n} whole records, which 'pis repair' gets back"),
        },
        Odd::NotObject(_) => "is JSON, but no object".to_owned(),
        Odd::Header => "is another header".to_owned(),
        Odd::NoId => "has no id, so that nothing can name it".to_owned(),
    };
    let more = more(lines.len(), "line");
    let (name, place) = (session.name(), place(session, first.start, first.end)?);
    Ok(format!("'{name}': {place} {what}; it is passed over{more}"))
}

fn more(count: usize, noun: &str) -> String {
    match count - 1 {
        0 => String::new(),
        1 => format!(", and so is one more {noun}"),
        n => format!(", and so are {n} more {noun}s"),
    }
}

/// Where a line lies: by number if the whole file was read, else by bytes.
fn place(session: &Session, start: u64, end: u64) -> Result<String> {
    let complete = session.index().is_complete();
    Ok(if complete {
        format!("line {} (bytes {start}-{end})", session.line_number(start)?)
    } else {
        format!("the line at bytes {start}-{end}")
    })
}

fn place_of(session: &Session, ix: Ix) -> Result<String> {
    let (start, end) = session.index().span(ix);
    place(session, start, end)
}

/// Tells what is odd about the links between entries.
fn tell_tree(ui: &Ui, session: &Session, tree: &Tree) -> Result<()> {
    let name = session.name();
    let index = session.index();
    let with_id = || index.file_order().filter(|&ix| index.id(ix).is_some());

    let repeated: Vec<Ix> = with_id().filter(|&ix| !index.is_current(ix)).collect();
    if let Some(&first) = repeated.first() {
        let later = index
            .id(first)
            .and_then(|id| index.known(id))
            .unwrap_or(first);
        let (place, later) = (place_of(session, first)?, place_of(session, later)?);
        let (id, more) = (
            quote_name(&index.id_text(first)).into_owned(),
            more(repeated.len(), "line"),
        );
        ui.note(
            "duplicate-id",
            &format!("'{name}': the id {id} of {place} is used again by {later}, which counts; the first is passed over{more}"),
        );
    }
    let current = || with_id().filter(|&ix| index.is_current(ix));
    let tell = |kind: &str, found: Vec<Ix>, what: &dyn Fn(Ix) -> String| -> Result<()> {
        let Some(&first) = found.first() else {
            return Ok(());
        };
        let (id, place) = (
            quote_name(&index.id_text(first)).into_owned(),
            place_of(session, first)?,
        );
        let more = match found.len() - 1 {
            0 => String::new(),
            n => format!(" (and {n} more)"),
        };
        ui.note(
            kind,
            &format!("'{name}': entry {id}, {place}, {}{more}", what(first)),
        );
        Ok(())
    };
    let by = |wanted: Parent| move |ix: &Ix| tree.parent(*ix) == wanted;
    tell(
        "orphan",
        current().filter(by(Parent::Orphan)).collect(),
        &|ix| {
            let parent = super::record::parent_id(&index, ix).unwrap_or_default();
            format!(
                "hangs on {}, which is not in the file: it counts as a root",
                quote_name(&parent)
            )
        },
    )?;
    tell(
        "cycle",
        current().filter(by(Parent::Cycle)).collect(),
        &|_| "is its own ancestor: the path is cut above it".to_owned(),
    )?;
    let invalid = |ix: &Ix| matches!(index.parent_id(*ix), ParentId::Missing | ParentId::Invalid);
    tell("bad-parent", current().filter(invalid).collect(), &|_| {
        "has no valid parentId: it counts as a root".to_owned()
    })?;
    let early = |ix: &Ix| tree.parent(*ix).entry().is_some_and(|parent| parent < *ix);
    tell("out-of-order", current().filter(early).collect(), &|_| {
        "stands before its parent in the file".to_owned()
    })
}

/// Tells when the last line of the file, which is only bookkeeping, hides a newer branch.
fn tell_hidden_branch(ui: &Ui, session: &Session) -> Result<()> {
    let Some(newest) = crate::check::hidden_branch(session)? else {
        return Ok(());
    };
    let Some(ix) = session.leaf()?.ix else {
        return Ok(());
    };
    let kind = session.kind(ix).name().unwrap_or("entry");
    ui.note(
        "hidden-branch",
        &format!(
            "the leaf of '{}' is a {kind} on another branch than the newest message, {}; \
             'root@{{tip}}' names that one",
            session.name(),
            quote_name(&session.id(newest)),
        ),
    );
    Ok(())
}

/// How many whole records a line that does not parse holds.
fn whole_records(session: &Session, line: &Oddity) -> Result<usize> {
    /// A longer line is not looked into: this is only for a note.
    const LOOK: u64 = 1 << 20;
    if line.end - line.start > LOOK {
        return Ok(0);
    }
    let bytes = session.bytes(line.start, line.end)?;
    Ok(crate::check::records_in(&bytes).len())
}

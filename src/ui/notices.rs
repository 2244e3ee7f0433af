//! What was met in a session that a person should know, once, on stderr.

use super::Ui;
use crate::error::Result;
use crate::rev::syntax::quote_name;
use crate::session::Session;
use crate::store::header::{Migration, State};
use crate::store::index::{Odd, Oddity};

/// Tells what is odd about a session, as far as it was read.
pub(crate) fn tell(ui: &Ui, session: &Session) -> Result<()> {
    let name = session.name();
    match session.state() {
        State::Fine => {}
        State::ByteOrderMark => ui.note(
            "bom",
            &format!("'{name}' begins with a byte order mark, so pi does not open it"),
        ),
        State::HeaderNotFirst => ui.note(
            "header-not-first",
            &format!("the header of '{name}' is not its first record, so pi does not open it"),
        ),
        State::NoHeader => {
            ui.note("no-header", &format!("'{name}' has no header, so pi does not open it"));
        }
    }
    if session.header().is_newer() {
        let version = session.header().version;
        ui.note(
            "newer-version",
            &format!("'{name}' has version {version}; pis knows 3, reads it so and never writes it"),
        );
    }
    if session.migration() == Migration::Ids && session.header().version >= 3.0 {
        ui.note(
            "no-ids",
            &format!(
                "no entry of '{name}' has an id, though its version is 3 (pi's --fork of a version \
                 1 file makes such files): read as version 1"
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
    let damage = session.damage()?;
    if let Some(first) = damage.lines.first() {
        ui.note(kind(first.what), &describe(session, &damage.lines, damage.first_line)?);
    }
    Ok(())
}

fn kind(what: Odd) -> &'static str {
    match what {
        Odd::TornTail => "torn-tail",
        Odd::Unparseable(_) => "unparseable-line",
        Odd::NotObject(_) => "not-an-object",
        Odd::Header => "second-header",
        Odd::NoId => "no-id",
    }
}

fn describe(session: &Session, lines: &[Oddity], number: Option<u64>) -> Result<String> {
    let first = &lines[0];
    let place = match number {
        Some(n) => format!("line {n} (bytes {}-{})", first.start, first.end),
        None => format!("the line at bytes {}-{}", first.start, first.end),
    };
    let name = session.name();
    let what = match first.what {
        Odd::TornTail => "is cut off: the last line of the file is no whole record".to_owned(),
        Odd::Unparseable(_) => match whole_records(session, first)? {
            0 => "is not JSON".to_owned(),
            1 => "is not JSON, but holds a whole record that could be recovered".to_owned(),
            n => format!("is not JSON, but holds {n} whole records that could be recovered"),
        },
        Odd::NotObject(_) => "is JSON, but no object".to_owned(),
        Odd::Header => "is another header, which does not count".to_owned(),
        Odd::NoId => "has no id and cannot be reached".to_owned(),
    };
    let more = match lines.len() - 1 {
        0 => String::new(),
        1 => ", and so is one more line".to_owned(),
        n => format!(", and so are {n} more lines"),
    };
    Ok(format!("'{name}': {place} {what}; it is passed over, as pi does{more}"))
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

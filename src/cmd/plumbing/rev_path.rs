//! `pis rev-path`.

use std::rc::Rc;

use clap::Args;

use super::selection::Selection;
use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::ranges::{Entries, entries_of};
use crate::cmd::{Listing, plain};
use crate::rev::range::Side;
use crate::store::index::Ix;
use crate::ui::record::Marks;

/// List the ids from the root to an entry, one a line
///
/// That is the order in which a model reads them. Without an argument, the path to the leaf.
/// A..B lists what is on the path to B but not on the path to A; A...B what is on one of the two
/// paths only, A's part first. Several arguments are listed one after another, each entry once.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis rev-path
  pis rev-path good..@ --role user
  pis rev-path --left-right @...@{tip}
  pis rev-path --entries | jq -r 'select(.message.role == \"user\").id'
  pis rev-path --count --type message")]
pub(crate) struct RevPath {
    #[command(flatten)]
    selection: Selection,
    /// List them from the entry to the root
    #[arg(long)]
    reverse: bool,
    /// Only the last N of them
    #[arg(short = 'n', value_name = "N")]
    number: Option<usize>,
    /// Print how many there are
    #[arg(long, conflicts_with_all = ["entries", "left_right"])]
    count: bool,
    /// Print the stored lines
    #[arg(long, conflicts_with = "left_right")]
    entries: bool,
    /// Mark the side of A...B each is on: < or >
    #[arg(long)]
    left_right: bool,
    /// Revisions or ranges
    #[arg(value_name = "REV|RANGE", add = complete::revisions())]
    revs: Vec<String>,
}

impl RevPath {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let wanted = self.selection.read();
        let limit = self.number.unwrap_or(usize::MAX);
        let Entries { session, walk } = entries_of(context, &self.revs)?;
        // From the entry to the root, so that a limit needs no look at the rest of the file.
        let mut entries: Vec<(Side, Ix)> = Vec::new();
        for step in walk {
            let (side, ix) = step?;
            if entries.len() >= limit {
                break;
            }
            if wanted.keeps(&session, ix)? {
                entries.push((side, ix));
            }
        }
        if self.count {
            let count = entries.len();
            if context.json() {
                context.ui.json_row(&count)?;
            } else {
                context.ui.row(&count.to_string())?;
            }
            return Ok(Exit::Yes);
        }
        if !self.reverse {
            entries.reverse();
        }
        if self.entries {
            for (_, ix) in entries {
                context.ui.bytes(&session.line(ix)?)?;
                let end = context.ui.row_end();
                context.ui.text(end)?;
            }
            return Ok(Exit::Yes);
        }
        if let Some(listing) = Listing::of(context, &session)? {
            let marks = Marks::all(&session)?;
            for (_, ix) in entries {
                listing.row(context, &session, ix, &marks, |record| record)?;
            }
            return Ok(Exit::Yes);
        }
        let session = Rc::clone(&session);
        for (side, ix) in entries {
            let id = session.id(ix);
            let mark = match side {
                _ if !self.left_right => "",
                Side::Left => "<",
                Side::Right => ">",
            };
            context.ui.plain_row(&format!("{mark}{}", plain(&id)))?;
        }
        Ok(Exit::Yes)
    }
}

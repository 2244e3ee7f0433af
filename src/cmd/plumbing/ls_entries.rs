//! `pis ls-entries`.

use clap::Args;
use serde::Serialize;

use super::selection::Selection;
use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::{Listing, plain};
use crate::entry::{self, Entry};
use crate::store::index::Ix;
use crate::ui::record::{Marks, Record};

/// List the ids of all entries, in the order of the file
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis ls-entries --type compaction
  pis ls-entries --role user --text
  pis ls-entries --json | jq -r 'select(.size > 100000) | .id'")]
pub(crate) struct LsEntries {
    #[command(flatten)]
    selection: Selection,
    /// Only the tips of branches
    #[arg(long)]
    tips: bool,
    /// Only entries without a parent, or whose parent is not in the file
    #[arg(long, conflicts_with = "tips")]
    roots: bool,
    /// Only entries that stand in the file behind this one
    #[arg(long, value_name = "REV", add = complete::revisions())]
    since: Option<String>,
    /// Print the text behind the id (as a JSON string where it has more than one line)
    #[arg(long)]
    text: bool,
}

/// A record with where its line lies.
#[derive(Serialize)]
struct Located {
    #[serde(flatten)]
    record: Record,
    offset: u64,
    size: u64,
}

impl LsEntries {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let session = context.session()?;
        let since = match &self.since {
            Some(rev) => {
                let (of, target) = context.resolve(rev)?;
                if !std::rc::Rc::ptr_eq(&of, &session) {
                    return Err(Failure::usage(
                        "'--since' names an entry of another session",
                    ));
                }
                target.entry()
            }
            None => None,
        };
        session.load_all()?;
        let mut entries = {
            let index = session.index();
            let mut entries: Vec<Ix> = index
                .file_order()
                .filter(|&ix| index.is_current(ix))
                .collect();
            if let Some(since) = since {
                // Numbers count from the end of the file.
                entries.retain(|&ix| ix < since);
            }
            entries
        };
        if self.tips {
            let (tree, index) = (session.tree()?, session.index());
            entries.retain(|&ix| tree.is_tip(&index, ix));
        }
        if self.roots {
            let tree = session.tree()?;
            entries.retain(|&ix| tree.parent(ix).entry().is_none());
        }
        let wanted = self.selection.read();
        let mut kept = Vec::with_capacity(entries.len());
        for ix in entries {
            if wanted.keeps(&session, ix)? {
                kept.push(ix);
            }
        }
        if let Some(listing) = Listing::of(context, &session)? {
            let marks = Marks::all(&session)?;
            for ix in kept {
                let (offset, end) = session.index().span(ix);
                listing.row(context, &session, ix, &marks, |mut record| {
                    if !self.text {
                        record.text = None;
                    }
                    Located {
                        record,
                        offset,
                        size: end - offset,
                    }
                })?;
            }
            return Ok(Exit::Yes);
        }
        for ix in kept {
            let id = session.id(ix);
            let mut row = plain(&id).into_owned();
            if self.text {
                let text = entry::text(Entry::new(&session.line(ix)?));
                row.push(' ');
                if text.contains(char::is_control) {
                    row.push_str(&crate::json::to_line(&text)?);
                } else {
                    row.push_str(&text);
                }
            }
            context.ui.plain_row(&row)?;
        }
        Ok(Exit::Yes)
    }
}

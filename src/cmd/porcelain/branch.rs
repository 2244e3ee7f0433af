//! `pis branch`.

use clap::Args;
use hashbrown::HashSet;
use serde::Serialize;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::Listing;
use crate::entry::{self, Entry, Role};
use crate::error::Result;
use crate::rev::resolve::Target;
use crate::session::Session;
use crate::store::index::Ix;
use crate::tree::Branch;
use crate::ui::record::{Marks, Record};
use crate::ui::rows::Layout;
use crate::ui::sanitize::one_line;
use crate::ui::style::Mark;
use crate::ui::width::{cut, fit, width};

/// List the branches, newest first
///
/// A branch is a tip, an entry that nothing hangs on, and the path to it. Each row shows the tip,
/// how many entries are the branch's own since it left another one, its first prompt, its last
/// words, its age and its label. The branch that holds the leaf has a star.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis branch
  pis branch --contains good
  pis branch --merged @
  pis branch --json | jq -r 'select(.leaf | not) | .id'")]
pub(crate) struct Branches {
    /// Only branches that hold this entry
    #[arg(long, value_name = "REV", num_args = 0..=1, default_missing_value = "@")]
    #[arg(add = complete::revisions())]
    contains: Option<String>,
    /// Only branches whose tip is on the path to this entry
    #[arg(long, value_name = "REV", num_args = 0..=1, default_missing_value = "@")]
    #[arg(add = complete::revisions())]
    merged: Option<String>,
}

/// The JSON shape of a branch.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(flatten)]
    record: Record,
    base: Option<String>,
    entry_count: usize,
    first: Option<String>,
    last: Option<String>,
}

impl Branches {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let session = context.session()?;
        let tree = session.tree()?;
        let mut branches = tree.branches(&session.index());
        if let Some(rev) = &self.contains
            && let Target::Entry(ix) = self.find(context, &session, rev)?
        {
            let held: HashSet<Ix> = tree.descendants(ix).collect();
            branches.retain(|branch| held.contains(&branch.tip));
        }
        if let Some(rev) = &self.merged {
            let end = self.find(context, &session, rev)?.entry();
            let on_path = tree.path_mask(end);
            branches.retain(|branch| on_path[branch.tip.at()]);
        }
        if branches.is_empty() {
            context.ui.note("nothing-shown", "there is no such branch");
        }
        if let Some(listing) = Listing::of(context, &session)? {
            let marks = Marks::all(&session)?;
            for branch in &branches {
                let (first, last) = ends(&session, branch)?;
                listing.row(context, &session, branch.tip, &marks, |record| Row {
                    record,
                    base: branch.base.map(|ix| session.id(ix)),
                    entry_count: branch.own.len(),
                    first,
                    last,
                })?;
            }
            return Ok(Exit::Yes);
        }
        print(context, &session, &branches)?;
        Ok(Exit::Yes)
    }

    fn find(&self, context: &Context, session: &Session, rev: &str) -> Result<Target, Failure> {
        let rev = crate::rev::syntax::Rev::parse(rev).map_err(crate::error::Error::from)?;
        Ok(crate::cmd::moving::find(context, session, &rev)?.target)
    }
}

/// The first prompt of a branch, or its first words where it has none, and its last words.
fn ends(session: &Session, branch: &Branch) -> Result<(Option<String>, Option<String>)> {
    let text = |ix: Ix| -> Result<Option<String>> {
        let text = entry::text(Entry::new(&session.line(ix)?));
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    };
    let says = |ix: &&Ix| {
        matches!(session.role(**ix), Role::User | Role::Assistant)
            || session.kind(**ix).is_message_like()
    };
    let oldest_first = || branch.own.iter().rev();
    let prompt = oldest_first().find(|ix| session.role(**ix) == Role::User);
    let mut first = None;
    for &ix in prompt.into_iter().chain(oldest_first().filter(says)) {
        first = text(ix)?;
        if first.is_some() {
            break;
        }
    }
    let mut last = None;
    for &ix in branch.own.iter().filter(says) {
        last = text(ix)?;
        if last.is_some() {
            break;
        }
    }
    Ok((first, last))
}

/// The tip of the branch that holds the leaf: of several the newest, for the leaf may be where
/// they part.
fn current(session: &Session, branches: &[Branch]) -> Result<Option<Ix>> {
    let Some(leaf) = session.leaf()?.ix else {
        return Ok(None);
    };
    let tree = session.tree()?;
    let below: HashSet<Ix> = tree.descendants(leaf).collect();
    let tip = branches
        .iter()
        .map(|branch| branch.tip)
        .find(|tip| below.contains(tip));
    // Bookkeeping hangs on the tip that it belongs to.
    let index = session.index();
    Ok(tip.or_else(|| tree.ancestors(leaf).find(|&ix| tree.is_tip(&index, ix))))
}

/// Prints a row for each branch.
pub(crate) fn print(
    context: &mut Context,
    session: &Session,
    branches: &[Branch],
) -> Result<(), Failure> {
    const AGE: usize = 4;
    let current = current(session, branches)?;
    let layout = Layout::new(&context.ui, session, context.now, false);
    let (mark, total) = (layout.ellipsis(), context.ui.width);
    let ids: Vec<_> = branches
        .iter()
        .map(|branch| layout.short.short(&session.id(branch.tip)))
        .collect();
    let widest = ids
        .iter()
        .map(|id| width(id))
        .max()
        .unwrap_or_default()
        .min(total / 4);
    let counts: Vec<_> = branches
        .iter()
        .map(|branch| branch.own.len().to_string())
        .collect();
    let digits = counts.iter().map(String::len).max().unwrap_or_default();
    let painter = context.ui.painter;
    for ((branch, id), count) in branches.iter().zip(&ids).zip(&counts) {
        let (first, last) = ends(session, branch)?;
        let is_current = current == Some(branch.tip);
        let label = session
            .label(branch.tip)?
            .map(|label| cut(&format!("[{}]", one_line(&label)), total / 4, mark));
        let age = session.index().time(branch.tip).map_or_else(
            || "-".to_owned(),
            |then| crate::time::ago(context.now, then),
        );
        let label_width = label.as_ref().map_or(0, |label| width(label) + 2);
        let fixed = 2 + widest + 1 + digits + 2 + 1 + AGE + label_width;
        let room = total.saturating_sub(fixed).max(8);
        let first = first.map(|text| one_line(&text)).unwrap_or_default();
        let last = last.map(|text| one_line(&text)).unwrap_or_default();
        let words = between(&first, &last, room, mark);
        let star = if is_current { "* " } else { "  " };
        let mut row = painter.paint(Mark::Leaf, star);
        row.push_str(&painter.paint(Mark::Id, &fit(id, widest, mark)));
        row.push_str(&painter.paint(Mark::Dim, &format!(" {count:>digits$}  ")));
        let style = if is_current {
            Mark::Strong
        } else {
            Mark::Plain
        };
        row.push_str(&painter.paint(style, &words));
        let fill = room.saturating_sub(width(&words));
        row.push_str(&" ".repeat(fill));
        row.push_str(&painter.paint(Mark::Dim, &format!(" {age:>AGE$}")));
        if let Some(label) = label {
            row.push_str(&format!("  {}", painter.paint(Mark::Label, &label)));
        }
        context.ui.row(&row)?;
    }
    Ok(())
}

/// First and last words in so many columns; the last ones only where there is room for both.
fn between(first: &str, last: &str, room: usize, mark: &str) -> String {
    const LEAST: usize = 24;
    if first == last || last.is_empty() {
        return cut(first, room, mark);
    }
    if first.is_empty() {
        return cut(last, room, mark);
    }
    let dots = " .. ";
    if room < LEAST * 2 {
        return cut(first, room, mark);
    }
    let half = (room - dots.len()) / 2;
    let first = cut(
        first,
        half.max((room - dots.len()).saturating_sub(width(last))),
        mark,
    );
    let last = cut(last, room - dots.len() - width(&first), mark);
    format!("{first}{dots}{last}")
}

//! `pis label`.

use clap::Args;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::moving::{Edge, append_batch, find, label_entries, parse};
use crate::rev::syntax::Suffix;
use crate::write::batch::Batch;

/// Put a label on an entry, as pi's Shift+L does
///
/// An entry has one label, and a name should be on one entry: replacing another label, or moving a
/// name that is taken, needs --force. A label on bookkeeping goes to the entry that belongs to.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis label @ better
  pis label '@%2' 'first try'
  pis label -d good
  pis label --force @ good            # move it")]
pub(crate) struct Label {
    /// Take the label off
    #[arg(short = 'd', long, conflicts_with = "name")]
    delete: bool,
    /// Replace another label, or move one that is on another entry
    #[arg(long)]
    force: bool,
    /// The entry
    #[arg(value_name = "REV", add = complete::revisions())]
    rev: String,
    /// The label
    #[arg(value_name = "NAME", required_unless_present = "delete")]
    name: Option<String>,
}

impl Label {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let mut rev = parse(&self.rev)?;
        let session = context.session_of(&rev)?;
        // A label is bookkeeping that the running agent need not see.
        let writer = context.writer(&session, true)?;
        writer.check_writable()?;
        let session = writer.session();
        let root = || Failure::usage("'root' is no entry and takes no label");
        let target = find(context, session, &rev)?.target;
        let mut target = target.entry().ok_or_else(root)?;
        // What is taken off may be where pi put it: on bookkeeping.
        let is_held = self.delete && session.labels()?.of(&session.id(target)).is_some();
        if !is_held {
            rev.suffixes.push(Suffix::Peel);
            let peeled = crate::rev::resolve::resolve(session, &rev)?.target;
            target = peeled.entry().ok_or_else(root)?;
        }
        let name = self.name.as_deref().map(str::trim);
        let entries = label_entries(session, &session.id(target), name, self.force)?;
        if entries.is_empty() {
            let said = "the entry has this label already";
            context.ui.note("nothing-done", said);
        }
        let edge = Edge::new(context);
        let mut batch = Batch::new(session, session.leaf()?.ix, edge.fresh());
        for entry in entries {
            batch.add(entry.to_string().as_bytes(), &"the label")?;
        }
        let lines = batch.finish();
        append_batch(context, writer, &lines, false, "label", name)?;
        Ok(Exit::Yes)
    }
}

//! `pis set-leaf`.

use clap::Args;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::moving::{Force, expect_leaf, find, move_leaf, parse, print_move};

/// Move the leaf exactly to an entry
///
/// What is appended next becomes that entry's child. No byte of the session changes: the place is
/// noted beside it, and holds until someone appends. With OLD, the leaf moves only if it is OLD
/// now; otherwise nothing happens and the exit code is 3. `root` stands before the first entry.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis set-leaf good
  pis set-leaf root
  old=$(pis rev-parse @) && pis set-leaf @~1 \"$old\" -m 'try again'
  pis set-leaf --write good           # pi opens there, too")]
pub(crate) struct SetLeaf {
    /// Where to: a revision, root, or - for where the last move started
    #[arg(value_name = "REV", allow_hyphen_values = true, add = complete::revisions())]
    new: String,
    /// Where the leaf must be now
    #[arg(value_name = "OLD", add = complete::revisions())]
    old: Option<String>,
    /// Append a marker, so that pi opens there, too
    #[arg(long)]
    write: bool,
    /// Why, for the reflog
    #[arg(short = 'm', value_name = "REASON")]
    message: Option<String>,
    #[command(flatten)]
    force: Force,
}

impl SetLeaf {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let rev = parse(&self.new)?;
        let old = self.old.as_deref().map(parse).transpose()?;
        let session = context.session_of(&rev)?;
        let writer = context.writer(&session, self.force.force)?;
        if let Some(old) = &old {
            expect_leaf(context, &writer, old)?;
        }
        let target = find(context, writer.session(), &rev)?.target.entry();
        let previous = writer.old_leaf().map(str::to_owned);
        let message = self.message.as_deref();
        let leaf = move_leaf(context, writer, target, self.write, "set-leaf", message)?;
        print_move(context, leaf, previous)?;
        Ok(Exit::Yes)
    }
}

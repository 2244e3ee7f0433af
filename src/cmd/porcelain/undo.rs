//! `pis undo`.

use clap::Args;

use crate::cli::{Context, Exit, Failure};
use crate::cmd::moving::{Force, move_leaf, print_move};
use crate::cmd::plain;
use crate::error::Error;
use crate::store::moves;

/// Take back the newest move of the leaf
///
/// The leaf goes back to where it was before the newest move of pis that was not undone yet; once
/// more goes one further back. Nothing is ever cut from the file: what was appended stays, as a
/// branch. Where pi has moved since, nothing happens and the exit code is 3.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis undo
  pis checkout good && pis undo && pis rev-parse @")]
pub(crate) struct Undo {
    #[command(flatten)]
    force: Force,
}

impl Undo {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let session = context.session()?;
        let writer = context.writer(&session, self.force.force)?;
        let log = writer.session().path().map(moves::read).unwrap_or_default();
        let Some(step) = moves::newest_not_undone(&log) else {
            return Err(Failure::from(Error::NoRevision {
                message: "there is nothing to undo: the log holds no move of pis".into(),
                hint: Some("'pis reflog' shows the log".into()),
            }));
        };
        // With the moves behind it undone, the leaf is where this one went, unless pi moved it.
        let to = step.new.as_deref();
        if writer.old_leaf() != to {
            let name = |id: Option<&str>| plain(id.unwrap_or("root")).into_owned();
            return Err(Failure::from(Error::LeafMoved {
                message: format!(
                    "pi has moved the leaf since: it is {}, and the move to be undone went to {}",
                    name(writer.old_leaf()),
                    name(to)
                ),
            }));
        }
        let target = match step.old.as_deref() {
            None => None,
            Some(id) => Some(
                writer
                    .session()
                    .find(id)?
                    .ok_or_else(|| Error::NoRevision {
                        message: format!("entry {} of the log is not in the file", plain(id)),
                        hint: None,
                    })?,
            ),
        };
        let previous = writer.old_leaf().map(str::to_owned);
        let message = format!("undo {}", step.op);
        let leaf = move_leaf(context, writer, target, false, "undo", Some(&message))?;
        print_move(context, leaf, previous)?;
        Ok(Exit::Yes)
    }
}

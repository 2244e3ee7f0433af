//! `pis merge-base`.

use clap::Args;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::plain;
use crate::rev::resolve::Target;

/// Find the deepest common ancestor of two entries
///
/// Prints its id. Where there is none (the entries hang on different roots), prints nothing and
/// exits with 1.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis merge-base @ @{tip}
  pis merge-base --is-ancestor good @ && echo 'good is on the path'")]
pub(crate) struct MergeBase {
    /// Print nothing; exit with 0 if A is B or above it, else with 1
    #[arg(long)]
    is_ancestor: bool,
    /// An entry
    #[arg(add = complete::revisions())]
    a: String,
    /// Another entry
    #[arg(add = complete::revisions())]
    b: String,
}

impl MergeBase {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let (session, a) = context.resolve(&self.a)?;
        let (other, b) = context.resolve(&self.b)?;
        if !std::rc::Rc::ptr_eq(&session, &other) {
            return Err(Failure::usage("the two entries are in different sessions"));
        }
        if self.is_ancestor && a == Target::Root {
            return Ok(Exit::Yes);
        }
        let (Some(a), Some(b)) = (a.entry(), b.entry()) else {
            return Ok(Exit::No);
        };
        let base = session.tree()?.merge_base(a, b);
        if self.is_ancestor {
            return Ok(Exit::from(base == Some(a)));
        }
        let Some(base) = base else {
            return Ok(Exit::No);
        };
        let id = session.id(base);
        if context.json() {
            context.ui.json_row(&serde_json::json!({ "id": id }))?;
        } else {
            context.ui.row(&plain(&id))?;
        }
        Ok(Exit::Yes)
    }
}

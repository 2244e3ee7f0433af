//! `pis clone`.

use clap::Args;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::branching::{Place, What, make};

/// Make a new session of the path to an entry, as pi's /clone does
///
/// Without a revision, the path to the leaf. Ids stay as they are; labels are made again at the
/// end. Prints the new file's path.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis clone
  pis clone good --name 'the good one'
  pis clone -o copy.jsonl")]
pub(crate) struct Clone {
    /// The entry
    #[arg(value_name = "REV", default_value = "@", add = complete::revisions())]
    rev: String,
    #[command(flatten)]
    place: Place,
}

impl Clone {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let (session, target) = context.resolve(&self.rev)?;
        let made = make(context, &session, &What::Path(target.entry()), &self.place)?;
        made.print(context)?;
        Ok(Exit::Yes)
    }
}

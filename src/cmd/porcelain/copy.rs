//! `pis copy`.

use clap::Args;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::branching::{Place, What, make};

/// Copy a whole session, all branches, to another directory, as pi's --fork does
///
/// Without --cwd the copy belongs to the current directory. A session of version 1 or 2 is brought
/// to version 3, with the ids that reading shows. Prints the new file's path.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis copy
  pis copy 'three plans' --cwd ../other
  pis copy old-v1.jsonl -o new.jsonl")]
pub(crate) struct Copy {
    /// The session; without it the one that other commands would read
    #[arg(value_name = "SESSION", add = complete::sessions())]
    source: Option<String>,
    #[command(flatten)]
    place: Place,
}

impl Copy {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let session = match &self.source {
            Some(name) => context.open(name)?,
            None => context.session()?,
        };
        let made = make(context, &session, &What::All, &self.place)?;
        made.print(context)?;
        Ok(Exit::Yes)
    }
}

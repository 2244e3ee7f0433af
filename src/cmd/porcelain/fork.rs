//! `pis fork`.

use clap::Args;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::branching::{Place, What, make};
use crate::cmd::moving::before;
use crate::entry::{self, Entry, Role};

/// Make a new session of what stands before a user message, as pi's /fork does
///
/// Prints the new file's path; --json also hands back the message's text, for editing. With --at,
/// and for anything but a user message, the entry itself is kept, too.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis fork '@%'
  pis fork '@%2' --json | jq -r .prompt
  PIS_SESSION=$(pis fork --at good --name 'from good')")]
pub(crate) struct Fork {
    /// Keep the message itself
    #[arg(long)]
    at: bool,
    /// The message
    #[arg(value_name = "REV", add = complete::revisions())]
    rev: String,
    #[command(flatten)]
    place: Place,
}

impl Fork {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let (session, target) = context.resolve(&self.rev)?;
        let mut keep = target.entry();
        let mut prompt = None;
        if let Some(ix) = keep
            && !self.at
            && session.role(ix) == Role::User
        {
            prompt = Some(entry::text(Entry::new(&session.line(ix)?)));
            keep = before(&session, ix, "--at keeps the message itself")?;
        }
        let mut made = make(context, &session, &What::Path(keep), &self.place)?;
        made.prompt = prompt;
        made.print(context)?;
        Ok(Exit::Yes)
    }
}

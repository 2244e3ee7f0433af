//! `pis migrate`.

use clap::Args;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::branching::Made;
use crate::cmd::moving::tell_replaced;
use crate::error::Error;

/// Bring a session of version 1 or 2 to version 3, in place
///
/// pi does the same when it opens such a session, but drops lines that do not parse and gives the
/// entries of version 1 random ids. Here every line stays, and the ids are the ones that all other
/// commands show. The old file is kept beside it as FILE.bak, and at every moment one of the two is
/// there as a whole. Prints the path.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis migrate
  pis migrate old-v1.jsonl && pis label -s old-v1.jsonl @ done")]
pub(crate) struct Migrate {
    /// The session; without it the one that other commands would read
    #[arg(value_name = "SESSION", add = complete::sessions())]
    session: Option<String>,
    /// Migrate even the session of the agent that runs this command
    #[arg(long)]
    force: bool,
}

impl Migrate {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let session = match &self.session {
            Some(name) => context.open(name)?,
            None => context.session()?,
        };
        let writer = context.writer(&session, self.force)?;
        let session = writer.session();
        let path = session.name();
        let made = Made {
            session: path.clone(),
            session_id: session.header().id.clone(),
            leaf: session.leaf()?.ix.map(|ix| session.id(ix)),
            prompt: None,
            is_listed: false,
        };
        let done = writer.migrate()?;
        match &done {
            Some(done) => tell_replaced(context, done),
            None => {
                let message = format!("'{path}' is of version 3 already");
                context.ui.note("nothing-done", &message);
            }
        }
        made.print(context)?;
        match done {
            Some(done) if done.beside => Err(Error::WrittenBeside {
                session: path.into(),
            }
            .into()),
            _ => Ok(Exit::Yes),
        }
    }
}

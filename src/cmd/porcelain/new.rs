//! `pis new`.

use clap::Args;

use crate::cli::{Context, Exit, Failure};
use crate::cmd::plumbing::init::Init;

/// Begin a new session in this directory and print its path
///
/// pi goes on in it with `pi -c`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis new
  pis new 'three plans'")]
pub(crate) struct New {
    /// The session's name
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

impl New {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        Init {
            id: None,
            name: self.name,
            cwd: None,
        }
        .run(context)
    }
}

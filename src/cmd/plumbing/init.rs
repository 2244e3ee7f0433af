//! `pis init`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::cli::{Context, Exit, Failure};
use crate::cmd::branching::{Made, add_name};
use crate::store::create::{file_name, is_valid_id, write_new};
use crate::write::branch::{Header, Lines};

/// Make a new session file and print its path
///
/// The file holds a header, and the name if one is given. It lies where pi looks for sessions of
/// the directory, and is the newest one there.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  PIS_SESSION=$(pis init --name 'three plans')
  pis init --session-dir ~/nightly --cwd /srv/app --id nightly-42")]
pub(crate) struct Init {
    /// The session's id; without it a new UUID, as pi makes them
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// The session's name
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The directory the session belongs to; without it the current one
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
}

impl Init {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let places = context.places_at(self.cwd.as_deref());
        let id = match self.id {
            Some(id) if !is_valid_id(&id) => {
                return Err(Failure::usage(format!("'{id}' is no session id")).hint(
                    "an id has letters, digits, '.', '_' and '-', and a letter or digit at both ends",
                ));
            }
            Some(id) => id,
            None => context.new_session_id(),
        };
        let dir = places.session_dir();
        if let Some(taken) = places.holder_of(&id) {
            return Err(Failure::usage(format!(
                "session '{id}' exists already: '{}'",
                taken.display()
            )));
        }
        let timestamp = context.timestamp();
        let mut lines = Lines::new(&Header {
            id: &id,
            timestamp: &timestamp,
            cwd: &places.cwd.to_string_lossy(),
            parent_session: None,
        });
        add_name(&mut lines, context, self.name.as_deref())?;
        let path = dir.path.join(file_name(&timestamp, &id));
        write_new(&path, &lines.bytes)?;
        let made = Made {
            session: path.display().to_string(),
            session_id: id,
            leaf: lines.leaf,
            prompt: None,
            is_listed: true,
        };
        made.print(context)?;
        Ok(Exit::Yes)
    }
}

//! `pis init`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::cli::{Context, Exit, Failure};
use crate::cmd::branching::Made;
use crate::store::create::{NewSession, create, is_valid_id};
use crate::write::build::session_name;

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
        let entry_id = crate::cli::new_entry_id();
        let name = self
            .name
            .as_deref()
            .map(session_name)
            .filter(|n| !n.is_empty());
        let timestamp = context.timestamp();
        let new = NewSession {
            id: &id,
            cwd: &places.cwd,
            timestamp: &timestamp,
            name: name.as_deref().map(|name| (name, entry_id.as_str())),
        };
        let path = create(&dir.path, &new)?;
        let made = Made {
            session: path.display().to_string(),
            session_id: id,
            leaf: name.map(|_| entry_id),
            prompt: None,
            is_listed: true,
        };
        made.print(context)?;
        Ok(Exit::Yes)
    }
}

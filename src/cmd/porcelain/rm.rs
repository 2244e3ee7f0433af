//! `pis rm`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::{Context, Exit, Failure, complete};
use crate::store::leaf::state_dir;

/// Put sessions into the trash
///
/// With what pis noted beside them. Asks first, on a terminal; elsewhere --yes is needed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis rm 'three plans' || echo 'kept'
  pis rm --yes old.jsonl old-v1.jsonl")]
pub(crate) struct Rm {
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// The sessions
    #[arg(value_name = "SESSION", required = true, add = complete::sessions())]
    sessions: Vec<String>,
}

impl Rm {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for name in &self.sessions {
            let session = context.open(name)?;
            let Some(path) = session.path() else {
                return Err(Failure::usage(
                    "standard input is no file that could be removed",
                ));
            };
            if context.is_inside_agent(path) {
                return Err(Failure::usage(format!(
                    "'{}' is the session of the agent that runs this command",
                    path.display()
                )));
            }
            if !paths.iter().any(|known| known == path) {
                paths.push(path.to_owned());
            }
        }
        if !self.yes && !context.confirm(&question(&paths))? {
            context.ui.note("nothing-done", "nothing was removed");
            return Ok(Exit::No);
        }
        for path in &paths {
            // Through a link only the link goes: the session it leads to stays as it is.
            let state = state_dir(path).filter(|_| !path.is_symlink());
            let failed = |e: trash::Error| {
                Failure::other(format!(
                    "cannot put '{}' into the trash: {e}",
                    path.display()
                ))
                .hint("remove the file yourself if there is no trash here")
            };
            trash::delete(path).map_err(failed)?;
            if let Some(state) = state.filter(|s| s.exists()) {
                trash::delete(state).map_err(failed)?;
            }
            context
                .ui
                .note("removed", &format!("'{}' is in the trash", path.display()));
        }
        Ok(Exit::Yes)
    }
}

fn question(paths: &[PathBuf]) -> String {
    match paths {
        [path] => format!("Put '{}' into the trash?", path.display()),
        several => format!("Put {} sessions into the trash?", several.len()),
    }
}

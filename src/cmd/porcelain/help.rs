//! `pis help`.

use std::io::Write;
use std::process::Command;

use clap::Args;
use include_dir::{Dir, include_dir};

use crate::cli::{Context, Exit, Failure};
use crate::error::Error;

/// The manual that belongs to this program, whatever is installed.
static MANUAL: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/man");

/// Open the manual of a command, or a guide
///
/// The guides are `revisions` (how entries are named), `session` (the format of the files) and
/// `cookbook` (recipes). Where there is no man(1), the help of the command is printed instead.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis help
  pis help log
  pis help revisions | head -n 20")]
pub(crate) struct Help {
    /// A command or a guide; without one, pis(1)
    #[arg(value_name = "COMMAND")]
    topic: Option<String>,
}

impl Help {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let topic = self.topic.as_deref().unwrap_or("pis");
        let is_topic = |stem: &str| {
            stem == topic
                || ["pis-", "pis"]
                    .iter()
                    .any(|prefix| stem.strip_prefix(prefix) == Some(topic))
        };
        let stem = |file: &include_dir::File<'_>| {
            let stem = file
                .path()
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned());
            stem.unwrap_or_default()
        };
        let Some(page) = MANUAL.files().find(|file| is_topic(&stem(file))) else {
            let stems: Vec<_> = MANUAL.files().map(stem).collect();
            let topics = stems
                .iter()
                .map(|stem| stem.trim_start_matches("pis").trim_start_matches('-'));
            let near = crate::rev::nearest(topic, topics);
            let hint = match near.first() {
                Some(near) => format!("did you mean '{near}'?"),
                None => "'pis -h' lists the commands".to_owned(),
            };
            return Err(Failure::usage(format!("there is no manual for '{topic}'")).hint(hint));
        };
        context.ui.flush()?;
        if open(page)? {
            return Ok(Exit::Yes);
        }
        let mut command = crate::cli::command();
        command.build();
        let help = match command.find_subcommand_mut(topic) {
            Some(subcommand) => subcommand.render_long_help().to_string(),
            None if topic == "pis" => command.render_long_help().to_string(),
            // A guide has no other form than its source.
            None => String::from_utf8_lossy(page.contents()).into_owned(),
        };
        context.ui.page();
        context.ui.text(&help)?;
        Ok(Exit::Yes)
    }
}

/// Shows a page with man(1); false where that is not installed.
fn open(page: &include_dir::File<'_>) -> Result<bool, Failure> {
    let failed = || Error::io("write", page.path());
    let dir = tempfile::tempdir().map_err(failed())?;
    // Named with a slash, it is a file and not the name of a page.
    let path = dir.path().join(page.path().file_name().unwrap_or_default());
    let mut file = std::fs::File::create(&path).map_err(failed())?;
    file.write_all(page.contents()).map_err(failed())?;
    Ok(Command::new("man")
        .arg(&path)
        .status()
        .is_ok_and(|status| status.success()))
}

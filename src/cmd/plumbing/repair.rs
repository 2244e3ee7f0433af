//! `pis repair`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde::Serialize;

use super::fsck::Row as FindingRow;
use crate::check::Severity;
use crate::cli::{Context, Exit, Failure, complete, new_entry_id};
use crate::error::{Error, Result};
use crate::repair::{Action, Repaired, Surroundings, repair, repair_bytes};
use crate::rev::syntax::quote_name;
use crate::store::create::{free_path, write_new_from};
use crate::store::lock::{Lock, PATIENCE};
use crate::store::replace::replace;

/// Write a new file with all that can be had back of a damaged session
///
/// Whole records are taken out of lines that do not parse; a lost header is made of the file's
/// name, its directory and its first time; ids, parents and contents that keep pi from reading the
/// session are set right. Where a parent is lost, the entry before it in the file is taken for it,
/// unless what is left of it, or the session that this one was made of, says more. Sessions of
/// version 1 and 2 become ones of version 3, with the ids that reading shows.
///
/// What cannot be used goes to a file beside the new one, as it was. The new file is FILE.repaired.jsonl,
/// or that of -o; its path is printed, and what was done is told on standard error. Everything that
/// is sound is copied byte for byte.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis repair --dry-run
  pis repair
  pis repair old.jsonl -o whole.jsonl
  pis repair --in-place
  pis repair --dry-run --json | jq -r '.actions[] | [.lineNumber, .action] | @tsv'")]
pub(crate) struct Repair {
    /// Only show what would be done
    #[arg(short = 'n', long, conflicts_with_all = ["in_place", "output"])]
    dry_run: bool,
    /// Put the new file in the place of the old one, which is kept as FILE.bak
    #[arg(long, conflicts_with = "output")]
    in_place: bool,
    /// Write this file, which must not exist
    #[arg(short = 'o', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Replace it even if it is the session of the agent that runs this command
    #[arg(long, requires = "in_place")]
    force: bool,
    /// The session; without it the one that other commands would read
    #[arg(value_name = "SESSION", add = complete::sessions())]
    session: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    session: Option<String>,
    session_id: &'a str,
    leaf: Option<String>,
    quarantine: Option<String>,
    backup: Option<String>,
    actions: Vec<ActionRow<'a>>,
    remaining: Vec<FindingRow<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ActionRow<'a> {
    action: &'static str,
    line_number: u64,
    start: u64,
    end: u64,
    id: Option<&'a str>,
    message: &'a str,
}

/// Where things were written.
#[derive(Default)]
struct Written {
    session: Option<PathBuf>,
    quarantine: Option<PathBuf>,
    backup: Option<PathBuf>,
}

impl Repair {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let path = match &self.session {
            Some(name) if name == "-" => None,
            None if context.session_is_stdin() => None,
            Some(name) => Some(context.find_file(name)?),
            None => Some(context.current_file()?),
        };
        let around = Surroundings {
            places: context.places(),
            now: &context.timestamp(),
            session_id: &context.new_session_id(),
            entry_id: &new_entry_id,
        };
        let repaired = match &path {
            Some(path) => {
                if self.in_place {
                    context.keep_from_agent(path, self.force)?;
                }
                repair(path, around)?
            }
            None if self.dry_run || self.output.is_some() => {
                repair_bytes(context.stdin_bytes()?, around)?
            }
            None => {
                let message = "standard input has no place for a new file beside it";
                return Err(Failure::usage(message).hint("say where to write it with '-o FILE'"));
            }
        };
        let path = path.unwrap_or_else(|| PathBuf::from("standard input"));
        let written = self.write(&path, &repaired)?;
        self.report(context, &path, &repaired, &written)?;
        let is_error = |severity| severity == Severity::Error;
        let errors = repaired
            .remaining
            .iter()
            .any(|f| is_error(f.code.severity()));
        Ok(Exit::from(!errors))
    }

    fn write(&self, path: &Path, repaired: &Repaired) -> Result<Written> {
        let mut written = Written::default();
        if self.dry_run || (repaired.actions.is_empty() && self.output.is_none()) {
            return Ok(written);
        }
        let new = match &self.output {
            Some(output) => std::path::absolute(output).unwrap_or_else(|_| output.clone()),
            None if self.in_place => path.to_owned(),
            None => free_path(&path.with_extension(""), ".repaired", ".jsonl"),
        };
        // First what would be lost.
        if let Some(bytes) = &repaired.quarantine {
            let quarantine = free_path(&new, ".quarantine", "");
            write_new_from(&quarantine, bytes)?;
            written.quarantine = Some(quarantine);
        }
        let done = if self.in_place {
            // What is none of ours gets no lock beside it, so it is taken only now; if somebody
            // wrote since the look, the length is another.
            Lock::acquire(path, PATIENCE)
                .and_then(|lock| replace(&new, repaired.size, repaired.source(), &lock))
                .map(Some)
        } else {
            write_new_from(&new, repaired.source()).map(|()| None)
        };
        match done {
            Ok(backup) => written.backup = backup,
            Err(e) => {
                let is_done = matches!(e, Error::WrittenBeside { .. });
                if let Some(quarantine) = written.quarantine.filter(|_| !is_done) {
                    let _ = std::fs::remove_file(quarantine);
                }
                return Err(e);
            }
        }
        written.session = Some(new);
        Ok(written)
    }

    fn report(
        &self,
        context: &mut Context,
        path: &Path,
        repaired: &Repaired,
        written: &Written,
    ) -> Result<(), Failure> {
        let text = |path: &Option<PathBuf>| path.as_ref().map(|p| p.display().to_string());
        let session = &repaired.session;
        let actions = &repaired.actions;
        if actions.is_empty() {
            let message = format!("there is nothing to repair in '{}'", path.display());
            context.ui.note("nothing-done", &message);
        }
        let name = path.display().to_string();
        if context.json() {
            let leaf = session.leaf()?.ix.map(|ix| session.id(ix));
            let remaining = repaired.remaining.iter();
            let report = Report {
                session: text(&written.session),
                session_id: &session.header().id,
                leaf,
                quarantine: text(&written.quarantine),
                backup: text(&written.backup),
                actions: actions.iter().map(ActionRow::of).collect(),
                remaining: remaining.map(|f| FindingRow::of(f, &name)).collect(),
            };
            context.ui.json_row(&report)?;
            return Ok(());
        }
        for action in actions {
            let row = row(action);
            if self.dry_run {
                context.ui.plain_row(&row)?;
            } else {
                context.ui.note("repaired", &row);
            }
        }
        if let Some(quarantine) = &written.quarantine {
            let message = format!("what could not be used is in '{}'", quarantine.display());
            context.ui.note("quarantine", &message);
        }
        if let Some(backup) = &written.backup {
            let message = format!("the damaged file is '{}' now", backup.display());
            context.ui.note("backup", &message);
        }
        if let Some(session) = &written.session {
            context.ui.plain_row(&session.to_string_lossy())?;
        }
        Ok(())
    }
}

impl<'a> ActionRow<'a> {
    fn of(action: &'a Action) -> ActionRow<'a> {
        ActionRow {
            action: action.did.name(),
            line_number: action.line_number,
            start: action.span.0,
            end: action.span.1,
            id: action.id.as_deref(),
            message: &action.message,
        }
    }
}

fn row(action: &Action) -> String {
    let id = action.id.as_deref();
    let id = id.map_or_else(String::new, |id| format!("{}: ", quote_name(id)));
    let (line, did) = (action.line_number, action.did.name());
    format!("{line}: {did}: {id}{}", action.message)
}

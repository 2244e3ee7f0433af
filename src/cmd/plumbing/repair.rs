//! `pis repair`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde::Serialize;

use super::fsck::{Row as FindingRow, row};
use crate::check::Severity;
use crate::cli::{Context, Exit, Failure, complete, new_entry_id};
use crate::cmd::branching::is_listed;
use crate::cmd::moving::tell_replaced;
use crate::error::{Error, Result};
use crate::repair::{Action, Repaired, Surroundings, repair, repair_bytes};
use crate::rev::syntax::quote_name;
use crate::session::Session;
use crate::store::create::{free_path, write_new_from};
use crate::store::lock::{Lock, PATIENCE};
use crate::store::moves::{Log, Move};
use crate::store::replace::{Replaced, replace};

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
    replaced: Option<Replaced>,
}

/// Where the leaf is.
#[derive(Debug)]
struct Leaf {
    id: Option<String>,
    /// Whether `HEAD` says so, and not the last entry.
    pointed: bool,
}

/// Where the leaf of the damaged file is, as reading shows it, and where that entry is in the new
/// one. In a file of its own the last entry is the leaf.
fn leaves(path: &Path, repaired: &Repaired, in_place: bool) -> Result<(Option<String>, Leaf)> {
    let new = &repaired.session;
    let last = Leaf {
        id: new.leaf()?.ix.map(|ix| new.id(ix)),
        pointed: false,
    };
    let Ok(old) = Session::open(path) else {
        return Ok((None, last));
    };
    let leaf = old.leaf()?;
    let start = leaf.ix.map(|ix| old.index().span(ix).0);
    let same = start.and_then(|start| repaired.id_of(start));
    let was = leaf.ix.map(|ix| old.id(ix));
    let holds = in_place && leaf.from_pointer && start.is_some() == same.is_some();
    let is = Leaf {
        id: same.clone(),
        pointed: true,
    };
    let new = if holds { is } else { last };
    // An entry that got another id is still where the leaf was.
    let was = if same == new.id { same } else { was };
    Ok((was, new))
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
        let (was, leaf) = leaves(&path, &repaired, self.in_place)?;
        let written = self.write(context, &path, &repaired, (was.as_deref(), &leaf))?;
        self.report(context, &path, &repaired, (&written, &leaf))?;
        if was.is_some() && was != leaf.id {
            let [was, is] = [&was, &leaf.id].map(|id| {
                let id = id.as_deref();
                id.map_or_else(|| "root".to_owned(), |id| quote_name(id).into_owned())
            });
            let message = format!("the leaf was {was}; in the new file it is {is}");
            context.ui.note("other-leaf", &message);
        }
        if written.replaced.is_some_and(|done| done.beside) {
            return Err(Error::WrittenBeside { session: path }.into());
        }
        let is_error = |severity| severity == Severity::Error;
        let errors = repaired
            .remaining
            .iter()
            .any(|f| is_error(f.code.severity()));
        Ok(Exit::from(!errors))
    }

    fn write(
        &self,
        context: &Context,
        path: &Path,
        repaired: &Repaired,
        (was, leaf): (Option<&str>, &Leaf),
    ) -> Result<Written> {
        let mut written = Written::default();
        if self.dry_run || (repaired.actions.is_empty() && self.output.is_none()) {
            return Ok(written);
        }
        let new = match &self.output {
            Some(output) => std::path::absolute(output).unwrap_or_else(|_| output.clone()),
            None if self.in_place => path.to_owned(),
            None => free_path(&path.with_extension(""), ".repaired", ".jsonl"),
        };
        // First what would be lost, beside the file itself and not beside a link to it.
        if let Some(bytes) = &repaired.quarantine {
            let real = std::fs::canonicalize(&new).unwrap_or_else(|_| new.clone());
            let quarantine = free_path(&real, ".quarantine", "");
            write_new_from(&quarantine, bytes)?;
            written.quarantine = Some(quarantine);
        }
        let done = if self.in_place {
            replace_logged(context, path, repaired, was, leaf).map(Some)
        } else {
            write_new_from(&new, repaired.source()).map(|()| None)
        };
        match done {
            Ok(replaced) => written.replaced = replaced,
            Err(e) => {
                if let Some(quarantine) = written.quarantine {
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
        (written, leaf): (&Written, &Leaf),
    ) -> Result<(), Failure> {
        let text = |path: &Option<PathBuf>| path.as_ref().map(|p| p.display().to_string());
        let session = &repaired.session;
        let actions = &repaired.actions;
        if actions.is_empty() {
            let message = format!("there is nothing to repair in '{}'", path.display());
            context.ui.note("nothing-done", &message);
        }
        if let Some(done) = &written.replaced {
            tell_replaced(context, done);
        }
        let is_new =
            |path: &PathBuf| written.replaced.is_none() && is_listed(context.places(), path);
        if written.session.as_ref().is_some_and(is_new) {
            let message = "the new file is the newest session of its directory now, and has the id of \
                           the damaged one: name it by its path until that is gone";
            context.ui.note("newest-session", message);
        }
        let name = path.display().to_string();
        if context.json() {
            let backup = written.replaced.as_ref().map(|done| done.backup.clone());
            let remaining = repaired.remaining.iter();
            let report = Report {
                session: text(&written.session),
                session_id: &session.header().id,
                leaf: leaf.id.clone(),
                quarantine: text(&written.quarantine),
                backup: text(&backup),
                actions: actions.iter().map(ActionRow::of).collect(),
                remaining: remaining.map(|f| FindingRow::of(f, &name)).collect(),
            };
            context.ui.json_row(&report)?;
            return Ok(());
        }
        for action in actions {
            let line = action.line_number.to_string();
            let did = action.did.name();
            let row = row(&line, did, action.id.as_deref(), &action.message);
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
        if let Some(session) = &written.session {
            context.ui.plain_row(&session.to_string_lossy())?;
        }
        Ok(())
    }
}

/// Puts the new file in the place of the damaged one, and notes it if the leaf is another one.
fn replace_logged(
    context: &Context,
    path: &Path,
    repaired: &Repaired,
    was: Option<&str>,
    leaf: &Leaf,
) -> Result<Replaced> {
    // What is none of ours gets no lock beside it, so it is taken only now; if somebody wrote
    // since the look, the length is another.
    let lock = Lock::acquire(path, PATIENCE)?;
    let pointer = leaf.pointed.then(|| leaf.id.clone());
    let mut done = replace(path, repaired.size, repaired.source(), pointer, &lock)?;
    if was != leaf.id.as_deref() {
        let step = Move {
            time: context.now,
            op: "repair".to_owned(),
            old: was.map(str::to_owned),
            new: leaf.id.clone(),
            size: repaired.source().len(),
            reason: None,
        };
        let logged = Log::open(lock.dir()).and_then(|log| log.write(&step));
        done.trouble = done.trouble.or(logged.err());
    }
    Ok(done)
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

//! `pis fsck`.

use std::path::Path;

use clap::Args;
use rayon::prelude::*;
use serde::Serialize;

use crate::check::{Code, Finding, Severity, check_bytes, check_file};
use crate::cli::{Context, Exit, Failure, complete};
use crate::error::{Error, Result};
use crate::rev::syntax::quote_name;
use crate::store::discover::{File, Places};

/// Check a session for damage
///
/// Every line is looked at: whether it parses, what it holds if not, whether entries hang together,
/// whether calls and results belong together, whether the file is where it should be. Prints
/// `LINE: SEVERITY: CODE: MESSAGE` for each finding, with the file in front where several sessions
/// are checked. Exits with 1 if there is an error or a warning.
///
/// Errors keep pi from opening the session or hide records; warnings are what should not be there
/// but does no great harm; sound sessions may have what is only told as info. Nothing is changed:
/// `pis repair` does that.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis fsck
  pis fsck --all
  pis fsck --all -q || echo 'something is wrong'
  pis fsck --json | jq -r 'select(.severity == \"error\") | .code'
  pis fsck old.jsonl && pis log -s old.jsonl

'pis help fsck' says what the codes mean.")]
pub(crate) struct Fsck {
    /// All sessions
    #[arg(long, conflicts_with = "sessions")]
    all: bool,
    /// Sessions; without any the one that other commands would read
    #[arg(value_name = "SESSION", add = complete::sessions())]
    sessions: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row<'a> {
    code: &'static str,
    severity: &'static str,
    line_number: Option<u64>,
    start: Option<u64>,
    end: Option<u64>,
    id: Option<&'a str>,
    message: &'a str,
    repairable: bool,
    session: &'a str,
}

impl<'a> Row<'a> {
    pub(super) fn of(finding: &'a Finding, session: &'a str) -> Row<'a> {
        Row {
            code: finding.code.name(),
            severity: finding.code.severity().name(),
            line_number: finding.line_number,
            start: finding.span.map(|(start, _)| start),
            end: finding.span.map(|(_, end)| end),
            id: finding.id.as_deref(),
            message: &finding.message,
            repairable: finding.repairable,
            session,
        }
    }
}

/// What was found in a session.
type Checked = (String, Result<Vec<Finding>>);

impl Fsck {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let names_file = self.all || self.sessions.len() > 1;
        let checked = self.check(context)?;
        let mut is_clean = true;
        let mut for_repair = 0;
        let mut unreadable = Vec::new();
        for (session, findings) in checked {
            let findings = match findings {
                Ok(findings) => findings,
                Err(e) => {
                    unreadable.push(e);
                    continue;
                }
            };
            for finding in &findings {
                is_clean &= finding.code.severity() == Severity::Info;
                let code = finding.code;
                let is_session = !matches!(code, Code::Empty | Code::NotASession);
                let is_error = code.severity() == Severity::Error && is_session;
                for_repair += u32::from(finding.repairable || is_error);
                print(context, &session, names_file, finding)?;
            }
        }
        // One session that cannot be read is a failure; of several, the others were checked.
        if !names_file && let Some(e) = unreadable.pop() {
            return Err(e.into());
        }
        for e in &unreadable {
            context.ui.note("unreadable", &e.to_string());
        }
        if for_repair > 0 && !is_clean {
            let message = format!(
                "'pis repair' sets {for_repair} of these right or aside, and writes a new file"
            );
            context.ui.note("can-be-repaired", &message);
        }
        Ok(Exit::from(is_clean && unreadable.is_empty()))
    }

    fn check(&self, context: &Context) -> Result<Vec<Checked>, Failure> {
        if self.all {
            let candidates = context.places().candidates_everywhere();
            let failed = candidates.unreadable.into_iter();
            let mut checked = check_all(context, &candidates.files);
            checked.extend(failed.map(|e| (String::new(), Err(e))));
            return Ok(checked);
        }
        if self.sessions.is_empty() && !context.session_is_stdin() {
            return Ok(vec![check_one(&context.current_file()?, context.places())]);
        }
        let stdin = ["-".to_owned()];
        let names = match self.sessions.as_slice() {
            [] => &stdin,
            names => names,
        };
        let mut checked = Vec::new();
        for name in names {
            checked.push(if name == "-" {
                let bytes = context.stdin_bytes()?;
                let found = check_bytes(bytes, context.places());
                ("standard input".to_owned(), found)
            } else {
                check_one(&context.find_file(name)?, context.places())
            });
        }
        Ok(checked)
    }
}

/// Checks sessions on all cores, in their order.
fn check_all(context: &Context, files: &[File]) -> Vec<Checked> {
    let total = files.iter().map(|file| file.size).sum();
    let progress = context.ui.progress(total, "checking sessions");
    let places = context.places();
    let check = |file: &File| {
        let checked = check_one(&file.path, places);
        progress.passed(file.size);
        checked
    };
    files.par_iter().with_max_len(1).map(check).collect()
}

fn check_one(path: &Path, places: &Places) -> Checked {
    /// A file that is written to meanwhile is looked at again, so often at most.
    const AGAIN: usize = 3;
    let look = || {
        let meta = std::fs::metadata(path).map_err(Error::io("open", path))?;
        Ok::<_, Error>((meta.len(), meta.modified().ok()))
    };
    let check = || {
        for _ in 0..AGAIN {
            let before = look()?;
            let found = check_file(path, places)?;
            if found.is_empty() || look()? == before {
                return Ok(found);
            }
        }
        check_file(path, places)
    };
    (path.display().to_string(), check())
}

fn print(
    context: &mut Context,
    session: &str,
    names_file: bool,
    finding: &Finding,
) -> Result<(), Failure> {
    if context.json() {
        let row = Row::of(finding, session);
        context.ui.json_row(&row)?;
        return Ok(());
    }
    let (code, severity) = (finding.code.name(), finding.code.severity().name());
    let file = if names_file {
        format!("{session}:")
    } else {
        String::new()
    };
    let line = finding
        .line_number
        .map_or_else(|| "-".to_owned(), |n| n.to_string());
    let what = format!("{severity}: {code}");
    let row = row(&line, &what, finding.id.as_deref(), &finding.message);
    context.ui.plain_row(&format!("{file}{row}"))?;
    Ok(())
}

/// What a line is about, for people.
pub(super) fn row(line: &str, what: &str, id: Option<&str>, message: &str) -> String {
    let id = id.map_or_else(String::new, |id| format!("{}: ", quote_name(id)));
    format!("{line}: {what}: {id}{message}")
}

//! `pis grep`.

use std::path::Path;
use std::rc::Rc;

use clap::Args;
use hashbrown::HashSet;
use serde::Serialize;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::plumbing::selection::{Selection, Wanted};
use crate::cmd::ranges::entries_of;
use crate::entry::{Entry, Kind};
use crate::error::Result;
use crate::search::{Found, Options, Query};
use crate::session::Session;
use crate::store::index::Ix;
use crate::ui::Ui;
use crate::ui::sanitize::visible;
use crate::ui::style::Mark;

/// Search what was said
///
/// Looks for a regular expression in the text of all entries of the session, line by line, and
/// prints `<session>:<entry>:<line>` for each line that matches; on a terminal without the session,
/// where there is only one. With --tool, the arguments and results of that tool are searched
/// instead. Exits with 1 where nothing matches.
#[derive(Debug, Args)]
// As in git, -C is the directory before the command and the lines of context behind it.
#[command(arg = clap::Arg::new("directory")
    .long("directory")
    .value_name("DIR")
    .value_hint(clap::ValueHint::DirPath)
    .value_parser(clap::value_parser!(std::path::PathBuf))
    .help_heading("Global options")
    .help("Run as if started in DIR; -C before the command"))]
#[command(after_help = "Examples:
  pis grep 'errors|token'
  pis grep -F '5 tests' --role assistant
  pis grep -i plans -b good
  pis grep --tool bash test
  pis grep -c -F logs
  pis grep --json errors | jq -r '.id + \" \" + .text'
  pis grep --all -l plans")]
pub(crate) struct Grep {
    /// The regular expression
    #[arg(value_name = "PATTERN", allow_hyphen_values = true)]
    pattern: String,
    /// Search all sessions of all directories
    #[arg(long, conflicts_with = "branch")]
    all: bool,
    /// Only the path to the leaf, or to REV
    #[arg(short, long, value_name = "REV", num_args = 0..=1, default_missing_value = "@")]
    #[arg(add = complete::revisions())]
    branch: Option<String>,
    /// Upper and lower case are the same
    #[arg(short, long)]
    ignore_case: bool,
    /// Match whole words only
    #[arg(short, long = "word-regexp")]
    word: bool,
    /// The pattern is a string, not a regular expression
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Print how many lines match
    #[arg(short, long)]
    count: bool,
    /// Print the ids of entries that match; with --all, the files
    #[arg(short = 'l', long = "files-with-matches", conflicts_with = "count")]
    list: bool,
    /// Print N lines before and behind each match, too
    #[arg(
        short = 'C',
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true
    )]
    around: usize,
    #[command(flatten)]
    selection: Selection,
    /// Only the calls of this tool and their results
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
}

/// A line that matches, as `--json` prints it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    session: Option<&'a str>,
    session_id: &'a str,
    id: &'a str,
    role: Option<&'a str>,
    r#type: &'a str,
    line_number: usize,
    text: &'a str,
    /// In code points, as jq slices.
    matches: Vec<[usize; 2]>,
}

/// An entry that matches.
struct Hit {
    ix: Ix,
    role: Option<String>,
    kind: String,
    lines: Vec<Found>,
}

/// The form of the output.
struct Form {
    /// Whether the session stands before each line.
    with_session: bool,
    /// Whether lines that surround a match are printed, and groups of lines set apart.
    around: bool,
    wanted: Wanted,
    query: Query,
}

impl Grep {
    pub(crate) fn run(mut self, context: &mut Context) -> Result<Exit, Failure> {
        let options = Options {
            fixed: self.fixed_strings,
            ignore_case: self.ignore_case,
            word: self.word,
        };
        let query = Query::new(&self.pattern, options, self.tool.clone()).map_err(|e| {
            // The library shows where in the pattern, on several lines; the last one says why.
            let text = e.to_string();
            let why = text
                .lines()
                .last()
                .unwrap_or_default()
                .trim_start_matches("error: ");
            Failure::usage(format!(
                "'{}' is no regular expression: {why}",
                self.pattern
            ))
            .hint("with -F the pattern is a plain string")
        })?;
        let form = Form {
            with_session: self.all || !context.ui.is_terminal(),
            around: self.around > 0,
            wanted: std::mem::take(&mut self.selection).read(),
            query,
        };
        if !self.all {
            let (session, entries) = match &self.branch {
                Some(rev) => {
                    let found = entries_of(context, std::slice::from_ref(rev))?;
                    let entries = found.walk.map(|step| step.map(|(_, ix)| ix));
                    let mut entries = entries.collect::<Result<Vec<_>>>()?;
                    // In the order of the file, as they are read.
                    entries.sort_unstable_by(|a, b| b.cmp(a));
                    (found.session, entries)
                }
                None => everything(context.session()?)?,
            };
            context.ui.page();
            return self.grep(context, &session, &entries, &form);
        }
        context.ui.page();
        let (mut exit, mut seen) = (Exit::No, HashSet::new());
        for path in context.places().list_all() {
            // A file may be reached twice, through a link.
            if !seen.insert(std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone())) {
                continue;
            }
            let searched = Session::open(&path)
                .and_then(|session| everything(Rc::new(session)))
                .map_err(Failure::from)
                .and_then(|(session, entries)| self.grep(context, &session, &entries, &form));
            match searched {
                Ok(Exit::Yes) => exit = Exit::Yes,
                Ok(_) => {}
                Err(e) if e.is_closed_pipe() => return Err(e),
                // One that cannot be read must not hide the others.
                Err(e) => context.ui.note(
                    "not-searched",
                    &format!("'{}' was left out: {}", path.display(), e.message()),
                ),
            }
        }
        Ok(exit)
    }

    /// Searches some entries of a session, and prints what was found.
    fn grep(
        &self,
        context: &mut Context,
        session: &Session,
        entries: &[Ix],
        form: &Form,
    ) -> Result<Exit, Failure> {
        let mut chosen = Vec::with_capacity(entries.len());
        for &ix in entries {
            if form.wanted.keeps(session, ix)? && has_text(session.kind(ix)) {
                chosen.push(ix);
            }
        }
        let query = &form.query;
        let name = session.header().id.as_str();
        if self.count {
            let counts = session.look_at_lines(&chosen, |_, line| query.count(line))?;
            let count: usize = counts.iter().sum();
            if context.json() {
                let path = session.path().map(Path::to_string_lossy);
                let row = serde_json::json!({ "session": path, "sessionId": name, "count": count });
                context.ui.json_row(&row)?;
            } else if !self.all {
                context.ui.row(&count.to_string())?;
            } else if count > 0 {
                context.ui.plain_row(&format!("{name}:{count}"))?;
            }
            return Ok(Exit::from(count > 0));
        }
        let around = if self.list { 0 } else { self.around };
        let hits = session.look_at_lines(&chosen, |ix, line| {
            let lines = query.search(line, around);
            if lines.is_empty() {
                return None;
            }
            let entry = Entry::new(line);
            Some(Hit {
                ix,
                role: entry.role_name(),
                kind: entry.type_name(),
                lines,
            })
        })?;
        let mut exit = Exit::No;
        for hit in hits.into_iter().flatten() {
            let is_first = matches!(exit, Exit::No);
            exit = Exit::Yes;
            if self.list {
                if self.all {
                    let path = session
                        .path()
                        .map(Path::to_string_lossy)
                        .unwrap_or_default();
                    context.ui.plain_row(&path)?;
                    break;
                }
                context.ui.plain_row(&session.id(hit.ix))?;
                continue;
            }
            if self.around > 0 && !is_first && !context.json() {
                context.ui.row("--")?;
            }
            print(context, session, &hit, form)?;
        }
        Ok(exit)
    }
}

/// All entries that can be reached, in the order of the file.
fn everything(session: Rc<Session>) -> Result<(Rc<Session>, Vec<Ix>)> {
    session.load_all()?;
    let index = session.index();
    let entries = index
        .file_order()
        .filter(|&ix| index.is_current(ix))
        .collect();
    drop(index);
    Ok((session, entries))
}

/// Whether entries of a kind have a text at all.
fn has_text(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::Usage | Kind::Custom | Kind::ContextEdit | Kind::Other | Kind::Session
    )
}

fn print(context: &mut Context, session: &Session, hit: &Hit, form: &Form) -> Result<(), Failure> {
    let (name, id) = (session.header().id.as_str(), session.id(hit.ix));
    let mut before = 0;
    for found in &hit.lines {
        if context.json() {
            if found.matches.is_empty() {
                continue;
            }
            let points = |at: usize| found.text[..at].chars().count();
            let path = session.path().map(Path::to_string_lossy);
            context.ui.json_row(&Row {
                session: path.as_deref(),
                session_id: name,
                id: &id,
                role: hit.role.as_deref(),
                r#type: &hit.kind,
                line_number: found.number,
                text: &found.text,
                matches: found
                    .matches
                    .iter()
                    .map(|&(start, end)| [points(start), points(end)])
                    .collect(),
            })?;
            continue;
        }
        if form.around && before > 0 && found.number > before + 1 {
            context.ui.row("--")?;
        }
        before = found.number;
        let row = row(&context.ui, name, &id, found, form);
        context.ui.row(&row)?;
    }
    Ok(())
}

/// A line as grep prints it: a colon before a match, a dash before what surrounds one.
fn row(ui: &Ui, session: &str, id: &str, found: &Found, form: &Form) -> String {
    let sign = if found.matches.is_empty() { "-" } else { ":" };
    let sign = ui.painter.paint(Mark::Dim, sign);
    let mut row = String::new();
    if form.with_session {
        row.push_str(&ui.painter.paint(Mark::Meta, &visible(session)));
        row.push_str(&sign);
    }
    row.push_str(&ui.painter.paint(Mark::Id, &visible(&crate::cmd::plain(id))));
    row.push_str(&sign);
    let mut at = 0;
    for &(start, end) in &found.matches {
        row.push_str(&visible(&found.text[at..start]));
        row.push_str(
            &ui.painter
                .paint(Mark::Match, &visible(&found.text[start..end])),
        );
        at = end;
    }
    row.push_str(&visible(&found.text[at..]));
    row
}

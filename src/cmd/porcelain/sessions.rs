//! `pis sessions`.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::cli::{Context, Exit, Failure, since};
use crate::error::Error;
use crate::store::header::State;
use crate::store::list::{List, Summary, Wanted};
use crate::store::query::Query;
use crate::time;
use crate::ui::format::Format;
use crate::ui::sessions::{Columns, ShortIds, shows_cost};

/// List sessions
///
/// The sessions of the current directory, the one where something was last said first: id, name
/// and first words, number of messages, age, size; * marks the current one. What pi's list shows
/// is shown, and the sessions that pi leaves out for one odd entry, too.
#[derive(Debug, Args)]
#[command(visible_alias = "ls")]
#[command(after_help = "Examples:
  pis sessions
  pis sessions --all --since '1 week ago'
  pis ls --search '\"plans first\" auth'
  pis sessions --all --sort size -n 10
  pis sessions --json | jq -r 'select(.messageCount > 20) | .path'")]
pub(crate) struct Sessions {
    /// List the sessions of all directories
    #[arg(long)]
    all: bool,
    /// Only sessions that `parentSession` joins to the current one, in any directory
    #[arg(long, conflicts_with = "all")]
    family: bool,
    /// Only sessions that were forked from no other, or from one that is gone
    #[arg(long)]
    roots: bool,
    /// Only sessions with a name
    #[arg(long)]
    named: bool,
    /// Only sessions that hold all these words, "phrases", or re:REGEX
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,
    /// Only sessions where something was said at or after this time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// The order: newest, largest or most first, names from A to Z
    #[arg(long, value_enum, value_name = "KEY", default_value_t)]
    sort: Sort,
    /// Turn the order round
    #[arg(short, long)]
    reverse: bool,
    /// Show at most N sessions
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    number: Option<usize>,
}

/// What sessions are sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// When something was last said
    #[default]
    Modified,
    /// When the session was begun
    Created,
    /// The name; sessions without one come last
    Name,
    /// The size of the file
    Size,
    /// The number of messages
    Messages,
    /// The dollars spent, as stored
    Cost,
}

/// The fields of `--format` that only sessions have.
const FIELDS: &[&str] = &[
    "path",
    "cwd",
    "name",
    "firstMessage",
    "messageCount",
    "created",
    "modified",
    "parentSession",
    "size",
];

/// The JSON shape of a session.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    id: &'a str,
    path: &'a str,
    cwd: &'a str,
    name: Option<&'a str>,
    first_message: Option<&'a str>,
    message_count: u64,
    created: Option<String>,
    modified: Option<String>,
    parent_session: Option<&'a str>,
    size: u64,
}

impl<'a> Row<'a> {
    fn new(session: &'a Summary, path: &'a str) -> Row<'a> {
        Row {
            id: &session.header.id,
            path,
            cwd: session.header.cwd.as_deref().unwrap_or_default(),
            name: session.name.as_deref(),
            first_message: session.first_message.as_deref(),
            message_count: session.message_count,
            created: session.created.and_then(time::format),
            modified: session.modified.and_then(time::format),
            parent_session: session.header.parent_session.as_deref(),
            size: session.size,
        }
    }

    /// The value of a placeholder; empty for what a session has not.
    fn field(&self, name: &str, session: &Summary, at: &Place<'_>) -> Result<String, Failure> {
        let or_empty = |value: Option<&str>| value.unwrap_or_default().to_owned();
        let first = self.first_message.unwrap_or_default();
        let (line, rest) = first.split_once('\n').unwrap_or((first, ""));
        Ok(match name {
            "id" => self.id.to_owned(),
            "shortId" => at.ids.short(self.id),
            "type" => "session".to_owned(),
            "path" => self.path.to_owned(),
            "cwd" => self.cwd.to_owned(),
            "name" | "label" => or_empty(self.name),
            "subject" => self.name.unwrap_or(line).to_owned(),
            "body" if self.name.is_none() => rest.to_owned(),
            "firstMessage" | "text" | "body" => first.to_owned(),
            "messageCount" => self.message_count.to_string(),
            "created" => or_empty(self.created.as_deref()),
            "modified" | "timestamp" => or_empty(self.modified.as_deref()),
            "time" => session.modified.map_or_else(String::new, |t| t.to_string()),
            "ago" => session
                .modified
                .map_or_else(String::new, |t| time::ago(at.now, t)),
            "parentSession" | "parentId" => or_empty(self.parent_session),
            "size" => self.size.to_string(),
            "marks" if at.is_current(session) => "@".to_owned(),
            "leaf" | "onPath" => at.is_current(session).to_string(),
            "cost" => session.cost.map_or_else(String::new, |c| c.to_string()),
            "json" => crate::json::to_line(self)?,
            _ => String::new(),
        })
    }
}

/// What a session is looked at from.
struct Place<'a> {
    ids: ShortIds<'a>,
    current: Option<&'a Path>,
    now: i64,
}

impl Place<'_> {
    fn is_current(&self, session: &Summary) -> bool {
        self.current == Some(&session.path)
    }
}

impl Sessions {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let since = self.since.as_deref();
        let since = since
            .map(|text| since::parse(text, context.now))
            .transpose()?;
        let query = self.search.as_deref().map(Query::parse).transpose()?;
        let format = context.format().map(|t| Format::parse_with(t, FIELDS));
        let format = format.transpose()?;
        let drawn = !context.json() && format.is_none();
        let wanted = Wanted {
            search: query.as_ref(),
            cost: self.sort == Sort::Cost || format.is_some() || drawn && shows_cost(&context.ui),
        };
        let current = context.current_file();
        let current = if self.family {
            Some(current?)
        } else {
            // A list is what helps whoever names a session that is not there.
            current.ok()
        };

        let list = self.read(context, wanted, current.as_deref());
        let current = current.and_then(|path| same_file(&list, &path));
        let mut shown: Vec<&Summary> = list.sessions.iter().collect();
        shown.retain(|s| s.found && (!self.named || s.name.is_some()));
        shown.retain(|s| since.is_none_or(|since| s.modified.is_some_and(|at| at >= since)));
        shown.retain(|s| !self.roots || s.is_root());
        self.sort(&mut shown);
        shown.truncate(self.number.unwrap_or(usize::MAX));

        let exit = tell(context, &list);
        if shown.is_empty() {
            self.tell_empty(context, list.sessions.is_empty());
            return Ok(exit);
        }
        let ids = ShortIds::new(list.sessions.iter().map(|s| s.header.id.as_str()));
        let (now, current) = (context.now, current.as_deref());
        if drawn {
            let home = context.places().home.clone();
            let everywhere = self.all || self.family;
            context.ui.page();
            let columns = Columns::new(&context.ui, ids, &shown, everywhere, home.as_deref());
            let columns = columns.marking(current, now);
            for session in shown {
                let row = columns.render(&context.ui, session);
                context.ui.row(&row)?;
            }
            return Ok(exit);
        }
        let place = Place { ids, current, now };
        for session in shown {
            let path = session.path.to_string_lossy();
            let row = Row::new(session, &path);
            match &format {
                None => context.ui.json_row(&row)?,
                Some(format) => {
                    let field = |name: &str| row.field(name, session, &place);
                    let row = format.fill(&context.ui, &field)?;
                    context.ui.row(&row)?;
                }
            }
        }
        Ok(exit)
    }

    fn read(&self, context: &Context, wanted: Wanted<'_>, current: Option<&Path>) -> List {
        let places = context.places();
        let candidates = if self.all || self.family {
            places.candidates_everywhere()
        } else {
            places.candidates_here()
        };
        let total = candidates.files.iter().map(|file| file.size).sum();
        let progress = context.ui.progress(total, "reading sessions");
        let mut list = List::read(candidates, places, wanted, &|bytes| progress.passed(bytes));
        drop(progress);
        if let Some(current) = current.filter(|_| self.family) {
            list.keep_family(current, wanted);
        }
        list
    }

    /// Sorts what is sorted by time of writing; equals keep that order.
    fn sort(&self, sessions: &mut [&Summary]) {
        match self.sort {
            Sort::Modified => sessions.sort_by_key(|s| Reverse(s.modified)),
            Sort::Created => sessions.sort_by_key(|s| Reverse(s.created)),
            Sort::Name => sessions.sort_by_cached_key(|s| {
                (s.name.is_none(), s.name.as_deref().map(str::to_lowercase))
            }),
            Sort::Size => sessions.sort_by_key(|s| Reverse(s.size)),
            Sort::Messages => sessions.sort_by_key(|s| Reverse(s.message_count)),
            Sort::Cost => sessions.sort_by(|a, b| {
                let cost = |s: &Summary| s.cost.unwrap_or(f64::NEG_INFINITY);
                cost(b).total_cmp(&cost(a))
            }),
        }
        if self.reverse {
            sessions.reverse();
        }
    }

    fn tell_empty(&self, context: &Context, nothing_there: bool) {
        if !nothing_there {
            context
                .ui
                .note("nothing-shown", "no session is left to show");
            return;
        }
        let places = context.places();
        let dir = places.session_dir();
        let what = if self.all {
            let root = places.sessions_root();
            let at = if dir.shared { &dir.path } else { &root };
            format!(
                "there are no sessions in '{}'; start 'pi', or make one with 'pis init'",
                at.display()
            )
        } else {
            format!(
                "there are no sessions of '{}' in '{}'; 'pis sessions --all' lists those of all \
                 directories, 'pis init' makes one here",
                places.cwd.display(),
                dir.path.display()
            )
        };
        context.ui.note("no-sessions", &what);
    }
}

/// The path by which a list holds a file.
fn same_file(list: &List, path: &Path) -> Option<PathBuf> {
    let by = |same: &dyn Fn(&Path) -> bool| list.sessions.iter().find(|s| same(&s.path));
    let real = || std::fs::canonicalize(path).ok();
    let found = by(&|other| other == path).or_else(|| {
        let real = real()?;
        by(&|other| std::fs::canonicalize(other).is_ok_and(|other| other == real))
    });
    found.map(|s| s.path.clone())
}

/// Tells what came in the way; no where something could not be read at all.
fn tell(context: &Context, list: &List) -> Exit {
    let ui = &context.ui;
    if let Some(warning) = context.places().session_dir().warning {
        ui.note("bad-settings", &warning);
    }
    for (path, state) in &list.headless {
        let path = path.display();
        match state {
            State::ByteOrderMark => ui.note("bom", &format!(
                "'{path}' begins with a byte order mark, so pi does not list it; '-s FILE' names it"
            )),
            State::HeaderNotFirst => ui.note("header-not-first", &format!(
                "the header of '{path}' is not its first record, so pi does not list it; '-s FILE' names it"
            )),
            State::NoHeader => ui.note("no-header", &format!(
                "'{path}' has no header, so pi does not list it; '-s FILE' names it"
            )),
            State::Fine => {}
        }
    }
    let bad: Vec<_> = list.sessions.iter().filter(|s| s.bad_lines > 0).collect();
    if let Some(first) = bad.first() {
        let lines = match first.bad_lines {
            1 => "a line that is not JSON and is".to_owned(),
            n => format!("{n} lines that are not JSON and are"),
        };
        let more = match bad.len() - 1 {
            0 => String::new(),
            1 => "; one more session has such lines".to_owned(),
            n => format!("; {n} more sessions have such lines"),
        };
        let path = first.path.display();
        ui.note(
            "unparseable-line",
            &format!("'{path}' has {lines} passed over{more}"),
        );
    }
    for error in &list.unreadable {
        ui.note("unreadable", &message(error));
    }
    Exit::from(list.unreadable.is_empty())
}

fn message(error: &Error) -> String {
    format!("{error}; the list goes on without it")
}

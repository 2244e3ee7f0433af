//! `pis status`.

use std::path::Path;

use clap::Args;
use serde::Serialize;

use crate::cli::{Context, Exit, Failure};
use crate::cmd::plain;
use crate::context::Projection;
use crate::error::Result;
use crate::rev::resolve::resolve;
use crate::rev::syntax::{Place, Rev};
use crate::session::Session;
use crate::stats::{Number, Stats};
use crate::store::index::Ix;
use crate::ui::describe::{describe, dollars, thousands};
use crate::ui::sanitize::one_line;
use crate::ui::style::Mark;
use crate::ui::width::{cut, width};

/// Show which session this is, where its leaf is, and what surrounds it
///
/// --short prints `<session id> <leaf> <pi's leaf> <source>` on one line and reads only the end of
/// the file: for prompts and scripts. The source is `pointer` where pis moved the leaf without
/// writing to the session, else `last-entry`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis status
  pis status --short
  pis status --json | jq .contextTokens")]
pub(crate) struct Status {
    /// One line; reads only the end of the file
    #[arg(long)]
    short: bool,
}

/// What `--short` tells.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Short {
    session: Option<String>,
    session_id: String,
    leaf: Option<String>,
    pi_leaf: Option<String>,
    source: &'static str,
}

/// The JSON shape of the whole.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Long {
    #[serde(flatten)]
    short: Short,
    previous: Option<String>,
    entry_count: usize,
    tip_count: usize,
    context_tokens: serde_json::Number,
    cost: Number,
    locked: bool,
    inside_agent: bool,
    changed_seconds_ago: Option<i64>,
}

impl Status {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let session = context.session()?;
        let leaf = session.leaf()?;
        let id = |ix: Option<Ix>| ix.map(|ix| session.id(ix));
        let short = Short {
            session: session
                .path()
                .map(|path| path.to_string_lossy().into_owned()),
            session_id: session.header().id.clone(),
            leaf: id(leaf.ix),
            pi_leaf: id(leaf.pi),
            source: if leaf.from_pointer {
                "pointer"
            } else {
                "last-entry"
            },
        };
        if self.short {
            if context.json() {
                context.ui.json_row(&short)?;
            } else {
                let name = |id: &Option<String>| {
                    id.as_deref()
                        .map_or("root".into(), |id| plain(id).into_owned())
                };
                let row = format!(
                    "{} {} {} {}",
                    plain(&short.session_id),
                    name(&short.leaf),
                    name(&short.pi_leaf),
                    short.source
                );
                context.ui.plain_row(&row)?;
            }
            return Ok(Exit::Yes);
        }
        let tree = session.tree()?;
        let previous = Rev {
            session: None,
            place: Place::Checkout(1),
            suffixes: Vec::new(),
        };
        // Nobody has moved the leaf yet, or the place is gone.
        let previous = resolve(&session, &previous)
            .ok()
            .and_then(|found| id(found.target.entry()));
        let path = session.path();
        let (tip_count, entry_count) = {
            let index = session.index();
            (
                tree.tips(&index).len(),
                index
                    .newest_first()
                    .filter(|&ix| index.is_current(ix))
                    .count(),
            )
        };
        let long = Long {
            short,
            previous,
            entry_count,
            tip_count,
            context_tokens: Projection::build(&session, leaf.ix)?.tokens(),
            cost: Stats::of_all(&session)?.cost,
            locked: path.is_some_and(crate::store::lock::is_held),
            inside_agent: path.is_some_and(|path| context.is_inside_agent(path)),
            changed_seconds_ago: path.and_then(|path| seconds_ago(path, context.now)),
        };
        if context.json() {
            context.ui.json_row(&long)?;
        } else {
            print(context, &session, &long)?;
        }
        Ok(Exit::Yes)
    }
}

/// How long ago a file was written to, in seconds.
fn seconds_ago(path: &Path, now: i64) -> Option<i64> {
    let changed = std::fs::metadata(path)
        .and_then(|meta| meta.modified())
        .ok()?;
    let since = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((now - i64::try_from(since.as_millis()).ok()?).max(0) / 1000)
}

fn print(context: &mut Context, session: &Session, status: &Long) -> Result<(), Failure> {
    /// A session that was written to so lately may be in use.
    const LATELY: i64 = 10;
    let mut rows = head(session)?;
    let count =
        |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let branches = count(status.tip_count, "branch", "branches");
    rows.push(("entries", format!("{}, {branches}", status.entry_count)));
    let tokens = status.context_tokens.as_f64().unwrap_or_default();
    rows.push(("context", format!("{} tokens", thousands(tokens))));
    rows.push(("cost", dollars(status.cost.0)));
    let mut notes = Vec::new();
    if status.locked {
        notes.push("another pis is writing to it".to_owned());
    }
    if status.inside_agent {
        notes.push("it is the session of the agent that runs this command".to_owned());
    }
    if let Some(seconds) = status
        .changed_seconds_ago
        .filter(|seconds| *seconds < LATELY)
    {
        notes.push(format!("changed {seconds} s ago"));
    }
    if !notes.is_empty() {
        rows.push(("now", notes.join("; ")));
    }
    print_fields(context, &rows)
}

/// Name and value of what is shown.
pub(crate) type Fields = Vec<(&'static str, String)>;

/// Which session it is, and where its leaf is.
pub(crate) fn head(session: &Session) -> Result<Fields> {
    let entry = |ix: Option<Ix>| -> Result<String> {
        let Some(ix) = ix else {
            return Ok("root, before the first entry".to_owned());
        };
        let described = describe(session, ix, &session.line(ix)?)?;
        let label = session
            .label(ix)?
            .map(|label| format!("  [{}]", one_line(&label)));
        let id = one_line(&plain(&session.id(ix)));
        Ok(format!(
            "{id} {}{}  {}",
            described.who,
            label.unwrap_or_default(),
            described.text
        ))
    };
    let leaf = session.leaf()?;
    let file = session
        .path()
        .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let mut rows = vec![("session", one_line(&session.header().id))];
    if let Some(name) = session.session_name()? {
        rows.push(("name", one_line(&name)));
    }
    rows.extend(file.map(|file| ("file", one_line(&file))));
    rows.push(("leaf", entry(leaf.ix)?));
    if leaf.from_pointer {
        rows.push(("pi opens", entry(leaf.pi)?));
    }
    Ok(rows)
}

/// Prints fields, their values in one column.
pub(crate) fn print_fields(context: &mut Context, rows: &Fields) -> Result<(), Failure> {
    let painter = context.ui.painter;
    let mark = if context.ui.unicode() { "…" } else { "~" };
    let names = rows
        .iter()
        .map(|(name, _)| width(name))
        .max()
        .unwrap_or_default();
    for (name, value) in rows {
        let value = cut(
            value,
            context.ui.width.saturating_sub(names + 2).max(8),
            mark,
        );
        let fill = " ".repeat(names - width(name) + 2);
        let row = format!("{}{fill}{value}", painter.paint(Mark::Dim, name));
        context.ui.row(row.trim_end())?;
    }
    Ok(())
}

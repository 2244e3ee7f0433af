//! What every command shares that moves the leaf or adds entries.

use clap::Args;
use serde::Serialize;

use crate::cli::{Context, Failure};
use crate::cmd::plain;
use crate::entry::{Entry, Kind};
use crate::error::{Error, Result};
use crate::rev::resolve::{Found, resolve};
use crate::rev::syntax::{Place, Rev, quote_name};
use crate::session::Session;
use crate::store::index::{Ix, ParentId};
use crate::store::replace::Replaced;
use crate::tree::Parent;
use crate::write::batch::{Batch, Fresh, Lines};
use crate::write::{Done, Writer};

/// `--force`, where pis runs inside the agent.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Force {
    /// Change the session of the agent that runs this command, too
    #[arg(long)]
    pub(crate) force: bool,
}

/// What a move leaves, as `--json` prints it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Moved {
    pub(crate) leaf: Option<String>,
    pub(crate) previous: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) summary_id: Option<String>,
}

/// An entry that was written, as `--json` prints it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WrittenRow<'a> {
    id: &'a str,
    parent_id: Option<&'a str>,
}

/// Tells what came of putting a new file in a session's place.
pub(crate) fn tell_replaced(context: &Context, done: &Replaced) {
    let message = format!("the old file is '{}' now", done.backup.display());
    context.ui.note("backup", &message);
    if let Some(trouble) = &done.trouble {
        let message = format!("the session was replaced, but not all of it noted: {trouble}");
        context.ui.note("not-logged", &message);
    }
}

/// Reads a revision that a command moves to: `-` is where the last checkout started.
pub(crate) fn parse(text: &str) -> Result<Rev> {
    if text == "-" {
        return Ok(Rev {
            session: None,
            place: Place::Checkout(1),
            suffixes: Vec::new(),
        });
    }
    Ok(Rev::parse(text)?)
}

/// Finds a revision in the session that is about to change.
pub(crate) fn find(context: &Context, session: &Session, rev: &Rev) -> Result<Found> {
    let found = resolve(session, rev)?;
    for warning in &found.warnings {
        context.ui.note("ambiguous-label", warning);
    }
    Ok(found)
}

/// Fails with [`Error::LeafMoved`] where the leaf is not what a revision names.
pub(crate) fn expect_leaf(context: &Context, writer: &Writer, expected: &Rev) -> Result<()> {
    let id = match find(context, writer.session(), expected) {
        Ok(found) => found.target.entry().map(|ix| writer.session().id(ix)),
        // Nothing in the file is called so, so it cannot be the leaf.
        Err(Error::NoRevision { .. }) => Some(expected.to_string()),
        Err(e) => return Err(e),
    };
    writer.expect_leaf(id.as_deref())
}

/// Times and ids for new entries.
pub(crate) struct Edge {
    pub(crate) timestamp: String,
    now: i64,
}

impl Edge {
    pub(crate) fn new(context: &Context) -> Edge {
        Edge {
            timestamp: context.timestamp(),
            now: context.now,
        }
    }

    pub(crate) fn fresh(&self) -> Fresh<'_> {
        Fresh {
            now: self.now,
            timestamp: &self.timestamp,
            new_id: &crate::cli::new_entry_id,
        }
    }
}

/// Tells what went wrong with a change that was made all the same.
pub(crate) fn tell(context: &Context, done: &Done) {
    if let Some(e) = &done.unlogged {
        let note = format!("done, but not noted for reflog and undo: {e}");
        context.ui.note("not-logged", &note);
    }
}

/// Moves the leaf to an entry or before the first one; returns the leaf. With `write`, a marker
/// makes pi open there, too.
pub(crate) fn move_leaf(
    context: &Context,
    writer: Writer,
    target: Option<Ix>,
    write: bool,
    op: &str,
    message: Option<&str>,
) -> Result<Option<String>, Failure> {
    let session = writer.session();
    let id = target.map(|ix| session.id(ix));
    let pi = session.leaf()?.pi;
    let why = context.reason(op, message);
    if pi == target {
        tell(context, &writer.point(target, &why)?);
        return Ok(id);
    }
    if !write {
        let opens = pi.map_or_else(|| "root".into(), |ix| session.id(ix));
        let note = format!(
            "pi still opens this session at {}; an append, or --write, makes the move last for pi",
            quote_name(&opens)
        );
        tell(context, &writer.point(target, &why)?);
        context.ui.note("pi-opens-elsewhere", &note);
        return Ok(id);
    }
    if let Some(marker) = pi
        && is_marker_for(session, marker, target)?
    {
        let id = session.id(marker);
        tell(context, &writer.point(Some(marker), &why)?);
        return Ok(Some(id));
    }
    let edge = Edge::new(context);
    let mut batch = Batch::new(session, target, edge.fresh());
    let data = serde_json::json!({ "leaf": id });
    let marker = serde_json::json!({ "type": "custom", "customType": MARKER, "data": data });
    batch.add(marker.to_string().as_bytes(), &"the marker")?;
    let lines = batch.finish();
    let leaf = lines.leaf().unwrap_or_default();
    tell(context, &writer.append(&lines.pieces, leaf, true, &why)?);
    Ok(Some(leaf.to_owned()))
}

/// Prints a move that hands nothing back, which only `--json` shows.
pub(crate) fn print_move(
    context: &mut Context,
    leaf: Option<String>,
    previous: Option<String>,
) -> Result<(), Failure> {
    if context.json() {
        context.ui.json_row(&Moved {
            leaf,
            previous,
            prompt: None,
            summary_id: None,
        })?;
    }
    Ok(())
}

/// The `customType` of an entry that only says where the leaf is.
pub(crate) const MARKER: &str = "pis.leaf";

fn is_marker_for(session: &Session, marker: Ix, target: Option<Ix>) -> Result<bool> {
    if session.kind(marker) != Kind::Custom || session.parent(marker)?.entry() != target {
        return Ok(false);
    }
    let line = session.line(marker)?;
    Ok(Entry::new(&line)
        .raw()
        .str("customType")
        .is_some_and(|t| t == MARKER))
}

/// Appends a batch and prints what was written; also where another program wrote beside it.
pub(crate) fn append_batch(
    context: &mut Context,
    writer: Writer,
    lines: &Lines,
    exactly: bool,
    op: &str,
    message: Option<&str>,
) -> Result<(), Failure> {
    let Some(last) = lines.ids.last() else {
        return Ok(());
    };
    let why = context.reason(op, message);
    let appended = writer.append(&lines.pieces, last, exactly, &why);
    if !matches!(appended, Ok(_) | Err(Error::WrittenBeside { .. })) {
        return Ok(appended.map(|_| ())?);
    }
    for (id, parent_id) in lines.entries() {
        if context.json() {
            context.ui.json_row(&WrittenRow { id, parent_id })?;
        } else {
            context.ui.plain_row(&quote_name(id))?;
        }
    }
    context.ui.flush()?;
    tell(context, &appended?);
    Ok(())
}

/// The entries that put a label on an entry or, without a name, take it off; none where that is
/// so already. Replacing another label, or moving a name that is taken, needs `force`.
pub(crate) fn label_entries(
    session: &Session,
    id: &str,
    name: Option<&str>,
    force: bool,
) -> Result<Vec<serde_json::Value>, Failure> {
    let labels = session.labels()?;
    let entry = |target: &str, name: Option<&str>| {
        let mut entry = serde_json::json!({ "type": "label", "targetId": target });
        if let Some(name) = name {
            entry["label"] = name.into();
        }
        entry
    };
    let held = labels.of(id).map(|label| label.name.as_str());
    let Some(name) = name else {
        return match held {
            Some(_) => Ok(vec![entry(id, None)]),
            None => Err(Failure::usage(format!("{} has no label", plain(id)))),
        };
    };
    if name.is_empty() {
        return Err(Failure::usage("the label is empty").hint("'pis label -d REV' takes it off"));
    }
    if held == Some(name) {
        return Ok(Vec::new());
    }
    let refuse = |message: String, hint: &str| Err(Failure::usage(message).hint(hint));
    if let Some(held) = held.filter(|_| !force) {
        let message = format!("{} is labelled {} already", plain(id), plain(held));
        return refuse(message, "'pis label --force' replaces it");
    }
    let mut entries = Vec::new();
    for other in labels.iter().filter(|l| l.name == name && l.target != id) {
        // A label on an entry that is not there is in nobody's way.
        if session.find(&other.target)?.is_none() {
            continue;
        }
        if !force {
            let message = format!(
                "the label {} is on {} already",
                plain(name),
                plain(&other.target)
            );
            return refuse(message, "'pis label --force' moves it");
        }
        entries.push(entry(&other.target, None));
    }
    entries.push(entry(id, Some(name)));
    Ok(entries)
}

/// The place before a message. A parent that is named but not in the file is none, as in pi, and
/// `hint` says what to do instead.
pub(crate) fn before(session: &Session, ix: Ix, hint: &str) -> Result<Option<Ix>> {
    let parent = session.parent(ix)?;
    if parent != Parent::Orphan {
        return Ok(parent.entry());
    }
    let index = session.index();
    let name = match index.parent_id(ix) {
        ParentId::Id(id) => String::from_utf8_lossy(id).into_owned(),
        _ => String::new(),
    };
    let id = index.id_text(ix);
    Err(Error::NoRevision {
        message: format!(
            "the parent of {}, {}, is not in the file",
            plain(&id),
            plain(&name)
        ),
        hint: Some(hint.to_owned()),
    })
}

/// Whether a place lies between a tool call and its results, and the last result if so: a model
/// would see a call without an answer there.
pub(crate) fn open_call(session: &Session, at: Option<Ix>) -> Result<Option<Ix>> {
    let Some(at) = at else { return Ok(None) };
    let tree = session.tree()?;
    let is_result = |ix: Ix| session.role(ix) == crate::entry::Role::ToolResult;
    let next_result = |ix: Ix| {
        let children = tree.children(ix).iter().rev();
        children.copied().find(|&child| is_result(child))
    };
    let Some(mut last) = next_result(at) else {
        return Ok(None);
    };
    while let Some(next) = next_result(last) {
        last = next;
    }
    Ok(Some(last))
}

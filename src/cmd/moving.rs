//! What every command shares that moves the leaf or adds entries.

use clap::Args;
use serde::Serialize;

use crate::cli::{Context, Failure};
use crate::entry::{Entry, Kind};
use crate::error::{Error, Result};
use crate::rev::resolve::{Found, resolve};
use crate::rev::syntax::{Place, Rev, quote_name};
use crate::session::Session;
use crate::store::index::Ix;
use crate::write::Writer;
use crate::write::batch::{Batch, Fresh, Written};

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
        writer.point(target, &why)?;
        return Ok(id);
    }
    if !write {
        let opens = pi.map_or_else(|| "root".into(), |ix| session.id(ix));
        let note = format!(
            "pi still opens this session at {}; an append, or --write, makes the move last for pi",
            quote_name(&opens)
        );
        writer.point(target, &why)?;
        context.ui.note("pi-opens-elsewhere", &note);
        return Ok(id);
    }
    if let Some(marker) = pi
        && is_marker_for(session, marker, target)?
    {
        let id = session.id(marker);
        writer.point(Some(marker), &why)?;
        return Ok(Some(id));
    }
    let edge = Edge::new(context);
    let mut batch = Batch::new(session, target, edge.fresh());
    let data = serde_json::json!({ "leaf": id });
    let marker = serde_json::json!({ "type": "custom", "customType": MARKER, "data": data });
    batch.add(marker.to_string().as_bytes(), "the marker")?;
    let (bytes, leaf) = (
        batch.bytes().to_vec(),
        batch.leaf().unwrap_or_default().to_owned(),
    );
    writer.append(&bytes, &leaf, true, &why)?;
    Ok(Some(leaf))
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
    bytes: &[u8],
    written: &[Written],
    exactly: bool,
    op: &str,
    message: Option<&str>,
) -> Result<(), Failure> {
    let Some(last) = written.last() else {
        return Ok(());
    };
    let why = context.reason(op, message);
    let appended = writer.append(bytes, &last.id, exactly, &why);
    if let Err(e) = &appended
        && !matches!(e, Error::WrittenBeside { .. })
    {
        return Ok(appended?);
    }
    for entry in written {
        if context.json() {
            let (id, parent_id) = (entry.id.as_str(), entry.parent.as_deref());
            context.ui.json_row(&WrittenRow { id, parent_id })?;
        } else {
            context.ui.plain_row(&quote_name(&entry.id))?;
        }
    }
    context.ui.flush()?;
    Ok(appended?)
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

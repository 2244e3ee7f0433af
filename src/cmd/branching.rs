//! What every command shares that makes a new session file of an old one.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde::Serialize;

use super::moving::Edge;
use crate::cli::{Context, Failure};
use crate::error::Result;
use crate::session::Session;
use crate::store::create::{file_name, write_new};
use crate::store::discover::{DirSource, Places};
use crate::store::index::Ix;
use crate::write::batch::Batch;
use crate::write::branch::{Header, Lines, of_all, of_path};
use crate::write::build::{quote, session_name};

/// Where the new session goes and what it is called.
#[derive(Debug, Clone, Args)]
pub(crate) struct Place {
    /// The directory the new session belongs to
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cwd: Option<PathBuf>,
    /// The new session's name
    #[arg(long)]
    name: Option<String>,
    /// Write this file, which must not exist
    #[arg(short = 'o', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

/// What goes into the new session.
pub(crate) enum What {
    /// The path to an entry, or nothing.
    Path(Option<Ix>),
    /// Everything.
    All,
}

/// A new session, as `--json` prints it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Made {
    pub(crate) session: String,
    pub(crate) session_id: String,
    pub(crate) leaf: Option<String>,
    pub(crate) prompt: Option<String>,
    /// Whether it lies where pi looks for sessions.
    #[serde(skip)]
    pub(crate) is_listed: bool,
}

impl Made {
    /// Prints the path of the new session, or with `--json` all of it.
    pub(crate) fn print(&self, context: &mut Context) -> Result<(), Failure> {
        if self.is_listed {
            context.ui.note(
                "newest-session",
                "this session is the newest of its directory now",
            );
        }
        if context.json() {
            context.ui.json_row(self)?;
        } else {
            context.ui.plain_row(&self.session)?;
        }
        Ok(())
    }
}

/// Writes a new session of an old one. Without `--cwd` a path stays in its directory's place; a
/// copy goes to the current directory's.
pub(crate) fn make(
    context: &Context,
    old: &Session,
    what: &What,
    place: &Place,
) -> Result<Made, Failure> {
    let copies = matches!(what, What::All);
    let here = context.places_at(place.cwd.as_deref());
    let own_cwd = old
        .header()
        .cwd
        .clone()
        .filter(|_| place.cwd.is_none() && !copies);
    let cwd = own_cwd
        .clone()
        .unwrap_or_else(|| here.cwd.to_string_lossy().into_owned());
    let id = context.new_session_id();
    let timestamp = context.timestamp();
    let dir = here.session_dir();
    let path = place.output.as_deref().map_or_else(
        || {
            // A session directory that someone chose holds all; else a path stays where it was.
            let stays = place.cwd.is_none() && !copies && dir.source == DirSource::Default;
            let beside = old.path().and_then(Path::parent).filter(|_| stays);
            beside.unwrap_or(&dir.path).join(file_name(&timestamp, &id))
        },
        absolute,
    );
    let parent = old
        .path()
        .map(|p| absolute(p).to_string_lossy().into_owned());
    let header = Header {
        id: &id,
        timestamp: &timestamp,
        cwd: &cwd,
        parent_session: parent.as_deref(),
    };
    let mut lines = match what {
        What::Path(leaf) => of_path(old, *leaf, &header, &crate::cli::new_entry_id)?,
        What::All => of_all(old, &header)?,
    };
    add_name(&mut lines, context, place.name.as_deref())?;
    write_new(&path, &lines.bytes)?;
    let is_listed = place.output.is_none() || is_listed(&here, &path);
    Ok(Made {
        session: path.to_string_lossy().into_owned(),
        session_id: id,
        leaf: lines.leaf,
        prompt: None,
        is_listed,
    })
}

/// Whether a file that may lie anywhere lies where pi looks for sessions.
pub(crate) fn is_listed(here: &Places, path: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let Some(dir) = path.parent().and_then(real) else {
        return false;
    };
    let is_session = path.extension().is_some_and(|e| e == "jsonl");
    let of_a_directory = || dir.parent().map(Path::to_owned) == real(&here.sessions_root());
    is_session && (Some(&dir) == real(&here.session_dir().path).as_ref() || of_a_directory())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Gives a new session a name, unless it is empty.
pub(crate) fn add_name(lines: &mut Lines, context: &Context, name: Option<&str>) -> Result<()> {
    let Some(name) = name.map(session_name).filter(|n| !n.is_empty()) else {
        return Ok(());
    };
    // A session of its own, so that the entry is made by the same rules as any other.
    let session = Session::from_bytes(lines.bytes.clone())?;
    let edge = Edge::new(context);
    let mut batch = Batch::new(&session, session.leaf()?.ix, edge.fresh());
    let entry = format!("{{\"type\":\"session_info\",\"name\":{}}}", quote(&name));
    batch.add(entry.as_bytes(), &"the name")?;
    let named = batch.finish();
    lines.bytes.extend(named.pieces.concat());
    lines.leaf = named.leaf().map(str::to_owned);
    Ok(())
}

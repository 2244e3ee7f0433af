//! An entry as rows, `--json` and `--format` show it.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::entry::{self, Entry};
use crate::error::Result;
use crate::json::Raw;
use crate::session::Session;
use crate::store::index::{Index, Ix, ParentId};

/// Which entries are on the path to the leaf.
#[derive(Debug, Clone)]
pub(crate) enum OnPath {
    /// Everything that is shown.
    All,
    /// By entry number.
    Mask(Vec<bool>),
}

/// What is special about entries, apart from what they hold.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    pub(crate) leaf: Option<Ix>,
    pub(crate) on_path: OnPath,
}

impl Marks {
    /// Marks for any entries of the file; reads all of it.
    pub(crate) fn all(session: &Session) -> Result<Marks> {
        let leaf = session.leaf()?.ix;
        Ok(Marks {
            leaf,
            on_path: OnPath::Mask(session.tree()?.path_mask(leaf)),
        })
    }

    pub(crate) fn on_path(&self, ix: Ix) -> bool {
        match &self.on_path {
            OnPath::All => true,
            OnPath::Mask(mask) => mask[ix.at()],
        }
    }
}

/// The JSON shape of an entry in listings.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    pub(crate) id: Option<String>,
    pub(crate) parent_id: Option<String>,
    pub(crate) r#type: String,
    pub(crate) role: Option<String>,
    /// As stored, whatever it is.
    pub(crate) timestamp: Option<Box<RawValue>>,
    pub(crate) time: Option<i64>,
    pub(crate) label: Option<String>,
    pub(crate) leaf: bool,
    pub(crate) on_path: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
}

impl Record {
    /// Gathers what is shown of an entry, whose line is given.
    pub(crate) fn new(session: &Session, ix: Ix, line: &[u8], marks: &Marks) -> Result<Record> {
        let entry = Entry::new(line);
        let label = session.label(ix)?;
        let index = session.index();
        Ok(Record {
            id: index.id(ix).map(|_| index.id_text(ix).into_owned()),
            parent_id: parent_id(&index, ix),
            r#type: entry.type_name(),
            role: entry.role_name(),
            timestamp: entry.get("timestamp").map(Raw::to_raw_value),
            time: index.time(ix),
            label,
            leaf: marks.leaf == Some(ix),
            on_path: marks.on_path(ix),
            text: Some(entry::text(entry)),
        })
    }
}

/// The parent's id as stored; `None` where that is no id.
pub(crate) fn parent_id(index: &Index, ix: Ix) -> Option<String> {
    match index.parent_id(ix) {
        ParentId::Id(id) => Some(String::from_utf8_lossy(id).into_owned()),
        ParentId::Null | ParentId::Missing | ParentId::Invalid => None,
    }
}

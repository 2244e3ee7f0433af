//! `HEAD`: where the leaf is when it is not the last entry of the file.
//!
//! It lies in `<dir>/.pis/<file name>.d/`, beside the session it belongs to (symlinks resolved),
//! and holds `{"leaf": "<id>" or null, "size": <bytes>}`. It counts while nothing but white space
//! follows `size` in the session: whoever appends has moved the leaf.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The contents of `HEAD`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    /// The id of the leaf; `None` before the first entry.
    pub leaf: Option<String>,
    /// The length of the session when the pointer was set, in bytes.
    pub size: u64,
}

/// The directory that holds what pis knows of a session beside its file.
pub fn state_dir(session: &Path) -> Option<PathBuf> {
    let file = std::fs::canonicalize(session).ok()?;
    let mut name = file.file_name()?.to_owned();
    name.push(".d");
    Some(file.parent()?.join(".pis").join(name))
}

/// Reads `HEAD`. `None` where there is none, or none that can be read: the last entry counts.
pub fn read(session: &Path) -> Option<Pointer> {
    let bytes = std::fs::read(state_dir(session)?.join("HEAD")).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Replaces `HEAD` in a session's state directory, whole or not at all.
pub fn write(dir: &Path, pointer: &Pointer) -> Result<()> {
    let path = dir.join("HEAD");
    let failed = || Error::io("write", &path);
    let text = serde_json::to_string(pointer).map_err(|e| failed()(e.into()))?;
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(failed())?;
    writeln!(file, "{text}").map_err(failed())?;
    file.as_file().sync_all().map_err(failed())?;
    file.persist(&path).map_err(|e| failed()(e.error))?;
    Ok(())
}

/// Removes `HEAD`: the last entry of the file is the leaf.
pub fn remove(dir: &Path) -> Result<()> {
    let path = dir.join("HEAD");
    match std::fs::remove_file(&path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", &path)(e)),
        _ => Ok(()),
    }
}

//! Putting a new file in the place of a session, the old one kept beside it.
//!
//! At every moment one of the two is there, whole: the new one is on disk before it is renamed over
//! the old one, and the old one has its second name by then.

use std::fs::Metadata;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::create::{free_path, sync_dir, temporary, write_new_from};
use super::leaf::{self, Pointer};
use super::lock::Lock;
use super::source::Source;
use crate::error::{Error, Result};

/// What came of a replacement that was made.
#[derive(Debug)]
#[must_use = "it may hold something to tell"]
pub struct Replaced {
    /// Where the old file is.
    pub backup: PathBuf,
    /// Whether another program appended in the very moment of the change. It is in the new file,
    /// too, unless that is the trouble.
    pub beside: bool,
    /// What went wrong after the change, which stands.
    pub trouble: Option<Error>,
}

/// Replaces a session whose length was `expected` when it was read. `leaf` is where the leaf is to
/// be, if not at the last entry. The caller holds the lock. Links are followed; mode and owner
/// stay.
///
/// Fails with [`Error::NotWritable`] where the file has another hard link, and with
/// [`Error::LeafMoved`] where another program appended meanwhile. An error means that nothing was
/// changed.
pub fn replace(
    path: &Path,
    expected: u64,
    new: &Source,
    leaf: Option<Option<String>>,
    lock: &Lock,
) -> Result<Replaced> {
    let path = std::fs::canonicalize(path).map_err(Error::io("open", path))?;
    let io = |action| Error::io(action, &path);
    let meta = std::fs::metadata(&path).map_err(io("open"))?;
    // A backup that a run left that was cut off before it came to replace anything.
    let left = path.with_added_extension("bak");
    let left = Some(left).filter(|left| is_link(left, &meta));
    if links(&meta) > 1 + u64::from(left.is_some()) {
        return Err(Error::NotWritable {
            session: path.clone(),
            reason: "it has another hard link, which would keep the old contents".into(),
            hint: "write a new file with -o, or remove the other link".into(),
        });
    }
    let file = temporary(&path, new, new.len())?;
    file.as_file()
        .set_permissions(meta.permissions())
        .map_err(io("write"))?;
    keep_owner(file.path(), &meta);
    let backup = match left {
        Some(left) => left,
        None => back_up(&path)?,
    };
    sync_dir(path.parent().unwrap_or(Path::new("/")));
    let len = std::fs::metadata(&path).map_err(io("open"))?.len();
    if len != expected {
        let _ = std::fs::remove_file(&backup);
        return Err(Error::LeafMoved {
            message: format!(
                "another program appended to '{}' at this moment",
                path.display()
            ),
        });
    }
    // pi takes no lock. What it appends from here on until the name changes is in the old file.
    let old = std::fs::File::open(&path).map_err(io("open"))?;
    file.persist(&path).map_err(|e| io("replace")(e.error))?;
    sync_dir(path.parent().unwrap_or(Path::new("/")));
    let late = catch_up(&path, old, expected).map_err(io("append to"));
    let beside = !matches!(late, Ok(false));
    let pointer = leaf.filter(|_| !beside);
    let noted = match pointer {
        Some(leaf) => leaf::write(
            lock.dir(),
            &Pointer {
                leaf,
                size: new.len(),
            },
        ),
        None => leaf::remove(lock.dir()),
    };
    Ok(Replaced {
        backup,
        beside,
        trouble: late.err().or(noted.err()),
    })
}

/// Appends to the new file what the old one got after it was read; whether that was anything.
fn catch_up(path: &Path, mut old: std::fs::File, read: u64) -> std::io::Result<bool> {
    if old.metadata()?.len() <= read {
        return Ok(false);
    }
    old.seek(SeekFrom::Start(read))?;
    let mut tail = Vec::new();
    old.read_to_end(&mut tail)?;
    let mut new = std::fs::OpenOptions::new().append(true).open(path)?;
    new.write_all(&tail)?;
    new.sync_data()?;
    Ok(true)
}

/// Gives the file a second name.
fn back_up(path: &Path) -> Result<PathBuf> {
    let backup = free_path(path, ".bak", "");
    if std::fs::hard_link(path, &backup).is_err() {
        // Not every file system has hard links.
        write_new_from(&backup, &Source::open(path)?)?;
    }
    Ok(backup)
}

#[cfg(unix)]
fn is_link(path: &Path, of: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::symlink_metadata(path);
    meta.is_ok_and(|meta| (meta.dev(), meta.ino()) == (of.dev(), of.ino()))
}

#[cfg(not(unix))]
fn is_link(_: &Path, _: &Metadata) -> bool {
    false
}

#[cfg(unix)]
fn links(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(meta)
}

#[cfg(not(unix))]
fn links(_: &Metadata) -> u64 {
    1
}

/// Gives a file the owner of another one, where that is allowed.
#[cfg(unix)]
fn keep_owner(path: &Path, meta: &Metadata) {
    use std::os::unix::fs::{MetadataExt, chown};
    let _ = chown(path, Some(meta.uid()), Some(meta.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &Path, _: &Metadata) {}

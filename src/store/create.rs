//! New session files: written beside their place, synced, then put there, never over another.

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::source::Source;
use crate::error::{Error, Result};
use crate::json::scan::ReadAt;

/// Whether pi 1.6.0 takes the text for a session id: letters, digits, `.`, `_` and `-`, with a
/// letter or digit at both ends.
pub fn is_valid_id(id: &str) -> bool {
    let plain = |b: &u8| b.is_ascii_alphanumeric();
    let bytes = id.as_bytes();
    bytes.first().is_some_and(plain)
        && bytes.last().is_some_and(plain)
        && bytes
            .iter()
            .all(|b| plain(b) || matches!(b, b'.' | b'_' | b'-'))
}

/// The name pi gives a session's file.
pub fn file_name(timestamp: &str, id: &str) -> String {
    format!("{}_{id}.jsonl", timestamp.replace([':', '.'], "-"))
}

/// Writes a file that must not exist yet, whole or not at all, readable by its owner only.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    put_new(path, &bytes, bytes.len() as u64)
}

/// Writes a file as [`write_new`] does, with the bytes of a source.
pub fn write_new_from(path: &Path, source: &Source) -> Result<()> {
    put_new(path, source, source.len())
}

fn put_new(path: &Path, source: &dyn ReadAt, len: u64) -> Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir).map_err(Error::io("create", dir))?;
    let file = temporary(path, source, len)?;
    file.persist_noclobber(path)
        .map_err(|e| Error::io("create", path)(e.error))?;
    forget_former(path);
    sync_dir(dir);
    Ok(())
}

/// A file beside a path, with the first bytes of a source, on disk. It goes away unless it is put into
/// its place. Its mode is 0600.
pub(super) fn temporary(path: &Path, source: &dyn ReadAt, len: u64) -> Result<NamedTempFile> {
    const BLOCK: u64 = 1 << 20;
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".pis-")
        .tempfile_in(dir)
        .map_err(Error::io("write into", dir))?;
    let failed = || Error::io("write", path);
    let mut at = 0;
    while at < len {
        let block = source.read_range(at, (at + BLOCK).min(len));
        let block = block.map_err(Error::io("read for", path))?;
        if block.is_empty() {
            let e = std::io::Error::other("the file was cut while it was read");
            return Err(Error::io("read for", path)(e));
        }
        file.write_all(&block).map_err(failed())?;
        at += block.len() as u64;
    }
    file.as_file().sync_all().map_err(failed())?;
    Ok(file)
}

/// A path that is free: with a suffix to the file's name, and a number if need be.
pub fn free_path(path: &Path, suffix: &str, extension: &str) -> PathBuf {
    let named = |number: &str| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!("{suffix}{number}{extension}"));
        path.with_file_name(name)
    };
    let mut numbers = std::iter::once(String::new()).chain((2..).map(|n: u64| n.to_string()));
    let free = numbers.find_map(|number| {
        let path = named(&number);
        // A link to nowhere is no free place either.
        std::fs::symlink_metadata(&path).is_err().then_some(path)
    });
    free.unwrap_or_else(|| named(""))
}

/// Removes what pis noted of a deleted session of that name. The new one may have its length and
/// its ids, as a fork that is made again has, and the old leaf would hold for it.
fn forget_former(path: &Path) {
    if let Some(dir) = super::leaf::state_dir(path) {
        for name in ["HEAD", "log"] {
            // Mostly there is none.
            let _ = std::fs::remove_file(dir.join(name));
        }
    }
}

/// Makes a new name in a directory last. Not every file system can; the file itself is safe.
pub(super) fn sync_dir(dir: &Path) {
    if let Ok(dir) = std::fs::File::open(dir) {
        let _ = dir.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_pis() {
        for id in ["a", "a..b", "HEAD", "0-1_2.3z"] {
            assert!(is_valid_id(id), "{id}");
        }
        for id in ["", ".", "-a", "a-", "a/b", "..", "a b", "é"] {
            assert!(!is_valid_id(id), "{id}");
        }
    }

    #[test]
    fn a_file_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x/y.jsonl");
        write_new(&path, b"one").unwrap();
        assert!(write_new(&path, b"two").is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        assert_eq!(
            std::fs::read_dir(dir.path().join("x")).unwrap().count(),
            1,
            "nothing is left"
        );
    }
}

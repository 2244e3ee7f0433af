//! Appending to a session: whole lines, in one write, checked afterwards.
//!
//! pi appends without a lock, so another program's bytes may land in between; that is found out
//! and told. A write that comes up short is taken back, so that a session never ends in half of
//! what pis wanted to say.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// Where an append landed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Landed {
    /// The length of the file before.
    pub start: u64,
    /// The length of the file after.
    pub end: u64,
    /// Whether another program appended since the file had the length that was expected.
    pub beside: bool,
}

/// Appends whole lines, in pieces, to a session whose length was `expected` when it was looked at, and
/// flushes them to disk. The caller holds the lock. With `exactly`, nothing is written where the
/// length is another: [`Error::LeafMoved`].
pub fn append<P: AsRef<[u8]>>(
    path: &Path,
    expected: u64,
    exactly: bool,
    lines: &[P],
) -> Result<Landed> {
    let failed = || Error::io("append to", path);
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .open(path)
        .map_err(failed())?;
    let len = file.metadata().map_err(failed())?.len();
    if exactly && len != expected {
        return Err(Error::LeafMoved {
            message: format!(
                "another program appended to '{}' at this moment",
                path.display()
            ),
        });
    }
    // A line cut off by a crash must not swallow ours.
    let torn = len > 0 && last_byte(&mut file, len).map_err(failed())? != b'\n';
    let newline: &[u8] = if torn { b"\n" } else { b"" };
    let pieces = std::iter::once(newline).chain(lines.iter().map(AsRef::as_ref));
    let pieces: Vec<_> = pieces.filter(|piece| !piece.is_empty()).collect();
    let total: usize = pieces.iter().map(|piece| piece.len()).sum();
    let fragment = |written: usize| pieces.concat()[..written].to_vec();

    let mut slices: Vec<_> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
    let mut slices = slices.as_mut_slice();
    let mut written = 0;
    let mut start = None;
    while written < total {
        match file.write_vectored(slices) {
            Ok(0) => {
                let e = io::Error::from(io::ErrorKind::WriteZero);
                return Err(take_back(&mut file, path, start, &fragment(written), e));
            }
            Ok(n) => {
                written += n;
                IoSlice::advance_slices(&mut slices, n);
                // An append leaves the position behind what it wrote.
                let at = file.stream_position().map_err(failed())?;
                start.get_or_insert(at - n as u64);
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(take_back(&mut file, path, start, &fragment(written), e)),
        }
    }
    // Some file systems find out only now that the disk is full.
    if let Err(e) = file.sync_data() {
        return Err(take_back(&mut file, path, start, &fragment(total), e));
    }
    let start = start.unwrap_or(len);
    let end = file.stream_position().map_err(failed())?;
    // In several writes another program may have come between them, too.
    let beside = start != expected || end != start + total as u64;
    Ok(Landed { start, end, beside })
}

fn last_byte(file: &mut File, len: u64) -> io::Result<u8> {
    let mut byte = [0];
    file.seek(SeekFrom::Start(len - 1))?;
    file.read_exact(&mut byte)?;
    Ok(byte[0])
}

/// Takes back a write that failed: cuts the file where it began, if it still ends in our fragment,
/// else ends the fragment's line.
fn take_back(
    file: &mut File,
    path: &Path,
    start: Option<u64>,
    fragment: &[u8],
    e: io::Error,
) -> Error {
    let Some(start) = start else {
        return Error::io("append to", path)(e);
    };
    let ends_in_ours = || -> io::Result<bool> {
        if file.metadata()?.len() != start + fragment.len() as u64 {
            return Ok(false);
        }
        let mut held = vec![0; fragment.len()];
        let mut reader = &*file;
        reader.seek(SeekFrom::Start(start))?;
        reader.read_exact(&mut held)?;
        Ok(held == fragment)
    };
    let cut = ends_in_ours().and_then(|ours| {
        if !ours {
            return Ok(false);
        }
        // Opened for appending, a file can be cut through another handle only on some systems.
        let whole = OpenOptions::new().write(true).open(path)?;
        whole.set_len(start)?;
        whole.sync_data()?;
        Ok(true)
    });
    let said = match cut {
        Ok(true) => "nothing was written".to_owned(),
        Ok(false) => {
            end_line(file, fragment);
            "what was written stays, because another program appended behind it".to_owned()
        }
        Err(cut) => {
            end_line(file, fragment);
            format!("what was written stays, because it cannot be cut off: {cut}")
        }
    };
    let message = format!("{e}; {said}");
    Error::io("append to", path)(io::Error::new(e.kind(), message))
}

/// Ends a line that was left cut off. Where even that fails, the next append does it.
fn end_line(file: &mut File, fragment: &[u8]) {
    if !fragment.ends_with(b"\n") {
        let _ = file.write_all(b"\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, text).unwrap();
        (dir, path)
    }

    #[test]
    fn a_missing_newline_comes_first() {
        let (_dir, path) = file("{}\n{\"a\":1}");
        let landed = append(&path, 10, true, &[b"{\"b\":2}\n"]).unwrap();
        assert_eq!(
            landed,
            Landed {
                start: 10,
                end: 19,
                beside: false
            }
        );
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "{}\n{\"a\":1}\n{\"b\":2}\n"
        );
    }

    #[test]
    fn what_came_between_is_found_out() {
        let (_dir, path) = file("{}\n{}\n");
        assert!(matches!(
            append(&path, 3, true, &[b"{}\n"]),
            Err(Error::LeafMoved { .. })
        ));
        let landed = append(&path, 3, false, &[b"{}\n"]).unwrap();
        assert_eq!(
            landed,
            Landed {
                start: 6,
                end: 9,
                beside: true
            }
        );
    }
}

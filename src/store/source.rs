//! Where the bytes of a session come from: a file, read at offsets, or bytes held in memory.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::error::{Error, Result};
use crate::json::scan::ReadAt;

/// The bytes of a session. A file is read, never mapped: it can be cut while it is read.
#[derive(Debug)]
pub enum Source {
    /// An open file and the length it had when it was opened. What is appended later is not seen.
    File(File, u64),
    /// Bytes from standard input.
    Memory(Vec<u8>),
}

impl Source {
    /// Opens a file and takes its length.
    pub fn open(path: &Path) -> Result<Source> {
        let meta = std::fs::metadata(path).map_err(Error::io("open", path))?;
        let not = |reason: &str| Error::NotASession {
            path: path.to_owned(),
            reason: reason.into(),
        };
        if meta.is_dir() {
            return Err(not("it is a directory"));
        }
        // Opening a pipe would wait for its writer.
        if !meta.is_file() {
            return Err(not(
                "it is not a regular file (use '-s -' to read from a pipe)",
            ));
        }
        let file = File::open(path).map_err(Error::io("open", path))?;
        let len = file.metadata().map_err(Error::io("open", path))?.len();
        Ok(Source::File(file, len))
    }

    /// The number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Source::File(_, len) => *len,
            Source::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads a stretch whole. Shorter only where the file was cut meanwhile.
    pub fn read_range(&self, start: u64, end: u64) -> io::Result<Vec<u8>> {
        let want = usize::try_from(end.saturating_sub(start)).map_err(io::Error::other)?;
        let mut buf = vec![0; want];
        let mut got = 0;
        while got < want {
            match self.read_at(&mut buf[got..], start + got as u64) {
                Ok(0) => break,
                Ok(n) => got += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        buf.truncate(got);
        Ok(buf)
    }

    /// The first offset from `offset` on, and before `end`, at which a line starts.
    pub fn next_line(&self, offset: u64, end: u64) -> io::Result<Option<u64>> {
        let mut at = offset.saturating_sub(1);
        while at + 1 < end {
            let block = self.read_range(at, (at + 64 * 1024).min(end - 1))?;
            if let Some(n) = memchr::memchr(b'\n', &block) {
                return Ok(Some(at + n as u64 + 1));
            }
            if block.is_empty() {
                break;
            }
            at += block.len() as u64;
        }
        Ok(None)
    }

    /// The start of the line that holds the byte before `offset`: just behind the last LF in
    /// front of that byte, or `floor`.
    pub fn line_start(&self, offset: u64, floor: u64) -> io::Result<u64> {
        let mut end = offset;
        while end > floor {
            let start = end.saturating_sub(64 * 1024).max(floor);
            let block = self.read_range(start, end)?;
            if let Some(n) = memchr::memrchr(b'\n', &block) {
                return Ok(start + n as u64 + 1);
            }
            end = start;
        }
        Ok(floor)
    }
}

impl ReadAt for Source {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Source::File(file, len) => {
                let room = usize::try_from(len.saturating_sub(offset)).unwrap_or(usize::MAX);
                let want = buf.len().min(room);
                file_read_at(file, &mut buf[..want], offset)
            }
            Source::Memory(bytes) => bytes.as_slice().read_at(buf, offset),
        }
    }
}

#[cfg(unix)]
fn file_read_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, offset)
}

#[cfg(windows)]
fn file_read_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buf, offset)
}

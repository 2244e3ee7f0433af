//! Where the bytes of a session come from: a file, read at offsets, bytes held in memory, or parts
//! of another source with new bytes between them.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::json::scan::ReadAt;

/// The bytes of a session. A file is read, never mapped: it can be cut while it is read.
#[derive(Debug, Clone)]
pub enum Source {
    /// An open file and the length it had when it was opened. What is appended later is not seen.
    File(Arc<File>, u64),
    /// Bytes from standard input.
    Memory(Arc<Vec<u8>>),
    /// Parts of another source, and new bytes between them.
    Pieces(Arc<Pieces>),
}

/// Bytes made of stretches of a source and of new bytes, so that a changed copy of a large file
/// takes no memory for what stays as it was.
#[derive(Debug)]
pub struct Pieces {
    base: Source,
    parts: Vec<Part>,
    /// Where each part ends.
    ends: Vec<u64>,
}

#[derive(Debug)]
enum Part {
    /// A stretch of the base.
    Stored(u64, u64),
    /// New bytes.
    Made(Vec<u8>),
}

impl Pieces {
    /// Nothing yet.
    pub fn new(base: Source) -> Pieces {
        Pieces {
            base,
            parts: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a stretch of the base.
    pub fn push_stored(&mut self, start: u64, end: u64) {
        let len = self.len() + (end - start);
        match (self.parts.last_mut(), self.ends.last_mut()) {
            (Some(Part::Stored(_, last)), Some(last_end)) if *last == start => {
                *last = end;
                *last_end = len;
            }
            _ => {
                self.parts.push(Part::Stored(start, end));
                self.ends.push(len);
            }
        }
    }

    /// Adds new bytes.
    pub fn push_made(&mut self, bytes: Vec<u8>) {
        self.ends.push(self.len() + bytes.len() as u64);
        self.parts.push(Part::Made(bytes));
    }

    fn start(&self, nth: usize) -> u64 {
        nth.checked_sub(1).map_or(0, |before| self.ends[before])
    }
}

impl ReadAt for Pieces {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let nth = self.ends.partition_point(|end| *end <= offset);
        let Some(part) = self.parts.get(nth) else {
            return Ok(0);
        };
        let skip = offset - self.start(nth);
        match part {
            Part::Stored(start, end) => {
                let room = usize::try_from(end - start - skip).unwrap_or(usize::MAX);
                let want = buf.len().min(room);
                self.base.read_at(&mut buf[..want], start + skip)
            }
            Part::Made(bytes) => bytes.as_slice().read_at(buf, skip),
        }
    }
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
        Ok(Source::File(Arc::new(file), len))
    }

    /// The number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Source::File(_, len) => *len,
            Source::Memory(bytes) => bytes.len() as u64,
            Source::Pieces(pieces) => pieces.len(),
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads a stretch whole. Shorter only where the file was cut meanwhile.
    pub fn read_range(&self, start: u64, end: u64) -> io::Result<Vec<u8>> {
        ReadAt::read_range(self, start, end)
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

    /// How many lines end in a stretch.
    fn line_ends(&self, start: u64, end: u64) -> io::Result<u64> {
        let (mut at, mut count) = (start, 0);
        while at < end {
            let block = self.read_range(at, (at + (1 << 20)).min(end))?;
            if block.is_empty() {
                break;
            }
            count += memchr::memchr_iter(b'\n', &block).count() as u64;
            at += block.len() as u64;
        }
        Ok(count)
    }

    /// The numbers, from 1, of the lines that hold these offsets. Where the offsets ascend, all is
    /// read once.
    pub fn line_numbers(&self, offsets: impl IntoIterator<Item = u64>) -> io::Result<Vec<u64>> {
        let (mut at, mut count) = (0, 1);
        let mut numbers = Vec::new();
        for offset in offsets {
            if offset < at {
                (at, count) = (0, 1);
            }
            count += self.line_ends(at, offset)?;
            at = offset;
            numbers.push(count);
        }
        Ok(numbers)
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
            Source::Pieces(pieces) => pieces.read_at(buf, offset),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_read_like_what_they_are_made_of() {
        let base = Source::Memory(Arc::new(b"one\ntwo\nthree\n".to_vec()));
        let mut pieces = Pieces::new(base);
        pieces.push_stored(4, 8);
        pieces.push_stored(8, 14);
        pieces.push_made(b"new\n".to_vec());
        pieces.push_stored(0, 4);
        assert_eq!(pieces.parts.len(), 3, "stretches that touch are one");
        let source = Source::Pieces(Arc::new(pieces));
        let whole = b"two\nthree\nnew\none\n";
        assert_eq!(source.len(), whole.len() as u64);
        for start in 0..whole.len() {
            for end in start..=whole.len() {
                let read = source.read_range(start as u64, end as u64).unwrap();
                assert_eq!(read, &whole[start..end]);
            }
        }
    }
}

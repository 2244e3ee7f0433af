//! Changing a session: the one way in which the leaf moves and entries are added.
//!
//! A [`Writer`] holds the lock and has looked at the file under it. [`build`] makes entries of
//! what the caller gives.

pub mod batch;
pub mod branch;
pub mod build;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::session::Session;
use crate::store::append::append;
use crate::store::header::{Migration, State};
use crate::store::index::Ix;
use crate::store::leaf::{self, Pointer};
use crate::store::lock::{Lock, PATIENCE};
use crate::store::moves::{self, Move};

/// Why the leaf moves, for the log.
#[derive(Debug, Clone)]
pub struct Reason<'a> {
    /// The command.
    pub op: &'a str,
    /// What the caller says.
    pub message: Option<&'a str>,
    /// When, in Unix milliseconds.
    pub now: i64,
}

/// A session that is locked and was looked at under the lock.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    session: Session,
    /// The leaf before the change.
    old: Option<String>,
    lock: Lock,
}

impl Writer {
    /// Waits for the lock and looks at the file.
    pub fn open(path: &Path) -> Result<Writer> {
        // A file that is no session gets no state directory beside it.
        Session::open(path)?;
        let lock = Lock::acquire(path, PATIENCE)?;
        let session = Session::open(path)?;
        let old = session.leaf()?.ix.map(|ix| session.id(ix));
        Ok(Writer {
            path: path.to_owned(),
            session,
            old,
            lock,
        })
    }

    /// The session as it was found under the lock.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The id of the leaf before the change; `None` before the first entry.
    pub fn old_leaf(&self) -> Option<&str> {
        self.old.as_deref()
    }

    /// Fails with [`Error::LeafMoved`] where the leaf is another one.
    pub fn expect_leaf(&self, expected: Option<&str>) -> Result<()> {
        if self.old_leaf() == expected {
            return Ok(());
        }
        let name = |id: Option<&str>| id.unwrap_or("root").to_owned();
        Err(Error::LeafMoved {
            message: format!(
                "the leaf is '{}', not '{}'",
                name(self.old_leaf()),
                name(expected)
            ),
        })
    }

    /// Fails where entries must not be added: the file is of another version, or pi would not
    /// open it.
    pub fn check_writable(&self) -> Result<()> {
        let refuse = |reason: &str, hint: &str| {
            Err(Error::NotWritable {
                session: self.path.clone(),
                reason: reason.to_owned(),
                hint: hint.to_owned(),
            })
        };
        let copy = "'pis copy' makes a version 3 file of it, which can be written to";
        match self.session.state() {
            State::Fine => {}
            State::ByteOrderMark => return refuse("it begins with a byte order mark", copy),
            State::HeaderNotFirst => return refuse("its header is not its first record", copy),
            State::NoHeader => return refuse("it has no header", copy),
        }
        if self.session.header().is_newer() {
            let version = self.session.header().version;
            return refuse(
                &format!("its version is {version}, and pis knows only 3"),
                "a newer pis may know it",
            );
        }
        match self.session.migration() {
            Migration::None => Ok(()),
            Migration::Roles => refuse("its version is 2", copy),
            Migration::Ids => refuse("it is of version 1, without ids", copy),
        }
    }

    /// Appends whole lines, the last of which is the entry `leaf`, and moves the leaf there. With
    /// `exactly`, nothing is written where another program has appended since the look.
    pub fn append(self, lines: &[u8], leaf: &str, exactly: bool, why: &Reason<'_>) -> Result<()> {
        self.check_writable()?;
        let landed = append(&self.path, self.session.size(), exactly, lines)?;
        // Whoever comes first, the log or HEAD: an append has moved the leaf already.
        leaf::remove(self.lock.dir())?;
        self.log(Some(leaf), landed.end, why)?;
        if landed.beside {
            return Err(Error::WrittenBeside { session: self.path });
        }
        Ok(())
    }

    /// Moves the leaf without touching the session.
    pub fn point(self, target: Option<Ix>, why: &Reason<'_>) -> Result<()> {
        let size = self.session.size();
        let id = target.map(|ix| self.session.id(ix));
        if self.session.leaf()?.pi == target {
            leaf::remove(self.lock.dir())?;
        } else {
            leaf::write(
                self.lock.dir(),
                &Pointer {
                    leaf: id.clone(),
                    size,
                },
            )?;
        }
        let len = std::fs::metadata(&self.path)
            .map_err(Error::io("read", &self.path))?
            .len();
        if len != size {
            return Err(Error::LeafMoved {
                message: format!(
                    "another program appended to '{}' at this moment",
                    self.path.display()
                ),
            });
        }
        self.log(id.as_deref(), size, why)
    }

    fn log(&self, new: Option<&str>, size: u64, why: &Reason<'_>) -> Result<()> {
        let step = Move {
            time: why.now,
            op: why.op.to_owned(),
            old: self.old.clone(),
            new: new.map(str::to_owned),
            size,
            reason: why.message.map(str::to_owned),
        };
        moves::write(self.lock.dir(), &step)
    }
}

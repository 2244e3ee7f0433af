//! Changing a session: the one way in which the leaf moves and entries are added.
//!
//! A [`Writer`] holds the lock and has looked at the file under it. [`build`] makes entries of
//! what the caller gives.

pub mod batch;
pub mod branch;
pub mod build;
pub mod migrate;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::session::Session;
use crate::store::append::append;
use crate::store::header::{Migration, State};
use crate::store::index::Ix;
use crate::store::leaf::{self, Pointer};
use crate::store::lock::{Lock, PATIENCE};
use crate::store::moves::{Log, Move};
use crate::store::replace::{Replaced, replace};

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

/// What came of a change that was made.
#[derive(Debug)]
#[must_use = "it may hold something to tell"]
pub struct Done {
    /// Why the change is not in the log of moves, where it counts as one of pi then.
    pub unlogged: Option<Error>,
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
        // A file that is none of ours gets no state directory beside it.
        check_known(&Session::open(path)?, path)?;
        let lock = Lock::acquire(path, PATIENCE)?;
        let session = Session::open(path)?;
        check_known(&session, path)?;
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
        check_known(&self.session, &self.path)?;
        check_opens(&self.session, &self.path)?;
        let refuse = |reason| refuse(&self.path, reason, MIGRATE);
        match self.session.migration() {
            Migration::None => Ok(()),
            Migration::Roles => refuse("its version is 2"),
            Migration::Ids => refuse("it is of version 1, without ids"),
        }
    }

    /// Brings a session of version 1 or 2 to version 3; `None` where it is of version 3 already.
    pub fn migrate(self) -> Result<Option<Replaced>> {
        check_known(&self.session, &self.path)?;
        check_opens(&self.session, &self.path)?;
        if self.session.migration() == Migration::None {
            return Ok(None);
        }
        let new = migrate::migrated_file(&self.session)?;
        let leaf = self.session.leaf()?;
        let pointer = leaf
            .from_pointer
            .then(|| leaf.ix.map(|ix| self.session.id(ix)));
        let size = self.session.size();
        replace(&self.path, size, &new, pointer, &self.lock).map(Some)
    }

    /// Appends whole lines, in pieces, the last of which is the entry `leaf`, and moves the leaf there. With
    /// `exactly`, nothing is written where another program has appended since the look.
    ///
    /// An error other than [`Error::WrittenBeside`] means that the file is as it was, or says what
    /// was left in it.
    pub fn append<P: AsRef<[u8]>>(
        self,
        lines: &[P],
        leaf: &str,
        exactly: bool,
        why: &Reason<'_>,
    ) -> Result<Done> {
        self.check_writable()?;
        // Whatever keeps the log from being written should show before anything is.
        let log = Log::open(self.lock.dir())?;
        let landed = append(&self.path, self.session.size(), exactly, lines)?;
        // From here on the entries are there, and nothing may say otherwise: a caller would append
        // them again. An old HEAD does not hold for the longer file, so it is only litter.
        let _ = leaf::remove(self.lock.dir());
        let done = self.log(log, Some(leaf), landed.end, why);
        if landed.beside {
            return Err(Error::WrittenBeside { session: self.path });
        }
        Ok(done)
    }

    /// Moves the leaf without touching the session.
    pub fn point(self, target: Option<Ix>, why: &Reason<'_>) -> Result<Done> {
        let log = Log::open(self.lock.dir())?;
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
        Ok(self.log(log, id.as_deref(), size, why))
    }

    fn log(&self, log: Log, new: Option<&str>, size: u64, why: &Reason<'_>) -> Done {
        let step = Move {
            time: why.now,
            op: why.op.to_owned(),
            old: self.old.clone(),
            new: new.map(str::to_owned),
            size,
            reason: why.message.map(str::to_owned),
        };
        Done {
            unlogged: log.write(&step).err(),
        }
    }
}

const MIGRATE: &str = "'pis migrate' brings it to version 3, and keeps the old file";
const REPAIR: &str = "'pis repair' makes a file of it that pi opens";

fn refuse(path: &Path, reason: &str, hint: &str) -> Result<()> {
    Err(Error::NotWritable {
        session: path.to_owned(),
        reason: reason.to_owned(),
        hint: hint.to_owned(),
    })
}

/// Fails where pi does not open the file.
fn check_opens(session: &Session, path: &Path) -> Result<()> {
    match session.state() {
        State::ByteOrderMark => refuse(path, "it begins with a byte order mark", REPAIR),
        State::HeaderNotFirst => refuse(path, "its header is not its first record", REPAIR),
        State::Fine | State::NoHeader => Ok(()),
    }
}

/// Fails where nothing of pis belongs, not even a leaf beside the file: pi takes it for no session,
/// or its version is one that pis does not know.
fn check_known(session: &Session, path: &Path) -> Result<()> {
    if session.state() == State::NoHeader {
        return refuse(path, "it has no header", REPAIR);
    }
    if session.header().is_newer() {
        let version = session.header().version;
        let reason = format!("its version is {version}, and pis knows only 3");
        return refuse(path, &reason, "a newer pis may know it");
    }
    Ok(())
}

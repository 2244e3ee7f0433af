//! The advisory lock that writers of a session hold: a file beside it, in `.pis`.
//!
//! pi takes no lock, so this keeps pis from pis only; what pi does at the same moment is found out
//! after a write.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::leaf;
use crate::error::{Error, Result};

/// How long a writer waits for another one.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The lock on a session, held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    /// Closing the file gives the lock up.
    _file: File,
    dir: PathBuf,
}

impl Lock {
    /// Waits for the lock on a session, up to `patience`; [`Error::Locked`] after that.
    pub fn acquire(session: &Path, patience: Duration) -> Result<Lock> {
        let dir = make_state_dir(session)?;
        let path = dir.join("lock");
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(Error::io("create", &path))?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file, dir }),
                Err(TryLockError::Error(e)) => return Err(Error::io("lock", &path)(e)),
                Err(TryLockError::WouldBlock) if start.elapsed() >= patience => {
                    return Err(Error::Locked {
                        session: session.to_owned(),
                    });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// The directory that holds what pis knows of the session.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Whether some process holds the lock on a session. Nothing is created.
pub fn is_held(session: &Path) -> bool {
    let Some(path) = leaf::state_dir(session).map(|dir| dir.join("lock")) else {
        return false;
    };
    let Ok(file) = File::open(path) else {
        return false;
    };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Makes the directory for what pis knows of a session, readable by its owner only.
fn make_state_dir(session: &Path) -> Result<PathBuf> {
    // Only a path that cannot be resolved has no such directory.
    let real = std::fs::canonicalize(session).map_err(Error::io("open", session))?;
    let dir = leaf::state_dir(&real).unwrap_or_else(|| real.with_extension("pis.d"));
    if dir.is_dir() {
        return Ok(dir);
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    // One by one: where the session's directory vanishes meanwhile, it is not made anew.
    for dir in dir.parent().into_iter().chain([dir.as_path()]) {
        match builder.create(dir) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists => {
                return Err(Error::io("create", dir)(e));
            }
            _ => {}
        }
    }
    Ok(dir)
}

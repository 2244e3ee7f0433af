//! What can go wrong, by kind. Messages are lower case and say what was asked and what was found;
//! hints say what to do.

use std::io;
use std::path::{Path, PathBuf};

use crate::rev::syntax::SyntaxError;

/// The result of everything in the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read or written.
    #[error("cannot {action} '{}': {source}", path.display())]
    Io {
        /// What was tried: `read`, `open`, …
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not a pi session.
    #[error("'{}' is not a pi session: {reason}", path.display())]
    NotASession {
        /// The file.
        path: PathBuf,
        /// What it is instead, as far as it shows.
        reason: String,
    },
    /// No session matches what was asked for.
    #[error("{message}")]
    NoSession {
        /// What was looked for and where.
        message: String,
        /// What to do.
        hint: String,
    },
    /// Several sessions match.
    #[error("session '{name}' is ambiguous")]
    AmbiguousSession {
        /// What was asked for.
        name: String,
        /// One line a candidate.
        candidates: Vec<String>,
    },
    /// A revision that cannot be read.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// A revision that names nothing.
    #[error("{message}")]
    NoRevision {
        /// What was asked and found.
        message: String,
        /// What to do, such as the nearest names.
        hint: Option<String>,
    },
    /// A revision that names several entries.
    #[error("revision '{rev}' is ambiguous")]
    AmbiguousRevision {
        /// What was asked for.
        rev: String,
        /// One line a candidate.
        candidates: Vec<String>,
    },
    /// Another pis holds the lock on the session.
    #[error("'{}' is locked by another pis", session.display())]
    Locked {
        /// The session.
        session: PathBuf,
    },
    /// The leaf is not where the caller expected it.
    #[error("{message}")]
    LeafMoved {
        /// What was expected and found.
        message: String,
    },
    /// Written, but another program appended at the same moment.
    #[error("another program appended to '{}' at the same moment: both are kept, as branches", session.display())]
    WrittenBeside {
        /// The session.
        session: PathBuf,
    },
    /// The session must not be written to.
    #[error("'{}' cannot be written to: {reason}", session.display())]
    NotWritable {
        /// The session.
        session: PathBuf,
        /// Why not.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// An entry that pi could not read back.
    #[error("{message}")]
    BadEntry {
        /// Which one, which field, and what is wrong with it.
        message: String,
    },
    /// A request that makes no sense here.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
}

impl Error {
    /// Wraps an I/O error with what was tried on which file.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }

    /// The stable name of the kind, as `--json` prints it.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Io { .. } => "io",
            Error::NotASession { .. } => "not-a-session",
            Error::NoSession { .. } => "no-session",
            Error::AmbiguousSession { .. } => "ambiguous-session",
            Error::Syntax(_) => "revision-syntax",
            Error::NoRevision { .. } => "no-revision",
            Error::AmbiguousRevision { .. } => "ambiguous-revision",
            Error::Locked { .. } => "locked",
            Error::LeafMoved { .. } => "leaf-moved",
            Error::WrittenBeside { .. } => "written-beside",
            Error::NotWritable { .. } => "not-writable",
            Error::BadEntry { .. } => "bad-entry",
            Error::Usage { .. } => "usage",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::NoSession { hint, .. } | Error::NotWritable { hint, .. } => Some(hint.clone()),
            Error::Locked { .. } => Some("wait until it has ended and try again".to_owned()),
            Error::LeafMoved { .. } => {
                Some("nothing was written; look at the session and try again".to_owned())
            }
            Error::NoRevision { hint, .. } | Error::Usage { hint, .. } => hint.clone(),
            Error::Syntax(e) => e.hint.clone(),
            Error::AmbiguousSession { candidates, .. }
            | Error::AmbiguousRevision { candidates, .. } => {
                Some(format!("it could be:\n  {}", candidates.join("\n  ")))
            }
            Error::Io { .. }
            | Error::NotASession { .. }
            | Error::WrittenBeside { .. }
            | Error::BadEntry { .. } => None,
        }
    }
}

//! What is around a session: the one it was made of, the directory it lies in, its pointer.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{Code, Finding};
use crate::error::Result;
use crate::rev::syntax::quote_name;
use crate::session::Session;
use crate::store::discover::{HEADER_LIMIT, Places};
use crate::store::header::{Header, State, read_for_discovery};

/// A family that is deeper is not followed to its end.
const DEEPEST: usize = 10_000;

/// Checks what is around a session.
pub(super) fn check(session: &Session, places: &Places) -> Result<Vec<Finding>> {
    let Some(path) = session.path() else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    if let Some(id) = &session.leaf()?.dangling {
        let message = format!("HEAD names {}, which is not in the file", quote_name(id));
        found.push(Finding::of_file(Code::DanglingLeaf, message));
    }
    let Some(span) = session.header_span() else {
        return Ok(found);
    };
    let about = |code, message: String| Finding::new(code, span, message);
    if session.state() == State::Fine && read_for_discovery(path, HEADER_LIMIT).is_none() {
        let message = format!("the header does not end within the first {HEADER_LIMIT} bytes");
        found.push(about(Code::HiddenHeader, message));
    }
    let header = session.header();
    match descent(path, header) {
        Descent::Sound => {}
        Descent::Gone(parent) => {
            let message = format!("the parent session '{}' is not there", parent.display());
            found.push(about(Code::ParentSessionGone, message));
        }
        Descent::Cycle(parent) => {
            let message = format!(
                "the session descends from '{}', which descends from it",
                parent.display()
            );
            found.push(about(Code::ParentSessionCycle, message));
        }
    }
    if let Some(cwd) = header.cwd.as_deref().filter(|cwd| !cwd.is_empty()) {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let dir = path.parent().and_then(real);
        let is_default =
            |dir: &PathBuf| dir.parent().map(Path::to_owned) == real(&places.sessions_root());
        if let Some(dir) = dir.filter(is_default) {
            let wanted = places.default_session_dir(Path::new(cwd));
            if wanted.file_name() != dir.file_name() {
                let message = format!(
                    "the header's directory is '{cwd}', whose sessions lie in '{}'",
                    wanted.display()
                );
                found.push(about(Code::WrongDirectory, message));
            }
        }
    }
    Ok(found)
}

enum Descent {
    Sound,
    Gone(PathBuf),
    Cycle(PathBuf),
}

/// Follows the sessions that each was made of.
fn descent(path: &Path, header: &Header) -> Descent {
    let Ok(start) = std::fs::canonicalize(path) else {
        return Descent::Sound;
    };
    let mut seen = HashSet::new();
    let mut parent = header.parent_path();
    for depth in 0..DEEPEST {
        let Some(named) = parent else {
            return Descent::Sound;
        };
        let Ok(real) = std::fs::canonicalize(&named) else {
            // Whether one further up is there is that one's matter.
            return if depth == 0 {
                Descent::Gone(named)
            } else {
                Descent::Sound
            };
        };
        if real == start {
            return Descent::Cycle(named);
        }
        if !seen.insert(real) {
            // A cycle of others, which is their matter.
            return Descent::Sound;
        }
        parent = read_for_discovery(&named, HEADER_LIMIT).and_then(|header| header.parent_path());
    }
    Descent::Sound
}

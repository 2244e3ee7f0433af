//! The log of moves: where pis put the leaf, and when.
//!
//! A line a change, JSON, in `.pis/<file name>.d/log`. pi moves the leaf without writing there;
//! such a move shows in that a line does not start where the one before it ended, and counts as
//! one move.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// When, in Unix milliseconds.
    pub time: i64,
    /// The command that moved the leaf.
    pub op: String,
    /// The id of the leaf before; `None` before the first entry.
    pub old: Option<String>,
    /// The id of the leaf after.
    pub new: Option<String>,
    /// The length of the session after the change, in bytes.
    pub size: u64,
    /// What the caller gave as the reason.
    #[serde(default)]
    pub reason: Option<String>,
}

impl Move {
    /// Whether the user asked to be elsewhere, rather than to write something.
    pub fn is_checkout(&self) -> bool {
        matches!(self.op.as_str(), "checkout" | "set-leaf" | "undo")
    }
}

/// Reads the log of a session, oldest line first. Lines that do not parse, such as one cut off by
/// a crash, are passed over; no log is an empty one.
pub fn read(session: &Path) -> Vec<Move> {
    let Some(dir) = super::leaf::state_dir(session) else {
        return Vec::new();
    };
    let Ok(bytes) = std::fs::read(dir.join("log")) else {
        return Vec::new();
    };
    bytes
        .split(|&b| b == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

/// The log, opened to add a line.
#[derive(Debug)]
pub struct Log {
    file: File,
    path: PathBuf,
}

impl Log {
    /// Opens the log in a session's state directory; makes it if need be.
    pub fn open(dir: &Path) -> Result<Log> {
        let path = dir.join("log");
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(Error::io("append to", &path))?;
        Ok(Log { file, path })
    }

    /// Adds a line.
    pub fn write(mut self, step: &Move) -> Result<()> {
        let failed = || Error::io("append to", &self.path);
        let line = serde_json::to_string(step).map_err(|e| failed()(e.into()))?;
        // The LF comes first, too: a line that a crash cut off must not swallow this one.
        self.file
            .write_all(format!("\n{line}\n").as_bytes())
            .map_err(failed())
    }
}

/// The newest move that was not undone yet: `undo` lines take back one each.
pub fn newest_not_undone(log: &[Move]) -> Option<&Move> {
    let mut undone = 0usize;
    log.iter().rev().find(|step| {
        if step.op == "undo" {
            undone += 1;
            return false;
        }
        if undone > 0 {
            undone -= 1;
            return false;
        }
        true
    })
}

/// A move of the leaf, by pis or by pi.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// When, where the log says.
    pub time: Option<i64>,
    /// The command; `pi` for what pi did.
    pub op: String,
    /// The id of the leaf before.
    pub old: Option<String>,
    /// The id of the leaf after.
    pub new: Option<String>,
    /// What the caller gave as the reason.
    pub reason: Option<String>,
}

/// All moves, newest first: those of the log, and what pi did between them and up to `now`.
pub fn with_pis_own(log: &[Move], now: Option<&str>) -> Vec<Step> {
    let by_pi = |old: &Option<String>, new: &Option<String>| Step {
        time: None,
        op: "pi".to_owned(),
        old: old.clone(),
        new: new.clone(),
        reason: None,
    };
    let mut steps: Vec<Step> = Vec::new();
    let mut at: Option<&Option<String>> = None;
    for step in log {
        if let Some(at) = at.filter(|at| **at != step.old) {
            steps.push(by_pi(at, &step.old));
        }
        steps.push(Step {
            time: Some(step.time),
            op: step.op.clone(),
            old: step.old.clone(),
            new: step.new.clone(),
            reason: step.reason.clone(),
        });
        at = Some(&step.new);
    }
    let now = now.map(str::to_owned);
    if let Some(at) = at.filter(|at| **at != now) {
        steps.push(by_pi(at, &now));
    }
    steps.reverse();
    steps
}

/// Every place the leaf has been, newest (`now`) first, pi's moves counted in.
pub fn places(log: &[Move], now: Option<&str>) -> Vec<Option<String>> {
    let steps = with_pis_own(log, now);
    let first = std::iter::once(now.map(str::to_owned));
    first
        .chain(steps.into_iter().map(|step| step.old))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(old: &str, new: &str) -> Move {
        let (old, new) = (Some(old.to_owned()), Some(new.to_owned()));
        Move {
            time: 0,
            op: "checkout".into(),
            old,
            new,
            size: 0,
            reason: None,
        }
    }

    #[test]
    fn what_pi_did_between_two_lines_is_one_move() {
        let log = [step("a", "b"), step("b", "c"), step("x", "d")];
        let place = |id: &str| Some(id.to_owned());
        let wanted = ["d", "x", "c", "b", "a"].map(place);
        assert_eq!(places(&log, Some("d")), wanted);
        assert_eq!(
            places(&log, Some("e"))[0],
            place("e"),
            "pi has moved since the last line"
        );
        assert_eq!(places(&[], Some("e")), [place("e")]);
        assert_eq!(places(&[], None), [None]);
    }
}

//! Errors at the edge: what a person reads, what a script gets, which exit code it is.

use std::io;

use serde::Serialize;

use crate::error::Error;

/// How a command ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Yes, done.
    Yes,
    /// No: no match, not an ancestor, something is missing.
    No,
}

impl Exit {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Yes => 0,
            Exit::No => 1,
        }
    }
}

impl From<bool> for Exit {
    fn from(yes: bool) -> Self {
        if yes { Exit::Yes } else { Exit::No }
    }
}

/// Why a command failed.
#[derive(Debug)]
pub struct Failure {
    exit: u8,
    kind: &'static str,
    message: String,
    hint: Option<String>,
    /// Whoever read our output has gone away, which is no failure.
    closed_pipe: bool,
}

impl Failure {
    /// A request that makes no sense; exit code 2.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure {
            exit: 2,
            kind: "usage",
            message: message.into(),
            hint: None,
            closed_pipe: false,
        }
    }

    /// Something else went wrong; exit code 128.
    pub fn other(message: impl Into<String>) -> Failure {
        Failure {
            exit: 128,
            kind: "other",
            ..Failure::usage(message)
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// Whether a revision or session named nothing.
    pub fn is_missing(&self) -> bool {
        matches!(self.kind, "no-revision" | "no-session" | "revision-syntax")
    }

    /// Whether a revision or session named several.
    pub fn is_ambiguous(&self) -> bool {
        matches!(self.kind, "ambiguous-revision" | "ambiguous-session")
    }

    /// Whether everything was written, but another program wrote at the same moment.
    pub fn is_beside(&self) -> bool {
        self.kind == "written-beside"
    }

    /// Whether it is an answer to "which entry is this?", rather than something gone wrong.
    pub fn is_answer(&self) -> bool {
        self.is_missing() || self.is_ambiguous()
    }

    /// Whether nobody reads the output any more.
    pub fn is_closed_pipe(&self) -> bool {
        self.closed_pipe
    }

    /// The message without a hint.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Prints the failure on stderr and returns the exit code.
    pub fn report(&self, json: bool) -> u8 {
        if self.closed_pipe {
            return 0;
        }
        if json {
            let retryable = self.exit == 3;
            let (exit, kind, message, hint) = (self.exit, self.kind, &self.message, &self.hint);
            let error = ErrorBody {
                exit,
                kind,
                message,
                hint: hint.as_deref(),
                retryable,
            };
            let line = crate::json::to_line(&ErrorLine { error }).unwrap_or_default();
            crate::ui::say(&crate::ui::sanitize::json(&line));
        } else {
            crate::ui::say(&format!(
                "error: {}",
                crate::ui::sanitize::visible(&self.message)
            ));
            if let Some(hint) = &self.hint {
                crate::ui::say(&format!(
                    "hint: {}",
                    crate::ui::sanitize::visible_lines(hint)
                ));
            }
        }
        self.exit
    }
}

#[derive(Serialize)]
struct ErrorLine<'a> {
    error: ErrorBody<'a>,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    exit: u8,
    kind: &'a str,
    message: &'a str,
    hint: Option<&'a str>,
    retryable: bool,
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        let exit = match e {
            Error::Usage { .. } | Error::Syntax(_) | Error::BadEntry { .. } => 2,
            Error::Locked { .. } | Error::LeafMoved { .. } => 3,
            Error::WrittenBeside { .. } => 4,
            _ => 128,
        };
        let closed_pipe = match &e {
            Error::Io { source, .. } => source.kind() == io::ErrorKind::BrokenPipe,
            _ => false,
        };
        Failure {
            exit,
            kind: e.kind(),
            message: e.to_string(),
            hint: e.hint(),
            closed_pipe,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        Failure {
            exit: 128,
            kind: "io",
            message: format!("cannot write the output: {e}"),
            hint: None,
            closed_pipe: e.kind() == io::ErrorKind::BrokenPipe,
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(e: serde_json::Error) -> Self {
        Failure::from(io::Error::from(e))
    }
}

/// Prints what clap says of the arguments (help and version on stdout) and returns the exit code.
pub(crate) fn usage(e: &clap::Error, json: bool) -> u8 {
    if !e.use_stderr() {
        return match e.print() {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Failure::from(e).report(json),
            _ => 0,
        };
    }
    if json {
        let text = e.render().to_string();
        let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
        let message = lines
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ")
            .to_owned();
        let hint = lines.collect::<Vec<_>>().join("; ");
        return Failure::usage(message).hint(hint).report(true);
    }
    let text = e.render().to_string();
    let harmless = crate::ui::sanitize::visible_lines(&text);
    if harmless == text {
        // Nothing can be done about a stderr that does not take it.
        let _ = e.print();
    } else {
        // What was typed is repeated, so it is printed as anything else is, without clap's styles.
        crate::ui::say(harmless.trim_end());
    }
    2
}

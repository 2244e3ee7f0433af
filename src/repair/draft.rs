//! The new file while it is made: a header and lines, each as it is stored or as it will be.

use std::collections::HashMap;
use std::sync::Arc;

use crate::check::salvage::Above;
use crate::entry::splice;
use crate::error::{Error, Result};
use crate::session::Session;
use crate::store::header::Header;
use crate::store::source::{Pieces, Source};

/// What was done to a record or a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Did {
    /// A whole record was taken out of what does not parse.
    Recovered,
    /// What cannot be used was put into the quarantine.
    Quarantined,
    /// NULs were left out.
    DroppedNuls,
    /// A record that stands twice was left out.
    DroppedRepetition,
    /// The header was made, or moved to where it belongs.
    Header,
    /// The file is of version 3 now.
    Migrated,
    /// An entry got another id.
    Id,
    /// An entry hangs on another one, or names another one.
    Linked,
    /// What is inside an entry is as pi reads it.
    Content,
    /// The last line was ended.
    Ended,
}

impl Did {
    /// Its name in output.
    pub fn name(self) -> &'static str {
        match self {
            Did::Recovered => "recovered",
            Did::Quarantined => "quarantined",
            Did::DroppedNuls => "dropped-nuls",
            Did::DroppedRepetition => "dropped-repetition",
            Did::Header => "header",
            Did::Migrated => "migrated",
            Did::Id => "id",
            Did::Linked => "linked",
            Did::Content => "content",
            Did::Ended => "ended",
        }
    }
}

/// One thing that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// What.
    pub did: Did,
    /// The number, from 1, of the line in the damaged file.
    pub line_number: u64,
    /// The bytes there that it is about.
    pub span: (u64, u64),
    /// The id of the entry in the new file.
    pub id: Option<String>,
    /// What was done, for people.
    pub message: String,
}

/// A line of the new file.
#[derive(Debug)]
pub(super) struct Line {
    /// Where it lies in the old file, without its LF.
    pub(super) span: (u64, u64),
    /// What it is instead of what is stored.
    pub(super) made: Option<Vec<u8>>,
    /// Whether an LF follows it in the old file.
    pub(super) ended: bool,
}

/// The new file.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) source: Source,
    /// The header's line; empty where there is none.
    pub(super) header: Vec<u8>,
    pub(super) header_span: (u64, u64),
    pub(super) lines: Vec<Line>,
    /// The parents of entries that are lost, as far as what is left of them says.
    pub(super) lost: HashMap<String, Above<String>>,
    actions: Vec<Action>,
    quarantine: Vec<(u64, u64)>,
}

impl Draft {
    pub(super) fn new(source: Source) -> Draft {
        Draft {
            source,
            header: Vec::new(),
            header_span: (0, 0),
            lines: Vec::new(),
            lost: HashMap::new(),
            actions: Vec::new(),
            quarantine: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Notes what was done.
    pub(super) fn did(
        &mut self,
        did: Did,
        span: (u64, u64),
        id: Option<String>,
        message: impl Into<String>,
    ) {
        self.actions.push(Action {
            did,
            line_number: 0,
            span,
            id,
            message: message.into(),
        });
    }

    /// Puts a stretch of the old file aside.
    pub(super) fn set_aside(&mut self, span: (u64, u64), message: impl Into<String>) {
        self.keep_aside(span);
        self.did(Did::Quarantined, span, None, message);
    }

    /// Puts aside what a line was before something in it could not be kept.
    pub(super) fn keep_aside(&mut self, span: (u64, u64)) {
        self.quarantine.push(span);
    }

    /// Makes the header one of version 3.
    pub(super) fn raise_version(&mut self) {
        let version = Header::read(&self.header).map_or(3.0, |header| header.version);
        if version < 3.0 {
            self.header = splice::set(&self.header, "version", "3");
            let message = format!("brought version {version} to version 3");
            self.did(Did::Migrated, self.header_span, None, message);
        }
    }

    /// The new file as far as it is made.
    pub(super) fn session(&self) -> Result<Session> {
        let mut pieces = Pieces::new(self.source.clone());
        let mut header = self.header.clone();
        header.push(b'\n');
        pieces.push_made(header);
        for line in &self.lines {
            let (start, end) = line.span;
            match &line.made {
                Some(made) => {
                    let mut made = made.clone();
                    made.push(b'\n');
                    pieces.push_made(made);
                }
                None if line.ended => pieces.push_stored(start, end + 1),
                None => {
                    pieces.push_stored(start, end);
                    pieces.push_made(b"\n".to_vec());
                }
            }
        }
        Session::of(Source::Pieces(Arc::new(pieces)))
    }

    /// The new file as far as it is made, all of it read: its entries are the lines, in the same
    /// order, unless somebody has changed the old file since it was taken apart.
    pub(super) fn entries(&self) -> Result<Session> {
        let session = self.session()?;
        session.load_all()?;
        if session.index().len() != self.lines.len() {
            return Err(Error::LeafMoved {
                message: "the session was changed while it was read".to_owned(),
            });
        }
        Ok(session)
    }

    /// What was done, and what was put aside.
    pub(super) fn finish(mut self) -> std::io::Result<(Vec<Action>, Option<Source>)> {
        self.actions.sort_by_key(|action| action.span);
        let starts = self.actions.iter().map(|action| action.span.0);
        let numbers = self.source.line_numbers(starts)?;
        for (action, number) in self.actions.iter_mut().zip(numbers) {
            action.line_number = number;
        }
        self.quarantine.sort_unstable();
        self.quarantine.dedup();
        let mut pieces = Pieces::new(self.source);
        for (start, end) in self.quarantine {
            pieces.push_stored(start, end);
            pieces.push_made(b"\n".to_vec());
        }
        let quarantine = (!pieces.is_empty()).then(|| Source::Pieces(Arc::new(pieces)));
        Ok((self.actions, quarantine))
    }
}

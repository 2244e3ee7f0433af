//! Repair: a new file with all that can be had back of a damaged one.
//!
//! In steps, each of which leaves a session that can be read: what does not parse is taken apart
//! (`salvaged`), entries of version 1 get the ids that reading shows (`numbered`), then ids, links
//! and contents are set right (`mended`). What stays as it was is never held in memory: the new
//! file is a list of stretches of the old one with new bytes between them. What cannot be used is
//! handed back, too, so that nothing is lost.

mod content;
mod draft;
mod header;
mod links;
mod mended;
mod numbered;
mod salvaged;

use std::path::Path;

use crate::check::{Finding, check, number};
use crate::error::{Error, Result};
use crate::session::Session;
use crate::store::discover::Places;
use crate::store::header::{Header, Migration};
use crate::store::source::Source;

pub use draft::{Action, Did};

/// What the caller knows and a repair needs.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Where sessions live: the directory of a header that is lost is looked for there.
    pub places: &'a Places,
    /// Now, as pi writes times, for a header that is lost.
    pub now: &'a str,
    /// A session id, for a header that is lost.
    pub session_id: &'a str,
    /// Makes ids of entries.
    pub entry_id: &'a dyn Fn() -> String,
}

/// A repaired session.
#[derive(Debug)]
pub struct Repaired {
    /// The length of the damaged file as it was read.
    pub size: u64,
    /// The new file, to be written.
    pub session: Session,
    /// What was done, in the order of the damaged file; nothing where there was nothing to do.
    pub actions: Vec<Action>,
    /// What could not be used, as it was, each piece on a line; `None` where all could.
    pub quarantine: Option<Source>,
    /// What can still be found in the new file.
    pub remaining: Vec<Finding>,
    /// Where the lines of the new file that are entries began in the damaged one.
    starts: Vec<u64>,
}

impl Repaired {
    /// The id in the new file of the entry whose line began at an offset in the damaged one.
    pub fn id_of(&self, start: u64) -> Option<String> {
        let nth = self.starts.binary_search(&start).ok()?;
        let entry = self.session.index().file_order().nth(nth)?;
        Some(self.session.id(entry))
    }

    /// The bytes of the new file.
    pub fn source(&self) -> &Source {
        self.session.source()
    }
}

/// Repairs the session in a file. Nothing is written.
///
/// Fails where there is nothing of a session in the file, or where its version is one that pis
/// does not write.
pub fn repair(path: &Path, around: Surroundings<'_>) -> Result<Repaired> {
    repair_source(&Source::open(path)?, path, around)
}

/// Repairs a session whose bytes came from elsewhere. See [`repair`].
pub fn repair_bytes(bytes: Vec<u8>, around: Surroundings<'_>) -> Result<Repaired> {
    let source = Source::Memory(bytes.into());
    repair_source(&source, Path::new("standard input"), around)
}

fn repair_source(source: &Source, path: &Path, around: Surroundings<'_>) -> Result<Repaired> {
    let old = match Session::of(source.clone()) {
        Err(Error::NotASession { reason, .. }) => Err(reason),
        old => Ok(old?),
    };
    let io = || Error::io("read", path);
    let mut draft = salvaged::salvaged(path, source, around).map_err(io())?;
    if draft.header.is_empty() {
        // Neither a header nor an entry to make one for.
        let reason = old.err();
        return Err(Error::NotASession {
            path: path.to_owned(),
            reason: reason.unwrap_or_else(|| "there is no record in it".to_owned()),
        });
    }
    if let Some(header) = Header::read(&draft.header).filter(Header::is_newer) {
        return Err(Error::NotWritable {
            session: path.to_owned(),
            reason: format!("its version is {}; pis writes 3", header.version),
            hint: "repair it with the program that wrote it".into(),
        });
    }
    let old = old.ok();
    if draft.session()?.migration() == Migration::Ids {
        numbered::number(&mut draft, old.as_ref(), around)?;
    }
    draft.raise_version();
    mended::mend(&mut draft, path, around)?;
    let session = draft.session()?;
    let mut remaining = check(&session)?;
    number(session.source(), &mut remaining).map_err(io())?;
    let starts = draft.lines.iter().map(|line| line.span.0).collect();
    let (actions, quarantine) = draft.finish().map_err(io())?;
    Ok(Repaired {
        size: source.len(),
        session,
        actions,
        quarantine,
        remaining,
        starts,
    })
}

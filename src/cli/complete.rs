//! What completes on the command line besides words of pis: sessions, labels, revisions.

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use super::Context;
use super::args::Global;
use crate::error::Result;
use crate::rev::syntax::quote_name;
use crate::session::Session;

/// Completes what `-s` takes.
pub(crate) fn sessions() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let Ok(context) = Context::new(Global::default()) else {
            return Vec::new();
        };
        let open = |path: &std::path::PathBuf| Session::open(path).ok();
        let here = context.places().list_here();
        here.iter()
            .filter_map(open)
            .map(|session| {
                let name = session.session_name().ok().flatten().unwrap_or_default();
                CompletionCandidate::new(session.header().id.clone()).help(Some(name.into()))
            })
            .collect()
    })
}

/// Completes revisions: places, labels and the newest ids of the session that would be used.
pub(crate) fn revisions() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let Ok(context) = Context::new(Global::default()) else {
            return Vec::new();
        };
        let Ok(session) = context.session() else {
            return Vec::new();
        };
        candidates(&session).unwrap_or_default()
    })
}

/// How many ids are offered.
const IDS: usize = 50;

fn candidates(session: &Session) -> Result<Vec<CompletionCandidate>> {
    let mut found = Vec::new();
    for (place, help) in [
        ("@", "the leaf"),
        ("@{tip}", "the newest message below the leaf"),
    ] {
        found.push(CompletionCandidate::new(place).help(Some(help.into())));
    }
    for label in session.labels()?.iter() {
        let help = format!("label on {}", label.target);
        found.push(CompletionCandidate::new(&*quote_name(&label.name)).help(Some(help.into())));
    }
    let index = session.index();
    for ix in index.newest_first().take(IDS) {
        found.push(CompletionCandidate::new(&*quote_name(&index.id_text(ix))));
    }
    Ok(found)
}

//! Arguments that name paths and ranges, turned into the entries they mean.

use std::rc::Rc;

use hashbrown::HashSet;

use crate::cli::{Context, Failure};
use crate::error::{Error, Result};
use crate::rev::range::{Side, between};
use crate::rev::syntax::{Place, Rev, Spec};
use crate::session::Session;
use crate::store::index::Ix;

/// The entries that arguments name, nearest to the tips first.
pub(crate) struct Entries {
    pub(crate) session: Rc<Session>,
    pub(crate) walk: Box<dyn Iterator<Item = Result<(Side, Ix)>>>,
}

/// The entries of revisions (each with all above it) and ranges; without any, those of the path
/// to the leaf. A single path is read as it is walked.
pub(crate) fn entries_of(context: &Context, args: &[String]) -> Result<Entries, Failure> {
    let leaf = || Rev {
        session: None,
        place: Place::Leaf,
        suffixes: Vec::new(),
    };
    let specs = args.iter().map(|a| Spec::parse(a).map_err(Error::from));
    let mut specs = specs.collect::<Result<Vec<_>>>()?;
    if specs.is_empty() {
        specs.push(Spec::Rev(leaf()));
    }
    if let [Spec::Rev(rev)] = specs.as_slice() {
        let (session, found) = context.find(rev)?;
        let walk = Walk {
            session: Rc::clone(&session),
            next: found.target.entry(),
        };
        return Ok(Entries {
            session,
            walk: Box::new(walk),
        });
    }
    let mut session: Option<Rc<Session>> = None;
    let mut seen = HashSet::new();
    let mut entries = Vec::new();
    for spec in specs {
        let (left, right, symmetric) = match spec {
            Spec::Rev(rev) => (None, rev, false),
            Spec::Range(range) => {
                let of = |side: Option<Rev>| Rev {
                    session: range.session.clone(),
                    ..side.unwrap_or_else(leaf)
                };
                (Some(of(range.left)), of(range.right), range.symmetric)
            }
        };
        let (of, right) = context.find(&right)?;
        let first = session.get_or_insert_with(|| Rc::clone(&of));
        if !Rc::ptr_eq(first, &of) {
            return Err(Failure::usage("the revisions are in different sessions"));
        }
        let left = match left {
            Some(rev) => context.find(&rev)?.1.target.entry(),
            None => None,
        };
        let found = between(&of, left, right.target.entry(), symmetric)?;
        entries.extend(found.into_iter().filter(|(_, ix)| seen.insert(*ix)));
    }
    let session = match session {
        Some(session) => session,
        None => context.session()?,
    };
    let walk = entries.into_iter().rev().map(Ok);
    Ok(Entries {
        session,
        walk: Box::new(walk),
    })
}

/// An entry and all above it, nearest first.
struct Walk {
    session: Rc<Session>,
    next: Option<Ix>,
}

impl Iterator for Walk {
    type Item = Result<(Side, Ix)>;

    fn next(&mut self) -> Option<Self::Item> {
        let ix = self.next.take()?;
        match self.session.parent(ix) {
            Ok(parent) => self.next = parent.entry(),
            Err(e) => return Some(Err(e)),
        }
        Some(Ok((Side::Right, ix)))
    }
}

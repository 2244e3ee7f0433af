//! Ranges: which entries lie between two places. The rules are git's (`gitrevisions(7)`), on a
//! tree.

use crate::error::Result;
use crate::session::Session;
use crate::store::index::Ix;

/// A place: an entry, or before the first one.
pub type Place = Option<Ix>;

/// Which side of `A...B` an entry lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Above A only.
    Left,
    /// Above B only, or the only side there is.
    Right,
}

/// The entries of `A..B` (on the path to B, but not on the path to A) or `A...B` (on one of the
/// two paths), from the root downwards, those of A first.
pub fn between(
    session: &Session,
    left: Place,
    right: Place,
    symmetric: bool,
) -> Result<Vec<(Side, Ix)>> {
    let path = |place: Place| match place {
        Some(ix) => session.path_to(ix),
        None => Ok(Vec::new()),
    };
    let (left, right) = (path(left)?, path(right)?);
    // Two paths of one tree share a beginning and nothing else.
    let shared = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    let mut entries = Vec::new();
    if symmetric {
        entries.extend(left[shared..].iter().map(|&ix| (Side::Left, ix)));
    }
    entries.extend(right[shared..].iter().map(|&ix| (Side::Right, ix)));
    Ok(entries)
}

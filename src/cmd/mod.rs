//! The commands, one file each: arguments, examples, `run`.

mod branching;
mod listing;
mod moving;
pub(crate) mod plumbing;
pub(crate) mod porcelain;
mod ranges;

pub(crate) use listing::{Listing, plain};

//! Commands for people.

pub(crate) mod completions;
pub(crate) mod log;
pub(crate) mod tree;

//! Revisions: how to say which entry is meant. `syntax` reads the words, `resolve` finds the
//! entries.

pub mod syntax;

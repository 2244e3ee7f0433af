//! All tests that need nothing but the built program: one binary, a file a subject.

mod common;

mod discover;
mod layers;
mod oracle_git;
mod props;
mod rev_syntax;
mod terminal;

//! All tests that need nothing but the built program: one binary, a file a subject.

mod common;

mod discover;
mod rev_syntax;

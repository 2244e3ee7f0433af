//! Commands for people.

pub(crate) mod branch;
pub(crate) mod checkout;
pub(crate) mod clone;
pub(crate) mod completions;
pub(crate) mod copy;
pub(crate) mod edit_context;
pub(crate) mod fork;
pub(crate) mod grep;
pub(crate) mod help;
pub(crate) mod import;
pub(crate) mod label;
pub(crate) mod log;
pub(crate) mod name;
pub(crate) mod new;
pub(crate) mod overview;
pub(crate) mod reflog;
pub(crate) mod rm;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod tree;
pub(crate) mod undo;

//! Sessions of the pi coding agent as a store one can script against: entries, tree, revisions
//! and the context a model sees.
//!
//! The rooms are ordered: bytes ([`json`]) → entries ([`entry`]) → the file ([`store`]) → the tree
//! ([`tree`]) → an open [`session`], which can be [followed](follow) and [searched](search) →
//! revisions ([`rev`]) → what is wrong ([`check`]) → what a model sees ([`context`]) and what it
//! took ([`stats`]) → changes ([`mod@write`]) and [`repair`] → what people see (`ui`, `cli`, `cmd`). A module imports
//! only from rooms before it, and everything up to [`repair`] takes data and gives data: no
//! terminal, no argument parser, no environment, no clock.

pub mod check;
pub mod cli;
mod cmd;
pub mod context;
pub mod entry;
pub mod error;
pub mod follow;
pub mod json;
pub mod repair;
pub mod rev;
pub mod search;
pub mod session;
pub mod stats;
pub mod store;
pub mod time;
pub mod tree;
mod ui;
pub mod write;

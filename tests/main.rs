//! All tests that need nothing but the built program: one binary, a file a subject.

mod common;

mod cat_entry;
mod completions;
mod context_cmd;
mod damage_bytes;
mod damage_content;
mod damage_json;
mod damage_tree;
mod discover;
mod docs;
mod hostile;
mod init;
mod layers;
mod leaf;
mod log;
mod ls_entries;
mod merge_base;
mod oracle_git;
mod pipes;
mod props;
mod rev_parse;
mod rev_path;
mod rev_syntax;
mod revisions;
mod scale;
mod terminal;
mod tree;
mod versions;
mod which_session;
mod widths;

//! Commands for scripts: quiet, uncoloured, unpaged, in UTC, with full ids, in frozen formats.

pub(crate) mod append;
pub(crate) mod cat_entry;
pub(crate) mod context;
pub(crate) mod for_each_label;
pub(crate) mod for_each_tip;
pub(crate) mod fsck;
pub(crate) mod init;
pub(crate) mod ls_entries;
pub(crate) mod merge_base;
pub(crate) mod migrate;
pub(crate) mod repair;
pub(crate) mod rev_parse;
pub(crate) mod rev_path;
pub(crate) mod selection;
pub(crate) mod set_leaf;

//! `pis for-each-tip`.

use clap::Args;
use serde::Serialize;

use crate::cli::{Context, Exit, Failure};
use crate::cmd::plain;
use crate::json::Raw;

/// List the tips of all branches, newest first
///
/// A tip is an entry without children other than bookkeeping (labels, names, usage records, the
/// state of extensions) that is not bookkeeping itself. Prints `<id> <time>`, the time in Unix
/// milliseconds, `-` where the entry has none.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis for-each-tip
  pis for-each-tip --json | jq -r .id
  pis for-each-tip | while read -r id time; do pis rev-path --count \"$id\"; done")]
pub(crate) struct ForEachTip {}

#[derive(Serialize)]
struct Tip {
    id: String,
    timestamp: Option<Box<serde_json::value::RawValue>>,
    time: Option<i64>,
}

impl ForEachTip {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let session = context.session()?;
        let tree = session.tree()?;
        let tips = tree.tips(&session.index());
        if let Some(listing) = super::super::Listing::format_only(context, &session)? {
            return listing.all(context, &session, &tips);
        }
        for ix in tips {
            let (id, time) = (session.id(ix), session.index().time(ix));
            if context.json() {
                let line = session.line(ix)?;
                let timestamp = Raw::new(&line).get("timestamp").map(Raw::to_raw_value);
                context.ui.json_row(&Tip {
                    id,
                    timestamp,
                    time,
                })?;
            } else {
                let time = time.map_or_else(|| "-".to_owned(), |t| t.to_string());
                context.ui.row(&format!("{} {time}", plain(&id)))?;
            }
        }
        Ok(Exit::Yes)
    }
}

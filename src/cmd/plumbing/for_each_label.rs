//! `pis for-each-label`.

use clap::Args;
use serde::Serialize;

use crate::cli::{Context, Exit, Failure};
use crate::cmd::{Listing, plain};
use crate::time;

/// List the labels and the entries they are on
///
/// Prints `<id> <label>`, in the order in which the entries got a label. A label on an entry that
/// is not in the file is left out, as pi leaves it out.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis for-each-label
  pis for-each-label --json | jq -r 'select(.label == \"good\").target'")]
pub(crate) struct ForEachLabel {}

#[derive(Serialize)]
struct Label<'a> {
    label: &'a str,
    target: &'a str,
    timestamp: &'a str,
    time: Option<i64>,
}

impl ForEachLabel {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let session = context.session()?;
        let mut labels = Vec::new();
        for label in session.labels()?.iter() {
            if let Some(ix) = session.find(&label.target)? {
                labels.push((ix, label));
            }
        }
        if let Some(listing) = Listing::format_only(context, &session)? {
            let targets: Vec<_> = labels.iter().map(|(ix, _)| *ix).collect();
            return listing.all(context, &session, &targets);
        }
        for (_, label) in labels {
            if context.json() {
                let time = time::parse(&label.timestamp);
                let (target, timestamp) = (&label.target, &label.timestamp);
                context.ui.json_row(&Label {
                    label: &label.name,
                    target,
                    timestamp,
                    time,
                })?;
            } else {
                context
                    .ui
                    .row(&format!("{} {}", plain(&label.target), plain(&label.name)))?;
            }
        }
        Ok(Exit::Yes)
    }
}

//! `pis show`.

use clap::Args;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::Listing;
use crate::error::Error;
use crate::ui::full::{Detail, Full};

/// Show an entry in full, for people
///
/// Who said it, when, by which model and at what price, and all that it says: Markdown laid out,
/// tool calls with their results, edits as diffs, images by type and size. Thinking and long tool
/// output are folded; --full shows them. Times are in the local time zone.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis show
  pis show good --full
  pis show '@^{user}' @
  pis show --json @ | jq -r .text")]
pub(crate) struct Show {
    /// Show thinking, and tool output to its end
    #[arg(long)]
    full: bool,
    /// Show Markdown as it is written
    #[arg(long)]
    raw: bool,
    /// The entries: the leaf where none is named
    #[arg(value_name = "REV", add = complete::revisions())]
    revs: Vec<String>,
}

impl Show {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let given = if self.revs.is_empty() {
            &["@".to_owned()][..]
        } else {
            &self.revs
        };
        // Nothing is shown where one of them is mistyped.
        let mut found = Vec::new();
        for rev in given {
            let (session, target) = context.resolve(rev)?;
            let ix = target.entry().ok_or_else(|| {
                Failure::from(Error::NoRevision {
                    message: format!(
                        "'{rev}' stands before the first entry, where there is nothing to show"
                    ),
                    hint: Some("'pis log --all' lists what the session holds".into()),
                })
            })?;
            found.push((session, ix));
        }
        let detail = Detail {
            full: self.full,
            raw: self.raw,
            no_results: false,
        };
        for (n, (session, ix)) in found.into_iter().enumerate() {
            if let Some(listing) = Listing::of(context, &session)? {
                listing.all(context, &session, &[ix])?;
                continue;
            }
            context.ui.page();
            if n > 0 {
                context.ui.row("")?;
            }
            let leaf = session.leaf()?.ix;
            let mut full = Full::new(&context.ui, &session, leaf, detail, context.now);
            for line in full.show(&session, ix)? {
                context.ui.row(&line)?;
            }
        }
        Ok(Exit::Yes)
    }
}

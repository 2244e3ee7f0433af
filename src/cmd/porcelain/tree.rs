//! `pis tree`.

use clap::Args;
use serde::Serialize;

use crate::cli::{Context, Exit, Failure};
use crate::cmd::Listing;
use crate::ui::filter::Filter;
use crate::ui::graph::View;
use crate::ui::record::{Marks, Record};
use crate::ui::rows::Layout;
use crate::ui::treeview::{Place, layout};

/// Draw the whole tree, as pi's /tree does
///
/// Children are drawn oldest first, but the branch you are on before the others; the path to the
/// leaf is bright. Settings and bookkeeping are hidden; --filter shows more or less.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis tree
  pis tree --filter user-only
  pis tree --filter all --json | jq -r .type | sort | uniq -c")]
pub(crate) struct Tree {
    /// What is shown
    #[arg(long, value_enum, default_value = "default", value_name = "FILTER")]
    filter: Filter,
    /// Draw with ASCII only
    #[arg(long)]
    ascii: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    #[serde(flatten)]
    record: Record,
    depth: usize,
    visible_parent: Option<String>,
}

impl Tree {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let session = context.session()?;
        let leaf = session.leaf()?.ix;
        let view = View::new(&session, leaf, |ix| {
            self.filter.shows(&session, ix, leaf == Some(ix))
        })?;
        let marks = Marks::all(&session)?;
        let places = layout(&view, context.ui.unicode() && !self.ascii);
        if let Some(listing) = Listing::of(context, &session)? {
            for Place { ix, depth, .. } in places {
                let visible_parent = view.parent.get(&ix).map(|&parent| session.id(parent));
                listing.row(context, &session, ix, &marks, |record| Node {
                    record,
                    depth,
                    visible_parent,
                })?;
            }
            return Ok(Exit::Yes);
        }
        if places.is_empty() {
            context
                .ui
                .note("nothing-shown", "no entry passes the filter");
        }
        context.ui.page();
        let folds = self.filter == Filter::NoTools;
        let mut rows = Layout::new(&context.ui, &session, context.now, self.ascii);
        for place in places {
            let mut row = rows.row(&session, place.ix, &marks, view.leaf == Some(place.ix))?;
            if folds {
                row.tools = view.tools.get(&place.ix).copied().unwrap_or_default();
            }
            rows.measure_id(&row);
            let line = rows.render_tree(&context.ui, &row, &place.lead);
            context.ui.row(&line)?;
        }
        Ok(Exit::Yes)
    }
}

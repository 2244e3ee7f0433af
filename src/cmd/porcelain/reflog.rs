//! `pis reflog`.

use clap::Args;
use serde::Serialize;

use crate::cli::{Context, Exit, Failure};
use crate::cmd::plain;
use crate::store::moves;
use crate::time;
use crate::ui::rows::Shortener;

/// Show where the leaf has been
///
/// Newest first: `@{n} <old> <new> <op>` and the reason. What pi did between two moves of pis
/// counts as one move, `pi`. `@{n}` is a revision: the leaf n moves ago.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis reflog
  pis reflog --json | jq -r 'select(.op == \"checkout\").old'
  pis set-leaf '@{1}'")]
pub(crate) struct Reflog {
    /// Show at most N moves
    #[arg(short = 'n', value_name = "N")]
    number: Option<usize>,
}

#[derive(Serialize)]
struct Step<'a> {
    n: usize,
    time: Option<i64>,
    op: &'a str,
    old: Option<&'a str>,
    new: Option<&'a str>,
    reason: Option<&'a str>,
}

impl Reflog {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let session = context.session()?;
        let log = session.path().map(moves::read).unwrap_or_default();
        let now = session.leaf()?.ix.map(|ix| session.id(ix));
        let steps = moves::with_pis_own(&log, now.as_deref());
        if steps.is_empty() {
            context.ui.note(
                "empty-reflog",
                "pis has not moved the leaf of this session yet",
            );
        }
        let short = Shortener::new(&session, 8);
        let name = |id: &Option<String>| match id {
            Some(id) => short.short(id),
            None => "root".to_owned(),
        };
        for (n, step) in steps
            .iter()
            .enumerate()
            .take(self.number.unwrap_or(usize::MAX))
        {
            if context.json() {
                let row = Step {
                    n,
                    time: step.time,
                    op: &step.op,
                    old: step.old.as_deref(),
                    new: step.new.as_deref(),
                    reason: step.reason.as_deref(),
                };
                context.ui.json_row(&row)?;
                continue;
            }
            let reason = step
                .reason
                .as_ref()
                .map_or_else(String::new, |r| format!(": {r}"));
            let age = step
                .time
                .map_or_else(String::new, |t| format!(" ({})", time::ago(context.now, t)));
            let (old, new) = (name(&step.old), name(&step.new));
            let row = format!("@{{{n}}} {old} {new} {}{reason}{age}", plain(&step.op));
            context.ui.row(&crate::ui::sanitize::one_line(&row))?;
        }
        Ok(Exit::Yes)
    }
}

//! `pis` without a command: what is here, and what people use most.

use super::{branch, status};
use crate::cli::{Context, Exit, Failure};
use crate::ui::style::Mark;
use crate::ui::width::{cut, width};

/// Commands to begin with, and what each shows or does.
const COMMANDS: &[(&str, &str)] = &[
    ("pis log --graph", "what was said, with all branches"),
    ("pis tree", "the tree as pi's /tree draws it"),
    ("pis show [REV]", "an entry in full"),
    ("pis grep PATTERN", "search what was said"),
    (
        "pis sessions",
        "the sessions of this directory; --all lists the rest",
    ),
    ("pis stats", "messages, tokens, cost, models, tools"),
    ("pis checkout REV", "go on from another entry"),
    ("pis fork REV", "a new session from here on"),
    (
        "pis help [COMMAND]",
        "the manual; 'pis -h' lists all commands",
    ),
];

/// Shows the session of this directory in one screen.
pub(crate) fn run(context: &mut Context) -> Result<Exit, Failure> {
    /// More branches than this are counted.
    const BRANCHES: usize = 5;
    if context.json() {
        return Err(Failure::usage("'--json' needs a command")
            .hint("'pis status --json' tells what is here"));
    }
    match context.session() {
        Ok(session) => {
            status::print_fields(context, &status::head(&session)?)?;
            let branches = session.tree()?.branches(&session.index());
            if branches.len() > 1 {
                context.ui.row("")?;
                let shown = branches.len().min(BRANCHES);
                branch::print(context, &session, &branches[..shown])?;
                if branches.len() > shown {
                    let more = format!(
                        "  and {} more: 'pis branch' lists them",
                        branches.len() - shown
                    );
                    let more = context.ui.painter.paint(Mark::Dim, &more);
                    context.ui.row(&more)?;
                }
            }
        }
        Err(e) if e.is_missing() => {
            context
                .ui
                .row("pis: git for conversations with a coding agent")?;
            let said = cut(
                &format!("here: {}", crate::ui::sanitize::one_line(e.message())),
                context.ui.width,
                "…",
            );
            context.ui.row(&said)?;
        }
        Err(e) => return Err(e),
    }
    context.ui.row("")?;
    let names = COMMANDS
        .iter()
        .map(|(name, _)| width(name))
        .max()
        .unwrap_or_default();
    let mark = if context.ui.unicode() { "…" } else { "~" };
    for (name, what) in COMMANDS {
        let fill = " ".repeat(names - width(name) + 2);
        let what = cut(what, context.ui.width.saturating_sub(names + 4), mark);
        let row = format!(
            "  {}{fill}{what}",
            context.ui.painter.paint(Mark::Code, name)
        );
        context.ui.row(row.trim_end())?;
    }
    Ok(Exit::Yes)
}

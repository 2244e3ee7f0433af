//! `pis rev-parse`.

use clap::Args;
use serde::Serialize;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::plain;
use crate::error::Error;
use crate::rev::resolve::Target;
use crate::rev::syntax::{Place, Rev, Spec};
use crate::session::Session;
use crate::ui::rows::Shortener;

/// Print the full id of each revision
///
/// Prints `root` for a revision that stands before the first entry. A range prints as git prints
/// it: the right side, then the left one behind a `^` (for three dots both sides, then the merge
/// base behind a `^`).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis rev-parse @
  pis rev-parse --short '@~2' '@%'
  pis rev-parse --explain 'good^{user}@{tip}'
  pis rev-parse --verify -q good || echo 'no such label'")]
pub(crate) struct RevParse {
    /// Print the shortest beginning of the id, of 8 or more characters, that names the entry
    #[arg(long)]
    short: bool,
    /// Take exactly one revision; with -q, say nothing and exit with 1 where it names nothing
    #[arg(long)]
    verify: bool,
    /// Say step by step how each revision is read
    #[arg(long)]
    explain: bool,
    /// Revisions or ranges
    #[arg(required = true, value_name = "REV", add = complete::revisions())]
    revs: Vec<String>,
}

#[derive(Serialize)]
struct Parsed<'a> {
    rev: &'a str,
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<Step>>,
}

#[derive(Serialize)]
struct Step {
    step: String,
    id: Option<String>,
    meaning: String,
}

impl RevParse {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        if self.verify && self.revs.len() != 1 {
            return Err(Failure::usage("'--verify' needs exactly one revision"));
        }
        for text in &self.revs {
            match self.one(context, text) {
                Err(e) if self.verify && context.quiet() && e.is_answer() => return Ok(Exit::No),
                result => result?,
            }
        }
        Ok(Exit::Yes)
    }

    fn one(&self, context: &mut Context, text: &str) -> Result<(), Failure> {
        let range = match Spec::parse(text).map_err(Error::from)? {
            Spec::Rev(rev) => return self.print(context, text, &rev, ""),
            Spec::Range(_) if self.verify => {
                return Err(Failure::usage(format!(
                    "'{text}' is a range, not one revision"
                )));
            }
            Spec::Range(range) => range,
        };
        let side = |side: &Option<Rev>| {
            let leaf = Rev {
                session: None,
                place: Place::Leaf,
                suffixes: Vec::new(),
            };
            Rev {
                session: range.session.clone(),
                ..side.clone().unwrap_or(leaf)
            }
        };
        let (left, right) = (side(&range.left), side(&range.right));
        if !range.symmetric {
            self.print(context, text, &right, "")?;
            return self.print(context, text, &left, "^");
        }
        self.print(context, text, &right, "")?;
        self.print(context, text, &left, "")?;
        let (session, a) = context.find(&left)?;
        let (_, b) = context.find(&right)?;
        if let (Some(a), Some(b)) = (a.target.entry(), b.target.entry())
            && let Some(base) = session.tree()?.merge_base(a, b)
        {
            if context.json() {
                let (id, steps) = (Some(session.id(base)), None);
                context.ui.json_row(&Parsed {
                    rev: text,
                    id,
                    steps,
                })?;
            } else {
                let id = self.name(&session, Target::Entry(base));
                context.ui.plain_row(&format!("^{id}"))?;
            }
        }
        Ok(())
    }

    fn name(&self, session: &Session, target: Target) -> String {
        let Some(ix) = target.entry() else {
            return "root".to_owned();
        };
        let id = session.id(ix);
        if !self.short {
            return plain(&id).into_owned();
        }
        // Only a look at all ids tells whether a shorter one is unique.
        let _ = session.load_all();
        Shortener::new(session, 8).short(&id)
    }

    fn print(
        &self,
        context: &mut Context,
        text: &str,
        rev: &Rev,
        prefix: &str,
    ) -> Result<(), Failure> {
        let (session, found) = context.find(rev)?;
        let id_of = |target: Target| target.entry().map(|ix| session.id(ix));
        if context.json() {
            let steps = found.steps.iter().map(|step| Step {
                step: step.spelled.clone(),
                id: id_of(step.target),
                meaning: step.meaning.clone(),
            });
            let steps = self.explain.then(|| steps.collect());
            context.ui.json_row(&Parsed {
                rev: text,
                id: id_of(found.target),
                steps,
            })?;
            return Ok(());
        }
        if self.explain {
            for step in &found.steps {
                let name = self.name(&session, step.target);
                context
                    .ui
                    .plain_row(&format!("{}\t{name}\t{}", step.spelled, step.meaning))?;
            }
            return Ok(());
        }
        let name = self.name(&session, found.target);
        context.ui.plain_row(&format!("{prefix}{name}"))?;
        Ok(())
    }
}

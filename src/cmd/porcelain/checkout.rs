//! `pis checkout`.

use clap::Args;

use crate::cli::{Context, Edited, Exit, Failure, complete};
use crate::cmd::moving::{
    Edge, Force, Moved, before, find, label_entries, move_leaf, open_call, parse, tell,
};
use crate::cmd::plain;
use crate::entry::{self, Entry, Kind, Role};
use crate::error::{Error, Result};
use crate::rev::resolve::Target;
use crate::rev::syntax::{Place, Rev};
use crate::session::Session;
use crate::store::index::Ix;
use crate::write::batch::Batch;

/// Go to an entry, as pi's /tree does
///
/// On a user or custom message the leaf goes to its parent and the text is printed, ready to be
/// edited and sent again; on anything else the leaf goes to the entry itself. No byte of the
/// session changes without one of --write, --label, --summary and -e.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis checkout good
  pis checkout '@%'                   # take the last prompt back
  pis checkout -                      # go back to where that started
  pis checkout --exact '@%'
  echo 'dead end' | pis checkout '@%2' --summary -")]
pub(crate) struct Checkout {
    /// Where to: a revision, or - for exactly where the last move started
    #[arg(value_name = "REV", allow_hyphen_values = true, add = complete::revisions())]
    rev: String,
    /// Go to the entry itself, also where it is a user or custom message
    #[arg(long)]
    exact: bool,
    /// Edit the text in $VISUAL or $EDITOR and append it as a user message
    #[arg(short = 'e', long)]
    edit: bool,
    /// Put a label on the summary, if one is attached, else on the entry
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Attach a summary of the branch that is left; - reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    summary: Option<String>,
    /// Append a marker where nothing else is appended, so that pi opens there, too
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    force: Force,
}

/// Where a checkout goes, and the text that is handed back.
struct Destination {
    leaf: Option<Ix>,
    prompt: Option<String>,
}

impl Checkout {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let mut rev = parse(&self.rev)?;
        let summary = match self.summary.as_deref() {
            Some("-") => Some(context.stdin_text()?),
            given => given.map(str::to_owned),
        };
        if summary.as_deref().is_some_and(|s| s.trim().is_empty()) {
            return Err(Failure::usage("the summary is empty"));
        }
        let session = context.session_of(&rev)?;
        let mut edited = None;
        if self.edit {
            edited = self.edit(context, &session, &mut rev)?;
            if edited.is_none() {
                return Ok(Exit::No);
            }
        }
        let writer = context.writer(&session, self.force.force)?;
        let session = writer.session();
        let target = find(context, session, &rev)?.target;
        let to = self.destination(session, target)?;
        let previous = writer.old_leaf().map(str::to_owned);

        let edge = Edge::new(context);
        let mut batch = Batch::new(session, to.leaf, edge.fresh());
        let mut summary_id = None;
        if let Some(summary) = &summary {
            let from = previous.as_deref().unwrap_or("root");
            let entry = serde_json::json!({
                "type": "branch_summary", "fromId": from, "summary": summary.trim_end(),
            });
            batch.add(entry.to_string().as_bytes(), &"the summary")?;
            summary_id = batch.leaf().map(str::to_owned);
        }
        if let Some(label) = &self.label {
            let on = summary_id
                .clone()
                .or_else(|| target.entry().map(|ix| session.id(ix)));
            let Some(on) = on else {
                return Err(Failure::usage("'root' is no entry and takes no label")
                    .hint("label an entry, or attach a summary"));
            };
            for entry in label_entries(session, &on, Some(label.trim()), false)? {
                batch.add(entry.to_string().as_bytes(), &"the label")?;
            }
        }
        if let Some(text) = &edited {
            let content = [serde_json::json!({ "type": "text", "text": text })];
            let message = serde_json::json!({ "role": "user", "content": content });
            batch.add(message.to_string().as_bytes(), &"the message")?;
        }
        let note = open_call(session, to.leaf)?.map(|last| {
            format!(
                "a tool call above is without its results there; the last of them is {}",
                plain(&session.id(last))
            )
        });
        let mut beside = None;
        let leaf = if batch.is_empty() {
            move_leaf(context, writer, to.leaf, self.write, "checkout", None)?
        } else {
            let lines = batch.finish();
            let leaf = lines.leaf().unwrap_or_default().to_owned();
            match writer.append(
                &lines.pieces,
                &leaf,
                false,
                &context.reason("checkout", None),
            ) {
                // It was written all the same, and the text must not be lost.
                Err(e @ Error::WrittenBeside { .. }) => beside = Some(e),
                result => tell(context, &result?),
            }
            Some(leaf)
        };
        if let Some(note) = note {
            context.ui.note("open-tool-call", &note);
        }
        if context.json() {
            let prompt = to.prompt;
            context.ui.json_row(&Moved {
                leaf,
                previous,
                prompt,
                summary_id,
            })?;
        } else if let Some(prompt) = to.prompt.filter(|_| edited.is_none()) {
            context.ui.plain_row(&prompt)?;
        }
        beside.map_or(Ok(Exit::Yes), |e| Err(e.into()))
    }

    /// Lets the user edit the text; `None` where nothing is to be done. `rev` names from now on
    /// what was edited, wherever the leaf goes meanwhile.
    fn edit(
        &self,
        context: &Context,
        session: &Session,
        rev: &mut Rev,
    ) -> Result<Option<String>, Failure> {
        // A refusal comes before the work, and the lock is given up while the user is at it.
        let writer = context.writer(session, self.force.force)?;
        writer.check_writable()?;
        drop(writer);
        let target = find(context, session, rev)?.target;
        let text = self.destination(session, target)?.prompt;
        match context.edit(&text.unwrap_or_default())? {
            Edited::Nothing(why) => {
                let note = format!("{why}: nothing was changed");
                context.ui.note("nothing-done", &note);
                Ok(None)
            }
            Edited::Text(text) => {
                if let Some(ix) = target.entry() {
                    rev.place = Place::Id(session.id(ix));
                    rev.suffixes.clear();
                }
                Ok(Some(text))
            }
        }
    }

    /// Where pi goes: to the parent of a user or custom message, whose text is handed back; else
    /// to the entry.
    fn destination(&self, session: &Session, target: Target) -> Result<Destination, Failure> {
        let Some(ix) = target.entry() else {
            return Ok(Destination {
                leaf: None,
                prompt: None,
            });
        };
        let hands_back = session.role(ix) == Role::User || session.kind(ix) == Kind::CustomMessage;
        // To go back is to be where one was, also where that is a message.
        if self.exact || self.rev == "-" || !hands_back {
            return Ok(Destination {
                leaf: Some(ix),
                prompt: None,
            });
        }
        let leaf = before(session, ix, "--exact goes to the message itself")?;
        let line = session.line(ix)?;
        Ok(Destination {
            leaf,
            prompt: Some(entry::text(Entry::new(&line))),
        })
    }
}

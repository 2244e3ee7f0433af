//! `pis label`.

use clap::Args;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::moving::{Edge, append_batch, find, parse};
use crate::cmd::plain;
use crate::rev::syntax::Suffix;
use crate::write::batch::Batch;

/// Put a label on an entry, as pi's Shift+L does
///
/// An entry has one label, and a name should be on one entry: replacing another label, or moving a
/// name that is taken, needs --force. A label on bookkeeping goes to the entry that belongs to.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis label @ better
  pis label '@%2' 'first try'
  pis label -d good
  pis label --force @ good            # move it")]
pub(crate) struct Label {
    /// Take the label off
    #[arg(short = 'd', long, conflicts_with = "name")]
    delete: bool,
    /// Replace another label, or move one that is on another entry
    #[arg(long)]
    force: bool,
    /// The entry
    #[arg(value_name = "REV", add = complete::revisions())]
    rev: String,
    /// The label
    #[arg(value_name = "NAME", required_unless_present = "delete")]
    name: Option<String>,
}

impl Label {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let mut rev = parse(&self.rev)?;
        rev.suffixes.push(Suffix::Peel);
        let name = self.name.as_deref().map(str::trim);
        if name.is_some_and(str::is_empty) {
            return Err(
                Failure::usage("the label is empty").hint("'pis label -d REV' takes it off")
            );
        }
        let session = context.session_of(&rev)?;
        // A label is bookkeeping that the running agent need not see.
        let writer = context.writer(&session, true)?;
        writer.check_writable()?;
        let session = writer.session();
        let target = find(context, session, &rev)?.target.entry();
        let Some(target) = target else {
            return Err(Failure::usage("'root' is no entry and takes no label"));
        };
        let id = session.id(target);
        let labels = session.labels()?;
        let held = labels.of(&id).map(|l| l.name.clone());
        match (name, &held) {
            (None, None) => {
                return Err(Failure::usage(format!("{} has no label", plain(&id))));
            }
            (Some(name), Some(held)) if name == held => {
                context
                    .ui
                    .note("nothing-done", "the entry has this label already");
                return Ok(Exit::Yes);
            }
            (Some(_), Some(held)) if !self.force => {
                return Err(Failure::usage(format!(
                    "{} is labelled {} already",
                    plain(&id),
                    plain(held)
                ))
                .hint("--force replaces it"));
            }
            _ => {}
        }
        let taken = name.and_then(|name| {
            labels
                .iter()
                .find(|l| l.name == name && l.target != id)
                .map(|l| l.target.clone())
        });
        let edge = Edge::new(context);
        let mut batch = Batch::new(session, session.leaf()?.ix, edge.fresh());
        if let Some(other) = taken
            && session.find(&other)?.is_some()
        {
            if !self.force {
                return Err(Failure::usage(format!(
                    "the label {} is on {} already",
                    plain(name.unwrap_or_default()),
                    plain(&other)
                ))
                .hint("--force moves it"));
            }
            let clear = serde_json::json!({ "type": "label", "targetId": other });
            batch.add(clear.to_string().as_bytes(), "the label")?;
        }
        let mut entry = serde_json::json!({ "type": "label", "targetId": id });
        if let Some(name) = name {
            entry["label"] = name.into();
        }
        batch.add(entry.to_string().as_bytes(), "the label")?;
        let (bytes, written) = (batch.bytes().to_vec(), batch.written().to_vec());
        append_batch(context, writer, &bytes, &written, false, "label", name)?;
        Ok(Exit::Yes)
    }
}

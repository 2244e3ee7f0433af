//! `pis edit-context`.

use clap::Args;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::moving::{Edge, Force, append_batch, find, parse};
use crate::write::batch::Batch;

/// Change what an entry contributes to the context, on this branch
///
/// The entry itself stays as it is. It must be on the path to the leaf, and a user, assistant or
/// toolResult message or a custom message, as pi demands.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis edit-context '@^{tool}' --omit
  pis edit-context '@%' --replace 'Keep the API as it is.'
  pis cat-entry --text '@^{tool}' | head -c 2000 | pis edit-context '@^{tool}' --replace -")]
pub(crate) struct EditContext {
    /// The entry
    #[arg(value_name = "REV", add = complete::revisions())]
    rev: String,
    /// Leave it out
    #[arg(long, required_unless_present = "replace", conflicts_with = "replace")]
    omit: bool,
    /// Put this text in its place; - reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    replace: Option<String>,
    #[command(flatten)]
    force: Force,
}

impl EditContext {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let rev = parse(&self.rev)?;
        let text = match self.replace.as_deref() {
            Some("-") => Some(context.stdin_text()?),
            given => given.map(str::to_owned),
        };
        let session = context.session_of(&rev)?;
        let writer = context.writer(&session, self.force.force)?;
        writer.check_writable()?;
        let session = writer.session();
        let Some(target) = find(context, session, &rev)?.target.entry() else {
            return Err(Failure::usage(
                "'root' is no entry: there is nothing to edit",
            ));
        };
        let replacement = text.map(|text| {
            // pi stores a text for an answer or a result as the block it becomes.
            let is_listed = matches!(
                session.role(target),
                crate::entry::Role::Assistant | crate::entry::Role::ToolResult
            );
            if is_listed {
                serde_json::json!({ "content": [{ "type": "text", "text": text }] })
            } else {
                serde_json::json!({ "content": text })
            }
        });
        let entry = serde_json::json!({
            "type": "context_edit", "targetId": session.id(target), "replacement": replacement,
        });
        let edge = Edge::new(context);
        let mut batch = Batch::new(session, session.leaf()?.ix, edge.fresh());
        batch.add(entry.to_string().as_bytes(), &"the edit")?;
        let lines = batch.finish();
        append_batch(context, writer, &lines, false, "edit-context", None)?;
        Ok(Exit::Yes)
    }
}

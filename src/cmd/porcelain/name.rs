//! `pis name`.

use clap::Args;

use crate::cli::{Context, Exit, Failure};
use crate::cmd::moving::{Edge, append_batch};
use crate::write::batch::Batch;

/// Show or set the session's name
///
/// Without a name, prints the one it has and exits with 1 where it has none. An empty name takes
/// it away.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis name || echo 'it has none'
  pis name 'three plans'
  pis name ''")]
pub(crate) struct Name {
    /// The name
    #[arg(value_name = "NAME", allow_hyphen_values = true)]
    name: Option<String>,
}

impl Name {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let session = context.session()?;
        let Some(name) = self.name else {
            let name = session.session_name()?;
            if context.json() {
                context.ui.json_row(&serde_json::json!({ "name": name }))?;
            } else if let Some(name) = &name {
                context.ui.plain_row(name)?;
            }
            return Ok(Exit::from(name.is_some()));
        };
        let name = crate::write::build::session_name(&name);
        // A name is bookkeeping that the running agent need not see.
        let writer = context.writer(&session, true)?;
        writer.check_writable()?;
        let edge = Edge::new(context);
        let leaf = writer.session().leaf()?.ix;
        let mut batch = Batch::new(writer.session(), leaf, edge.fresh());
        let entry = serde_json::json!({ "type": "session_info", "name": name });
        batch.add(entry.to_string().as_bytes(), &"the name")?;
        let lines = batch.finish();
        append_batch(context, writer, &lines, false, "name", Some(&name))?;
        Ok(Exit::Yes)
    }
}

//! `pis context`.

use clap::{Args, ValueEnum};

use crate::cli::{Context, Exit, Failure, complete};
use crate::context::Projection;

/// Print what a model is sent at an entry, exactly as pi builds it
///
/// Without an option, a JSON object with `messages`, `thinkingLevel` and `model`. Without a
/// revision, the context at the leaf; at `root` it is empty.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis context | jq '.messages | length'
  pis context --tokens
  pis context --as text @~4
  pis context --entries | jq -r .id")]
pub(crate) struct ShowContext {
    /// Print the messages only, in this form
    #[arg(long = "as", value_name = "FORM")]
    form: Option<Form>,
    /// Print the estimated number of tokens
    #[arg(long, conflicts_with = "form")]
    tokens: bool,
    /// Print the stored lines of the entries that contribute or are kept
    #[arg(long, conflicts_with_all = ["form", "tokens"])]
    entries: bool,
    /// The entry
    #[arg(default_value = "@", value_name = "REV", add = complete::revisions())]
    rev: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// As pi holds them
    Messages,
    /// As a model reads them: system, user, assistant and toolResult only
    Llm,
    /// For people
    Text,
}

impl ShowContext {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let (session, target) = context.resolve(&self.rev)?;
        let projection = Projection::build(&session, target.entry())?;
        if self.tokens {
            context.ui.row(&projection.tokens().to_string())?;
        } else if self.entries {
            for projected in &projection.entries {
                context.ui.bytes(&session.line(projected.source)?)?;
                let end = context.ui.row_end();
                context.ui.text(end)?;
            }
        } else {
            match self.form {
                None => context.ui.json_row(&projection.to_context())?,
                Some(Form::Messages) => context
                    .ui
                    .json_row(&projection.messages().collect::<Vec<_>>())?,
                Some(Form::Llm) => context.ui.json_row(&projection.llm())?,
                Some(Form::Text) => context.ui.bytes(projection.text().as_bytes())?,
            }
        }
        Ok(Exit::Yes)
    }
}

//! `pis cat-entry`.

use std::io::BufRead;

use clap::Args;

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::plain;
use crate::entry::{self, Entry};
use crate::error::Error;
use crate::json::{Raw, pretty};
use crate::rev::resolve::Target;
use crate::session::Session;
use crate::store::index::Ix;

/// Print entries, or what they are
///
/// Without an option, the stored line as it is, byte for byte. --batch and --batch-check read
/// revisions from standard input, one a line, and answer each at once: `<id> <type> <size>`, with
/// --batch followed by the stored bytes and a newline; `<rev> missing` or `<rev> ambiguous` where
/// there is no answer.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis cat-entry @ | jq .message.usage
  pis cat-entry --text @%
  pis cat-entry -e good || echo 'no such entry'
  pis rev-path | pis cat-entry --batch-check")]
pub(crate) struct CatEntry {
    /// Print the type
    #[arg(short = 't', group = "what")]
    kind: bool,
    /// Print the size of the line in bytes, without its newline
    #[arg(long, group = "what")]
    size: bool,
    /// Print nothing; exit with 0 if all exist, else with 1
    #[arg(short = 'e', group = "what")]
    exists: bool,
    /// Print the message
    #[arg(short = 'm', group = "what")]
    message: bool,
    /// Print indented JSON
    #[arg(short = 'p', group = "what")]
    pretty: bool,
    /// Print the text
    #[arg(long, group = "what")]
    text: bool,
    /// Print the header of the session
    #[arg(long, group = "what", conflicts_with = "revs")]
    header: bool,
    /// Read revisions from standard input; answer with what and bytes
    #[arg(long, group = "what", conflicts_with = "revs")]
    batch: bool,
    /// Read revisions from standard input; answer with what
    #[arg(long, group = "what", conflicts_with = "revs")]
    batch_check: bool,
    /// The entries
    #[arg(value_name = "REV", add = complete::revisions())]
    #[arg(required_unless_present_any = ["header", "batch", "batch_check"])]
    revs: Vec<String>,
}

impl CatEntry {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        if self.batch || self.batch_check {
            return self.run_batch(context);
        }
        if self.header {
            let session = context.session()?;
            if session.header().line.is_empty() {
                return Err(Failure::from(Error::NotASession {
                    path: session.name().into(),
                    reason: "it has no header".into(),
                }));
            }
            return print(context, &session.header().line);
        }
        let mut exit = Exit::Yes;
        for rev in &self.revs {
            let found = context.resolve(rev);
            if self.exists {
                match found {
                    Ok((_, Target::Entry(_))) => {}
                    Ok((_, Target::Root)) => exit = Exit::No,
                    Err(e) if e.is_missing() => exit = Exit::No,
                    Err(e) => return Err(e),
                }
                continue;
            }
            let (session, target) = found?;
            let ix = target.entry().ok_or_else(|| {
                Failure::from(Error::NoRevision {
                    message: format!("'{rev}' stands before the first entry and names none"),
                    hint: None,
                })
            })?;
            self.print_entry(context, &session, ix, rev)?;
        }
        Ok(exit)
    }

    fn print_entry(
        &self,
        context: &mut Context,
        session: &Session,
        ix: Ix,
        rev: &str,
    ) -> Result<(), Failure> {
        let line = session.line(ix)?;
        let entry = Entry::new(&line);
        if self.kind {
            context.ui.plain_row(&entry.type_name())?;
        } else if self.size {
            context.ui.row(&line.len().to_string())?;
        } else if self.message {
            let message = entry.message().ok_or_else(|| {
                Failure::from(Error::NoRevision {
                    message: format!("'{rev}' is a {}, which has no message", entry.type_name()),
                    hint: Some("'cat-entry -p' shows the whole entry".into()),
                })
            })?;
            context.ui.plain_row(&message.to_json())?;
        } else if self.pretty {
            context.ui.plain_row(&pretty::indent(entry.raw()))?;
        } else if self.text {
            context.ui.plain_row(&entry::text(entry))?;
        } else {
            print(context, &line)?;
        }
        Ok(())
    }

    fn run_batch(&self, context: &mut Context) -> Result<Exit, Failure> {
        context.take_stdin()?;
        if context.session_is_stdin() {
            // The session cannot be there as well; this says so.
            context.session()?;
        }
        for line in std::io::stdin().lock().lines() {
            let rev = line.map_err(Error::io("read", "standard input".as_ref()))?;
            match context.resolve(&rev) {
                Ok((session, Target::Entry(ix))) => {
                    let line = session.line(ix)?;
                    let (id, kind) = (session.id(ix), Entry::new(&line).type_name());
                    let head = format!("{} {} {}\n", plain(&id), plain(&kind), line.len());
                    context.ui.text(&head)?;
                    if self.batch {
                        context.ui.bytes(&line)?;
                        context.ui.text("\n")?;
                    }
                }
                Ok((_, Target::Root)) => context.ui.bytes(format!("{rev} missing\n").as_bytes())?,
                Err(e) if e.is_ambiguous() => {
                    context.ui.bytes(format!("{rev} ambiguous\n").as_bytes())?;
                }
                Err(e) if e.is_missing() => {
                    context.ui.bytes(format!("{rev} missing\n").as_bytes())?;
                }
                Err(e) => return Err(e),
            }
            context.ui.flush()?;
        }
        Ok(Exit::Yes)
    }
}

/// Prints a stored line: as it is, or with `--json` as valid JSON.
fn print(context: &mut Context, line: &[u8]) -> Result<Exit, Failure> {
    if context.json() {
        context.ui.plain_row(&Raw::new(line).to_json())?;
    } else {
        context.ui.bytes(line)?;
        let end = context.ui.row_end();
        context.ui.text(end)?;
    }
    Ok(Exit::Yes)
}

//! `pis import`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use crate::cli::{Context, Exit, Failure};
use crate::cmd::branching::{Made, add_name};
use crate::error::Error;
use crate::session::Session;
use crate::store::create::{file_name, is_valid_id, write_new, write_new_from};
use crate::time;
use crate::write::branch::Lines;
use crate::write::migrate::moved_file;

/// Import a session that another machine, a share or an export left as a file
///
/// The session keeps its id, its tree and every line, broken ones too; of its header only the
/// directory changes: without --cwd the session belongs to the current one. It lies where pi looks
/// for the sessions of that directory, and is the newest one there. A session that is here already
/// is not imported again. Sessions of version 1 and 2 are brought to version 3, with the ids that
/// reading shows; a line that another program puts before the header is left out. Prints the new
/// file's path.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis import old-v1.jsonl
  cat old-v1.jsonl | pis import -
  pis import old-v1.jsonl --cwd ~/src/app --name 'from the laptop'")]
pub(crate) struct Import {
    /// The directory the session belongs to; without it the current one
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cwd: Option<PathBuf>,
    /// The session's name
    #[arg(long)]
    name: Option<String>,
    /// The file; `-` for standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: String,
}

impl Import {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let session = if self.file == "-" {
            Session::from_bytes(context.stdin_bytes()?)?
        } else {
            Session::open(Path::new(&self.file))?
        };
        crate::ui::notices::tell(&context.ui, &session)?;
        let header = session.header();
        let refuse = |reason: String, hint: &str| {
            Failure::other(format!("cannot import '{}': {reason}", self.file)).hint(hint)
        };
        session.load_all()?;
        if session.begins_with_entries() {
            let hint = "'pis repair FILE -o OTHER' makes a file of it that can be imported";
            return Err(refuse("its first line is no header".into(), hint));
        }
        if header.is_newer() {
            let reason = format!("its version is {}; pis knows 3", header.version);
            return Err(refuse(reason, "a newer pis may know it"));
        }
        let id = header.id.clone();
        if !is_valid_id(&id) {
            let reason = format!("pi takes no session id like '{id}'");
            return Err(refuse(
                reason,
                "give its header an id of letters, digits, '.', '_' and '-'",
            ));
        }
        let places = context.places_at(self.cwd.as_deref());
        if let Some(taken) = places.holder_anywhere(&id) {
            let message = format!("session '{id}' is here already: '{}'", taken.display());
            return Err(Failure::usage(message)
                .hint("'pis copy FILE' makes a session with an id of its own of it"));
        }
        // Written anew: what a file says of itself must not choose another place.
        let begun = header.timestamp.as_deref().and_then(time::parse);
        let begun = begun.and_then(time::format);
        let timestamp = begun.unwrap_or_else(|| context.timestamp());
        let path = places.session_dir().path.join(file_name(&timestamp, &id));
        let source = moved_file(&session, &places.cwd.to_string_lossy())?;
        let moved = Session::of(source.clone())?;
        let mut leaf = moved.leaf()?.ix.map(|ix| moved.id(ix));
        if self.name.is_some() {
            let bytes = source.read_range(0, source.len());
            let mut lines = Lines {
                bytes: bytes.map_err(Error::io("read", Path::new(&self.file)))?,
                leaf,
            };
            if !lines.bytes.ends_with(b"\n") {
                lines.bytes.push(b'\n');
            }
            add_name(&mut lines, context, self.name.as_deref())?;
            write_new(&path, &lines.bytes)?;
            leaf = lines.leaf;
        } else {
            write_new_from(&path, &source)?;
        }
        let made = Made {
            session: path.display().to_string(),
            session_id: id,
            leaf,
            prompt: None,
            is_listed: true,
        };
        made.print(context)?;
        Ok(Exit::Yes)
    }
}

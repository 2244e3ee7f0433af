//! `pis append`.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use base64::Engine;
use clap::{Args, ValueHint};

use crate::cli::{Context, Exit, Failure, complete};
use crate::cmd::moving::{Edge, Force, append_batch, expect_leaf, find, parse};
use crate::error::{Error, Result};
use crate::rev::syntax::Rev;
use crate::session::Session;
use crate::store::index::Ix;
use crate::write::batch::Batch;

/// Append messages or entries, and print their ids
///
/// Reads JSON lines from standard input: messages (they have `role`) or entries (they have
/// `type`). Each becomes the child of the one before, the first a child of the leaf. What pi needs
/// to read them back is filled in: id, parentId, timestamp, usage, cost, stop reason, lists of
/// content. All of the input is checked before anything is written; what pi could not open is
/// refused with its line and field.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  echo '{\"role\":\"user\",\"content\":\"hi\"}' | pis append
  pis append --user 'What does this show?' --image shot.png
  pis append --user 'Plan A' --parent good
  jq -c 'select(.role)' messages.json | pis append --expect-leaf \"$(pis rev-parse @)\"")]
pub(crate) struct Append {
    /// Hang the first one on this entry, or on root, instead of the leaf
    #[arg(long, value_name = "REV", add = complete::revisions())]
    parent: Option<String>,
    /// Write only if this is the leaf (an id, another revision, or root); else exit with 3
    #[arg(long, value_name = "ID", add = complete::revisions())]
    expect_leaf: Option<String>,
    /// Append a user message instead of reading standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    user: Option<String>,
    /// Append an answer, by the provider and model in force
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    assistant: Option<String>,
    /// Put an image into the user message (may be repeated)
    #[arg(long, value_name = "FILE", requires = "user", value_hint = ValueHint::FilePath)]
    image: Vec<PathBuf>,
    /// Write and acknowledge line by line, as they come
    #[arg(long, conflicts_with_all = ["user", "assistant", "expect_leaf"])]
    each: bool,
    #[command(flatten)]
    force: Force,
}

impl Append {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let parent = self.parent.as_deref().map(parse).transpose()?;
        let expected = self.expect_leaf.as_deref().map(parse).transpose()?;
        // Whoever feeds the input may move the leaf, or begin a session, until it ends.
        let given = if self.each {
            Given::default()
        } else {
            self.given(context)?
        };
        let session = match &parent {
            Some(rev) => context.session_of(rev)?,
            None => context.session()?,
        };
        if self.each {
            return self.run_each(context, &session, parent.as_ref());
        }
        let writer = context.writer(&session, self.force.force)?;
        writer.check_writable()?;
        if let Some(expected) = &expected {
            expect_leaf(context, &writer, expected)?;
        }
        let start = start(context, writer.session(), parent.as_ref())?;
        let edge = Edge::new(context);
        let mut batch = Batch::new(writer.session(), start, edge.fresh());
        batch.add_all(&given.lines())?;
        let lines = batch.finish();
        append_batch(context, writer, &lines, expected.is_some(), "append", None)?;
        Ok(Exit::Yes)
    }

    /// What is to be appended.
    fn given(&self, context: &Context) -> Result<Given, Failure> {
        let mut given = Given::default();
        if let Some(text) = &self.user {
            let mut content = vec![serde_json::json!({ "type": "text", "text": text })];
            for file in &self.image {
                content.push(image(file)?);
            }
            given.push(
                "--user",
                &serde_json::json!({ "role": "user", "content": content }),
            );
        }
        if let Some(text) = &self.assistant {
            let message = serde_json::json!({ "role": "assistant", "content": text });
            given.push("--assistant", &message);
        }
        if given.options.is_empty() {
            given.bytes = context.stdin_bytes()?;
        }
        Ok(given)
    }

    /// Appends each line as it comes. Without a parent each hangs on the leaf of its moment, so
    /// that several writers make one chain.
    fn run_each(
        &self,
        context: &mut Context,
        session: &Session,
        parent: Option<&Rev>,
    ) -> Result<Exit, Failure> {
        context.take_stdin()?;
        let mut beside = None;
        let mut chain: Option<Rev> = parent.cloned();
        for (n, line) in std::io::stdin().lock().split(b'\n').enumerate() {
            let line = line.map_err(Error::io("read", Path::new("standard input")))?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let place = Place {
                option: None,
                line: n + 1,
            };
            let writer = context.writer(session, self.force.force)?;
            writer.check_writable()?;
            let start = start(context, writer.session(), chain.as_ref())?;
            let edge = Edge::new(context);
            let mut batch = Batch::new(writer.session(), start, edge.fresh());
            batch.add(&line, &place)?;
            let lines = batch.finish();
            if chain.is_some() {
                let place = crate::rev::syntax::Place::Id(lines.ids[0].clone());
                chain = Some(Rev {
                    session: None,
                    place,
                    suffixes: Vec::new(),
                });
            }
            match append_batch(context, writer, &lines, false, "append", None) {
                Err(e) if e.is_beside() => beside = Some(e),
                result => result?,
            }
        }
        beside.map_or(Ok(Exit::Yes), Err)
    }
}

/// The entry that the first appended one hangs on.
fn start(context: &Context, session: &Session, parent: Option<&Rev>) -> Result<Option<Ix>> {
    match parent {
        Some(rev) => Ok(find(context, session, rev)?.target.entry()),
        None => Ok(session.leaf()?.ix),
    }
}

/// JSON lines, and the options they stand for if they do not come from standard input.
#[derive(Debug, Default)]
struct Given {
    bytes: Vec<u8>,
    options: Vec<&'static str>,
}

/// Where a line came from.
struct Place {
    option: Option<&'static str>,
    line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.option {
            Some(option) => f.write_str(option),
            None => write!(f, "line {}", self.line),
        }
    }
}

impl Given {
    fn push(&mut self, option: &'static str, message: &serde_json::Value) {
        self.bytes
            .extend_from_slice(format!("{message}\n").as_bytes());
        self.options.push(option);
    }

    /// The lines that are not blank.
    fn lines(&self) -> Vec<(Place, &[u8])> {
        let ends = memchr::memchr_iter(b'\n', &self.bytes).chain([self.bytes.len()]);
        let starts = std::iter::once(0).chain(ends.clone().map(|end| end + 1));
        let lines = starts
            .zip(ends)
            .map(|(start, end)| &self.bytes[start..end])
            .enumerate();
        let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
        let lines = lines.map(|(n, line)| {
            let place = Place {
                option: self.options.get(n).copied(),
                line: n + 1,
            };
            (place, line)
        });
        lines.collect()
    }
}

/// An image block, its type told by the file's first bytes.
fn image(file: &Path) -> Result<serde_json::Value, Failure> {
    let bytes = std::fs::read(file).map_err(Error::io("read", file))?;
    let mime = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => "image/webp",
        _ => {
            return Err(Failure::usage(format!(
                "'{}' is no image that a model reads",
                file.display()
            ))
            .hint("PNG, JPEG, GIF and WebP are"));
        }
    };
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    Ok(serde_json::json!({ "type": "image", "data": data, "mimeType": mime }))
}

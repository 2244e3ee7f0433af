//! pi's five filters: which entries a tree or a log shows.

use clap::ValueEnum;

use crate::entry::{self, Entry, Kind, Role};
use crate::error::Result;
use crate::session::Session;
use crate::store::index::Ix;

/// One of the filters of pi's `/tree` (1.6.0).
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Filter {
    /// Without labels, names, settings and the state of extensions
    Default,
    /// The same, without tool results
    NoTools,
    /// User messages
    UserOnly,
    /// Entries with a label
    LabeledOnly,
    /// Everything but usage records and answers without text
    All,
}

impl Filter {
    /// Whether the filter shows an entry; `wordless` is whether an answer is shown without text,
    /// as the leaf always is.
    pub(crate) fn shows(self, session: &Session, ix: Ix, wordless: bool) -> Result<bool> {
        let (kind, role) = {
            let index = session.index();
            (index.kind(ix), index.role(ix))
        };
        if kind == Kind::Usage {
            return Ok(false);
        }
        let is_setting = matches!(
            kind,
            Kind::Label
                | Kind::ContextEdit
                | Kind::Custom
                | Kind::ModelChange
                | Kind::ThinkingLevelChange
                | Kind::SessionInfo
        );
        let passes = match self {
            Filter::Default => !is_setting,
            Filter::NoTools => !is_setting && role != Role::ToolResult,
            Filter::UserOnly => role == Role::User,
            Filter::LabeledOnly => session.labels()?.of(&session.id(ix)).is_some(),
            Filter::All => true,
        };
        if !passes || role != Role::Assistant || wordless {
            return Ok(passes);
        }
        says_something(session, ix)
    }
}

/// Whether an assistant message has text, or ended in another way than it should.
fn says_something(session: &Session, ix: Ix) -> Result<bool> {
    let line = session.line(ix)?;
    let entry = Entry::new(&line);
    let stop = entry
        .message()
        .and_then(|m| m.str("stopReason"))
        .unwrap_or_default();
    if !matches!(&*stop, "" | "stop" | "toolUse") {
        return Ok(true);
    }
    Ok(!entry::text(entry).trim().is_empty())
}

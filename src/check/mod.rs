//! Damage: what is wrong with a session, and what of it can be had back.
//!
//! Reading passes over damage as pi does; here it is named. [`check`] goes over a whole session,
//! in a few passes on all cores: lines that do not parse are taken apart ([`salvage`]), entries
//! are looked into while they are validated, then links and turns are followed in the tree.

mod code;
mod facts;
mod lines;
mod links;
mod place;
pub mod salvage;
mod turns;
mod utf8;

use std::path::Path;

use crate::error::{Error, Result};
use crate::rev::syntax::quote_name;
use crate::session::Session;
use crate::store::create::is_valid_id;
use crate::store::discover::Places;
use crate::store::header::{self, Migration, State};
use crate::store::index::Ix;
use crate::store::source::Source;

pub use code::{Code, Severity};
pub(crate) use facts::Facts;
pub(crate) use lines::gaps;
pub(crate) use links::hidden_branch;
pub use salvage::records_in;

/// Something that is wrong with a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub code: Code,
    /// The number of the line, from 1; `None` where it is about no line.
    pub line_number: Option<u64>,
    /// The bytes it is about: of its first, and behind its last. The LF of a line does not count.
    pub span: Option<(u64, u64)>,
    /// The id of the entry.
    pub id: Option<String>,
    /// What was found, for people.
    pub message: String,
    /// Whether repairing sets it right, and not only aside.
    pub repairable: bool,
}

impl Finding {
    fn new(code: Code, span: (u64, u64), message: impl Into<String>) -> Finding {
        Finding {
            code,
            line_number: None,
            span: Some(span),
            id: None,
            message: message.into(),
            repairable: false,
        }
    }

    fn of_file(code: Code, message: impl Into<String>) -> Finding {
        Finding {
            span: None,
            ..Finding::new(code, (0, 0), message)
        }
    }

    fn of(session: &Session, code: Code, ix: Ix, message: impl Into<String>) -> Finding {
        let index = session.index();
        let id = index.id(ix).map(|_| index.id_text(ix).into_owned());
        Finding {
            id,
            ..Finding::new(code, index.span(ix), message)
        }
    }

    fn repairable(self) -> Finding {
        Finding {
            repairable: true,
            ..self
        }
    }
}

/// Checks the session in a file, in the order of its lines. A file that is no session is a
/// finding, too; one that cannot be read is an error.
pub fn check_file(path: &Path, places: &Places) -> Result<Vec<Finding>> {
    check_opened(Session::open(path), || Source::open(path), places)
}

/// Checks a session that is no file. See [`check_file`].
pub fn check_bytes(bytes: Vec<u8>, places: &Places) -> Result<Vec<Finding>> {
    let source = Source::Memory(bytes.into());
    check_opened(Session::of(source.clone()), || Ok(source), places)
}

fn check_opened(
    session: Result<Session>,
    source: impl FnOnce() -> Result<Source>,
    places: &Places,
) -> Result<Vec<Finding>> {
    match session {
        Ok(session) => {
            let mut found = check(&session)?;
            found.extend(place::check(&session, places)?);
            number(session.source(), &mut found).map_err(session.io_error())?;
            Ok(found)
        }
        Err(Error::NotASession { reason, path }) => {
            no_session(&source()?, &reason).map_err(Error::io("read", &path))
        }
        Err(e) => Err(e),
    }
}

/// Checks what the bytes of a session say. Lines are not numbered, and in no order.
pub(crate) fn check(session: &Session) -> Result<Vec<Finding>> {
    let facts = Facts::of_all(session)?;
    let mut found = about_header(session);
    found.extend(lines::check(session)?);
    found.extend(facts.check(session)?);
    found.extend(links::check(session, &facts)?);
    found.extend(turns::check(session, &facts)?);
    found.extend(utf8::check(session)?);
    Ok(found)
}

/// The entry's id as it is printed.
fn name(session: &Session, ix: Ix) -> String {
    quote_name(&session.id(ix)).into_owned()
}

/// Numbers the lines and puts the findings in their order; those about no line come first.
pub(crate) fn number(source: &Source, found: &mut [Finding]) -> std::io::Result<()> {
    found.sort_by_key(|finding| (finding.span, finding.code));
    let starts = found.iter().filter_map(|f| f.span).map(|(start, _)| start);
    let mut numbers = source.line_numbers(starts)?.into_iter();
    for finding in found.iter_mut().filter(|f| f.span.is_some()) {
        finding.line_number = numbers.next();
    }
    Ok(())
}

fn about_header(session: &Session) -> Vec<Finding> {
    let header = session.header();
    let span = session.header_span();
    let line = span.unwrap_or((0, 0));
    let mut found = Vec::new();
    match session.state() {
        State::Fine => {}
        State::ByteOrderMark => found.push(
            Finding::new(
                Code::Bom,
                (0, 3),
                "a byte order mark stands before the header",
            )
            .repairable(),
        ),
        State::HeaderNotFirst => found.push(
            Finding::new(
                Code::HeaderNotFirst,
                line,
                "the header is not the first record",
            )
            .repairable(),
        ),
        State::NoHeader => found.push(
            Finding::new(Code::NoHeader, line, "there are entries, but no header").repairable(),
        ),
    }
    if span.is_some() {
        let has_id = is_valid_id(&header.id);
        if !has_id || header.timestamp.is_none() || header.cwd.is_none() {
            let message = "the id, the timestamp or the cwd of the header is missing or odd";
            found.push(Finding::new(Code::BadHeader, line, message));
        }
        if header.is_newer() {
            let message = format!("the version is {}; pis knows 3", header.version);
            found.push(Finding::new(Code::NewerVersion, line, message));
        } else if header.version < 3.0 {
            let version = header.version.max(1.0);
            found.push(
                Finding::new(
                    Code::OldVersion,
                    line,
                    format!("the version is {version}; pi writes the file anew when it opens it"),
                )
                .repairable(),
            );
        } else if !header.version_is_number() {
            let message = "the version is no number, which pi takes for the newest";
            found.push(Finding::new(Code::BadVersion, line, message));
        }
    }
    if session.migration() == Migration::Ids && header.version >= 3.0 {
        let message = "the version is 3, but no entry has an id: the entries are of version 1";
        found.push(Finding::new(Code::NoIds, line, message).repairable());
    }
    found
}

/// What a file is that no session begins in.
fn no_session(source: &Source, reason: &str) -> std::io::Result<Vec<Finding>> {
    let len = source.len();
    let pieces = salvage::salvage(source, 0, len)?;
    let mut found = Vec::new();
    if pieces.iter().any(salvage::Piece::is_record) {
        // Its header is lost, or is in one of the lines that are broken.
        let message = "no line is a header";
        found.push(Finding::new(Code::NoHeader, (0, 0), message).repairable());
        found.extend(lines::broken(source, 0, len, len)?);
    } else if len == 0 || header::is_blank(source, len)? {
        found.push(Finding::new(
            Code::Empty,
            (0, len),
            "there is nothing in the file",
        ));
    } else {
        found.push(Finding::new(Code::NotASession, (0, len), reason));
    }
    number(source, &mut found)?;
    Ok(found)
}

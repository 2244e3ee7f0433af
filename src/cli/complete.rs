//! What completes on the command line besides words of pis: sessions, labels, revisions.
//!
//! Nothing here fails: where a session cannot be read there is nothing to offer. The options in
//! front of the word count, so that `pis -s FILE log <Tab>` offers what FILE holds.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::rc::Rc;

use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};

use super::Context;
use super::args::Global;
use crate::error::Result;
use crate::rev::syntax::quote_name;
use crate::session::Session;
use crate::store::header;
use crate::ui::describe::describe;
use crate::ui::sanitize::one_line;

/// How many ids are offered.
const IDS: usize = 50;

/// How many sessions are offered.
const SESSIONS: usize = 100;

/// So many bytes of sessions are read to find their names; the rest is offered without.
const NAMES_LIMIT: u64 = 64 << 20;

/// A description in a menu has at most so many characters.
const HELP: usize = 60;

/// Completes what `-s` takes: ids and names of sessions here, and paths.
pub(crate) fn sessions() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let mut found = match Context::new(typed_options(std::env::args_os())) {
            Ok(context) => named_sessions(&context, &current.to_string_lossy()),
            Err(_) => Vec::new(),
        };
        let files = PathCompleter::any().filter(|path| path.extension() == Some("jsonl".as_ref()));
        found.extend(files.complete(current));
        found
    })
}

fn named_sessions(context: &Context, start: &str) -> Vec<CompletionCandidate> {
    let mut found = Vec::new();
    let mut budget = NAMES_LIMIT;
    if start.contains('/') {
        return found;
    }
    for path in context.places().list_here().iter().take(SESSIONS) {
        let Some(header) = header::read_for_discovery(path, u64::MAX) else {
            continue;
        };
        let name = name_within(path, &mut budget);
        let is_named = |n: &str| !start.is_empty() && n.starts_with(start);
        if header.id.starts_with(start) {
            let help = name.map(|name| shortened(&one_line(&name)));
            found.extend(candidate(&header.id, help.unwrap_or_default()));
        } else if let Some(name) = name.filter(|name| is_named(name)) {
            found.extend(candidate(&name, header.id));
        }
    }
    found
}

/// A word to offer, unless a terminal would not survive it.
fn candidate(word: &str, help: String) -> Option<CompletionCandidate> {
    let quoted = if inserts_as_it_is() {
        escaped(word)
    } else {
        word.to_owned()
    };
    let help = Some(help).filter(|h| !h.is_empty()).map(Into::into);
    let harmless = !word.contains(char::is_control);
    harmless.then(|| CompletionCandidate::new(quoted).help(help))
}

/// A word with backslashes where bash needs them. In quotes it would not go on from what was typed.
fn escaped(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for c in word.chars() {
        if " |&;<>()$`\\\"'*?[]#!,".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Whether the shell that asks puts a word on its line without quoting it.
#[expect(
    clippy::disallowed_methods,
    reason = "only the script for bash sets it"
)]
fn inserts_as_it_is() -> bool {
    std::env::var_os("_CLAP_COMPLETE_COMP_TYPE").is_some()
}

/// The name of a session, unless it would take too much reading.
fn name_within(path: &Path, budget: &mut u64) -> Option<String> {
    let session = Session::open(path).ok()?;
    *budget = budget.checked_sub(session.size())?;
    session.session_name().ok().flatten()
}

/// Completes revisions: places, labels and the newest ids of the session that would be used, on
/// both sides of a range and behind the name of another session.
pub(crate) fn revisions() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let Some(current) = current.to_str() else {
            return Vec::new();
        };
        let options = typed_options(std::env::args_os());
        // Standard input is the terminal here.
        if options.session.as_deref() == Some("-") {
            return Vec::new();
        }
        let Ok(context) = Context::new(options) else {
            return Vec::new();
        };
        complete_revision(&context, current).unwrap_or_default()
    })
}

fn complete_revision(context: &Context, current: &str) -> Option<Vec<CompletionCandidate>> {
    let (mut before, mut word) = ("", current);
    let mut session: Option<Rc<Session>> = None;
    if let Some((name, _)) = split_session(current) {
        session = Some(context.open(name).ok()?);
        (before, word) = current.split_at(name.len() + 1);
    }
    if let Some(dots) = word.rfind("..").filter(|_| !word.starts_with(['"', ':'])) {
        let start = before.len() + dots + 2;
        (before, word) = current.split_at(start);
    }
    for kind in ["id:", "label:"] {
        if word.starts_with(kind) {
            (before, word) = current.split_at(before.len() + kind.len());
        }
    }
    let session = match session {
        Some(session) => session,
        None => context.session().ok()?,
    };
    let found = candidates(&session, word, before.ends_with("label:")).ok()?;
    let whole = found.into_iter().map(|c| c.add_prefix(before));
    Some(whole.collect())
}

/// The name of another session in front of a revision, and the rest.
fn split_session(text: &str) -> Option<(&str, &str)> {
    if let Some(at) = text.find(".jsonl:") {
        let end = at + ".jsonl".len();
        return Some((&text[..end], &text[end + 1..]));
    }
    let (name, rest) = text.split_once(':')?;
    let is_plain = quote_name(name) == name && !matches!(name, "id" | "label");
    is_plain.then_some((name, rest))
}

fn candidates(
    session: &Session,
    word: &str,
    labels_only: bool,
) -> Result<Vec<CompletionCandidate>> {
    let mut found = Vec::new();
    for label in session.labels()?.iter() {
        let name = quote_name(&label.name);
        if name.starts_with(word) {
            found.extend(candidate(
                &name,
                format!("label on {}", one_line(&label.target)),
            ));
        }
    }
    if labels_only {
        return Ok(found);
    }
    for (place, help) in [
        ("@", "the leaf"),
        ("@%", "the last prompt"),
        ("@{tip}", "the newest message below the leaf"),
    ] {
        if place.starts_with(word) {
            found.push(CompletionCandidate::new(place).help(Some(help.into())));
        }
    }
    session.load_all()?;
    let newest: Vec<_> = {
        let index = session.index();
        let named = |&ix: &_| {
            let id = index.id_text(ix);
            !id.is_empty() && quote_name(&id).starts_with(word)
        };
        let current = index.newest_first().filter(|&ix| index.is_current(ix));
        current.filter(named).take(IDS).collect()
    };
    for ix in newest {
        let entry = describe(session, ix, &session.line(ix)?)?;
        let help = shortened(&format!("{}: {}", entry.who, entry.text));
        found.extend(candidate(&quote_name(&session.id(ix)), help));
    }
    Ok(found)
}

fn shortened(text: &str) -> String {
    let mut line: String = text.chars().take(HELP).collect();
    if line.len() < text.len() {
        line.push('…');
    }
    line
}

/// The options that choose a session, among the words of the command line that is completed. They
/// stand behind `--`, as they were typed, quotes included.
fn typed_options(args: impl Iterator<Item = OsString>) -> Global {
    let words = args.map(|word| word.to_string_lossy().into_owned());
    // The word after `--` is the name of the program.
    let words: Vec<String> = words.skip_while(|word| word != "--").skip(2).collect();
    let mut options = Global::default();
    let mut words = words.into_iter().map(unquoted);
    while let Some(word) = words.next() {
        let (name, attached) = match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(long), _) => match long.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (long.to_owned(), None),
            },
            (None, Some(short)) => {
                let (name, value) = short.split_at(short.chars().next().map_or(0, char::len_utf8));
                (
                    name.to_owned(),
                    Some(value.to_owned()).filter(|v| !v.is_empty()),
                )
            }
            _ => continue,
        };
        let mut value = || match attached.clone() {
            Some(value) => Some(value),
            // bash makes a word of its own of the equals sign.
            None => words.next().filter(|w| w != "=").or_else(|| words.next()),
        };
        match name.as_str() {
            "s" | "session" => options.session = value().or(options.session),
            "C" => options.directory = value().map(Into::into).or(options.directory),
            "session-dir" => options.session_dir = value().map(Into::into).or(options.session_dir),
            _ => {}
        }
    }
    options.session = options.session.filter(|s| !s.is_empty());
    options.directory = options.directory.filter(|dir| dir.is_dir());
    options
}

/// A word without the quotes of the shell, where it has whole ones.
fn unquoted(word: String) -> String {
    match shlex::split(&word).as_deref() {
        Some([one]) => one.clone(),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_in_front_of_the_word_count() {
        let options = |line: &str| {
            let words = format!("/bin/pis -- pis {line}");
            let options = typed_options(words.split(' ').map(OsString::from));
            (
                options.session.unwrap_or_default(),
                options.session_dir.unwrap_or_default(),
            )
        };
        for (line, session, dir) in [
            ("log", "", ""),
            ("-s a log", "a", ""),
            ("-sa log", "a", ""),
            ("log --session = a x", "a", ""),
            ("log --session=a.jsonl x", "a.jsonl", ""),
            ("--session-dir /x log -s 'a' ", "a", "/x"),
            ("log -s", "", ""),
            ("log -n 3 -s é", "é", ""),
        ] {
            assert_eq!(options(line), (session.into(), dir.into()), "{line}");
        }
    }

    #[test]
    fn another_session_stands_before_a_colon() {
        for (text, session) in [
            ("../a.jsonl:x", Some("../a.jsonl")),
            ("019a:x", Some("019a")),
            ("label:x", None),
            (":/x", None),
            ("x", None),
        ] {
            assert_eq!(split_session(text).map(|(name, _)| name), session, "{text}");
        }
    }
}

//! Tool calls for people: commands, edits as diffs, files that are written, other arguments.

use std::borrow::Cow;
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use super::sanitize::one_line;
use super::style::{Mark, Painter};
use super::styled::plain_lines;
use crate::json::{Raw, js};

/// Two texts that have nothing in common are not compared for longer.
const PATIENCE: Duration = Duration::from_millis(200);

/// A line and its style; a line of a diff is painted already.
pub(crate) type Painted = (Mark, String);

/// The file or directory that a call is about, as the model wrote it.
pub(crate) fn path(arguments: Raw<'_>) -> Option<Cow<'_, str>> {
    let names = ["path", "file_path", "filePath"];
    names.iter().find_map(|key| arguments.str(key))
}

/// What is said of a call behind its name: the file, where there is one.
pub(crate) fn subject(arguments: Raw<'_>) -> String {
    path(arguments).map_or_else(String::new, |path| one_line(&path))
}

/// The lines that show a call's arguments. `code` is how many columns a line has, where it must
/// be broken.
pub(crate) fn arguments(
    name: &str,
    arguments: Raw<'_>,
    code: Option<usize>,
    painter: Painter,
) -> Vec<Painted> {
    let lines = |mark, text: &str| -> Vec<Painted> {
        plain_lines(text, code, true)
            .into_iter()
            .map(|line| (mark, line))
            .collect()
    };
    if name == "bash"
        && let Some(command) = arguments.str("command")
    {
        return lines(Mark::Code, &format!("$ {command}"));
    }
    let edits = edits(arguments);
    if !edits.is_empty() {
        return edits
            .iter()
            .flat_map(|(old, new)| diff(old, new, code, painter))
            .collect();
    }
    if name == "write"
        && let Some(content) = arguments.str("content")
    {
        let added = plain_lines(&content, code.map(|columns| columns - 1), true);
        return added
            .into_iter()
            .map(|line| (Mark::Added, format!("+{line}")))
            .collect();
    }
    let mut shown = Vec::new();
    for (key, value) in arguments.members() {
        let key = one_line(&key.text());
        if matches!(&*key, "path" | "file_path" | "filePath") && value.is_string() {
            continue;
        }
        let text = value
            .as_str()
            .map_or_else(|| js::stringify(value), Cow::into_owned);
        if text.contains('\n') {
            shown.push((Mark::Dim, format!("{key}:")));
            shown.extend(lines(Mark::Plain, &text));
        } else {
            shown.extend(lines(Mark::Plain, &format!("{key}: {text}")));
        }
    }
    shown
}

/// How many lines a call puts into its file and takes out of it; `None` where it changes none.
pub(crate) fn changes(name: &str, arguments: Raw<'_>) -> Option<(usize, usize)> {
    if name == "write" {
        return Some((arguments.str("content")?.lines().count(), 0));
    }
    let edits = edits(arguments);
    if edits.is_empty() {
        return None;
    }
    let (mut added, mut removed) = (0, 0);
    for (old, new) in &edits {
        let diff = TextDiff::configure()
            .timeout(PATIENCE)
            .diff_lines(old.as_str(), new.as_str());
        for change in diff.iter_all_changes() {
            added += usize::from(change.tag() == ChangeTag::Insert);
            removed += usize::from(change.tag() == ChangeTag::Delete);
        }
    }
    Some((added, removed))
}

/// What an edit replaces, and with what: pi's `edits`, a single pair, or the names that other
/// agents give them. Some models send `edits` as a string of JSON, which pi reads as well.
fn edits(arguments: Raw<'_>) -> Vec<(String, String)> {
    const NAMES: [(&str, &str); 3] = [
        ("oldText", "newText"),
        ("old_string", "new_string"),
        ("old_str", "new_str"),
    ];
    let pair = |edit: Raw<'_>| {
        let pair = |(old, new)| Some((edit.str(old)?.into_owned(), edit.str(new)?.into_owned()));
        NAMES.into_iter().find_map(pair)
    };
    let listed = arguments.get("edits").unwrap_or_default();
    let text = listed.as_str().unwrap_or_default();
    let parsed = Raw::new(text.as_bytes());
    let parsed = if crate::json::is_valid(text.as_bytes()) {
        parsed
    } else {
        Raw::default()
    };
    let found = [listed, parsed]
        .into_iter()
        .flat_map(|list| list.items().chain([list]));
    found.chain([arguments]).filter_map(pair).collect()
}

/// The lines of a diff, words that changed marked inside of them.
fn diff(old: &str, new: &str, code: Option<usize>, painter: Painter) -> Vec<Painted> {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let mut shown = Vec::new();
    for (n, group) in diff.grouped_ops(3).iter().enumerate() {
        if n > 0 {
            shown.push((Mark::Dim, "...".to_owned()));
        }
        for change in group.iter().flat_map(|op| diff.iter_inline_changes(op)) {
            let (sign, mark, word) = match change.tag() {
                ChangeTag::Equal => (' ', Mark::Plain, Mark::Plain),
                ChangeTag::Delete => ('-', Mark::Removed, Mark::RemovedWord),
                ChangeTag::Insert => ('+', Mark::Added, Mark::AddedWord),
            };
            let mut styled = super::styled::Styled::new(mark, &sign.to_string());
            for (emphasized, text) in change.iter_strings_lossy() {
                let text = text.trim_end_matches(['\n', '\r']).replace('\t', "    ");
                styled.push(if emphasized { word } else { mark }, &text);
            }
            let lines = match code {
                Some(columns) => styled.break_anywhere(columns, painter),
                None => styled.lines(painter),
            };
            shown.extend(lines.into_iter().map(|line| (Mark::Plain, line)));
        }
    }
    shown
}

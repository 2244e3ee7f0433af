//! The text of an entry: what search, revisions, listings and the editor mean by it.

use super::{Entry, Kind, Role};
use crate::json::Raw;
use crate::json::cursor::Cursor;

/// The texts of a content, as stored: a string, or the text blocks of a list.
#[derive(Debug, Default)]
struct Content<'a>(Vec<Raw<'a>>);

impl<'a> Content<'a> {
    fn take(cursor: &mut Cursor<'a>) -> Content<'a> {
        let mut texts = Vec::new();
        if cursor.is_string() {
            texts.push(cursor.value());
            return Content(texts);
        }
        cursor.items(|block| {
            let (mut kind, mut text) = (Raw::default(), Raw::default());
            block.members(|key, value| {
                if key.is("type") {
                    kind = value.value();
                } else if key.is("text") {
                    text = value.value();
                }
            });
            if text.is_string() && kind.as_str().is_some_and(|kind| kind == "text") {
                texts.push(text);
            }
        });
        Content(texts)
    }
}

/// The text blocks of a content (a string is one), joined.
pub fn block_text(content: Raw<'_>, separator: &'static str) -> String {
    let content = Content::take(&mut Cursor::new(content));
    Text {
        pieces: content.0,
        separator,
    }
    .into_string()
}

/// The text of an entry, in the pieces in which it is stored.
#[derive(Debug, Default)]
pub struct Text<'a> {
    /// JSON strings; where it is one word, any value.
    pub pieces: Vec<Raw<'a>>,
    /// What stands between two of them.
    pub separator: &'static str,
}

/// What a message holds that may be its text.
#[derive(Default)]
struct Parts<'a> {
    role: Raw<'a>,
    content: Content<'a>,
    command: Raw<'a>,
    output: Raw<'a>,
    summary: Raw<'a>,
}

impl<'a> Parts<'a> {
    fn take(cursor: &mut Cursor<'a>) -> Parts<'a> {
        let mut parts = Parts::default();
        cursor.members(|key, value| {
            // The last one of a key that is repeated wins.
            if key.is("content") {
                parts.content = Content::take(value);
            } else if key.is("role") {
                parts.role = value.value();
            } else if key.is("command") {
                parts.command = value.value();
            } else if key.is("output") {
                parts.output = value.value();
            } else if key.is("summary") {
                parts.summary = value.value();
            }
        });
        parts
    }

    fn text(self) -> Text<'a> {
        let role = self.role.as_str().unwrap_or_default();
        let (pieces, separator) = match Role::of(role.as_bytes()) {
            Role::BashExecution => {
                let string = |value: Raw<'a>| {
                    if value.is_string() {
                        value
                    } else {
                        Raw::default()
                    }
                };
                let mut pieces = vec![string(self.command), string(self.output)];
                if pieces[1].utf16_len() == 0 {
                    pieces.pop();
                }
                (pieces, "\n")
            }
            Role::BranchSummary | Role::CompactionSummary => {
                let summary = Some(self.summary).filter(|summary| summary.is_string());
                (summary.into_iter().collect(), "")
            }
            Role::User | Role::Custom => (self.content.0, ""),
            _ => (self.content.0, "\n"),
        };
        Text { pieces, separator }
    }
}

impl<'a> Text<'a> {
    /// The text of an entry. User and custom messages: text blocks joined with nothing, as pi puts
    /// them in its editor; assistant messages, tool results and other roles: joined with newlines;
    /// a bash run: the command, then its output; a summary: itself; a label, name, model or level:
    /// that word; anything else: empty.
    pub fn of(entry: Entry<'a>) -> Text<'a> {
        let mut kind = Raw::default();
        let mut message = Parts::default();
        let mut content = Content::default();
        let mut words = WORDS.map(|(kind, key)| (kind, key, Raw::default()));
        Cursor::new(entry.raw()).members(|key, value| {
            if key.is("type") {
                kind = value.value();
            } else if key.is("message") {
                message = Parts::take(value);
            } else if key.is("content") {
                content = Content::take(value);
            } else if words.iter().any(|(_, name, _)| key.is(name)) {
                let word = value.value();
                for (_, name, held) in &mut words {
                    if key.is(name) {
                        *held = word;
                    }
                }
            }
        });
        let kind = kind
            .as_str()
            .map_or(Kind::Other, |name| Kind::of(name.as_bytes()));
        match kind {
            Kind::Message => message.text(),
            Kind::CustomMessage => Text {
                pieces: content.0,
                separator: "",
            },
            kind => {
                let word = words
                    .into_iter()
                    .find(|(of, ..)| *of == kind)
                    .map(|(.., word)| word);
                let word = word.filter(|word| !word.is_null() && !word.bytes().is_empty());
                Text {
                    pieces: word.into_iter().collect(),
                    separator: "",
                }
            }
        }
    }

    fn into_string(self) -> String {
        if let [only] = self.pieces.as_slice() {
            return only.to_text().into_owned();
        }
        let pieces: Vec<_> = self.pieces.iter().map(|piece| piece.to_text()).collect();
        pieces.join(self.separator)
    }
}

/// Entries whose text is one word, and the key that holds it.
const WORDS: [(Kind, &str); 6] = [
    (Kind::BranchSummary, "summary"),
    (Kind::Compaction, "summary"),
    (Kind::Label, "label"),
    (Kind::SessionInfo, "name"),
    (Kind::ModelChange, "modelId"),
    (Kind::ThinkingLevelChange, "thinkingLevel"),
];

/// The text of an entry; see [`Text::of`].
pub fn text(entry: Entry<'_>) -> String {
    Text::of(entry).into_string()
}

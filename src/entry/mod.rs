//! One line of a session: what kind of entry it is, and its parts as pi reads them.

mod kind;
pub mod splice;
mod text;

pub use kind::{Kind, Role};
pub use text::{Text, block_text, text};

use crate::json::Raw;

/// An entry's stored line, with total accessors over it.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    raw: Raw<'a>,
}

impl<'a> Entry<'a> {
    /// A view of a line that parsed.
    pub fn new(line: &'a [u8]) -> Self {
        Entry {
            raw: Raw::new(line),
        }
    }

    /// The whole entry.
    pub fn raw(self) -> Raw<'a> {
        self.raw
    }

    /// The value of one of the entry's own keys.
    pub fn get(self, key: &str) -> Option<Raw<'a>> {
        self.raw.get(key)
    }

    /// The kind of entry.
    pub fn kind(self) -> Kind {
        self.raw
            .str("type")
            .map_or(Kind::Other, |t| Kind::of(t.as_bytes()))
    }

    /// The name of the kind as stored, unknown kinds included.
    pub fn type_name(self) -> String {
        self.raw
            .get("type")
            .map_or_else(String::new, |t| t.to_text().into_owned())
    }

    /// The message of a `message` entry, if it is an object.
    pub fn message(self) -> Option<Raw<'a>> {
        let message = self.raw.get("message").filter(|m| m.is_object());
        message.filter(|_| self.kind() == Kind::Message)
    }

    /// The role of a `message` entry as stored; `hookMessage`, its name in version 2, is `custom`.
    pub fn role_name(self) -> Option<String> {
        let role = self.message()?.str("role")?.into_owned();
        Some(if role == "hookMessage" {
            "custom".to_owned()
        } else {
            role
        })
    }

    /// The content of a message or `custom_message`: a string or blocks.
    pub fn content(self) -> Option<Raw<'a>> {
        match self.kind() {
            Kind::Message => self.message()?.get("content"),
            _ => self.raw.get("content"),
        }
    }

    /// The content blocks of one type, such as `toolCall`.
    pub fn blocks(self, kind: &'static str) -> impl Iterator<Item = Raw<'a>> {
        self.content()
            .into_iter()
            .flat_map(Raw::items)
            .filter(move |b| b.str("type").is_some_and(|t| t == kind))
    }
}

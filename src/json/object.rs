//! Writing JSON text from pieces of stored JSON text, without reading it into values.

use super::Raw;

/// A JSON object under construction.
pub(crate) struct Object(String);

impl Object {
    /// An object with its first member.
    pub(crate) fn new(key: &str, value: &str) -> Object {
        let mut object = Object("{".to_owned());
        object.push(key, value);
        object
    }

    /// Appends a member whose value is JSON text. `key` needs no escapes.
    pub(crate) fn push(&mut self, key: &str, value: &str) {
        self.push_quoted(&format!("\"{key}\""), value);
    }

    /// Appends a member with a stored value; one that is missing is left out, as
    /// `JSON.stringify` leaves out what is undefined.
    pub(crate) fn push_stored(&mut self, key: &str, value: Option<Raw<'_>>) {
        if let Some(value) = value {
            self.push(key, &value.to_json());
        }
    }

    fn push_quoted(&mut self, key: &str, value: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(key);
        self.0.push(':');
        self.0.push_str(value);
    }

    /// The finished text.
    pub(crate) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// The stored object with one key set to JSON text, or without it. The key keeps its place; where
/// it was not there it comes last.
pub(crate) fn with_key(object: Raw<'_>, key: &str, value: Option<&str>) -> String {
    let mut out = Object("{".to_owned());
    let mut done = false;
    for (name, stored) in object.members() {
        if !name.is(key) {
            out.push_quoted(&name.quoted(), &stored.to_json());
        } else if !std::mem::replace(&mut done, true)
            && let Some(value) = value
        {
            out.push(key, value);
        }
    }
    if !done && let Some(value) = value {
        out.push(key, value);
    }
    out.finish()
}

/// A JSON string under construction, of own words and stored strings; the latter keep their
/// escapes, lone surrogates among them.
pub(crate) struct Text(String);

impl Text {
    /// A string that begins with own words.
    pub(crate) fn new(words: &str) -> Text {
        let mut text = Text("\"".to_owned());
        text.words(words);
        text
    }

    /// Appends own words.
    pub(crate) fn words(&mut self, words: &str) {
        let quoted = serde_json::to_string(words).unwrap_or_default();
        self.0.push_str(inside(&quoted));
    }

    /// Appends a stored string; another value is appended as it is stored.
    pub(crate) fn stored(&mut self, value: Option<Raw<'_>>) {
        let Some(value) = value else { return };
        if value.is_string() {
            self.0.push_str(inside(&value.to_json()));
        } else {
            self.words(&value.to_text());
        }
    }

    /// The finished string, quotes included.
    pub(crate) fn finish(mut self) -> String {
        self.0.push('"');
        self.0
    }
}

fn inside(quoted: &str) -> &str {
    quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or_default()
}

/// A content of one text block; `text` is a JSON string.
pub(crate) fn text_block(text: &str) -> String {
    format!("[{{\"type\":\"text\",\"text\":{text}}}]")
}

//! JSON as JavaScript reads it, without ever rewriting it.
//!
//! [`scan`] validates; [`Raw`] looks into bytes that were validated, lazily and lossily, so that
//! lone surrogates, bytes that are not UTF-8, numbers of any size, duplicate keys (the last wins)
//! and any depth are read as pi reads them while the stored bytes stay as they are. [`js`] prints
//! a value as `JSON.stringify` would.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

pub(crate) mod cursor;
pub(crate) mod draft;
pub mod js;
pub(crate) mod object;
pub mod pretty;
pub mod read_at;
pub mod scan;

/// One JSON value, as stored. All accessors are total: what is not there is `None` or empty.
///
/// The bytes must have passed [`scan`]; on other bytes the answers make no sense, but nothing
/// panics.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Raw<'a>(&'a [u8]);

impl std::fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&lossy(self.0))
    }
}

impl<'a> Raw<'a> {
    /// A view of validated bytes; surrounding white space is left out.
    pub fn new(bytes: &'a [u8]) -> Self {
        Raw(bytes.trim_ascii())
    }

    /// The stored bytes.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Whether this is `null`.
    pub fn is_null(self) -> bool {
        self.0 == b"null"
    }

    /// Whether this is an object.
    pub fn is_object(self) -> bool {
        self.0.first() == Some(&b'{')
    }

    /// Whether this is an array.
    pub fn is_array(self) -> bool {
        self.0.first() == Some(&b'[')
    }

    /// Whether this is a string.
    pub fn is_string(self) -> bool {
        self.0.first() == Some(&b'"')
    }

    /// Whether this is a number.
    pub fn is_number(self) -> bool {
        matches!(self.0.first(), Some(b'-' | b'0'..=b'9'))
    }

    /// Whether JavaScript takes the value for true.
    pub fn is_truthy(self) -> bool {
        match self.0.first() {
            None | Some(b'n' | b'f') => false,
            Some(b'"') => self.0 != b"\"\"",
            Some(b'-' | b'0'..=b'9') => self.as_f64().is_some_and(|n| n != 0.0),
            Some(_) => true,
        }
    }

    /// The number, if this is one. Too large ones are infinite, as in JavaScript.
    pub fn as_f64(self) -> Option<f64> {
        let text = self.is_number().then_some(self.0)?;
        std::str::from_utf8(text).ok()?.parse().ok()
    }

    /// The boolean, if this is one.
    pub fn as_bool(self) -> Option<bool> {
        match self.0 {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// The text, if this is a string: bytes that are not UTF-8 and lone surrogates become U+FFFD.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let inner = self.inner_string()?;
        if memchr::memchr(b'\\', inner).is_none() {
            return Some(lossy(inner));
        }
        Some(Cow::Owned(lossy(&decode(inner)).into_owned()))
    }

    /// The text if this is a string, else the stored bytes of a number or another value.
    pub fn to_text(self) -> Cow<'a, str> {
        self.as_str().unwrap_or_else(|| lossy(self.0))
    }

    /// The value as an id: the text of a string or a number, for pi's maps take both.
    pub fn as_id(self) -> Option<String> {
        let is_id = self.is_string() || self.as_f64().is_some();
        is_id.then(|| self.to_text().into_owned())
    }

    /// Length in UTF-16 units of the text as JavaScript holds it; 0 for anything but a string.
    pub fn utf16_len(self) -> usize {
        // A lone surrogate is one unit and so is the U+FFFD that stands for it.
        self.as_str().map_or(0, |s| utf16_len(&s))
    }

    /// Length of an array, in elements.
    pub fn len(self) -> usize {
        self.items().count()
    }

    /// Whether an array or object holds nothing (true for any other value, too).
    pub fn is_empty(self) -> bool {
        self.items().next().is_none() && self.members().next().is_none()
    }

    /// The value of a key; the last one where it is repeated.
    pub fn get(self, key: &str) -> Option<Raw<'a>> {
        // Every key is looked at anyway: a later one may repeat it.
        self.members()
            .filter(|(k, _)| k.is(key))
            .last()
            .map(|(_, v)| v)
    }

    /// The text of a key's value, if that is a string.
    pub fn str(self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.as_str()
    }

    /// The members of an object in stored order; none for another value.
    pub fn members(self) -> Members<'a> {
        Members(self.is_object().then(|| &self.0[1..]))
    }

    /// The elements of an array; none for another value.
    pub fn items(self) -> Items<'a> {
        Items(self.is_array().then(|| &self.0[1..]))
    }

    /// The value as JSON text that is valid UTF-8 and holds no line breaks of any kind: bytes that
    /// are not UTF-8 become U+FFFD, U+2028, U+2029 and U+0085 are escaped, the rest is as stored.
    pub fn to_json(self) -> Cow<'a, str> {
        clean(lossy(self.0))
    }

    /// [`Raw::to_json`] as a value that serde can embed.
    pub fn to_raw_value(self) -> Box<RawValue> {
        RawValue::from_string(self.to_json().into_owned()).unwrap_or_default()
    }

    fn inner_string(self) -> Option<&'a [u8]> {
        let inner = self.0.strip_prefix(b"\"")?;
        Some(inner.strip_suffix(b"\"").unwrap_or(inner))
    }
}

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_raw_value().serialize(serializer)
    }
}

/// The key of a member, as stored between its quotes.
#[derive(Debug, Clone, Copy)]
pub struct RawKey<'a>(&'a [u8]);

impl<'a> RawKey<'a> {
    /// Whether the key reads as `name`.
    #[inline]
    pub fn is(self, name: &str) -> bool {
        // An escape is longer than what it stands for.
        if self.0.len() <= name.len() {
            return self.0 == name.as_bytes();
        }
        let may_begin = self.0[0] == b'\\' || name.as_bytes().first() == Some(&self.0[0]);
        may_begin && memchr::memchr(b'\\', self.0).is_some() && decode(self.0) == name.as_bytes()
    }

    /// The key's text.
    pub fn text(self) -> Cow<'a, str> {
        if memchr::memchr(b'\\', self.0).is_none() {
            return lossy(self.0);
        }
        Cow::Owned(lossy(&decode(self.0)).into_owned())
    }

    /// The key with its quotes, as stored.
    pub fn quoted(self) -> String {
        format!("\"{}\"", lossy(self.0))
    }

    /// The key's bytes between the quotes, as stored.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }
}

/// Iterator over the members of an object.
#[derive(Debug, Clone)]
pub struct Members<'a>(Option<&'a [u8]>);

impl<'a> Iterator for Members<'a> {
    type Item = (RawKey<'a>, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = skip_separators(self.0?);
        if rest.first() != Some(&b'"') {
            self.0 = None;
            return None;
        }
        let key_end = string_end(rest);
        let key = &rest[1..key_end.saturating_sub(1).max(1)];
        let rest = skip_separators(&rest[key_end..]);
        let end = value_end(rest);
        self.0 = Some(&rest[end..]);
        Some((RawKey(key), Raw(&rest[..end])))
    }
}

/// Iterator over the elements of an array.
#[derive(Debug, Clone)]
pub struct Items<'a>(Option<&'a [u8]>);

impl<'a> Iterator for Items<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Raw<'a>> {
        let rest = skip_separators(self.0?);
        if matches!(rest.first(), None | Some(b']')) {
            self.0 = None;
            return None;
        }
        let end = value_end(rest);
        self.0 = Some(&rest[end..]);
        Some(Raw(&rest[..end]))
    }
}

fn skip_separators(bytes: &[u8]) -> &[u8] {
    let n = bytes
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':'));
    &bytes[n.count()..]
}

/// Where the string that opens at the first byte ends, its closing quote included.
fn string_end(bytes: &[u8]) -> usize {
    let mut at = 1;
    // Quotes are rarer than escapes, nearly all of which are line ends.
    while let Some(n) = memchr::memchr(b'"', bytes.get(at..).unwrap_or_default()) {
        at += n + 1;
        let before = bytes[1..at - 1].iter().rev();
        if before.take_while(|b| **b == b'\\').count() % 2 == 0 {
            return at;
        }
    }
    bytes.len()
}

/// Where the value that starts at the first byte ends. Brackets are counted, not matched: the
/// bytes were validated.
fn value_end(bytes: &[u8]) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&b) = bytes.get(at) {
        match b {
            b'"' => at += string_end(&bytes[at..]),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            // Part of a bare scalar, which only what follows it can end.
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

/// Whether the bytes are one JSON value, as `JSON.parse` takes it.
pub fn is_valid(bytes: &[u8]) -> bool {
    let mut window = scan::Window::new(&bytes, 0, bytes.len() as u64);
    let (line, end) = window.line(|w| w.members(|w, _| w.skip_value().map(|_| ())));
    !end.newline && !matches!(line, scan::Line::Blank | scan::Line::Bad(_))
}

/// Resolves the escapes of a JSON string's inside. Surrogate pairs are joined, lone surrogates
/// become U+FFFD; other bytes are passed on as they are.
pub(crate) fn decode(inner: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(n) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..n]);
        let Some(&kind) = rest.get(n + 1) else { break };
        rest = &rest[n + 2..];
        match kind {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let mut unit = hex4(rest);
                rest = rest.get(4..).unwrap_or_default();
                if (0xd800..0xdc00).contains(&unit) && rest.starts_with(b"\\u") {
                    let low = hex4(&rest[2..]);
                    if (0xdc00..0xe000).contains(&low) {
                        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                        rest = rest.get(6..).unwrap_or_default();
                    }
                }
                let c = char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            other => out.push(other),
        }
    }
    out.extend_from_slice(rest);
    out
}

fn hex4(bytes: &[u8]) -> u32 {
    bytes
        .get(..4)
        .and_then(|h| std::str::from_utf8(h).ok())
        .and_then(|h| u32::from_str_radix(h, 16).ok())
        .unwrap_or(0xfffd)
}

/// Bytes as text, what is not UTF-8 as U+FFFD. `String::from_utf8_lossy` looks at every byte, but
/// nearly all there is is valid, which `str::from_utf8` finds out many bytes at a time.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Length of a text in UTF-16 units, JavaScript's `length`.
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Escapes the characters that some readers of JSON lines take for line ends. They can only
/// stand inside strings.
fn clean(text: Cow<'_, str>) -> Cow<'_, str> {
    // Their first bytes in UTF-8: most text has neither.
    let first = memchr::memchr2(0xe2, 0xc2, text.as_bytes());
    let may_hold = first.is_some_and(|at| text[at..].contains(['\u{2028}', '\u{2029}', '\u{85}']));
    if !may_hold {
        return text;
    }
    Cow::Owned(
        text.replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029")
            .replace('\u{85}', "\\u0085"),
    )
}

/// A value as one line of JSON, with the line ends of Unicode escaped.
pub fn to_line<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    Ok(clean(Cow::Owned(serde_json::to_string(value)?)).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_whatever_stands_between_them() {
        let raw =
            Raw::new(br#" {"a" : 1 , "b":[1, "x,]" ,{"c":"}"}],"\u0061":{"d":null}, "e":-1.5e3} "#);
        assert_eq!(
            raw.get("a").map(Raw::bytes),
            Some(&br#"{"d":null}"#[..]),
            "the last one wins"
        );
        assert_eq!(raw.get("b").map_or(0, Raw::len), 3);
        let items: Vec<_> = raw.get("b").into_iter().flat_map(Raw::items).collect();
        assert_eq!(items[1].as_str().as_deref(), Some("x,]"));
        assert_eq!(items[2].str("c").as_deref(), Some("}"));
        assert_eq!(raw.get("e").and_then(Raw::as_f64), Some(-1500.0));
        assert!(raw.get("f").is_none());
        assert!(Raw::new(b"{}").is_empty() && Raw::new(b"[ ]").is_empty());
    }

    #[test]
    fn text_is_what_javascript_holds() {
        for (json, text, units) in [
            (
                &br#""a\"\\\/\b\f\n\r\tz""#[..],
                "a\"\\/\u{8}\u{c}\n\r\tz",
                10,
            ),
            (br#""\ud83d\ude00""#, "😀", 2),
            (br#""bad \ud83d end""#, "bad \u{fffd} end", 9),
            (br#""\ude00\ud83d""#, "\u{fffd}\u{fffd}", 2),
            (b"\"\xff\xfe\x80\"", "\u{fffd}\u{fffd}\u{fffd}", 3),
        ] {
            let raw = Raw::new(json);
            assert_eq!(raw.as_str().as_deref(), Some(text));
            assert_eq!(raw.utf16_len(), units);
        }
    }

    #[test]
    fn output_is_one_line_of_utf8() {
        let raw = Raw::new("{\"a\":\"\u{2028}\u{85}\",\"n\":1e400,\"s\":\"\\ud83d\"}".as_bytes());
        assert_eq!(
            raw.to_json(),
            r#"{"a":"\u2028\u0085","n":1e400,"s":"\ud83d"}"#
        );
        assert_eq!(Raw::new(b"\"\xff\"").to_json(), "\"\u{fffd}\"");
    }

    #[test]
    fn truthiness_is_javascripts() {
        for (json, wanted) in [
            ("null", false),
            ("false", false),
            ("0", false),
            ("-0.0", false),
            ("\"\"", false),
            ("1e400", true),
            ("\"0\"", true),
            ("[]", true),
            ("{}", true),
        ] {
            assert_eq!(Raw::new(json.as_bytes()).is_truthy(), wanted, "{json}");
        }
    }

    #[test]
    fn bytes_that_were_not_validated_do_no_harm() {
        for junk in [
            "", "{", "{\"", "{\"a", "{\"a\":", "[", "[\"\\", "\"\\u12", "{]}", "}{",
        ] {
            let raw = Raw::new(junk.as_bytes());
            let _ = (
                raw.get("a"),
                raw.len(),
                raw.as_str(),
                raw.to_json(),
                raw.is_empty(),
            );
        }
    }
}

//! Going through a value once, from left to right: what [`Raw::get`] looks for key by key is met
//! in passing, so that a long value is looked at once.

use super::{Raw, RawKey, skip_separators, string_end, value_end};

/// What is left of a validated value.
pub(crate) struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    /// A cursor before a value.
    pub(crate) fn new(value: Raw<'a>) -> Cursor<'a> {
        Cursor(value.bytes())
    }

    /// Takes the value at hand.
    pub(crate) fn value(&mut self) -> Raw<'a> {
        self.0 = skip_separators(self.0);
        let (value, rest) = self.0.split_at(value_end(self.0));
        self.0 = rest;
        Raw(value)
    }

    /// Whether a string is at hand.
    pub(crate) fn is_string(&self) -> bool {
        skip_separators(self.0).first() == Some(&b'"')
    }

    /// Goes through the members of the object at hand; anything else is passed over. What `visit`
    /// does not take is passed over, too. False where it is no object.
    pub(crate) fn members(&mut self, mut visit: impl FnMut(RawKey<'a>, &mut Cursor<'a>)) -> bool {
        self.inside(b'{', |cursor| {
            if cursor.0.first() != Some(&b'"') {
                return false;
            }
            let end = string_end(cursor.0);
            let key = RawKey(&cursor.0[1..end.saturating_sub(1).max(1)]);
            cursor.0 = &cursor.0[end..];
            cursor.visit(|cursor| visit(key, cursor));
            true
        })
    }

    /// Goes through the elements of the array at hand; see [`Cursor::members`].
    pub(crate) fn items(&mut self, mut visit: impl FnMut(&mut Cursor<'a>)) -> bool {
        self.inside(b'[', |cursor| {
            cursor.visit(&mut visit);
            true
        })
    }

    fn inside(&mut self, open: u8, mut step: impl FnMut(&mut Self) -> bool) -> bool {
        self.0 = skip_separators(self.0);
        if self.0.first() != Some(&open) {
            self.value();
            return false;
        }
        self.0 = &self.0[1..];
        loop {
            self.0 = skip_separators(self.0);
            if matches!(self.0.first(), Some(b'}' | b']')) {
                break;
            }
            if self.0.is_empty() || !step(self) {
                // Bytes that were not validated.
                return true;
            }
        }
        self.0 = &self.0[1..];
        true
    }

    fn visit(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = self.0.len();
        visit(self);
        if self.0.len() == before && self.value().bytes().is_empty() {
            // Nothing is there to be passed: bytes that were not validated.
            self.0 = &[];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_walked_once() {
        let json = br#" {"a" : [1, {"t":"x]"}, "y"] , "b":{"c":null},"d":"e" , "f":[] } "#;
        let mut met = Vec::new();
        let is_object = Cursor::new(Raw::new(json)).members(|key, cursor| match &*key.text() {
            "a" => {
                cursor.items(|cursor| {
                    if cursor.is_string() {
                        met.push(cursor.value());
                    } else {
                        cursor.members(|_, cursor| met.push(cursor.value()));
                    }
                });
            }
            "d" => met.push(cursor.value()),
            // Not taken: passed over.
            _ => {}
        });
        assert!(is_object);
        let met: Vec<_> = met.iter().map(|raw| raw.to_text().into_owned()).collect();
        assert_eq!(met, ["x]", "y", "e"]);
        assert!(!Cursor::new(Raw::new(b"[1]")).members(|_, _| ()));
    }

    #[test]
    fn bytes_that_were_not_validated_do_no_harm() {
        for junk in [
            "",
            "{",
            "{\"",
            "{\"a",
            "{\"a\":",
            "{\"a\":}",
            "[",
            "[}",
            "{]",
            "{1",
            "[[[",
            "{\"a\"\"b\"",
        ] {
            let mut cursor = Cursor::new(Raw::new(junk.as_bytes()));
            cursor.members(|_, cursor| {
                cursor.items(|_| ());
            });
            cursor.items(|_| ());
        }
    }
}

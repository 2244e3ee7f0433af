//! A stored object on its way to a new one: its members are read once, some are set, the rest keep
//! their spelling.

use std::borrow::Cow;

use super::{Raw, RawKey};

/// An object that is being filled in.
pub(crate) struct Draft<'a> {
    stored: Raw<'a>,
    members: Vec<(RawKey<'a>, Raw<'a>)>,
    set: Vec<(&'static str, Cow<'static, str>)>,
}

impl<'a> Draft<'a> {
    /// The members of a stored object.
    pub(crate) fn new(object: Raw<'a>) -> Draft<'a> {
        // More than the usual object holds.
        let mut members = Vec::with_capacity(16);
        members.extend(object.members());
        Draft {
            stored: object,
            members,
            set: Vec::new(),
        }
    }

    /// The stored value of a key; the last one where it is repeated. What was set does not show.
    pub(crate) fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.members
            .iter()
            .rev()
            .find(|(name, _)| name.is(key))
            .map(|(_, value)| *value)
    }

    /// The stored text of a key, if that is a string.
    pub(crate) fn str(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.as_str()
    }

    /// Whether a key is not there, or null.
    pub(crate) fn lacks(&self, key: &str) -> bool {
        self.get(key).is_none_or(Raw::is_null)
    }

    /// Sets a key to JSON text. It keeps its place, or comes last.
    pub(crate) fn set(&mut self, key: &'static str, value: impl Into<Cow<'static, str>>) {
        self.set.push((key, value.into()));
    }

    /// Sets a key to JSON text where it is not there, or null.
    pub(crate) fn fill(&mut self, key: &'static str, value: impl Into<Cow<'static, str>>) {
        if self.lacks(key) {
            self.set(key, value);
        }
    }

    /// The JSON text of a key as it will be.
    pub(crate) fn json(&self, key: &str) -> Option<Cow<'a, str>> {
        match self.set.iter().rev().find(|(name, _)| *name == key) {
            Some((_, value)) => Some(value.clone()),
            None => self.get(key).map(Raw::to_json),
        }
    }

    /// Appends the object's JSON text.
    pub(crate) fn write(&self, out: &mut String) {
        let keeps = |(name, _): &(RawKey<'_>, _)| !self.set.iter().any(|(key, _)| name.is(key));
        if !self.members.is_empty() && self.members.iter().all(keeps) {
            let stored = self.stored.to_json();
            out.push_str(stored.strip_suffix('}').unwrap_or(&stored));
            for (key, value) in &self.set {
                out.push_str(",\"");
                out.push_str(key);
                out.push_str("\":");
                out.push_str(value);
            }
            out.push('}');
            return;
        }
        let mut done = 0u64;
        let mut first = true;
        out.push('{');
        let mut begin = |out: &mut String, key: &str| {
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            out.push('"');
            out.push_str(key);
            out.push_str("\":");
        };
        for (name, value) in &self.members {
            match self.set.iter().position(|(key, _)| name.is(key)) {
                None => {
                    begin(out, &super::lossy(name.bytes()));
                    out.push_str(&value.to_json());
                }
                // A repeated key is written once.
                Some(n) if done & (1 << n) != 0 => {}
                Some(n) => {
                    done |= 1 << n;
                    begin(out, self.set[n].0);
                    out.push_str(&self.set[n].1);
                }
            }
        }
        for (n, (key, value)) in self.set.iter().enumerate() {
            if done & (1 << n) == 0 {
                begin(out, key);
                out.push_str(value);
            }
        }
        out.push('}');
    }

    /// The object's JSON text.
    pub(crate) fn finish(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_set_keeps_its_spelling() {
        let mut draft = Draft::new(Raw::new(
            br#"{"a":1.0, "b" : "\ud83d","\u0061":2,"c":null}"#,
        ));
        assert_eq!(draft.get("a").map(Raw::bytes), Some(&b"2"[..]));
        draft.set("b", "[]");
        draft.fill("a", "9");
        draft.fill("c", "3");
        draft.fill("d", "4");
        assert_eq!(draft.json("c").as_deref(), Some("3"));
        assert_eq!(draft.finish(), r#"{"a":1.0,"b":[],"\u0061":2,"c":3,"d":4}"#);
        draft.set("a", "7");
        assert_eq!(draft.finish(), r#"{"a":7,"b":[],"c":3,"d":4}"#);
    }
}

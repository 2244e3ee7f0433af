//! Searching the text of entries, line by line.

use memchr::memmem;
use regex::{Regex, RegexBuilder};

use crate::entry::{self, Entry, Text};
use crate::json::{Raw, js};

/// How a pattern is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// It is a string, not a regular expression.
    pub fixed: bool,
    /// Upper and lower case are the same.
    pub ignore_case: bool,
    /// It matches whole words only.
    pub word: bool,
}

/// What is looked for.
#[derive(Debug)]
pub struct Query {
    regex: Regex,
    literal: Option<Literal>,
    tool: Option<String>,
}

/// A pattern that is a plain string, in upper and lower case as it is.
#[derive(Debug)]
struct Literal {
    /// As JSON spells it. A stored line without it holds no match, unless escapes in it stand for
    /// characters that need none.
    stored: memmem::Finder<'static>,
    decoded: memmem::Finder<'static>,
    has_slash: bool,
    /// Whether it must be a whole word.
    word: bool,
}

impl Literal {
    /// `None` for what JSON has several spellings of, and what stands for bytes that are no text.
    fn new(pattern: &str, word: bool) -> Option<Literal> {
        if pattern.is_empty() || pattern.contains(|c: char| c.is_control() || c == '\u{fffd}') {
            return None;
        }
        let stored = pattern.replace('\\', "\\\\").replace('"', "\\\"");
        Some(Literal {
            stored: memmem::Finder::new(&stored).into_owned(),
            decoded: memmem::Finder::new(pattern).into_owned(),
            has_slash: pattern.contains('/'),
            word,
        })
    }

    fn may_be_in(&self, line: &[u8]) -> bool {
        self.stored.find(line).is_some() || self.is_spelt_otherwise(line)
    }

    /// Whether it may stand there in another spelling.
    fn is_spelt_otherwise(&self, stored: &[u8]) -> bool {
        // Terminal output is full of escapes for control characters, which a pattern has none of.
        let is_control = |at: usize| matches!(stored.get(at + 2..at + 5), Some(b"000" | b"001"));
        memmem::find_iter(stored, b"\\u").any(|at| !is_control(at))
            || (self.has_slash && memmem::find(stored, b"\\/").is_some())
    }

    /// How many lines of a stored string it is in.
    fn count(&self, string: Raw<'_>) -> usize {
        if self.is_spelt_otherwise(string.bytes()) {
            let text = string.to_text();
            let lines = text.as_bytes().split(|b| *b == b'\n');
            return lines
                .filter(|line| self.decoded.find(line).is_some())
                .count();
        }
        // Without decoding: a match does not begin inside of an escape, and a line ends at one.
        let line_end = memmem::Finder::new(b"\\n");
        let (mut count, mut rest) = (0, string.bytes());
        while let Some(at) = find_unescaped(&self.stored, rest) {
            count += 1;
            let Some(end) = find_unescaped(&line_end, &rest[at..]) else {
                break;
            };
            rest = &rest[at + end + 2..];
        }
        count
    }
}

/// Where something stands in the inside of a JSON string, not counting what begins inside of an
/// escape. The bytes must begin with a whole character.
fn find_unescaped(finder: &memmem::Finder<'_>, bytes: &[u8]) -> Option<usize> {
    // Whether the character at a place is the second one of an escape.
    let is_escaped = |at: usize| {
        let before = bytes[..at].iter().rev();
        before.take_while(|b| **b == b'\\').count() % 2 == 1
    };
    let is_digit = |at: usize| {
        let mut back = (1..=4).filter_map(|n| at.checked_sub(n));
        back.any(|u| bytes[u] == b'u' && is_escaped(u))
    };
    let mut from = 0;
    loop {
        let at = from + finder.find(&bytes[from..])?;
        if !is_escaped(at) && !is_digit(at) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// A line of an entry's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its number in the text, from 1.
    pub number: usize,
    /// The line.
    pub text: String,
    /// Where the pattern matches, in bytes; nowhere in a line that only surrounds a match.
    pub matches: Vec<(usize, usize)>,
}

impl Query {
    /// Reads a pattern. With `tool`, the calls and results of that tool are searched, and nothing
    /// else.
    pub fn new(
        pattern: &str,
        options: Options,
        tool: Option<String>,
    ) -> Result<Query, regex::Error> {
        let is_literal = options.fixed || regex::escape(pattern) == pattern;
        let mut source = if options.fixed {
            regex::escape(pattern)
        } else {
            pattern.to_owned()
        };
        if options.word {
            source = format!(r"\b(?:{source})\b");
        }
        let regex = RegexBuilder::new(&source)
            .case_insensitive(options.ignore_case)
            .build()?;
        let literal =
            (is_literal && !options.ignore_case).then(|| Literal::new(pattern, options.word));
        Ok(Query {
            regex,
            literal: literal.flatten(),
            tool,
        })
    }

    /// Whether an entry's stored line may hold a match, told without decoding it.
    fn may_match(&self, line: &[u8]) -> bool {
        self.literal
            .as_ref()
            .is_none_or(|literal| literal.may_be_in(line))
    }

    /// How many lines of an entry's text match.
    pub fn count(&self, line: &[u8]) -> usize {
        if !self.may_match(line) {
            return 0;
        }
        let literal = self.literal.as_ref().filter(|_| self.tool.is_none());
        if let Some(literal) = literal.filter(|literal| !literal.word) {
            let text = Text::of(Entry::new(line));
            // Pieces that are joined with nothing may share a line, and a match.
            if text.pieces.len() < 2 || text.separator == "\n" {
                return text.pieces.iter().map(|piece| literal.count(*piece)).sum();
            }
        }
        self.text(line)
            .lines()
            .filter(|line| self.regex.is_match(line))
            .count()
    }

    /// The lines of an entry's text that match, each with so many lines before and behind it.
    pub fn search(&self, line: &[u8], around: usize) -> Vec<Found> {
        if !self.may_match(line) {
            return Vec::new();
        }
        let text = self.text(line);
        let lines: Vec<_> = text.lines().collect();
        let mut found: Vec<Found> = Vec::new();
        // The first line that was not given out yet.
        let mut next = 0;
        for (n, line) in lines.iter().enumerate() {
            let matches: Vec<_> = self
                .regex
                .find_iter(line)
                .map(|m| (m.start(), m.end()))
                .collect();
            if matches.is_empty() {
                continue;
            }
            let to = (n + around + 1).min(lines.len());
            let from = n.saturating_sub(around).max(next);
            for (number, text) in (1..).zip(&lines[..to]).skip(from) {
                found.push(Found {
                    number,
                    text: (*text).to_owned(),
                    matches: Vec::new(),
                });
            }
            next = next.max(to);
            if let Some(held) = found.iter_mut().rev().find(|held| held.number == n + 1) {
                held.matches = matches;
            }
        }
        found
    }

    /// What is searched of an entry.
    fn text(&self, line: &[u8]) -> String {
        let entry = Entry::new(line);
        let Some(tool) = &self.tool else {
            return entry::text(entry);
        };
        let message = entry.message().unwrap_or_default();
        if message.str("toolName").is_some_and(|name| name == *tool) {
            return entry::text(entry);
        }
        let calls = entry
            .blocks("toolCall")
            .filter(|call| call.str("name").is_some_and(|name| name == *tool));
        let arguments = calls.flat_map(|call| call.get("arguments").unwrap_or_default().members());
        let value = |value: Raw<'_>| {
            value
                .as_str()
                .map_or_else(|| js::stringify(value), std::borrow::Cow::into_owned)
        };
        let lines: Vec<_> = arguments
            .map(|(key, v)| format!("{}: {}", key.text(), value(v)))
            .collect();
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Vec<u8> {
        format!(r#"{{"type":"message","message":{{"role":"user","content":"{text}"}}}}"#)
            .into_bytes()
    }

    fn lines(
        pattern: &str,
        options: Options,
        text: &str,
        around: usize,
    ) -> Vec<(usize, Vec<(usize, usize)>)> {
        let query = Query::new(pattern, options, None).unwrap();
        let line = entry(text);
        let found = query.search(&line, around);
        let hits = found
            .iter()
            .filter(|found| !found.matches.is_empty())
            .count();
        assert_eq!(query.count(&line), hits);
        found
            .into_iter()
            .map(|found| (found.number, found.matches))
            .collect()
    }

    #[test]
    fn lines_that_match_are_found() {
        let plain = Options::default();
        let text = r"a cat\nno\ncat cat\r\nend";
        assert_eq!(
            lines("cat", plain, text, 0),
            [(1, vec![(2, 5)]), (3, vec![(0, 3), (4, 7)])]
        );
        assert_eq!(lines("^c.t", plain, text, 0), [(3, vec![(0, 3)])]);
        let around = [
            (1, vec![(2, 5)]),
            (2, vec![]),
            (3, vec![(0, 3), (4, 7)]),
            (4, vec![]),
        ];
        assert_eq!(lines("cat", plain, text, 1), around);
        let with = |fixed, ignore_case, word| Options {
            fixed,
            ignore_case,
            word,
        };
        assert_eq!(lines("c.t", with(true, false, false), text, 0), []);
        assert_eq!(lines("CAT", with(false, true, false), text, 0).len(), 2);
        assert_eq!(lines("ca", with(false, false, true), text, 0), []);
    }

    #[test]
    fn what_is_escaped_is_found_all_the_same() {
        let fixed = Options {
            fixed: true,
            ..Options::default()
        };
        for (pattern, text) in [
            ("cat", r"\u0063at"),
            ("a/b", r"a\/b"),
            ("say \"x\"", r#"say \"x\""#),
            ("日本", r"\u65e5本"),
            ("a\\b", r"a\\b"),
            ("red", r"\u001b[31mred\u001b[0m"),
            ("1b", r"\\u001b \u001b"),
            ("nn", r"\nnn"),
        ] {
            assert_eq!(
                lines(pattern, fixed, text, 0).len(),
                1,
                "{pattern} in {text}"
            );
        }
        // What an escape is spelt with is no text.
        for (pattern, text) in [
            ("001b", r"\u001b"),
            ("1b", r"x\u001b1"),
            ("nx", r"\nx"),
            ("n", r"\n"),
        ] {
            assert_eq!(lines(pattern, fixed, text, 0), [], "{pattern} in {text}");
        }
    }
}

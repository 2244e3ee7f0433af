//! What is searched for among sessions, in pi's syntax.

use regex::{Regex, RegexBuilder};

use crate::error::{Error, Result};

/// A search, read.
#[derive(Debug, Clone)]
pub enum Query {
    /// `re:PATTERN`: matches whatever the case.
    Regex(Regex),
    /// All of these have to match.
    Tokens(Vec<Token>),
}

/// A word, or a phrase in double quotes; in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// Occurs anywhere, or its letters are scattered over name or directory.
    Word(String),
    /// Occurs anywhere, white space folded.
    Phrase(String),
}

/// Where is searched.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    /// The name, or nothing.
    pub name: &'a str,
    /// The id.
    pub id: &'a str,
    /// The directory, or nothing.
    pub cwd: &'a str,
    /// What user and model said.
    pub text: &'a str,
}

impl Query {
    /// Reads a search. Where a quote is not closed, quotes are letters.
    pub fn parse(text: &str) -> Result<Query> {
        let text = text.trim();
        if let Some(pattern) = text.strip_prefix("re:") {
            return regex(pattern.trim());
        }
        if text.matches('"').count() % 2 == 1 {
            let words = text
                .split_whitespace()
                .map(|w| Token::Word(w.to_lowercase()));
            return Ok(Query::Tokens(words.collect()));
        }
        let mut tokens = Vec::new();
        for (nth, part) in text.split('"').enumerate() {
            if nth % 2 == 0 {
                let words = part.split_whitespace();
                tokens.extend(words.map(|w| Token::Word(w.to_lowercase())));
            } else if !part.trim().is_empty() {
                tokens.push(Token::Phrase(folded(part)));
            }
        }
        Ok(Query::Tokens(tokens))
    }

    /// Whether a session is what is searched for.
    pub fn matches(&self, fields: &Fields<'_>) -> bool {
        let all = [fields.name, fields.id, fields.cwd, fields.text];
        let tokens = match self {
            Query::Regex(regex) => return all.iter().any(|field| regex.is_match(field)),
            Query::Tokens(tokens) => tokens,
        };
        let has_phrases = tokens.iter().any(|t| matches!(t, Token::Phrase(_)));
        let lower = all.map(str::to_lowercase);
        let folded = all.map(|field| {
            if has_phrases {
                folded(field)
            } else {
                String::new()
            }
        });
        let [name, _, cwd, _] = &lower;
        tokens.iter().all(|token| match token {
            Token::Phrase(phrase) => folded.iter().any(|field| field.contains(phrase)),
            Token::Word(word) => {
                lower.iter().any(|field| field.contains(word))
                    || is_scattered(word, name)
                    || is_scattered(word, cwd)
            }
        })
    }
}

fn regex(pattern: &str) -> Result<Query> {
    let usage = |message: String| Error::Usage {
        message,
        hint: Some("write 're:' and a regular expression, such as re:fix(ed)?".into()),
    };
    if pattern.is_empty() {
        return Err(usage("the regular expression behind 're:' is empty".into()));
    }
    let built = RegexBuilder::new(pattern).case_insensitive(true).build();
    built
        .map(Query::Regex)
        .map_err(|e| usage(format!("'{pattern}' is no regular expression: {e}")))
}

/// In lower case, white space folded to single spaces.
fn folded(text: &str) -> String {
    let lower = text.to_lowercase();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the letters of a word occur in their order. Of letters and digits, such as `v2`, either
/// part may come first.
fn is_scattered(word: &str, text: &str) -> bool {
    let occurs = |word: &str| {
        let mut rest = text.chars();
        word.chars().all(|c| rest.any(|other| other == c))
    };
    occurs(word) || swapped(word).is_some_and(|word| occurs(&word))
}

/// `2v` for `v2`, and the other way round.
fn swapped(word: &str) -> Option<String> {
    let is_digit = word.starts_with(|c: char| c.is_ascii_digit());
    let at = word.find(|c: char| c.is_ascii_digit() != is_digit)?;
    let (first, second) = word.split_at(at);
    let letters = |part: &str| part.bytes().all(|b| b.is_ascii_lowercase());
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let fits = (letters(first) && digits(second)) || (digits(first) && letters(second));
    fits.then(|| format!("{second}{first}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str) -> bool {
        Query::parse(query).unwrap().matches(&Fields {
            name: "Auth  rewrite",
            id: "01976a7c-1111",
            cwd: "/home/dev/project2",
            text: "Move the\nparser to Ünits \"now",
        })
    }

    #[test]
    fn words_phrases_and_expressions_match_as_in_pi() {
        for (query, wanted) in [
            ("", true),
            ("PARSER auth", true),
            ("parser nowhere", false),
            ("\"the parser\"", true),
            ("\"the  PARSER\" 1976", true),
            ("\"auth rewrite\"", true),
            ("\"parser the\"", false),
            ("\"\"", true),
            ("\"now", true),
            ("\"the parser", false),
            ("atrw", true),
            ("mvprsr", false),
            ("2pj", true),
            ("project2", true),
            ("2project", true),
            ("ünits", true),
            ("re:p.rser", true),
            ("re: PARSER$", false),
            ("re:^move", true),
        ] {
            assert_eq!(found(query), wanted, "{query}");
        }
        for bad in ["re:", "re: ", "re:(", "re:(?<=x)y"] {
            assert_eq!(Query::parse(bad).unwrap_err().kind(), "usage", "{bad}");
        }
    }
}

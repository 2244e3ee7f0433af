//! The spelling of revisions: text to values, values to text.
//!
//! This room knows the grammar of `pisrevisions(7)` and nothing else. It must not look at a
//! session, a file or the environment, and must not judge whether a name, a kind or a regex means
//! anything: that is the resolver's work. It never panics and never recurses, whatever the input.
//!
//! Printing a value that parsing made gives text that parses to the same value. Values made by
//! hand print that way too, as long as they keep to what the grammar can say; each type states it.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// What a command line argument names: one place, or a range between two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spec {
    /// One revision.
    Rev(Rev),
    /// `A..B` or `A...B`.
    Range(Range),
}

/// `[S:][A]..[B]` or `[S:][A]...[B]`.
///
/// At least one side is given. The sides carry no session of their own, and the left one is not a
/// [`Place::Search`], whose regex would swallow the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The session both sides are in; `None` is the current one.
    pub session: Option<String>,
    /// The left side; `None` is the leaf.
    pub left: Option<Rev>,
    /// The right side; `None` is the leaf.
    pub right: Option<Rev>,
    /// Whether it was written with three dots.
    pub symmetric: bool,
}

/// A place and the steps from there. A [`Place::Search`] runs to the end, so it has no suffixes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rev {
    /// The session it is in; `None` is the current one.
    pub session: Option<String>,
    /// Where to start.
    pub place: Place,
    /// The steps, in the order in which they are taken.
    pub suffixes: Vec<Suffix>,
}

/// Where a revision starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `@` or `HEAD`: the leaf. Printed as `@`.
    Leaf,
    /// `root`: before the first entry.
    Root,
    /// An id, a label, or the beginning of an id.
    Word(String),
    /// `id:NAME`.
    Id(String),
    /// `label:NAME`.
    Label(String),
    /// `:/REGEX`, to the end of the text; not empty.
    Search(String),
    /// `@{N}`: the leaf N moves ago.
    Moves(u32),
    /// `@{-N}`: where the N-th last checkout started; N is at least 1.
    Checkout(u32),
    /// `@{tip}` alone.
    Tip,
}

/// One step from a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suffix {
    /// `~N`. `^` and `~` are `~1`, and print as that: shells leave it alone more often.
    Ancestor(u32),
    /// `%N`; N is at least 1, `%` is `%1`.
    Prompt(u32),
    /// `^{KIND}`: not empty, without braces and backslashes, not beginning with a slash.
    Kind(String),
    /// `^{}`.
    Peel,
    /// `^{/REGEX}`: not empty. The text goes to the regex engine as it stands, so a brace that is
    /// not one of a pair needs a backslash, which the engine reads as a plain brace, too: `a{2}`,
    /// `\p{L}` and `[\}]` are fine, `[}]` is not. A backslash at the very end cannot be written.
    Search(String),
    /// `+`.
    Child,
    /// `@{tip}`.
    Tip,
}

/// A text that is not a revision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What is wrong, with the whole text in it.
    pub message: String,
    /// What to write instead, where there is a likely answer.
    pub hint: Option<String>,
    /// The byte at which the trouble begins.
    pub position: usize,
}

impl Spec {
    /// Reads one argument, a revision or a range.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let mut parser = Parser { text, at: 0 };
        let session = parser.session()?;
        let mut left = None;
        if !parser.rest().starts_with("..") {
            let rev = parser.steps()?;
            if parser.rest().is_empty() {
                return Ok(Self::Rev(Rev { session, ..rev }));
            }
            left = Some(rev);
        }
        // The longer operator first, or `...` would be `..` and a dot.
        let symmetric = parser.eat("...");
        if !symmetric && !parser.eat("..") {
            return parser.unexpected();
        }
        let range = Range {
            session,
            left,
            right: None,
            symmetric,
        };
        parser.right_side(range).map(Self::Range)
    }
}

impl Rev {
    /// Reads one argument that must be a single revision.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        match Spec::parse(text)? {
            Spec::Rev(rev) => Ok(rev),
            Spec::Range(_) => Err(SyntaxError {
                message: format!("'{text}' is a range, but one revision is needed"),
                hint: Some("quote a name that holds '..'".to_owned()),
                position: 0,
            }),
        }
    }
}

/// The name as a revision that reads as [`Place::Word`] of that name, wherever it stands in one.
///
/// Beyond what the grammar takes for something else, names with a dot at either end are quoted,
/// because a range operator may follow, and names with characters that a terminal would not show.
pub fn quote_name(name: &str) -> Cow<'_, str> {
    if name == "HEAD" || name == "root" {
        quoted(name).into()
    } else if !name.is_empty()
        && name
            .bytes()
            .fold(true, |ok, b| ok & b.is_ascii_alphanumeric())
    {
        // Almost every id there is. Without a branch, many bytes are looked at at once.
        name.into()
    } else {
        bare_or_quoted(name)
    }
}

fn bare_or_quoted(name: &str) -> Cow<'_, str> {
    let whole = !name.is_empty() && word(name).len() == name.len();
    if whole && !name.starts_with('.') && !name.ends_with('.') && !name.contains(hidden) {
        name.into()
    } else {
        quoted(name).into()
    }
}

fn quote_session(name: &str) -> Cow<'_, str> {
    let spelt = format!("{name}:");
    if has_place_prefix(&spelt) {
        return quoted(name).into();
    }
    let path = bare_path(&spelt) == Some(name);
    // Read back, a leading dash would do no harm, but the shell would hand over an option.
    if path && !name.starts_with('-') && !name.contains(hidden) {
        name.into()
    } else {
        bare_or_quoted(name)
    }
}

fn quoted(name: &str) -> String {
    let mut out = String::from('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if hidden(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Characters that a terminal acts on or does not show.
fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{e0001}'..='\u{e007f}')
}

/// The longest word at the beginning of the text, possibly none.
fn word(text: &str) -> &str {
    let ends = |(at, c): &(usize, char)| match c {
        '~' | '^' | '%' | '+' | ':' | '{' | '}' | '"' => true,
        '-' | '@' if *at == 0 => true,
        '.' => text[at + 1..].starts_with('.'),
        '@' => text[at + 1..].starts_with('{'),
        c => c.is_whitespace(),
    };
    let end = text
        .char_indices()
        .find(ends)
        .map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// A path of a session before a colon, at the beginning of the text.
///
/// It may hold anything, so it is looked for before all else, and what can only be a quoted name,
/// a suffix in braces or a search on the way to `.jsonl:` says that it is none.
fn bare_path(text: &str) -> Option<&str> {
    let path = &text[..text.find(".jsonl:")? + ".jsonl".len()];
    let no_path =
        path.starts_with(":/") || ["\"", "^{", "::/", "..:/"].iter().any(|m| path.contains(m));
    if no_path { None } else { Some(path) }
}

fn has_place_prefix(text: &str) -> bool {
    text.starts_with("id:") || text.starts_with("label:")
}

/// The text and how far it has been read; `at` is always on a character boundary.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

type Parsed<T> = Result<T, SyntaxError>;

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take(&mut self, len: usize) -> &'a str {
        let taken = &self.text[self.at..self.at + len];
        self.at += len;
        taken
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// The error for what begins at `position`; an empty hint is none.
    fn fail<T>(&self, position: usize, what: &str, hint: &str) -> Parsed<T> {
        let message = format!("bad revision '{}': {what}", self.text);
        let hint = Some(hint.to_owned()).filter(|hint| !hint.is_empty());
        Err(SyntaxError {
            message,
            hint,
            position,
        })
    }

    /// The error for a character that cannot stand where the parser is.
    fn unexpected<T>(&self) -> Parsed<T> {
        let before = &self.text[..self.at];
        let Some(c) = self.rest().chars().next() else {
            let (what, hint) = match before {
                "" => ("it is empty".to_owned(), "'@' is the leaf"),
                _ => (
                    format!("nothing follows '{before}'"),
                    "write a name or a revision there",
                ),
            };
            return self.fail(self.at, &what, hint);
        };
        let starts = before.is_empty() || before.ends_with(':') || before.ends_with("..");
        let hint = match c {
            '~' | '^' | '%' | '+' if starts => format!("'@{c}' starts from the leaf"),
            ':' if starts => "':/REGEX' searches".to_owned(),
            ':' => "one session may stand in front, as in 'SESSION:REVISION'".to_owned(),
            _ if before.ends_with('@') => "quote a name that begins with '@'".to_owned(),
            c if starts => format!("quote a name that begins with '{c}'"),
            c => format!("quote a name that holds '{c}'"),
        };
        self.fail(self.at, &format!("unexpected '{c}'"), &hint)
    }

    /// `[session ":"]`
    fn session(&mut self) -> Parsed<Option<String>> {
        let start = self.at;
        if has_place_prefix(self.rest()) {
            return Ok(None);
        }
        let name = match bare_path(self.rest()) {
            Some(path) => Some(self.take(path.len()).to_owned()),
            None => self.name()?,
        };
        if name.is_some() && self.eat(":") {
            return Ok(name);
        }
        self.at = start;
        Ok(None)
    }

    /// `place { suffix }`, the session left open.
    fn steps(&mut self) -> Parsed<Rev> {
        let mut rev = Rev {
            session: None,
            place: self.place()?,
            suffixes: Vec::new(),
        };
        while let Some(suffix) = self.suffix()? {
            rev.suffixes.push(suffix);
        }
        Ok(rev)
    }

    /// What follows the dots of `range`, which has its session and left side.
    fn right_side(&mut self, mut range: Range) -> Parsed<Range> {
        let start = self.at;
        if self.rest().starts_with('.') {
            return self.fail(start, "a range has two or three dots", "");
        }
        let mut session = None;
        if !self.rest().is_empty() {
            session = self.session()?;
            range.right = Some(self.steps()?);
        } else if range.left.is_none() {
            let hint = "a missing side is the leaf: 'A..' or '..B'";
            return self.fail(0, "a range needs at least one side", hint);
        }
        if self.rest().starts_with("..") {
            return self.fail(self.at, "a range has two sides", "");
        }
        if !self.rest().is_empty() {
            return self.unexpected();
        }
        if session.is_some() && session != range.session {
            range.session = range.session.or(session);
            let hint = format!("for both sides, write '{range}'");
            return self.fail(start, "its right side is in a session of its own", &hint);
        }
        Ok(range)
    }

    fn place(&mut self) -> Parsed<Place> {
        if self.eat(":/") {
            return match self.take(self.rest().len()) {
                "" => self.fail(self.at, "the search is empty", ""),
                regex => Ok(Place::Search(regex.to_owned())),
            };
        }
        if self.rest().starts_with("@{") {
            return self.at_braces();
        }
        if self.eat("@") {
            return Ok(Place::Leaf);
        }
        let operator = match word(self.rest()) {
            "HEAD" => Some(Place::Leaf),
            "root" => Some(Place::Root),
            _ => None,
        };
        let make = if self.eat("id:") {
            Place::Id
        } else if self.eat("label:") {
            Place::Label
        } else {
            Place::Word
        };
        // Read in any case, to get past it; what it says matters only if it is no operator.
        match self.name()? {
            Some(name) => Ok(operator.unwrap_or_else(|| make(name))),
            None => self.unexpected(),
        }
    }

    /// `@{N}`, `@{-N}` and `@{tip}`.
    fn at_braces(&mut self) -> Parsed<Place> {
        let start = self.at;
        self.at += 1;
        let inside = self.braces()?;
        let number = inside.strip_prefix('-').unwrap_or(inside);
        if inside == "tip" {
            Ok(Place::Tip)
        } else if number.is_empty() || digits(number) != number {
            let hint = "known are '@{2}', '@{-1}' and '@{tip}'";
            self.fail(start, &format!("unknown '@{{{inside}}}'"), hint)
        } else if number == inside {
            self.number(number, start).map(Place::Moves)
        } else {
            match self.number(number, start)? {
                0 => self.fail(start, "checkouts count from 1", "'@{-1}' is the last one"),
                n => Ok(Place::Checkout(n)),
            }
        }
    }

    fn suffix(&mut self) -> Parsed<Option<Suffix>> {
        let start = self.at;
        let suffix = match self.rest().as_bytes() {
            [b'+', ..] => {
                self.at += 1;
                Suffix::Child
            }
            [b'~', ..] => {
                self.at += 1;
                Suffix::Ancestor(self.count()?)
            }
            [b'%', rest @ ..] => {
                let more = rest.iter().take_while(|&&b| b == b'%').count();
                if more > 0 {
                    let hint = format!("write '%{}'", more + 1);
                    return self.fail(start, "'%' cannot follow '%'", &hint);
                }
                self.at += 1;
                match self.count()? {
                    0 => return self.fail(start, "prompts count from 1", "'%1' is the nearest"),
                    n => Suffix::Prompt(n),
                }
            }
            [b'@', b'{', ..] => {
                if self.at_braces()? != Place::Tip {
                    let place = &self.text[start..self.at];
                    let hint = format!("it counts from now: write '{place}'");
                    return self.fail(start, &format!("'{place}' stands alone"), &hint);
                }
                Suffix::Tip
            }
            [b'^', b'{', ..] => self.caret_braces()?,
            [b'^', ..] => {
                self.at += 1;
                let number = digits(self.rest());
                if !number.is_empty() {
                    let hint = format!("write '~{number}' for a distance");
                    return self.fail(start, "entries have one parent", &hint);
                }
                Suffix::Ancestor(1)
            }
            _ => return Ok(None),
        };
        Ok(Some(suffix))
    }

    /// `^{}`, `^{/REGEX}` and `^{KIND}`.
    fn caret_braces(&mut self) -> Parsed<Suffix> {
        let start = self.at;
        self.at += 1;
        let inside = self.braces()?;
        match inside.strip_prefix('/') {
            Some("") => self.fail(start, "the search is empty", ""),
            Some(regex) => Ok(Suffix::Search(regex.to_owned())),
            None if inside.is_empty() => Ok(Suffix::Peel),
            None if inside.contains(['{', '}', '\\']) => {
                let what = format!("'{inside}' is no kind of entry");
                self.fail(start, &what, "a search begins with a slash: '^{/REGEX}'")
            }
            None => Ok(Suffix::Kind(inside.to_owned())),
        }
    }

    /// What stands between a brace and the one that closes it.
    fn braces(&mut self) -> Parsed<&'a str> {
        let rest = self.rest();
        let mut depth = 0_usize;
        let mut escaped = false;
        for (at, c) in rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '{' => depth += 1,
                '}' if depth == 1 => {
                    self.at += at + 1;
                    return Ok(&rest[1..at]);
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
        let hint = "inside, a brace without its pair is written '\\{' or '\\}'";
        self.fail(self.at, "no '}' for this '{'", hint)
    }

    /// The number after an operator; none is 1.
    fn count(&mut self) -> Parsed<u32> {
        let start = self.at;
        match self.take(digits(self.rest()).len()) {
            "" => Ok(1),
            digits => self.number(digits, start),
        }
    }

    fn number(&self, digits: &str, position: usize) -> Parsed<u32> {
        let number = digits.parse();
        number.or_else(|_| self.fail(position, &format!("{digits} is too big"), ""))
    }

    /// A quoted name or a word; `None` where neither begins.
    fn name(&mut self) -> Parsed<Option<String>> {
        if self.rest().starts_with('"') {
            return self.quoted().map(Some);
        }
        let word = self.take(word(self.rest()).len());
        Ok(Some(word.to_owned()).filter(|word| !word.is_empty()))
    }

    /// A quoted name. Any JSON string is one, so that what listings print can be pasted.
    fn quoted(&mut self) -> Parsed<String> {
        let start = self.at;
        self.at += 1;
        let mut name = String::new();
        loop {
            let Some(stop) = self.rest().find(['"', '\\']) else {
                return self.fail(start, "no '\"' ends the quoted name", "");
            };
            name.push_str(self.take(stop));
            if self.eat("\"") {
                return Ok(name);
            }
            let Some((c, len)) = escape(self.rest()) else {
                let hint = "a backslash in a quoted name is written '\\\\'";
                return self.fail(self.at, "unknown escape in a quoted name", hint);
            };
            name.push(c);
            self.at += len;
        }
    }
}

/// The character that the escape at the beginning of the text stands for, and its length.
fn escape(text: &str) -> Option<(char, usize)> {
    let plain = match text.as_bytes().get(1)? {
        c @ (b'"' | b'\\' | b'/') => char::from(*c),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => {
            // Characters outside the basic plane are two escapes, a surrogate pair.
            let units = (0..2).map_while(|n| utf16_unit(text, n));
            let c = char::decode_utf16(units).next()?.ok()?;
            return Some((c, 6 * c.len_utf16()));
        }
    };
    Some((plain, 2))
}

/// The `n`-th of the `\uXXXX` that the text begins with.
fn utf16_unit(text: &str, n: usize) -> Option<u16> {
    let hex = text.get(6 * n..6 * n + 6)?.strip_prefix("\\u")?;
    // Otherwise a sign would be taken for part of the number.
    if !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u16::from_str_radix(hex, 16).ok()
}

fn digits(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_digit).count()]
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rev(rev) => rev.fmt(f),
            Self::Range(range) => range.fmt(f),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_session(self.session.as_deref(), f)?;
        if let Some(left) = &self.left {
            left.fmt(f)?;
        }
        f.write_str(if self.symmetric { "..." } else { ".." })?;
        match &self.right {
            Some(right) => right.fmt(f),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Rev {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_session(self.session.as_deref(), f)?;
        self.place.fmt(f)?;
        self.suffixes.iter().try_for_each(|suffix| suffix.fmt(f))
    }
}

fn fmt_session(session: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    session.map_or(Ok(()), |session| write!(f, "{}:", quote_session(session)))
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaf => f.write_str("@"),
            Self::Root => f.write_str("root"),
            Self::Word(name) => f.write_str(&quote_name(name)),
            // After a prefix, even `root` and `HEAD` can only be names.
            Self::Id(name) => write!(f, "id:{}", bare_or_quoted(name)),
            Self::Label(name) => write!(f, "label:{}", bare_or_quoted(name)),
            Self::Search(regex) => write!(f, ":/{regex}"),
            Self::Moves(n) => write!(f, "@{{{n}}}"),
            Self::Checkout(n) => write!(f, "@{{-{n}}}"),
            Self::Tip => f.write_str("@{tip}"),
        }
    }
}

impl fmt::Display for Suffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ancestor(n) => write!(f, "~{n}"),
            Self::Prompt(n) => write!(f, "%{n}"),
            Self::Kind(kind) => write!(f, "^{{{kind}}}"),
            Self::Peel => f.write_str("^{}"),
            Self::Search(regex) => write!(f, "^{{/{regex}}}"),
            Self::Child => f.write_str("+"),
            Self::Tip => f.write_str("@{tip}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a table, in columns that two or more blanks divide.
    fn rows<const N: usize>(table: &'static str) -> Vec<[&'static str; N]> {
        let cells = |line: &'static str| line.split("  ").map(str::trim).filter(|c| !c.is_empty());
        let lines = table.lines().filter(|line| !line.trim().is_empty());
        lines
            .map(|line| cells(line).collect::<Vec<_>>().try_into().expect(line))
            .collect()
    }

    #[test]
    fn one_revision_prints_canonically_and_means() {
        // What is read, what is printed, place and suffixes.
        let table = r#"
            @                 @                Leaf []
            HEAD              @                Leaf []
            HEAD2             HEAD2            Word("HEAD2") []
            root@{tip}        root@{tip}       Root [Tip]
            "root"+           "root"+          Word("root") [Child]
            ""                ""               Word("") []
            "0a1b"~2          0a1b~2           Word("0a1b") [Ancestor(2)]
            v1.2/ä@x          v1.2/ä@x         Word("v1.2/ä@x") []
            v1.               "v1."            Word("v1.") []
            x@@{tip}          x@@{tip}         Word("x@") [Tip]
            id                id               Word("id") []
            id:HEAD           id:HEAD          Id("HEAD") []
            id:"a b"+         id:"a b"+        Id("a b") [Child]
            label:done^       label:done~1     Label("done") [Ancestor(1)]
            :/a..b~1          :/a..b~1         Search("a..b~1") []
            @{0}              @{0}             Moves(0) []
            @{-1}~            @{-1}~1          Checkout(1) [Ancestor(1)]
            @{tip}@{tip}      @{tip}@{tip}     Tip [Tip]
            @@{tip}           @@{tip}          Leaf [Tip]
            a^^{}^            a~1^{}~1         Word("a") [Ancestor(1), Peel, Ancestor(1)]
            a~0%              a~0%1            Word("a") [Ancestor(0), Prompt(1)]
            @^{odd kind}      @^{odd kind}     Leaf [Kind("odd kind")]
            @^{/a{2}\}}+      @^{/a{2}\}}+     Leaf [Search("a{2}\\}"), Child]
            @^{/x.jsonl:y}    @^{/x.jsonl:y}   Leaf [Search("x.jsonl:y")]
            "\u00e4\/\ud83d\ude00"  ä/😀       Word("ä/😀") []
        "#;
        for [text, printed, meaning] in rows(table) {
            let rev = Rev::parse(text).expect(text);
            assert_eq!(
                format!("{:?} {:?}", rev.place, rev.suffixes),
                meaning,
                "{text}"
            );
            assert_eq!(rev.to_string(), printed, "{text}");
        }
    }

    #[test]
    fn a_session_stands_in_front() {
        // What is read and printed, the session.
        let table = r#"
            abc:@                       abc
            HEAD:@                      HEAD
            "a..b":@                    a..b
            "-":@                       -
            "id":x                      id
            abc::/x.jsonl:y             abc
            abc:id:x                    abc
            ~/x y/..//a..b:c.jsonl:@    ~/x y/..//a..b:c.jsonl
            x.jsonl:y^{/z.jsonl:}       x.jsonl
            "a^{.jsonl":@               a^{.jsonl
            "id:x.jsonl":@              id:x.jsonl
            "-x.jsonl":@                -x.jsonl
        "#;
        for [text, session] in rows(table) {
            let rev = Rev::parse(text).expect(text);
            assert_eq!(rev.session.as_deref(), Some(session), "{text}");
            assert_eq!(rev.to_string(), text);
        }
    }

    #[test]
    fn names_are_quoted_where_needed() {
        for name in [
            "a", "0a1b2c3d", "a.b", "a@b", "a-b", "x/y", "id", "tip", "ä", "a\\b", "'",
        ] {
            assert_eq!(quote_name(name), name);
        }
        for name in [
            "", "root", "HEAD", "@", "-a", "a b", "a..b", ".", "a~", "a:b", "x@{y",
        ] {
            assert_eq!(quote_name(name), format!("\"{name}\""));
        }
        assert_eq!(
            quote_name("a\"\\\n\u{1b}\u{202e}"),
            r#""a\"\\\n\u001b\u202e""#
        );
    }
}

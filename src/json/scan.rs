//! Reads JSON lines from a file of any size through a small window, validating every byte.
//!
//! This is the hot loop of the whole tool: it decides what counts as a line pi can parse
//! (`JSON.parse` of each LF-separated line, duplicate keys and any depth allowed, bytes that are
//! not UTF-8 allowed inside strings because they decode to U+FFFD) and hands out the few values a
//! caller asks to keep. It holds one window of bytes, never a whole line, so a record of hundreds
//! of megabytes costs no memory. It knows nothing of sessions.

use std::io;

use wide::u8x32;

use super::decode;
pub use super::read_at::ReadAt;

/// Why a line does not parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bad {
    /// The line ends inside a value.
    Truncated,
    /// A byte that cannot stand here.
    Syntax,
    /// A value is followed by something else.
    Trailing,
}

/// What a line holds, apart from what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// Nothing but white space.
    Blank,
    /// A JSON object.
    Object,
    /// `null`, `0`, `false` or `""`, which pi skips like a blank line.
    Falsy,
    /// Any other JSON value: pi takes it for an entry without an id.
    NotObject,
    /// Not JSON.
    Bad(Bad),
}

/// The kind of value just passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Object,
    Array,
    String,
    Number,
    Bool,
    Null,
}

/// How much is read at once: small enough to stay in the second-level cache.
const CHUNK: usize = 256 * 1024;

/// A window over a [`ReadAt`] that slides forward.
pub(crate) struct Window<'s> {
    source: &'s dyn ReadAt,
    buf: Vec<u8>,
    /// Offset of `buf[0]` in the source.
    base: u64,
    pos: usize,
    /// Bytes from here on survive a refill; `usize::MAX` keeps none.
    keep: usize,
    /// Nothing at or after this offset is read.
    limit: u64,
    /// Open brackets of the value being skipped.
    stack: Vec<u8>,
    error: Option<io::Error>,
}

impl<'s> Window<'s> {
    /// A window that starts at `start` and reads no byte at or after `limit`.
    pub(crate) fn new(source: &'s dyn ReadAt, start: u64, limit: u64) -> Self {
        Window {
            source,
            buf: Vec::new(),
            base: start,
            pos: 0,
            keep: usize::MAX,
            limit,
            stack: Vec::new(),
            error: None,
        }
    }

    /// The offset of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.pos as u64
    }

    /// The read error that looked like an end of file, if there was one.
    pub(crate) fn take_error(&mut self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Reads on; false at the end. Only called when every byte held has been passed.
    #[cold]
    fn refill(&mut self) -> bool {
        let drop = self.keep.min(self.pos);
        if drop > 0 {
            self.buf.drain(..drop);
            self.base += drop as u64;
            self.pos -= drop;
            if self.keep != usize::MAX {
                self.keep -= drop;
            }
        }
        let held = self.buf.len();
        let at = self.base + held as u64;
        let want = usize::try_from(self.limit.saturating_sub(at)).map_or(CHUNK, |n| n.min(CHUNK));
        if want == 0 || self.error.is_some() {
            return false;
        }
        self.buf.resize(held + want, 0);
        let read = loop {
            match self.source.read_at(&mut self.buf[held..], at) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.error = Some(e);
                    break 0;
                }
                Ok(n) => break n,
            }
        };
        self.buf.truncate(held + read);
        read > 0
    }

    fn peek(&mut self) -> Option<u8> {
        if let Some(&b) = self.buf.get(self.pos) {
            return Some(b);
        }
        if self.refill() {
            self.buf.get(self.pos).copied()
        } else {
            None
        }
    }

    /// Skips white space inside a line and returns the next byte; `None` at the line's end.
    fn peek_token(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.pos += 1,
                Some(b'\n') | None => return None,
                other => return other,
            }
        }
    }

    fn token(&mut self) -> Result<u8, Bad> {
        self.peek_token().ok_or(Bad::Truncated)
    }

    fn expect(&mut self, wanted: u8) -> Result<(), Bad> {
        if self.token()? == wanted {
            self.pos += 1;
            return Ok(());
        }
        Err(Bad::Syntax)
    }

    /// Passes the rest of a string, after its opening quote. True if it had escapes.
    fn string(&mut self) -> Result<bool, Bad> {
        let mut escapes = false;
        loop {
            let (n, stop) = pass_blocks(&self.buf[self.pos..], &mut escapes);
            self.pos += n;
            match stop {
                Stop::Quote => return Ok(escapes),
                Stop::Bad => return Err(self.bad_byte()),
                Stop::Tail => {}
            }
            // Fewer bytes than a block are left: one by one, with refills, to the next block.
            loop {
                match self.peek().ok_or(Bad::Truncated)? {
                    b'"' => {
                        self.pos += 1;
                        return Ok(escapes);
                    }
                    b'\\' => {
                        escapes = true;
                        self.pos += 1;
                        self.escape()?;
                    }
                    0..0x20 => return Err(self.bad_byte()),
                    _ => self.pos += 1,
                }
                if self.buf.len() - self.pos >= BLOCK {
                    break;
                }
            }
        }
    }

    /// The error for the byte at hand, where a string cannot go on.
    fn bad_byte(&mut self) -> Bad {
        if matches!(self.peek(), None | Some(b'\n')) {
            Bad::Truncated
        } else {
            Bad::Syntax
        }
    }

    /// Passes an escape after its backslash.
    fn escape(&mut self) -> Result<(), Bad> {
        match self.peek().ok_or(Bad::Truncated)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.pos += 1,
            b'u' => {
                self.pos += 1;
                for _ in 0..4 {
                    match self.peek().ok_or(Bad::Truncated)? {
                        b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' => self.pos += 1,
                        b'\n' => return Err(Bad::Truncated),
                        _ => return Err(Bad::Syntax),
                    }
                }
            }
            b'\n' => return Err(Bad::Truncated),
            _ => return Err(Bad::Syntax),
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Bad> {
        match self.peek() {
            Some(b'0'..=b'9') => {}
            Some(b'\n') | None => return Err(Bad::Truncated),
            Some(_) => return Err(Bad::Syntax),
        }
        while let Some(b'0'..=b'9') = self.peek() {
            self.pos += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Bad> {
        if self.peek() == Some(b'-') {
            self.pos += 1;
        }
        if self.peek() == Some(b'0') {
            self.pos += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.pos += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.pos += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.pos += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Bad> {
        for &wanted in word {
            match self.peek() {
                Some(b) if b == wanted => self.pos += 1,
                Some(b'\n') | None => return Err(Bad::Truncated),
                Some(_) => return Err(Bad::Syntax),
            }
        }
        Ok(())
    }

    fn scalar(&mut self, first: u8) -> Result<Shape, Bad> {
        match first {
            b'"' => {
                self.pos += 1;
                self.string().map(|_| Shape::String)
            }
            b't' => self.literal(b"true").map(|()| Shape::Bool),
            b'f' => self.literal(b"false").map(|()| Shape::Bool),
            b'n' => self.literal(b"null").map(|()| Shape::Null),
            b'-' | b'0'..=b'9' => self.number().map(|()| Shape::Number),
            _ => Err(Bad::Syntax),
        }
    }

    /// Passes one value of any depth, without recursion.
    pub(crate) fn skip_value(&mut self) -> Result<Shape, Bad> {
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        let result = self.skip_nested(&mut stack);
        self.stack = stack;
        result
    }

    fn skip_nested(&mut self, stack: &mut Vec<u8>) -> Result<Shape, Bad> {
        let outer = match self.token()? {
            b'{' => Shape::Object,
            b'[' => Shape::Array,
            first => return self.scalar(first),
        };
        loop {
            // A value starts here.
            match self.token()? {
                open @ (b'{' | b'[') => {
                    self.pos += 1;
                    let next = self.token()?;
                    // The closing bracket lies two code points after the opening one in ASCII.
                    if next == open + 2 {
                        self.pos += 1;
                    } else {
                        stack.push(open);
                        if open == b'{' {
                            self.skip_key()?;
                        }
                        continue;
                    }
                }
                first => {
                    self.scalar(first)?;
                }
            }
            // A value ended here.
            loop {
                let Some(&open) = stack.last() else {
                    return Ok(outer);
                };
                match self.token()? {
                    b',' => {
                        self.pos += 1;
                        if open == b'{' {
                            self.skip_key()?;
                        }
                        break;
                    }
                    close if close == open + 2 => {
                        self.pos += 1;
                        stack.pop();
                    }
                    _ => return Err(Bad::Syntax),
                }
            }
        }
    }

    fn skip_key(&mut self) -> Result<(), Bad> {
        self.expect(b'"')?;
        self.string()?;
        self.expect(b':')
    }

    /// Passes the members of an object, after its opening brace. `member` is given each key,
    /// decoded, and must pass the value.
    pub(crate) fn members(
        &mut self,
        mut member: impl FnMut(&mut Self, Key) -> Result<(), Bad>,
    ) -> Result<(), Bad> {
        if self.token()? == b'}' {
            self.pos += 1;
            return Ok(());
        }
        loop {
            self.expect(b'"')?;
            self.keep = self.pos;
            let escapes = self.string()?;
            let name = &self.buf[self.keep..self.pos - 1];
            let key = if escapes {
                Key::of(&decode(name))
            } else {
                Key::of(name)
            };
            self.keep = usize::MAX;
            self.expect(b':')?;
            member(self, key)?;
            match self.token()? {
                b',' => self.pos += 1,
                b'}' => {
                    self.pos += 1;
                    return Ok(());
                }
                _ => return Err(Bad::Syntax),
            }
        }
    }

    /// Passes a value; if it opens an object, steps inside and returns true.
    pub(crate) fn enter_object(&mut self) -> Result<bool, Bad> {
        if self.token()? == b'{' {
            self.pos += 1;
            return Ok(true);
        }
        self.skip_value().map(|_| false)
    }

    /// Passes a value; if it is an array, each of its elements is passed by `element`.
    pub(crate) fn elements(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), Bad>,
    ) -> Result<Shape, Bad> {
        if self.token()? != b'[' {
            return self.skip_value();
        }
        self.pos += 1;
        if self.token()? == b']' {
            self.pos += 1;
            return Ok(Shape::Array);
        }
        loop {
            element(self)?;
            match self.token()? {
                b',' => self.pos += 1,
                b']' => {
                    self.pos += 1;
                    return Ok(Shape::Array);
                }
                _ => return Err(Bad::Syntax),
            }
        }
    }

    /// Passes a value as [`Window::capture`] does, but leaves `out` empty for a number, too.
    pub(crate) fn capture_string(&mut self, out: &mut Vec<u8>) -> Result<(), Bad> {
        if self.capture(out)? != Shape::String {
            out.clear();
        }
        Ok(())
    }

    /// Passes a value that may stand for a number, and returns it as JavaScript adds it to one:
    /// the number, or 1 for `true` and 0 for `false`. `out` is scratch space.
    pub(crate) fn number_value(&mut self, out: &mut Vec<u8>) -> Result<Option<f64>, Bad> {
        let first = self.token()?;
        Ok(match self.capture(out)? {
            Shape::Number => Some(parse_number(out)),
            Shape::Bool => Some(f64::from(u8::from(first == b't'))),
            _ => None,
        })
    }

    /// Passes a value; if it is a string or a number, leaves its text in `out`
    /// (decoded, lossily, as JavaScript would hold it). For anything else `out` is left empty.
    pub(crate) fn capture(&mut self, out: &mut Vec<u8>) -> Result<Shape, Bad> {
        out.clear();
        let first = self.token()?;
        match first {
            b'"' => {
                self.pos += 1;
                self.keep = self.pos;
                let escapes = self.string()?;
                let text = &self.buf[self.keep..self.pos - 1];
                if escapes || !text.is_ascii() {
                    // Decoded as the whole file is, so that an id is found by what is printed of it.
                    out.extend_from_slice(String::from_utf8_lossy(&decode(text)).as_bytes());
                } else {
                    out.extend_from_slice(text);
                }
                self.keep = usize::MAX;
                Ok(Shape::String)
            }
            b'-' | b'0'..=b'9' => {
                self.keep = self.pos;
                self.number()?;
                out.extend_from_slice(&self.buf[self.keep..self.pos]);
                self.keep = usize::MAX;
                Ok(Shape::Number)
            }
            _ => self.skip_value(),
        }
    }

    /// Passes one line. `object` is called where it opens an object and must pass its members.
    /// Returns what the line holds and leaves the window at the next line.
    pub(crate) fn line(
        &mut self,
        object: impl FnOnce(&mut Self) -> Result<(), Bad>,
    ) -> (Line, LineEnd) {
        let result = self.line_value(object);
        let line = match result {
            Ok(line) if self.peek_token().is_none() => line,
            Ok(_) => Line::Bad(Bad::Trailing),
            Err(bad) => Line::Bad(bad),
        };
        self.keep = usize::MAX;
        let end = self.pass_line_end();
        (line, end)
    }

    fn line_value(
        &mut self,
        object: impl FnOnce(&mut Self) -> Result<(), Bad>,
    ) -> Result<Line, Bad> {
        let Some(first) = self.peek_token() else {
            return Ok(Line::Blank);
        };
        if first == b'{' {
            self.pos += 1;
            return object(self).map(|()| Line::Object);
        }
        let mut text = Vec::new();
        Ok(match self.capture(&mut text)? {
            Shape::Null => Line::Falsy,
            Shape::Bool if first == b'f' => Line::Falsy,
            Shape::String if text.is_empty() => Line::Falsy,
            Shape::Number if parse_number(&text) == 0.0 => Line::Falsy,
            _ => Line::NotObject,
        })
    }

    /// Passes everything to the end of the line, the LF included.
    pub(crate) fn pass_line_end(&mut self) -> LineEnd {
        loop {
            if let Some(n) = memchr::memchr(b'\n', &self.buf[self.pos..]) {
                let at = self.offset() + n as u64;
                self.pos += n + 1;
                return LineEnd { at, newline: true };
            }
            self.pos = self.buf.len();
            if !self.refill() {
                return LineEnd {
                    at: self.offset(),
                    newline: false,
                };
            }
        }
    }
}

/// Where a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineEnd {
    /// Offset of the LF, or of the end of what can be read.
    pub(crate) at: u64,
    /// Whether there was an LF.
    pub(crate) newline: bool,
}

fn parse_number(text: &[u8]) -> f64 {
    std::str::from_utf8(text)
        .ok()
        .and_then(|t| t.parse().ok())
        .unwrap_or(f64::NAN)
}

macro_rules! keys {
    ($($key:ident $name:literal)+) => {
        /// The keys the scanner is asked about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Key {
            $($key,)+
            Other,
        }

        impl Key {
            fn of(name: &[u8]) -> Key {
                match name {
                    $($name => Key::$key,)+
                    _ => Key::Other,
                }
            }
        }
    };
}

keys! {
    Type b"type"
    Id b"id"
    ParentId b"parentId"
    Timestamp b"timestamp"
    Message b"message"
    Role b"role"
    Content b"content"
    Name b"name"
    Text b"text"
    Thinking b"thinking"
    Details b"details"
    TargetId b"targetId"
    FirstKeptEntryId b"firstKeptEntryId"
    FromId b"fromId"
    ToolCallId b"toolCallId"
    Arguments b"arguments"
    StopReason b"stopReason"
    Provider b"provider"
    Model b"model"
    ResponseModel b"responseModel"
    ToolName b"toolName"
    IsError b"isError"
    Usage b"usage"
    Input b"input"
    Output b"output"
    CacheRead b"cacheRead"
    CacheWrite b"cacheWrite"
    Cost b"cost"
    Total b"total"
}

/// Bytes that are looked at together inside a string.
const BLOCK: usize = 32;

/// Where a run of whole blocks stopped.
enum Stop {
    /// Behind the closing quote.
    Quote,
    /// At a byte that cannot stand in a string.
    Bad,
    /// Before the last bytes, which make no whole block or hold an escape that does.
    Tail,
}

/// Passes as much of a string as lies in whole blocks. The special bytes of a block are found
/// together and then taken one after another, so that text full of escapes costs little more
/// than plain text.
#[inline]
fn pass_blocks(bytes: &[u8], escapes: &mut bool) -> (usize, Stop) {
    let (quote, backslash, control) = (u8x32::splat(b'"'), u8x32::splat(b'\\'), u8x32::splat(0x1f));
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    // Bytes of the next block that an escape has already passed.
    let mut passed = 0;
    for (i, block) in blocks.iter().enumerate() {
        let v = u8x32::new(*block);
        let hits = v.simd_eq(quote) | v.simd_eq(backslash) | v.min(control).simd_eq(v);
        let mut mask = hits.to_bitmask() & (u32::MAX << passed);
        passed = 0;
        while mask != 0 {
            let at = mask.trailing_zeros() as usize;
            let here = i * BLOCK + at;
            match block[at] {
                b'"' => return (here + 1, Stop::Quote),
                b'\\' => {}
                _ => return (here, Stop::Bad),
            }
            *escapes = true;
            let len = match bytes.get(here + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                Some(b'u') => match bytes.get(here + 2..here + 6) {
                    Some(hex) if hex.iter().all(u8::is_ascii_hexdigit) => 6,
                    Some(_) => return (here + 1, Stop::Bad),
                    None => return (here, Stop::Tail),
                },
                Some(_) => return (here + 1, Stop::Bad),
                None => return (here, Stop::Tail),
            };
            match u32::MAX.checked_shl(u32::try_from(at + len).unwrap_or(u32::MAX)) {
                Some(rest) => mask &= rest,
                None => {
                    passed = at + len - BLOCK;
                    mask = 0;
                }
            }
        }
    }
    (blocks.len() * BLOCK + passed, Stop::Tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of(text: &[u8]) -> Line {
        let mut w = Window::new(&text, 0, text.len() as u64);
        w.line(|w| w.members(|w, _| w.skip_value().map(|_| ()))).0
    }

    #[test]
    fn lines_are_what_json_parse_says() {
        for (text, wanted) in [
            (&b""[..], Line::Blank),
            (b" \t\r", Line::Blank),
            (b"{}", Line::Object),
            (
                b" {\"a\" : [ 1 , -0.5e+3, {\"b\":{}}, [] , \"\\u00e9\\n\" ] }\r",
                Line::Object,
            ),
            (b"{\"a\":1,\"a\":2}", Line::Object),
            (b"{\"a\":\"\xff\xfe\"}", Line::Object),
            (b"{\"a\":\"\xe2\x80\xa8\x7f\"}", Line::Object),
            (b"{\"a\":1e400}", Line::Object),
            (b"null", Line::Falsy),
            (b"false", Line::Falsy),
            (b"\"\"", Line::Falsy),
            (b"-0.0", Line::Falsy),
            (b"true", Line::NotObject),
            (b"42", Line::NotObject),
            (b"\"str\"", Line::NotObject),
            (b"[1]", Line::NotObject),
            (b"{\"a\":\"x\ty\"}", Line::Bad(Bad::Syntax)),
            (b"{\"a\":01}", Line::Bad(Bad::Syntax)),
            (b"{\"a\":1,}", Line::Bad(Bad::Syntax)),
            (b"{\"a\":[1,]}", Line::Bad(Bad::Syntax)),
            (b"{\"a\":[1}", Line::Bad(Bad::Syntax)),
            (b"{\"a\":+1}", Line::Bad(Bad::Syntax)),
            (b"{\"a\":\"\\x\"}", Line::Bad(Bad::Syntax)),
            (b"{\"a\":\"\\u12g4\"}", Line::Bad(Bad::Syntax)),
            (b"{a:1}", Line::Bad(Bad::Syntax)),
            (b"\0\0\0", Line::Bad(Bad::Syntax)),
            (b"{\"a\":\"b", Line::Bad(Bad::Truncated)),
            (b"{\"a\":tru", Line::Bad(Bad::Truncated)),
            (b"{\"a\":1", Line::Bad(Bad::Truncated)),
            (b"{}{}", Line::Bad(Bad::Trailing)),
            (b"{} {}", Line::Bad(Bad::Trailing)),
        ] {
            assert_eq!(line_of(text), wanted, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn depth_needs_no_stack() {
        let mut text = b"{\"a\":".to_vec();
        text.extend(std::iter::repeat_n(b'[', 1_000_000));
        text.extend(std::iter::repeat_n(b']', 1_000_000));
        text.push(b'}');
        assert_eq!(line_of(&text), Line::Object);
    }

    /// Gives one byte at a time, so that every token is cut by a refill somewhere.
    struct Drip(Vec<u8>);

    impl ReadAt for Drip {
        fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
            self.0.as_slice().read_at(&mut buf[..1], offset)
        }
    }

    #[test]
    fn a_value_may_lie_across_any_refill() {
        let text =
            b"{\"x\":[\"\\\"\",{}],\"i\\u0064\":\"a\\u00e9b\",\"y\":-1.5e3}\n{\"id\":7}".to_vec();
        let limit = text.len() as u64;
        let source = Drip(text);
        let mut w = Window::new(&source, 0, limit);
        let mut seen = Vec::new();
        let mut out = Vec::new();
        for _ in 0..2 {
            let (line, _) = w.line(|w| {
                w.members(|w, key| {
                    if key == Key::Id {
                        w.capture(&mut out)?;
                        seen.push(String::from_utf8_lossy(&out).into_owned());
                        return Ok(());
                    }
                    w.skip_value().map(|_| ())
                })
            });
            assert_eq!(line, Line::Object);
        }
        assert_eq!(seen, ["aéb", "7"]);
    }

    #[test]
    fn every_byte_of_a_string_is_looked_at() {
        for len in 0..100 {
            for (escape, good) in [
                (&br"\n"[..], true),
                (br#"\""#, true),
                (br"\\", true),
                (br"\u00e9", true),
                (br"\u00g9", false),
                (br"\x", false),
                (b"\x1f", false),
                (b"\x7f", true),
            ] {
                let mut text = b"{\"a\":\"".to_vec();
                text.extend(std::iter::repeat_n(0xe9, len));
                text.extend_from_slice(escape);
                text.extend_from_slice(escape);
                text.extend(std::iter::repeat_n(b'z', 70));
                text.extend_from_slice(b"\"}");
                let wanted = if good {
                    Line::Object
                } else {
                    Line::Bad(Bad::Syntax)
                };
                assert_eq!(line_of(&text), wanted, "{}", String::from_utf8_lossy(&text));
            }
        }
    }
}

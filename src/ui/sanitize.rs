//! Makes what a session says harmless to a terminal: control characters, escape sequences and
//! bidirectional controls become visible, never active.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character acts on a terminal, or on the order of the text around it, instead of
/// showing.
fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{fff9}'..='\u{fffb}' | '\u{feff}' | '\u{e0001}'..='\u{e007f}')
}

fn show(c: char, out: &mut String) {
    match c {
        // The caret notation of cat -v, which people know.
        '\0'..='\u{1f}' => {
            out.push('^');
            out.push(char::from(c as u8 + 0x40));
        }
        '\u{7f}' => out.push_str("^?"),
        _ => {
            let _ = write!(out, "<U+{:04X}>", c as u32);
        }
    }
}

fn replace(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(|c| is_active(c) && !keep(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_active(c) && !keep(c) {
            show(c, &mut out);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The text with every active character made visible.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    replace(text, |_| false)
}

/// The text with every active character but newlines and tabs made visible.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    replace(text, |c| matches!(c, '\n' | '\t'))
}

/// The text on one line: white space folded to single spaces, the rest made visible.
pub(crate) fn one_line(text: &str) -> String {
    // A long text is cut anyway; what no screen can show need not be folded.
    let words = text.split_whitespace();
    let mut out = String::new();
    for word in words {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&visible(word));
        if out.len() > 4000 {
            break;
        }
    }
    out
}

/// JSON with the active characters that it may hold unescaped written as escapes.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_active) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_active(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_active_is_left() {
        let hostile = "a\u{1b}[31mred\u{1b}]8;;http://x\u{7}\u{9b}2J\u{202e}\u{7f}\r\nz\u{2028}";
        for text in [
            visible(hostile).into_owned(),
            one_line(hostile),
            json(hostile).into_owned(),
        ] {
            assert!(!text.chars().any(is_active), "{text}");
        }
        assert_eq!(visible("a\u{1b}[31m\u{9b}"), "a^[[31m<U+009B>");
        assert_eq!(visible_lines("a\tb\nc\r"), "a\tb\nc^M");
        assert_eq!(json("\"\u{9b}\u{e0001}\""), "\"\\u009b\\udb40\\udc01\"");
        assert_eq!(one_line(" a \n\n b\tc "), "a b c");
    }
}

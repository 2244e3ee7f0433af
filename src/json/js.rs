//! Prints a value as JavaScript's `JSON.stringify(JSON.parse(text))` prints it.
//!
//! Token estimates and summaries measure that text, so its length has to be right to the unit:
//! integer-like keys first and ascending, then the order of insertion; the last duplicate; the
//! shortest form of each number; lone surrogates escaped.

use super::Raw;

/// One open object or array, with what is still to be printed of it (last first).
enum Frame<'a> {
    Object(Vec<(String, Raw<'a>)>),
    Array(Vec<Raw<'a>>),
}

/// `JSON.stringify` of Node.js fails on values nested deeper than about this; what lies deeper is
/// passed on as stored, which also bounds the time spent on hostile input.
const MAX_DEPTH: usize = 4096;

/// The text that `JSON.stringify` gives for the value. Any depth, without recursion.
pub fn stringify(value: Raw<'_>) -> String {
    let mut out = String::new();
    let mut stack = Vec::new();
    open(value, &mut out, &mut stack);
    while let Some(frame) = stack.last_mut() {
        let (next, close) = match frame {
            Frame::Object(members) => match members.pop() {
                Some((key, value)) => {
                    separate(&mut out);
                    out.push_str(&key);
                    out.push(':');
                    (Some(value), '}')
                }
                None => (None, '}'),
            },
            Frame::Array(items) => {
                let next = items.pop();
                if next.is_some() {
                    separate(&mut out);
                }
                (next, ']')
            }
        };
        match next {
            Some(value) => open(value, &mut out, &mut stack),
            None => {
                out.push(close);
                stack.pop();
            }
        }
    }
    out
}

/// A comma, unless a bracket has just been opened. (A string cannot be mistaken for one: it ends
/// with its quote.)
fn separate(out: &mut String) {
    if !out.ends_with(['{', '[']) {
        out.push(',');
    }
}

fn open<'a>(value: Raw<'a>, out: &mut String, stack: &mut Vec<Frame<'a>>) {
    if stack.len() >= MAX_DEPTH {
        out.push_str(&String::from_utf8_lossy(value.bytes()));
    } else if value.is_object() {
        out.push('{');
        stack.push(Frame::Object(ordered(value)));
    } else if value.is_array() {
        out.push('[');
        let mut items: Vec<_> = value.items().collect();
        items.reverse();
        stack.push(Frame::Array(items));
    } else if value.is_string() {
        string(value, out);
    } else if let Some(n) = value.as_f64() {
        out.push_str(&number(n));
    } else {
        out.push_str(&String::from_utf8_lossy(value.bytes()));
    }
}

/// A number as JavaScript's `JSON.stringify` prints it.
pub fn number(n: f64) -> String {
    if n == 0.0 {
        return "0".to_owned();
    }
    if !n.is_finite() {
        return "null".to_owned();
    }
    ryu_js::Buffer::new().format(n).to_owned()
}

/// The members in the order in which they are popped: JavaScript's, reversed.
fn ordered(object: Raw<'_>) -> Vec<(String, Raw<'_>)> {
    let mut places = hashbrown::HashMap::new();
    let mut members: Vec<(String, Raw<'_>)> = Vec::new();
    for (key, value) in object.members() {
        let mut quoted = String::new();
        string(Raw::new(key.quoted().as_bytes()), &mut quoted);
        // A repeated key keeps its first place and takes its last value.
        match places.get(&quoted) {
            Some(&place) => {
                let member: &mut (String, Raw<'_>) = &mut members[place];
                member.1 = value;
            }
            None => {
                places.insert(quoted.clone(), members.len());
                members.push((quoted, value));
            }
        }
    }
    members.sort_by_key(|(key, _)| array_index(key).map_or((1, 0), |n| (0, n)));
    members.reverse();
    members
}

/// The array index a quoted key spells (0 to 2^32 − 2, no leading zeros).
fn array_index(quoted: &str) -> Option<u32> {
    let name = quoted.trim_matches('"');
    let n: u32 = name.parse().ok()?;
    (n != u32::MAX && n.to_string() == name).then_some(n)
}

/// Appends a JSON string as `JSON.stringify` escapes it.
fn string(value: Raw<'_>, out: &mut String) {
    let Some(inner) = value.inner_string() else {
        return;
    };
    out.push('"');
    // Lone surrogates must stay apart from a real U+FFFD, so the text is taken piece by piece
    // around the `\u` escapes that spell one.
    let mut rest = inner;
    while let Some((before, unit, after)) = lone_surrogate(rest) {
        escape(&super::decode(before), out);
        out.push_str(&format!("\\u{unit:04x}"));
        rest = after;
    }
    escape(&super::decode(rest), out);
    out.push('"');
}

/// Splits at the first escaped surrogate that has no partner.
fn lone_surrogate(inner: &[u8]) -> Option<(&[u8], u32, &[u8])> {
    let mut at = 0;
    while let Some(n) = memchr::memchr(b'\\', &inner[at..]) {
        let start = at + n;
        at = (start + 2).min(inner.len());
        if inner.get(start + 1) != Some(&b'u') {
            continue;
        }
        let unit = super::hex4(&inner[at..]);
        at = (at + 4).min(inner.len());
        match unit {
            0xd800..0xdc00 if inner[at..].starts_with(b"\\u") => {
                if (0xdc00..0xe000).contains(&super::hex4(&inner[at + 2..])) {
                    at = (at + 6).min(inner.len());
                } else {
                    return Some((&inner[..start], unit, &inner[at..]));
                }
            }
            0xd800..0xe000 => return Some((&inner[..start], unit, &inner[at..])),
            _ => {}
        }
    }
    None
}

fn escape(text: &[u8], out: &mut String) {
    // serde_json escapes exactly what JSON.stringify does: quote, backslash, control characters.
    let text = String::from_utf8_lossy(text);
    let quoted = serde_json::to_string(&text).unwrap_or_default();
    out.push_str(&quoted[1..quoted.len().saturating_sub(1).max(1)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_that_of_json_stringify() {
        // Each right side was printed by Node.js 22.
        for (json, wanted) in [
            (
                r#"{"b":1,"2":2,"a":3,"10":4,"1":5}"#,
                r#"{"1":5,"2":2,"10":4,"b":1,"a":3}"#,
            ),
            (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#),
            (
                r#"[1.0, 1e400, -0, 1e21, 123456789012345678901234, 0.1, 1e-7]"#,
                r#"[1,null,0,1e+21,1.2345678901234569e+23,0.1,1e-7]"#,
            ),
            (
                r#""bad \ud83d end \ude00 \ud83d\ude00""#,
                r#""bad \ud83d end \ude00 😀""#,
            ),
            (
                r#""\u0001\u007f\u001f\/\n\u2028""#,
                "\"\\u0001\u{7f}\\u001f/\\n\u{2028}\"",
            ),
            (
                r#"{ "x" : [ ] , "y" : { } , "z": [ {} , [] ] }"#,
                r#"{"x":[],"y":{},"z":[{},[]]}"#,
            ),
            (
                r#"{"01":1,"4294967295":2,"4294967294":3}"#,
                r#"{"4294967294":3,"01":1,"4294967295":2}"#,
            ),
            (r#"["[","{",true,null]"#, r#"["[","{",true,null]"#),
        ] {
            assert_eq!(stringify(Raw::new(json.as_bytes())), wanted);
        }
    }

    #[test]
    fn depth_needs_no_stack() {
        let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
        assert_eq!(stringify(Raw::new(deep.as_bytes())), deep);
    }
}

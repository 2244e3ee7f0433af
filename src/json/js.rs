//! Prints a value as JavaScript's `JSON.stringify(JSON.parse(text))` prints it.
//!
//! Token estimates and summaries measure that text, so its length has to be right to the unit:
//! integer-like keys first and ascending, then the order of insertion; the last duplicate; the
//! shortest form of each number; lone surrogates escaped.

use hashbrown::HashMap;

use super::Raw;

/// An array or object that is open.
#[derive(Default)]
struct Frame {
    is_object: bool,
    /// Where what stands inside it begins.
    start: usize,
    /// Elements so far, of an array.
    elements: usize,
    /// Of an object: each key, quoted, and where its member begins and ends.
    members: Vec<(String, usize, usize)>,
    /// Whether a string is a key here.
    wants_key: bool,
}

/// The text that `JSON.stringify` gives for the value. Any depth, without recursion, in one pass.
pub fn stringify(value: Raw<'_>) -> String {
    let mut rest = value.bytes();
    let mut out = String::with_capacity(rest.len());
    let mut stack: Vec<Frame> = Vec::new();
    loop {
        rest = super::skip_separators(rest);
        let Some(&first) = rest.first() else {
            return out;
        };
        let mut len = 1;
        match first {
            b'}' | b']' => {
                if let Some(frame) = stack.pop() {
                    if frame.is_object {
                        put_in_order(&mut out, &frame);
                    }
                    out.push(char::from(first));
                    value_ended(&mut stack, &out);
                }
            }
            b'"' => {
                len = super::string_end(rest);
                let text = Raw::new(&rest[..len]);
                if let Some(frame) = stack.last_mut().filter(|frame| frame.wants_key) {
                    begin_member(&mut out, frame, text);
                } else {
                    begin_element(&mut out, &mut stack);
                    string(text, &mut out);
                    value_ended(&mut stack, &out);
                }
            }
            b'{' | b'[' => {
                begin_element(&mut out, &mut stack);
                out.push(char::from(first));
                let is_object = first == b'{';
                let start = out.len();
                stack.push(Frame {
                    is_object,
                    start,
                    wants_key: is_object,
                    ..Frame::default()
                });
            }
            _ => {
                len = super::value_end(rest).max(1);
                begin_element(&mut out, &mut stack);
                let scalar = Raw::new(&rest[..len]);
                match scalar.as_f64() {
                    Some(n) => out.push_str(&number(n)),
                    None => out.push_str(&String::from_utf8_lossy(scalar.bytes())),
                }
                value_ended(&mut stack, &out);
            }
        }
        rest = &rest[len..];
    }
}

fn begin_element(out: &mut String, stack: &mut [Frame]) {
    if let Some(frame) = stack.last_mut().filter(|frame| !frame.is_object) {
        if frame.elements > 0 {
            out.push(',');
        }
        frame.elements += 1;
    }
}

fn begin_member(out: &mut String, frame: &mut Frame, key: Raw<'_>) {
    if !frame.members.is_empty() {
        out.push(',');
    }
    let start = out.len();
    let mut quoted = String::new();
    string(key, &mut quoted);
    out.push_str(&quoted);
    out.push(':');
    frame.members.push((quoted, start, start));
    frame.wants_key = false;
}

fn value_ended(stack: &mut [Frame], out: &str) {
    if let Some(frame) = stack.last_mut().filter(|frame| frame.is_object) {
        frame.wants_key = true;
        if let Some((_, _, end)) = frame.members.last_mut() {
            *end = out.len();
        }
    }
}

/// Puts the members of the object that ends here in JavaScript's order, if they are not.
fn put_in_order(out: &mut String, frame: &Frame) {
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(frame.members.len());
    let mut members: Vec<&(String, usize, usize)> = Vec::with_capacity(frame.members.len());
    for member in &frame.members {
        // A repeated key keeps its first place and takes its last value.
        if let Some(&place) = places.get(member.0.as_str()) {
            members[place] = member;
        } else {
            places.insert(&member.0, members.len());
            members.push(member);
        }
    }
    let has_index = members.iter().any(|(key, ..)| array_index(key).is_some());
    if !has_index && members.len() == frame.members.len() {
        return;
    }
    members.sort_by_key(|(key, ..)| array_index(key).map_or((1, 0), |n| (0, n)));
    let ordered: Vec<&str> = members
        .iter()
        .map(|&&(_, start, end)| &out[start..end])
        .collect();
    let ordered = ordered.join(",");
    out.truncate(frame.start);
    out.push_str(&ordered);
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
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(stringify(Raw::new(deep.as_bytes())), deep);
    }
}

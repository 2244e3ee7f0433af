//! JSON indented for people; keys, numbers and strings keep their spelling.

use super::Raw;

/// The value on several lines, indented by two spaces a level. Any depth, without recursion.
pub fn indent(value: Raw<'_>) -> String {
    let text = value.to_json();
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0usize;
    let mut rest = text.as_bytes();
    while let Some(&b) = rest.first() {
        let mut used = 1;
        match b {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            b'"' => {
                used = super::string_end(rest);
                out.push_str(&String::from_utf8_lossy(&rest[..used]));
            }
            b'{' | b'[' => {
                out.push(char::from(b));
                let inside = super::skip_separators(&rest[1..]);
                if matches!(inside.first(), Some(b'}' | b']')) {
                    out.push(char::from(inside[0]));
                    used = rest.len() - inside.len() + 1;
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(char::from(b));
            }
            b',' => {
                out.push(',');
                new_line(&mut out, depth);
            }
            b':' => out.push_str(": "),
            _ => out.push(char::from(b)),
        }
        rest = &rest[used..];
    }
    out
}

/// Indentation stops growing here, so that hostile depth cannot fill the memory.
const DEEPEST: usize = 100;

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth.min(DEEPEST)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_spelling() {
        let json = br#"{"b":1.0,"a":[1e400,{},[ ],"x,\u0041"],"a":null}"#;
        let wanted = "{\n  \"b\": 1.0,\n  \"a\": [\n    1e400,\n    {},\n    [],\n    \
                      \"x,\\u0041\"\n  ],\n  \"a\": null\n}";
        assert_eq!(indent(Raw::new(json)), wanted);
    }
}

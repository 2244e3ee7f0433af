//! Setting one key of a stored object while every other byte stays as it is.

use crate::json::Raw;

/// The object with a key set to JSON text. Where the key stands already, only the bytes of its
/// value change (of its last value, which is the one that counts); else it is added at the end.
pub fn set(object: &[u8], key: &str, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    let raw = Raw::new(object);
    let line = raw.bytes();
    let mut out = Vec::with_capacity(line.len() + value.len() + key.len() + 4);
    if let Some((start, end)) = place(raw, key) {
        out.extend_from_slice(&line[..start]);
        out.extend_from_slice(value);
        out.extend_from_slice(&line[end..]);
        return out;
    }
    let body = line.strip_suffix(b"}").unwrap_or(line);
    out.extend_from_slice(body);
    if raw.members().next().is_some() {
        out.push(b',');
    }
    out.extend_from_slice(format!("\"{key}\":").as_bytes());
    out.extend_from_slice(value);
    out.push(b'}');
    out
}

/// Where the value of a key lies in the object's bytes.
fn place(object: Raw<'_>, key: &str) -> Option<(usize, usize)> {
    let value = object.get(key)?.bytes();
    // Both are slices of one buffer.
    let start = value
        .as_ptr()
        .addr()
        .checked_sub(object.bytes().as_ptr().addr())?;
    Some((start, start + value.len()))
}

#[cfg(test)]
mod tests {
    use super::set;

    #[test]
    fn only_the_value_changes() {
        for (object, wanted) in [
            (
                r#"{"a":1.0, "p" : "x" ,"z":"\ud83d"}"#,
                r#"{"a":1.0, "p" : null ,"z":"\ud83d"}"#,
            ),
            (r#"{"p":1,"p":[{}] }"#, r#"{"p":1,"p":null }"#),
            (r#"{"q":{"p":1}}"#, r#"{"q":{"p":1},"p":null}"#),
            (r#" {} "#, r#"{"p":null}"#),
        ] {
            let set = set(object.as_bytes(), "p", "null");
            assert_eq!(String::from_utf8_lossy(&set), wanted);
        }
        assert_eq!(
            set(b"{\"p\":\"\xff\",\"b\":\"\xff\"}", "p", "1"),
            b"{\"p\":1,\"b\":\"\xff\"}"
        );
    }
}

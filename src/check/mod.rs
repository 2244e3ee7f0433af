//! Damage: what a line that does not parse still holds.

use crate::json::scan::Window;

/// A line with more beginnings of objects than this is not searched further.
const ATTEMPTS: usize = 256;

/// The stretches of a line that are whole JSON objects with a `type`: records that were glued
/// together, or that follow the torn beginning of another.
pub fn records_in(line: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    let starts = memchr::memmem::find_iter(line, b"{\"").take(ATTEMPTS);
    for start in starts {
        if found.last().is_some_and(|last| start < last.end) {
            continue;
        }
        if let Some(len) = object_length(&line[start..]) {
            let object = crate::json::Raw::new(&line[start..start + len]);
            if object.get("type").is_some_and(crate::json::Raw::is_string) {
                found.push(start..start + len);
            }
        }
    }
    found
}

/// The length of the JSON object at the start of the bytes.
fn object_length(bytes: &[u8]) -> Option<usize> {
    let mut window = Window::new(&bytes, 0, bytes.len() as u64);
    window.skip_value().ok()?;
    usize::try_from(window.offset()).ok()
}

#[cfg(test)]
mod tests {
    use super::records_in;

    #[test]
    fn whole_records_are_found_in_broken_lines() {
        let a = r#"{"type":"message","id":"a"}"#;
        let b = r#"{"type":"message","id":"b","message":{"content":[{"type":"text"}]}}"#;
        for (line, wanted) in [
            (format!("{a}{b}"), vec![a, b]),
            (format!("{a}  {b}"), vec![a, b]),
            (format!("{}{b}", &a[..20]), vec![b]),
            (format!("\0\0\0{b}"), vec![b]),
            (a[..20].to_owned(), vec![]),
        ] {
            let found: Vec<_> = records_in(line.as_bytes())
                .into_iter()
                .map(|r| &line[r])
                .collect();
            assert_eq!(found, wanted, "{line}");
        }
    }
}

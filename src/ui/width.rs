//! Text in columns: widths follow Unicode, cuts fall between what a person sees as characters.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text in at most `columns`, cut with `mark` where it does not fit.
pub(crate) fn cut(text: &str, columns: usize, mark: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(width(mark));
    let mut out = text[..prefix(text, room)].to_owned();
    if columns >= width(mark) {
        out.truncate(out.trim_end().len());
        out.push_str(mark);
    }
    out
}

/// Length in bytes of the longest beginning that takes no more than `columns`.
pub(crate) fn prefix(text: &str, columns: usize) -> usize {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += width(grapheme);
        if used > columns {
            return at;
        }
    }
    text.len()
}

/// The line with spaces for tabs, which go to every eighth column.
pub(crate) fn expand_tabs(line: &str) -> Cow<'_, str> {
    if !line.contains('\t') {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len() + 8);
    for (n, part) in line.split('\t').enumerate() {
        if n > 0 {
            let fill = 8 - width(&out) % 8;
            out.extend(std::iter::repeat_n(' ', fill));
        }
        out.push_str(part);
    }
    Cow::Owned(out)
}

/// The text cut or filled with spaces to exactly `columns`.
pub(crate) fn fit(text: &str, columns: usize, mark: &str) -> String {
    let mut out = cut(text, columns, mark);
    let fill = columns.saturating_sub(width(&out));
    out.extend(std::iter::repeat_n(' ', fill));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_fall_between_characters() {
        for (text, columns, wanted) in [
            ("hello", 5, "hello"),
            ("hello", 4, "hel…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("👩‍💻👩‍💻", 3, "👩‍💻…"),
            ("ab cd", 4, "ab…"),
            ("abc", 0, ""),
        ] {
            assert_eq!(cut(text, columns, "…"), wanted, "{text} in {columns}");
        }
        assert_eq!(fit("日", 4, "…"), "日  ");
        assert_eq!(fit("日本語", 4, "…"), "日… ");
    }
}

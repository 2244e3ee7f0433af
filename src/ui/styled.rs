//! Pieces of text in styles, laid out as lines of a given width.

use std::ops::Range;

use super::sanitize::visible_lines;
use super::style::{Mark, Painter};
use super::width::{expand_tabs, prefix, width};

/// Text of which stretches have a style. Everything that goes in is made harmless.
#[derive(Debug, Default, Clone)]
pub(crate) struct Styled {
    text: String,
    spans: Vec<(Range<usize>, Mark)>,
}

impl Styled {
    /// One piece.
    pub(crate) fn new(mark: Mark, text: &str) -> Styled {
        let mut styled = Styled::default();
        styled.push(mark, text);
        styled
    }

    /// Adds a piece.
    pub(crate) fn push(&mut self, mark: Mark, text: &str) {
        let start = self.text.len();
        // A tab would be as wide as the terminal likes.
        self.text.push_str(&visible_lines(text).replace('\t', " "));
        let end = self.text.len();
        if mark == Mark::Plain || end == start {
            return;
        }
        match self.spans.last_mut() {
            Some((span, held)) if *held == mark && span.end == start => span.end = end,
            _ => self.spans.push((start..end, mark)),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub(crate) fn width(&self) -> usize {
        width(&self.text)
    }

    /// The lines that the text takes in so many columns, broken between words; words that are too
    /// long are broken, too.
    pub(crate) fn wrap(&self, columns: usize, painter: Painter) -> Vec<String> {
        let options = textwrap::Options::new(columns.max(1))
            .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
            .word_splitter(textwrap::WordSplitter::NoHyphenation)
            .word_separator(textwrap::WordSeparator::AsciiSpace);
        self.paint(textwrap::wrap(&self.text, options), painter)
    }

    /// The lines that the text takes in so many columns, broken anywhere.
    pub(crate) fn break_anywhere(&self, columns: usize, painter: Painter) -> Vec<String> {
        let lines = self.text.split('\n').flat_map(|line| pieces(line, columns));
        self.paint(lines, painter)
    }

    /// The lines as they are.
    pub(crate) fn lines(&self, painter: Painter) -> Vec<String> {
        self.paint(self.text.split('\n'), painter)
    }

    /// Paints lines that are stretches of the text, in order.
    fn paint<L: AsRef<str>>(
        &self,
        lines: impl IntoIterator<Item = L>,
        painter: Painter,
    ) -> Vec<String> {
        let mut from = 0;
        let mut painted = Vec::new();
        for line in lines {
            let line = line.as_ref();
            // Only white space is left out between two lines.
            let start = self.text[from..].find(line).map_or(from, |at| from + at);
            from = (start + line.len()).min(self.text.len());
            painted.push(self.stretch(start..from, painter));
        }
        painted
    }

    fn stretch(&self, range: Range<usize>, painter: Painter) -> String {
        let mut out = String::new();
        let mut at = range.start;
        for (span, mark) in &self.spans {
            let (start, end) = (span.start.max(at), span.end.min(range.end));
            if start >= end {
                continue;
            }
            out.push_str(&self.text[at..start]);
            out.push_str(&painter.paint(*mark, &self.text[start..end]));
            at = end;
        }
        out.push_str(&self.text[at..range.end]);
        out
    }
}

/// A line in pieces of so many columns; one piece, if empty, where it is empty.
fn pieces(line: &str, columns: usize) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest.take()?;
        // Something goes into each piece, however narrow it is.
        let least = line.chars().next().map_or(0, char::len_utf8);
        let (piece, more) = line.split_at(prefix(line, columns).max(least));
        rest = Some(more).filter(|more| !more.is_empty());
        Some(piece)
    })
}

/// Lines of text as they were typed or printed: tabs become spaces, and a line that is longer
/// than `columns`, where that is given, is broken between words or, if `hard`, anywhere.
pub(crate) fn plain_lines(text: &str, columns: Option<usize>, hard: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.trim_end().split('\n') {
        let visible = visible_lines(line.trim_end_matches('\r'));
        let line = expand_tabs(&visible);
        match columns {
            Some(columns) if width(&line) > columns && !hard => {
                lines.extend(
                    Styled::new(Mark::Plain, &line).wrap(columns, Painter { color: false }),
                );
            }
            Some(columns) => lines.extend(pieces(&line, columns).map(str::to_owned)),
            _ => lines.push(line.into_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_go_on_behind_a_break() {
        let mut styled = Styled::new(Mark::Plain, "one ");
        styled.push(Mark::Id, "two three");
        styled.push(Mark::Plain, " four\nfive");
        let painter = Painter { color: true };
        let plain = Painter { color: false };
        let lines = styled.wrap(8, plain);
        assert_eq!(lines, ["one two", "three", "four", "five"]);
        let id = |text: &str| painter.paint(Mark::Id, text);
        let wanted = [
            format!("one {}", id("two")),
            id("three"),
            "four".into(),
            "five".into(),
        ];
        assert_eq!(styled.wrap(8, painter), wanted);
    }

    #[test]
    fn long_lines_are_broken_by_width() {
        assert_eq!(
            plain_lines("日本語\tx\n", Some(4), true),
            ["日本", "語  ", "x"]
        );
        assert_eq!(plain_lines("  a bb ccc", Some(6), false), ["  a bb", "ccc"]);
        assert_eq!(plain_lines("a\u{1b}[2J", None, true), ["a^[[2J"]);
        assert_eq!(plain_lines("日本", Some(1), true), ["日", "本"]);
    }
}

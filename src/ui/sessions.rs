//! A row for a session: which is the current one, id, name or first words, directory, how much was
//! said, how long ago, size.

use std::path::Path;

use super::Ui;
use super::describe::thousands;
use super::rows::Line;
use super::sanitize::one_line;
use super::style::Mark;
use super::width::{cut, fit, width};
use crate::rev::syntax::quote_name;
use crate::store::list::Summary;
use crate::time;

/// Under this many columns, size and count give way to text.
const NARROW: usize = 60;
/// From this many columns on, the cost is shown.
const WIDE: usize = 140;
/// Text has this many columns before the directory has any.
const TEXT: usize = 12;
const AGE: usize = 4;
const SIZE: usize = 6;
const COST: usize = 8;
/// Ids are shown with at least so many characters.
const LEAST: usize = 8;

/// Beginnings of ids that each name one session of a list.
#[derive(Debug)]
pub(crate) struct ShortIds<'a> {
    sorted: Vec<&'a str>,
}

impl<'a> ShortIds<'a> {
    pub(crate) fn new(ids: impl Iterator<Item = &'a str>) -> Self {
        let mut sorted: Vec<_> = ids.collect();
        sorted.sort_unstable();
        sorted.dedup();
        ShortIds { sorted }
    }

    /// The shortest beginning, of at least eight characters, that no other id has. What does not
    /// look random is a name, and whole.
    pub(crate) fn short(&self, id: &str) -> String {
        if !id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') {
            return id.to_owned();
        }
        let at = self.sorted.partition_point(|other| *other < id);
        let neighbours = [at.checked_sub(1), Some(at + 1)];
        let neighbours = neighbours.into_iter().flatten();
        let shared = neighbours.filter_map(|n| self.sorted.get(n).map(|other| common(id, other)));
        let mut len = shared.max().map_or(LEAST, |n| n + 1).max(LEAST);
        // A dash at the end says nothing.
        if id.as_bytes().get(len - 1) == Some(&b'-') {
            len += 1;
        }
        id.chars().take(len).collect()
    }
}

fn common(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// Whether a list has a column for the cost.
pub(crate) fn shows_cost(ui: &Ui) -> bool {
    ui.width >= WIDE
}

/// Columns for rows of sessions, as wide as what stands in them.
#[derive(Debug)]
pub(crate) struct Columns<'a> {
    ids: ShortIds<'a>,
    home: Option<&'a Path>,
    now: i64,
    current: Option<&'a Path>,
    id: usize,
    text: usize,
    cwd: usize,
    count: usize,
    cost: bool,
}

impl<'a> Columns<'a> {
    /// Measures what is to be shown. `everywhere` asks for the directory of each.
    pub(crate) fn new(
        ui: &Ui,
        ids: ShortIds<'a>,
        shown: &[&Summary],
        everywhere: bool,
        home: Option<&'a Path>,
    ) -> Self {
        let most = |wide: &mut dyn Iterator<Item = usize>| wide.max().unwrap_or_default();
        let narrow = ui.width < NARROW;
        let mut columns = Columns {
            id: 0,
            text: 0,
            cwd: 0,
            count: if narrow && everywhere {
                0
            } else {
                most(&mut shown.iter().map(|s| s.message_count.to_string().len()))
            },
            ids,
            home,
            now: 0,
            current: None,
            cost: shows_cost(ui) && shown.iter().any(|s| s.cost.is_some()),
        };
        let id = most(&mut shown.iter().map(|s| width(&columns.id(s))));
        columns.id = id.min((ui.width / 4).max(LEAST));
        columns.text = most(&mut shown.iter().map(|s| total(&text(s))));
        if everywhere {
            let cwd = most(&mut shown.iter().map(|s| width(&columns.cwd(s))));
            columns.cwd = cwd.min(ui.width / 4);
        }
        columns
    }

    /// What the rows are marked and dated by.
    pub(crate) fn marking(self, current: Option<&'a Path>, now: i64) -> Self {
        Columns {
            now,
            current,
            ..self
        }
    }

    /// The row.
    pub(crate) fn render(&self, ui: &Ui, session: &Summary) -> String {
        let ellipsis = if ui.unicode() { "…" } else { "~" };
        let is_current = self.current == Some(&session.path);
        let mut tail = String::new();
        if self.count > 0 {
            tail.push_str(&format!(" {:>1$}", session.message_count, self.count));
        }
        let age = session.modified.map(|then| time::ago(self.now, then));
        tail.push_str(&format!(" {:>AGE$}", age.as_deref().unwrap_or("-")));
        if ui.width >= NARROW {
            tail.push_str(&format!(" {:>SIZE$}", bytes(session.size)));
        }
        if self.cost {
            let cost = session.cost.map(super::describe::dollars);
            tail.push_str(&format!(" {:>COST$}", cost.as_deref().unwrap_or("-")));
        }
        let fixed = 2 + self.id + 2 + width(&tail);
        let free = ui.width.saturating_sub(fixed);
        let cwd = self.cwd.min(free.saturating_sub(TEXT + 2));
        let gap = if cwd > 0 { cwd + 2 } else { 0 };
        let room = free.saturating_sub(gap).min(self.text);

        let mut line = Line::new(ui, true, ui.width, ellipsis);
        line.push(Mark::Leaf, if is_current { "* " } else { "  " });
        line.push(Mark::Id, &fit(&self.id(session), self.id, ellipsis));
        line.push(Mark::Plain, "  ");
        let mut left = room;
        for (mark, piece) in text(session) {
            let piece = cut(&piece, left, ellipsis);
            left -= width(&piece);
            line.push(mark, &piece);
        }
        line.push(Mark::Plain, &" ".repeat(left));
        if cwd > 0 {
            line.push(Mark::Plain, "  ");
            let shown = cut_front(&self.cwd(session), cwd, ellipsis);
            line.push(Mark::Meta, &fit(&shown, cwd, ellipsis));
        }
        line.push(Mark::Dim, &tail);
        line.finish()
    }

    fn id(&self, session: &Summary) -> String {
        one_line(&quote_name(&self.ids.short(&session.header.id)))
    }

    /// The directory, with `~` for the home directory.
    fn cwd(&self, session: &Summary) -> String {
        let cwd = session.header.cwd.as_deref().unwrap_or("-");
        let inside = self
            .home
            .and_then(|home| Path::new(cwd).strip_prefix(home).ok());
        match inside {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => one_line(&format!("~/{}", rest.display())),
            None => one_line(cwd),
        }
    }
}

/// The name, and the first words behind it.
fn text(session: &Summary) -> Vec<(Mark, String)> {
    let first = session.first_message.as_deref().map(one_line);
    match (&session.name, first) {
        (Some(name), Some(first)) => vec![
            (Mark::Label, one_line(name)),
            (Mark::Dim, format!("  {first}")),
        ],
        (Some(name), None) => vec![(Mark::Label, one_line(name))],
        (None, Some(first)) => vec![(Mark::Plain, first)],
        (None, None) => vec![(Mark::Dim, "(no messages)".to_owned())],
    }
}

fn total(pieces: &[(Mark, String)]) -> usize {
    pieces.iter().map(|(_, piece)| width(piece)).sum()
}

/// The end of a text in at most `columns`: of a path it says more than the beginning.
fn cut_front(text: &str, columns: usize, ellipsis: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(width(ellipsis));
    let fits = |&(at, _): &(usize, char)| width(&text[at..]) <= room;
    let start = text
        .char_indices()
        .find(fits)
        .map_or(text.len(), |(at, _)| at);
    cut(&format!("{ellipsis}{}", &text[start..]), columns, "")
}

/// A number of bytes in a few characters.
fn bytes(size: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "it is rounded anyway")]
    let size = size as f64;
    if size < 999_500_000.0 {
        return thousands(size);
    }
    format!("{:.1}G", size / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_name_one_session_each() {
        let ids = ["01976a7c-1111", "01976a7c-1122", "01976b00-1111", "named"];
        let short = ShortIds::new(ids.iter().chain(&ids).copied());
        let shortened = ids.map(|id| short.short(id));
        assert_eq!(
            shortened,
            ["01976a7c-111", "01976a7c-112", "01976b00", "named"]
        );
    }

    #[test]
    fn of_a_path_the_end_is_kept() {
        for (columns, wanted) in [(12, "/home/a/日本"), (8, "…/a/日本"), (4, "…本"), (1, "…")]
        {
            assert_eq!(cut_front("/home/a/日本", columns, "…"), wanted);
        }
        assert_eq!(
            (bytes(999), bytes(2_400_000_000)),
            ("999".into(), "2.4G".into())
        );
    }
}

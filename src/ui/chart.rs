//! Rows of figures under a title, each with a bar, in columns that fit the terminal.

use super::Ui;
use super::sanitize::one_line;
use super::style::Mark;
use super::width::{cut, fit, width};

/// One row.
#[derive(Debug)]
pub(crate) struct Row {
    /// What it is of; it is made harmless here.
    pub(crate) name: String,
    /// What stands for the name where that does not fit.
    pub(crate) short: Option<String>,
    /// The figures, one a column.
    pub(crate) cells: Vec<String>,
    /// What the bar shows.
    pub(crate) value: f64,
}

/// Columns before a name.
const INDENT: usize = 2;

/// Columns between two of them.
const GAP: usize = 2;

/// A longer bar says no more.
const LONGEST_BAR: usize = 40;

/// A longer name may be cut for the sake of the bars.
const LONG_NAME: usize = 32;

/// A shorter bar says nothing.
const SHORTEST_BAR: usize = 4;

/// Prints rows under a title and the heads of their columns.
pub(crate) fn print(ui: &mut Ui, title: &str, heads: &[&str], rows: &[Row]) -> std::io::Result<()> {
    for line in lines(ui, title, heads, rows) {
        ui.row(&line)?;
    }
    Ok(())
}

fn lines(ui: &Ui, title: &str, heads: &[&str], rows: &[Row]) -> Vec<String> {
    let (block, ellipsis) = if ui.unicode() {
        ("█", "…")
    } else {
        ("#", "~")
    };
    let cells: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(n, head)| {
            let widths = rows.iter().filter_map(|row| Some(width(row.cells.get(n)?)));
            widths.chain([width(head)]).max().unwrap_or_default()
        })
        .collect();
    let figures: usize = cells.iter().map(|n| n + GAP).sum();
    let names = rows.iter().map(|row| one_line(&row.name));
    let names: Vec<String> = names.collect();
    // The title stands where the names do, further left.
    let longest = names.iter().map(|name| width(name) + INDENT);
    let longest = longest.chain([width(title)]).max().unwrap_or_default();
    let free = ui.width.saturating_sub(figures);
    // A long name gives way to the bars, bars give way to a short one.
    let column = longest.min(free).min((free / 2).max(LONG_NAME));
    let room = free.saturating_sub(column + GAP).min(LONGEST_BAR);
    // One alone would be compared with itself.
    let (column, room) = if room < SHORTEST_BAR || rows.len() < 2 {
        (longest.min(free), 0)
    } else {
        (column, room)
    };
    let most = rows.iter().map(|row| row.value).filter(|v| v.is_finite());
    let most = most.fold(0.0, f64::max);

    let line = |mark: Mark, name: &str, figures: &[&str], bar: usize| {
        let columns = cells.iter().zip(figures);
        let figures: String = columns
            .map(|(columns, text)| format!("{:GAP$}{text:>columns$}", ""))
            .collect();
        let name = fit(name, column, ellipsis);
        let (name, figures) = (
            name.as_str(),
            cut(&figures, ui.width - column.min(ui.width), ""),
        );
        let mut out = format!("{}{figures}", ui.painter.paint(mark, name));
        if bar > 0 {
            let bar = ui.painter.paint(Mark::Assistant, &block.repeat(bar));
            out.push_str(&format!("{:GAP$}{bar}", ""));
        }
        out.truncate(out.trim_end().len());
        out
    };
    let mut out = vec![line(Mark::Strong, title, heads, 0)];
    for (row, name) in rows.iter().zip(&names) {
        let figures: Vec<&str> = row.cells.iter().map(String::as_str).collect();
        let bar = length(row.value, most, room);
        let name = match &row.short {
            Some(short) if width(name) + INDENT > column => &one_line(short),
            _ => name,
        };
        out.push(line(
            Mark::Plain,
            &format!("{:INDENT$}{name}", ""),
            &figures,
            bar,
        ));
    }
    out
}

/// The length of a bar; what is more than nothing is seen.
fn length(value: f64, most: f64, room: usize) -> usize {
    if value <= 0.0 || value.is_nan() || room == 0 {
        return 0;
    }
    if value >= most {
        return room;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a few columns"
    )]
    let columns = (value / most * room as f64).round() as usize;
    columns.max(1)
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn bars_are_in_proportion_and_never_vanish() {
        for (value, most, wanted) in [
            (0.0, 0.0, 0),
            (10.0, 10.0, 20),
            (5.0, 10.0, 10),
            (0.001, 10.0, 1),
            (-1.0, 10.0, 0),
            (f64::NAN, 10.0, 0),
            (f64::INFINITY, 10.0, 20),
        ] {
            assert_eq!(length(value, most, 20), wanted, "{value} of {most}");
        }
    }
}

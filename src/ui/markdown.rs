//! Markdown as a terminal shows it.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::style::{Mark, Painter};
use super::styled::{Styled, plain_lines};
use super::width::{fit, width};

/// How Markdown is laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// Columns for prose.
    pub(crate) columns: usize,
    /// Columns for code; without them its lines stay whole.
    pub(crate) code: Option<usize>,
    pub(crate) painter: Painter,
    /// Whether there may be more than ASCII.
    pub(crate) unicode: bool,
}

/// The lines of a text in Markdown.
pub(crate) fn render(text: &str, look: Look) -> Vec<String> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = Page {
        look,
        lines: Vec::new(),
        inline: Styled::default(),
        marks: Vec::new(),
        prefixes: Vec::new(),
        lists: Vec::new(),
        item: None,
        code: None,
        link: None,
        table: None,
    };
    for event in Parser::new_ext(text, options) {
        page.event(event);
    }
    page.end_block();
    while page.lines.last().is_some_and(String::is_empty) {
        page.lines.pop();
    }
    page.lines
}

struct Page {
    look: Look,
    lines: Vec<String>,
    /// The paragraph at hand.
    inline: Styled,
    marks: Vec<Mark>,
    /// What stands before each line: quotes and the indentation of lists.
    prefixes: Vec<(Mark, String)>,
    /// For each open list the number of the next item.
    lists: Vec<Option<u64>>,
    /// What the next line begins with instead of the innermost prefix.
    item: Option<String>,
    code: Option<String>,
    /// Where the open link leads, and where its text starts.
    link: Option<(String, String)>,
    table: Option<Vec<Vec<Styled>>>,
}

impl Page {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code.is_some() => {
                self.code.get_or_insert_default().push_str(&text);
            }
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => self.text(&text),
            Event::Code(code) if self.look.painter.color => self.inline.push(Mark::Code, &code),
            Event::Code(code) => self.text(&format!("`{code}`")),
            Event::SoftBreak if self.table.is_none() => self.text(" "),
            Event::HardBreak if self.table.is_none() => self.text("\n"),
            Event::SoftBreak | Event::HardBreak => self.text(" "),
            Event::Rule => {
                self.end_block();
                let bar = if self.look.unicode { "─" } else { "-" };
                let rule = bar.repeat(self.room().min(40));
                self.emit(&[self.look.painter.paint(Mark::Dim, &rule)]);
            }
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }),
            Event::FootnoteReference(name) => self.text(&format!("[^{name}]")),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.end_block();
                self.marks.push(Mark::Strong);
                self.text(&format!("{} ", "#".repeat(level_of(level))));
            }
            Tag::BlockQuote(_) => {
                self.end_block();
                let bar = if self.look.unicode { "│ " } else { "> " };
                self.prefixes.push((Mark::Dim, bar.to_owned()));
            }
            Tag::CodeBlock(kind) => {
                self.end_block();
                self.code = Some(String::new());
                if let CodeBlockKind::Fenced(language) = kind
                    && !language.is_empty()
                {
                    let language = Styled::new(Mark::Dim, &language).lines(self.look.painter);
                    self.emit_part(&language);
                }
            }
            Tag::List(first) => {
                self.end_line();
                self.lists.push(first);
            }
            Tag::Item => self.start_item(),
            Tag::Emphasis => self.open(Mark::Emphasis, "*"),
            Tag::Strong => self.open(Mark::Strong, "**"),
            Tag::Strikethrough => self.text("~~"),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.into_string(), String::new()));
            }
            Tag::Table(_) => {
                self.end_block();
                self.table = Some(Vec::new());
            }
            Tag::TableHead | Tag::TableRow => self.table.get_or_insert_default().push(Vec::new()),
            Tag::HtmlBlock => self.end_block(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_block(),
            TagEnd::Heading(_) => {
                self.marks.pop();
                self.end_block();
            }
            TagEnd::BlockQuote(_) => {
                if !self.inline.is_empty() {
                    self.end_block();
                }
                let inner = self.prefix(false);
                self.prefixes.pop();
                // The line behind the last paragraph is no longer quoted.
                if self
                    .lines
                    .last()
                    .is_some_and(|line| line == inner.trim_end())
                {
                    self.lines.pop();
                    self.emit(&[]);
                }
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.end_line();
                self.lists.pop();
                if self.lists.is_empty() {
                    self.end_block();
                }
            }
            TagEnd::Item => {
                self.end_line();
                self.item = None;
                self.prefixes.pop();
            }
            TagEnd::Emphasis => self.close("*"),
            TagEnd::Strong => self.close("**"),
            TagEnd::Strikethrough => self.text("~~"),
            TagEnd::Link | TagEnd::Image => {
                if let Some((url, text)) = self.link.take()
                    && url != text
                    && !url.is_empty()
                {
                    self.text(" (");
                    self.inline.push(Mark::Link, &url);
                    self.text(")");
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.end_table(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, held)) = &mut self.link {
            held.push_str(text);
        }
        let mark = self.marks.last().copied().unwrap_or(Mark::Plain);
        self.inline.push(mark, text);
    }

    /// Emphasis shows without colour, too.
    fn open(&mut self, mark: Mark, sign: &str) {
        if !self.look.painter.color {
            self.text(sign);
        }
        self.marks.push(mark);
    }

    fn close(&mut self, sign: &str) {
        self.marks.pop();
        if !self.look.painter.color {
            self.text(sign);
        }
    }

    fn start_item(&mut self) {
        self.end_line();
        let bullet = match self.lists.last_mut() {
            Some(Some(n)) => {
                *n += 1;
                format!("{}. ", *n - 1)
            }
            _ if self.look.unicode => "• ".to_owned(),
            _ => "- ".to_owned(),
        };
        self.prefixes
            .push((Mark::Plain, " ".repeat(width(&bullet))));
        self.item = Some(bullet);
    }

    /// Columns behind the prefixes.
    fn room(&self) -> usize {
        let taken: usize = self.prefixes.iter().map(|(_, p)| width(p)).sum();
        // Deep nesting leaves a little for the text all the same.
        self.look.columns.saturating_sub(taken).max(10)
    }

    /// Prints the paragraph at hand.
    fn end_line(&mut self) {
        let inline = std::mem::take(&mut self.inline);
        if !inline.is_empty() {
            let lines = inline.wrap(self.room(), self.look.painter);
            self.emit_part(&lines);
        } else if self.item.is_some() && self.prefixes.len() > self.lists.len() {
            // An item that holds nothing but another list.
            self.emit_part(&[String::new()]);
        }
    }

    /// Prints the paragraph at hand, with a blank line behind it.
    fn end_block(&mut self) {
        let inline = std::mem::take(&mut self.inline);
        if !inline.is_empty() {
            let lines = inline.wrap(self.room(), self.look.painter);
            self.emit(&lines);
        } else if self.lists.is_empty() && self.lines.last().is_some_and(|l| !l.is_empty()) {
            self.lines.push(String::new());
        }
    }

    fn end_code(&mut self) {
        let code = self.code.take().unwrap_or_default();
        let room = self
            .look
            .code
            .map(|_| self.room().saturating_sub(2).max(10));
        let lines = plain_lines(&code, room, true);
        let lines: Vec<_> = lines
            .iter()
            .map(|line| format!("  {}", self.look.painter.paint(Mark::Code, line)))
            .collect();
        self.emit(&lines);
    }

    fn end_table(&mut self) {
        let rows = self.table.take().unwrap_or_default();
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let widest = |n| {
            rows.iter()
                .filter_map(|row: &Vec<Styled>| row.get(n))
                .map(Styled::width)
                .max()
        };
        let widths: Vec<_> = (0..columns)
            .map(|n| widest(n).unwrap_or_default())
            .collect();
        let (bar, rule) = if self.look.unicode {
            (" │ ", "─")
        } else {
            (" | ", "-")
        };
        let fits = widths.iter().sum::<usize>() + 3 * columns.saturating_sub(1) <= self.room();
        let mut lines = Vec::new();
        for (n, row) in rows.into_iter().enumerate() {
            if !fits {
                // Too wide for columns: a row is a paragraph.
                let mut line = Styled::default();
                for (n, cell) in row.iter().enumerate() {
                    line.push(Mark::Dim, if n > 0 { bar } else { "" });
                    line.push(
                        Mark::Plain,
                        cell.lines(Painter { color: false }).join(" ").trim(),
                    );
                }
                lines.extend(line.wrap(self.room(), self.look.painter));
                continue;
            }
            let cells = row.iter().zip(&widths).map(|(cell, &columns)| {
                let fill = columns.saturating_sub(cell.width());
                format!(
                    "{}{}",
                    cell.lines(self.look.painter).join(" "),
                    " ".repeat(fill)
                )
            });
            lines.push(cells.collect::<Vec<_>>().join(bar).trim_end().to_owned());
            if n == 0 {
                let rules: Vec<_> = widths.iter().map(|&n| rule.repeat(n)).collect();
                let cross = if self.look.unicode {
                    "─┼─"
                } else {
                    "-+-"
                };
                lines.push(self.look.painter.paint(Mark::Dim, &rules.join(cross)));
            }
        }
        self.emit(&lines);
    }

    /// Adds lines and a blank one.
    fn emit(&mut self, lines: &[String]) {
        self.emit_part(lines);
        let blank = self.prefix(false);
        self.lines.push(blank.trim_end().to_owned());
    }

    fn emit_part(&mut self, lines: &[String]) {
        for line in lines {
            let prefix = self.prefix(true);
            self.lines
                .push(format!("{prefix}{line}").trim_end().to_owned());
        }
    }

    /// What stands before the next line; with the bullet, where one is due.
    fn prefix(&mut self, bullet: bool) -> String {
        let bullet = if bullet { self.item.take() } else { None };
        let last = self.prefixes.len().checked_sub(1);
        let paint = |(n, (mark, prefix)): (usize, &(Mark, String))| match &bullet {
            Some(bullet) if Some(n) == last => fit(bullet, width(prefix), ""),
            _ => self.look.painter.paint(*mark, prefix),
        };
        self.prefixes.iter().enumerate().map(paint).collect()
    }
}

fn level_of(level: HeadingLevel) -> usize {
    level as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, columns: usize) -> String {
        let look = Look {
            columns,
            code: Some(columns),
            painter: Painter { color: false },
            unicode: true,
        };
        render(text, look).join("\n")
    }

    #[test]
    fn blocks_are_laid_out() {
        let text = "# Title\n\nSome *words* and `code`,\nwrapped in **twenty** columns.\n\n\
            - one\n- two\n  - inner\n    more\n\n3. three\n4. four\n\n> quoted\n> text\n\n---\n\n\
            ```rust\nfn main() {}\n\tx\n```\n\n[x](http://y) <http://z>\n\n- [ ] todo";
        let wanted = "\
# Title

Some *words* and
`code`, wrapped in
**twenty** columns.

• one
• two
  • inner more

3. three
4. four

│ quoted text

────────────────────

rust
  fn main() {}
          x

x (http://y)
http://z

• [ ] todo";
        assert_eq!(shown(text, 20), wanted);
    }

    #[test]
    fn tables_are_columns_where_they_fit() {
        let text = "| a | long |\n|---|---|\n| 日本 | x |\n";
        assert_eq!(shown(text, 20), "a    │ long\n─────┼─────\n日本 │ x");
        assert_eq!(shown(text, 10), "a │ long\n日本 │ x");
    }

    #[test]
    fn nothing_in_it_acts_on_the_terminal() {
        let text = "a\u{1b}[2J `\u{9b}` &#x1b;[2J <b\u{202e}>\n\n```\n\u{7}\n```\n";
        let shown = shown(text, 60);
        assert!(
            !shown.chars().any(|c| c != '\n' && c.is_control()),
            "{shown:?}"
        );
        assert!(!shown.contains('\u{202e}'), "{shown:?}");
    }
}

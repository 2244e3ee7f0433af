//! What people see: output, colour, columns, the graph and the tree.
//!
//! [`Ui`] is the only way to stdout and stderr. It decides once what the terminal can take.

pub(crate) mod calls;
pub(crate) mod chart;
pub(crate) mod describe;
pub(crate) mod filter;
pub(crate) mod format;
pub(crate) mod full;
pub(crate) mod graph;
pub(crate) mod markdown;
pub(crate) mod notices;
mod pager;
mod progress;
pub(crate) mod record;
pub(crate) mod rows;
pub(crate) mod sanitize;
pub(crate) mod sessions;
pub(crate) mod stat;
pub(crate) mod style;
pub(crate) mod styled;
pub(crate) mod treeview;
pub(crate) mod width;

use std::io::{self, BufWriter, Write};

use serde::Serialize;

use crate::cli::Terminal;
use crate::cli::args::{ColorChoice, Global};
use style::Painter;

/// Columns where nothing says how many there are.
const DEFAULT_WIDTH: usize = 80;

/// Where output goes, and how it may look.
pub struct Ui {
    out: Box<dyn Write>,
    pager: Option<pager::Pager>,
    terminal: Terminal,
    /// Columns of the terminal.
    pub(crate) width: usize,
    /// Colours, where wanted.
    pub(crate) painter: Painter,
    json: bool,
    quiet: bool,
    no_pager: bool,
    end: &'static str,
}

impl std::fmt::Debug for Ui {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ui")
            .field("terminal", &self.terminal)
            .finish_non_exhaustive()
    }
}

impl Ui {
    /// Decides what output looks like.
    pub(crate) fn new(global: &Global, terminal: &Terminal) -> Ui {
        let color = match global.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            // The order of the clicolors convention: forced, forbidden, then what the terminal is.
            ColorChoice::Auto if terminal.no_color => false,
            ColorChoice::Auto if terminal.force_color => true,
            ColorChoice::Auto => terminal.stdout && !terminal.dumb,
        };
        Ui {
            out: Box::new(BufWriter::with_capacity(64 * 1024, io::stdout().lock())),
            pager: None,
            width: terminal.width.unwrap_or(DEFAULT_WIDTH),
            painter: Painter { color },
            terminal: terminal.clone(),
            json: global.json,
            quiet: global.quiet,
            no_pager: global.no_pager,
            end: if global.nul { "\0" } else { "\n" },
        }
    }

    /// Whether lines may be drawn with more than ASCII.
    pub(crate) fn unicode(&self) -> bool {
        self.terminal.utf8 && !self.terminal.dumb
    }

    /// Whether stdout is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal.stdout
    }

    /// Sends what follows through the pager, on a terminal.
    pub(crate) fn page(&mut self) {
        if self.no_pager || !self.terminal.stdout || self.json || self.pager.is_some() {
            return;
        }
        if self.terminal.dumb && self.terminal.pager.is_none() {
            return;
        }
        if let Some((pager, input)) =
            pager::start(self.terminal.pager.as_deref(), self.terminal.less)
        {
            self.out = Box::new(BufWriter::new(input));
            self.pager = Some(pager);
        }
    }

    /// Prints a row, ended by a newline, or by NUL with `-z`.
    pub(crate) fn row(&mut self, row: &str) -> io::Result<()> {
        self.out.write_all(row.as_bytes())?;
        self.out.write_all(self.end.as_bytes())
    }

    /// Prints a row of what a session says as it is; on a terminal made harmless.
    pub(crate) fn plain_row(&mut self, row: &str) -> io::Result<()> {
        self.bytes(row.as_bytes())?;
        self.out.write_all(self.end.as_bytes())
    }

    /// Prints a value as one line of JSON.
    pub(crate) fn json_row<T: Serialize + ?Sized>(&mut self, value: &T) -> io::Result<()> {
        let line = crate::json::to_line(value)?;
        let line = if self.terminal.stdout {
            sanitize::json(&line)
        } else {
            line.as_str().into()
        };
        self.row(&line)
    }

    /// Prints bytes as they are; on a terminal made harmless.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.terminal.stdout {
            let text = String::from_utf8_lossy(bytes);
            return self
                .out
                .write_all(sanitize::visible_lines(&text).as_bytes());
        }
        self.out.write_all(bytes)
    }

    /// Prints text that pis itself made.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    /// What ends a row.
    pub(crate) fn row_end(&self) -> &'static str {
        self.end
    }

    /// Hands on what was printed so far.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// A bar on stderr for what may take longer than a moment; where nobody looks, nothing.
    pub(crate) fn progress(&self, total: u64, what: &'static str) -> progress::Progress {
        let wanted = self.terminal.stderr && !self.terminal.dumb && !self.quiet && !self.json;
        progress::Progress::new(wanted, total, what)
    }

    /// Says something on stderr that is no error.
    pub(crate) fn note(&self, kind: &str, message: &str) {
        if self.quiet {
            return;
        }
        if self.json {
            let note = serde_json::json!({ "note": { "kind": kind, "message": message } });
            let line = crate::json::to_line(&note).unwrap_or_default();
            say(&sanitize::json(&line));
        } else {
            say(&format!("note: {}", sanitize::visible(message)));
        }
    }

    /// Ends the output: flushes, and waits for the pager.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        let written = self.out.flush();
        if let Some(pager) = self.pager.take() {
            // The pager sees the end of its input only once it is closed.
            self.out = Box::new(io::sink());
            pager.wait();
            // A pager that was left early is no error.
            return match written {
                Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                written => written,
            };
        }
        written
    }
}

/// Prints a line on stderr. Nothing can be done about a stderr that does not take it.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

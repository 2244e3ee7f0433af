//! The pager: a program that shows long output, started only on a terminal.

use std::io;
use std::process::{Child, Command, Stdio};

/// A pager that runs. Its standard input is taken by whoever writes.
#[derive(Debug)]
pub(crate) struct Pager(Child);

/// Starts the pager of a command line (`less -FRX` where none is set), or `None` where there is
/// to be none, or it cannot be started. `set_less` is whether `LESS` is already set.
pub(crate) fn start(
    command: Option<&str>,
    set_less: bool,
) -> Option<(Pager, impl io::Write + use<>)> {
    let words = shlex::split(command.unwrap_or("less -FRX"))?;
    let (program, args) = words.split_first()?;
    if program == "cat" {
        return None;
    }
    let mut pager = Command::new(program);
    pager.args(args).stdin(Stdio::piped());
    if !set_less {
        // Colours come through and a short text does not fill the screen, as git sees to it.
        pager.env("LESS", "FRX");
    }
    let mut child = pager.spawn().ok()?;
    let stdin = child.stdin.take()?;
    Some((Pager(child), stdin))
}

impl Pager {
    /// Waits until the user leaves the pager. Its input must have been closed.
    pub(crate) fn wait(mut self) {
        // How it ended is its own affair.
        let _ = self.0.wait();
    }
}

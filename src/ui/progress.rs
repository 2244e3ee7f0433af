//! Progress on stderr, for what takes longer than a moment.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is done sooner shows nothing.
const MOMENT: Duration = Duration::from_millis(300);

/// A bar that counts bytes. It shows itself after a moment and goes away when it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
    hidden: AtomicBool,
    /// Whether there is a terminal that should show it.
    wanted: bool,
}

impl Progress {
    pub(super) fn new(wanted: bool, total: u64, what: &'static str) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:30}] {bytes} of {total_bytes}")
        {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what);
        Progress {
            bar,
            start: Instant::now(),
            hidden: AtomicBool::new(true),
            wanted,
        }
    }

    /// So many bytes more are done. May be called by several threads.
    pub(crate) fn passed(&self, bytes: u64) {
        if !self.wanted {
            return;
        }
        let is_due = self.start.elapsed() > MOMENT && self.hidden.load(Ordering::Relaxed);
        if is_due && self.hidden.swap(false, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(bytes);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

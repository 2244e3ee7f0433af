//! The built `pis` against the reference implementation: the same files must give the same path,
//! context, estimate and labels, what pis writes must be what pi would write or can read, and both
//! must be able to take turns on one session.
//!
//! Nothing happens where the reference is not installed (`setup.sh` installs it into `$PI_REF`,
//! default `/tmp/pi-reference`), unless `PIS_INTEROP=required`. `PIS_INTEROP_SESSIONS` says how
//! many random sessions are compared (300), `PIS_INTEROP_EXTRA` names further files or directories
//! of them, separated by colons.

#[path = "../common/mod.rs"]
mod common;
mod compare;
mod entries;
mod files;
mod healing;
mod reference;
mod sessions;
mod shapes;
mod state;
mod stats;
mod turns;
mod writing;

use std::io::Write;

use compare::{Comparison, Tally};
use reference::Reference;

/// How many entries of each file are looked at, besides its leaf and its start.
const ENTRIES: usize = 20;

#[test]
fn files_read_as_pi_reads_them() {
    let Some(reference) = Reference::or_skip() else {
        return;
    };
    let generated = tempfile::tempdir().expect("a temporary directory");
    let files = files::collect(&reference, generated.path());
    let home = tempfile::tempdir().expect("a temporary directory");

    let tally = Tally::default();
    let comparison = Comparison::new(home.path(), &tally);
    let ask = |file| serde_json::json!({ "file": file, "count": ENTRIES });
    let questions: Vec<_> = files.iter().map(ask).collect();
    reference.check("batch", &questions, |answer| comparison.check(answer));

    let report = tally.report();
    let _ = writeln!(std::io::stderr(), "interop: {report}");
    let differences = tally.differences();
    assert!(
        tally.is_equal(),
        "{report}\n{differences}\nthe files are in {}",
        generated.keep().display()
    );
}

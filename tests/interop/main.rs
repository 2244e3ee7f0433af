//! The built `pis` against the reference implementation: the same files must give the same path,
//! context, estimate and labels.
//!
//! Nothing happens where the reference is not installed (`setup.sh` installs it into `$PI_REF`,
//! default `/tmp/pi-reference`), unless `PIS_INTEROP=required`. `PIS_INTEROP_SESSIONS` says how
//! many random sessions are compared (300), `PIS_INTEROP_EXTRA` names further files or directories
//! of them, separated by colons.

mod compare;
mod files;
mod reference;

use std::io::Write;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, sync_channel};

use compare::{Comparison, Tally};
use reference::{Answer, Reference};

/// How many entries of each file are looked at, besides its leaf and its start.
const ENTRIES: usize = 20;

#[test]
fn files_read_as_pi_reads_them() {
    let Some(reference) = Reference::find() else {
        let notice = "interop: skipped, the reference is not installed (tests/interop/setup.sh)";
        // The macros are captured; a test that did nothing should say so.
        let _ = writeln!(std::io::stderr(), "{notice}");
        assert!(!reference::is_required(), "{notice}");
        return;
    };
    let generated = tempfile::tempdir().expect("a temporary directory");
    let files = files::collect(&reference, generated.path());
    let home = tempfile::tempdir().expect("a temporary directory");

    // The reference answers on while pis is run on what it has said.
    let (send, receive) = sync_channel::<Answer>(64);
    let receive = Mutex::new(receive);
    let tally = Tally::default();
    let comparison = Comparison::new(home.path(), &tally);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(answer) = next(&receive) {
                    comparison.check(&answer);
                }
            });
        }
        reference.answers(&files, ENTRIES, |answer| {
            let _ = send.send(answer);
        });
        drop(send);
    });

    let report = tally.report();
    let _ = writeln!(std::io::stderr(), "interop: {report}");
    let differences = tally.differences();
    assert!(
        tally.is_equal(),
        "{report}\n{differences}\nthe files are in {}",
        generated.keep().display()
    );
}

/// The next answer to check; `None` when all were given.
fn next(answers: &Mutex<Receiver<Answer>>) -> Option<Answer> {
    answers.lock().expect("no holder panics").recv().ok()
}

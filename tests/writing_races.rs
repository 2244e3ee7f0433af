//! Several programs at one session: eight writers at once, kills in mid-write, foreign appends,
//! locks, old leaf pointers.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pis::error::Error;
use pis::write::Writer;
use serde_json::{Value, json};

use crate::common::writing::*;
use crate::common::{World, ran};

struct Each {
    child: Child,
    input: Option<std::process::ChildStdin>,
    output: BufReader<std::process::ChildStdout>,
}

impl Each {
    fn start(world: &World) -> Each {
        let mut command = world.command(&on(&["append", "--each"]));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("pis runs");
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Each {
            child,
            input,
            output: BufReader::new(output.expect("a pipe")),
        }
    }

    fn send(&mut self, text: &str) {
        let message = json!({ "role": "user", "content": text });
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{message}").expect("pis reads");
    }

    /// The id that was acknowledged next; `None` at the end.
    fn acknowledged(&mut self) -> Option<String> {
        let mut id = String::new();
        self.output.read_line(&mut id).expect("a line");
        // What a killed process did not end with a newline was not said.
        id.strip_suffix('\n').map(str::to_owned)
    }

    fn kill(mut self) -> Vec<String> {
        self.child.kill().expect("killed");
        drop(self.input.take());
        let rest = std::iter::from_fn(|| self.acknowledged()).collect();
        self.child.wait().expect("ended");
        rest
    }
}

fn with_each_of_eight<T: Send>(run: impl Fn(usize) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..8).map(|n| scope.spawn(move || run(n))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, T>| thread.join().expect("it ran");
        threads.into_iter().map(join).collect()
    })
}

#[test]
fn eight_processes_append_one_chain() {
    let world = world();
    let said = with_each_of_eight(|n| {
        let messages = (0..12).map(|k| {
            let text = format!("{n} {k} ").repeat(1 + 500 * (k % 3));
            json!({ "role": "user", "content": text }).to_string()
        });
        let input = messages.collect::<Vec<_>>().join("\n");
        let each = world.pis_with(&on(&["append", "--each"]), input);
        assert_eq!((each.code, each.stderr.as_str()), (0, ""));
        let mut ids = each.ids();
        assert_eq!(ids.len(), 12);
        for k in 0..3 {
            let text = format!("{n} alone {k}");
            ids.extend(world.lines(&on(&["append", "--user", &text])));
        }
        ids
    });
    let chain = chain(&world.path("s.jsonl"));
    assert_eq!(chain.len(), 4 + 8 * 15);
    for ids in said {
        // In the order in which each was told.
        let places = ids.iter().map(|id| chain.iter().position(|c| c == id));
        let places: Vec<_> = places.map(|place| place.expect("it is there")).collect();
        assert!(places.is_sorted(), "{places:?}");
    }
    let log = world.lines(&on(&["reflog"]));
    assert_eq!(log.len(), 8 * 15);
}

#[test]
fn first_writers_at_the_same_moment_make_one_state_directory() {
    for _ in 0..3 {
        let world = world();
        let codes = with_each_of_eight(|_| world.pis(&on(&["set-leaf", "bbbbbbbb"])).code);
        assert_eq!(codes, [0; 8]);
        assert_eq!(world.ok(&on(&["rev-parse", "@"])), "bbbbbbbb\n");
    }
}

/// After a kill: what was acknowledged is there, and the next append is in one chain with it.
fn check_after_kill(world: &World, acknowledged: &HashSet<String>) {
    let path = world.path("s.jsonl");
    let held = fs::read(&path).expect("the session");
    let ran = world.pis(&on(&["append", "--user", "next"]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let after = fs::read(&path).expect("the session");
    assert!(after.starts_with(&held));
    let mut whole: Vec<Value> = Vec::new();
    for line in after.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
        // One that was cut off in the middle is no entry, and was acknowledged by nobody.
        whole.extend(serde_json::from_slice::<Value>(line).ok());
    }
    let ids: Vec<_> = whole[1..]
        .iter()
        .map(|e| e["id"].as_str().expect("an id"))
        .collect();
    assert_eq!(ids.last().copied(), Some(ran.stdout.trim_end()));
    for pair in whole[1..].windows(2) {
        assert_eq!(pair[1]["parentId"], pair[0]["id"]);
    }
    for id in acknowledged {
        assert!(ids.contains(&id.as_str()), "{id} was acknowledged");
    }
    assert_eq!(world.pis(&on(&["rev-parse", "@"])).stdout, ran.stdout);
}

#[test]
fn a_killed_append_of_many_loses_nothing_that_was_acknowledged() {
    let world = world();
    let mut acknowledged = HashSet::new();
    for round in 0..10_u64 {
        let mut each = Each::start(&world);
        // Long lines, so that a kill may find one half written.
        let text = "x".repeat(if round % 2 == 0 { 20 } else { 400_000 });
        for _ in 0..round % 5 {
            each.send(&text);
            acknowledged.extend(each.acknowledged());
        }
        each.send(&text);
        thread::sleep(Duration::from_millis(round * 3));
        acknowledged.extend(each.kill());
        check_after_kill(&world, &acknowledged);
    }
}

#[test]
fn killed_small_appends_lose_nothing_that_was_acknowledged() {
    let world = world();
    let mut acknowledged = HashSet::new();
    for round in 0..40 {
        let mut command = world.command(&on(&["append", "--user", "small"]));
        let mut child = command.stdout(Stdio::piped()).spawn().expect("pis runs");
        thread::sleep(Duration::from_millis(round % 20 * 2));
        child.kill().expect("killed");
        let output = child.wait_with_output().expect("ended");
        let said = String::from_utf8(output.stdout).expect("text");
        acknowledged.extend(said.strip_suffix('\n').map(str::to_owned));
        if round % 8 == 7 {
            check_after_kill(&world, &acknowledged);
        }
    }
    check_after_kill(&world, &acknowledged);
}

#[test]
fn what_another_program_appends_is_never_hidden_or_lost() {
    let world = world();
    let path = world.path("s.jsonl");
    let done = AtomicBool::new(false);
    let (mut codes, mut kept, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    let foreign = thread::scope(|scope| {
        let foreign = scope.spawn(|| {
            let mut n = 0;
            while !done.load(Ordering::Relaxed) {
                append(
                    &path,
                    &line(&format!("f{n}"), "dddddddd", &"f".repeat(n % 7 * 900)),
                );
                n += 1;
                // From a pause that pis fits into to none at all.
                thread::sleep(Duration::from_millis(n as u64 % 12 * 10));
            }
            n
        });
        for n in 0..30 {
            let leaf = world.lines(&on(&["rev-parse", "@"])).remove(0);
            let text = format!("ours {n}");
            if n % 3 == 2 {
                let ran = world.pis(&on(&["set-leaf", "bbbbbbbb", &leaf]));
                assert!(matches!(ran.code, 0 | 3), "{ran:?}");
                continue;
            }
            let args = ["append", "--user", &text, "--expect-leaf", &leaf];
            let ran = world.pis(&on(&args));
            match ran.code {
                0 | 4 => kept.push((ran.code, leaf, ran.stdout.trim_end().to_owned())),
                3 => refused.push(text),
                code => panic!("{code}: {ran:?}"),
            }
            codes.push(ran.code);
        }
        done.store(true, Ordering::Relaxed);
        foreign.join().expect("it ran")
    });
    let entries = entries(&path);
    let ids = ids(&entries);
    let theirs = ids.iter().filter(|id| id.starts_with('f') && id.len() < 16);
    let wanted: Vec<_> = (0..foreign).map(|n| format!("f{n}")).collect();
    assert!(
        theirs.copied().eq(wanted.iter().map(String::as_str)),
        "{ids:?}"
    );
    for (code, leaf, id) in kept {
        let at = ids
            .iter()
            .position(|i| *i == id)
            .expect("it was acknowledged");
        assert_eq!(entries[at]["parentId"], json!(leaf));
        // With 0 nothing came between.
        assert!(
            code == 4 || ids[at - 1] == leaf || leaf == "bbbbbbbb",
            "{leaf} {id}"
        );
    }
    let file = String::from_utf8(bytes(&world)).expect("text");
    for text in refused {
        assert!(!file.contains(&format!("\"{text}\"")), "{text} was refused");
    }
    // Whoever appended last has the leaf.
    append(&path, &line("last", "dddddddd", "x"));
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), "last\n");
}

#[test]
fn an_append_beside_another_ones_is_told() {
    let world = world();
    let path = world.path("s.jsonl");
    let ours = |id: &str| line(id, "dddddddd", "ours");
    let writer = Writer::open(&path).expect("locked");
    append(&path, &line("f0", "dddddddd", "theirs"));
    let landed = writer.append(&[ours("ours0")], "ours0", false, &WHY);
    assert!(
        matches!(landed, Err(Error::WrittenBeside { .. })),
        "{landed:?}"
    );
    let tips = world.pis(&on(&["for-each-tip", "--format", "%H"])).stdout;
    assert_eq!(tips.lines().count(), 2, "both are branches: {tips}");
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), "ours0\n");

    // With an expectation nothing is written.
    let writer = Writer::open(&path).expect("locked");
    append(&path, &line("f1", "f0", "theirs"));
    let before = bytes(&world);
    let refused = writer.append(&[ours("ours1")], "ours1", true, &WHY);
    assert!(
        matches!(refused, Err(Error::LeafMoved { .. })),
        "{refused:?}"
    );
    assert_eq!(bytes(&world), before);

    // A move does not hide it.
    let writer = Writer::open(&path).expect("locked");
    let target = writer.session().find("aaaaaaaa").expect("read");
    append(&path, &line("f2", "f1", "theirs"));
    let refused = writer.point(target, &WHY);
    assert!(
        matches!(refused, Err(Error::LeafMoved { .. })),
        "{refused:?}"
    );
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), "f2\n");

    // A line that another program has not ended yet gets no part of ours.
    let writer = Writer::open(&path).expect("locked");
    append(&path, "{\"type\":\"mess");
    let landed = writer.append(&[ours("ours2")], "ours2", false, &WHY);
    assert!(
        matches!(landed, Err(Error::WrittenBeside { .. })),
        "{landed:?}"
    );
    let text = String::from_utf8(bytes(&world)).expect("text");
    assert!(
        text.ends_with(&format!("{{\"type\":\"mess\n{}", ours("ours2"))),
        "{text}"
    );
}

/// Files that pis must not write to: of a later version, or no sessions.
/// The lock on the session, as another process holds it.
fn hold(world: &World) -> File {
    world.pis(&on(&["set-leaf", "@"]));
    let file = File::options()
        .write(true)
        .open(state(world, "lock"))
        .expect("a lock");
    file.lock().expect("locked");
    file
}

#[test]
fn a_writer_waits_for_another() {
    let world = world();
    let lock = hold(&world);
    let mut command = world.command(&on(&["append", "--user", "x"]));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("pis runs");
    // Readers do not.
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), "dddddddd\n");
    world.ok(&on(&["log"]));
    thread::sleep(Duration::from_millis(500));
    assert_eq!(child.try_wait().expect("asked"), None, "it waits");
    // It looks at the file only when it is its turn.
    append(&world.path("s.jsonl"), &line("eeeeeeee", "dddddddd", "x"));
    drop(lock);
    let ran = ran(&child.wait_with_output().expect("ended"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(chain(&world.path("s.jsonl"))[5], ran.stdout.trim_end());
}

#[test]
fn a_writer_gives_up_after_ten_seconds() {
    let world = world();
    let lock = hold(&world);
    let start = Instant::now();
    let run = |args: &[&str]| {
        let mut command = world.command(&on(args));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("pis runs")
    };
    let children = [
        run(&["--json", "append", "--user", "x"]),
        run(&["--json", "set-leaf", "root"]),
    ];
    for child in children {
        let ran = ran(&child.wait_with_output().expect("ended"));
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{ran:?}");
        let said: Value = serde_json::from_str(&ran.stderr).expect("JSON");
        assert_eq!(said["error"]["kind"], "locked");
        assert_eq!(said["error"]["retryable"], true);
    }
    let took = start.elapsed();
    assert!((10..20).contains(&took.as_secs()), "{took:?}");
    drop(lock);
    assert_eq!(bytes(&world), text().into_bytes());
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), "dddddddd\n");
}

#[test]
fn an_old_head_does_not_hold_for_what_was_appended() {
    let world = world();
    world.pis(&on(&["set-leaf", "bbbbbbbb"]));
    // Another program appends.
    append(&world.path("s.jsonl"), &line("eeeeeeee", "dddddddd", "x"));
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), "eeeeeeee\n");
    let next = world.ok(&on(&["append", "--user", "x"]));
    assert_eq!(entries(&world.path("s.jsonl"))[5]["parentId"], "eeeeeeee");
    assert!(!state(&world, "HEAD").exists(), "it is removed");

    // A crash after an append, before HEAD was removed and the log was written.
    world.pis(&on(&["set-leaf", "bbbbbbbb"]));
    let head = fs::read(state(&world, "HEAD")).expect("HEAD");
    let log = fs::read(state(&world, "log")).expect("the log");
    let next_but_one = world.ok(&on(&["append", "--user", "x"]));
    fs::write(state(&world, "HEAD"), head).expect("written");
    fs::write(state(&world, "log"), log).expect("written");
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), next_but_one);
    assert_eq!(entries(&world.path("s.jsonl"))[6]["parentId"], "bbbbbbbb");
    assert_ne!(next, next_but_one);
    // It is as if pi had done it.
    assert_eq!(world.pis(&on(&["undo"])).code, 3);
    assert_eq!(world.lines(&on(&["rev-parse", "@{1}"])), ["bbbbbbbb"]);
}

#[test]
fn a_leaf_that_is_expected_from_before_is_refused() {
    let world = world();
    append(&world.path("s.jsonl"), &line("eeeeeeee", "dddddddd", "x"));
    let before = bytes(&world);
    for args in [
        ["append", "--user", "x", "--expect-leaf", "dddddddd"].as_slice(),
        &["append", "--user", "x", "--expect-leaf", "root"],
        &["append", "--user", "x", "--expect-leaf", "0123456789abcdef"],
        &[
            "append",
            "--user",
            "x",
            "--parent",
            "aaaaaaaa",
            "--expect-leaf",
            "dddddddd",
        ],
        &["set-leaf", "aaaaaaaa", "dddddddd"],
        &["set-leaf", "aaaaaaaa", "root"],
    ] {
        let ran = world.pis(&on(args));
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (3, ""),
            "{args:?}: {ran:?}"
        );
        assert_eq!(bytes(&world), before);
        assert_eq!(world.ok(&on(&["rev-parse", "@"])), "eeeeeeee\n");
    }
    let ran = world.pis(&on(&["set-leaf", "root", "eeeeeeee"]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = world.pis(&on(&["append", "--user", "x", "--expect-leaf", "root"]));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(entries(&world.path("s.jsonl"))[5]["parentId"], Value::Null);
}

#[test]
fn moves_of_another_program_count_and_are_not_undone() {
    let world = world();
    let path = world.path("s.jsonl");
    let reflog = || {
        let rows = world.json(&on(&["--json", "reflog"]));
        let text = |v: &Value| v.as_str().unwrap_or("root").to_owned();
        let row = |r: &Value| format!("{} {}>{}", text(&r["op"]), text(&r["old"]), text(&r["new"]));
        rows.iter().map(row).collect::<Vec<_>>()
    };
    world.pis(&on(&["checkout", "bbbbbbbb"]));
    append(&path, &line("eeeeeeee", "dddddddd", "x"));
    append(&path, &line("ffffffff", "eeeeeeee", "x"));
    let first = "checkout dddddddd>bbbbbbbb";
    assert_eq!(reflog(), ["pi bbbbbbbb>ffffffff", first]);
    let before = bytes(&world);
    let ran = world.pis(&on(&["undo"]));
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(
        world.lines(&on(&["rev-parse", "@", "@{1}", "@{2}"])),
        ["ffffffff", "bbbbbbbb", "dddddddd"]
    );

    // A move of pis behind it can be undone; the one before it cannot.
    world.pis(&on(&["set-leaf", "root"]));
    assert_eq!(
        reflog(),
        ["set-leaf ffffffff>root", "pi bbbbbbbb>ffffffff", first]
    );
    assert_eq!(world.pis(&on(&["undo"])).code, 0);
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), "ffffffff\n");
    assert_eq!(world.pis(&on(&["undo"])).code, 3);
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), "ffffffff\n");
    assert_eq!(bytes(&world), before, "nothing is ever cut");

    // An append is undone by going back; what it wrote stays.
    let id = world.ok(&on(&["append", "--user", "x"]));
    assert_eq!(world.pis(&on(&["undo"])).code, 0);
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), "ffffffff\n");
    assert_eq!(world.ok(&on(&["rev-parse", id.trim_end()])), id);
}

#[test]
fn a_line_of_the_log_that_was_cut_off_swallows_no_other() {
    let world = world();
    world.pis(&on(&["checkout", "bbbbbbbb"]));
    append(&state(&world, "log"), "{\"time\":1,\"op\":\"chec");
    world.pis(&on(&["checkout", "root"]));
    assert_eq!(world.lines(&on(&["reflog"])).len(), 2);
    assert_eq!(world.pis(&on(&["undo"])).code, 0);
    assert_eq!(world.ok(&on(&["rev-parse", "@"])), "bbbbbbbb\n");
}

#[test]
fn a_new_file_has_not_the_leaf_of_a_deleted_one() {
    let world = world();
    let make = || {
        let ran = world.pis(&on(&["-q", "clone", "-o", "new.jsonl"]));
        assert_eq!(ran.code, 0, "{ran:?}");
        fs::metadata(world.path("new.jsonl")).expect("made").len()
    };
    let size = make();
    world.pis(&["-s", "new.jsonl", "set-leaf", "aaaaaaaa"]);
    assert_eq!(
        world.ok(&["-s", "new.jsonl", "rev-parse", "@"]),
        "aaaaaaaa\n"
    );
    fs::remove_file(world.path("new.jsonl")).expect("removed");
    assert_eq!(make(), size, "they are as long");
    assert_eq!(
        world.ok(&["-s", "new.jsonl", "rev-parse", "@"]),
        "dddddddd\n"
    );
    assert_eq!(world.pis(&["-s", "new.jsonl", "reflog"]).stdout, "");
}

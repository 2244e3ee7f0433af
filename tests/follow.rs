//! `pis log -f`: new entries as they come.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::{Build, World};

struct Following {
    child: Child,
    lines: Receiver<String>,
}

impl Following {
    fn start(world: &World, args: &[&str]) -> Following {
        let mut command = world.command(&[&["-s", "./s.jsonl", "log", "-f"], args].concat());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let (send, lines) = channel();
        let out = child.stdout.take().expect("a pipe");
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Following { child, lines }
    }

    fn next(&self) -> String {
        self.lines
            .recv_timeout(Duration::from_secs(20))
            .expect("a line in time")
    }

    fn is_quiet(&self) -> bool {
        self.lines.recv_timeout(Duration::from_millis(600)).is_err()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn entries_show_as_they_come_whatever_becomes_of_the_file() {
    let base = Build::new()
        .user("aaaaaaa1", "", "one")
        .assistant("bbbbbbb1", "aaaaaaa1", "two");
    let world = World::with(base.text());
    let following = Following::start(&world, &["--format", "%H %s"]);
    assert_eq!(
        [following.next(), following.next()],
        ["aaaaaaa1 one", "bbbbbbb1 two"]
    );
    world.done(&["append", "--user", "three"]);
    assert!(following.next().ends_with(" three"));
    // Half a line is no entry yet.
    let base = base.user("ccccccc1", "bbbbbbb1", "four");
    let text = base.text();
    std::fs::write(world.path("s.jsonl"), &text[..text.len() - 20]).unwrap();
    assert!(following.is_quiet());
    std::fs::write(world.path("s.jsonl"), &text).unwrap();
    assert_eq!(following.next(), "ccccccc1 four");
    // Another file in its place, and one that was away for a while.
    let base = base.user("ddddddd1", "ccccccc1", "five");
    world.write("new.jsonl", base.text());
    std::fs::rename(world.path("new.jsonl"), world.path("s.jsonl")).unwrap();
    assert_eq!(following.next(), "ddddddd1 five");
    std::fs::remove_file(world.path("s.jsonl")).unwrap();
    assert!(following.is_quiet());
    std::fs::write(
        world.path("s.jsonl"),
        base.user("eeeeeee1", "ddddddd1", "six").text(),
    )
    .unwrap();
    assert_eq!(following.next(), "eeeeeee1 six");
}

#[test]
fn it_begins_with_the_last_ones_and_filters_the_rest() {
    let mut base = Build::new();
    let mut parent = String::new();
    for n in 0..20 {
        let id = format!("aaaaaa{n:02}");
        base = base.user(&id, &parent, &format!("prompt {n}"));
        parent = id;
    }
    let world = World::with(base.text());
    let following = Following::start(&world, &["--format", "%s"]);
    assert_eq!(following.next(), "prompt 10");
    let following = Following::start(&world, &["-n", "2", "--role", "user", "--format", "%s"]);
    assert_eq!(
        [following.next(), following.next()],
        ["prompt 18", "prompt 19"]
    );
    world.done(&["label", "@", "here"]);
    assert!(following.is_quiet());
    world.done(&["append", "--user", "next"]);
    assert_eq!(following.next(), "next");
    let ran = world.on_with(&["-s", "-", "log", "-f"], base_of(&world));
    assert_eq!(ran.code, 2, "standard input ends: {ran:?}");
}

fn base_of(world: &World) -> Vec<u8> {
    world.bytes()
}

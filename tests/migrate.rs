//! `pis migrate`: old sessions brought to version 3 in place, and never lost on the way.

use std::fs;
use std::io::Write;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Build, World, fields, fixture};

fn old(name: &str) -> String {
    fs::read_to_string(fixture(name)).expect("the fixture")
}

/// What reading shows of a session.
fn shown(world: &World, file: &str) -> Vec<String> {
    let commands: &[&[&str]] = &[
        &["rev-path"],
        &["context"],
        &["for-each-label"],
        &["ls-entries"],
        &["log", "--all", "--filter", "all", "--json"],
    ];
    let run = |args: &&[&str]| world.ok(&[&["-q", "-s", file][..], *args].concat());
    // A message with another role is printed with other spaces.
    let show = |args| run(args).replace(' ', "");
    commands.iter().map(show).collect()
}

#[test]
fn what_reading_showed_stays_and_so_does_every_other_byte() {
    let hook = "{\"type\":\"message\" , \"timestamp\":\"t\",\"message\":{ \"role\" : \"hookMessage\",\"n\":1.0,\"content\":\"\\ud83d\"} }\r\n";
    let v1 = old("v1.jsonl");
    let claimed = v1.replacen(
        "\"type\":\"session\"",
        "\"type\":\"session\",\"version\":3",
        1,
    );
    let odd = format!("{v1}broken {{\n\n\"\"\n42\n{hook}");
    for before in [v1, old("v2.jsonl"), claimed, odd] {
        let world = World::with(&before);
        let showed = shown(&world, "s.jsonl");
        let ran = world.pis(&["--json", "migrate", "s.jsonl"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(
            fields(&ran.object()),
            ["leaf", "prompt", "session", "sessionId"]
        );
        assert_eq!(shown(&world, "s.jsonl"), showed, "{before}");
        let path = world.path("s.jsonl.bak");
        assert_eq!(fs::read_to_string(path).expect("the backup"), before);

        let after = fs::read_to_string(world.path("s.jsonl")).expect("the session");
        assert_eq!(before.lines().count(), after.lines().count());
        for (nth, (old, new)) in before.lines().zip(after.lines()).enumerate() {
            let (Ok(Value::Object(was)), Ok(Value::Object(mut is))) =
                (serde_json::from_str(old), serde_json::from_str(new))
            else {
                // The one that is JSON to pi, but not to serde, and what is no record.
                let kept = old.contains("hookMessage") || old == new;
                assert!(kept, "{old} {new}");
                continue;
            };
            for key in ["version", "id", "parentId", "firstKeptEntryId"] {
                if !was.contains_key(key) {
                    is.remove(key);
                }
            }
            if let Some(version) = was.get("version").filter(|_| nth == 0) {
                assert_eq!(is["version"], 3);
                is.insert("version".into(), version.clone());
            }
            if let Some(role) = is.get_mut("message").and_then(|m| m.get_mut("role"))
                && was["message"]["role"] == "hookMessage"
            {
                assert_eq!(role, "custom");
                *role = json!("hookMessage");
            }
            assert_eq!(is, was);
        }
        if before.contains("hookMessage\",\"n\"") {
            let wanted =
                "\"message\":{ \"role\" : \"custom\",\"n\":1.0,\"content\":\"\\ud83d\"} ,\"id\":";
            assert!(after.contains(wanted), "{after}");
            assert!(
                after.ends_with("}\r\n") && after.contains("\nbroken {\n\n\"\"\n42\n"),
                "{after}"
            );
        }
        let again = world.pis(&["--json", "migrate", "s.jsonl"]);
        assert_eq!(again.code, 0);
        assert!(
            again.notes().contains(&"nothing-done".to_owned()),
            "{again:?}"
        );
        world.ok(&["-q", "-s", "s.jsonl", "append", "--user", "at last"]);
    }
}

#[test]
fn writing_to_an_old_session_advises_it() {
    let world = World::with(old("v1.jsonl"));
    let ran = world.pis(&["-s", "s.jsonl", "label", "@", "x"]);
    assert_eq!(ran.code, 128);
    assert!(ran.stderr.contains("'pis migrate'"), "{ran:?}");
    world.ok(&["-q", "migrate", "s.jsonl"]);
    world.ok(&["-q", "-s", "s.jsonl", "label", "@", "x"]);
}

#[test]
fn pointer_mode_and_links_stay() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::with(old("v1.jsonl"));
    let real = world.path("real.jsonl");
    fs::rename(world.path("s.jsonl"), &real).expect("moved");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o644)).expect("a mode");
    std::os::unix::fs::symlink(&real, world.path("s.jsonl")).expect("a link");
    let ids = world.lines(&["-q", "-s", "s.jsonl", "rev-path"]);
    world.ok(&["-q", "-s", "s.jsonl", "set-leaf", &ids[1]]);
    world.ok(&["-q", "migrate", "s.jsonl"]);
    assert!(world.path("s.jsonl").is_symlink());
    assert_eq!(
        fs::metadata(&real).expect("it").permissions().mode() & 0o777,
        0o644
    );
    assert_eq!(world.leaf(), ids[1]);
    assert!(world.path("real.jsonl.bak").exists());
}

#[test]
fn what_cannot_be_migrated_is_refused() {
    let text = Build::new().user("aaaaaaaa", "", "hi").text();
    for (session, error) in [
        (
            text.replace("\"version\":3", "\"version\":99"),
            "not-writable",
        ),
        (format!("\u{feff}{}", old("v1.jsonl")), "not-writable"),
        (
            text.lines().last().expect("an entry").to_owned(),
            "not-writable",
        ),
        ("not json".to_owned(), "not-a-session"),
    ] {
        let world = World::with(&session);
        let ran = world.pis(&["--json", "-q", "migrate", "s.jsonl"]);
        assert_eq!((ran.code, ran.error().as_str()), (128, error), "{session}");
        assert_eq!(world.bytes(), session.as_bytes());
        assert!(!world.path("s.jsonl.bak").exists());
    }
    let world = World::with(old("v1.jsonl"));
    let own = world.path("s.jsonl");
    let own = [("PI_SESSION_FILE", own.to_str().expect("UTF-8"))];
    let ran = world.pis_env(&own, &["--json", "migrate"], "");
    assert_eq!(ran.error(), "not-writable");
    assert_eq!(
        world.pis_env(&own, &["-q", "migrate", "--force"], "").code,
        0
    );
    assert_eq!(
        World::new()
            .pis_with(&["migrate", "-"], old("v1.jsonl"))
            .code,
        2
    );
}

/// A run of pis whose calls of a kind are tampered with.
fn tampered(world: &World, args: &[&str], calls: &str, how: &str) -> Command {
    let pis = world.command(args);
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-o", "/dev/null", "-e"])
        .arg(format!("trace={calls}"))
        .arg("-e")
        .arg(format!("inject={calls}:{how}"))
        .arg(pis.get_program())
        .args(args)
        .current_dir(world.work())
        .env_clear()
        .envs(
            pis.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    strace
}

/// Whether there is a strace that works; says so if not.
fn can_trace() -> bool {
    let mut strace = Command::new("strace");
    let output = strace.args(["-qq", "-o", "/dev/null", "true"]).output();
    let can = output.is_ok_and(|output| output.status.success());
    if !can {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: there is no strace that can trace"
        );
    }
    can
}

#[test]
fn a_power_cut_leaves_the_old_file_or_the_new_one() {
    if !can_trace() {
        return;
    }
    let before = format!("{}broken {{\n", old("v1.jsonl"));
    let whole = World::with(&before);
    whole.ok(&["-q", "migrate", "s.jsonl"]);
    let after = whole.bytes();
    let mut cuts = 0;
    for call in [
        "openat",
        "write",
        "fsync",
        "fdatasync",
        "fchmod",
        "chown",
        "link",
        "linkat",
        "rename",
        "renameat",
        "renameat2",
        "unlink",
        "unlinkat",
        "mkdir",
        "mkdirat",
        "close",
    ] {
        for nth in 1..200 {
            let world = World::with(&before);
            let args = ["-q", "migrate", "s.jsonl"];
            let how = format!("signal=KILL:when={nth}");
            let output = tampered(&world, &args, call, &how).output();
            // What strace traces ends it the same way.
            let killed = !output.expect("it was there a moment ago").status.success();
            let left = world.bytes();
            assert!(left == before.as_bytes() || left == after, "{call} {nth}");
            let backup = world.path("s.jsonl.bak");
            if left == after {
                assert_eq!(fs::read(&backup).expect("the old one"), before.as_bytes());
            }
            if !killed {
                assert_eq!(left, after, "{call} {nth}");
                break;
            }
            cuts += 1;
            // Whatever was left does not stand in the way.
            world.ok(&["-q", "migrate", "s.jsonl"]);
            assert_eq!(world.bytes(), after);
            assert_eq!(fs::read(&backup).expect("the old one"), before.as_bytes());
        }
    }
    assert!(cuts > 30, "{cuts}");
}

#[test]
fn what_pi_appends_in_the_very_moment_is_kept() {
    if !can_trace() {
        return;
    }
    let world = World::with(old("v2.jsonl"));
    let late = "{\"type\":\"custom\",\"customType\":\"x\",\"id\":\"late0000\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:09.000Z\"}\n";
    let args = ["-q", "--json", "migrate", "s.jsonl"];
    // The backup is made before the last look, which is before the renaming.
    let mut pis = tampered(
        &world,
        &args,
        "rename,renameat,renameat2",
        "delay_enter=1500000",
    );
    let pis = pis
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped());
    let pis = pis.spawn().expect("it was there a moment ago");
    while !world.path("s.jsonl.bak").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(300));
    let mut session = fs::OpenOptions::new()
        .append(true)
        .open(world.path("s.jsonl"))
        .expect("it");
    session.write_all(late.as_bytes()).expect("written");
    let output = pis.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let after = String::from_utf8(world.bytes()).expect("UTF-8");
    assert!(
        after.contains("\"version\":3") && after.ends_with(late),
        "{after}"
    );
}

//! `pis init`: new session files.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::{World, fields};

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("the new file");
    assert!(text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn a_new_session_lies_where_pi_looks_for_it() {
    let world = World::new();
    let ran = world.pis(&["init"]);
    assert_eq!(ran.code, 0);
    assert_eq!(
        ran.stderr,
        "note: this session is the newest of its directory now\n"
    );
    let path = PathBuf::from(ran.stdout.trim_end());
    let cwd = world.work();
    let dir = cwd
        .to_str()
        .unwrap()
        .trim_start_matches('/')
        .replace('/', "-");
    let sessions = world
        .home()
        .join(".pi/agent/sessions")
        .join(format!("--{dir}--"));
    assert_eq!(path.parent(), Some(&*sessions));
    let lines = lines(&path);
    assert_eq!(lines.len(), 1);
    assert_eq!(
        fields(&lines[0]),
        ["cwd", "id", "timestamp", "type", "version"]
    );
    assert_eq!(lines[0]["cwd"], json!(cwd));
    assert_eq!(lines[0]["version"], 3);
    let (id, time) = (
        lines[0]["id"].as_str().unwrap(),
        lines[0]["timestamp"].as_str().unwrap(),
    );
    let name = format!("{}_{id}.jsonl", time.replace([':', '.'], "-"));
    assert_eq!(path.file_name().unwrap().to_str(), Some(&*name));
    // It is the one that commands use now.
    assert_eq!(world.ok(&["rev-parse", "@"]), "root\n");
    let stored = std::fs::read_to_string(&path).unwrap();
    assert_eq!(world.ok(&["cat-entry", "--header"]), stored);
}

#[test]
fn id_name_and_directory_can_be_chosen() {
    let world = World::new();
    let args = [
        "init",
        "-q",
        "--id",
        "nightly-42",
        "--name",
        " three\nplans ",
        "--cwd",
        "../x",
    ];
    let args: Vec<_> = ["--session-dir", "all"]
        .iter()
        .chain(&args)
        .copied()
        .collect();
    let ran = world.pis(&args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let path = PathBuf::from(ran.stdout.trim_end());
    assert!(
        path.to_str().unwrap().ends_with("_nightly-42.jsonl"),
        "{path:?}"
    );
    let lines = lines(&path);
    assert_eq!(lines[0]["id"], "nightly-42");
    let cwd = lines[0]["cwd"].as_str().unwrap();
    assert!(Path::new(cwd).is_absolute() && cwd.ends_with("/x"), "{cwd}");
    assert_eq!(lines[1]["type"], "session_info");
    assert_eq!(lines[1]["name"], "three plans");
    assert_eq!(lines[1]["parentId"], Value::Null);
    assert_eq!(lines[1]["id"].as_str().unwrap().len(), 16);
}

#[test]
fn json_names_the_session() {
    let world = World::new();
    let ran = world.pis(&["--json", "init", "--name", "n"]);
    let made: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(fields(&made), ["leaf", "prompt", "session", "sessionId"]);
    let lines = lines(Path::new(made["session"].as_str().unwrap()));
    assert_eq!(made["sessionId"], lines[0]["id"]);
    assert_eq!(made["leaf"], lines[1]["id"]);
    assert_eq!(made["prompt"], Value::Null);
    assert_eq!(ran.notes(), ["newest-session"]);
    let made: Value = serde_json::from_str(&world.pis(&["--json", "init"]).stdout).unwrap();
    assert_eq!(made["leaf"], Value::Null);
}

#[test]
fn an_id_that_pi_does_not_take_is_refused() {
    let world = World::new();
    for id in ["", ".", "a/b", "-a", "a-", "a b", "é"] {
        let ran = world.read(&["init", &format!("--id={id}")]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{id}");
        assert!(
            ran.stderr.contains("is no session id\nhint: "),
            "{}",
            ran.stderr
        );
    }
    for id in ["a..b", "HEAD"] {
        assert_eq!(world.pis(&["init", "--id", id]).code, 0, "{id}");
    }
}

#[test]
fn an_id_is_given_once() {
    let world = World::new();
    assert_eq!(world.pis(&["init", "--id", "one"]).code, 0);
    let ran = world.read(&["init", "--id", "one"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr
            .starts_with("error: session 'one' exists already: '/"),
        "{}",
        ran.stderr
    );
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_a_new_session() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let path = world.pis(&["init"]).stdout;
    let mode = std::fs::metadata(path.trim_end())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_directory_that_cannot_be_made_is_an_error() {
    let world = World::new();
    world.write("file", "x");
    let ran = world.read(&["--session-dir", "file", "init"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (128, ""));
    assert!(ran.stderr.starts_with("error: cannot "), "{}", ran.stderr);
}

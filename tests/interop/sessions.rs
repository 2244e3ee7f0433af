//! What `pis sessions` lists against what pi's own list returns.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use pis::json::Raw;
use serde_json::{Value, json};

use crate::common::World;
use crate::files::collect;
use crate::reference::Reference;
use crate::state::{difference, value};

/// Searches in pi's syntax.
const SEARCHES: &[&str] = &[
    "parse",
    "TOKEN lint",
    "\"token stream\"",
    "\"日本語\" café",
    "re:stream\\s+fix",
    "re:^parse",
    "hdp2",
    "\"unclosed parse",
    "nowhere-at-all",
    "s00 1",
];

/// Those that find nothing.
const IN_VAIN: &[&str] = &["\"unclosed parse", "nowhere-at-all", "s00 1"];

/// The rows by their paths.
fn by_path(rows: impl IntoIterator<Item = Value>) -> BTreeMap<String, Value> {
    let path = |row: &Value| row["path"].as_str().expect("a path").to_owned();
    rows.into_iter().map(|row| (path(&row), row)).collect()
}

/// The sessions that pis lists, with or without success: a file may be unreadable.
fn listed(world: &World, env: &[(&str, &str)], args: &[&str]) -> Vec<Value> {
    let args = [&["-q", "--json", "sessions"], args].concat();
    let ran = world.pis_env(env, &args, "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "pis {args:?}");
    let rows = ran.stdout.lines();
    rows.map(|row| value(Raw::new(row.as_bytes()))).collect()
}

/// Whatever pi lists pis lists, and says the same of it. The rest is what pi leaves out: returned
/// for a look at how much that is.
fn compare(what: &str, pi: &Value, pis: Vec<Value>) -> usize {
    let times: Vec<_> = pis.iter().map(|row| row["modified"].to_string()).collect();
    let dated = times.iter().filter(|time| *time != "null");
    assert!(dated.is_sorted_by(|a, b| a >= b), "{what}: newest first");
    let (pi, pis) = (by_path(pi.as_array().expect("rows").clone()), by_path(pis));
    assert!(!pi.is_empty(), "{what}: pi lists nothing");
    let nothing = Value::Null;
    let differences: Vec<_> = pi
        .iter()
        .filter_map(|(path, row)| difference(path, row, pis.get(path).unwrap_or(&nothing)))
        .collect();
    let shown = differences[..differences.len().min(8)].join("\n");
    assert!(
        shown.is_empty(),
        "{what}: {} differ\n{shown}",
        differences.len()
    );
    pis.len() - pi.len()
}

#[test]
fn sessions_are_listed_as_pi_lists_them() {
    let Some(reference) = Reference::or_skip() else {
        return;
    };
    let world = World::new();
    let generated = tempfile::tempdir().expect("a temporary directory");
    let files = collect(&reference, generated.path());
    let (work, pool) = (world.work(), world.path("pool"));
    let work = work.to_str().expect("UTF-8");
    let agent = world.path("agent");
    let (mut random, mut all) = (0, 0);
    for (n, file) in files.iter().enumerate() {
        let mut bytes = std::fs::read(file).expect("the file");
        if let Ok(text) = std::str::from_utf8(&bytes) {
            bytes = text.replace("/home/dev/project-0", work).into_bytes();
        }
        let name = file.file_name().and_then(OsStr::to_str).expect("a name");
        world.write(&format!("pool/{n:04}-{name}"), &bytes);
        world.write(
            &format!("agent/sessions/--p{}--/{n:04}-{name}", n % 7),
            &bytes,
        );
        all += 1;
        random += usize::from(file.parent().is_some_and(|dir| dir.ends_with("random")));
    }
    let paths = [&pool, &agent].map(|path| path.to_str().expect("UTF-8").to_owned());
    let question = json!({ "dir": paths[0], "cwd": work, "agent": paths[1], "searches": SEARCHES });
    let pi = reference.answer("list", &question);

    let dir = ["--session-dir", &paths[0]];
    let left_out = compare(
        "all",
        &pi["all"],
        listed(&world, &[], &[&dir[..], &["--all"]].concat()),
    );
    assert!(
        (1..all - random).contains(&left_out),
        "pi lists every random session"
    );
    compare("here", &pi["here"], listed(&world, &[], &dir));
    let home = [("PI_CODING_AGENT_DIR", paths[1].as_str())];
    compare(
        "everywhere",
        &pi["everywhere"],
        listed(&world, &home, &["--all"]),
    );
    for search in SEARCHES {
        let args = [&dir[..], &["--all", "--search", search]].concat();
        let known = by_path(pi["all"].as_array().expect("rows").clone());
        let found = by_path(listed(&world, &[], &args));
        let wanted = pi["found"][search].as_array().expect("paths").len();
        assert_eq!(wanted > 0, !IN_VAIN.contains(search), "--search {search}");
        // Only pis finds what only pis lists.
        let found: Vec<_> = found
            .into_keys()
            .filter(|path| known.contains_key(path))
            .collect();
        assert_eq!(json!(found), pi["found"][search], "--search {search}");
    }
}

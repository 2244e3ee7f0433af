//! `pis status`: where the leaf is, and what surrounds it.

use serde_json::{Value, json};

use crate::common::{World, fields, fixture};

fn object(world: &World, args: &[&str]) -> Value {
    let ran = world.on(&[&["--json", "status"], args].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    serde_json::from_str(&ran.stdout).expect("one document")
}

fn branched() -> World {
    World::with(std::fs::read(fixture("branched.jsonl")).expect("the fixture"))
}

const LONG: &[&str] = &[
    "session",
    "sessionId",
    "leaf",
    "piLeaf",
    "source",
    "previous",
    "entryCount",
    "tipCount",
    "contextTokens",
    "cost",
    "locked",
    "insideAgent",
    "changedSecondsAgo",
];

#[test]
fn it_tells_where_the_leaf_is_and_why() {
    let world = branched();
    let status = object(&world, &[]);
    let sorted = |names: &[&'static str]| {
        let mut names = names.to_vec();
        names.sort_unstable();
        names
    };
    assert_eq!(fields(&status), sorted(LONG));
    assert_eq!(fields(&object(&world, &["--short"])), sorted(&LONG[..5]));
    let parts = [
        "leaf",
        "piLeaf",
        "source",
        "previous",
        "entryCount",
        "tipCount",
        "locked",
        "insideAgent",
    ];
    let of = |status: &Value| parts.map(|key| status[key].clone());
    let before = [
        json!("f4b8236e"),
        json!("f4b8236e"),
        json!("last-entry"),
        json!(null),
    ];
    assert_eq!(of(&status)[..4], before);
    assert_eq!(
        of(&status)[4..],
        [json!(30), json!(2), json!(false), json!(false)]
    );
    assert_eq!(
        status["contextTokens"].to_string(),
        world.done(&["context", "--tokens"]).trim()
    );

    world.done(&["-q", "checkout", "c20b91a8"]);
    let status = object(&world, &[]);
    let after = [
        json!("c20b91a8"),
        json!("f4b8236e"),
        json!("pointer"),
        json!("f4b8236e"),
    ];
    assert_eq!(of(&status)[..4], after);
    assert_eq!(
        world.done(&["status", "--short"]),
        "019a84c2-5b1e-7c40-9d3a-6f2e8b7a1c55 c20b91a8 f4b8236e pointer\n"
    );
    world.done(&["-q", "set-leaf", "root"]);
    assert!(
        world
            .done(&["status", "--short"])
            .ends_with(" root f4b8236e pointer\n")
    );
    assert_eq!(object(&world, &[])["leaf"], json!(null));
}

#[test]
fn people_see_fields() {
    let world = branched();
    world.done(&["-q", "checkout", "c20b91a8"]);
    world.done(&["-q", "name", "Auth work"]);
    world.done(&["-q", "checkout", "good"]);
    let text = world.done(&["status"]);
    let text = text
        .lines()
        .filter(|line| !line.starts_with("now"))
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(
        text,
        "\
session   019a84c2-5b1e-7c40-9d3a-6f2e8b7a1c55
name      Auth work
file      s.jsonl
leaf      840e16a9 assistant  [good]  Done: errors keep their type
pi opens  \
"
        .to_owned()
            + text
                .lines()
                .nth(4)
                .unwrap()
                .trim_start_matches("pi opens")
                .trim_start()
            + "\n\
entries   31, 2 branches
context   5k tokens
cost      $0.168"
    );
    assert!(
        text.lines().nth(4).unwrap().ends_with(" name  Auth work"),
        "{text}"
    );
}

#[test]
fn it_tells_that_the_agent_runs_it_and_that_another_writes() {
    let world = branched();
    let path = world.path("s.jsonl");
    let file = path.to_string_lossy().into_owned();
    let ran = world.pis_env(&[("PI_SESSION_FILE", &file)], &["--json", "status"], "");
    let status: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&status["insideAgent"], &status["locked"]),
        (&json!(true), &json!(false))
    );
    assert!(
        status["changedSecondsAgo"]
            .as_i64()
            .is_some_and(|seconds| seconds < 100)
    );
    let lock = pis::store::lock::Lock::acquire(&path, std::time::Duration::from_secs(1)).unwrap();
    assert_eq!(object(&world, &[])["locked"], json!(true));
    drop(lock);
    assert_eq!(object(&world, &[])["locked"], json!(false));
}

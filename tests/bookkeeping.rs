//! `pis label`, `pis name`, `pis edit-context`: what is said about a conversation.

use serde_json::{Value, json};

use crate::common::{Build, Ran, World, fields};
use crate::moving::two_branches;

fn world() -> World {
    World::with(two_branches().text())
}

/// The entries that a run added, and what it printed.
fn added(world: &World, args: &[&str]) -> (Vec<Value>, Ran) {
    let before = world.stored(1).len();
    let ran = world.on(args);
    (world.stored(1 + before), ran)
}

/// The run must be refused and change nothing.
fn refused(world: &World, args: &[&str], says: &str) {
    let bytes = world.bytes();
    let ran = world.on(args);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
    assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    assert_eq!(world.bytes(), bytes, "{args:?}");
}

fn labels(world: &World) -> Vec<String> {
    let said = world.done(&["for-each-label"]);
    said.lines().map(str::to_owned).collect()
}

#[test]
fn a_label_is_stored_as_pi_stores_it() {
    let world = world();
    let (new, ran) = added(&world, &["label", "cccc1111", " the third "]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(new.len(), 1);
    assert_eq!(
        fields(&new[0]),
        ["id", "label", "parentId", "targetId", "timestamp", "type"]
    );
    assert_eq!(
        (&new[0]["targetId"], &new[0]["label"]),
        (&json!("cccc1111"), &json!("the third"))
    );
    assert_eq!(new[0]["parentId"], "ffff1111", "it hangs on the leaf");
    assert_eq!(json!(ran.stdout.trim_end()), new[0]["id"]);
    assert_eq!(labels(&world), ["cccc1111 \"the third\""]);
    let (new, ran) = added(&world, &["label", "dddd1111", "4", "--json"]);
    assert_eq!(
        ran.object(),
        json!({ "id": new[0]["id"], "parentId": new[0]["parentId"] })
    );
    // A label makes a pointer last for pi.
    world.on(&["set-leaf", "aaaa1111"]);
    let (new, _) = added(&world, &["label", "aaaa1111", "first"]);
    assert_eq!(
        (&new[0]["parentId"], json!(world.leaf())),
        (&json!("aaaa1111"), new[0]["id"].clone())
    );
    assert_eq!(world.done(&["rev-parse", "first"]), "aaaa1111\n");
}

#[test]
fn a_label_goes_to_what_bookkeeping_belongs_to() {
    let text = two_branches()
        .label("1111cccc", "ffff1111", "aaaa1111", "x")
        .entry(
            "2222cccc",
            "1111cccc",
            json!({ "type": "session_info", "name": "n" }),
        )
        .text();
    let world = World::with(text);
    let (new, ran) = added(&world, &["label", "@", "here"]);
    assert_eq!((ran.code, &new[0]["targetId"]), (0, &json!("ffff1111")));
    refused(&world, &["label", "root", "x"], "'root'");
    // pi can put one on bookkeeping; it can be taken off there.
    let text = two_branches()
        .label("1111cccc", "ffff1111", "aaaa1111", "x")
        .label("2222cccc", "1111cccc", "1111cccc", "odd")
        .text();
    let world = World::with(text);
    let (new, ran) = added(&world, &["label", "-d", "odd"]);
    assert_eq!((ran.code, &new[0]["targetId"]), (0, &json!("1111cccc")));
    assert_eq!(labels(&world), ["aaaa1111 x"]);
}

#[test]
fn replacing_and_moving_need_force() {
    let world = world();
    for (id, label) in [("aaaa1111", "one"), ("bbbb1111", "two")] {
        world.on(&["label", id, label]);
    }
    refused(
        &world,
        &["label", "aaaa1111", "other"],
        "aaaa1111 is labelled one already\nhint: 'pis label --force'",
    );
    refused(
        &world,
        &["label", "cccc1111", "two"],
        "the label two is on bbbb1111 already\nhint: 'pis label --force'",
    );
    refused(&world, &["label", "aaaa1111", " "], "the label is empty");
    refused(&world, &["label", "aaaa1111"], "NAME");
    refused(
        &world,
        &["label", "-d", "aaaa1111", "one"],
        "cannot be used with",
    );
    refused(
        &world,
        &["label", "-d", "cccc1111"],
        "cccc1111 has no label",
    );
    let bytes = world.bytes();
    let ran = world.on(&["label", "aaaa1111", "one", "--json"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.notes()),
        (0, "", vec!["nothing-done".to_owned()])
    );
    assert_eq!(world.bytes(), bytes);

    let (new, ran) = added(&world, &["label", "--force", "aaaa1111", "other"]);
    assert_eq!((ran.code, new.len()), (0, 1));
    assert_eq!(labels(&world), ["aaaa1111 other", "bbbb1111 two"]);
    // Moving takes it off the other entry.
    let (new, ran) = added(&world, &["label", "--force", "cccc1111", "two"]);
    assert_eq!((ran.code, ran.stdout.lines().count(), new.len()), (0, 2, 2));
    assert_eq!(
        (&new[0]["targetId"], new[0].get("label")),
        (&json!("bbbb1111"), None)
    );
    assert_eq!(
        (&new[1]["targetId"], &new[1]["parentId"]),
        (&json!("cccc1111"), &new[0]["id"])
    );
    assert_eq!(labels(&world), ["aaaa1111 other", "cccc1111 two"]);
    world.on(&["label", "--force", "aaaa1111", "two"]);
    assert_eq!(labels(&world), ["aaaa1111 two"]);

    let (new, ran) = added(&world, &["label", "-d", "two"]);
    assert_eq!((ran.code, new.len(), new[0].get("label")), (0, 1, None));
    assert_eq!(labels(&world), Vec::<String>::new());
}

#[test]
fn a_name_that_several_entries_have_is_moved_from_all() {
    let text = two_branches()
        .label("1111cccc", "ffff1111", "aaaa1111", "x")
        .label("2222cccc", "1111cccc", "bbbb1111", "x")
        .label("3333cccc", "2222cccc", "gone0000", "x")
        .text();
    let world = World::with(text);
    let (new, ran) = added(&world, &["label", "--force", "cccc1111", "x"]);
    assert_eq!((ran.code, new.len()), (0, 3));
    assert_eq!(
        labels(&world).iter().filter(|l| l.ends_with(" x")).count(),
        1
    );
    assert_eq!(world.done(&["rev-parse", "x"]), "cccc1111\n");
}

#[test]
fn odd_labels_come_back_as_they_were() {
    let world = world();
    for (n, label) in ["a\nb", "\u{1f600} é", "--x", "@", "0xdead\"beef", "~^"]
        .iter()
        .enumerate()
    {
        let id = [
            "aaaa1111", "bbbb1111", "cccc1111", "dddd1111", "eeee1111", "ffff1111",
        ][n];
        let ran = world.on(&["label", "--", id, label]);
        assert_eq!(ran.code, 0, "{label:?}: {ran:?}");
        let line = labels(&world)
            .into_iter()
            .find(|l| l.starts_with(id))
            .expect("the label");
        // What is printed reads back.
        let (_, printed) = line.split_once(' ').expect("two words");
        let rev = if printed.starts_with('"') {
            printed.to_owned()
        } else {
            (*label).to_owned()
        };
        assert_eq!(
            world.done(&["rev-parse", "--", &rev]).trim_end(),
            id,
            "{label:?}"
        );
    }
}

#[test]
fn the_name_of_a_session() {
    let world = world();
    let ran = world.on(&["name"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (1, "", "")
    );
    let ran = world.on(&["name", "--json"]);
    assert_eq!((ran.code, ran.object()), (1, json!({ "name": null })));
    let (new, ran) = added(&world, &["name", " three\r\n\nplans "]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(
        fields(&new[0]),
        ["id", "name", "parentId", "timestamp", "type"]
    );
    assert_eq!(
        (&new[0]["type"], &new[0]["name"]),
        (&json!("session_info"), &json!("three plans"))
    );
    assert_eq!(json!(ran.stdout.trim_end()), new[0]["id"]);
    assert_eq!(world.done(&["name"]), "three plans\n");
    assert_eq!(
        world.on(&["name", "--json"]).object(),
        json!({ "name": "three plans" })
    );
    let (new, ran) = added(&world, &["name", "--json", "-x"]);
    assert_eq!(
        ran.object(),
        json!({ "id": new[0]["id"], "parentId": new[0]["parentId"] })
    );
    let (new, ran) = added(&world, &["name", ""]);
    assert_eq!((ran.code, &new[0]["name"]), (0, &json!("")));
    assert_eq!(world.on(&["name"]).code, 1);
    assert_eq!(world.on(&["name", "a", "b"]).code, 2);
}

#[test]
fn what_an_entry_contributes_can_be_changed() {
    let result = json!({ "role": "toolResult", "toolCallId": "c", "toolName": "t", "content": [{ "type": "text", "text": "long" }], "isError": false, "timestamp": 3 });
    let custom =
        json!({ "type": "custom_message", "customType": "x", "content": "c", "display": true });
    let text = two_branches()
        .message("1111cccc", "ffff1111", result)
        .entry("2222cccc", "1111cccc", custom)
        .entry(
            "3333cccc",
            "2222cccc",
            json!({ "type": "model_change", "provider": "p", "modelId": "m" }),
        )
        .text();
    let world = World::with(text);
    let (new, ran) = added(&world, &["edit-context", "1111cccc", "--omit"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(
        fields(&new[0]),
        [
            "id",
            "parentId",
            "replacement",
            "targetId",
            "timestamp",
            "type"
        ]
    );
    assert_eq!(
        (&new[0]["type"], &new[0]["targetId"]),
        (&json!("context_edit"), &json!("1111cccc"))
    );
    assert_eq!(
        (&new[0]["replacement"], &new[0]["parentId"]),
        (&Value::Null, &json!("3333cccc"))
    );
    assert_eq!(json!(ran.stdout.trim_end()), new[0]["id"]);

    let block = |text: &str| json!([{ "type": "text", "text": text }]);
    for (id, content) in [
        ("aaaa1111", json!("-new")),
        ("2222cccc", json!("-new")),
        ("ffff1111", block("-new")),
        ("1111cccc", block("-new")),
    ] {
        let (new, ran) = added(&world, &["edit-context", id, "--replace", "-new", "--json"]);
        assert_eq!(
            ran.object(),
            json!({ "id": new[0]["id"], "parentId": new[0]["parentId"] })
        );
        assert_eq!(new[0]["replacement"], json!({ "content": content }), "{id}");
    }
    let ran = world.on_with(
        &["edit-context", "aaaa1111", "--replace", "-"],
        "from\nstdin\n",
    );
    assert_eq!(ran.code, 0);
    let last = world.stored(1).pop().expect("the edit");
    assert_eq!(last["replacement"]["content"], "from\nstdin");
    let context = world.done(&["context"]);
    assert!(
        context.contains("from\\nstdin") && !context.contains("long"),
        "{context}"
    );

    // The same refusals as pi's.
    refused(
        &world,
        &["edit-context", "dddd1111", "--omit"],
        "'dddd1111' is not on the path",
    );
    refused(
        &world,
        &["edit-context", "3333cccc", "--omit"],
        "an edit needs",
    );
    refused(&world, &["edit-context", "@", "--omit"], "an edit needs");
    refused(&world, &["edit-context", "root", "--omit"], "'root'");
    refused(&world, &["edit-context", "aaaa1111"], "--omit");
    refused(
        &world,
        &["edit-context", "aaaa1111", "--omit", "--replace", "x"],
        "cannot be used with",
    );
    assert_eq!(world.on(&["edit-context", "gone0000", "--omit"]).code, 128);
    let system = Build::new().message(
        "aaaa1111",
        "",
        json!({ "role": "system", "content": "s", "timestamp": 1 }),
    );
    refused(
        &World::with(system.text()),
        &["edit-context", "@", "--omit"],
        "an edit needs",
    );
}

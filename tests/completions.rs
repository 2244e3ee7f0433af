//! `pis completions`, and what completes at run time.

use crate::common::{World, fixture};

#[test]
fn each_shell_has_a_script() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = world.ok(&["completions", shell]);
        assert!(
            script.contains("pis") && script.contains("COMPLETE"),
            "{shell}: {script}"
        );
    }
    let ran = world.read(&["completions", "tcsh"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_eq!(world.read(&["completions"]).code, 2);
}

fn completes(words: &[&str], session: &str) -> Vec<String> {
    let world = World::new();
    let args: Vec<_> = ["--", "pis"].iter().chain(words).copied().collect();
    let mut command = world.command(&args);
    command
        .env("COMPLETE", "bash")
        .env("PIS_SESSION", session)
        .env("IFS", "\n");
    command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    command
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_COMP_TYPE", "9");
    command.env("_CLAP_COMPLETE_SPACE", "true");
    let output = command.output().expect("pis runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout)
        .expect("UTF-8")
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn commands_labels_and_ids_complete() {
    let file = fixture("branched.jsonl");
    assert!(completes(&["rev-p"], &file).contains(&"rev-parse".to_owned()));
    let revs = completes(&["log", ""], &file);
    for rev in ["@", "plans", "good", "f4b8236e"] {
        assert!(revs.contains(&rev.to_owned()), "{rev}: {revs:?}");
    }
    assert_eq!(completes(&["log", "goo"], &file), ["good"]);
    // Whatever is wrong with the session, completion has no complaint.
    completes(&["log", ""], "./none.jsonl");
}

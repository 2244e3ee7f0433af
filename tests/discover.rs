//! Which session is meant: directories as pi names and reads them, and names that people give.
//! What is expected here was compared with pi 1.6.0.

use std::cell::Cell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pis::error::Error;
use pis::store::discover::{DirSource, Places};
use tempfile::TempDir;

/// A home directory of its own, and a clock for the times of files.
struct Home {
    dir: TempDir,
    now: Cell<u64>,
}

impl Home {
    fn new() -> Home {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let now = Cell::new(1_700_000_000);
        Home { dir, now }
    }

    fn path(&self, rest: &str) -> PathBuf {
        self.dir.path().join(rest)
    }

    fn places(&self, cwd: &str) -> Places {
        Places {
            cwd: self.path(cwd),
            home: Some(self.path("")),
            ..Places::default()
        }
    }

    /// A file that is a little newer than the one before.
    fn file(&self, path: &Path, content: &str) -> PathBuf {
        fs::create_dir_all(path.parent().expect("it has a directory")).expect("made");
        fs::write(path, content).expect("written");
        self.now.set(self.now.get() + 10);
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(self.now.get());
        let file = File::options().write(true).open(path).expect("opened");
        file.set_modified(time).expect("dated");
        path.to_owned()
    }

    /// A session in the default directory of `cwd`.
    fn session(&self, cwd: &str, id: &str) -> PathBuf {
        let dir = self.places(cwd).default_session_dir(&self.path(cwd));
        self.file(&dir.join(format!("2025_{id}.jsonl")), &header(id, cwd))
    }
}

fn header(id: &str, cwd: &str) -> String {
    format!("{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"cwd\":\"{cwd}\"}}\n")
}

fn no_names(_: &Path) -> Option<String> {
    None
}

#[test]
fn default_directories_are_named_as_pi_names_them() {
    let places = Places {
        cwd: "/w".into(),
        home: Some("/h".into()),
        ..Places::default()
    };
    for (cwd, wanted) in [
        ("/", "----"),
        ("/a/b-c", "--a-b-c--"),
        ("/a-b/c/", "--a-b-c--"),
        ("/a/./x/../b c", "--a-b c--"),
        ("/漢字/プロ", "--漢字-プロ--"),
        ("/--opt/c:x\\y", "----opt-c-x-y--"),
        ("sub", "--w-sub--"),
    ] {
        let dir = places.default_session_dir(Path::new(cwd));
        assert_eq!(dir, Path::new("/h/.pi/agent/sessions").join(wanted));
    }
    let moved = Places {
        agent_dir: Some("~/../x/agent".into()),
        ..places
    };
    assert_eq!(moved.sessions_root(), Path::new("/x/agent/sessions"));
}

#[test]
fn settings_are_read_as_pi_reads_them() {
    let home = Home::new();
    let places = home.places("work");
    let agent = home.path(".pi/agent/settings.json");
    let project = home.path("work/.pi/settings.json");
    let default = places.default_session_dir(&places.cwd);
    let given = |dir: &str| format!("{{\"sessionDir\":{dir}}}");
    let cases = [
        (given("\"~/g\""), String::new(), home.path("g"), None),
        (given("\"/g\""), given("\"../p/\""), home.path("p"), None),
        (given("\"/g\""), given("null"), default.clone(), None),
        (given("\"/g\""), given("\"\""), default, None),
        (
            format!("\u{feff}{}", given("\"/g\"")),
            "{}".into(),
            "/g".into(),
            None,
        ),
        (
            given("\"/g\""),
            "{\"a\":".into(),
            "/g".into(),
            Some("not valid JSON"),
        ),
        (
            given("\"/g\""),
            "[]".into(),
            "/g".into(),
            Some("not a JSON object"),
        ),
        (
            given("\"/g\""),
            given("7"),
            "/g".into(),
            Some("not a string"),
        ),
    ];
    for (of_agent, of_project, wanted, warning) in cases {
        home.file(&agent, &of_agent);
        home.file(&project, &of_project);
        let dir = places.session_dir();
        assert_eq!(dir.path, wanted, "{of_agent} {of_project}");
        assert_eq!(dir.shared, dir.source != DirSource::Default);
        let said = dir.warning.unwrap_or_default();
        assert!(said.contains(warning.unwrap_or_default()), "{said}");
        assert_eq!(said.is_empty(), warning.is_none(), "{said}");
    }
    let flag = Places {
        session_dir: Some("flag".into()),
        ..places
    };
    assert_eq!(flag.session_dir().path, home.path("work/flag"));
    assert_eq!(flag.session_dir().source, DirSource::Given);
}

#[test]
fn odd_files_never_end_a_listing() {
    let home = Home::new();
    let places = home.places("w");
    let good = home.session("w", "good");
    let dir = good.parent().unwrap();
    let long = header("long", &"x".repeat(1024 * 1024));
    let long = home.file(&dir.join("long.jsonl"), &long);
    home.file(
        &dir.join("message.jsonl"),
        "{\"type\":\"message\",\"id\":\"a\"}\n",
    );
    home.file(&dir.join("empty.jsonl"), "");
    home.file(&dir.join("notes.txt"), &header("notes", "w"));
    home.file(&dir.join(".pis/x.jsonl"), &header("inside", "w"));
    home.file(
        &places.sessions_root().join(".pis/y.jsonl"),
        &header("own", "w"),
    );
    fs::create_dir(dir.join("dir.jsonl")).unwrap();
    #[cfg(unix)]
    {
        let fifo = dir.join("fifo.jsonl");
        let made = std::process::Command::new("mkfifo").arg(fifo).status();
        assert!(made.unwrap().success());
        std::os::unix::fs::symlink("/nowhere", dir.join("dead.jsonl")).unwrap();
        std::os::unix::fs::symlink(&good, dir.join("link.jsonl")).unwrap();
        std::os::unix::fs::symlink(dir, places.sessions_root().join("--z--")).unwrap();
    }
    // A header over 1 MiB is not looked for, but listed.
    assert_eq!(places.newest().unwrap(), good);
    assert_eq!(places.list_here(), [long.clone(), good.clone()]);
    assert_eq!(
        places.list_all(),
        [long, good],
        "links lead to what is there already"
    );
}

#[test]
fn a_shared_directory_is_told_apart_by_cwd() {
    let home = Home::new();
    let places = Places {
        session_dir: Some("../all".into()),
        ..home.places("w")
    };
    let cwd = places.cwd.to_str().unwrap();
    let add = |name: &str, cwd: &str| home.file(&home.path("all").join(name), &header(name, cwd));
    let here = add("1.jsonl", cwd);
    let same = add("2.jsonl", &format!("{cwd}/./x/../"));
    let other = add("3.jsonl", "/elsewhere");
    let nowhere = add("4.jsonl", "");
    assert_eq!(places.newest().unwrap(), same);
    assert_eq!(places.list_here(), [same.clone(), here.clone()]);
    assert_eq!(places.list_all(), [nowhere, other.clone(), same, here]);
    assert_eq!(places.find("3", &no_names).unwrap(), other);

    // The default directory is nobody's choice to share, even where it is given by name.
    let default = home.session("w", "mine");
    home.file(
        &default.with_file_name("b.jsonl"),
        &header("b", "/elsewhere"),
    );
    let named = Places {
        session_dir: default.parent().map(Path::to_owned),
        ..places
    };
    assert!(!named.session_dir().shared);
    assert_eq!(named.list_here().len(), 2);
}

#[test]
fn names_are_paths_ids_prefixes_or_names_here_before_elsewhere() {
    let home = Home::new();
    let places = home.places("w");
    let [ab1, ab2, dots] = ["ab1", "ab2", "a..b"].map(|id| home.session("w", id));
    let [far, head, ab] = ["ab1far", "HEAD", "ab"].map(|id| home.session("v", id));
    let name_of = |path: &Path| {
        let named = [
            (&ab1, "fix"),
            (&ab2, "ab1"),
            (&head, "far fix"),
            (&far, "two"),
            (&ab, "two"),
        ];
        let found = named.iter().find(|(p, _)| p.as_path() == path);
        found.map(|(_, name)| (*name).to_owned())
    };
    for (name, wanted) in [
        ("ab1", &ab1),
        ("a.", &dots),
        ("fix", &ab1),
        ("ab1f", &far),
        ("HEAD", &head),
        ("far fix", &head),
    ] {
        assert_eq!(&places.find(name, &name_of).unwrap(), wanted, "{name}");
    }
    for (name, wanted) in [
        ("../x", home.path("x")),
        ("~/x", home.path("x")),
        ("x.jsonl", home.path("w/x.jsonl")),
    ] {
        assert_eq!(places.find(name, &name_of).unwrap(), wanted);
    }
    for (name, wanted) in [
        (
            "ab",
            [
                format!("ab2  \"ab1\"  {}", ab2.display()),
                format!("ab1  \"fix\"  {}", ab1.display()),
            ],
        ),
        (
            "two",
            [
                format!("ab  \"two\"  {}", ab.display()),
                format!("ab1far  \"two\"  {}", far.display()),
            ],
        ),
    ] {
        match places.find(name, &name_of) {
            Err(Error::AmbiguousSession { candidates, .. }) => assert_eq!(candidates, wanted),
            other => panic!("{other:?}"),
        }
    }
    for (name, kind, hint) in [
        ("", "usage", "give a path"),
        ("HAED", "no-session", "HEAD  \"far fix\""),
        ("FIX", "no-session", "ab1  \"fix\""),
        (
            "quite else",
            "no-session",
            "the sessions of all directories lie under '/",
        ),
    ] {
        let e = places.find(name, &name_of).unwrap_err();
        assert_eq!(e.kind(), kind);
        assert!(e.hint().unwrap().contains(hint), "{name}: {:?}", e.hint());
    }
}

#[test]
fn nothing_here_says_what_to_do() {
    let home = Home::new();
    let e = home.places("w").newest().unwrap_err();
    assert_eq!(e.kind(), "no-session");
    assert!(e.to_string().starts_with("no session of '"), "{e}");
    assert!(e.hint().unwrap().contains("pis init"));
    // A file in the way is another matter.
    home.file(&home.path("file"), "");
    let places = Places {
        session_dir: Some(home.path("file")),
        ..home.places("w")
    };
    assert_eq!(places.newest().unwrap_err().kind(), "io");
    assert!(places.list_here().is_empty());
}

//! Damage among bytes and lines (rows E01 to E20 and E36 of the catalogue): reading sees what pi
//! sees, says once what it passed over, and changes nothing.

use std::fs;

use crate::common::{Build, Ran, World};

/// What reading a file should give.
struct Wanted<'a> {
    /// Ids from the root to the leaf.
    path: &'a [&'a str],
    /// Ids in the order of the file.
    entries: &'a [&'a str],
    /// Kinds of the notes about lines, of a command that reads everything.
    notes: &'a [&'a str],
    /// What the text of the notes holds.
    says: &'a str,
}

/// Notes about links between entries, which follow from lost lines and have tests of their own.
const ABOUT_LINKS: [&str; 6] = [
    "orphan",
    "cycle",
    "duplicate-id",
    "out-of-order",
    "bad-parent",
    "hidden-branch",
];

fn notes_about_lines(ran: &Ran) -> Vec<String> {
    ran.notes()
        .into_iter()
        .filter(|kind| !ABOUT_LINKS.contains(&kind.as_str()))
        .collect()
}

/// Reads a file with every command and compares.
fn check(what: &str, bytes: impl AsRef<[u8]>, wanted: &Wanted<'_>) {
    let world = World::new();
    world.write("s.jsonl", bytes);
    let path = world.read(&["-q", "-s", "s.jsonl", "rev-path"]);
    assert_eq!(
        (path.code, path.ids().as_slice()),
        (0, &owned(wanted.path)[..]),
        "{what}"
    );
    assert_eq!(path.stderr, "", "{what}: quiet");
    let all = world.read(&["--json", "-s", "s.jsonl", "ls-entries"]);
    assert_eq!(
        (all.code, all.ids().as_slice()),
        (0, &owned(wanted.entries)[..]),
        "{what}"
    );
    assert_eq!(
        notes_about_lines(&all),
        wanted.notes,
        "{what}: {}",
        all.stderr
    );
    assert!(all.stderr.contains(wanted.says), "{what}: {}", all.stderr);
    world.read_all("s.jsonl");
}

fn owned(ids: &[&str]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

const A: &str = "aaaaaaaa";
const B: &str = "bbbbbbbb";
const C: &str = "cccccccc";
const D: &str = "dddddddd";
const E: &str = "eeeeeeee";

/// The header and a, b, c, in lines.
fn abc() -> Vec<String> {
    let text = Build::new()
        .user(A, "", "one")
        .assistant(B, A, "two")
        .user(C, B, "three")
        .text();
    text.lines().map(|line| format!("{line}\n")).collect()
}

/// A user message as a line without its newline.
fn user(id: &str, parent: &str, text: &str) -> String {
    let build = Build::new().user(id, parent, text).text();
    build.lines().nth(1).expect("an entry").to_owned()
}

const FINE: Wanted<'_> = Wanted {
    path: &[A, B, C],
    entries: &[A, B, C],
    notes: &[],
    says: "",
};

#[test]
fn e01_a_missing_last_newline_is_nothing_odd() {
    let text = abc().concat();
    for tail in ["", " ", "   \t", "\r"] {
        check(
            &format!("{tail:?}"),
            format!("{}{tail}", text.trim_end()),
            &FINE,
        );
    }
    let world = World::new();
    world.write("s.jsonl", text.trim_end());
    assert_eq!(world.ok(&["-s", "s.jsonl", "cat-entry", "@"]), abc()[3]);
}

#[test]
fn e02_a_torn_tail_is_passed_over() {
    let text = abc().concat();
    let torn = user(D, C, "four 😀");
    // E13 is the cut inside the character.
    let inside = torn.find('😀').unwrap() + 2;
    for cut in [1, 2, 9, 30, torn.len() / 2, inside, torn.len() - 1] {
        let bytes = [text.as_bytes(), &torn.as_bytes()[..cut]].concat();
        let says = format!("bytes {}-{}", text.len(), bytes.len());
        check(
            &format!("cut at {cut}"),
            &bytes,
            &Wanted {
                notes: &["torn-tail"],
                says: &says,
                ..FINE
            },
        );
        // Once something was appended behind it, it is a junk line.
        let bytes = [&bytes[..], b"\n", user(E, C, "five").as_bytes()].concat();
        let wanted = Wanted {
            path: &[A, B, C, E],
            entries: &[A, B, C, E],
            notes: &["unparseable-line"],
            says: "line 5",
        };
        check(&format!("cut at {cut}, then more"), &bytes, &wanted);
    }
    check(
        "cut behind its last brace",
        format!("{text}{torn}"),
        &Wanted {
            path: &[A, B, C, D],
            entries: &[A, B, C, D],
            ..FINE
        },
    );
}

#[test]
fn e02_the_end_of_a_file_is_told_by_its_bytes() {
    let world = World::new();
    let mut text = Build::new()
        .user(A, "", &"long ".repeat(20_000))
        .user(B, A, "two")
        .text();
    let start = text.len();
    text.push_str("{\"type\":\"mess");
    world.write("s.jsonl", &text);
    let ran = world.read(&["-s", "s.jsonl", "rev-parse", "@"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "bbbbbbbb\n"));
    assert_eq!(ran.stderr.lines().count(), 1);
    assert!(
        ran.stderr
            .contains(&format!("bytes {start}-{}", text.len())),
        "{}",
        ran.stderr
    );
}

#[test]
fn e03_a_record_behind_a_torn_one_on_its_line_can_be_recovered() {
    let torn = &user(C, B, "three")[..40];
    for cut in [1, 20, 40] {
        let lines = abc();
        let text = format!(
            "{}{}{}{}{}\n{}\n",
            lines[0],
            lines[1],
            lines[2],
            &torn[..cut],
            user(D, B, "four"),
            user(E, D, "five")
        );
        let wanted = Wanted {
            path: &[E],
            entries: &[A, B, E],
            notes: &["unparseable-line"],
            says: "a whole record, which 'pis repair' gets back",
        };
        check(&format!("cut at {cut}"), text, &wanted);
    }
}

#[test]
fn e04_glued_records_can_be_recovered() {
    let lines = abc();
    for space in ["", " ", "   "] {
        let glued = [user(D, C, "four"), user(E, D, "five")].join(space);
        let text = format!("{}{glued}\n", lines.concat());
        let says = "2 whole records, which 'pis repair' gets back";
        check(
            space,
            text,
            &Wanted {
                notes: &["unparseable-line"],
                says,
                ..FINE
            },
        );
    }
    let three = [user(C, B, "x"), user(D, C, "four"), user(E, D, "five")].concat();
    let text = format!(
        "{}{three}\n{}\n",
        lines[..3].concat(),
        user("ffffffff", B, "on")
    );
    check(
        "three",
        text,
        &Wanted {
            path: &[A, B, "ffffffff"],
            entries: &[A, B, "ffffffff"],
            notes: &["unparseable-line"],
            says: "line 4",
        },
    );
}

#[test]
fn e05_nul_bytes_are_passed_over() {
    let lines = abc();
    for count in [1, 300, 1 << 20] {
        let nul = "\0".repeat(count);
        for at in [1, 2, 4] {
            let mut lines = lines.clone();
            lines.insert(at, format!("{nul}\n"));
            let says = format!("line {}", at + 1);
            check(
                &format!("{count} at {at}"),
                lines.concat(),
                &Wanted {
                    notes: &["unparseable-line"],
                    says: &says,
                    ..FINE
                },
            );
        }
        check(
            "end",
            format!("{}{nul}", lines.concat()),
            &Wanted {
                notes: &["torn-tail"],
                ..FINE
            },
        );
    }
    let text = format!("{}\0\0\0{}\n", lines.concat(), user(D, C, "four"));
    check(
        "before an object",
        text,
        &Wanted {
            notes: &["unparseable-line"],
            says: "a whole record, which 'pis repair' gets back",
            ..FINE
        },
    );
}

#[test]
fn e06_a_raw_newline_in_a_string_breaks_both_halves() {
    let lines = abc();
    let broken = user(D, C, "one half").replace(" half", "\nhalf");
    check(
        "last",
        format!("{}{broken}\n", lines.concat()),
        &Wanted {
            notes: &["unparseable-line"],
            says: "one more line",
            ..FINE
        },
    );
    let text = format!("{}{broken}\n{}\n", lines.concat(), user(E, C, "five"));
    check(
        "in the middle",
        text,
        &Wanted {
            path: &[A, B, C, E],
            entries: &[A, B, C, E],
            notes: &["unparseable-line"],
            says: "one more line",
        },
    );
}

#[test]
fn e07_other_line_ends_are_fine() {
    let lines = abc();
    let crlf = lines.concat().replace('\n', "\r\n");
    check("all", &crlf, &FINE);
    let mixed = format!(
        "{}{}",
        lines[..2].concat(),
        lines[2..].concat().replace('\n', "\r\n")
    );
    check("mixed", mixed, &FINE);
    let world = World::new();
    world.write("s.jsonl", &crlf);
    assert_eq!(
        world.ok(&["-s", "s.jsonl", "cat-entry", "--text", "@"]),
        "three\n"
    );
    assert_eq!(world.json(&["-s", "s.jsonl", "cat-entry", "@"]).len(), 1);
    world.json(&["-s", "s.jsonl", "context"]);
}

#[test]
fn e08_a_byte_order_mark_is_told() {
    let text = format!("\u{feff}{}", abc().concat());
    check(
        "bom",
        text,
        &Wanted {
            notes: &["bom"],
            says: "byte order mark",
            ..FINE
        },
    );
}

#[test]
fn e09_junk_before_the_header_is_passed_over() {
    let text = abc().concat();
    for junk in [
        "\n",
        "\n\n  \n",
        "junk\n",
        "{broken\n\n",
        "null\n0\nfalse\n\"\"\n",
    ] {
        let world = World::new();
        world.write("s.jsonl", format!("{junk}{text}"));
        let ran = world.read(&["-q", "-s", "s.jsonl", "rev-path"]);
        assert_eq!((ran.code, ran.ids()), (0, owned(FINE.path)), "{junk:?}");
        world.read_all("s.jsonl");
    }
    let world = World::new();
    world.write("s.jsonl", format!("{}\n{text}", "x".repeat((1 << 20) + 10)));
    assert_eq!(
        world.read(&["-s", "s.jsonl", "rev-path"]).ids(),
        owned(FINE.path)
    );
}

#[test]
fn e10_only_a_newline_ends_a_line() {
    let lines = abc();
    let odd = user(D, C, "a\u{2028}b\u{2029}c\u{85}d\u{7f}");
    let text = format!("{}{odd}\n", lines.concat());
    check(
        "separators",
        &text,
        &Wanted {
            path: &[A, B, C, D],
            entries: &[A, B, C, D],
            ..FINE
        },
    );
    let world = World::new();
    world.write("s.jsonl", &text);
    let json = world.ok(&["--json", "-s", "s.jsonl", "log", "-n", "1"]);
    assert!(json.contains("a\\u2028b\\u2029c\\u0085d"), "{json}");
    for raw in ["\u{b}", "\u{c}", "\u{1b}", "\t", "\0"] {
        let broken = user(D, C, "one two").replace("e t", &format!("e{raw}t"));
        let text = format!("{}{broken}\n", lines.concat());
        check(
            &format!("{raw:?}"),
            text,
            &Wanted {
                notes: &["unparseable-line"],
                ..FINE
            },
        );
    }
}

#[test]
fn e11_lone_surrogates_stay_escaped() {
    for surrogate in ["\\ud83d", "\\ude00", "\\ude00\\ud83d"] {
        let line = user(D, C, "bad X end").replace('X', surrogate);
        let text = format!("{}{line}\n", abc().concat());
        check(
            surrogate,
            &text,
            &Wanted {
                path: &[A, B, C, D],
                entries: &[A, B, C, D],
                ..FINE
            },
        );
        let world = World::new();
        world.write("s.jsonl", &text);
        let stored = world.ok(&["-s", "s.jsonl", "cat-entry", "@"]);
        assert_eq!(stored.trim_end(), line);
        let context = world.ok(&["-s", "s.jsonl", "context"]);
        assert!(
            context.contains(&format!("bad {surrogate} end")),
            "{context}"
        );
        assert!(world.ok(&["-s", "s.jsonl", "log"]).contains("bad \u{fffd}"));
    }
}

#[test]
fn e12_bytes_that_are_no_utf8_become_replacement_characters() {
    let (before, after) = (abc().concat(), user(D, C, "bad X end"));
    let at = after.find('X').unwrap();
    let line = [
        &after.as_bytes()[..at],
        b"\xff\xfe\x80",
        &after.as_bytes()[at + 1..],
    ]
    .concat();
    let bytes = [before.as_bytes(), &line, b"\n"].concat();
    check(
        "in a text",
        &bytes,
        &Wanted {
            path: &[A, B, C, D],
            entries: &[A, B, C, D],
            ..FINE
        },
    );
    let world = World::new();
    world.write("s.jsonl", &bytes);
    let rows = world.json(&["--json", "-s", "s.jsonl", "log", "-n", "1"]);
    assert_eq!(rows[0]["text"], "bad \u{fffd}\u{fffd}\u{fffd} end");
    let context = world
        .command(&["-s", "s.jsonl", "context"])
        .output()
        .unwrap();
    assert!(String::from_utf8(context.stdout).is_ok());
    let stored = world
        .command(&["-s", "s.jsonl", "cat-entry", "@"])
        .output()
        .unwrap();
    assert_eq!(stored.stdout, [&line[..], b"\n"].concat());
}

#[test]
fn e14_headers_may_be_long() {
    for len in [600, 5000, (1 << 20) + 5] {
        let mut lines = abc();
        let extra = format!(",\"note\":\"{}\"}}\n", "x".repeat(len));
        lines[0] = lines[0].replace("}\n", &extra);
        check(&format!("{len}"), lines.concat(), &FINE);
    }
}

#[test]
fn e14_a_record_of_many_megabytes_hides_nothing() {
    let world = World::new();
    let image = "A".repeat(11 << 20);
    let block = format!("[{{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"{image}\"}}]");
    let big = user(D, C, "look");
    let (from, to) = (
        big.find("[{").expect("blocks"),
        big.find("}]").expect("blocks") + 2,
    );
    let big = format!("{}{block}{}", &big[..from], &big[to..]);
    assert!(big.len() > 11 << 20);
    let text = format!("{}{big}\n{}\n", abc().concat(), user(E, D, "five"));
    world.write("s.jsonl", text);
    assert_eq!(world.lines(&["-s", "s.jsonl", "rev-path"]), [A, B, C, D, E]);
    assert_eq!(
        world.lines(&["-s", "s.jsonl", "cat-entry", "--size", D]),
        [big.len().to_string()]
    );
    assert!(world.ok(&["-s", "s.jsonl", "log"]).contains("(1 image)"));
    assert_eq!(world.lines(&["-s", "s.jsonl", "tree"]).len(), 5);
    let tokens: u32 = world
        .ok(&["-s", "s.jsonl", "context", "--tokens"])
        .trim()
        .parse()
        .unwrap();
    assert!(tokens < 5000, "an image counts 4800 characters: {tokens}");
}

#[cfg(unix)]
#[test]
fn e14_the_end_of_a_file_over_4_gib_is_found_at_once() {
    use std::io::{Seek, Write};
    let world = World::new();
    let path = world.write("s.jsonl", abc()[..2].concat());
    let mut file = fs::File::options().write(true).open(path).unwrap();
    file.seek(std::io::SeekFrom::Start(5 << 30)).unwrap();
    let line = Build::new().user(D, "", "behind the hole").text();
    let line = line.split_once('\n').unwrap().1;
    write!(file, "\n{line}").unwrap();
    assert_eq!(world.ok(&["-s", "s.jsonl", "rev-parse", "@"]), "dddddddd\n");
    assert!(
        world
            .ok(&["-s", "s.jsonl", "log", "-n", "1"])
            .contains("behind the hole")
    );
    assert_eq!(
        world.lines(&["-s", "s.jsonl", "cat-entry", D]),
        [line.trim_end()]
    );
}

/// A file that is refused: nothing on stdout, one error that says what it is.
fn refused(what: &str, bytes: impl AsRef<[u8]>, says: &str) {
    let world = World::new();
    world.write("s.jsonl", bytes);
    for args in crate::common::READING {
        let args: Vec<_> = ["--json", "-s", "s.jsonl"]
            .iter()
            .chain(*args)
            .copied()
            .collect();
        let ran = world.read(&args);
        // To fsck it is a finding.
        if args.contains(&"fsck") {
            assert_eq!((ran.code, ran.stdout.lines().count()), (1, 1), "{what}");
            continue;
        }
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (128, ""),
            "{what} {args:?}"
        );
        assert_eq!(ran.stderr.lines().count(), 1, "{what}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("\"not-a-session\""),
            "{what}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains(says), "{what}: {}", ran.stderr);
    }
}

#[test]
fn e15_e16_empty_files_are_errors() {
    refused("no bytes", "", "it is empty");
    refused("newlines", "\n\n\n", "no line of it is JSON");
    refused("spaces", "   ", "no line of it is JSON");
}

#[test]
fn e20_other_files_are_told_apart() {
    for (what, bytes, says) in [
        ("text", &b"hello\nworld\n"[..], "no line of it is JSON"),
        ("gzip", b"\x1f\x8b\x08\x00\x00", "gzip"),
        (
            "claude code",
            b"{\"type\":\"user\",\"uuid\":\"x\",\"message\":{}}\n",
            "Claude Code",
        ),
        (
            "codex",
            b"{\"type\":\"session_meta\",\"payload\":{}}\n",
            "Codex",
        ),
        (
            "another product",
            b"{\"v\":4,\"kind\":\"header\",\"id\":\"x\"}\n",
            "another product",
        ),
        (
            "other ndjson",
            b"{\"a\":1}\n{\"a\":2}\n",
            "no session header",
        ),
        ("numbers", b"1\n2\n3\n", "no JSON object"),
        (
            "header without id",
            b"{\"type\":\"session\",\"version\":3}\n",
            "no session header",
        ),
        (
            "header with a number",
            b"{\"type\":\"session\",\"id\":7}\n",
            "no session header",
        ),
        ("binary", b"\x00\x01\x02\xff\xfe", "no line of it is JSON"),
    ] {
        refused(what, bytes, says);
    }
}

#[test]
fn e20_directories_and_pipes_are_not_opened() {
    let world = World::new();
    fs::create_dir(world.path("d.jsonl")).unwrap();
    let ran = world.read(&["-s", "d.jsonl", "log"]);
    assert_eq!(ran.code, 128);
    assert!(ran.stderr.contains("it is a directory"), "{}", ran.stderr);
    #[cfg(unix)]
    {
        let made = std::process::Command::new("mkfifo")
            .arg(world.path("f.jsonl"))
            .status();
        assert!(made.unwrap().success());
        let ran = world.read(&["-s", "f.jsonl", "log"]);
        assert_eq!(ran.code, 128);
        assert!(
            ran.stderr.contains("it is not a regular file"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn e17_a_file_without_a_header_is_read_with_a_warning() {
    let text = abc()[1..].concat();
    check(
        "no header",
        text,
        &Wanted {
            notes: &["no-header"],
            says: "has no header",
            ..FINE
        },
    );
}

#[test]
fn e18_a_header_that_is_not_the_first_record_counts() {
    let lines = abc();
    for at in [1, 2] {
        let mut moved = lines.clone();
        let header = moved.remove(0);
        moved.insert(at, header);
        let says = "not its first record";
        check(
            &format!("at {at}"),
            moved.concat(),
            &Wanted {
                notes: &["header-not-first"],
                says,
                ..FINE
            },
        );
    }
    // Another program's title line before the header.
    let text = format!("{{\"type\":\"title\",\"title\":\"x\"}}\n{}", lines.concat());
    check(
        "title",
        text,
        &Wanted {
            notes: &["header-not-first"],
            ..FINE
        },
    );
}

#[test]
fn e19_the_first_of_two_headers_wins() {
    let lines = abc();
    let second = lines[0].replace("000000000001", "000000000002");
    for at in [1, 2, 4] {
        let mut lines = lines.clone();
        lines.insert(at, second.clone());
        let says = format!("line {}", at + 1);
        check(
            &format!("at {at}"),
            lines.concat(),
            &Wanted {
                notes: &["second-header"],
                says: &says,
                ..FINE
            },
        );
        let world = World::new();
        world.write("s.jsonl", lines.concat());
        let header = world.read(&["-q", "-s", "s.jsonl", "cat-entry", "--header"]);
        assert_eq!(header.stdout, lines[0]);
    }
}

#[test]
fn e36_json_that_is_no_object_is_no_record() {
    let lines = abc();
    for junk in ["42", "\"str\"", "[1]", "true", "1e400", "[]"] {
        for at in [1, 2, 4] {
            let mut lines = lines.clone();
            lines.insert(at, format!("{junk}\n"));
            let says = format!("line {}", at + 1);
            check(
                &format!("{junk} at {at}"),
                lines.concat(),
                &Wanted {
                    notes: &["not-an-object"],
                    says: &says,
                    ..FINE
                },
            );
        }
    }
    for silent in ["null", "0", "false", "\"\"", "  ", ""] {
        let text = format!("{}{silent}\n", lines.concat());
        check(silent, text, &FINE);
    }
    for idless in [
        "{}",
        "{\"type\":\"custom\"}",
        "{\"id\":null}",
        "{\"id\":true}",
    ] {
        let world = World::new();
        world.write("s.jsonl", format!("{}{idless}\n", lines.concat()));
        let ran = world.read(&["--json", "-s", "s.jsonl", "ls-entries"]);
        assert_eq!(
            (ran.code, ran.ids(), ran.notes()),
            (0, owned(&[A, B, C]), owned(&["no-id"]))
        );
        assert_eq!(
            world.read(&["-s", "s.jsonl", "rev-parse", "@"]).stdout,
            "cccccccc\n"
        );
        world.read_all("s.jsonl");
    }
}

#[test]
fn each_kind_of_oddity_is_told_once() {
    let lines = abc();
    let second = lines[0].replace("000000000001", "000000000002");
    let text = format!(
        "{}42\nbroken\n{second}{}[1]\nbroken too\n{{\"type\":\"custom\"}}\n{}{{\"torn",
        lines[..2].concat(),
        lines[2],
        lines[3]
    );
    let world = World::new();
    world.write("s.jsonl", text);
    let ran = world.read(&["--json", "-s", "s.jsonl", "ls-entries"]);
    assert_eq!((ran.code, ran.ids()), (0, owned(&[A, B, C])));
    let mut notes = ran.notes();
    notes.sort();
    let wanted = [
        "no-id",
        "not-an-object",
        "second-header",
        "torn-tail",
        "unparseable-line",
    ];
    assert_eq!(notes, wanted, "{}", ran.stderr);
    world.read_all("s.jsonl");
}

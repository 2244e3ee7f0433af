//! The spelling of revisions, from outside: ranges and errors row by row, then properties.
//! Whatever can be said prints and reads back as the same, and no text makes the parser panic.
//! What a spelling means is tested with the resolver; nothing here may open a session.

use pis::rev::syntax::{Place, Range, Rev, Spec, Suffix, quote_name};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// The rows of a table, in columns that two or more blanks divide.
fn rows<const N: usize>(table: &'static str) -> Vec<[&'static str; N]> {
    let cells = |line: &'static str| line.split("  ").map(str::trim).filter(|c| !c.is_empty());
    let lines = table.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| cells(line).collect::<Vec<_>>().try_into().expect(line))
        .collect()
}

#[test]
fn a_range_has_two_sides_of_one_session() {
    // What is read and printed, session, left, dots, right; `-` is nothing.
    let table = r#"
        a..b              -           a     ..   b
        a...b             -           a     ...  b
        ..b               -           -     ..   b
        a...              -           a     ...  -
        a..:/x..y         -           a     ..   :/x..y
        a.."x.jsonl:y"    -           a     ..   "x.jsonl:y"
        root..@~2         -           root  ..   @~2
        s:a..b            s           a     ..   b
        s:..b             s           -     ..   b
        ../x.jsonl:a..b   ../x.jsonl  a     ..   b
    "#;
    for [text, session, left, dots, right] in rows(table) {
        let given = |cell: &str| Some(cell.to_owned()).filter(|cell| cell != "-");
        let side = |cell| given(cell).map(|cell| Rev::parse(&cell).expect(text));
        let session = given(session);
        let (left, right) = (side(left), side(right));
        let spec = Spec::Range(Range {
            session,
            left,
            right,
            symmetric: dots.len() == 3,
        });
        assert_eq!(Spec::parse(text).as_ref(), Ok(&spec));
        assert_eq!(spec.to_string(), text);
        assert!(
            Rev::parse(text)
                .expect_err(text)
                .message
                .contains("is a range")
        );
    }
    assert_eq!(Spec::parse("s:a..s:b"), Spec::parse("s:a..b"));
}

#[test]
fn an_error_says_what_and_where_and_what_to_write() {
    // What is read, the byte, the message after its beginning, the hint or `-`.
    let table = r#"
        @^2        1  entries have one parent            write '~2' for a distance
        @%%%       1  '%' cannot follow '%'              write '%3'
        @%0        1  prompts count from 1               '%1' is the nearest
        @{-0}      0  checkouts count from 1             '@{-1}' is the last one
        @{+1}      0  unknown '@{+1}'                    known are '@{2}', '@{-1}' and '@{tip}'
        HEAD@{1}   4  '@{1}' stands alone                it counts from now: write '@{1}'
        @~4294967296  2  4294967296 is too big           -
        "a         0  no '"' ends the quoted name        -
        "a\q"      2  unknown escape in a quoted name    a backslash in a quoted name is written '\\'
        "\ud800"   1  unknown escape in a quoted name    a backslash in a quoted name is written '\\'
        a^{b       2  no '}' for this '{'                inside, a brace without its pair is written '\{' or '\}'
        a^{/[}]}   6  unexpected ']'                     quote a name that holds ']'
        a^{/}      1  the search is empty                -
        :/         2  the search is empty                -
        a^{b{}}    1  'b{}' is no kind of entry          a search begins with a slash: '^{/REGEX}'
        @~1x       3  unexpected 'x'                     quote a name that holds 'x'
        a b        1  unexpected ' '                     quote a name that holds ' '
        @foo       1  unexpected 'f'                     quote a name that begins with '@'
        -a         0  unexpected '-'                     quote a name that begins with '-'
        ~1         0  unexpected '~'                     '@~' starts from the leaf
        ..         0  a range needs at least one side    a missing side is the leaf: 'A..' or '..B'
        ....       3  a range has two or three dots      -
        a..b..c    4  a range has two sides              -
        s:a..t:b   5  its right side is in a session of its own  for both sides, write 's:a..b'
        a..s:b~    3  its right side is in a session of its own  for both sides, write 's:a..b~1'
    "#;
    for [text, position, message, hint] in rows(table) {
        let error = Spec::parse(text).expect_err(text);
        assert_eq!(error.message, format!("bad revision '{text}': {message}"));
        assert_eq!(error.position.to_string(), position, "{text}");
        assert_eq!(error.hint.as_deref().unwrap_or("-"), hint, "{text}");
    }
    assert_eq!(
        Spec::parse("").expect_err("").message,
        "bad revision '': it is empty"
    );
    for unfinished in ["s:", "id:", "s:label:"] {
        assert!(
            Spec::parse(unfinished)
                .expect_err("")
                .message
                .contains("nothing follows")
        );
    }
}

/// Pieces that the grammar knows, and pieces that look like them.
const FRAGMENTS: &[&str] = &[
    "@",
    "@{",
    "@{1}",
    "@{-2}",
    "@{tip}",
    "{",
    "}",
    "^",
    "^{",
    "^{}",
    "^{/",
    "^{user}",
    "~",
    "~3",
    "%",
    "+",
    ".",
    "..",
    "...",
    ":",
    ":/",
    "/",
    "\\",
    "\"",
    "\\u",
    "d83d",
    "id:",
    "label:",
    "HEAD",
    "root",
    "tip",
    "-",
    "0",
    "99999999999",
    " ",
    "\n",
    "\u{1b}",
    "\u{202e}",
    "ä",
    "😀",
    "abc",
    ".jsonl",
    ".jsonl:",
    "~/s.jsonl:",
    "../",
    "\"a b\"",
];

fn fragments() -> impl Strategy<Value = String> {
    vec(prop::sample::select(FRAGMENTS), 0..10).prop_map(|parts| parts.concat())
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), fragments(), "[a-f0-9]{1,8}"]
}

/// Regexes whose braces pair up outside escapes, as `^{/…}` demands.
fn braced_regex() -> impl Strategy<Value = String> {
    let pieces = [
        "a", "..", "{2}", "\\}", "\\{", "\\\\", "\\p{L}", "{{x}y}", "\"", "/", ".jsonl:", " ",
    ];
    vec(prop::sample::select(pieces.to_vec()), 1..6).prop_map(|parts| parts.concat())
}

fn suffix() -> impl Strategy<Value = Suffix> {
    prop_oneof![
        any::<u32>().prop_map(Suffix::Ancestor),
        (1..=u32::MAX).prop_map(Suffix::Prompt),
        r"[^/{}\\][^{}\\]{0,12}".prop_map(Suffix::Kind),
        Just(Suffix::Kind("x.jsonl:y".to_owned())),
        Just(Suffix::Peel),
        braced_regex().prop_map(Suffix::Search),
        Just(Suffix::Child),
        Just(Suffix::Tip),
    ]
}

fn walk() -> impl Strategy<Value = Rev> {
    let place = prop_oneof![
        Just(Place::Leaf),
        Just(Place::Root),
        name().prop_map(Place::Word),
        name().prop_map(Place::Id),
        name().prop_map(Place::Label),
        any::<u32>().prop_map(Place::Moves),
        (1..=u32::MAX).prop_map(Place::Checkout),
        Just(Place::Tip),
    ];
    (place, vec(suffix(), 0..4)).prop_map(|(place, suffixes)| Rev {
        session: None,
        place,
        suffixes,
    })
}

/// A revision that may end a text: a walk, or a search, which takes no steps.
fn last() -> impl Strategy<Value = Rev> {
    let search = prop_oneof![any::<String>(), fragments()].prop_filter("empty", |s| !s.is_empty());
    let search = search.prop_map(|regex| Rev {
        session: None,
        place: Place::Search(regex),
        suffixes: Vec::new(),
    });
    prop_oneof![3 => walk(), 1 => search]
}

fn session() -> impl Strategy<Value = Option<String>> {
    let path = prop_oneof![any::<String>(), fragments()].prop_map(|s| s + ".jsonl");
    option::of(prop_oneof![name(), path])
}

fn spec() -> impl Strategy<Value = Spec> {
    let rev = (session(), last()).prop_map(|(session, rev)| Spec::Rev(Rev { session, ..rev }));
    let sides = (option::of(walk()), option::of(last()))
        .prop_filter("no side", |(left, right)| left.is_some() || right.is_some());
    let range =
        (session(), sides, any::<bool>()).prop_map(|(session, (left, right), symmetric)| {
            Spec::Range(Range {
                session,
                left,
                right,
                symmetric,
            })
        });
    prop_oneof![rev, range]
}

/// Parses and, where that works, checks that the printed form means and prints the same.
fn check_text(text: &str) -> Result<(), TestCaseError> {
    match Spec::parse(text) {
        Ok(spec) => {
            let printed = spec.to_string();
            prop_assert_eq!(
                Spec::parse(&printed),
                Ok(spec),
                "{:?} printed as {:?}",
                text,
                &printed
            );
        }
        Err(error) => {
            prop_assert!(
                text.is_char_boundary(error.position),
                "{:?}: {:?}",
                text,
                error
            );
            prop_assert!(!error.message.is_empty());
        }
    }
    // The other entrance differs in refusing ranges only.
    prop_assert_eq!(
        Rev::parse(text).ok().map(Spec::Rev).is_some(),
        matches!(Spec::parse(text), Ok(Spec::Rev(_)))
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_reads_back(spec in spec()) {
        let printed = spec.to_string();
        prop_assert_eq!(Spec::parse(&printed), Ok(spec), "printed as {:?}", printed);
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        check_text(&text)?;
    }

    #[test]
    fn operators_in_any_order_are_read_or_refused(text in fragments()) {
        check_text(&text)?;
    }

    #[test]
    fn a_quoted_name_is_that_name_wherever_it_stands(name in name(), before in walk(), after in suffix()) {
        let word = Rev { session: None, place: Place::Word(name.clone()), suffixes: Vec::new() };
        let printed = quote_name(&name);
        prop_assert_eq!(Rev::parse(&printed), Ok(word.clone()));
        let stepped = Rev { suffixes: vec![after.clone()], ..word.clone() };
        prop_assert_eq!(Rev::parse(&format!("{printed}{after}")), Ok(stepped));
        for dots in ["..", "..."] {
            let range = Range { session: None, left: Some(before.clone()), right: Some(word.clone()), symmetric: dots.len() == 3 };
            prop_assert_eq!(Spec::parse(&format!("{before}{dots}{printed}")), Ok(Spec::Range(range)));
        }
    }
}

/// Length must cost neither the stack nor a square of itself.
#[test]
fn long_texts_are_no_trouble() {
    let many = 200_000;
    for text in [
        "@".to_owned() + &"^".repeat(many),
        "@^{/".to_owned() + &"{".repeat(many) + &"}".repeat(many + 1),
        "\"".to_owned() + &"\\\\".repeat(many) + "\"",
    ] {
        assert!(Rev::parse(&text).is_ok());
    }
    assert!(Rev::parse(&"..".repeat(many)).is_err());
}

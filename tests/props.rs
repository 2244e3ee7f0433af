//! Whatever a file holds: no reading of it panics or hangs, the end of a file read first gives the
//! same answers as all of it, blocks on all cores give the same as one scan, and a line counts
//! exactly if it is JSON. The library is called directly, so that thousands of cases take seconds.

use std::collections::HashSet;

use pis::context::Projection;
use pis::rev::resolve::{Target, resolve};
use pis::rev::syntax::Rev;
use pis::session::Session;
use pis::store::index::{Index, Ix, Odd};
use proptest::collection::vec;
use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::common::{Build, assistant};

/// A session with an entry of every kind, two branches, labels and a compaction.
pub(crate) fn valid() -> Vec<u8> {
    let call = json!({
        "type": "toolCall", "id": "t1", "name": "read", "arguments": { "path": "a\u{e9}\u{1f600}" },
    });
    let result = json!({
        "role": "toolResult", "toolCallId": "t1", "toolName": "read", "isError": false,
        "content": [{ "type": "text", "text": "a\nb" }], "timestamp": 3,
    });
    let bash = json!({ "role": "bashExecution", "command": "ls", "output": "x", "exitCode": 0 });
    let compaction = json!({
        "type": "compaction", "summary": "so far", "firstKeptEntryId": "aaaa0002", "tokensBefore": 9,
    });
    let edit = json!({ "type": "context_edit", "targetId": "aaaa0003", "replacement": null });
    Build::new()
        .user("aaaa0001", "", "do \"it\" \\ \u{2028}")
        .message("aaaa0002", "aaaa0001", assistant(json!([call])))
        .message("aaaa0003", "aaaa0002", result)
        .assistant("aaaa0004", "aaaa0003", "done")
        .label("aaaa0005", "aaaa0004", "aaaa0002", "good")
        .user("bbbb0001", "aaaa0002", "another way")
        .message("bbbb0002", "bbbb0001", bash)
        .entry("bbbb0003", "bbbb0002", compaction)
        .entry("bbbb0004", "bbbb0003", edit)
        .entry(
            "bbbb0005",
            "bbbb0004",
            json!({ "type": "model_change", "provider": "p", "modelId": "m" }),
        )
        .entry(
            "bbbb0006",
            "bbbb0005",
            json!({ "type": "session_info", "name": "a name" }),
        )
        .entry(
            "bbbb0007",
            "bbbb0006",
            json!({ "type": "branch_summary", "summary": "s", "fromId": "x" }),
        )
        .entry(
            "bbbb0008",
            "bbbb0007",
            json!({ "type": "custom_message", "content": "c" }),
        )
        .user("bbbb0009", "bbbb0008", "the last")
        .text()
        .into_bytes()
}

/// What can happen to a file. Places are fractions of its length.
#[derive(Debug, Clone)]
pub(crate) enum Mutation {
    Cut(f64),
    Flip(f64, u8),
    Insert(f64, Vec<u8>),
    Delete(f64, usize),
    /// A line again, behind another one.
    Repeat(f64, f64),
    /// A stretch of bytes again, somewhere else.
    Splice(f64, f64, usize),
    Swap(f64, f64),
    /// Every word of one kind replaced by another: keys, ids and values that mean something.
    Replace(usize, usize),
    Blank(f64),
    CrLf,
}

const WORDS: &[&str] = &[
    "aaaa0001",
    "aaaa0002",
    "bbbb0003",
    "\"parentId\":\"",
    "\"id\":\"",
    "\"type\":\"",
    "\"message\"",
    "null",
    "3",
    "\"role\":\"",
    "\"content\":",
    "user",
    "assistant",
    "label",
    "\"targetId\"",
    "session",
    "compaction",
    "text",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "\\",
    "\\ud83d",
    "\n",
    "1e999",
    "",
    "-",
    "0",
    "true",
    "\"timestamp\":\"2026",
    "\u{1f600}",
    "\\u0000",
];

pub(crate) fn mutation() -> impl Strategy<Value = Mutation> {
    let place = || 0.0..1.0_f64;
    prop_oneof![
        1 => place().prop_map(Mutation::Cut),
        3 => (place(), any::<u8>()).prop_map(|(at, b)| Mutation::Flip(at, b)),
        2 => (place(), vec(any::<u8>(), 1..8)).prop_map(|(at, b)| Mutation::Insert(at, b)),
        2 => (place(), 1..200_usize).prop_map(|(at, n)| Mutation::Delete(at, n)),
        3 => (place(), place()).prop_map(|(a, b)| Mutation::Repeat(a, b)),
        2 => (place(), place(), 1..400_usize).prop_map(|(a, b, n)| Mutation::Splice(a, b, n)),
        2 => (place(), place()).prop_map(|(a, b)| Mutation::Swap(a, b)),
        6 => (0..WORDS.len(), 0..WORDS.len()).prop_map(|(a, b)| Mutation::Replace(a, b)),
        1 => place().prop_map(Mutation::Blank),
        1 => Just(Mutation::CrLf),
    ]
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a fraction of a small length"
)]
/// The place in so many that a fraction stands for.
pub(crate) fn at(fraction: f64, len: usize) -> usize {
    (fraction * len as f64) as usize
}

pub(crate) fn mutate(bytes: &mut Vec<u8>, mutation: &Mutation) {
    let len = bytes.len();
    let lines = || {
        bytes
            .split(|&b| b == b'\n')
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>()
    };
    match mutation {
        Mutation::Cut(place) => bytes.truncate(at(*place, len)),
        Mutation::Flip(place, byte) => {
            if let Some(b) = bytes.get_mut(at(*place, len)) {
                *b ^= byte;
            }
        }
        Mutation::Insert(place, more) => {
            let place = at(*place, len);
            bytes.splice(place..place, more.iter().copied());
        }
        Mutation::Delete(place, n) => {
            let place = at(*place, len);
            bytes.drain(place..(place + n).min(len));
        }
        Mutation::Repeat(from, to) => {
            let mut lines = lines();
            let line = lines[at(*from, lines.len())].clone();
            lines.insert(at(*to, lines.len()), line);
            *bytes = lines.join(&b'\n');
        }
        Mutation::Splice(from, to, n) => {
            let (from, to) = (at(*from, len), at(*to, len));
            let piece = bytes[from..(from + n).min(len)].to_vec();
            bytes.splice(to..to, piece);
        }
        Mutation::Swap(a, b) => {
            let mut lines = lines();
            let (a, b) = (at(*a, lines.len()), at(*b, lines.len()));
            lines.swap(a, b);
            *bytes = lines.join(&b'\n');
        }
        Mutation::Replace(from, to) => {
            let from = WORDS[*from].as_bytes();
            if !from.is_empty() && len < 1 << 16 {
                *bytes = replace(bytes, from, WORDS[*to].as_bytes());
            }
        }
        Mutation::Blank(place) => {
            let mut lines = lines();
            let place = at(*place, lines.len());
            lines[place].clear();
            *bytes = lines.join(&b'\n');
        }
        Mutation::CrLf => *bytes = replace(bytes, b"\n", b"\r\n"),
    }
}

/// Every second occurrence replaced, so that two kinds of everything meet.
fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut rest, mut hits) = (bytes, 0);
    while let Some(n) = rest.windows(from.len()).position(|w| w == from) {
        out.extend_from_slice(&rest[..n]);
        hits += 1;
        out.extend_from_slice(if hits % 2 == 1 { to } else { from });
        rest = &rest[n + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

const REVISIONS: &[&str] = &[
    "@",
    "@~1",
    "@~2",
    "@^^",
    "@~99",
    "@%",
    "@%3",
    "@^{user}",
    "@^{compaction}",
    "@^{odd}",
    "@^{}",
    "@^{/a}",
    ":/it",
    "@+",
    "root+",
    "root",
    "@{tip}",
    "root@{tip}",
    "@@{tip}",
    "@{0}",
    "@{-1}",
    "aaaa",
    "bbbb0003",
    "aaaa0001+",
    "good",
    "label:good",
    "id:aaaa0002~1",
    "bbbb0001@{tip}",
];

/// Does everything with a session that a reading command does. What it says is not looked at.
fn read_everything(bytes: Vec<u8>) {
    let Ok(session) = Session::from_bytes(bytes) else {
        return;
    };
    let Ok(leaf) = session.leaf().map(|leaf| leaf.ix) else {
        return;
    };
    for rev in REVISIONS {
        let rev = Rev::parse(rev).expect(rev);
        if let Ok(found) = resolve(&session, &rev)
            && let Target::Entry(ix) = found.target
        {
            session.line(ix).expect("memory is read");
        }
    }
    let tree = session.tree().expect("memory is read");
    let all: Vec<Ix> = session.index().file_order().collect();
    for &ix in &all {
        let line = session.line(ix).expect("memory is read");
        let entry = pis::entry::Entry::new(&line);
        let _ = (
            pis::entry::text(entry),
            entry.type_name(),
            entry.role_name(),
            session.label(ix),
        );
        assert!(
            serde_json::from_str::<IgnoredAny>(&entry.raw().to_json()).is_ok(),
            "{entry:?}"
        );
        let _ = (
            pis::json::pretty::indent(entry.raw()),
            pis::json::js::stringify(entry.raw()),
        );
        assert!(
            tree.ancestors(ix).count() <= all.len() && tree.descendants(ix).count() <= all.len()
        );
    }
    let _ = (
        tree.tips(&session.index()),
        session.labels(),
        session.session_name(),
    );
    for ix in [None, leaf]
        .into_iter()
        .chain(all.iter().rev().take(3).map(|&ix| Some(ix)))
    {
        let projection = Projection::build(&session, ix).expect("memory is read");
        let _ = (
            projection.tokens(),
            projection.text(),
            serde_json::to_string(&projection.llm()),
        );
        let context = serde_json::to_string(&projection.to_context()).expect("it is JSON");
        assert!(
            serde_json::from_str::<IgnoredAny>(&context).is_ok(),
            "{context}"
        );
    }
    for odd in session.oddities() {
        assert!(session.line_number(odd.start).expect("memory is read") > 0);
        let bytes = session.bytes(odd.start, odd.end).expect("memory is read");
        for range in pis::check::records_in(&bytes) {
            assert!(range.end <= bytes.len() && range.start < range.end);
        }
    }
    assert_eq!(all.len(), session.index().len());
}

/// What a walk upwards from the end of the file finds must be what the tree of all of it says.
fn both_ways_agree(bytes: &[u8]) {
    let Ok(whole) = Session::from_bytes(bytes.to_vec()) else {
        return;
    };
    let tree = whole.tree().expect("memory is read");
    let current: Vec<Ix> = {
        let index = whole.index();
        index
            .newest_first()
            .filter(|&ix| index.is_current(ix))
            .collect()
    };
    let step = current.len().div_ceil(12).max(1);
    for &ix in current.iter().step_by(step) {
        let id = whole.id(ix);
        // One that has read nothing yet.
        let fresh = Session::from_bytes(bytes.to_vec()).expect("it was one before");
        let found = fresh.find(&id).expect("memory is read");
        assert_eq!(found, Some(ix), "{id}");
        let walked: Vec<_> = fresh
            .ancestors(ix)
            .collect::<Result<_, _>>()
            .expect("memory is read");
        let wanted: Vec<_> = tree.ancestors(ix).collect();
        assert_eq!(walked, wanted, "above {id}");
        assert_eq!(
            fresh.parent(ix).expect("memory is read"),
            tree.parent(ix),
            "parent of {id}"
        );
        let label = fresh.label(ix).expect("memory is read");
        // A label that stands before its target is found only by a look at all of the file.
        if let Some(label) = label {
            let labels = whole.labels().expect("memory is read");
            assert_eq!(
                labels.of(&id).map(|l| l.name.as_str()),
                Some(label.as_str()),
                "{id}"
            );
        }
    }
    let fresh = Session::from_bytes(bytes.to_vec()).expect("it was one before");
    assert_eq!(
        fresh.leaf().expect("memory is read").ix,
        whole.leaf().expect("memory is read").ix
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_makes_reading_panic(mutations in vec(mutation(), 1..8)) {
        let mut bytes = valid();
        for mutation in &mutations {
            mutate(&mut bytes, mutation);
        }
        both_ways_agree(&bytes);
        read_everything(bytes);
    }

    #[test]
    fn no_bytes_make_reading_panic(bytes in vec(any::<u8>(), 0..300), headed in any::<bool>()) {
        let mut all = if headed { valid() } else { Vec::new() };
        all.extend(bytes);
        both_ways_agree(&all);
        read_everything(all);
    }
}

/// An entry of a file whose links make no sense: its id, its parent, how long it is.
fn odd_entry() -> impl Strategy<Value = (usize, usize, usize)> {
    (
        0..30_usize,
        0..36_usize,
        prop_oneof![9 => 0..300_usize, 1 => 0..20_000_usize],
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Ids that are repeated, parents that come later, are missing or close a circle, and more
    /// bytes than are read at once.
    #[test]
    fn the_end_read_first_agrees_with_the_whole(entries in vec(odd_entry(), 1..150)) {
        let mut build = Build::new();
        for (id, parent, len) in entries {
            let text = "x".repeat(len);
            let id = format!("{id:04}");
            // Some parents are not there, some are none.
            let parent = match parent {
                35 => String::new(),
                n => format!("{n:04}"),
            };
            build = match len % 7 {
                0 => build.label(&id, &parent, &parent, &text[..len.min(3)]),
                _ => build.user(&id, &parent, &text),
            };
        }
        both_ways_agree(build.text().as_bytes());
    }
}

/// JSON of any shape, as it may be spelled.
fn any_json() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>()
            .prop_filter("finite", |n| n.is_finite())
            .prop_map(|n| format!("{n:e}")),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,4})?",
    ];
    let string = vec(
        prop_oneof![
            8 => "[ -!#-\\[\\]-~]{0,40}",
            1 => "\\PC{0,10}".prop_map(|s| s.replace(['"', '\\'], "")),
            2 => prop::sample::select(&[
                r#"\""#, r"\\", r"\/", r"\b", r"\f", r"\n", r"\r", r"\t", r"\u0000", r"\uD83d",
                r"\ude00", r"\u00e9", r"\ud83d\ude00",
            ][..]).prop_map(str::to_owned),
        ],
        0..6,
    )
    .prop_map(|pieces| format!("\"{}\"", pieces.concat()));
    let space = || prop::sample::select(&["", "", "", " ", "\t", "\r", "  "][..]);
    let leaf = prop_oneof![
        number,
        string.clone(),
        prop::sample::select(&["null", "true", "false", "{}", "[]", "[ ]", "{ }"][..])
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        let pair = (string.clone(), space(), inner.clone(), space());
        prop_oneof![
            vec((space(), inner, space()), 0..6).prop_map(|items| {
                let items: Vec<_> = items
                    .iter()
                    .map(|(a, item, b)| format!("{a}{item}{b}"))
                    .collect();
                format!("[{}]", items.join(","))
            }),
            vec(pair, 0..6).prop_map(|pairs| {
                let pairs: Vec<_> = pairs
                    .iter()
                    .map(|(k, a, v, b)| format!("{a}{k}{b}:{a}{v}{b}"))
                    .collect();
                format!("{{{}}}", pairs.join(","))
            }),
        ]
    })
}

/// A line of JSON, or one that was.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let corruption = (
        0.0..1.0_f64,
        prop::sample::select(&br#"{}[]",:\u0-.eE+ntf1a "#[..]),
        0..4_u8,
    );
    (any_json(), prop::option::weighted(0.5, corruption)).prop_map(|(json, corruption)| {
        let mut line = json.into_bytes();
        if let Some((place, byte, what)) = corruption {
            let place = at(place, line.len());
            match what {
                0 => line.insert(place, byte),
                1 => line[place] = byte,
                2 => {
                    line.remove(place);
                }
                _ => line.truncate(place),
            }
        }
        line.retain(|&b| b != b'\n');
        line
    })
}

/// What a line is, according to `serde_json`. Ignoring a value, it takes any depth, number,
/// surrogate and byte above 0x7f, as JSON.parse does after the bytes were decoded.
#[derive(Debug, PartialEq)]
enum Is {
    Entry,
    Header,
    Skipped,
    Counted,
    Bad,
    Blank,
}

fn by_serde(line: &[u8]) -> Is {
    if line.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r')) {
        return Is::Blank;
    }
    if serde_json::from_slice::<IgnoredAny>(line).is_err() {
        return Is::Bad;
    }
    let first = line.trim_ascii()[0];
    if first == b'{' {
        let value = serde_json::from_slice::<Value>(line);
        let is_header = value.is_ok_and(|v| v["type"] == "session");
        return if is_header { Is::Header } else { Is::Entry };
    }
    match serde_json::from_slice::<Value>(line) {
        Ok(Value::Null | Value::Bool(false)) => Is::Skipped,
        Ok(Value::String(s)) if s.is_empty() => Is::Skipped,
        Ok(Value::Number(n)) if n.as_f64() == Some(0.0) => Is::Skipped,
        // A number that is too large for serde_json is infinite and counts, as any text does.
        _ => Is::Counted,
    }
}

/// What each line is, according to pis.
fn by_pis(index: &Index, lines: &[(u64, u64)]) -> Vec<Is> {
    let entries: HashSet<(u64, u64)> = index.newest_first().map(|ix| index.span(ix)).collect();
    let odd = index.oddities();
    let is = |span: &(u64, u64)| {
        let odd = odd
            .iter()
            .find(|o| (o.start, o.end) == *span)
            .map(|o| o.what);
        match odd {
            Some(Odd::Unparseable(_) | Odd::TornTail) => Is::Bad,
            Some(Odd::Header) => Is::Header,
            Some(Odd::NotObject(true)) => Is::Counted,
            Some(Odd::NotObject(false)) => Is::Skipped,
            Some(Odd::NoId) | None if entries.contains(span) => Is::Entry,
            _ => Is::Blank,
        }
    };
    lines.iter().map(is).collect()
}

fn spans(bytes: &[u8]) -> Vec<(u64, u64)> {
    let mut at = 0;
    let lines = bytes.split(|&b| b == b'\n').map(|line| {
        let start = at;
        at += line.len() as u64 + 1;
        (start, start + line.len() as u64)
    });
    lines.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]

    #[test]
    fn a_line_counts_exactly_if_it_is_json(lines in vec(any_line(), 1..20)) {
        // An entry with an id keeps the file from being taken for version 1.
        let mut bytes = Build::new().text().into_bytes();
        for line in &lines {
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(b"{\"id\":\"last\"}\n");
        let session = Session::from_bytes(bytes.clone()).expect("it has a header");
        session.load_all().expect("memory is read");
        let spans = spans(&bytes);
        let got = by_pis(&session.index(), &spans[1..=lines.len()]);
        for (line, got) in lines.iter().zip(got) {
            prop_assert_eq!(got, by_serde(line), "{}", String::from_utf8_lossy(line));
        }
    }
}

/// Where blocks begin when the whole of a large file is read.
const BLOCK: usize = 4 << 20;

/// Lines of every length end and begin around the borders of the blocks; a line is longer than
/// two blocks, one exactly a block; some are damaged, some blank; the last one is cut off.
#[test]
fn blocks_on_all_cores_are_one_scan() {
    let header = Build::new().text();
    let floor = header.len();
    let mut bytes = header.into_bytes();
    let mut n = 0;
    let mut entry = |len: usize, bytes: &mut Vec<u8>| {
        n += 1;
        let start = format!("{{\"type\":\"x\",\"id\":\"e{n}\",\"parentId\":null,\"t\":\"");
        let fill = len.saturating_sub(start.len() + 3);
        bytes.extend_from_slice(start.as_bytes());
        // Escapes and quotes inside, so that a wrong start would be noticed.
        bytes.extend((0..fill / 2).flat_map(|i| {
            if i % 97 == 0 { *b"\\\"" } else { *b"{\\" }
                .map(|b| if b == b'\\' && i % 97 != 0 { b'[' } else { b })
        }));
        bytes.extend(std::iter::repeat_n(b'z', fill % 2));
        bytes.extend_from_slice(b"\"}\n");
    };
    for block in 1..=5_usize {
        let border = floor + block * BLOCK;
        // The LF lies some bytes before the border, on it, or behind it.
        let offset = [0, 1, 2, 40, 3][block - 1];
        let end = if block % 2 == 0 {
            border - offset
        } else {
            border + offset
        };
        while bytes.len() + 300_000 < end {
            entry(250_000, &mut bytes);
        }
        while bytes.len() + 400 < end {
            entry(100 + bytes.len() % 150, &mut bytes);
        }
        entry(end - bytes.len(), &mut bytes);
        assert_eq!(bytes.len(), end, "a line ends where it should");
        for line in ["", "  ", "{\"id\":\"", "null", "[]", "{\"id\":1}x", "\r"] {
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        }
    }
    entry(2 * BLOCK + 17, &mut bytes);
    entry(BLOCK, &mut bytes);
    entry(BLOCK - 1, &mut bytes);
    entry(120, &mut bytes);
    bytes.extend_from_slice(b"{\"type\":\"x\",\"id\":\"cut");

    let spans = spans(&bytes);
    let wanted: Vec<Is> = spans[1..]
        .iter()
        .map(|&(start, end)| {
            let span = usize::try_from(start).expect("small")..usize::try_from(end).expect("small");
            by_serde(&bytes[span])
        })
        .collect();
    let session = Session::from_bytes(bytes.clone()).expect("it has a header");
    session.load_all().expect("memory is read");
    let index = session.index();
    let got = by_pis(&index, &spans[1..]);
    for ((got, wanted), span) in got.iter().zip(&wanted).zip(&spans[1..]) {
        assert_eq!(got, wanted, "the line at bytes {}-{}", span.0, span.1);
    }
    // In the order of the file, each once, under its own id.
    let found: Vec<(u64, u64)> = index.file_order().map(|ix| index.span(ix)).collect();
    let entries = spans[1..]
        .iter()
        .zip(&wanted)
        .filter(|(_, is)| **is == Is::Entry);
    assert_eq!(found, entries.map(|(span, _)| *span).collect::<Vec<_>>());
    for (at, ix) in index.file_order().enumerate() {
        assert_eq!(index.id_text(ix), format!("e{}", at + 1));
    }

    // The same from the end of the file, in steps.
    let fresh = Session::from_bytes(bytes).expect("it has a header");
    assert_eq!(
        fresh.find("e1").expect("memory is read"),
        session.find("e1").expect("it is there")
    );
    assert!(fresh.index().is_complete());
    let fresh: Vec<(u64, u64)> = {
        let index = fresh.index();
        index.file_order().map(|ix| index.span(ix)).collect()
    };
    assert_eq!(fresh, found);
}

//! What the manual says besides the help of each command: pis(1) is made of the arguments and of
//! these sections. Text only; who prints it decides how it looks.

use std::sync::LazyLock;

use crate::check::{Code, Severity};
use crate::ui::format::PLACEHOLDERS;

/// A section of pis(1).
#[derive(Debug, Clone)]
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// What it says.
    pub blocks: Vec<Block>,
}

/// A part of a section. In text, words between backticks are to be typed or read as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// A paragraph.
    Text(&'static str),
    /// A heading within the section.
    Heading(&'static str),
    /// Terms and what they mean.
    List(&'static [(&'static str, &'static str)]),
}

use Block::{Heading, List, Text};

/// The sections of pis(1) that follow the options and commands, but for the examples.
pub fn sections() -> Vec<Section> {
    let section = |title, blocks: &[Block]| Section {
        title,
        blocks: blocks.to_vec(),
    };
    vec![
        section("WHICH SESSION", WHICH_SESSION),
        section("WHERE THE LEAF IS", LEAF),
        section("WRITING", WRITING),
        section("REVISIONS", REVISIONS),
        section("OUTPUT", OUTPUT),
        section("FORMATS", &formats()),
        section("JSON", JSON),
        section("NOTES AND ERRORS", NOTES_AND_ERRORS),
        section("SESSIONS OF VERSION 1", VERSION_1),
        section("ENVIRONMENT", ENVIRONMENT),
        section("FILES", FILES),
        section("EXIT STATUS", EXIT_STATUS),
    ]
}

/// The sections that the page of one command has besides its options.
pub fn sections_of(command: &str) -> Vec<Section> {
    let codes = |severity| LazyLock::force(codes(severity)).as_slice();
    match command {
        "fsck" => vec![Section {
            title: "CODES",
            blocks: vec![
                Heading("Errors"),
                List(codes(Severity::Error)),
                Heading("Warnings"),
                List(codes(Severity::Warning)),
                Heading("Infos"),
                List(codes(Severity::Info)),
            ],
        }],
        _ => Vec::new(),
    }
}

type Items = Vec<(&'static str, &'static str)>;

fn codes(severity: Severity) -> &'static LazyLock<Items> {
    fn of(severity: Severity) -> Items {
        let codes = Code::ALL.iter();
        let codes = codes.filter(|code| code.severity() == severity);
        codes.map(|code| (code.name(), code.meaning())).collect()
    }
    static ERRORS: LazyLock<Items> = LazyLock::new(|| of(Severity::Error));
    static WARNINGS: LazyLock<Items> = LazyLock::new(|| of(Severity::Warning));
    static INFOS: LazyLock<Items> = LazyLock::new(|| of(Severity::Info));
    match severity {
        Severity::Error => &ERRORS,
        Severity::Warning => &WARNINGS,
        Severity::Info => &INFOS,
    }
}

fn formats() -> Vec<Block> {
    vec![
        Text(
            "`--format` takes a template, which is filled in for each row. `-z` ends the rows \
             with NUL. Values are what the session holds: on a terminal, control characters in \
             them are made visible.",
        ),
        List(PLACEHOLDERS),
        Text(
            "For `sessions` there are `%(path)`, `%(cwd)`, `%(name)`, `%(firstMessage)`, \
             `%(messageCount)`, `%(created)`, `%(modified)`, `%(parentSession)` and `%(size)`, too; \
             times are those of the last word, the subject is the name or the first line.",
        ),
        Text(
            "What an entry lacks is empty. `%x` takes ASCII only. The short id has 8 characters \
             or as many more as it takes to name one entry.",
        ),
    ]
}

const WHICH_SESSION: &[Block] = &[
    Text("The session is, whichever comes first:"),
    List(&[
        ("-s, --session SESSION", "on the command line"),
        ("$PIS_SESSION", "for scripts: `PIS_SESSION=$(pis init)`"),
        (
            "$PI_SESSION_FILE",
            "which pi sets for the commands that its agent runs: the session of that agent",
        ),
        (
            "the newest of the current directory",
            "the one that `pi -c` would open: of the files in the session directory that begin \
             with a valid header, the one written last",
        ),
    ]),
    Text(
        "SESSION is a path if it contains a slash or backslash or ends in `.jsonl`; `-` is standard input; \
         anything else is the id of a session, else the beginning of one id, else the name of \
         one session, first among those of the current directory, then among all. Where it fits \
         several, the error lists them.",
    ),
    Text(
        "The session directory is that of `--session-dir`, else `$PI_CODING_AGENT_SESSION_DIR`, \
         else `sessionDir` in `.pi/settings.json` here, else in `settings.json` of the agent's \
         directory, else the directory that pi has for the current one. In a directory chosen \
         in one of the first four ways all projects lie together, and the `cwd` of their headers \
         tells them apart.",
    ),
];

const LEAF: &[Block] = &[
    Text(
        "The leaf is the entry you are at. It is the last entry of the file, which is also where \
         pi opens the session, unless `HEAD` says otherwise for exactly this file.",
    ),
    Text(
        "`HEAD` lies beside the session, in the directory `.pis`. It holds the id of an entry and \
         the size that the session had when it was written, and counts while nothing but white \
         space has been added to the session since. Whoever appends, pi or another program, \
         moves the leaf to what was appended: the last action wins. A `HEAD` that names an entry \
         which is not in the file is passed over with a note.",
    ),
    Text(
        "`checkout`, `set-leaf` and `undo` write `HEAD` and leave the session alone, so that pi \
         still opens it where it did; a note says so. What is appended next, a label or a name \
         too, hangs on the leaf and makes the move last for pi. With `--write` a marker is \
         appended, a `custom` entry that no model reads.",
    ),
    Text(
        "`reflog` lists where the leaf has been, moves of pi among them; `@{n}` and `@{-n}` name \
         places in that list. Commands that only read write nothing, neither into a session nor \
         beside it.",
    ),
];

const WRITING: &[Block] = &[
    Text(
        "pis adds whole lines at the end of a session, under a lock that other runs of \
         pis wait for (10 seconds at most), and flushes them to the disk. pi knows no lock: what \
         it appends at the same moment is kept, too, as a branch, and the exit status is 4. Ids \
         of new entries have 16 hex digits.",
    ),
    Text(
        "Input is read to its end before a revision is looked up. `set-leaf NEW OLD` and \
         `append --expect-leaf ID` do nothing and exit with 3 where the leaf is another one.",
    ),
    Text(
        "A running pi does not look at its file again. So where the session is that of \
         `$PI_SESSION_FILE`, commands that move its leaf or append are refused without \
         `--force`; `label` and `name` are not.",
    ),
    Text(
        "A session of version 1 or 2, one of a version above 3, and one that pi would not open \
         are never appended to. `migrate` brings an older one to version 3, `repair` makes one of \
         a damaged one that pi opens.",
    ),
    Text(
        "What is there is rewritten by `migrate` and `repair --in-place` only. The new file is on \
         disk before it takes the old one's place, mode, owner and links stay, and the old one \
         is kept beside it as `NAME.jsonl.bak`, the next time as `NAME.jsonl.bak2`.",
    ),
    Text(
        "A new session is written beside its place and then moved there, never over another \
         file, and only its owner can read it. It is then the newest of its directory; scripts \
         set `PIS_SESSION`.",
    ),
];

const REVISIONS: &[Block] = &[
    Text("The most common ways to name an entry; pisrevisions(7) has them all."),
    List(&[
        ("@", "the leaf"),
        (
            "0fa4, plans",
            "an entry by the beginning of its id, or by its label",
        ),
        ("@~2", "two above the leaf"),
        ("@%, @%2", "the last prompt, and the one before"),
        ("@^{compaction}", "the nearest compaction above"),
        (":/regex", "the newest entry whose text matches"),
        ("root@{tip}", "the newest message or summary in the file"),
        ("A..B", "what is on the path to B, but not on the path to A"),
        ("SESSION:REV", "an entry of another session"),
    ]),
];

const OUTPUT: &[Block] = &[
    Text(
        "Data goes to standard output, notes and errors to standard error. On a terminal `log`, \
         `tree` and `sessions` use colour, a pager and the width there is, and they make control characters \
         visible wherever they print. The commands for scripts are `cat-entry`, `rev-parse`, \
         `rev-path`, `merge-base`, `ls-entries`, `for-each-label`, `for-each-tip`, `context`, \
         `set-leaf`, `append`, `init`, `fsck`, `repair` and `migrate`: no colour, no pager, full ids, times as stored or in \
         Unix milliseconds, and what they print changes in no later version. Into a pipe they \
         hand on what the session holds; on a terminal it is made harmless.",
    ),
    Text(
        "An id or label that holds white space or characters that mean something in a revision \
         is printed as a JSON string, which is also how it is written in a revision.",
    ),
    Text("A reader that goes away early, as in `pis log | head -1`, ends pis quietly."),
];

const JSON: &[Block] = &[
    Text(
        "With `--json` each row is one object on a line of its own, and a single answer is one \
         document. It is valid JSON in UTF-8 whatever the session holds: bytes that are not \
         UTF-8 become U+FFFD, lone surrogates stay escaped, numbers keep their digits. Fields may \
         be added in later versions, but none is renamed, and each is always there, `null` where \
         it is not known. `timestamp` is what is stored, `time` the same in Unix milliseconds.",
    ),
    List(&[
        (
            "log, tree, rev-path, ls-entries, show",
            "`id`, `parentId`, `type`, `role`, `timestamp`, `time`, `label`, `leaf` (is it the \
             leaf?), `onPath` (is it on the path to the leaf?), `text`. `tree` adds `depth` and \
             `visibleParent`, in the order drawn; `ls-entries` adds `offset` and `size` of the \
             line and has `text` with `--text` only",
        ),
        ("for-each-label", "`label`, `target`, `timestamp`, `time`"),
        ("for-each-tip", "`id`, `timestamp`, `time`"),
        (
            "rev-parse",
            "`rev`, `id` (`null` for the root); with `--explain` also `steps`: `step`, `id`, \
             `meaning`",
        ),
        ("merge-base", "`id`"),
        (
            "context",
            "`messages`, `thinkingLevel`, `model` (`provider` and `modelId`, or `null`); with \
             `--tokens` a number",
        ),
        (
            "checkout, set-leaf, undo",
            "`leaf` (`null` for the root), `previous`, `prompt`, `summaryId`",
        ),
        (
            "append, label, name, edit-context",
            "`id`, `parentId` of each entry written; what `name` shows: `name`",
        ),
        (
            "sessions",
            "`id`, `path`, `cwd`, `name`, `firstMessage` (`null` where nothing was said), \
             `messageCount`, `created`, `modified`, `parentSession`, `size` in bytes",
        ),
        (
            "stats",
            "`messages` (`user`, `assistant`, `toolResult`, `toolCall`, `total`), `tokens` \
             (`input`, `output`, `cacheRead`, `cacheWrite`, `total`), `cost`, `unpriced` (how \
             many requests took tokens and have no price), `byModel` (`model`, `requests`, \
             `tokens`, `cost`, `unpriced`), `byDay` (`day` in UTC, `messages`, `tokens`, \
             `cost`, `unpriced`), `tools` (`tool`, `calls`, `results`, `failures`, `bytes`), \
             `size` (`bytes`, `other`, `byType`, `byContent`). The `cost` of a model or a day is \
             `null` where no price is known; a sum that is no finite number is `null`",
        ),
        (
            "status",
            "`session`, `sessionId`, `leaf`, `piLeaf`, `source` (`last-entry` or `pointer`); \
             without `--short` also `previous`, `entryCount`, `tipCount`, `contextTokens`, `cost`, \
             `locked`, `insideAgent`, `changedSecondsAgo`",
        ),
        (
            "branch",
            "an entry, and `base` (where it leaves another branch), `entryCount` (its own), \
             `first`, `last`",
        ),
        (
            "grep",
            "`session`, `sessionId`, `id`, `role`, `type`, `lineNumber`, `text` (the line), \
             `matches` (start and end, in code points); with `--count`: `session`, `sessionId`, \
             `count`",
        ),
        ("reflog", "`n`, `time`, `op`, `old`, `new`, `reason`"),
        (
            "fsck",
            "`code`, `severity` (`error`, `warning`, `info`), `lineNumber`, `start`, `end` (bytes), \
             `id`, `message`, `repairable`, `session` (the path)",
        ),
        (
            "repair",
            "`session` (the new file, or `null`), `sessionId`, `leaf`, `quarantine`, `backup` (paths, \
             or `null`), `actions` (`action`, `lineNumber`, `start`, `end` of the damaged file, \
             `id`, `message`), `remaining` (what `fsck` says of the new file)",
        ),
        (
            "init, new, fork, clone, copy, import, migrate",
            "`session` (the path), `sessionId`, `leaf`, `prompt` (the text of the message that \
             `fork` left out)",
        ),
        ("rev-path --count", "a number"),
        (
            "cat-entry",
            "the entry, or with `--header` the header, made valid; without `--json` it is the \
             stored bytes",
        ),
    ]),
    Text(
        "The text of a user's message is its text blocks one after the other; of an answer or a \
         tool result, its text blocks with newlines between them; of a bash run, the command \
         and its output; of a summary, the summary; of a label, a name, a model or a thinking \
         level, that word. Anything else has none.",
    ),
];

const NOTES_AND_ERRORS: &[Block] = &[
    Text(
        "A line on standard error begins with `note:`, `error:` or `hint:`. With `--json` it is \
         an object: `{\"note\":{\"kind\",\"message\"}}` or \
         `{\"error\":{\"exit\",\"kind\",\"message\",\"hint\",\"retryable\"}}`. Messages may \
         change in later versions, kinds do not. `-q` leaves out notes.",
    ),
    Text(
        "A damaged file is read as pi reads it: what pi passes over is passed over, and told in \
         one note for each kind of damage that was met. Commands that need only the end of a \
         file meet only what is there. No damage ends a listing. `fsck` tells of all of it, and \
         `repair` gets back what can be had.",
    ),
    Heading("Notes"),
    List(&[
        ("unparseable-line", "a line is not JSON"),
        ("torn-tail", "the last line is cut off"),
        ("not-an-object", "a line is JSON, but no object"),
        ("second-header", "a header stands among the entries"),
        ("no-id", "an entry has no id, so that nothing can name it"),
        (
            "duplicate-id",
            "several entries have one id; the last counts",
        ),
        ("orphan", "the parent of an entry is not in the file"),
        (
            "bad-parent",
            "the `parentId` of an entry is missing or no id",
        ),
        (
            "cycle",
            "an entry is its own ancestor; the path is cut above it",
        ),
        ("out-of-order", "an entry stands before its parent"),
        (
            "hidden-branch",
            "the last entry is no message, and on another branch than the newest one",
        ),
        (
            "dangling-leaf",
            "`HEAD` names an entry that is not in the file",
        ),
        (
            "bom",
            "the file begins with a byte order mark; pi does not open it",
        ),
        (
            "header-not-first",
            "the header is not the first record; pi does not open it",
        ),
        (
            "no-header",
            "there are entries, but no header; pi does not open it",
        ),
        (
            "newer-version",
            "the version is above 3; the file is read as version 3",
        ),
        (
            "no-ids",
            "the version is 3, but no entry has an id; read as version 1",
        ),
        ("ambiguous-label", "a label is on several entries"),
        ("nothing-shown", "no entry or session is left to show"),
        ("no-sessions", "there is no session to list"),
        (
            "unreadable",
            "a file or directory could not be read; the list goes on, the exit status is 1",
        ),
        (
            "bad-settings",
            "settings that could say where sessions lie are not valid",
        ),
        (
            "rewritten",
            "`log -f`: the file was cut, rewritten or replaced",
        ),
        ("not-searched", "`grep --all`: a session could not be read"),
        (
            "newest-session",
            "the new session is what `pi -c` opens here",
        ),
        (
            "pi-opens-elsewhere",
            "the leaf was moved beside the session, which pi does not see",
        ),
        (
            "open-tool-call",
            "the leaf stands between a tool call and its results",
        ),
        (
            "nothing-done",
            "everything is as it should be already, or the answer was no",
        ),
        ("empty-reflog", "pis has not moved the leaf of this session"),
        ("removed", "a session was put into the trash"),
        (
            "can-be-repaired",
            "`fsck`: some of what was found can be set right or aside",
        ),
        ("repaired", "`repair`: something that was done"),
        ("quarantine", "`repair`: where the rest is"),
        (
            "other-leaf",
            "`repair`: the leaf of the new file is another entry",
        ),
        ("backup", "where the file is now that was replaced"),
        (
            "not-logged",
            "all was done, but where the leaf is, or that it moved, could not be written: for the \
             log pi moved then",
        ),
    ]),
    Heading("Errors"),
    List(&[
        ("usage", "the arguments make no sense; exit status 2"),
        ("revision-syntax", "a revision is misspelt; exit status 2"),
        (
            "no-revision",
            "a revision names nothing; the hint has the nearest names",
        ),
        (
            "ambiguous-revision",
            "a revision names several entries; the hint lists them",
        ),
        (
            "no-session",
            "no session is called that, or there is none here",
        ),
        (
            "ambiguous-session",
            "several sessions are called that; the hint lists them",
        ),
        ("not-a-session", "the file is something else"),
        ("io", "a file could not be read or written"),
        (
            "locked",
            "another pis is writing to the session; exit status 3",
        ),
        (
            "leaf-moved",
            "the leaf is not where it should be; exit status 3",
        ),
        (
            "written-beside",
            "another program appended at the same moment; exit status 4",
        ),
        (
            "not-writable",
            "the session must not be changed; the hint says what to do",
        ),
        (
            "bad-entry",
            "pi could not read such an entry back, and nothing was written; exit status 2",
        ),
        ("other", "anything else"),
    ]),
];

const VERSION_1: &[Block] = &[
    Text(
        "Version 1 of the format has no ids: a file is one chain, and pi gives each entry a \
         random id when it first opens it, writing the file anew. pis never does that to a file \
         it reads. It makes the ids of such a session itself, from the id of the session and the \
         place of the record among those that parse, and from nothing else: 16 hex digits, the \
         same at every run, on every machine and in every copy. They can be kept in notes and \
         scripts, and are the ids that `migrate`, `copy`, `import` and `repair` write when they \
         bring such a file to version 3. pi itself, where it migrates the file first, makes others.",
    ),
    Text(
        "Version 2 differs in the name of one role only and is read as it is. Version numbers \
         above 3 are read as 3.",
    ),
];

const ENVIRONMENT: &[Block] = &[
    Text("A variable that is empty counts as not set, but for the two that name a pager."),
    List(&[
        ("PIS_SESSION", "the session, as for `-s`"),
        (
            "PI_SESSION_FILE",
            "the session, where `PIS_SESSION` is not set; set by pi. See WRITING, too",
        ),
        (
            "PI_CODING_AGENT_DIR",
            "the directory of the agent instead of `~/.pi/agent`",
        ),
        (
            "PI_CODING_AGENT_SESSION_DIR",
            "the session directory, as for `--session-dir`",
        ),
        ("VISUAL, EDITOR", "the editor of `checkout -e`"),
        (
            "PIS_PAGER, PAGER",
            "the pager; empty or `cat` for none. Without them `less -FRX`",
        ),
        (
            "LESS",
            "options of less; `FRX` is handed to the pager where it is not set",
        ),
        ("NO_COLOR", "no colour, unless `--color` says otherwise"),
        (
            "CLICOLOR_FORCE",
            "colour even where standard output is no terminal; `0` counts as not set, and \
             `NO_COLOR` wins",
        ),
        (
            "TERM",
            "`dumb`: no colour, nothing but ASCII in drawings, and no pager unless one is set",
        ),
        (
            "COLUMNS",
            "the width of rows, else that of the terminal, else 80",
        ),
        (
            "LC_ALL, LC_CTYPE, LANG",
            "the first that is set says whether drawings may use more than ASCII: it has to name \
             UTF-8",
        ),
    ]),
];

const FILES: &[Block] = &[List(&[
    (
        "~/.pi/agent/sessions/--DIR--/*.jsonl",
        "the sessions of a directory, described in pis-session(5); in DIR every slash is a dash",
    ),
    (
        "~/.pi/agent/settings.json, .pi/settings.json",
        "pi's settings, of which pis reads `sessionDir`",
    ),
    (
        ".pis/NAME.jsonl.d/HEAD",
        "beside a session (links resolved): where the leaf is, \
         `{\"leaf\": ID or null, \"size\": BYTES}`",
    ),
    (
        ".pis/NAME.jsonl.d/log",
        "the moves of the leaf, oldest first, one JSON object a line: `time`, `op`, `old`, \
         `new`, `size`, `reason`. `@{n}` and `@{-n}` count in it",
    ),
    (".pis/NAME.jsonl.d/lock", "what writers hold; always empty"),
])];

const EXIT_STATUS: &[Block] = &[List(&[
    ("0", "yes, or done"),
    (
        "1",
        "no: not an ancestor, no common ancestor, no such entry, no name, damage found",
    ),
    (
        "2",
        "the arguments or a revision are misspelt; the same words never work",
    ),
    (
        "3",
        "refused, and nothing was written; trying again may help",
    ),
    (
        "4",
        "written, but another program appended at the same moment; both are kept",
    ),
    ("128", "anything else went wrong"),
    ("130", "interrupted"),
])];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_text_ends_where_it_begins() {
        for section in sections() {
            for block in section.blocks {
                let texts = match block {
                    Text(text) => vec![text],
                    List(items) => items.iter().map(|(_, text)| *text).collect(),
                    Heading(_) => Vec::new(),
                };
                for text in texts {
                    assert_eq!(text.matches('`').count() % 2, 0, "{text}");
                    assert!(!text.contains("  "), "{text}");
                }
            }
        }
    }
}

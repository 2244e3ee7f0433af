//! The names of what can be wrong. They are stable: scripts match them.

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// pi fails on it, or records are lost or hidden.
    Error,
    /// Something is not as it should be, but everything can be read.
    Warning,
    /// Sound sessions may have it, too.
    Info,
}

impl Severity {
    /// Its name in output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

macro_rules! codes {
    ($($code:ident $name:literal $severity:ident $meaning:literal)+) => {
        /// What is wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "the text of each is what `meaning` returns")]
        pub enum Code {
            $($code,)+
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Code] = &[$(Code::$code),+];

            /// Its name in output.
            pub fn name(self) -> &'static str {
                match self { $(Code::$code => $name,)+ }
            }

            /// How much it matters.
            pub fn severity(self) -> Severity {
                match self { $(Code::$code => Severity::$severity,)+ }
            }

            /// What it means and what comes of it.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$code => $meaning,)+ }
            }
        }
    };
}

codes! {
    // The file.
    Empty "empty" Error "there is nothing in the file; pi writes a new header into it"
    NotASession "not-a-session" Error "the file is something else"
    Bom "bom" Error "a byte order mark stands before the header; pi does not open the file"
    NoHeader "no-header" Error "there are entries, but no header; pi does not open the file"
    HeaderNotFirst "header-not-first" Error "another record stands before the header; pi does not open the file"
    BadHeader "bad-header" Warning "the header lacks an id that pi takes, a time or a directory"
    NewerVersion "newer-version" Warning "the version is above 3; the file is read as version 3 and never written"
    BadVersion "bad-version" Info "the version is no number; pi reads the file as it is"
    OldVersion "old-version" Info "the version is 1 or 2; pi writes the file anew when it opens it and drops lines that do not parse"
    NoIds "no-ids" Error "the version is 3, but no entry has an id, as pi's --fork of a version 1 session leaves it; pi shows nothing of it"
    HiddenHeader "hidden-header" Warning "the header does not end within the first MiB; `pi -c` and ids do not find the session"
    ParentSessionGone "parent-session-gone" Info "the session that this one was made of is not where the header says"
    ParentSessionCycle "parent-session-cycle" Warning "the session descends from itself"
    WrongDirectory "wrong-directory" Info "the file lies among the sessions of another directory than its header names"
    DanglingLeaf "dangling-leaf" Warning "`HEAD` names an entry that is not in the file; the last entry counts"
    HiddenBranch "hidden-branch" Info "the last entry is no message, and on another branch than the newest one, where pi does not open the session"

    // Lines.
    UnparseableLine "unparseable-line" Error "a line is not JSON, and no whole record is in it; pi passes over it"
    TornTail "torn-tail" Error "the last line is cut off; pi passes over it"
    NoFinalNewline "no-final-newline" Info "the last line is whole, but nothing ends it"
    FusedRecord "fused-record" Error "a line holds a whole record beside a broken one; pi passes over both"
    GluedRecords "glued-records" Error "a line holds several whole records; pi passes over all of them"
    SplitRecord "split-record" Error "a record lies on several lines; pi passes over all of them"
    ControlCharacter "control-character" Error "a control character stands in a string as it is; pi passes over the line"
    NulBytes "nul-bytes" Error "a line holds NULs, as a crash leaves them; pi passes over it"
    NotAnObject "not-an-object" Warning "a line is JSON, but no object"
    SecondHeader "second-header" Warning "another header stands among the entries; the first counts"
    InvalidUtf8 "invalid-utf8" Warning "bytes that are not UTF-8; they are read as U+FFFD"

    // Entries.
    NoId "no-id" Error "an entry has no id, so that nothing can hang on it; where it is the last one, pi has no leaf"
    BadId "bad-id" Warning "an id is empty, or no string"
    NoType "no-type" Warning "an entry has no type"
    UnknownType "unknown-type" Info "a type that pi 1.6.0 does not have; it is kept and followed"
    BadTimestamp "bad-timestamp" Info "the time of an entry is missing or no date, so that its place among its siblings is open"
    NoMessage "no-message" Error "a message entry has no message; pi cannot build a context with it and leaves the session out of its list"
    UnknownRole "unknown-role" Info "a role that pi 1.6.0 does not have; no model sees the message"
    OldRole "old-role" Warning "the role of version 2, `hookMessage`, in a session of version 3"
    NoContent "no-content" Warning "the content of a message is missing or null; where it is null, pi leaves the session out of its list"
    BadContent "bad-content" Error "the content of a message is not what pi reads, such as a string where it wants blocks; requests fail"
    BadBlock "bad-block" Error "a block of a content is no object, or a block of text or thinking has no text; pi fails on it"
    BadCall "bad-call" Warning "a tool call without id, name or arguments"
    NoUsage "no-usage" Error "an answer without usage; pi takes no further prompt behind it"
    NoCost "no-cost" Warning "a usage without cost; pi's statistics fail on it"
    BadName "bad-name" Warning "the name of the session is no string; pi leaves the session out of its list"

    // Links and turns.
    DuplicateId "duplicate-id" Error "several entries have one id; the last counts, and pi's tree grows without end"
    Orphan "orphan" Error "the parent of an entry is not in the file; what stood before is lost to the model"
    Cycle "cycle" Error "an entry is its own ancestor; pi does not come back from it"
    BadParent "bad-parent" Warning "the parentId of an entry is missing or no id; it counts as a root"
    OutOfOrder "out-of-order" Info "an entry stands before its parent"
    DanglingLabel "dangling-label" Warning "a label on an entry that is not in the file"
    DanglingEdit "dangling-edit" Warning "a context edit of an entry that is not in the file"
    EditOffPath "edit-off-path" Info "a context edit of an entry that is not above it has no effect"
    MissingFirstKept "missing-first-kept" Warning "the first entry that a compaction keeps is not above it, so that it keeps none"
    DanglingFrom "dangling-from" Info "the branch that a summary is of is not in the file"
    CallWithoutResult "call-without-result" Info "a tool call that nothing answers; pi answers it with an error"
    ResultWithoutCall "result-without-call" Warning "a tool result without a call above it; model servers refuse it"
    RepeatedResult "repeated-result" Warning "a tool result whose call was answered or left already"
    AssistantAfterAssistant "assistant-after-assistant" Info "an answer follows an answer, with no word in between; some model servers refuse that"
}

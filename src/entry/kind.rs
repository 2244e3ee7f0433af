//! The kinds of entries and the roles of messages that pi 1.6.0 knows.

/// What an entry is, by its `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are pi's own types")]
pub enum Kind {
    Message,
    CustomMessage,
    BranchSummary,
    Compaction,
    ContextEdit,
    ModelChange,
    ThinkingLevelChange,
    Usage,
    Label,
    SessionInfo,
    Custom,
    /// The header, which is no entry.
    Session,
    /// A type this version does not know: kept, shown, followed.
    Other,
}

const KINDS: [(Kind, &str); 12] = [
    (Kind::Message, "message"),
    (Kind::CustomMessage, "custom_message"),
    (Kind::BranchSummary, "branch_summary"),
    (Kind::Compaction, "compaction"),
    (Kind::ContextEdit, "context_edit"),
    (Kind::ModelChange, "model_change"),
    (Kind::ThinkingLevelChange, "thinking_level_change"),
    (Kind::Usage, "usage"),
    (Kind::Label, "label"),
    (Kind::SessionInfo, "session_info"),
    (Kind::Custom, "custom"),
    (Kind::Session, "session"),
];

impl Kind {
    /// The kind of a `type` as stored.
    pub fn of(name: &[u8]) -> Kind {
        KINDS
            .iter()
            .find(|(_, n)| n.as_bytes() == name)
            .map_or(Kind::Other, |(k, _)| *k)
    }

    /// The `type` of the kind; `None` for an unknown one, whose name only the entry holds.
    pub fn name(self) -> Option<&'static str> {
        KINDS.iter().find(|(k, _)| *k == self).map(|(_, n)| *n)
    }

    /// Labels, names, usage and state of extensions: they belong to the entry they hang on.
    pub fn is_bookkeeping(self) -> bool {
        matches!(
            self,
            Kind::Label | Kind::SessionInfo | Kind::Usage | Kind::Custom
        )
    }

    /// A message, or a summary that stands for some.
    pub fn is_message_like(self) -> bool {
        matches!(
            self,
            Kind::Message | Kind::CustomMessage | Kind::BranchSummary | Kind::Compaction
        )
    }
}

/// Who speaks, by a message's `role`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are pi's own roles")]
pub enum Role {
    User,
    Assistant,
    ToolResult,
    System,
    BashExecution,
    Custom,
    BranchSummary,
    CompactionSummary,
    /// A role this version does not know, or a message without one.
    Other,
}

const ROLES: [(Role, &str); 9] = [
    (Role::User, "user"),
    (Role::Assistant, "assistant"),
    (Role::ToolResult, "toolResult"),
    (Role::System, "system"),
    (Role::BashExecution, "bashExecution"),
    (Role::Custom, "custom"),
    (Role::BranchSummary, "branchSummary"),
    (Role::CompactionSummary, "compactionSummary"),
    (Role::Other, "other"),
];

impl Role {
    /// The role of a name as stored. `hookMessage` is what version 2 called `custom`.
    pub fn of(name: &[u8]) -> Role {
        if name == b"hookMessage" {
            return Role::Custom;
        }
        ROLES
            .iter()
            .find(|(_, n)| n.as_bytes() == name)
            .map_or(Role::Other, |(r, _)| *r)
    }

    /// The role's name in JSON.
    pub fn name(self) -> &'static str {
        ROLES
            .iter()
            .find(|(r, _)| *r == self)
            .map_or("other", |(_, n)| n)
    }
}

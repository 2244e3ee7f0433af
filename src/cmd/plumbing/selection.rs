//! `--type` and `--role`, the same for every command that lists entries.

use clap::Args;

use crate::entry::{Entry, Kind, Role};
use crate::error::Result;
use crate::session::Session;
use crate::store::index::Ix;

/// Options that keep some entries and leave out the others.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Selection {
    /// Only entries of this type, such as message or compaction (may be repeated)
    #[arg(long = "type", value_name = "TYPE")]
    kinds: Vec<String>,
    /// Only messages of this role, such as user, assistant or toolResult (may be repeated)
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<String>,
}

/// The options, read.
#[derive(Debug)]
pub(crate) struct Wanted {
    kinds: Vec<(String, Kind)>,
    roles: Vec<(String, Role)>,
}

impl Selection {
    pub(crate) fn read(self) -> Wanted {
        let kind = |name: String| {
            let kind = Kind::of(name.as_bytes());
            (name, kind)
        };
        let role = |name: String| {
            // The word that revisions use, too.
            let name = if name == "tool" {
                "toolResult".to_owned()
            } else {
                name
            };
            let role = Role::of(name.as_bytes());
            (name, role)
        };
        Wanted {
            kinds: self.kinds.into_iter().map(kind).collect(),
            roles: self.roles.into_iter().map(role).collect(),
        }
    }
}

impl Wanted {
    /// Whether nothing is left out.
    pub(crate) fn is_everything(&self) -> bool {
        self.kinds.is_empty() && self.roles.is_empty()
    }

    /// Whether an entry is kept. Only unknown types and roles take a look at the line.
    pub(crate) fn keeps(&self, session: &Session, ix: Ix) -> Result<bool> {
        if self.is_everything() {
            return Ok(true);
        }
        let (kind, role) = {
            let index = session.index();
            (index.kind(ix), index.role(ix))
        };
        let name_matches = |names: Vec<&str>, role_name: bool| -> Result<bool> {
            if names.is_empty() {
                return Ok(false);
            }
            let line = session.line(ix)?;
            let entry = Entry::new(&line);
            let stored = if role_name {
                entry.role_name()
            } else {
                Some(entry.type_name())
            };
            Ok(stored.is_some_and(|stored| names.contains(&stored.as_str())))
        };
        let known_kind = self
            .kinds
            .iter()
            .any(|(_, k)| *k == kind && kind != Kind::Other);
        let kind_ok = self.kinds.is_empty() || known_kind || {
            let unknown = self.kinds.iter().filter(|(_, k)| *k == Kind::Other);
            kind == Kind::Other && name_matches(unknown.map(|(n, _)| n.as_str()).collect(), false)?
        };
        let known_role = self
            .roles
            .iter()
            .any(|(_, r)| *r == role && role != Role::Other);
        let role_ok = self.roles.is_empty() || known_role || {
            let unknown = self.roles.iter().filter(|(_, r)| *r == Role::Other);
            let is_odd = kind == Kind::Message && role == Role::Other;
            is_odd && name_matches(unknown.map(|(n, _)| n.as_str()).collect(), true)?
        };
        Ok(kind_ok && role_ok)
    }
}

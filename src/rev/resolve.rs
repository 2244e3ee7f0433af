//! The meaning of revisions: which entry of a session a parsed revision names.
//!
//! Reads no more of the file than the revision needs: `@`, full ids and the steps upwards are
//! found from the end of the file; labels, id prefixes and the steps downwards take all of it.
//! Which session `S:` means is not decided here.

use regex::Regex;

use super::syntax::{Place, Rev, Suffix, quote_name};
use crate::entry::{self, Entry, Kind, Role};
use crate::error::{Error, Result};
use crate::session::Session;
use crate::store::index::Ix;
use crate::store::moves::{self, Move};
use crate::tree::Parent;

/// What a revision names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// An entry.
    Entry(Ix),
    /// `root`: before the first entry.
    Root,
}

impl Target {
    /// The entry, if it is one.
    pub fn entry(self) -> Option<Ix> {
        match self {
            Target::Entry(ix) => Some(ix),
            Target::Root => None,
        }
    }
}

impl From<Option<Ix>> for Target {
    fn from(ix: Option<Ix>) -> Self {
        ix.map_or(Target::Root, Target::Entry)
    }
}

/// A revision, found.
#[derive(Debug, Clone)]
pub struct Found {
    /// What it names.
    pub target: Target,
    /// Each step: how it is spelled, where it led, and why.
    pub steps: Vec<Step>,
    /// What a person should know, such as that a label is on several entries.
    pub warnings: Vec<String>,
}

/// One step of the way to an entry.
#[derive(Debug, Clone)]
pub struct Step {
    /// The part of the revision.
    pub spelled: String,
    /// Where it led.
    pub target: Target,
    /// In words.
    pub meaning: String,
}

/// The shortest beginning of an id that is taken for one.
const SHORTEST_PREFIX: usize = 4;

/// How many candidates an error names.
const CANDIDATES: usize = 8;

/// Finds what a revision names in a session. Its own `session` part is not looked at.
pub fn resolve(session: &Session, rev: &Rev) -> Result<Found> {
    let mut resolver = Resolver {
        session,
        spelled: Rev {
            session: None,
            ..rev.clone()
        }
        .to_string(),
        steps: Vec::new(),
        warnings: Vec::new(),
    };
    let start = Rev {
        session: None,
        place: rev.place.clone(),
        suffixes: Vec::new(),
    };
    let (mut at, meaning) = resolver.place(&rev.place)?;
    resolver.steps.push(Step {
        spelled: start.to_string(),
        target: at,
        meaning,
    });
    for suffix in &rev.suffixes {
        let (target, meaning) = resolver.suffix(at, suffix)?;
        at = target;
        let step = Rev {
            session: None,
            place: Place::Leaf,
            suffixes: vec![suffix.clone()],
        };
        let spelled = step.to_string().split_off(1);
        resolver.steps.push(Step {
            spelled,
            target,
            meaning,
        });
    }
    Ok(Found {
        target: at,
        steps: resolver.steps,
        warnings: resolver.warnings,
    })
}

struct Resolver<'s> {
    session: &'s Session,
    /// The whole revision, for messages.
    spelled: String,
    steps: Vec<Step>,
    warnings: Vec<String>,
}

type Answer = Result<(Target, String)>;

impl Resolver<'_> {
    fn none(&self, why: impl std::fmt::Display, hint: Option<String>) -> Error {
        Error::NoRevision {
            message: format!("no entry for '{}': {why}", self.spelled),
            hint,
        }
    }

    fn place(&mut self, place: &Place) -> Answer {
        match place {
            Place::Leaf => {
                let leaf = self.session.leaf()?;
                let why = match (leaf.ix, leaf.from_pointer) {
                    (None, _) => "before the first entry".to_owned(),
                    (_, true) => "the leaf, where HEAD points".to_owned(),
                    (_, false) => "the leaf, the last entry of the file".to_owned(),
                };
                Ok((leaf.ix.into(), why))
            }
            Place::Root => Ok((Target::Root, "before the first entry".to_owned())),
            Place::Id(id) => match self.session.find(id)? {
                Some(ix) => Ok((Target::Entry(ix), "the entry with this id".to_owned())),
                None => Err(self.none(format!("no entry has the id '{id}'"), self.nearest(id)?)),
            },
            Place::Label(name) => match self.labelled(name)? {
                Some(ix) => Ok((Target::Entry(ix), "the entry with this label".to_owned())),
                None => Err(self.none(format!("no label '{name}'"), self.nearest(name)?)),
            },
            Place::Word(word) => self.word(word),
            Place::Search(pattern) => {
                let regex = self.regex(pattern)?;
                self.session.load_all()?;
                let entries: Vec<Ix> = {
                    let index = self.session.index();
                    index
                        .newest_first()
                        .filter(|&ix| index.is_current(ix))
                        .collect()
                };
                let hit = self.first_match(entries.into_iter().map(Ok), &regex)?;
                let ix = hit.ok_or_else(|| self.none("no text matches", None))?;
                Ok((
                    Target::Entry(ix),
                    "the newest entry whose text matches".to_owned(),
                ))
            }
            Place::Moves(n) => self.moves_ago(*n),
            Place::Checkout(n) => self.checkout_ago(*n),
            Place::Tip => {
                let leaf = self.session.leaf()?.ix;
                self.tip(leaf.into())
            }
        }
    }

    fn word(&mut self, word: &str) -> Answer {
        if let Some(ix) = self.session.find(word)? {
            return Ok((Target::Entry(ix), "the entry with this id".to_owned()));
        }
        if let Some(ix) = self.labelled(word)? {
            return Ok((Target::Entry(ix), "the entry with this label".to_owned()));
        }
        let matches = if word.chars().count() < SHORTEST_PREFIX {
            Vec::new()
        } else {
            let index = self.session.index();
            let word = word.to_ascii_lowercase();
            let starts = |id: &str| {
                id.len() >= word.len() && id.to_ascii_lowercase().starts_with(word.as_str())
            };
            index
                .newest_first()
                .filter(|&ix| starts(&index.id_text(ix)) && index.is_current(ix))
                .collect()
        };
        match matches.as_slice() {
            [] => {
                let why = if word.chars().count() < SHORTEST_PREFIX {
                    format!(
                        "no id or label '{word}' (an id prefix has {SHORTEST_PREFIX} or more characters)"
                    )
                } else {
                    format!("no id or label '{word}', and no id that begins so")
                };
                Err(self.none(why, self.nearest(word)?))
            }
            [ix] => Ok((Target::Entry(*ix), "the only id that begins so".to_owned())),
            several => Err(Error::AmbiguousRevision {
                rev: self.spelled.clone(),
                candidates: self.describe(several)?,
            }),
        }
    }

    /// The entry with a label. Several may have it: the one labelled last counts.
    fn labelled(&mut self, name: &str) -> Result<Option<Ix>> {
        let labels = self.session.labels()?;
        let mut hits = Vec::new();
        for label in labels.iter().filter(|l| l.name == name) {
            if let Some(ix) = self.session.find(&label.target)? {
                hits.push((crate::time::parse(&label.timestamp), ix));
            }
        }
        // Stable, and equal times keep the order in which the labels were set.
        hits.sort_by_key(|(time, _)| *time);
        let Some(&(_, newest)) = hits.last() else {
            return Ok(None);
        };
        if hits.len() > 1 {
            self.warnings.push(format!(
                "label '{name}' is on {} entries; the one labelled last, {}, is meant",
                hits.len(),
                quote_name(&self.session.id(newest)),
            ));
        }
        Ok(Some(newest))
    }

    fn moves_ago(&self, n: u32) -> Answer {
        let leaf = self.session.leaf()?.ix;
        let now = leaf.map(|ix| self.session.id(ix));
        let places = moves::places(&self.log(), now.as_deref());
        let Some(place) = places.get(n as usize) else {
            let known = places.len() - 1;
            return Err(self.none(format!("the log knows of {known} moves only"), None));
        };
        Ok((
            self.by_id(place.as_deref())?,
            format!("the leaf {n} moves ago"),
        ))
    }

    fn checkout_ago(&self, n: u32) -> Answer {
        let log = self.log();
        let step = log
            .iter()
            .rev()
            .filter(|m| m.is_checkout())
            .nth(n.saturating_sub(1) as usize);
        let Some(step) = step else {
            let known = log.iter().filter(|m| m.is_checkout()).count();
            let why = format!("the log knows of {known} checkouts only");
            return Err(self.none(why, None));
        };
        let meaning = format!("where checkout number {n}, counted back, started");
        Ok((self.by_id(step.old.as_deref())?, meaning))
    }

    fn log(&self) -> Vec<Move> {
        self.session.path().map(moves::read).unwrap_or_default()
    }

    fn by_id(&self, id: Option<&str>) -> Result<Target> {
        let Some(id) = id else {
            return Ok(Target::Root);
        };
        let found = self.session.find(id)?;
        found.map(Target::Entry).ok_or_else(|| {
            self.none(
                format!("entry '{id}' of the log is not in the file any more"),
                None,
            )
        })
    }

    fn suffix(&mut self, at: Target, suffix: &Suffix) -> Answer {
        match suffix {
            Suffix::Ancestor(0) => Ok((at, "the same".to_owned())),
            Suffix::Ancestor(n) => self.ancestor(at, *n),
            Suffix::Prompt(n) => {
                let n = *n;
                let is_user = |ix| self.session.role(ix) == Role::User;
                let prompts = self
                    .above(at)
                    .filter(|ix| ix.as_ref().map_or(true, |&ix| is_user(ix)));
                let hit = prompts.take(n as usize).collect::<Result<Vec<_>>>()?;
                if hit.len() < n as usize {
                    let why = format!("there are only {} user messages at or above it", hit.len());
                    return Err(self.none(why, None));
                }
                let meaning = if n == 1 {
                    "the nearest user message".to_owned()
                } else {
                    format!("user message {n} at or above")
                };
                Ok((Target::from(hit.last().copied()), meaning))
            }
            Suffix::Kind(word) => {
                let wanted = Wanted::of(word);
                for ix in self.above(at) {
                    let ix = ix?;
                    if wanted.is(self.session, ix)? {
                        return Ok((Target::Entry(ix), format!("the nearest {word} at or above")));
                    }
                }
                let hint = wanted.is_unknown().then(|| {
                    "kinds are user, assistant, tool, system, bash, custom, or an entry type such \
                     as compaction, branch_summary, label"
                        .to_owned()
                });
                Err(self.none(format!("no {word} at or above it"), hint))
            }
            Suffix::Peel => {
                for ix in self.above(at) {
                    let ix = ix?;
                    if !self.session.kind(ix).is_bookkeeping() {
                        return Ok((Target::Entry(ix), "without bookkeeping".to_owned()));
                    }
                }
                Err(self.none("everything above it is bookkeeping", None))
            }
            Suffix::Search(pattern) => {
                let regex = self.regex(pattern)?;
                let hit = self.first_match(self.above(at), &regex)?;
                let ix = hit.ok_or_else(|| self.none("no text at or above it matches", None))?;
                Ok((
                    Target::Entry(ix),
                    "the nearest entry whose text matches".to_owned(),
                ))
            }
            Suffix::Child => self.child(at),
            Suffix::Tip => self.tip(at),
        }
    }

    /// The entry and all above it; nothing for `root`.
    fn above(&self, at: Target) -> impl Iterator<Item = Result<Ix>> + use<'_> {
        at.entry()
            .into_iter()
            .flat_map(|ix| self.session.ancestors(ix))
    }

    fn ancestor(&self, at: Target, n: u32) -> Answer {
        let Some(mut ix) = at.entry() else {
            return Err(self.none("nothing is above 'root'", None));
        };
        for step in 1..=n {
            match self.session.parent(ix)? {
                Parent::Entry(parent) => ix = parent,
                // Above a root entry stands `root`, and above that nothing.
                Parent::Root if step == n => {
                    return Ok((Target::Root, "before the first entry".to_owned()));
                }
                Parent::Root => {
                    return Err(self.none(format!("there are only {step} steps to 'root'"), None));
                }
                Parent::Orphan => {
                    let id = quote_name(&self.session.id(ix)).into_owned();
                    let why = format!("the parent of {id} is not in the file");
                    return Err(self.none(why, None));
                }
                Parent::Cycle => {
                    let id = quote_name(&self.session.id(ix)).into_owned();
                    return Err(self.none(format!("{id} is its own ancestor"), None));
                }
            }
        }
        let meaning = if n == 1 {
            "its parent".to_owned()
        } else {
            format!("{n} steps up")
        };
        Ok((Target::Entry(ix), meaning))
    }

    fn child(&self, at: Target) -> Answer {
        let tree = self.session.tree()?;
        let children = at
            .entry()
            .map_or_else(|| tree.roots(), |ix| tree.children(ix));
        match children {
            [ix] => Ok((Target::Entry(*ix), "its only child".to_owned())),
            [] => Err(self.none("it has no children", None)),
            several => Err(Error::AmbiguousRevision {
                rev: self.spelled.clone(),
                candidates: self.describe(several)?,
            }),
        }
    }

    fn tip(&self, at: Target) -> Answer {
        let tree = self.session.tree()?;
        let index = self.session.index();
        let is_message = |ix: Ix| index.kind(ix).is_message_like() && index.is_current(ix);
        // Numbers count from the end of the file, so the newest has the smallest.
        let newest = match at.entry() {
            Some(ix) => tree.descendants(ix).filter(|&ix| is_message(ix)).min(),
            None => index.newest_first().find(|&ix| is_message(ix)),
        };
        let ix = newest.ok_or_else(|| self.none("no message at or below it", None))?;
        Ok((
            Target::Entry(ix),
            "the newest message at or below".to_owned(),
        ))
    }

    fn regex(&self, pattern: &str) -> Result<Regex> {
        Regex::new(pattern).map_err(|e| Error::Usage {
            message: format!(
                "'{pattern}' is no regular expression: {}",
                last_line(&e.to_string())
            ),
            hint: None,
        })
    }

    fn first_match(
        &self,
        entries: impl Iterator<Item = Result<Ix>>,
        regex: &Regex,
    ) -> Result<Option<Ix>> {
        for ix in entries {
            let ix = ix?;
            if regex.is_match(&entry::text(Entry::new(&self.session.line(ix)?))) {
                return Ok(Some(ix));
            }
        }
        Ok(None)
    }

    /// Candidates for an ambiguous revision, one line each.
    fn describe(&self, entries: &[Ix]) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        for &ix in entries.iter().take(CANDIDATES) {
            let line = self.session.line(ix)?;
            let entry = Entry::new(&line);
            let role = entry.role_name().unwrap_or_else(|| entry.type_name());
            let text = entry::text(entry);
            let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let words: String = words.chars().take(50).collect();
            let id = self.session.id(ix);
            lines.push(
                format!("{} {role} {words}", quote_name(&id))
                    .trim_end()
                    .to_owned(),
            );
        }
        if entries.len() > CANDIDATES {
            lines.push(format!("and {} more", entries.len() - CANDIDATES));
        }
        Ok(lines)
    }

    /// A hint with the labels and ids that are spelled most like a word.
    fn nearest(&self, word: &str) -> Result<Option<String>> {
        let labels = self.session.labels()?;
        let mut names: Vec<String> = labels.iter().map(|l| l.name.clone()).collect();
        let index = self.session.index();
        names.extend(
            index
                .newest_first()
                .map(|ix| index.id_text(ix).into_owned()),
        );
        let near = crate::rev::nearest(word, names.iter().map(String::as_str));
        if near.is_empty() {
            return Ok(Some(
                "'pis log --graph --all' shows the entries, 'pis for-each-label' the labels".into(),
            ));
        }
        let near: Vec<_> = near.into_iter().map(quote_name).collect();
        Ok(Some(format!("did you mean {}?", near.join(" or "))))
    }
}

fn last_line(text: &str) -> &str {
    text.lines()
        .last()
        .unwrap_or_default()
        .trim_start_matches("error: ")
}

/// What `^{word}` looks for: a role, a type, or a short word for one of them.
enum Wanted<'w> {
    Role(Role),
    Kind(Kind),
    /// A type or role this version does not know; the stored names are compared.
    Name(&'w str),
}

impl<'w> Wanted<'w> {
    fn of(word: &'w str) -> Self {
        match word {
            "tool" => Wanted::Role(Role::ToolResult),
            "bash" => Wanted::Role(Role::BashExecution),
            "custom" => Wanted::Kind(Kind::CustomMessage),
            "summary" => Wanted::Kind(Kind::BranchSummary),
            "model" => Wanted::Kind(Kind::ModelChange),
            "name" => Wanted::Kind(Kind::SessionInfo),
            _ => match (Role::of(word.as_bytes()), Kind::of(word.as_bytes())) {
                (Role::Other, Kind::Other) => Wanted::Name(word),
                (Role::Other, kind) => Wanted::Kind(kind),
                (role, _) => Wanted::Role(role),
            },
        }
    }

    fn is_unknown(&self) -> bool {
        matches!(self, Wanted::Name(_))
    }

    fn is(&self, session: &Session, ix: Ix) -> Result<bool> {
        Ok(match self {
            Wanted::Role(role) => session.role(ix) == *role,
            Wanted::Kind(kind) => session.kind(ix) == *kind,
            Wanted::Name(name) => {
                if session.kind(ix) != Kind::Other && session.role(ix) != Role::Other {
                    return Ok(false);
                }
                let line = session.line(ix)?;
                let entry = Entry::new(&line);
                entry.type_name() == *name || entry.role_name().is_some_and(|r| r == *name)
            }
        })
    }
}

//! Links between entries: ids, parents, and what else names an entry.

use std::collections::HashMap;

use super::facts::Facts;
use super::{Code, Finding, name};
use crate::entry::{Entry, Kind};
use crate::error::Result;
use crate::rev::syntax::quote_name;
use crate::session::Session;
use crate::store::index::{Ix, Odd, ParentId};
use crate::store::moves;
use crate::tree::Parent;

/// Checks ids, parents and targets.
pub(super) fn check(session: &Session, facts: &Facts) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    for odd in session.oddities() {
        if odd.what == Odd::NoId {
            let message = "the entry has no id";
            found.push(Finding::new(Code::NoId, (odd.start, odd.end), message).repairable());
        }
    }
    repeated(session, &mut found)?;
    parents(session, &mut found)?;
    targets(session, facts, &mut found)?;
    if let Some(newest) = hidden_branch(session)? {
        let leaf = session.leaf()?.ix.unwrap_or(newest);
        let message = format!(
            "the newest message, {}, is on another branch; 'root@{{tip}}' names it",
            name(session, newest)
        );
        found.push(Finding::of(session, Code::HiddenBranch, leaf, message));
    }
    Ok(found)
}

/// Ids that several lines have: each line but the first is told.
fn repeated(session: &Session, found: &mut Vec<Finding>) -> Result<()> {
    let index = session.index();
    let with_id = || index.file_order().filter(|&ix| index.id(ix).is_some());
    if with_id().all(|ix| index.is_current(ix)) {
        return Ok(());
    }
    let mut first: HashMap<&[u8], Ix> = HashMap::new();
    let mut repeated = Vec::new();
    for ix in with_id() {
        let id = index.id(ix).unwrap_or_default();
        match first.get(id) {
            None => drop(first.insert(id, ix)),
            Some(&before) => repeated.push((ix, before)),
        }
    }
    let befores = repeated.iter().map(|(_, before)| index.span(*before).0);
    let numbers = session.line_numbers(befores)?;
    for ((ix, before), number) in repeated.into_iter().zip(numbers) {
        let is_same = session.line(ix)?.trim_ascii() == session.line(before)?.trim_ascii();
        let what = if is_same {
            "the same record stands"
        } else {
            "another entry with this id stands"
        };
        let message = format!("{what} in line {number}, too; the last one counts");
        found.push(Finding::of(session, Code::DuplicateId, ix, message).repairable());
    }
    Ok(())
}

fn parents(session: &Session, found: &mut Vec<Finding>) -> Result<()> {
    let tree = session.tree()?;
    let index = session.index();
    for ix in index.file_order().filter(|&ix| index.is_current(ix)) {
        let parent_id = index.parent_id(ix);
        let parent = || match parent_id {
            ParentId::Id(id) => quote_name(&String::from_utf8_lossy(id)).into_owned(),
            _ => String::new(),
        };
        let (code, message) = match tree.parent(ix) {
            Parent::Orphan => (
                Code::Orphan,
                format!("the parent {} is not in the file", parent()),
            ),
            Parent::Cycle => (
                Code::Cycle,
                format!("the parent {} is the entry itself or below it", parent()),
            ),
            Parent::Root if matches!(parent_id, ParentId::Missing | ParentId::Invalid) => {
                let what = "the parentId is missing, or no id";
                (Code::BadParent, what.to_owned())
            }
            Parent::Entry(parent) if parent < ix => (
                Code::OutOfOrder,
                format!("the parent {} stands behind it", name(session, parent)),
            ),
            Parent::Root | Parent::Entry(_) => continue,
        };
        let finding = Finding::of(session, code, ix, message);
        found.push(Finding {
            repairable: code != Code::OutOfOrder,
            ..finding
        });
    }
    Ok(())
}

/// Labels, edits, compactions and summaries that name an entry which is not there.
fn targets(session: &Session, facts: &Facts, found: &mut Vec<Finding>) -> Result<()> {
    let index = session.index();
    for ix in index.file_order() {
        let kind = index.kind(ix);
        let code = match kind {
            Kind::Label => Code::DanglingLabel,
            Kind::ContextEdit => Code::DanglingEdit,
            Kind::Compaction => Code::MissingFirstKept,
            Kind::BranchSummary => Code::DanglingFrom,
            _ => continue,
        };
        let target = match kind {
            Kind::Compaction => {
                let line = session.line(ix)?;
                let entry = Entry::new(&line);
                match session.first_kept(entry) {
                    // A form of compaction that brings along what it keeps.
                    None if entry.get("retainedTail").is_some() => continue,
                    kept => kept,
                }
            }
            // What was left may have been left behind in the session this one was made of.
            Kind::BranchSummary
                if session.header().parent_session.is_some()
                    || facts.of(ix).target.as_deref() == Some("root") =>
            {
                continue;
            }
            _ => facts.of(ix).target.as_deref().map(str::to_owned),
        };
        let is_there = |id: &String| index.known(id.as_bytes()).is_some();
        if target.as_ref().is_some_and(is_there) {
            continue;
        }
        let message = match target {
            Some(target) => format!("{} is not in the file", quote_name(&target)),
            None => "no entry is named".to_owned(),
        };
        found.push(Finding::of(session, code, ix, message));
    }
    Ok(())
}

/// The newest message, where the last entry of the file is bookkeeping on another branch and pis
/// did not put the leaf there.
pub(crate) fn hidden_branch(session: &Session) -> Result<Option<Ix>> {
    let leaf = session.leaf()?;
    let Some(ix) = leaf.ix.filter(|_| !leaf.from_pointer) else {
        return Ok(None);
    };
    if !session.kind(ix).is_bookkeeping() {
        return Ok(None);
    }
    let newest = {
        let index = session.index();
        index
            .newest_first()
            .find(|&ix| index.kind(ix).is_message_like() && index.is_current(ix))
    };
    let Some(newest) = newest else {
        return Ok(None);
    };
    for above in session.ancestors(ix) {
        // Numbers count from the end: a greater one is older.
        match above? {
            above if above == newest => return Ok(None),
            above if above > newest => break,
            _ => {}
        }
    }
    // Where pis put the leaf, somebody wanted it to be. (The session may be what it was before the
    // newest move, which this command made.)
    let moved = session.path().map(moves::read).unwrap_or_default();
    let id = Some(session.id(ix));
    let wanted = moved.iter().any(|step| step.new == id);
    Ok((!wanted).then_some(newest))
}

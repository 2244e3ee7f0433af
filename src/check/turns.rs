//! What follows what on the paths of the tree: calls and results, answers, edits, compactions.

use std::collections::HashMap;
use std::rc::Rc;

use super::facts::Facts;
use super::{Code, Finding, name};
use crate::entry::{Entry, Kind, Role};
use crate::error::Result;
use crate::rev::syntax::quote_name;
use crate::session::Session;
use crate::store::index::{Index, Ix};
use crate::tree::Tree;

/// Calls that wait for their results: the answer that made each, and its id.
type Open<'f> = Option<Rc<Vec<(Ix, &'f str)>>>;

/// Tells which entries are above which, without walking.
struct Order {
    /// The place of each entry in a walk through the tree, parents before children.
    place: Vec<u32>,
    /// How many entries are at or below each.
    below: Vec<u32>,
    walk: Vec<Ix>,
}

impl Order {
    fn new(tree: &Tree, entries: usize) -> Order {
        let mut order = Order {
            place: vec![u32::MAX; entries],
            below: vec![1; entries],
            walk: Vec::with_capacity(entries),
        };
        for &root in tree.roots() {
            for ix in tree.descendants(root) {
                order.place[ix.at()] = u32::try_from(order.walk.len()).unwrap_or(u32::MAX);
                order.walk.push(ix);
            }
        }
        for &ix in order.walk.iter().rev() {
            if let Some(parent) = tree.parent(ix).entry() {
                order.below[parent.at()] += order.below[ix.at()];
            }
        }
        order
    }

    /// Whether an entry is at or above another one.
    fn is_above(&self, above: Ix, ix: Ix) -> bool {
        let (from, at) = (self.place[above.at()], self.place[ix.at()]);
        from <= at && at - from < self.below[above.at()]
    }
}

/// Checks turns on every path.
pub(super) fn check(session: &Session, facts: &Facts) -> Result<Vec<Finding>> {
    let tree = session.tree()?;
    let index = session.index();
    let order = Order::new(tree, index.len());
    let mut found = Vec::new();
    for &ix in &order.walk {
        found.extend(target_off_path(session, facts, &order, ix)?);
    }
    found.extend(conversation(session, facts, &index, tree, &order));
    Ok(found)
}

/// An edit or a compaction that names an entry which is not above it.
fn target_off_path(
    session: &Session,
    facts: &Facts,
    order: &Order,
    ix: Ix,
) -> Result<Option<Finding>> {
    let (code, target) = match session.kind(ix) {
        Kind::ContextEdit => {
            let target = facts.of(ix).target.as_deref().map(str::to_owned);
            (Code::EditOffPath, target)
        }
        Kind::Compaction => {
            let line = session.line(ix)?;
            let target = session.first_kept(Entry::new(&line));
            (Code::MissingFirstKept, target)
        }
        _ => return Ok(None),
    };
    let Some(target) = target else {
        return Ok(None);
    };
    // One that is not in the file is told elsewhere.
    let there = session.index().known(target.as_bytes());
    let Some(there) = there.filter(|&there| !order.is_above(there, ix)) else {
        return Ok(None);
    };
    let message = format!("{} is not above it", name(session, there));
    Ok(Some(Finding::of(session, code, ix, message)))
}

/// Calls, results and answers in the order in which a model would see them.
fn conversation(
    session: &Session,
    facts: &Facts,
    index: &Index,
    tree: &Tree,
    order: &Order,
) -> Vec<Finding> {
    let mut callers: HashMap<&str, Vec<Ix>> = HashMap::new();
    for &ix in &order.walk {
        for call in &facts.of(ix).calls {
            callers.entry(call).or_default().push(ix);
        }
    }
    let mut found = Vec::new();
    let mut waiting: Vec<Open<'_>> = vec![None; index.len()];
    // The message before, if the entry is none itself.
    let mut message: Vec<Option<Ix>> = vec![None; index.len()];
    let mut unanswered: Vec<bool> = vec![false; index.len()];
    for &ix in &order.walk {
        let above = tree.parent(ix).entry();
        let mut open = above.and_then(|above| waiting[above.at()].clone());
        let before = above.and_then(|above| message[above.at()]);
        message[ix.at()] = before;
        let fact = facts.of(ix);
        let role = index.role(ix);
        if role == Role::ToolResult {
            let id = fact.target.as_deref();
            let is_open = |open: &Open<'_>| {
                let mut calls = open.iter().flat_map(|calls| calls.iter());
                calls.any(|(_, call)| Some(*call) == id)
            };
            if is_open(&open) {
                let rest = open.iter().flat_map(|calls| calls.iter());
                let rest: Vec<_> = rest
                    .filter(|(_, call)| Some(*call) != id)
                    .copied()
                    .collect();
                open = (!rest.is_empty()).then(|| Rc::new(rest));
            } else {
                found.push(stray_result(session, &callers, order, ix, id));
            }
            message[ix.at()] = Some(ix);
        } else if index.kind(ix).is_message_like() && role != Role::System {
            if index.kind(ix) != Kind::Compaction {
                leave(&open, &mut unanswered);
                open = None;
            }
            let follows = before.filter(|&before| {
                role == Role::Assistant
                    && index.role(before) == Role::Assistant
                    && !facts.of(before).failed
                    && facts.of(before).calls.is_empty()
            });
            if let Some(before) = follows {
                let message = format!("the answer follows another one, {}", name(session, before));
                found.push(Finding::of(
                    session,
                    Code::AssistantAfterAssistant,
                    ix,
                    message,
                ));
            }
            let calls: Vec<_> = fact.calls.iter().map(|call| (ix, &**call)).collect();
            if !calls.is_empty() {
                open = Some(Rc::new(calls));
            }
            message[ix.at()] = Some(ix);
        }
        if tree.children(ix).is_empty() {
            leave(&open, &mut unanswered);
        }
        waiting[ix.at()] = open;
    }
    for &ix in order.walk.iter().filter(|ix| unanswered[ix.at()]) {
        let message = "a tool call that is not answered on every branch below it";
        found.push(Finding::of(session, Code::CallWithoutResult, ix, message));
    }
    found
}

/// Notes calls that nothing answers.
fn leave(open: &Open<'_>, unanswered: &mut [bool]) {
    for (caller, _) in open.iter().flat_map(|calls| calls.iter()) {
        unanswered[caller.at()] = true;
    }
}

fn stray_result(
    session: &Session,
    callers: &HashMap<&str, Vec<Ix>>,
    order: &Order,
    ix: Ix,
    call: Option<&str>,
) -> Finding {
    let made = call.and_then(|call| callers.get(call));
    let above = made.and_then(|made| made.iter().find(|&&made| order.is_above(made, ix)));
    let (code, message) = match (above, made, call) {
        (Some(&above), _, _) => (
            Code::RepeatedResult,
            format!(
                "the call in {} was answered before, or a message came in between",
                name(session, above)
            ),
        ),
        (None, Some(made), _) => (
            Code::ResultWithoutCall,
            format!(
                "the call is on another branch, in {}",
                made.first()
                    .map_or_else(String::new, |&ix| name(session, ix))
            ),
        ),
        (None, None, Some(call)) => (
            Code::ResultWithoutCall,
            format!("no entry makes the call {}", quote_name(call)),
        ),
        (None, None, None) => (
            Code::ResultWithoutCall,
            "the result does not say of which call it is".to_owned(),
        ),
    };
    Finding::of(session, code, ix, message)
}

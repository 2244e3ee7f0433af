//! The tree that parent links make: children, roots, tips, depth, common ancestors.
//!
//! Built once from a complete [`Index`], in time linear in the number of entries and without
//! recursion. Entries without an id, and earlier lines whose id a later line repeats, are not
//! part of it: pi cannot reach them either.

mod branches;
mod labels;

use crate::store::index::{Index, Ix, ParentId};

pub use branches::Branch;
pub use labels::{Label, Labels};

/// What an entry hangs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parent {
    /// Another entry.
    Entry(Ix),
    /// Nothing: it is a root.
    Root,
    /// An id that no entry has: a root in effect.
    Orphan,
    /// An entry below it, or itself: the link is cut, which makes it a root in effect.
    Cycle,
}

impl Parent {
    /// The entry, if there is one.
    pub fn entry(self) -> Option<Ix> {
        match self {
            Parent::Entry(ix) => Some(ix),
            Parent::Root | Parent::Orphan | Parent::Cycle => None,
        }
    }
}

/// The links between all entries of a session.
#[derive(Debug)]
pub struct Tree {
    parents: Vec<Parent>,
    /// Children of entry `n` are `children[first_child[n]..first_child[n + 1]]`.
    first_child: Vec<u32>,
    children: Vec<Ix>,
    roots: Vec<Ix>,
    /// Bookkeeping looked through: whether something else hangs on the entry.
    continued: Vec<bool>,
}

impl Tree {
    /// Links all entries of a complete index.
    pub(crate) fn new(index: &Index) -> Tree {
        let mut parents: Vec<Parent> = index
            .newest_first()
            .map(|ix| stored_parent(index, ix))
            .collect();
        cut_cycles(&mut parents);

        // File order, so that each parent's children come out in file order.
        let members: Vec<Ix> = index
            .file_order()
            .filter(|&ix| index.is_current(ix))
            .collect();
        let mut first_child = vec![0u32; parents.len() + 1];
        for ix in &members {
            if let Parent::Entry(parent) = parents[ix.at()] {
                first_child[parent.at() + 1] += 1;
            }
        }
        for n in 0..parents.len() {
            first_child[n + 1] += first_child[n];
        }
        let mut next = first_child.clone();
        let mut children = vec![Ix(0); first_child[parents.len()] as usize];
        let mut roots = Vec::new();
        for &ix in &members {
            match parents[ix.at()].entry() {
                Some(parent) => {
                    children[next[parent.at()] as usize] = ix;
                    next[parent.at()] += 1;
                }
                None => roots.push(ix),
            }
        }
        // Oldest first; an entry without a time comes last. The sort is stable, so equal times
        // keep the order of the file.
        for n in 0..parents.len() {
            let range = first_child[n] as usize..first_child[n + 1] as usize;
            children[range].sort_by_key(|&ix| index.time(ix).unwrap_or(i64::MAX));
        }

        let mut continued = vec![false; parents.len()];
        for &ix in &members {
            if index.kind(ix).is_bookkeeping() {
                continue;
            }
            // Up through bookkeeping to the entry this one continues.
            let mut above = parents[ix.at()].entry();
            while let Some(parent) = above {
                if std::mem::replace(&mut continued[parent.at()], true) {
                    break;
                }
                if !index.kind(parent).is_bookkeeping() {
                    break;
                }
                above = parents[parent.at()].entry();
            }
        }
        Tree {
            parents,
            first_child,
            children,
            roots,
            continued,
        }
    }

    /// What the entry hangs on.
    pub fn parent(&self, ix: Ix) -> Parent {
        self.parents[ix.at()]
    }

    /// The entry's children, oldest first (pi's order: by time, then by place in the file).
    pub fn children(&self, ix: Ix) -> &[Ix] {
        let (from, to) = (self.first_child[ix.at()], self.first_child[ix.at() + 1]);
        &self.children[from as usize..to as usize]
    }

    /// The roots in file order, orphans and cut cycles included.
    pub fn roots(&self) -> &[Ix] {
        &self.roots
    }

    /// The tips, newest first: entries that are not bookkeeping and that nothing but bookkeeping
    /// hangs on.
    pub fn tips(&self, index: &Index) -> Vec<Ix> {
        index
            .newest_first()
            .filter(|&ix| self.is_tip(index, ix))
            .collect()
    }

    /// Whether the entry is a tip.
    pub fn is_tip(&self, index: &Index, ix: Ix) -> bool {
        !self.continued[ix.at()] && !index.kind(ix).is_bookkeeping() && index.is_current(ix)
    }

    /// The entry and all above it, nearest first.
    pub fn ancestors(&self, ix: Ix) -> impl Iterator<Item = Ix> + '_ {
        std::iter::successors(Some(ix), |&ix| self.parent(ix).entry())
    }

    /// For each entry, by number, whether it is `ix` or above it.
    pub fn path_mask(&self, ix: Option<Ix>) -> Vec<bool> {
        let mut mask = vec![false; self.parents.len()];
        for ix in ix.into_iter().flat_map(|ix| self.ancestors(ix)) {
            mask[ix.at()] = true;
        }
        mask
    }

    /// The deepest entry that is at or above both, if any is.
    pub fn merge_base(&self, a: Ix, b: Ix) -> Option<Ix> {
        let above_a = self.path_mask(Some(a));
        self.ancestors(b).find(|ix| above_a[ix.at()])
    }

    /// The entry and all below it, in no particular order.
    pub fn descendants(&self, ix: Ix) -> impl Iterator<Item = Ix> + '_ {
        let mut stack = vec![ix];
        std::iter::from_fn(move || {
            let ix = stack.pop()?;
            stack.extend(self.children(ix));
            Some(ix)
        })
    }
}

fn stored_parent(index: &Index, ix: Ix) -> Parent {
    match index.parent_id(ix) {
        ParentId::Id(id) => index.known(id).map_or(Parent::Orphan, Parent::Entry),
        ParentId::Null | ParentId::Missing | ParentId::Invalid => Parent::Root,
    }
}

/// Cuts every cycle at its links to a line that does not come before: each cycle has one, and a
/// walk that starts anywhere and reads backwards agrees up to that link.
pub(crate) fn cut_cycles(parents: &mut [Parent]) {
    // 0: not seen; otherwise the number of the walk that saw the entry first.
    let mut seen_by = vec![0u32; parents.len()];
    let mut walk = 0;
    for start in 0..parents.len() {
        if seen_by[start] != 0 {
            continue;
        }
        walk += 1;
        let mut at = start;
        let closing = loop {
            seen_by[at] = walk;
            let Parent::Entry(parent) = parents[at] else {
                break None;
            };
            at = parent.at();
            match seen_by[at] {
                0 => {}
                seen => break (seen == walk).then_some(at),
            }
        };
        let Some(entry) = closing else { continue };
        let mut at = entry;
        while let Parent::Entry(parent) = parents[at] {
            // Numbers count from the end of the file: not a greater one is not an earlier line.
            if parent.at() <= at {
                parents[at] = Parent::Cycle;
            }
            at = parent.at();
            if at == entry {
                break;
            }
        }
    }
}

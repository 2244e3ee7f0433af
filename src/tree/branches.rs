//! Branches: each tip with the stretch of its path that no other tip shares.

use super::Tree;
use crate::store::index::{Index, Ix};

/// A tip and what is its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// The tip.
    pub tip: Ix,
    /// The entry where the branch leaves another one; `None` where it shares nothing.
    pub base: Option<Ix>,
    /// The entries behind the base down to the tip, the tip first.
    pub own: Vec<Ix>,
}

impl Tree {
    /// The branches, newest tip first. Linear in the number of entries.
    pub fn branches(&self, index: &Index) -> Vec<Branch> {
        let tips = self.tips(index);
        let mut passed = vec![false; self.parents.len()];
        let mut forks = vec![false; self.parents.len()];
        for &tip in &tips {
            for ix in self.ancestors(tip) {
                if std::mem::replace(&mut passed[ix.at()], true) {
                    forks[ix.at()] = true;
                    break;
                }
            }
        }
        let branch = |tip| {
            let mut own = vec![tip];
            let mut base = None;
            for ix in self.ancestors(tip).skip(1) {
                if forks[ix.at()] {
                    base = Some(ix);
                    break;
                }
                own.push(ix);
            }
            Branch { tip, base, own }
        };
        tips.into_iter().map(branch).collect()
    }
}

//! The tree as pi's `/tree` indents it: a chain stays flat; the children of a branch point are one
//! level in, and what follows such a child one level deeper again, then flat. Several visible
//! roots are children of an invisible branch point.

use super::graph::View;
use crate::store::index::Ix;

/// An entry's place in the drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) ix: Ix,
    /// The number of visible entries above it.
    pub(crate) depth: usize,
    /// Lines and branch in front of its text.
    pub(crate) lead: String,
}

/// Columns a level takes.
const STEP: usize = 3;
/// Levels beyond this are not drawn apart, so that text stays on the screen.
const MAX_LEVEL: usize = 24;

struct Pending {
    ix: Ix,
    depth: usize,
    level: usize,
    just_branched: bool,
    connector: bool,
    is_last: bool,
    /// Levels at which a line goes on below.
    gutters: std::rc::Rc<Vec<(usize, bool)>>,
    virtual_root: bool,
}

/// Lays out a view, in the order in which it is drawn.
pub(crate) fn layout(view: &View, unicode: bool) -> Vec<Place> {
    let several_roots = view.roots.len() > 1;
    let mut places = Vec::with_capacity(view.preorder.len());
    let mut stack: Vec<Pending> = Vec::new();
    let roots = view.roots.iter().enumerate().rev().map(|(n, &ix)| Pending {
        ix,
        depth: 0,
        level: usize::from(several_roots),
        just_branched: several_roots,
        connector: several_roots,
        is_last: n + 1 == view.roots.len(),
        gutters: std::rc::Rc::default(),
        virtual_root: several_roots,
    });
    stack.extend(roots);
    while let Some(node) = stack.pop() {
        // The invisible branch point above several roots takes no room of its own.
        let shown = node
            .level
            .saturating_sub(usize::from(several_roots))
            .min(MAX_LEVEL);
        let draws_connector = node.connector && !node.virtual_root;
        let lead = lead(&node, shown, draws_connector, unicode);
        places.push(Place {
            ix: node.ix,
            depth: node.depth,
            lead,
        });

        let children = view.children(node.ix);
        let branches = children.len() > 1;
        let deeper = branches || (node.just_branched && node.level > 0);
        let mut gutters = node.gutters;
        if draws_connector && shown > 0 && shown < MAX_LEVEL {
            let mut more = (*gutters).clone();
            more.push((shown - 1, !node.is_last));
            gutters = std::rc::Rc::new(more);
        }
        stack.extend(children.iter().enumerate().rev().map(|(n, &ix)| Pending {
            ix,
            depth: node.depth + 1,
            level: node.level + usize::from(deeper),
            just_branched: branches,
            connector: branches,
            is_last: n + 1 == children.len(),
            gutters: std::rc::Rc::clone(&gutters),
            virtual_root: false,
        }));
    }
    places
}

fn lead(node: &Pending, shown: usize, connector: bool, unicode: bool) -> String {
    let (line, fork, end) = if unicode {
        ("│  ", "├─ ", "└─ ")
    } else {
        ("|  ", "|- ", "`- ")
    };
    let mut lead = String::with_capacity(shown * STEP);
    for level in 0..shown {
        let piece = if connector && level + 1 == shown {
            if node.is_last { end } else { fork }
        } else if node
            .gutters
            .iter()
            .any(|&(at, goes_on)| at == level && goes_on)
        {
            line
        } else {
            "   "
        };
        lead.push_str(piece);
    }
    lead
}

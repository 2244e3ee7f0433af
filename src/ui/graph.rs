//! Which entries of a tree are shown and on which visible ones they hang; and the graph of
//! `log --graph`, children before parents.

use hashbrown::HashMap;
use renderdag::{Ancestor, GraphRowRenderer, Renderer};

use super::style::{Mark, Painter};
use crate::entry::Role;
use crate::error::Result;
use crate::session::Session;
use crate::store::index::Ix;
use crate::tree::{Parent, Tree};

/// The visible part of a tree: hidden entries are left out, and what hangs on them hangs on the
/// nearest visible one above.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// Visible entries, parents before children, in the order of [`View::children`].
    pub(crate) preorder: Vec<Ix>,
    pub(crate) roots: Vec<Ix>,
    pub(crate) parent: HashMap<Ix, Ix>,
    children: HashMap<Ix, Vec<Ix>>,
    /// Hidden tool results between an entry and its visible parent.
    pub(crate) tools: HashMap<Ix, usize>,
    /// Where the leaf is shown: itself, or the nearest visible entry above it.
    pub(crate) leaf: Option<Ix>,
}

impl View {
    /// Walks the tree as pi draws it: children oldest first, but the one that holds the leaf
    /// before the others; roots in file order, the one with the leaf first.
    pub(crate) fn new(
        session: &Session,
        leaf: Option<Ix>,
        mut shows: impl FnMut(Ix) -> Result<bool>,
    ) -> Result<View> {
        let tree = session.tree()?;
        let on_path = tree.path_mask(leaf);
        let mut view = View::default();
        // An entry still to be visited, the visible one above it, hidden results in between.
        let mut stack: Vec<(Ix, Option<Ix>, usize)> = Vec::new();
        let push = |stack: &mut Vec<_>, entries: &[Ix], above, tools| {
            let rest = entries.iter().rev().filter(|ix| !on_path[ix.at()]);
            stack.extend(rest.map(|&ix| (ix, above, tools)));
            let first = entries.iter().rev().filter(|ix| on_path[ix.at()]);
            stack.extend(first.map(|&ix| (ix, above, tools)));
        };
        push(&mut stack, tree.roots(), None, 0);
        while let Some((ix, above, tools)) = stack.pop() {
            let (mut above, mut tools) = (above, tools);
            if shows(ix)? {
                view.preorder.push(ix);
                match above {
                    Some(parent) => {
                        view.parent.insert(ix, parent);
                        view.children.entry(parent).or_default().push(ix);
                    }
                    None => view.roots.push(ix),
                }
                if tools > 0 {
                    view.tools.insert(ix, tools);
                }
                (above, tools) = (Some(ix), 0);
            } else if session.role(ix) == Role::ToolResult {
                tools += 1;
            }
            if leaf == Some(ix) {
                view.leaf = above;
            }
            push(&mut stack, tree.children(ix), above, tools);
        }
        Ok(view)
    }

    /// The visible entries that hang on one.
    pub(crate) fn children(&self, ix: Ix) -> &[Ix] {
        self.children.get(&ix).map_or(&[], Vec::as_slice)
    }

    /// The order of a graph: every entry before its parent, the path to the leaf first, then each
    /// branch in one piece, the one with the newest tip first. Few columns are open at a time.
    pub(crate) fn children_first(&self, tree: &Tree, leaf: Option<Ix>) -> Vec<Ix> {
        let on_path = tree.path_mask(leaf);
        // Numbers count from the end of the file: the newest has the smallest.
        let mut newest: HashMap<Ix, Ix> = HashMap::new();
        for &ix in self.preorder.iter().rev() {
            let below = self
                .children(ix)
                .iter()
                .filter_map(|child| newest.get(child))
                .min();
            newest.insert(ix, below.copied().unwrap_or(ix).min(ix));
        }
        let sorted = |entries: &[Ix]| {
            let mut entries = entries.to_vec();
            entries.sort_by_key(|ix| (!on_path[ix.at()], newest.get(ix).copied()));
            entries
        };
        // Reversed, parents come before children and the last branch before the first.
        let mut order = Vec::with_capacity(self.preorder.len());
        let mut stack = sorted(&self.roots);
        while let Some(ix) = stack.pop() {
            order.push(ix);
            stack.extend(sorted(self.children(ix)));
        }
        order.reverse();
        order
    }
}

/// Draws one row after another.
pub(crate) struct Drawing {
    renderer: Box<dyn Renderer<Ix, Output = String>>,
    /// On the path to the leaf, and elsewhere.
    nodes: [String; 2],
}

impl Drawing {
    /// With lines of Unicode or of ASCII.
    pub(crate) fn new(painter: Painter, unicode: bool) -> Drawing {
        let output = GraphRowRenderer::new().output().with_min_row_height(1);
        let (renderer, here, elsewhere): (Box<dyn Renderer<Ix, Output = String>>, _, _) = if unicode
        {
            (Box::new(output.build_box_drawing()), "●", "○")
        } else {
            (Box::new(output.build_ascii()), "*", "o")
        };
        let nodes = [
            painter.paint(Mark::Leaf, here),
            painter.paint(Mark::Dim, elsewhere),
        ];
        Drawing { renderer, nodes }
    }

    /// Columns of graph in front of the entry's text, the space behind it included.
    pub(crate) fn indent(&self, ix: Ix, parent: Option<Ix>) -> usize {
        let parents = parent.map(Ancestor::Parent).into_iter().collect();
        usize::try_from(self.renderer.width(Some(&ix), Some(&parents))).unwrap_or(0) + 1
    }

    /// The lines of a row; the last may not end in a newline.
    pub(crate) fn row(
        &mut self,
        ix: Ix,
        parent: Option<Ix>,
        cut: bool,
        on_path: bool,
        text: String,
    ) -> String {
        let mut parents: Vec<_> = parent.map(Ancestor::Parent).into_iter().collect();
        if cut && parents.is_empty() {
            parents.push(Ancestor::Anonymous);
        }
        let node = self.nodes[usize::from(!on_path)].clone();
        self.renderer.next_row(ix, parents, node, text)
    }
}

/// Whether the entry's parent link leads nowhere, so that a graph should show the cut.
pub(crate) fn is_cut(tree: &Tree, ix: Ix) -> bool {
    matches!(tree.parent(ix), Parent::Orphan | Parent::Cycle)
}

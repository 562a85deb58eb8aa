//! Places for the boxes of a graph in which things flow downwards: each box above what it feeds, with the boxes that feed
//! it centred above it, and subtrees as close as their outlines allow (Reingold and Tilford's idea). What flows to several
//! boxes hangs on the one that is deepest; its other edges are drawn across.

use std::collections::VecDeque;

/// Space between boxes of a row and between rows.
const GAP: (f64, f64) = (24.0, 36.0);

/// Where boxes are: centres across, tops down.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Placed {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Outline of a subtree: leftmost and rightmost place of each row, relative to its root.
type Outline = VecDeque<(f64, f64)>;

/// Places boxes of some widths and heights. An edge is (from, to); edges that close a circle count for nothing.
pub(super) fn place(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Placed {
    let tree = Tree::of(sizes.len(), edges);
    let mut rel = vec![0.0; sizes.len()];
    let mut outlines: Vec<Outline> = vec![Outline::new(); sizes.len()];
    for at in tree.order.iter().rev() {
        let children = &tree.children[*at];
        let mut outline = pack(children, &mut rel, &mut outlines);
        let centre = match (children.first(), children.last()) {
            (Some(first), Some(last)) => f64::midpoint(rel[*first], rel[*last]),
            _ => 0.0,
        };
        for child in children {
            rel[*child] -= centre;
        }
        for (left, right) in &mut outline {
            *left -= centre;
            *right -= centre;
        }
        let half = sizes[*at].0 / 2.0;
        outline.push_front((-half, half));
        outlines[*at] = outline;
    }
    let outline = pack(&tree.roots, &mut rel, &mut outlines);
    let left = outline.iter().map(|(left, _)| *left).fold(0.0, f64::min);
    let right = outline.iter().map(|(_, right)| *right).fold(0.0, f64::max);
    let mut placed = Placed { width: right - left, ..Placed::default() };
    placed.x = vec![0.0; sizes.len()];
    for root in &tree.roots {
        placed.x[*root] = rel[*root] - left;
    }
    for at in &tree.order {
        for child in &tree.children[*at] {
            placed.x[*child] = placed.x[*at] + rel[*child];
        }
    }
    let n_rows = tree.level.iter().max().map_or(0, |level| level + 1);
    let mut heights = vec![0.0_f64; n_rows];
    for (level, (_, height)) in tree.level.iter().zip(sizes) {
        heights[*level] = heights[*level].max(*height);
    }
    let mut tops = vec![0.0; n_rows];
    let mut y = 0.0;
    for level in (0..n_rows).rev() {
        tops[level] = y;
        y += heights[level] + GAP.1;
    }
    placed.height = (y - GAP.1).max(0.0);
    placed.y = tree.level.iter().map(|level| tops[*level]).collect();
    placed
}

/// Puts subtrees side by side; their places are relative to the first. The outline is that of all.
fn pack(roots: &[usize], rel: &mut [f64], outlines: &mut [Outline]) -> Outline {
    let mut all = Outline::new();
    for root in roots {
        let own = std::mem::take(&mut outlines[*root]);
        let apart = all.iter().zip(&own).map(|((_, right), (left, _))| right - left + GAP.0);
        let shift = apart.fold(0.0, f64::max);
        rel[*root] = shift;
        for (row, (left, right)) in own.into_iter().enumerate() {
            match all.get_mut(row) {
                Some(outline) => outline.1 = right + shift,
                None => all.push_back((left + shift, right + shift)),
            }
        }
    }
    all
}

struct Tree {
    roots: Vec<usize>,
    children: Vec<Vec<usize>>,
    /// Rows from the bottom.
    level: Vec<usize>,
    /// What is fed comes before what feeds it.
    order: Vec<usize>,
}

impl Tree {
    fn of(n: usize, edges: &[(usize, usize)]) -> Tree {
        let mut feeds = vec![Vec::new(); n];
        let mut n_fed = vec![0_usize; n];
        for (from, to) in edges.iter().filter(|(from, to)| *from < n && *to < n && from != to) {
            feeds[*to].push(*from);
            n_fed[*from] += 1;
        }
        let mut level = vec![0; n];
        let mut parent: Vec<Option<usize>> = vec![None; n];
        let mut order: Vec<usize> = (0..n).filter(|at| n_fed[*at] == 0).collect();
        let mut next = 0;
        while let Some(at) = order.get(next).copied() {
            next += 1;
            for from in &feeds[at] {
                if parent[*from].is_none() || level[*from] < level[at] + 1 {
                    level[*from] = level[at] + 1;
                    parent[*from] = Some(at);
                }
                n_fed[*from] = n_fed[*from].saturating_sub(1);
                if n_fed[*from] == 0 {
                    order.push(*from);
                }
            }
        }
        // what is in a circle stands by itself
        for at in (0..n).filter(|at| n_fed[*at] > 0) {
            (level[at], parent[at]) = (0, None);
            order.push(at);
        }
        let mut children = vec![Vec::new(); n];
        let mut is_child = vec![false; n];
        for (at, feeds) in feeds.iter().enumerate() {
            for from in feeds {
                if parent[*from] == Some(at) && !is_child[*from] {
                    is_child[*from] = true;
                    children[at].push(*from);
                }
            }
        }
        let roots = (0..n).filter(|at| parent[*at].is_none()).collect();
        Tree { roots, children, level, order }
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn boxes_do_not_overlap_and_flow_downwards() {
        // a tree with something that feeds two, and a circle beside it
        let edges =
            [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2), (6, 1), (7, 6), (8, 9), (9, 8)];
        let sizes: Vec<(f64, f64)> = (0..10).map(|i| (40.0 + f64::from(i), 20.0)).collect();
        let placed = place(&sizes, &edges);
        for a in 0..10 {
            for b in 0..a {
                let apart = (placed.x[a] - placed.x[b]).abs();
                let is_same_row = (placed.y[a] - placed.y[b]).abs() < 20.0;
                assert!(!is_same_row || apart >= f64::midpoint(sizes[a].0, sizes[b].0), "{a} {b}");
            }
        }
        assert!(edges[..8].iter().all(|(from, to)| placed.y[*from] + 20.0 < placed.y[*to]));
        assert!(placed.x.iter().all(|x| (0.0..=placed.width).contains(x)));
        assert!(placed.y.iter().all(|y| (0.0..=placed.height).contains(y)));
        assert_eq!(place(&[], &[]), super::Placed::default());
    }
}

//! Keeps the answers of `Scope::Node` plugins for each class of pods, and refreshes them only for nodes that changed. Entry point:
//! [`class_ranking`]. The best node is found block by block.
//!
//! Nothing is approximated: the result is the same as that of running every plugin on every node. Some scores are normalised by
//! the highest score, which depends on the feasible nodes. So nodes with the same raw scores form a group, and within a group only
//! the scores that need no normalisation differ.

use super::filter_set::{FilterSet, fits};
use super::plugins_by_scope::LocalScorers;
use crate::cluster::{BLOCK, NodeId, Snapshot};
use crate::framework::{CycleError, Registry, RegistryId, Scope};
use crate::model::{ByAddress, PodSpec};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The score of a node that does not fit; no plugin returns this score.
const REJECTED: i64 = i64::MIN;

#[derive(PartialEq, Eq, Hash)]
struct Class {
    registry: RegistryId,
    /// Pods of one template share one spec.
    spec: ByAddress<PodSpec>,
    salts: Vec<u64>,
}

/// A node with its score. The higher score is better; of equal scores the first in node order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScoredNode {
    pub(super) score: i64,
    pub(super) order: u64,
    pub(super) id: NodeId,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ClassRanking {
    /// For each node the sum of the scores that need no normalisation; [`REJECTED`] if the node does not fit.
    scores: Vec<i64>,
    group: Vec<u8>,
    groups: Vec<Group>,
    /// true: there were more groups than a `u8` can number, and the ranking cannot be used.
    pub(super) has_too_many_groups: bool,
    /// The error of a filter that failed; the ranking cannot be used then.
    pub(super) failure: Option<CycleError>,
}

/// The nodes that have the same raw scores in all plugins whose scores are normalised.
#[derive(Clone, Debug)]
struct Group {
    raw: Vec<i64>,
    feasible: usize,
    best: Vec<Option<ScoredNode>>,
}

/// The ranking of the pod's class, up to date. `salts` are the numbers of all plugins of `Scope::Node`.
pub(super) fn class_ranking(
    filter_set: &FilterSet<'_>,
    registry: &Registry,
    local: &LocalScorers<'_>,
    salts: Vec<u64>,
) -> Arc<ClassRanking> {
    let (context, world) = (filter_set.context, filter_set.world);
    let filters: Vec<_> = filter_set
        .filters
        .iter()
        .filter(|filter| matches!(filter.plugin.scope(context, world), Scope::Node(_)))
        .collect();
    let class = Class { registry: registry.id(), spec: ByAddress(Arc::clone(&context.pod.spec)), salts };
    world.derive(class, |ranking: &mut ClassRanking, changed| {
        let scores = |id: NodeId| {
            for filter in &filters {
                if !fits(filter, id)? {
                    return Ok(None);
                }
            }
            Ok(world.believed(id).map(|_| local.both(id)))
        };
        ranking.refresh(world, changed, scores);
    })
}

impl ClassRanking {
    fn refresh(
        &mut self,
        world: &Snapshot<'_>,
        changed: &mut dyn Iterator<Item = NodeId>,
        scores: impl Fn(NodeId) -> Result<Option<(i64, Vec<i64>)>, CycleError>,
    ) {
        self.scores.resize(world.id_count(), REJECTED);
        self.group.resize(world.id_count(), 0);
        let blocks = world.id_count().div_ceil(BLOCK);
        self.groups.iter_mut().for_each(|group| group.best.resize(blocks, None));
        let mut dirty: Option<usize> = None;
        for id in changed {
            let block = id.index() / BLOCK;
            if dirty.is_some_and(|before| before != block) {
                dirty.take().into_iter().for_each(|block| self.find_best(world, block));
            }
            let was_best = self.is_best(id, block);
            match scores(id) {
                Ok(scores) => self.set(id, scores, blocks),
                Err(error) => self.failure = Some(error),
            }
            // A node that was not the best and is not the best now changes nothing for its block.
            if was_best || !self.update_best(world, id, block) {
                dirty = Some(block);
            }
        }
        dirty.into_iter().for_each(|block| self.find_best(world, block));
    }

    fn is_best(&self, id: NodeId, block: usize) -> bool {
        let group = self.group.get(id.index()).and_then(|group| self.groups.get(usize::from(*group)));
        let best = group.and_then(|group| group.best.get(block).copied().flatten());
        best.is_some_and(|best| best.id == id)
    }

    /// Makes a node that was not the best of its block the best, if it is now. false: the best of the block must be searched again.
    fn update_best(&mut self, world: &Snapshot<'_>, id: NodeId, block: usize) -> bool {
        let score = self.scores[id.index()];
        if score == REJECTED {
            return true;
        }
        let Some(group) = self.groups.get_mut(usize::from(self.group[id.index()])) else { return false };
        group.best[block] = better(group.best[block], ScoredNode { score, order: world.order(id), id });
        true
    }

    fn set(&mut self, id: NodeId, scores: Option<(i64, Vec<i64>)>, blocks: usize) {
        let place = id.index();
        if self.scores[place] != REJECTED {
            self.groups[usize::from(self.group[place])].feasible -= 1;
            self.scores[place] = REJECTED;
        }
        let Some((score, raw)) = scores else { return };
        let existing = self.groups.iter().position(|group| group.raw == raw);
        let Ok(group) = u8::try_from(existing.unwrap_or(self.groups.len())) else {
            self.has_too_many_groups = true;
            return;
        };
        if existing.is_none() {
            self.groups.push(Group { raw, feasible: 0, best: vec![None; blocks] });
        }
        self.groups[usize::from(group)].feasible += 1;
        (self.scores[place], self.group[place]) = (score, group);
    }

    /// The feasible nodes of a block with their scores and groups.
    fn block(&self, block: usize) -> impl Iterator<Item = (NodeId, i64, usize)> {
        let first = block * BLOCK;
        let scores = self.scores.iter().zip(&self.group).enumerate().skip(first).take(BLOCK);
        let feasible = scores.filter(|(_, (score, _))| **score != REJECTED);
        feasible.map(|(index, (score, group))| (NodeId::new(index), *score, usize::from(*group)))
    }

    /// Searches the best node of each group in a block again.
    fn find_best(&mut self, world: &Snapshot<'_>, block: usize) {
        let mut best: SmallVec<[Option<(i64, NodeId)>; 8]> = smallvec![None; self.groups.len()];
        for (id, score, group) in self.block(block) {
            // Node order is looked up only for equal scores.
            let is_better = |(highest, best): (i64, NodeId)| {
                score > highest || (score == highest && world.order(id) < world.order(best))
            };
            if best[group].is_none_or(is_better) {
                best[group] = Some((score, id));
            }
        }
        let choice = |(score, id)| ScoredNode { score, order: world.order(id), id };
        for (group, best) in self.groups.iter_mut().zip(best) {
            group.best[block] = best.map(choice);
        }
    }

    /// For each group: whether one of these feasible nodes belongs to it.
    pub(super) fn groups_of(&self, nodes: &[NodeId]) -> Vec<bool> {
        let mut present = vec![false; self.groups.len()];
        match &present[..] {
            // Usually there is one group.
            [_] => present[0] = !nodes.is_empty(),
            _ => nodes.iter().for_each(|id| present[usize::from(self.group[id.index()])] = true),
        }
        present
    }

    /// The total scores of feasible nodes; `bonus` is the sum of the normalised scores of each group.
    pub(super) fn totals(&self, nodes: &[NodeId], bonus: &[i64]) -> Vec<i64> {
        match bonus {
            [bonus] => nodes.iter().map(|id| self.scores[id.index()] + bonus).collect(),
            _ => {
                let total =
                    |id: &NodeId| self.scores[id.index()] + bonus[usize::from(self.group[id.index()])];
                nodes.iter().map(total).collect()
            }
        }
    }

    pub(super) fn raw(&self) -> impl ExactSizeIterator<Item = &[i64]> {
        self.groups.iter().map(|group| &group.raw[..])
    }

    pub(super) fn feasible(&self) -> impl Iterator<Item = NodeId> {
        let scores = self.scores.iter().enumerate();
        scores.filter(|(_, score)| **score != REJECTED).map(|(index, _)| NodeId::new(index))
    }

    /// Each group's raw scores and best node, without the nodes in `except`.
    pub(super) fn best(&self, world: &Snapshot<'_>, except: &[NodeId]) -> Vec<(&[i64], ScoredNode)> {
        let mut all = Vec::new();
        for (number, group) in self.groups.iter().enumerate().filter(|(_, group)| group.feasible > 0) {
            let best = self.best_of(number, world, except);
            all.extend(best.map(|choice| (&group.raw[..], choice)));
        }
        all
    }

    fn best_of(&self, number: usize, world: &Snapshot<'_>, except: &[NodeId]) -> Option<ScoredNode> {
        let mut best: Option<ScoredNode> = None;
        for (block, choice) in self.groups[number].best.iter().enumerate() {
            let Some(choice) = choice.filter(|choice| best.is_none_or(|best| choice.beats(&best))) else {
                continue;
            };
            let is_touched = except.iter().any(|id| id.index() / BLOCK == block);
            let choice =
                if is_touched { self.best_in_block(world, block, number, except) } else { Some(choice) };
            best = choice.map_or(best, |choice| better(best, choice));
        }
        best
    }

    /// The best node of a group in a block, without the nodes in `except`.
    fn best_in_block(
        &self,
        world: &Snapshot<'_>,
        block: usize,
        number: usize,
        except: &[NodeId],
    ) -> Option<ScoredNode> {
        let others = self.block(block).filter(|(id, _, group)| *group == number && !except.contains(id));
        let choices = others.map(|(id, score, _)| ScoredNode { score, order: world.order(id), id });
        choices.fold(None, better)
    }
}

impl ScoredNode {
    pub(super) fn beats(&self, other: &Self) -> bool {
        (self.score, other.order) > (other.score, self.order)
    }
}

pub(super) fn better(best: Option<ScoredNode>, choice: ScoredNode) -> Option<ScoredNode> {
    match best {
        Some(best) if !choice.beats(&best) => Some(best),
        _ => Some(choice),
    }
}

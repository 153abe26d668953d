//! Pods that ask for the same form a class. For each class the answers that follow from a node's own books are kept,
//! and asked again only where nodes changed; the best node is found block by block.
//!
//! Nothing is approximated: the answer is the one that asking every plugin about every node would give. Nodes are put
//! into groups by the raw scores that are yet to be normalised, because what they become depends on who else is
//! feasible; within a group only what is added to them matters.

use super::round::{Round, fits};
use crate::cluster::{BLOCK, NodeId, Snapshot};
use crate::framework::{Registry, RegistryId, Scope, Scorer};
use crate::model::pod::PodSpec;
use smallvec::{SmallVec, smallvec};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The score of a node that cannot have the pod; no plugin scores like that.
const REJECTED: i64 = i64::MIN;

/// What pods of one class have in common.
#[derive(PartialEq, Eq, Hash)]
struct Class {
    registry: RegistryId,
    spec: SameSpec,
    salts: Vec<u64>,
}

/// A spec by its place in memory: pods of one template share one.
struct SameSpec(Arc<PodSpec>);

/// A node as a choice: the higher score is better, then the earlier in node order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) score: i64,
    pub(super) order: u64,
    pub(super) id: NodeId,
}

/// What the nodes said to a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranks {
    /// What each feasible node scores apart from what is to be normalised; [`REJECTED`] for the others.
    scores: Vec<i64>,
    /// The group of each feasible node.
    group: Vec<u8>,
    groups: Vec<Group>,
    /// Whether there were more groups than have a number.
    pub(super) is_over: bool,
    /// Why a filter could not say.
    pub(super) failure: Option<String>,
}

/// Nodes with the same raw scores where those are to be normalised.
#[derive(Clone, Debug)]
struct Group {
    raw: Vec<i64>,
    feasible: usize,
    /// The best node of each block.
    best: Vec<Option<Choice>>,
}

/// The scores that follow from a node's own books.
pub(super) struct Local<'c> {
    /// Those that are added as they are.
    pub(super) plain: Vec<(Scorer<'c>, i64)>,
    /// Those that are normalised first.
    pub(super) shared: Vec<(Scorer<'c>, i64)>,
}

impl Local<'_> {
    fn plain(&self, id: NodeId) -> i64 {
        self.plain.iter().map(|(scorer, weight)| scorer.score.of(id) * weight).sum()
    }

    pub(super) fn raw(&self, id: NodeId) -> Vec<i64> {
        self.shared.iter().map(|(scorer, _)| scorer.score.of(id)).collect()
    }

    /// The raw scores with the plain ones.
    pub(super) fn both(&self, id: NodeId) -> (i64, Vec<i64>) {
        (self.plain(id), self.raw(id))
    }

    /// What raw scores come to when these are the highest.
    pub(super) fn normalised(&self, raw: &[i64], highest: &[i64]) -> i64 {
        let each = self.shared.iter().zip(raw.iter().zip(highest));
        each.map(|((scorer, weight), (raw, highest))| scorer.normalise.share(*raw, *highest) * weight).sum()
    }
}

/// The ranks of the pod's class, up to date. `salts` are those of all plugins of the scope of a node.
pub(super) fn ranks(
    round: &Round<'_>,
    registry: &Registry,
    local: &Local<'_>,
    salts: Vec<u64>,
) -> Arc<Ranks> {
    let (pod_context, world) = (round.pod_context, round.world);
    let filters: Vec<_> = round
        .filters
        .iter()
        .filter(|ready| matches!(ready.plugin.scope(pod_context, world), Scope::Node(_)))
        .collect();
    let class = Class { registry: registry.id(), spec: SameSpec(Arc::clone(&pod_context.pod.spec)), salts };
    world.derive(class, |ranks: &mut Ranks, changed| {
        let judge = |id: NodeId| {
            for filter in &filters {
                if !fits(filter, id)? {
                    return Ok(None);
                }
            }
            Ok(world.believed(id).map(|_| local.both(id)))
        };
        ranks.refresh(world, changed, judge);
    })
}

impl Ranks {
    fn refresh(
        &mut self,
        world: &Snapshot<'_>,
        changed: &mut dyn Iterator<Item = NodeId>,
        judge: impl Fn(NodeId) -> Result<Option<(i64, Vec<i64>)>, String>,
    ) {
        self.scores.resize(world.places(), REJECTED);
        self.group.resize(world.places(), 0);
        let blocks = world.places().div_ceil(BLOCK);
        self.groups.iter_mut().for_each(|group| group.best.resize(blocks, None));
        let mut dirty: Option<usize> = None;
        for id in changed {
            let block = id.index() / BLOCK;
            if dirty.is_some_and(|before| before != block) {
                dirty.take().into_iter().for_each(|block| self.rank(world, block));
            }
            let was_best = self.is_best(id, block);
            match judge(id) {
                Ok(said) => self.set(id, said, blocks),
                Err(why) => self.failure = Some(why),
            }
            // Whoever was not the best and is not now changes nothing for the others of its block.
            if was_best || !self.challenge(world, id, block) {
                dirty = Some(block);
            }
        }
        dirty.into_iter().for_each(|block| self.rank(world, block));
    }

    /// Whether the node is the best of its group in its block.
    fn is_best(&self, id: NodeId, block: usize) -> bool {
        let group = self.group.get(id.index()).and_then(|group| self.groups.get(usize::from(*group)));
        let best = group.and_then(|group| group.best.get(block).copied().flatten());
        best.is_some_and(|best| best.id == id)
    }

    /// Lets a node that was not the best become it. Whether that settles the matter.
    fn challenge(&mut self, world: &Snapshot<'_>, id: NodeId, block: usize) -> bool {
        let score = self.scores[id.index()];
        if score == REJECTED {
            return true;
        }
        let Some(group) = self.groups.get_mut(usize::from(self.group[id.index()])) else { return false };
        group.best[block] = better(group.best[block], Choice { score, order: world.order(id), id });
        true
    }

    fn set(&mut self, id: NodeId, said: Option<(i64, Vec<i64>)>, blocks: usize) {
        let place = id.index();
        if self.scores[place] != REJECTED {
            self.groups[usize::from(self.group[place])].feasible -= 1;
            self.scores[place] = REJECTED;
        }
        let Some((score, raw)) = said else { return };
        let known = self.groups.iter().position(|group| group.raw == raw);
        let Ok(group) = u8::try_from(known.unwrap_or(self.groups.len())) else {
            self.is_over = true;
            return;
        };
        if known.is_none() {
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

    /// Finds the best of a block again.
    fn rank(&mut self, world: &Snapshot<'_>, block: usize) {
        let mut best: SmallVec<[Option<(i64, NodeId)>; 8]> = smallvec![None; self.groups.len()];
        for (id, score, group) in self.block(block) {
            // Node order is asked for only where it decides.
            let is_better = |(highest, best): (i64, NodeId)| {
                score > highest || (score == highest && world.order(id) < world.order(best))
            };
            if best[group].is_none_or(is_better) {
                best[group] = Some((score, id));
            }
        }
        let choice = |(score, id)| Choice { score, order: world.order(id), id };
        for (group, best) in self.groups.iter_mut().zip(best) {
            group.best[block] = best.map(choice);
        }
    }

    /// Which groups feasible nodes belong to.
    pub(super) fn groups_of(&self, nodes: &[NodeId]) -> Vec<bool> {
        let mut present = vec![false; self.groups.len()];
        match &present[..] {
            // Mostly there is one.
            [_] => present[0] = !nodes.is_empty(),
            _ => nodes.iter().for_each(|id| present[usize::from(self.group[id.index()])] = true),
        }
        present
    }

    /// The scores of feasible nodes, each with what its group gets on top.
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

    /// The raw scores of each group.
    pub(super) fn raw(&self) -> impl ExactSizeIterator<Item = &[i64]> {
        self.groups.iter().map(|group| &group.raw[..])
    }

    /// The places of all feasible nodes.
    pub(super) fn feasible(&self) -> impl Iterator<Item = NodeId> {
        let scores = self.scores.iter().enumerate();
        scores.filter(|(_, score)| **score != REJECTED).map(|(index, _)| NodeId::new(index))
    }

    /// Each group's raw scores and best node, the nodes in `except` left out.
    pub(super) fn best(&self, world: &Snapshot<'_>, except: &[NodeId]) -> Vec<(&[i64], Choice)> {
        let mut all = Vec::new();
        for (number, group) in self.groups.iter().enumerate().filter(|(_, group)| group.feasible > 0) {
            let best = self.best_of(number, world, except);
            all.extend(best.map(|choice| (&group.raw[..], choice)));
        }
        all
    }

    fn best_of(&self, number: usize, world: &Snapshot<'_>, except: &[NodeId]) -> Option<Choice> {
        let mut best: Option<Choice> = None;
        for (block, choice) in self.groups[number].best.iter().enumerate() {
            let Some(choice) = choice.filter(|choice| best.is_none_or(|best| choice.beats(&best))) else {
                continue;
            };
            let is_touched = except.iter().any(|id| id.index() / BLOCK == block);
            let choice = if is_touched { self.rest(world, block, number, except) } else { Some(choice) };
            best = choice.map_or(best, |choice| better(best, choice));
        }
        best
    }

    /// The best of a block's nodes of a group that are not in `except`.
    fn rest(&self, world: &Snapshot<'_>, block: usize, number: usize, except: &[NodeId]) -> Option<Choice> {
        let others = self.block(block).filter(|(id, _, group)| *group == number && !except.contains(id));
        let choices = others.map(|(id, score, _)| Choice { score, order: world.order(id), id });
        choices.fold(None, better)
    }
}

impl Choice {
    pub(super) fn beats(&self, other: &Self) -> bool {
        (self.score, other.order) > (other.score, self.order)
    }
}

/// The better of the two.
pub(super) fn better(best: Option<Choice>, choice: Choice) -> Option<Choice> {
    match best {
        Some(best) if !choice.beats(&best) => Some(best),
        _ => Some(choice),
    }
}

impl PartialEq for SameSpec {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SameSpec {}

impl Hash for SameSpec {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

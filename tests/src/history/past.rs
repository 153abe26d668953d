//! What a daemon knew when it decided on a write. What breaks a rule in truth is excused only if it was right by books that are
//! done anew on this.
//!
//! A simulation knows what each daemon was sent by its watches ([`News`]), and when each write set out ([`Sent`]). A write was
//! decided on at most [`Rules::unseen`](super::Rules::unseen) before that; so it is excused if it was right on what the daemon
//! knew at any moment in between. Of a real cluster nobody knows what a watch had brought when: there, anything that is older than
//! that was seen, and of the rest any part may have been.

use super::picture::Picture;
use super::replay::{Replay, Stored};
use super::{Version, What};
use common::model::reservation::Parsed;
use common::model::{Node, NodeName, Reservation, ReservationId};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Something that reached a daemon by a watch or a list: all of a kind up to a revision.
#[derive(Clone, Debug)]
pub struct News {
    /// When.
    pub at: Timestamp,
    /// The kind, such as `pods`.
    pub plural: String,
    /// The revision.
    pub revision: u64,
}

/// How a write set out.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When.
    pub at: Timestamp,
    /// How much news its sender had had by then.
    pub news: usize,
    /// The how many-th write of all it was.
    pub turn: u64,
}

/// Up to which revision each kind was known at some moment; kinds that are not in it are known as they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Sight {
    kinds: BTreeMap<String, u64>,
    /// How much news there had been, if that is known.
    news: Option<usize>,
}

/// So many combinations of what may have been seen are looked at.
const SIGHTS_MAX: usize = 1_000;

impl Sight {
    fn of(&self, plural: &str) -> u64 {
        self.kinds.get(plural).copied().unwrap_or(u64::MAX)
    }

    /// Whether a write that set out like this may have been decided on later.
    fn is_before(&self, sent: Option<&Sent>) -> bool {
        self.news.zip(sent).is_some_and(|(news, sent)| sent.news > news)
    }
}

impl<'h> Replay<'h> {
    /// Whether a write about `node` was right by something that its sender may have known when it decided.
    pub(super) fn was_right(
        &self,
        stored: Stored<'h>,
        (node, revision): (&NodeName, u64),
        is_right: impl Fn(&Picture, Timestamp) -> bool,
    ) -> bool {
        let sent = self.history.sent.get(&stored.index);
        let at = sent.map_or(stored.write.at, |sent| sent.at);
        let sights = match (sent, self.history.news.get(&stored.write.user)) {
            (Some(sent), Some(news)) => self.told(&news[..sent.news.min(news.len())], at),
            _ => self.guessed(node, at, revision),
        };
        sights.iter().any(|sight| is_right(&self.as_seen(stored, sight, revision), at))
    }

    /// What a daemon knew at the moments before a write set out, the last first.
    fn told(&self, news: &[News], sent: Timestamp) -> Vec<Sight> {
        let from = sent - self.rules.unseen();
        let (mut sight, mut sights) = (Sight::default(), Vec::new());
        for (index, one) in news.iter().enumerate() {
            if one.at >= from && sights.is_empty() {
                sights.push(sight.clone());
            }
            sight.kinds.insert(one.plural.clone(), one.revision);
            sight.news = Some(index + 1);
            if one.at >= from {
                sights.push(sight.clone());
            }
        }
        if sights.is_empty() {
            sights.push(sight);
        }
        sights.reverse();
        sights
    }

    /// What anybody may have known of a node before a write.
    fn guessed(&self, node: &NodeName, at: Timestamp, revision: u64) -> Vec<Sight> {
        let from = at - self.rules.unseen();
        let mut revisions: [BTreeSet<u64>; 2] = Default::default();
        let mut last = [0, 0];
        for version in self.versions.iter().take_while(|version| version.revision < revision) {
            let (kind, is_about) = match &version.what {
                What::Pod(pod) | What::PodGone(pod) => (1, pod.node.as_ref() == Some(node)),
                What::Node(one, _) | What::NodeGone(one) => (0, one.name == *node),
            };
            if version.at <= from {
                last[kind] = version.revision;
            } else if is_about {
                revisions[kind].insert(version.revision);
            }
        }
        let [nodes, pods] = revisions;
        let both =
            |last: u64, more: BTreeSet<u64>| -> Vec<u64> { more.into_iter().rev().chain([last]).collect() };
        let (nodes, pods) = (both(last[0], nodes), both(last[1], pods));
        let pairs = nodes.iter().flat_map(|nodes| pods.iter().map(move |pods| (*nodes, *pods)));
        let sight = |(nodes, pods)| {
            let kinds = BTreeMap::from([("nodes".to_owned(), nodes), ("pods".to_owned(), pods)]);
            Sight { kinds, news: None }
        };
        pairs.take(SIGHTS_MAX).map(sight).collect()
    }

    /// How things were for the sender of a write with this sight, which knows besides what it wrote before.
    fn as_seen(&self, stored: Stored<'h>, sight: &Sight, revision: u64) -> Picture {
        let mut picture = Picture::default();
        let before = self.versions.iter().take_while(|version| version.revision < revision);
        for version in before.clone() {
            let kind = if matches!(version.what, What::Pod(_) | What::PodGone(_)) { "pods" } else { "nodes" };
            if version.revision <= sight.of(kind) {
                learn(&mut picture, version);
            }
        }
        for change in self.changes.iter().filter(|change| change.revision < revision) {
            if change.revision <= sight.of(change.plural()) {
                picture.owners.apply(change);
            }
        }
        for version in before {
            self.add_own(&mut picture, stored, sight, version);
        }
        picture
    }

    /// What the sender of a write has itself written before, and not seen yet.
    fn add_own(&self, picture: &mut Picture, stored: Stored<'h>, sight: &Sight, version: &Version) {
        let is_own = |other: Option<Stored<'h>>| {
            other.is_some_and(|other| other.write.user == stored.write.user && self.is_before(other, stored))
        };
        match &version.what {
            What::Pod(pod) if version.revision > sight.of("pods") => {
                let is_bound = pod.node.is_some()
                    && picture.pods.get(&pod.uid).is_none_or(|known| known.node.is_none())
                    && pod.node.as_ref().is_some_and(|node| !self.rules.contended.contains(node.as_str()));
                if is_bound && is_own(self.bindings.get(&pod.uid).copied()) {
                    picture.pods.insert(pod.uid.clone(), Arc::clone(pod));
                }
            }
            What::Node(node, _) if version.revision > sight.of("nodes") => {
                let write = self.node_writes.get(&version.revision).copied();
                let sent = write.and_then(|write| self.history.sent.get(&write.index));
                // A binding can wait for an earlier write about its pod, and what it decided on later sets out before it.
                if !is_own(write) || sight.is_before(sent) {
                    return;
                }
                let was = self.node_before(&node.name, version.revision);
                let fresh =
                    valid(node).filter(|one| was.is_none_or(|was| !valid(was).any(|old| old == *one)));
                let fresh: Vec<&Arc<Reservation>> = fresh.collect();
                if let Some(known) = picture.nodes.get(&node.name).filter(|known| known.uid == node.uid) {
                    let next = with(known, &fresh);
                    picture.nodes.insert(node.name.clone(), Arc::new(next));
                }
            }
            _ => {}
        }
    }

    fn node_before(&self, name: &NodeName, revision: u64) -> Option<&Arc<Node>> {
        let end = self.versions.partition_point(|version| version.revision < revision);
        self.versions[..end].iter().rev().find_map(|version| match &version.what {
            What::Node(node, _) if node.name == *name => Some(node),
            _ => None,
        })
    }

    /// Whether a write set out before another one of the same sender.
    fn is_before(&self, one: Stored<'h>, other: Stored<'h>) -> bool {
        match (self.history.sent.get(&one.index), self.history.sent.get(&other.index)) {
            (Some(one), Some(other)) => one.turn < other.turn,
            _ => one.index < other.index,
        }
    }
}

/// A version is known.
fn learn(picture: &mut Picture, version: &Version) {
    match &version.what {
        What::Pod(pod) => drop(picture.pods.insert(pod.uid.clone(), Arc::clone(pod))),
        What::PodGone(pod) => drop(picture.pods.remove(&pod.uid)),
        What::Node(node, _) => drop(picture.nodes.insert(node.name.clone(), Arc::clone(node))),
        What::NodeGone(node) => drop(picture.nodes.remove(&node.name)),
    }
}

/// The reservations of a node that count.
pub fn valid(node: &Node) -> impl Iterator<Item = &Arc<Reservation>> {
    node.reservations.iter().filter_map(Parsed::valid)
}

/// The node with these reservations, in the place of those of the same name.
pub fn with(node: &Node, own: &[&Arc<Reservation>]) -> Node {
    let is_own = |one: &Parsed| one.valid().is_some_and(|one| own.iter().any(|own| own.id == one.id));
    let kept = node.reservations.iter().filter(|one| !is_own(one)).cloned();
    let reservations = kept.chain(own.iter().map(|one| Parsed::Valid(Arc::clone(one)))).collect();
    Node { reservations, ..node.clone() }
}

/// Takes a reservation off its node; what it was, if it was there.
pub fn take_off(picture: &mut Picture, node: &NodeName, id: &ReservationId) -> Option<Arc<Reservation>> {
    let known = picture.nodes.get(node)?;
    let found = valid(known).find(|one| one.id == *id).cloned()?;
    let is_it = |one: &Parsed| one.valid().is_some_and(|one| one.id == *id);
    let reservations = known.reservations.iter().filter(|one| !is_it(one)).cloned().collect();
    let next = Node { reservations, ..Node::clone(known) };
    picture.nodes.insert(node.clone(), Arc::new(next));
    Some(found)
}

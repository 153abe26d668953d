//! Every filter on every node: the raw material of all that follows.

use super::input::Input;
use super::kind::{self, Class, Kind};
use super::report::{Awaits, Blocker, Figure, Judged, Keeper, Miss, OwnerName};
use super::{evidence, fix, group, honesty, preempt, rank, verdict};
use common::api::names::DEFAULT_SCHEDULER_NAME;
use common::cluster::ledger::Entry;
use common::cluster::{Cluster, Ledger, NodeId, PodContext, Snapshot};
use common::cycle::{self, Depth, Inspection};
use common::framework::{Numbers, Reason, Rejection};
use common::model::reservation::Origin;
use common::model::{NodeName, Pod, ResourceName, Resources};
use std::borrow::Cow;
use std::sync::Arc;

/// What one node says, before it is known whether anybody wants to read it.
pub(super) struct View {
    pub(super) id: NodeId,
    pub(super) name: NodeName,
    /// What is in the way; empty if nothing is.
    pub(super) blockers: Vec<Seen>,
    /// What it has of everything that the pod asks for.
    pub(super) figures: Vec<Figure>,
}

/// One refusal, and what sort of thing it is.
pub(super) struct Seen {
    pub(super) rejection: Rejection,
    pub(super) kind: Kind,
}

/// What all nodes say.
pub(super) struct Sight {
    /// All nodes, in node order.
    pub(super) views: Vec<View>,
    /// Why the pod was rejected before any node was looked at.
    pub(super) refused: Vec<Rejection>,
    pub(super) awaits: Option<Awaits>,
    /// What a scheduler would say.
    pub(super) message: String,
}

impl View {
    pub(super) fn fits(&self) -> bool {
        self.blockers.is_empty()
    }

    /// Whether the pod could be meant for it: it has the right name, labels and taints, and is open.
    pub(super) fn is_right_kind(&self) -> bool {
        let is_wrong = |seen: &Seen| {
            let filter = seen.rejection.plugin;
            matches!(
                filter,
                "NodeName"
                    | "NodeAffinity"
                    | "TaintToleration"
                    | "NodeUnschedulable"
                    | "NodeLabel"
                    | "LabelGate"
            ) || matches!(seen.rejection.reason, Reason::Unreadable(_) | Reason::LeftOut(_))
        };
        !self.blockers.iter().any(is_wrong)
    }

    /// The classes of what is in the way, each once.
    pub(super) fn classes(&self) -> Vec<Class> {
        let mut all: Vec<Class> = self.blockers.iter().map(|seen| seen.kind.class).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// What it lacks, of each resource.
    pub(super) fn lacking(&self) -> impl Iterator<Item = &Figure> {
        self.figures.iter().filter(|figure| figure.short() > 0)
    }

    /// Whether it has the room, whatever else is in the way.
    pub(super) fn has_room(&self) -> bool {
        self.lacking().next().is_none()
    }
}

/// Asks every node, and makes of it everything but fixes.
pub(super) fn judge(cluster: &mut Cluster, input: &Input<'_>) -> Result<Judged, String> {
    let sight = look(cluster, input)?;
    let order = rank::order(&sight.views, &|_| 0);
    let preemption = preempt::look(cluster, input, &sight, &order);
    let found = fix::search(cluster, input, &sight, &order);
    let cost = |id: NodeId| found.costs.get(&id).map_or(u32::MAX, |cost| *cost as u32);
    let order = rank::order(&sight.views, &cost);
    let snapshot = cluster.snapshot(input.now);
    let pod_context = snapshot.pod_context(input.pod);
    let tell = Teller { pod_context: &pod_context, world: &snapshot };
    let (groups, folded_by) = group::groups(&sight, &order, &tell, input.options.group_by);
    // What holds for every node alike needs no ranking.
    let shown = if sight.refused.is_empty() { input.options.nodes.of(order.len()) } else { 0 };
    let misses = order.iter().take(shown).enumerate();
    let misses = misses.filter_map(|(at, index)| Some(tell.miss(sight.views.get(*index)?, at + 1))).collect();
    Ok(Judged {
        nodes: sight.views.len(),
        fits: sight.views.iter().filter(|view| view.fits()).map(|view| view.name.to_string()).collect(),
        verdict: verdict::verdict(&sight, &order, &tell),
        dominant: verdict::dominant(&sight.views),
        awaits: sight.awaits,
        groups,
        folded_by,
        misses,
        fixes: found.fixes,
        more_fixes: found.more,
        preemption,
        notes: notes(input, &sight.message),
    })
}

/// Where the scheduler's own words and ours differ.
fn notes(input: &Input<'_>, counted: &str) -> Vec<String> {
    let said = input.pod.unscheduled().map_or("", |condition| &condition.message);
    let scheduler = &input.pod.spec.scheduler_name;
    let mut notes = honesty::differences(said, counted, scheduler);
    if !input.rules.are_enforced(input.pod) && &**scheduler != DEFAULT_SCHEDULER_NAME {
        notes.push(format!("judged with kube-scheduler's default profile; {scheduler} may decide otherwise"));
    }
    notes
}

/// Asks every node.
pub(super) fn look(cluster: &mut Cluster, input: &Input<'_>) -> Result<Sight, String> {
    let snapshot = cluster.snapshot(input.now);
    let pod_context = snapshot.pod_context(input.pod);
    let registry = input.rules.of(input.pod);
    let inspection = Inspection::new(&pod_context, &snapshot, registry)?;
    let enforced = input.rules.are_enforced(input.pod);
    let mut views = Vec::with_capacity(snapshot.len());
    for ledger in snapshot.nodes() {
        let mut rejections = inspection.every_reason(ledger.id)?;
        if ledger.node.unschedulable {
            rejections.retain(|one| !matches!(&one.reason, Reason::Taint(taint) if kind::is_cordon(taint)));
        }
        let figures = figures(&pod_context, ledger, &inspection.nominated(ledger.id), enforced);
        let is_refused = !inspection.refused().is_empty();
        let seen = |rejection: Rejection| {
            let kind = if is_refused { kind::refused(&rejection) } else { kind::of(&rejection) };
            Seen { kind, rejection }
        };
        let blockers = rejections.into_iter().map(seen).collect();
        views.push(View { id: ledger.id, name: ledger.node.name.clone(), blockers, figures });
    }
    let first = cycle::judge(&pod_context, &snapshot, registry, Depth::First)?;
    let awaits = inspection.awaited()?.map(|awaited| {
        let leaving = snapshot.find(&awaited.node).and_then(|id| snapshot.ledger(id)).and_then(|ledger| {
            let own = ledger.entries.iter().filter(|entry| pod_context.may_use(&entry.reservation));
            let mut replaced = own.filter_map(|entry| entry.reservation.replaces());
            replaced.find(|replaced| ledger.pods.iter().any(|pod| pod.uid == replaced.uid))
        });
        let mut reasons: Vec<String> = awaited.rejections.iter().map(|one| kind::of(one).label).collect();
        reasons.extend(leaving.map(|replaced| format!("{} is still leaving", replaced.name)));
        reasons.dedup();
        let for_at_most = awaited.until.map(|until| until.duration_since(input.now).as_secs());
        Awaits { node: awaited.node.to_string(), because: reasons.join(", "), for_at_most }
    });
    Ok(Sight { views, refused: inspection.refused().to_vec(), awaits, message: cycle::message(&first) })
}

/// What the node has of everything that the pod asks for. Pods that are nominated there count as if they had come.
fn figures(
    pod_context: &PodContext<'_>,
    ledger: &Ledger,
    nominated: &[&Arc<Pod>],
    enforced: bool,
) -> Vec<Figure> {
    if ledger.node.problem.is_some() {
        return Vec::new();
    }
    let mut used = ledger.used.clone();
    nominated.iter().for_each(|pod| used.add_assign(&pod.spec.requests.incoming));
    let reserved = if enforced { ledger.room_for(pod_context).reserved } else { Resources::default() };
    let asks = pod_context.pod.spec.requests.incoming.iter().filter(|(_, amount)| *amount > 0);
    let figure = |(resource, asks): (ResourceName, i64)| Figure {
        numbers: Numbers {
            asks,
            allocatable: ledger.node.allocatable.get(&resource),
            used: used.get(&resource),
            reserved: reserved.get(&resource),
        },
        resource,
    };
    asks.map(figure).collect()
}

/// Puts what was seen into words, with a look at the cluster.
pub(super) struct Teller<'t> {
    pub(super) pod_context: &'t PodContext<'t>,
    pub(super) world: &'t Snapshot<'t>,
}

impl Teller<'_> {
    /// The particulars of one refusal.
    pub(super) fn evidence(&self, view: &View, seen: &Seen) -> Option<String> {
        evidence::of(&seen.rejection, self.world.ledger(view.id)?, self.pod_context, self.world)
    }

    pub(super) fn miss(&self, view: &View, rank: usize) -> Miss {
        let blocker = |seen: &Seen| Blocker {
            filter: seen.rejection.plugin,
            code: seen.kind.code.clone(),
            class: seen.kind.class,
            upstream: seen.rejection.reason.to_string(),
            label: seen.kind.label.clone(),
            evidence: self.evidence(view, seen),
            figure: figure_of(view, &seen.rejection.reason),
        };
        Miss {
            name: view.name.to_string(),
            rank,
            blockers: view.blockers.iter().map(blocker).collect(),
            figures: view.figures.clone(),
            keeps: self.keeps(view),
        }
    }

    /// The reservations on the node that keep something that the pod lacks there.
    pub(super) fn keeps(&self, view: &View) -> Vec<Keeper> {
        let Some(ledger) = self.world.ledger(view.id) else { return Vec::new() };
        // What is not enforced is in nobody's way, but worth knowing where there is too little.
        let lacking: Vec<&ResourceName> = view.lacking().map(|figure| &figure.resource).collect();
        let keeper = |(entry, held): &(&Entry, Cow<'_, Resources>)| {
            let held = held.iter().filter(|(resource, held)| *held > 0 && lacking.contains(&resource));
            Keeper {
                name: reservation_name(&entry.reservation.id),
                owner: owner(entry, self.world),
                keeps: held.collect(),
                expires: entry.reservation.expires(),
            }
        };
        let room = ledger.room_for(self.pod_context);
        let all = room.kept.iter().map(keeper);
        all.filter(|keeper| !keeper.keeps.is_empty()).collect()
    }
}

/// The numbers of a refusal that is about an amount.
fn figure_of(view: &View, reason: &Reason) -> Option<Figure> {
    let resource = match reason {
        Reason::TooManyPods(_) => ResourceName::Pods,
        Reason::Insufficient { resource, .. } => resource.clone(),
        _ => return None,
    };
    view.figures.iter().find(|figure| figure.resource == resource).cloned()
}

/// What `list` calls a reservation.
pub(super) fn reservation_name(id: &common::model::ReservationId) -> String {
    id.seat.as_ref().map_or_else(|| id.owner.to_string(), |seat| seat.as_str().to_owned())
}

/// The owner: the recorded one, or whatever has the UID that somebody wrote by hand.
pub(super) fn owner(entry: &Entry, world: &Snapshot<'_>) -> Option<OwnerName> {
    match &entry.reservation.origin {
        Origin::Recorded(record) => Some(OwnerName::new(&record.owner)),
        Origin::Manual | Origin::Newer { .. } => {
            world.owner(&entry.reservation.id.owner).as_ref().map(OwnerName::new)
        }
    }
}

//! Runs every filter on every node ([`run_filters`]), and makes the analysis from the results ([`analyse_nodes`]).

use super::input::Input;
use super::kind::RejectionKind;
use super::report::{AwaitedNode, Blocker, BlockingReservation, Figure, Miss, NodeAnalysis, OwnerName};
use super::{evidence, fix, group, preempt, rank, scheduler_message, verdict};
use common::api::names::DEFAULT_SCHEDULER_NAME;
use common::cluster::ledger::Entry;
use common::cluster::{Cluster, Ledger, NodeId, PodContext, Snapshot};
use common::cycle::{self, Depth, Inspection};
use common::framework::{BlockerClass, Numbers, Reason, RefusalCode, Registry, Rejection};
use common::model::reservation::Origin;
use common::model::{NodeName, Pod, ResourceName, Resources};
use std::borrow::Cow;
use std::sync::Arc;

pub(super) struct NodeResult {
    pub(super) id: NodeId,
    pub(super) name: NodeName,
    /// The rejections; empty if the pod fits.
    pub(super) blockers: Vec<ClassifiedRejection>,
    /// The node's amounts of every resource that the pod requests.
    pub(super) figures: Vec<Figure>,
}

/// A rejection with its code, class and label.
pub(super) struct ClassifiedRejection {
    pub(super) rejection: Rejection,
    pub(super) kind: RejectionKind,
}

/// The results of all filters on all nodes.
pub(super) struct FilterResults {
    pub(super) nodes: Vec<NodeResult>,
    /// The rejections of PreFilter plugins, which concern all nodes.
    pub(super) refused: Vec<Rejection>,
    pub(super) awaited_node: Option<AwaitedNode>,
    /// The message that a scheduler would write.
    pub(super) message: String,
}

impl NodeResult {
    pub(super) fn fits(&self) -> bool {
        self.blockers.is_empty()
    }

    /// Whether the node is of a kind that the pod accepts: name, labels and taints match, and it is not cordoned.
    pub(super) fn is_right_kind(&self) -> bool {
        let is_wrong = |blocker: &ClassifiedRejection| {
            let reason = &blocker.rejection.reason;
            matches!(
                reason,
                Reason::OtherNode
                    | Reason::Unschedulable
                    | Reason::Taint(_)
                    | Reason::Unreadable(_)
                    | Reason::ExcludedByPreFilter(_)
            ) || matches!(
                reason.code(),
                RefusalCode::NodeAffinity
                    | RefusalCode::SchedulerAffinity
                    | RefusalCode::NodeLabel
                    | RefusalCode::LabelGate
            )
        };
        !self.blockers.iter().any(is_wrong)
    }

    pub(super) fn classes(&self) -> Vec<BlockerClass> {
        let mut all: Vec<BlockerClass> = self.blockers.iter().map(|blocker| blocker.kind.class).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The resources of which it has too little.
    pub(super) fn lacking(&self) -> impl Iterator<Item = &Figure> {
        self.figures.iter().filter(|figure| figure.short() > 0)
    }

    /// Whether it has enough of every resource, whatever other blockers there are.
    pub(super) fn has_room(&self) -> bool {
        self.lacking().next().is_none()
    }
}

/// Runs all filters and makes the whole analysis: verdict, groups, nearest misses, fixes, preemption.
pub(super) fn analyse_nodes(cluster: &mut Cluster, input: &Input<'_>) -> Result<NodeAnalysis, String> {
    let filter_results = run_filters(cluster, input)?;
    let order = rank::order(&filter_results.nodes, &|_| 0);
    // The verdict does not depend on the fixes, so that the overview, which looks for none, names the same cause.
    let (verdict, cause) = {
        let order = rank::order(&filter_results.nodes, &rank::usual_cost);
        let snapshot = cluster.snapshot(input.now);
        let context = snapshot.context(input.pod);
        let registry = input.rules.of(input.pod);
        let describer = NodeDescriber { context: &context, snapshot: &snapshot, registry };
        verdict::verdict(&filter_results, &order, &describer)
    };
    let preemption = preempt::find(cluster, input, &filter_results, &order);
    let found = fix::search(cluster, input, &filter_results, &order);
    let cost = |result: &NodeResult| found.costs.get(&result.id).map_or(u32::MAX, |cost| *cost as u32);
    let order = rank::order(&filter_results.nodes, &cost);
    let snapshot = cluster.snapshot(input.now);
    let context = snapshot.context(input.pod);
    let registry = input.rules.of(input.pod);
    let describer = NodeDescriber { context: &context, snapshot: &snapshot, registry };
    let (groups, grouped_by) = group::groups(&filter_results, &order, &describer, input.options.group_by);
    // If a PreFilter plugin rejects the pod, the reason is the same for every node, and no ranking is needed.
    let shown = if filter_results.refused.is_empty() { input.options.nodes.of(order.len()) } else { 0 };
    let misses = order.iter().take(shown).enumerate();
    let misses = misses
        .filter_map(|(at, index)| Some(describer.miss(filter_results.nodes.get(*index)?, at + 1)))
        .collect();
    Ok(NodeAnalysis {
        finding: None,
        copies: None,
        nodes: filter_results.nodes.len(),
        fits: filter_results
            .nodes
            .iter()
            .filter(|result| result.fits())
            .map(|result| result.name.to_string())
            .collect(),
        verdict,
        cause,
        dominant: verdict::dominant(&filter_results.nodes),
        awaited_node: filter_results.awaited_node,
        groups,
        grouped_by,
        misses,
        fixes: found.fixes,
        more_fixes: found.more,
        preemption,
        notes: notes(input, &filter_results.message),
    })
}

/// Notes for the user: differences from the scheduler's own message, and which plugins were assumed.
fn notes(input: &Input<'_>, counted: &str) -> Vec<String> {
    let message = input.pod.unscheduled().map_or("", |condition| &condition.message);
    let scheduler = &input.pod.spec.scheduler_name;
    let mut notes = scheduler_message::differences(message, counted, scheduler);
    if !input.rules.are_enforced(input.pod) && &**scheduler != DEFAULT_SCHEDULER_NAME {
        notes.push(format!("judged with kube-scheduler's default profile; {scheduler} may decide otherwise"));
    }
    notes
}

/// Runs every filter on every node.
pub(super) fn run_filters(cluster: &mut Cluster, input: &Input<'_>) -> Result<FilterResults, String> {
    let snapshot = cluster.snapshot(input.now);
    let context = snapshot.context(input.pod);
    let registry = input.rules.of(input.pod);
    let inspection = Inspection::new(&context, &snapshot, registry)?;
    let enforced = input.rules.are_enforced(input.pod);
    let mut nodes = Vec::with_capacity(snapshot.len());
    for ledger in snapshot.nodes() {
        let mut rejections = inspection.every_reason(ledger.id)?;
        if ledger.node.unschedulable {
            let is_cordon = |reason: &Reason| reason.code() == RefusalCode::Cordoned;
            rejections.retain(|one| !(matches!(one.reason, Reason::Taint(_)) && is_cordon(&one.reason)));
        }
        let figures = figures(&context, ledger, &inspection.nominated(ledger.id), enforced);
        let is_refused = !inspection.pre_filter_rejections().is_empty();
        let blocker = |rejection: Rejection| {
            let of = if is_refused { RejectionKind::of_pre_filter } else { RejectionKind::of_filter };
            ClassifiedRejection { kind: of(&rejection), rejection }
        };
        let blockers = rejections.into_iter().map(blocker).collect();
        nodes.push(NodeResult { id: ledger.id, name: ledger.node.name.clone(), blockers, figures });
    }
    let first = cycle::diagnose(&context, &snapshot, registry, Depth::First)?;
    let awaited_node = inspection.node_wait()?.map(|awaited| {
        let leaving = snapshot.find(&awaited.node).and_then(|id| snapshot.ledger(id)).and_then(|ledger| {
            let own = ledger.entries.iter().filter(|entry| context.may_use(&entry.reservation));
            let mut replaced = own.filter_map(|entry| entry.reservation.replaces());
            replaced.find(|replaced| ledger.pods.iter().any(|pod| pod.uid == replaced.uid))
        });
        let mut reasons: Vec<String> =
            awaited.rejections.iter().map(|one| RejectionKind::of_filter(one).label).collect();
        reasons.extend(leaving.map(|replaced| format!("{} is still leaving", replaced.name)));
        reasons.dedup();
        let for_at_most = awaited.until.map(|until| until.duration_since(input.now).as_secs());
        AwaitedNode { node: awaited.node.to_string(), because: reasons.join(", "), for_at_most }
    });
    Ok(FilterResults {
        nodes,
        refused: inspection.pre_filter_rejections().to_vec(),
        awaited_node,
        message: cycle::message(&first),
    })
}

/// The node's amounts of every resource that the pod requests. Pods that are nominated to the node count as bound to it.
fn figures(
    context: &PodContext<'_>,
    ledger: &Ledger,
    nominated: &[&Arc<Pod>],
    enforced: bool,
) -> Vec<Figure> {
    if ledger.node.problem.is_some() {
        return Vec::new();
    }
    let mut used = ledger.used.clone();
    nominated.iter().for_each(|pod| used.add_assign(&pod.spec.requests.incoming));
    let reserved = if enforced { ledger.room_for(context).reserved } else { Resources::default() };
    let asks = context.pod.spec.requests.incoming.iter().filter(|(_, amount)| *amount > 0);
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

/// Describes results: finds out which taint, pod, volume or reservation they are about.
pub(super) struct NodeDescriber<'t> {
    pub(super) context: &'t PodContext<'t>,
    pub(super) snapshot: &'t Snapshot<'t>,
    pub(super) registry: &'t Registry,
}

impl NodeDescriber<'_> {
    pub(super) fn evidence(&self, result: &NodeResult, blocker: &ClassifiedRejection) -> Option<String> {
        let ledger = self.snapshot.ledger(result.id)?;
        evidence::of(&blocker.rejection, ledger, self.context, self.snapshot, self.registry)
    }

    pub(super) fn miss(&self, result: &NodeResult, rank: usize) -> Miss {
        let blocker = |blocker: &ClassifiedRejection| Blocker {
            filter: blocker.rejection.plugin,
            code: blocker.kind.code_name.clone(),
            class: blocker.kind.class,
            upstream: blocker.rejection.reason.to_string(),
            label: blocker.kind.label.clone(),
            evidence: self.evidence(result, blocker),
            figure: figure_of(result, &blocker.rejection.reason),
        };
        Miss {
            name: result.name.to_string(),
            rank,
            blockers: result.blockers.iter().map(blocker).collect(),
            figures: result.figures.clone(),
            reservations: self.blocking_reservations(result),
        }
    }

    /// The reservations on the node that hold a resource of which the pod finds too little there.
    pub(super) fn blocking_reservations(&self, result: &NodeResult) -> Vec<BlockingReservation> {
        let Some(ledger) = self.snapshot.ledger(result.id) else { return Vec::new() };
        // Reservations that are not enforced block nobody, but the user should know of them where room is short.
        let lacking: Vec<&ResourceName> = result.lacking().map(|figure| &figure.resource).collect();
        let reservation = |(entry, held): &(&Entry, Cow<'_, Resources>)| {
            let held = held.iter().filter(|(resource, held)| *held > 0 && lacking.contains(&resource));
            BlockingReservation {
                name: reservation_name(&entry.reservation.id),
                owner: owner(entry, self.snapshot),
                amounts: held.collect(),
                expires: entry.reservation.expires(),
            }
        };
        let room = ledger.room_for(self.context);
        let all = room.kept.iter().map(reservation);
        all.filter(|reservation| !reservation.amounts.is_empty()).collect()
    }
}

/// The numbers of a rejection that is about an amount.
fn figure_of(result: &NodeResult, reason: &Reason) -> Option<Figure> {
    let resource = match reason {
        Reason::TooManyPods(_) => ResourceName::Pods,
        Reason::Insufficient { resource, .. } => resource.clone(),
        _ => return None,
    };
    result.figures.iter().find(|figure| figure.resource == resource).cloned()
}

/// The name of a reservation, as `list` shows it.
pub(super) fn reservation_name(id: &common::model::ReservationId) -> String {
    id.seat.as_ref().map_or_else(|| id.owner.to_string(), |seat| seat.as_str().to_owned())
}

/// The owner of a reservation: from its record, or, for one without a record, the object with the owner's UID.
pub(super) fn owner(entry: &Entry, snapshot: &Snapshot<'_>) -> Option<OwnerName> {
    match &entry.reservation.origin {
        Origin::Recorded(record) => Some(OwnerName::new(&record.owner)),
        Origin::Manual | Origin::Newer { .. } => {
            snapshot.owner(&entry.reservation.id.owner).as_ref().map(OwnerName::new)
        }
    }
}

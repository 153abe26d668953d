//! The single changes that could help on one node, according to its blockers. Entry point: [`of`].

use super::request;
use crate::explain::input::Input;
use crate::explain::judge::{NodeResult, owner, reservation_name};
use crate::explain::report::{Cost, OwnerName};
use crate::explain::trial::Edit;
use crate::reservations::is_gone;
use common::cluster::ledger::Entry;
use common::cluster::{Cluster, Snapshot};
use common::framework::{Reason, RefusalCode, UnmetRequirement};
use common::model::requirement::Operator;
use common::model::{Node, NodeName, OwnerKind, Pod};
use common::plugins::node_affinity::unmet_requirements;
use common::plugins::taint_toleration::untolerated_taints;
use jiff::{SignedDuration, Timestamp};

/// Labels that state facts about a node, so that changing them is no fix.
const FACTS: [&str; 10] = [
    "kubernetes.io/hostname",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "node.kubernetes.io/instance-type",
];

/// The maximum number of labels that are corrected at once.
const LABELS: usize = 2;

/// A reservation that ends within this time is worth waiting for.
const DUE: SignedDuration = SignedDuration::from_mins(15);

/// A single change that could help.
pub(super) struct Proposal {
    pub(super) edit: Edit,
    pub(super) cost: Cost,
    /// The reservation that would be released, if it is [`Edit::Release`].
    pub(super) reservation: Option<ReleaseDetails>,
    /// The number of running pods that would be recreated, if it is [`Edit::Request`].
    pub(super) restarts: usize,
}

/// The particulars of a reservation that would be released.
#[derive(Clone)]
pub(super) struct ReleaseDetails {
    pub(super) name: String,
    pub(super) owner: Option<OwnerName>,
    pub(super) is_manual: bool,
    pub(super) expires: Option<Timestamp>,
}

impl Proposal {
    fn new(edit: Edit, cost: Cost) -> Self {
        Self { edit, cost, reservation: None, restarts: 0 }
    }

    /// Whether nothing is done: a reservation ends by itself.
    pub(super) fn is_wait(&self) -> bool {
        self.cost == Cost::Time
    }

    /// Whether both changes solve the same problem, so that a pair of them makes no sense.
    pub(super) fn is_alternative_to(&self, other: &Self) -> bool {
        match (&self.edit, &other.edit) {
            (Edit::Untaint(_, one), Edit::Tolerate(two)) | (Edit::Tolerate(one), Edit::Untaint(_, two)) => {
                one == two
            }
            // Lower requests roll the workload out, and the new pod would not have the toleration.
            (Edit::Request(_), Edit::Request(_) | Edit::Tolerate(_))
            | (Edit::Tolerate(_), Edit::Request(_)) => true,
            _ => false,
        }
    }
}

/// The labels that the node would need for the pod; `None` if they cannot be corrected.
pub(super) fn correctable(pod: &Pod, node: &Node) -> Option<Vec<(String, Option<String>)>> {
    let unmet = unmet_requirements(pod, node);
    let is_fact = |one: &UnmetRequirement| FACTS.contains(&&*one.requirement.key);
    if unmet.len() > LABELS || unmet.iter().any(is_fact) {
        return None;
    }
    let mut labels: Vec<(String, Option<String>)> = Vec::new();
    for one in unmet {
        let value = value_that_meets(&one)?;
        let key = one.requirement.key.to_string();
        match labels.iter_mut().find(|(known, _)| *known == key) {
            // A label has one value. A requirement that only excludes the old value is met by any new value.
            Some((_, known)) => *known = known.take().or(value),
            None => labels.push((key, value)),
        }
    }
    Some(labels)
}

/// The value that the label would need; `Some(None)`: it would have to be removed; `None`: unknown.
fn value_that_meets(unmet: &UnmetRequirement) -> Option<Option<String>> {
    match unmet.requirement.operator {
        _ if unmet.is_field => None,
        Operator::In => unmet.requirement.values.first().map(|value| Some(value.to_string())),
        Operator::Exists => Some(Some("true".to_owned())),
        Operator::NotIn | Operator::DoesNotExist => Some(None),
        Operator::Gt | Operator::Lt | Operator::Other => None,
    }
}

/// The single changes that could help on the node. `running` is the number of pods of the workload that run already.
pub(super) fn of(
    cluster: &mut Cluster,
    input: &Input<'_>,
    result: &NodeResult,
    running: usize,
) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    let snapshot = cluster.snapshot(input.now);
    let Some(ledger) = snapshot.ledger(result.id) else { return proposals };
    let name = &result.name;
    if result.blockers.iter().any(|blocker| matches!(blocker.rejection.reason, Reason::Unschedulable)) {
        proposals.push(Proposal::new(Edit::Uncordon(name.clone()), Cost::None));
    }
    let labels = correctable(input.pod, &ledger.node).filter(|labels| !labels.is_empty());
    // Whoever chose the label may rely on it: DaemonSets remove their pods from a node of another label.
    proposals.extend(labels.map(|labels| Proposal::new(Edit::Label(name.clone(), labels), Cost::Opens)));
    for taint in untolerated_taints(input.pod, &ledger.node) {
        // Kubernetes sets these taints again as long as the node has the condition.
        if RefusalCode::of_taint(taint) == RefusalCode::Taint {
            proposals.push(Proposal::new(Edit::Tolerate(taint.clone()), Cost::Policy));
            proposals.push(Proposal::new(Edit::Untaint(name.clone(), taint.clone()), Cost::Opens));
        }
    }
    if input.rules.are_enforced(input.pod) {
        let context = snapshot.context(input.pod);
        let kept = ledger.room_for(&context).kept;
        proposals.extend(kept.iter().flat_map(|(entry, _)| releases(entry, name, &snapshot, input)));
    }
    let amounts = request::largest_fitting(result);
    if !amounts.is_empty() && request::command(input, &snapshot, &amounts).is_some() {
        let cost = if running == 0 { Cost::Requests } else { Cost::Rollout };
        proposals.push(Proposal { restarts: running, ..Proposal::new(Edit::Request(amounts), cost) });
    }
    proposals
}

/// The ways to get at what a reservation keeps: to wait for its end, if that is near, and to release it.
fn releases(entry: &Entry, node: &NodeName, snapshot: &Snapshot<'_>, input: &Input<'_>) -> Vec<Proposal> {
    let reservation = &entry.reservation;
    let details = ReleaseDetails {
        name: reservation_name(&reservation.id),
        owner: owner(entry, snapshot),
        is_manual: reservation.is_manual(),
        expires: reservation.expires(),
    };
    let proposal = |cost| Proposal {
        edit: Edit::Release(node.clone(), reservation.id.clone()),
        cost,
        reservation: Some(details.clone()),
        restarts: 0,
    };
    let is_due = details.expires.is_some_and(|at| at <= input.now + DUE);
    let wait = is_due.then(|| proposal(Cost::Time));
    let release = proposal(if is_orphan(entry, snapshot) { Cost::None } else { Cost::Reservation });
    wait.into_iter().chain([release]).collect()
}

/// Whether it is certain that the owner does not exist.
fn is_orphan(entry: &Entry, snapshot: &Snapshot<'_>) -> bool {
    let all_read = || OwnerKind::ALL.into_iter().all(|kind| snapshot.owners().is_readable(kind));
    match entry.reservation.record() {
        Some(record) => is_gone(&record.owner, snapshot),
        None => snapshot.owner(&entry.reservation.id.owner).is_none() && all_read(),
    }
}

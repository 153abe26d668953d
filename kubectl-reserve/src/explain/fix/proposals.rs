//! The single changes that could help on one node, according to its blockers. Entry point: [`of`].

use super::request;
use crate::explain::input::Input;
use crate::explain::judge::{NodeResult, owner, reservation_name};
use crate::explain::report::{Cost, OwnerName};
use crate::explain::trial::Edit;
use common::cluster::Cluster;
use common::cluster::ledger::Entry;
use common::framework::{Reason, RefusalCode, UnmetRequirement};
use common::model::requirement::Operator;
use common::model::{Node, Pod};
use common::plugins::node_affinity::unmet_requirements;
use common::plugins::taint_toleration::untolerated_taints;
use jiff::Timestamp;

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

/// A single change that could help.
pub(super) struct Proposal {
    pub(super) edit: Edit,
    pub(super) cost: Cost,
    /// The reservation that would be released, if it is [`Edit::Release`].
    pub(super) reservation: Option<ReleaseDetails>,
}

/// The particulars of a reservation that would be released.
pub(super) struct ReleaseDetails {
    pub(super) name: String,
    pub(super) owner: Option<OwnerName>,
    pub(super) is_manual: bool,
    pub(super) expires: Option<Timestamp>,
}

impl Proposal {
    fn new(edit: Edit, cost: Cost) -> Self {
        Self { edit, cost, reservation: None }
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

/// The single changes that could help on the node.
pub(super) fn of(cluster: &mut Cluster, input: &Input<'_>, result: &NodeResult) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    let snapshot = cluster.snapshot(input.now);
    let Some(ledger) = snapshot.ledger(result.id) else { return proposals };
    let name = &result.name;
    if result.blockers.iter().any(|blocker| matches!(blocker.rejection.reason, Reason::Unschedulable)) {
        proposals.push(Proposal::new(Edit::Uncordon(name.clone()), Cost::None));
    }
    let labels = correctable(input.pod, &ledger.node).filter(|labels| !labels.is_empty());
    proposals.extend(labels.map(|labels| Proposal::new(Edit::Label(name.clone(), labels), Cost::None)));
    for taint in untolerated_taints(input.pod, &ledger.node) {
        // Kubernetes sets these taints again as long as the node has the condition.
        if RefusalCode::of_taint(taint) == RefusalCode::Taint {
            proposals.push(Proposal::new(Edit::Tolerate(taint.clone()), Cost::Policy));
            proposals.push(Proposal::new(Edit::Untaint(name.clone(), taint.clone()), Cost::Opens));
        }
    }
    if input.rules.are_enforced(input.pod) {
        let context = snapshot.context(input.pod);
        let release = |entry: &Entry| {
            let owner = owner(entry, &snapshot);
            let cost = if owner.is_none() { Cost::None } else { Cost::Reservation };
            let released = ReleaseDetails {
                name: reservation_name(&entry.reservation.id),
                owner,
                is_manual: entry.reservation.is_manual(),
                expires: entry.reservation.expires(),
            };
            let edit = Edit::Release(name.clone(), entry.reservation.id.clone());
            Proposal { edit, cost, reservation: Some(released) }
        };
        proposals.extend(ledger.room_for(&context).kept.iter().map(|(entry, _)| release(entry)));
    }
    let amounts = request::largest_fitting(result);
    if !amounts.is_empty() && request::command(input, &snapshot, &amounts).is_some() {
        proposals.push(Proposal::new(Edit::Request(amounts), Cost::Rollout));
    }
    proposals
}

//! The single changes that could help on one node, by what is in the way there.

use super::request;
use crate::explain::input::Input;
use crate::explain::judge::{View, owner, reservation_name};
use crate::explain::kind;
use crate::explain::report::{Cost, OwnerName};
use crate::explain::trial::Edit;
use crate::explain::words;
use common::cluster::Cluster;
use common::cluster::ledger::Entry;
use common::framework::Reason;
use common::model::{Node, Pod};
use jiff::Timestamp;

/// Labels that say what a node is, which nobody can correct.
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

/// Labels that are corrected at once.
const LABELS: usize = 2;

/// A single change that could help.
pub(super) struct Atom {
    pub(super) edit: Edit,
    pub(super) cost: Cost,
    /// Particulars of a reservation that would be released.
    pub(super) reservation: Option<Released>,
}

/// A reservation that would be released.
pub(super) struct Released {
    pub(super) name: String,
    pub(super) owner: Option<OwnerName>,
    pub(super) is_manual: bool,
    pub(super) expires: Option<Timestamp>,
}

impl Atom {
    fn new(edit: Edit, cost: Cost) -> Self {
        Self { edit, cost, reservation: None }
    }

    /// Whether both change the same thing in different ways.
    pub(super) fn is_instead_of(&self, other: &Self) -> bool {
        match (&self.edit, &other.edit) {
            (Edit::Untaint(_, one), Edit::Tolerate(two)) | (Edit::Tolerate(one), Edit::Untaint(_, two)) => {
                one == two
            }
            // A workload that is rolled makes another pod, which would not tolerate anything more.
            (Edit::Request(_), Edit::Request(_) | Edit::Tolerate(_))
            | (Edit::Tolerate(_), Edit::Request(_)) => true,
            _ => false,
        }
    }
}

/// The labels that the pod misses on the node, as they would have to be; `None` if nobody can make them so.
pub(super) fn correctable(pod: &Pod, node: &Node) -> Option<Vec<(String, Option<String>)>> {
    let unmet = words::unmet(pod, node);
    let is_fact = |one: &words::Unmet| FACTS.contains(&&*one.key);
    if unmet.len() > LABELS || unmet.iter().any(is_fact) {
        return None;
    }
    let mut labels: Vec<(String, Option<String>)> = Vec::new();
    for one in unmet {
        let cure = one.cure?;
        match labels.iter_mut().find(|(key, _)| *key == one.key) {
            // One label has one value; whoever only wants another one to be gone is served by that too.
            Some((_, known)) => *known = known.take().or(cure),
            None => labels.push((one.key, cure)),
        }
    }
    Some(labels)
}

/// The changes that could help on the node.
pub(super) fn of(cluster: &mut Cluster, input: &Input<'_>, view: &View) -> Vec<Atom> {
    let mut atoms = Vec::new();
    let snapshot = cluster.snapshot(input.now);
    let Some(ledger) = snapshot.ledger(view.id) else { return atoms };
    let name = &view.name;
    if view.blockers.iter().any(|seen| matches!(seen.rejection.reason, Reason::Unschedulable)) {
        atoms.push(Atom::new(Edit::Uncordon(name.clone()), Cost::None));
    }
    let labels = correctable(input.pod, &ledger.node).filter(|labels| !labels.is_empty());
    atoms.extend(labels.map(|labels| Atom::new(Edit::Label(name.clone(), labels), Cost::None)));
    for taint in words::repelling(input.pod, &ledger.node) {
        // What Kubernetes itself says about a node would come back, and is true.
        if !kind::is_condition(taint) {
            atoms.push(Atom::new(Edit::Tolerate(taint.clone()), Cost::Policy));
            atoms.push(Atom::new(Edit::Untaint(name.clone(), taint.clone()), Cost::Opens));
        }
    }
    if input.rules.are_enforced(input.pod) {
        let pod_context = snapshot.pod_context(input.pod);
        let release = |entry: &Entry| {
            let owner = owner(entry, &snapshot);
            let cost = if owner.is_none() { Cost::None } else { Cost::Reservation };
            let released = Released {
                name: reservation_name(&entry.reservation.id),
                owner,
                is_manual: entry.reservation.is_manual(),
                expires: entry.reservation.expires(),
            };
            let edit = Edit::Release(name.clone(), entry.reservation.id.clone());
            Atom { edit, cost, reservation: Some(released) }
        };
        atoms.extend(ledger.room_for(&pod_context).kept.iter().map(|(entry, _)| release(entry)));
    }
    let amounts = request::that_fits(view);
    if !amounts.is_empty() && request::command(input, &snapshot, &amounts).is_some() {
        atoms.push(Atom::new(Edit::Request(amounts), Cost::Rollout));
    }
    atoms
}

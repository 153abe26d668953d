//! Makes a change in the `Cluster` that was read, so that all filters can run again, and undoes it when the [`Trial`] is dropped.

use super::input::Rules;
use super::words;
use common::cluster::{Cluster, Event, WatchEvent};
use common::cycle::{self, Decision, Inspection};
use common::framework::RefusalCode;
use common::model::taint::TolerationOperator;
use common::model::{
    Labels, Node, NodeName, Pod, PodKey, PodRequests, PodSpec, ReservationId, ResourceName, Taint,
    Toleration, Uid,
};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A change to the cluster or to the pod.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// The node is no longer cordoned.
    Uncordon(NodeName),
    Untaint(NodeName, Taint),
    /// The pod gets a toleration for the taint.
    Tolerate(Taint),
    /// Labels of the node are set, or removed where the value is `None`.
    Label(NodeName, Vec<(String, Option<String>)>),
    Release(NodeName, ReservationId),
    /// The pod's requests are set to these amounts.
    Request(Vec<(ResourceName, i64)>),
    /// The pod gets this priority.
    Priority(i32),
    /// Another pod is removed from its node.
    RemovePod(PodKey),
    AddNode(Box<Node>),
}

/// A cluster with changes, which are undone when this value is dropped.
pub(super) struct Trial<'c> {
    cluster: &'c mut Cluster,
    now: Timestamp,
    /// The pod, with the changes to it.
    pub(super) pod: Pod,
    /// The events that undo the changes; the last one is applied first.
    undo: Vec<Event>,
    /// The original order of the pods on each node whose pods were changed.
    order: BTreeMap<NodeName, Vec<Uid>>,
}

impl<'c> Trial<'c> {
    pub(super) fn new(cluster: &'c mut Cluster, pod: &Pod, now: Timestamp) -> Self {
        Self { cluster, now, pod: pod.clone(), undo: Vec::new(), order: BTreeMap::new() }
    }

    /// Makes a change.
    ///
    /// # Errors
    /// If there is no object of that name.
    pub(super) fn apply(&mut self, edit: &Edit) -> Result<(), String> {
        match edit {
            Edit::Uncordon(name) => self.node(name, |node| {
                node.unschedulable = false;
                let is_cordon = |taint: &&Taint| RefusalCode::of_taint(taint) == RefusalCode::Cordoned;
                node.taints = node.taints.iter().filter(|taint| !is_cordon(taint)).cloned().collect();
            }),
            Edit::Untaint(name, taint) => self.node(name, |node| {
                node.taints = node.taints.iter().filter(|own| *own != taint).cloned().collect();
            }),
            Edit::Label(name, labels) => {
                self.node(name, |node| node.labels = with_labels(&node.labels, labels))
            }
            Edit::Release(name, id) => self.node(name, |node| {
                let is_it = |id: &ReservationId, one: &common::model::reservation::ParsedReservation| {
                    one.valid().is_some_and(|own| own.id == *id)
                };
                node.reservations = node.reservations.iter().filter(|one| !is_it(id, one)).cloned().collect();
            }),
            Edit::Tolerate(taint) => {
                let more = Toleration {
                    key: taint.key.clone(),
                    operator: if taint.value.is_empty() {
                        TolerationOperator::Exists
                    } else {
                        TolerationOperator::Equal
                    },
                    value: taint.value.clone(),
                    effect: Some(taint.effect),
                };
                self.spec(|spec| {
                    spec.tolerations = spec.tolerations.iter().cloned().chain([more]).collect();
                })
            }
            Edit::Request(amounts) => {
                self.spec(|spec| spec.requests = with_requests(&spec.requests, amounts))
            }
            Edit::Priority(priority) => self.spec(|spec| spec.priority = *priority),
            Edit::RemovePod(key) => self.remove_pod(key).map(drop),
            Edit::AddNode(node) => {
                self.cluster.apply(Event::Nodes(WatchEvent::Applied((**node).clone())));
                self.undo.push(Event::Nodes(WatchEvent::Deleted((**node).clone())));
                Ok(())
            }
        }
    }

    pub(super) fn cluster(&mut self) -> &mut Cluster {
        self.cluster
    }

    /// Whether the pod fits on the node now.
    ///
    /// # Errors
    /// If a filter fails.
    pub(super) fn fits_on(&mut self, rules: &Rules, node: &NodeName) -> Result<bool, String> {
        let registry = rules.of(&self.pod);
        let snapshot = self.cluster.snapshot(self.now);
        let Some(id) = snapshot.find(node) else { return Ok(false) };
        let context = snapshot.context(&self.pod);
        let inspection = Inspection::new(&context, &snapshot, registry)?;
        Ok(inspection.fits(id)? && inspection.node_wait()?.is_none_or(|awaited| awaited.node == *node))
    }

    /// Binds the pod to a node.
    pub(super) fn place(&mut self, node: &NodeName) {
        let pod = self.pod.bound(node.clone(), None, Some(self.now));
        self.put(pod);
    }

    /// Recreates `gone`, which was removed from its node, and binds it where its scheduler would. `None` if it fits nowhere, or
    /// would come back to the same node.
    pub(super) fn recreate(&mut self, rules: &Rules, gone: &Pod) -> Option<NodeName> {
        let again = Pod {
            uid: format!("again-{}", gone.uid).into(),
            node: None,
            stamp: None,
            scheduled: None,
            nominated_node: None,
            ..gone.clone()
        };
        let snapshot = self.cluster.snapshot(self.now);
        match cycle::schedule(&again, &snapshot, rules.placing(gone)) {
            Decision::Place { node, .. } if Some(&node) != gone.node.as_ref() => {
                self.put(again.bound(node.clone(), None, Some(self.now)));
                Some(node)
            }
            _ => None,
        }
    }

    /// Adds a copy of `pod`, bound to `node`: a DaemonSet's pod on a new node.
    pub(super) fn add_copy(&mut self, pod: &Pod, node: &NodeName) {
        let name = format!("{}-on-{node}", pod.key.name);
        let key = PodKey::new(pod.key.namespace.clone(), name.as_str());
        self.put(Pod { key, uid: name.into(), node: Some(node.clone()), deleting: false, ..pod.clone() });
    }

    /// Removes a pod from the cluster, and returns it.
    pub(super) fn remove_pod(&mut self, key: &PodKey) -> Result<Arc<Pod>, String> {
        let pod = self.cluster.pod(key).cloned().ok_or_else(|| format!("there is no pod {key}"))?;
        self.remember_order(pod.node.as_ref());
        // If a pod that is being deleted vanishes, the cluster may keep its place for the replacement. That must not happen here.
        let gone = Pod { deleting: false, ..(*pod).clone() };
        self.cluster.apply(Event::Pods(WatchEvent::Applied(gone.clone())));
        self.cluster.apply(Event::Pods(WatchEvent::Deleted(gone)));
        self.undo.push(Event::Pods(WatchEvent::Applied((*pod).clone())));
        Ok(pod)
    }

    fn put(&mut self, pod: Pod) {
        let before = self.cluster.pod(&pod.key).cloned();
        self.remember_order(pod.node.as_ref());
        self.remember_order(before.as_ref().and_then(|before| before.node.as_ref()));
        self.undo.push(match before {
            Some(before) => Event::Pods(WatchEvent::Applied((*before).clone())),
            None => Event::Pods(WatchEvent::Deleted(pod.clone())),
        });
        self.cluster.apply(Event::Pods(WatchEvent::Applied(pod)));
    }

    /// Remembers the order of the pods on a node before the first change to them.
    fn remember_order(&mut self, node: Option<&NodeName>) {
        let known = node.and_then(|name| Some((name, self.cluster.ledger_of(name)?)));
        if let Some((name, ledger)) = known {
            let uids = || ledger.pods.iter().map(|pod| pod.uid.clone()).collect();
            self.order.entry(name.clone()).or_insert_with(uids);
        }
    }

    fn node(&mut self, name: &NodeName, change: impl FnOnce(&mut Node)) -> Result<(), String> {
        let known = self.cluster.ledger_of(name).map(|ledger| Arc::clone(&ledger.node));
        let known = known.ok_or_else(|| format!("there is no node {name}"))?;
        let mut node = (*known).clone();
        change(&mut node);
        self.cluster.apply(Event::Nodes(WatchEvent::Applied(node)));
        self.undo.push(Event::Nodes(WatchEvent::Applied((*known).clone())));
        Ok(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "an arm among others that can fail")]
    fn spec(&mut self, change: impl FnOnce(&mut PodSpec)) -> Result<(), String> {
        let mut spec = (*self.pod.spec).clone();
        change(&mut spec);
        self.pod.spec = Arc::new(spec);
        Ok(())
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        for event in std::mem::take(&mut self.undo).into_iter().rev() {
            self.cluster.apply(event);
        }
        for (node, uids) in std::mem::take(&mut self.order) {
            self.cluster.arrange(&node, &uids);
        }
    }
}

fn with_labels(labels: &Labels, changes: &[(String, Option<String>)]) -> Labels {
    let is_kept = |key: &str| changes.iter().all(|(changed, _)| changed != key);
    let kept = labels.iter().filter(|(key, _)| is_kept(key));
    let new = changes.iter().filter_map(|(key, value)| Some((&**key, value.as_deref()?)));
    Labels::new(kept.chain(new))
}

fn with_requests(requests: &PodRequests, amounts: &[(ResourceName, i64)]) -> PodRequests {
    let mut incoming = requests.incoming.clone();
    for (resource, amount) in amounts {
        incoming.set(resource.clone(), *amount);
    }
    let non_zero = (requests.non_zero_incoming, requests.non_zero_counted);
    PodRequests::new(incoming.clone(), incoming, non_zero.0, non_zero.1)
}

/// The object that the edit changes: `node/node-1`, `pod/web-1`.
pub(super) fn target(edit: &Edit, pod: &Pod) -> String {
    match edit {
        Edit::Uncordon(node) | Edit::Untaint(node, _) | Edit::Label(node, _) => format!("node/{node}"),
        Edit::Release(node, id) => format!("{node}/{}", super::judge::reservation_name(id)),
        Edit::Tolerate(_) | Edit::Request(_) | Edit::Priority(_) => format!("pod/{}", pod.key.name),
        Edit::RemovePod(key) => format!("pod/{}", key.name),
        Edit::AddNode(node) => format!("node/{}", node.name),
    }
}

/// The taints of the node that match `text`: `key`, `key=value` or `key=value:Effect`.
pub(super) fn taints_named<'n>(node: &'n Node, text: &str) -> Vec<&'n Taint> {
    let is_it = |taint: &&Taint| {
        let whole = words::taint(taint);
        *taint.key == *text || whole == text || whole.starts_with(&format!("{text}:"))
    };
    node.taints.iter().filter(is_it).collect()
}

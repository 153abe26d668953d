//! A change, really made in the belief that was read, so that all filters can be asked again; and taken back afterwards.

use super::input::Rules;
use super::kind;
use super::words;
use common::cluster::{Cluster, Event, Seen};
use common::cycle::{self, Decision, Inspection};
use common::model::pod::PodSpec;
use common::model::requests::PodRequests;
use common::model::taint::{Operator, Taint, Toleration};
use common::model::{Labels, Node, NodeName, Pod, PodKey, ReservationId, ResourceName, Uid};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// The node is no longer cordoned.
    Uncordon(NodeName),
    /// The node loses a taint.
    Untaint(NodeName, Taint),
    /// The pod tolerates a taint.
    Tolerate(Taint),
    /// The node gets other labels; `None` takes one away.
    Label(NodeName, Vec<(String, Option<String>)>),
    /// A reservation on the node ends.
    Release(NodeName, ReservationId),
    /// The pod asks for less, or more.
    Request(Vec<(ResourceName, i64)>),
    /// The pod has another priority.
    Priority(i32),
    /// Another pod leaves its node.
    Leave(PodKey),
    /// There is one more node.
    AddNode(Box<Node>),
}

/// A belief with changes, which are taken back when it is dropped.
pub(super) struct Trial<'c> {
    cluster: &'c mut Cluster,
    now: Timestamp,
    /// The pod, with what was changed about it.
    pub(super) pod: Pod,
    /// What brings back what was, the last first.
    undo: Vec<Event>,
    /// The order in which the pods of a node were that is not as it was.
    order: BTreeMap<NodeName, Vec<Uid>>,
}

impl<'c> Trial<'c> {
    pub(super) fn new(cluster: &'c mut Cluster, pod: &Pod, now: Timestamp) -> Self {
        Self { cluster, now, pod: pod.clone(), undo: Vec::new(), order: BTreeMap::new() }
    }

    /// Makes a change.
    ///
    /// # Errors
    /// When there is nothing of that name, in words.
    pub(super) fn apply(&mut self, edit: &Edit) -> Result<(), String> {
        match edit {
            Edit::Uncordon(name) => self.node(name, |node| {
                node.unschedulable = false;
                node.taints = node.taints.iter().filter(|taint| !kind::is_cordon(taint)).cloned().collect();
            }),
            Edit::Untaint(name, taint) => self.node(name, |node| {
                node.taints = node.taints.iter().filter(|own| *own != taint).cloned().collect();
            }),
            Edit::Label(name, labels) => self.node(name, |node| node.labels = labelled(&node.labels, labels)),
            Edit::Release(name, id) => self.node(name, |node| {
                let is_it = |id: &ReservationId, one: &common::model::reservation::Parsed| {
                    one.valid().is_some_and(|own| own.id == *id)
                };
                node.reservations = node.reservations.iter().filter(|one| !is_it(id, one)).cloned().collect();
            }),
            Edit::Tolerate(taint) => {
                let more = Toleration {
                    key: taint.key.clone(),
                    operator: if taint.value.is_empty() { Operator::Exists } else { Operator::Equal },
                    value: taint.value.clone(),
                    effect: Some(taint.effect),
                };
                self.spec(|spec| {
                    spec.tolerations = spec.tolerations.iter().cloned().chain([more]).collect();
                })
            }
            Edit::Request(amounts) => self.spec(|spec| spec.requests = asking(&spec.requests, amounts)),
            Edit::Priority(priority) => self.spec(|spec| spec.priority = *priority),
            Edit::Leave(key) => self.leave(key).map(drop),
            Edit::AddNode(node) => {
                self.cluster.apply(Event::Nodes(Seen::Applied((**node).clone())));
                self.undo.push(Event::Nodes(Seen::Deleted((**node).clone())));
                Ok(())
            }
        }
    }

    /// The belief as it is now.
    pub(super) fn cluster(&mut self) -> &mut Cluster {
        self.cluster
    }

    /// Whether the node could have the pod now.
    ///
    /// # Errors
    /// When a filter cannot say.
    pub(super) fn can_have(&mut self, rules: &Rules, node: &NodeName) -> Result<bool, String> {
        let registry = rules.of(&self.pod);
        let snapshot = self.cluster.snapshot(self.now);
        let Some(id) = snapshot.find(node) else { return Ok(false) };
        let pod_context = snapshot.pod_context(&self.pod);
        let inspection = Inspection::new(&pod_context, &snapshot, registry)?;
        Ok(inspection.can_have(id)? && inspection.awaited()?.is_none_or(|awaited| awaited.node == *node))
    }

    /// Puts the pod on a node.
    pub(super) fn place(&mut self, node: &NodeName) {
        let pod = self.pod.bound(node.clone(), None, Some(self.now));
        self.put(pod);
    }

    /// Lets `gone`, which has left its node, be made again, and puts it where its scheduler would. `None` if it has no place,
    /// or would come back.
    pub(super) fn remake(&mut self, rules: &Rules, gone: &Pod) -> Option<NodeName> {
        let again = Pod {
            uid: format!("again-{}", gone.uid).into(),
            node: None,
            stamp: None,
            scheduled: None,
            nominated: None,
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

    /// Puts another pod like `pod` on a node as well.
    pub(super) fn host(&mut self, pod: &Pod, node: &NodeName) {
        let name = format!("{}-on-{node}", pod.key.name);
        let key = PodKey::new(pod.key.namespace.clone(), name.as_str());
        self.put(Pod { key, uid: name.into(), node: Some(node.clone()), deleting: false, ..pod.clone() });
    }

    /// Lets a pod leave, and returns it.
    pub(super) fn leave(&mut self, key: &PodKey) -> Result<Arc<Pod>, String> {
        let pod = self.cluster.pod(key).cloned().ok_or_else(|| format!("there is no pod {key}"))?;
        self.note_order(pod.node.as_ref());
        // A pod that is on its way out leaves its place to whoever it is kept for; that is not what is asked here.
        let gone = Pod { deleting: false, ..(*pod).clone() };
        self.cluster.apply(Event::Pods(Seen::Applied(gone.clone())));
        self.cluster.apply(Event::Pods(Seen::Deleted(gone)));
        self.undo.push(Event::Pods(Seen::Applied((*pod).clone())));
        Ok(pod)
    }

    fn put(&mut self, pod: Pod) {
        let before = self.cluster.pod(&pod.key).cloned();
        self.note_order(pod.node.as_ref());
        self.note_order(before.as_ref().and_then(|before| before.node.as_ref()));
        self.undo.push(match before {
            Some(before) => Event::Pods(Seen::Applied((*before).clone())),
            None => Event::Pods(Seen::Deleted(pod.clone())),
        });
        self.cluster.apply(Event::Pods(Seen::Applied(pod)));
    }

    /// Keeps in mind in which order the pods of a node are, before the first of them comes or goes.
    fn note_order(&mut self, node: Option<&NodeName>) {
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
        self.cluster.apply(Event::Nodes(Seen::Applied(node)));
        self.undo.push(Event::Nodes(Seen::Applied((*known).clone())));
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

fn labelled(labels: &Labels, changes: &[(String, Option<String>)]) -> Labels {
    let is_kept = |key: &str| changes.iter().all(|(changed, _)| changed != key);
    let kept = labels.iter().filter(|(key, _)| is_kept(key));
    let new = changes.iter().filter_map(|(key, value)| Some((&**key, value.as_deref()?)));
    Labels::new(kept.chain(new))
}

fn asking(requests: &PodRequests, amounts: &[(ResourceName, i64)]) -> PodRequests {
    let mut incoming = requests.incoming.clone();
    for (resource, amount) in amounts {
        incoming.set(resource.clone(), *amount);
    }
    let non_zero = (requests.non_zero_incoming, requests.non_zero_counted);
    PodRequests::new(incoming.clone(), incoming, non_zero.0, non_zero.1)
}

/// What the edit is about, in words: `node/node-1`, `pod/default/web-1`.
pub(super) fn target(edit: &Edit, pod: &Pod) -> String {
    match edit {
        Edit::Uncordon(node) | Edit::Untaint(node, _) | Edit::Label(node, _) => format!("node/{node}"),
        Edit::Release(node, id) => format!("{node}/{}", super::judge::reservation_name(id)),
        Edit::Tolerate(_) | Edit::Request(_) | Edit::Priority(_) => format!("pod/{}", pod.key.name),
        Edit::Leave(key) => format!("pod/{}", key.name),
        Edit::AddNode(node) => format!("node/{}", node.name),
    }
}

/// The taints that `text`, `key`, `key=value` or `key=value:Effect`, means on the node.
pub(super) fn taints_named<'n>(node: &'n Node, text: &str) -> Vec<&'n Taint> {
    let is_it = |taint: &&Taint| {
        let whole = words::taint(taint);
        *taint.key == *text || whole == text || whole.starts_with(&format!("{text}:"))
    };
    node.taints.iter().filter(is_it).collect()
}

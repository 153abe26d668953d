//! The names that other programs see, each defined once: annotation keys, labels, scheduler names, namespaces.

/// The prefix of all our annotations on a node.
pub const NODE_PREFIX: &str = "reserve.";

/// Reserved cpu: `reserve.cpu/<owner-uid>[.<seat>]`.
pub const CPU: &str = "reserve.cpu";

pub const MEMORY: &str = "reserve.memory";

pub const EPHEMERAL_STORAGE: &str = "reserve.ephemeral-storage";

/// The record of a reservation, as JSON.
pub const INFO: &str = "reserve.info";

/// The prefix of all our annotations on other objects.
pub const PREFIX: &str = "reserve/";

/// On a pod: the reservation that it took, `<owner-uid>.<seat>`, written together with the binding.
pub const SEAT_STAMP: &str = "reserve/seat";

/// On a pod, a workload or a namespace: the room of recreated pods is kept. The value is `true` or a duration such as `5m`,
/// optionally followed by `#` and the id of the requester.
pub const KEEP: &str = "reserve/keep";

/// On an event: the id of the requester that it answers.
pub const ANSWERS: &str = "reserve/answers";

/// The value of `by` in the record of an automatic reservation.
pub use crate::model::reservation::AUTOMATIC;

/// The namespace of events about cluster-scoped objects, where kubectl looks for them.
pub const EVENTS_NAMESPACE: &str = "default";

/// On a pod: it is the mirror pod of a static pod.
pub const MIRROR: &str = "kubernetes.io/config.mirror";

/// On a pod: the image that its build will use. Nodes that already have the image are preferred.
pub const BUILD_IMAGE: &str = "reserve/build-image";

/// The reason in the PodScheduled condition of a pod that waits for the node on which room is reserved for it. Not `Unschedulable`,
/// because autoscalers add nodes for that reason.
pub const WAITING_FOR_RESERVED_NODE: &str = "WaitingForReservedNode";

/// The scheduler name that the daemon serves by default.
pub const SCHEDULER_NAME: &str = "reserve-scheduler";

/// kube-scheduler's own name, the default of `spec.schedulerName`.
pub const DEFAULT_SCHEDULER_NAME: &str = "default-scheduler";

/// The name of the leader's Lease, unless the configuration says otherwise.
pub const LEADER_LEASE: &str = "reserve-daemon";

/// The prefix of the name of a replica's Lease; the replica's name follows.
pub const REPLICA_PREFIX: &str = "reserve-";

/// The label by which the Leases of replicas and all deployed objects are found.
pub const APP_LABEL: &str = "app.kubernetes.io/name";

pub const APP: &str = "kubectl-reserve";

/// The label by which all deployed objects are found, but not the Leases of replicas. Its value is [`APP`].
pub const PART_LABEL: &str = "app.kubernetes.io/part-of";

/// The default namespace of the daemon.
pub const NAMESPACE: &str = "kube-reserve";

/// The namespace of the control plane, and of a daemon that runs there as a static pod.
pub const SYSTEM_NAMESPACE: &str = "kube-system";

/// On a replica's Lease: the newest `resourceVersion` of a node that it has seen, decimal.
pub const SEEN_NODES: &str = "reserve/seen-nodes";

/// On a replica's Lease: the newest `resourceVersion` of a pod that it has seen, decimal.
pub const SEEN_PODS: &str = "reserve/seen-pods";

/// On a replica's Lease: the scheduler names whose pods it schedules, separated by commas.
pub const SCHEDULERS: &str = "reserve/schedulers";

/// On a replica's Lease: the scheduler names whose pods kube-scheduler recently asked it about as an extender, separated by commas.
pub const EXTENDS: &str = "reserve/extends";

/// On a replica's Lease: whether it must not write reservations, and only enforces them; `true` or `false`.
pub const RESTRICTED: &str = "reserve/restricted";

/// On a replica's Lease: the version of the program.
pub const VERSION: &str = "reserve/version";

/// On claims and volumes: the storage class, in place of the field (beta).
pub const STORAGE_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// On a claim: its binding is complete. The value does not matter.
pub const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";

/// On a volume: a controller, not a user, set its `claimRef`. The value does not matter.
pub const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";

/// On a claim: the node for which a volume is to be provisioned.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// On a CSINode: the in-tree plugins that are migrated to CSI drivers on this node, separated by commas.
pub const MIGRATED_PLUGINS: &str = "storage.alpha.kubernetes.io/migrated-plugins";

//! Every string that others see, once: annotation keys, scheduler name, field manager.

/// What every annotation of ours on a node starts with.
pub const NODE_PREFIX: &str = "reserve.";

/// Reserved cpu: `reserve.cpu/<owner-uid>[.<seat>]`.
pub const CPU: &str = "reserve.cpu";

/// Reserved memory.
pub const MEMORY: &str = "reserve.memory";

/// Reserved ephemeral storage.
pub const EPHEMERAL_STORAGE: &str = "reserve.ephemeral-storage";

/// The record of a reservation, JSON.
pub const INFO: &str = "reserve.info";

/// What every annotation of ours on anything else starts with.
pub const PREFIX: &str = "reserve/";

/// On a pod: the reservation that it took, `<owner-uid>.<seat>`, written with its binding.
pub const SEAT_STAMP: &str = "reserve/seat";

/// On a pod, a workload or a namespace: keep the room of pods that are recreated. `true`, or for how long, as in `5m`;
/// and after a `#`, whose wish it is.
pub const KEEP: &str = "reserve/keep";

/// On an event: whose wish it answers.
pub const ANSWERS: &str = "reserve/answers";

/// Who made a reservation that nobody asked for by hand.
pub use crate::model::reservation::AUTOMATIC;

/// Where events about things without a namespace are kept, and kubectl looks for them.
pub const EVENTS_NAMESPACE: &str = "default";

/// On a pod: its kubelet made it for a file on the node.
pub const MIRROR: &str = "kubernetes.io/config.mirror";

/// On a pod: the image that it will build on, which its node had better have already.
pub const BUILD_IMAGE: &str = "reserve/build-image";

/// The reason in the PodScheduled condition of a pod that waits for a node that is kept for it. Not `Unschedulable`, by
/// which autoscalers know that more nodes would help.
pub const WAITING_FOR_RESERVED_NODE: &str = "WaitingForReservedNode";

/// The scheduler name that the daemon serves unless told otherwise.
pub const SCHEDULER_NAME: &str = "reserve-scheduler";

/// kube-scheduler's own name, which pods have unless they say otherwise.
pub const DEFAULT_SCHEDULER_NAME: &str = "default-scheduler";

/// The Lease of the replica that leads, unless the configuration says otherwise.
pub const LEADER_LEASE: &str = "reserve-daemon";

/// What the Lease of each replica is called: this, and the replica's name.
pub const REPLICA_PREFIX: &str = "reserve-";

/// The label that the Leases of replicas, and all that is deployed, are found by.
pub const APP_LABEL: &str = "app.kubernetes.io/name";

/// Its value.
pub const APP: &str = "kubectl-reserve";

/// The label that everything deployed is found by, the Leases of replicas apart. Its value is [`APP`].
pub const PART_LABEL: &str = "app.kubernetes.io/part-of";

/// The namespace of the daemon, unless it is installed elsewhere.
pub const NAMESPACE: &str = "kube-reserve";

/// The namespace of the control plane, and of a daemon that runs there as a static pod.
pub const SYSTEM_NAMESPACE: &str = "kube-system";

/// On a replica's Lease: the newest version of a node that it has seen, decimal.
pub const SEEN_NODES: &str = "reserve/seen-nodes";

/// On a replica's Lease: the newest version of a pod that it has seen, decimal.
pub const SEEN_PODS: &str = "reserve/seen-pods";

/// On a replica's Lease: the scheduler names whose pods it places, with commas between.
pub const SCHEDULERS: &str = "reserve/schedulers";

/// On a replica's Lease: the scheduler names whose pods it lately answered for as an extender, with commas between.
pub const EXTENDS: &str = "reserve/extends";

/// On a replica's Lease: whether it may not write reservations, and so only honours them; `true` or `false`.
pub const RESTRICTED: &str = "reserve/restricted";

/// On a replica's Lease: the version of the program.
pub const VERSION: &str = "reserve/version";

/// On claims and volumes of old: the storage class.
pub const STORAGE_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// On a claim: its binding is complete. The value does not matter.
pub const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";

/// On a volume: the claim that it names was chosen by a controller. The value does not matter.
pub const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";

/// On a claim: the node for which a volume is to be made.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// On a CSINode: the plugins of old that a driver has taken over there, with commas between.
pub const MIGRATED_PLUGINS: &str = "storage.alpha.kubernetes.io/migrated-plugins";

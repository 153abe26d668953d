//! What the demo tells, as data: words for the reader, commands to type, and what must have come of them.

use crate::error::Exit;
use std::time::Duration;

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// A new part begins.
    Part(&'static str),
    /// Something that the reader must know.
    Say(&'static str),
    /// A command, as a person would type it.
    Type(&'static str),
    /// A command that ends with this exit code when all is well.
    TypeFor(&'static str, Exit),
    /// What must be so before the story goes on; if it does not come about, the demo has failed.
    Until(Fact),
}

/// Something about the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fact {
    /// A pod runs there.
    Runs(&'static str, &'static str),
    /// A pod is Pending, and was told that it has no place.
    Waits(&'static str),
    /// Something is reserved on a node.
    Reserved(&'static str),
    /// Nothing is reserved on a node.
    Free(&'static str),
}

use Fact::{Free, Reserved, Runs, Waits};
use Step::{Part, Say, Type, TypeFor, Until};

pub(super) const STORY: &[Step] = &[
    Say("kubectl reserve keeps a pod's place in a full cluster while it is recreated."),
    Say("This is a small cluster inside this process. Nothing outside of it is touched."),
    Part("1. A full cluster"),
    Until(Runs("mail-0", "node-1")),
    Until(Runs("shop-0", "node-2")),
    Until(Runs("db-0", "node-3")),
    Until(Waits("batch-0")),
    Say("Three nodes with 4 CPUs each. Every pod asks for 4, so each node has one."),
    Type("kubectl get pods"),
    Say("mail-0 has node-1, shop-0 node-2, db-0 node-3. batch-0 waits for room."),
    Part("2. Without a reservation"),
    Say("mail-0 hangs, so you delete it. Its StatefulSet makes a new one."),
    Type("kubectl delete pod mail-0"),
    Until(Runs("batch-0", "node-1")),
    Until(Waits("mail-0")),
    Type("kubectl get pods"),
    Say("batch-0 was faster: it has node-1 now, and the new mail-0 has no place at all."),
    Part("3. With a reservation"),
    Say("shop-0 must be recreated too. This time its room is kept while it is away."),
    Type("kubectl reserve pod shop-0 --yes"),
    Until(Runs("shop-0", "node-2")),
    Until(Waits("mail-0")),
    Say("shop-0 is back on node-2, although mail-0 was waiting for any room at all."),
    Part("4. Kept by itself"),
    Say("One annotation, and the same happens whoever deletes a pod of db, and however."),
    Type("kubectl annotate statefulset db reserve/keep=true"),
    Type("kubectl delete pod db-0 --wait=false"),
    Until(Reserved("node-3")),
    Type("kubectl reserve list"),
    Until(Runs("db-0", "node-3")),
    Until(Free("node-3")),
    Until(Waits("mail-0")),
    Type("kubectl get pods"),
    Say("The room was reserved before db-0 was gone, and db-0 is back on node-3."),
    Part("5. Why is a pod Pending?"),
    Say("mail-0 still is. What does each node lack, and what would help?"),
    TypeFor("kubectl reserve explain mail-0", Exit::NoFit),
    Say("Fix A will do: batch-0 can wait."),
    Type("kubectl scale statefulset/batch --replicas=0 -n default"),
    Until(Runs("mail-0", "node-1")),
    Type("kubectl get pods"),
    Say("mail-0 is back on node-1."),
    Part("Now you"),
    Say("kubectl reserve sandbox    this cluster, kept running for your own kubectl"),
    Say("kubectl reserve install    the daemon in a real cluster"),
];

impl Step {
    /// How long the reader gets before it.
    pub(super) fn before(self) -> Duration {
        match self {
            Type(_) | TypeFor(..) => Duration::from_millis(200),
            Part(_) | Say(_) | Until(_) => Duration::ZERO,
        }
    }

    /// How long the reader gets after it. Our own commands say most.
    pub(super) fn after(self) -> Duration {
        match self {
            Type(line) | TypeFor(line, _) if line.starts_with("kubectl reserve") => Duration::from_secs(1),
            Type(_) | TypeFor(..) => Duration::from_millis(250),
            Say(_) => Duration::from_millis(350),
            Part(_) | Until(_) => Duration::ZERO,
        }
    }
}

impl Fact {
    /// As the end of a sentence.
    pub(super) fn words(self) -> String {
        match self {
            Runs(pod, node) => format!("{pod} runs on {node}"),
            Waits(pod) => format!("{pod} is Pending for want of room"),
            Reserved(node) => format!("something is reserved on {node}"),
            Free(node) => format!("nothing is reserved on {node} any more"),
        }
    }
}

//! The script of the demo, as data: comments for the reader, commands, and the conditions that must hold after them.

use crate::error::Exit;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DemoStep {
    /// The title of a new part.
    Heading(&'static str),
    /// A sentence for the reader.
    Comment(&'static str),
    /// A command, as a user types it.
    Command(&'static str),
    /// A command that is expected to end with this exit code.
    FailingCommand(&'static str, Exit),
    /// Waits until the condition holds; if that takes too long, the demo fails.
    WaitUntil(Condition),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    PodRuns(&'static str, &'static str),
    /// The pod is Pending, and has the reason `Unschedulable`.
    PodWaits(&'static str),
    NodeReserved(&'static str),
    NodeFree(&'static str),
}

use Condition::{NodeFree, NodeReserved, PodRuns, PodWaits};
use DemoStep::{Command, Comment, FailingCommand, Heading, WaitUntil};

pub(super) const SCRIPT: &[DemoStep] = &[
    Comment("kubectl reserve keeps a pod's place in a full cluster while it is recreated."),
    Comment("This is a small cluster inside this process. Nothing outside of it is touched."),
    Heading("1. A full cluster"),
    WaitUntil(PodRuns("mail-0", "node-1")),
    WaitUntil(PodRuns("shop-0", "node-2")),
    WaitUntil(PodRuns("db-0", "node-3")),
    WaitUntil(PodWaits("batch-0")),
    Comment("Three nodes with 4 CPUs each. Every pod asks for 4, so each node has one."),
    Command("kubectl get pods"),
    Comment("mail-0 has node-1, shop-0 node-2, db-0 node-3. batch-0 waits for room."),
    Heading("2. Without a reservation"),
    Comment("mail-0 hangs, so you delete it. Its StatefulSet makes a new one."),
    Command("kubectl delete pod mail-0"),
    WaitUntil(PodRuns("batch-0", "node-1")),
    WaitUntil(PodWaits("mail-0")),
    Command("kubectl get pods"),
    Comment("batch-0 was faster: it has node-1 now, and the new mail-0 has no place at all."),
    Heading("3. With a reservation"),
    Comment("shop-0 must be recreated too. This time its room is kept while it is away."),
    Command("kubectl reserve pod shop-0 --yes"),
    WaitUntil(PodRuns("shop-0", "node-2")),
    WaitUntil(PodWaits("mail-0")),
    Comment("shop-0 is back on node-2, although mail-0 was waiting for any room at all."),
    Heading("4. Kept by itself"),
    Comment("One annotation, and the same happens whoever deletes a pod of db, and however."),
    Command("kubectl annotate statefulset db reserve/keep=true"),
    Command("kubectl delete pod db-0 --wait=false"),
    WaitUntil(NodeReserved("node-3")),
    Command("kubectl reserve list"),
    WaitUntil(PodRuns("db-0", "node-3")),
    WaitUntil(NodeFree("node-3")),
    WaitUntil(PodWaits("mail-0")),
    Command("kubectl get pods"),
    Comment("The room was reserved before db-0 was gone, and db-0 is back on node-3."),
    Heading("5. Why is a pod Pending?"),
    Comment("mail-0 still is. What does each node lack, and what would help?"),
    FailingCommand("kubectl reserve explain mail-0", Exit::NoFit),
    Comment("Fix B will do: batch-0 can wait."),
    Command("kubectl scale statefulset/batch --replicas=0 -n default"),
    WaitUntil(PodRuns("mail-0", "node-1")),
    Command("kubectl get pods"),
    Comment("mail-0 is back on node-1."),
    Heading("Now you"),
    Comment("kubectl reserve sandbox    this cluster, kept running for your own kubectl"),
    Comment("kubectl reserve install    the daemon in a real cluster"),
];

impl DemoStep {
    pub(super) fn before(self) -> Duration {
        match self {
            Command(_) | FailingCommand(..) => Duration::from_millis(200),
            Heading(_) | Comment(_) | WaitUntil(_) => Duration::ZERO,
        }
    }

    /// The pause after the step. Our own commands print the most text.
    pub(super) fn after(self) -> Duration {
        match self {
            Command(line) | FailingCommand(line, _) if line.starts_with("kubectl reserve") => {
                Duration::from_secs(1)
            }
            Command(_) | FailingCommand(..) => Duration::from_millis(250),
            Comment(_) => Duration::from_millis(350),
            Heading(_) | WaitUntil(_) => Duration::ZERO,
        }
    }
}

impl Condition {
    /// The condition as the end of a sentence.
    pub(super) fn words(self) -> String {
        match self {
            PodRuns(pod, node) => format!("{pod} runs on {node}"),
            PodWaits(pod) => format!("{pod} is Pending for want of room"),
            NodeReserved(node) => format!("something is reserved on {node}"),
            NodeFree(node) => format!("nothing is reserved on {node} any more"),
        }
    }
}

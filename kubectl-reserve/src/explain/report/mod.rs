//! The report of an explanation, as plain values; `render/explain` makes text and JSON from them.

mod node_analysis;
mod remedy;

use super::input::Input;
use common::cluster::Snapshot;
use common::model::Resources;
use jiff::Timestamp;

pub use node_analysis::{
    AwaitedNode, Blocker, BlockingReservation, Cause, DominantReason, Figure, Member, Miss, NodeAnalysis,
    NodeGroup,
};
pub use remedy::{Cost, Fix, Harm, HigherPriority, Preemption, RequiredRight};

/// The explanation of one pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub pod_summary: PodSummary,
    /// Why it is Pending, or why it is not.
    pub conclusion: Conclusion,
    /// The message of its scheduler, from the condition `PodScheduled`.
    pub scheduler_message: Option<String>,
    pub autoscaler: Vec<AutoscalerEvent>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PodSummary {
    pub namespace: String,
    pub name: String,
    pub uid: String,
    /// The topmost owner that was found.
    pub owner: Option<OwnerName>,
    pub scheduler: String,
    /// Whether its scheduler enforces reservations.
    pub enforced: bool,
    /// Whether that is known. If not, the pod was judged as if it did not.
    pub enforcement_known: bool,
    pub priority: i32,
    pub asks: Resources,
    pub waits_since: Option<Timestamp>,
    /// When its scheduler last tried.
    pub last_try: Option<Timestamp>,
    pub now: Timestamp,
    /// The command that explains it again; `None` for a manifest from stdin.
    pub command: Option<Vec<String>>,
}

/// The owner of a pod or of a reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerName {
    pub kind: String,
    pub namespace: String,
    pub name: String,
}

/// Why a pod is Pending, or why it is not.
#[derive(Clone, Debug, PartialEq)]
pub enum Conclusion {
    Ended,
    Deleting,
    Bound(String),
    /// A PreEnqueue plugin rejects it, with this message.
    Refused(String),
    /// A plugin failed, with this message.
    Failed(String),
    /// The filters ran on every node.
    NodeAnalysis(Box<NodeAnalysis>),
    /// The pod itself explains it, without a look at the nodes.
    PodFinding(PodFinding),
}

/// A finding about the pod itself, independent of the nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodFinding {
    /// A stable word for programs.
    pub code: &'static str,
    /// A few words for people.
    pub label: String,
    /// Sentences for people.
    pub words: Vec<String>,
    /// Whether the pod is Pending and cannot be scheduled as things are.
    pub is_blocked: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutoscalerEvent {
    /// The autoscaler's name.
    pub source: String,
    pub reason: String,
    pub message: String,
    /// When it last occurred.
    pub at: Option<Timestamp>,
}

impl Report {
    /// Whether the pod is Pending and fits on no node now. A rejection before filtering counts only if the scheduler is ours; what
    /// other schedulers do with such a pod is not known.
    pub fn is_no_fit(&self) -> bool {
        match &self.conclusion {
            Conclusion::Refused(_) => self.pod_summary.enforced,
            Conclusion::NodeAnalysis(analysis) => {
                let is_found = analysis.finding.as_ref().is_some_and(|finding| finding.is_blocked);
                let is_short = analysis.copies.is_some_and(|(fit, of)| fit < of);
                is_found || is_short || analysis.fits.is_empty() || analysis.awaited_node.is_some()
            }
            Conclusion::PodFinding(finding) => finding.is_blocked,
            Conclusion::Ended | Conclusion::Deleting | Conclusion::Bound(_) | Conclusion::Failed(_) => false,
        }
    }
}

impl Report {
    /// The fixes, if the nodes were analysed.
    pub fn fixes_mut(&mut self) -> &mut [Fix] {
        match &mut self.conclusion {
            Conclusion::NodeAnalysis(analysis) => &mut analysis.fixes,
            _ => &mut [],
        }
    }

    /// All rights that the fixes require, each once.
    pub fn needs(&self) -> std::collections::BTreeSet<RequiredRight> {
        match &self.conclusion {
            Conclusion::NodeAnalysis(analysis) => {
                analysis.fixes.iter().flat_map(|fix| fix.needs.iter().cloned()).collect()
            }
            _ => std::collections::BTreeSet::new(),
        }
    }

    /// Sets for each fix whether the caller has the required rights; `has` returns `None` if it could not find out.
    pub fn note_rights(&mut self, has: impl Fn(&RequiredRight) -> Option<bool>) {
        for fix in self.fixes_mut().iter_mut().filter(|fix| !fix.needs.is_empty()) {
            fix.allowed = fix.needs.iter().try_fold(true, |all, right| Some(all && has(right)?));
        }
    }
}

impl OwnerName {
    /// `deployment/web`, as kubectl takes it.
    pub fn reference(&self) -> String {
        format!("{}/{}", self.kind.to_lowercase(), self.name)
    }

    pub fn new(owner: &common::model::Owner) -> Self {
        let text = |text: &str| text.to_owned();
        Self { kind: text(&owner.kind), namespace: text(&owner.namespace), name: text(&owner.name) }
    }
}

/// The facts about the pod that every report starts with.
pub(super) fn pod_summary(input: &Input<'_>, snapshot: &Snapshot<'_>) -> PodSummary {
    let pod = input.pod;
    let context = snapshot.context(pod);
    PodSummary {
        namespace: pod.key.namespace.to_string(),
        name: pod.key.name.to_string(),
        uid: pod.uid.to_string(),
        owner: context.top().map(|top| OwnerName::new(&top.owner())),
        scheduler: pod.spec.scheduler_name.to_string(),
        enforced: input.rules.are_enforced(pod),
        enforcement_known: input.rules.are_known_for(pod),
        priority: pod.spec.priority,
        asks: pod.spec.requests.incoming.clone(),
        waits_since: pod.created.filter(|_| pod.is_waiting()).map(|created| created.time()),
        last_try: input.last_try,
        now: input.now,
        command: command(input),
    }
}

/// The command that explains the pod again, with the flags that say where it was looked for.
fn command(input: &Input<'_>) -> Option<Vec<String>> {
    let key = &input.pod.key;
    let mut words = vec!["kubectl".to_owned(), "reserve".to_owned(), "explain".to_owned()];
    if input.manifests.is_empty() {
        words.push(key.name.to_string());
    }
    let mut flag = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
    for path in input.manifests {
        flag("-f", path.to_str().filter(|path| *path != "-")?);
    }
    flag("-n", &key.namespace);
    if let Some(path) = input.snapshot {
        flag("--snapshot", path.to_str()?);
    }
    if let Some(context) = input.context {
        flag("--context", context);
    }
    Some(words)
}

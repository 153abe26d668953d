//! Explains one pod at a time: first its own state (`pending`), then every node (`explain`). Entry point: `answers`.

use super::subject::Subject;
use super::triage;
use crate::cli::{Explain, PreemptionMode};
use crate::cluster_data::{ClusterData, Resource};
use crate::error::Failure;
use crate::explain::{
    AutoscalerEvent, Checklist, Conclusion, GroupBy, Input, Limit, Options, PodFinding, Report, Rules,
    WhatIf, WhatIfOutcome, analyse, checklist, parse_what_if, report_finding, what_if,
};
use crate::fit;
use crate::manifest::{self, ManifestPod};
use crate::pending::{self, BlockedWorkload, Causes, NO_SCHEDULER, PendingInput};
use crate::render::explain::shell;
use crate::render::picture::NodeTile;
use crate::render::plural;
use common::cluster::{Enforcement, enforcement};
use common::model::{Pod, Replica};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The components whose events say whether an autoscaler adds a node.
const AUTOSCALERS: [&str; 2] = ["cluster-autoscaler", "karpenter"];

/// The result of `explain`.
#[derive(Default)]
pub(super) struct Answers {
    /// The pods that are explained in full.
    pub(super) pods: Vec<PodAnswer>,
    /// All pending pods by cause, if no pods or workloads were named.
    pub(super) causes: Option<Causes>,
    /// The named workloads without a pending pod, in words.
    pub(super) complete_workloads: Vec<String>,
    /// The workloads whose controller cannot create pods.
    pub(super) blocked_workloads: Vec<BlockedWorkload>,
    /// The namespace that was read; `None` for all.
    pub(super) namespace: Option<String>,
    pub(super) now: Timestamp,
    /// The rights that the caller lacks to read nodes and pods.
    pub(super) needs: Vec<String>,
    /// The flags that say where was looked; printed commands repeat them.
    pub(super) flags: Vec<String>,
    /// If nothing is Pending in the namespace that was asked for: how many pods are in the others, by namespace.
    elsewhere: BTreeMap<String, usize>,
    /// The nodes, for a picture.
    pub(super) tiles: Vec<NodeTile>,
}

pub(super) struct PodAnswer {
    pub(super) report: Report,
    /// The names of other pods with the same cause.
    pub(super) others: Vec<String>,
    pub(super) outcome: Option<WhatIfOutcome>,
    /// The answers of all filters about the nodes of `--node`.
    pub(super) checklists: Vec<Checklist>,
}

/// The flags, and what is the same for all pods.
pub(super) struct Explainer<'a> {
    args: &'a Explain,
    rules: Rules,
    replicas: Vec<Replica>,
    context: Option<&'a str>,
    classes: Vec<(String, i32)>,
    changes: Vec<WhatIf>,
}

impl<'a> Explainer<'a> {
    pub(super) fn new(
        args: &'a Explain,
        data: &ClusterData,
        context: Option<&'a str>,
    ) -> Result<Self, Failure> {
        let replicas: Vec<Replica> = data.cluster.replicas().iter().cloned().collect();
        let (known, now) = (replicas.clone(), data.now);
        let rules = Rules::new(move |name| enforcement(known.iter(), name, now) != Enforcement::Nobody)
            .known(!data.unreadable.contains(&Resource::Replicas));
        let classes = data.diagnostics.priority_classes.iter();
        let classes = classes.map(|(name, class)| (name.clone(), class.value)).collect();
        let changes = args.what_if.iter().map(|text| parse_what_if(text)).collect::<Result<_, _>>();
        let changes = changes.map_err(|why| Failure::usage(format!("--what-if: {why}")))?;
        Ok(Self { args, rules, replicas, context, classes, changes })
    }

    fn options(&self, is_triage: bool) -> Options {
        // A picture shows every node, by reason.
        let is_picture = self.args.print.output.is_picture();
        let usual = Options::default();
        Options {
            // `triage` shows the nearest node that has the main cause, which may be far down the list.
            nodes: if is_triage || is_picture { Limit::All } else { self.args.nodes.unwrap_or(usual.nodes) },
            fixes: if is_triage { Limit::Most(0) } else { self.args.fixes.unwrap_or(usual.fixes) },
            group_by: if is_picture { GroupBy::Reason } else { self.args.group_by.unwrap_or(GroupBy::Auto) },
            preemption: !is_triage && self.args.consider_preemption == PreemptionMode::Auto,
        }
    }

    /// The report about one pod.
    pub(super) fn explain(
        &self,
        pod: &Pod,
        source: Option<&Value>,
        data: &mut ClusterData,
        is_triage: bool,
    ) -> Report {
        let pod = &self.with_scheduler(pod);
        let autoscaler = autoscaler(pod, data);
        let input = self.input(pod, source, data, is_triage, &autoscaler);
        let mut finding = self.finding(pod, data);
        // Who schedules the pod is half of the answer; what the nodes would say is the other half.
        let first =
            finding.take_if(|finding| finding.code == NO_SCHEDULER && data.missing_rights().is_empty());
        if let Some(finding) = finding {
            let mut report = report_finding(&mut data.cluster, &input, finding);
            // The message of a pod with scheduling gates comes from the API server, not from a scheduler.
            report.scheduler_message = report.scheduler_message.filter(|_| pod.spec.gates.is_empty());
            return report;
        }
        let mut report = analyse(&mut data.cluster, &input);
        self.annotate(pod, &mut report, data);
        if let (Some(first), Conclusion::NodeAnalysis(analysis)) = (first, &mut report.conclusion) {
            analysis.precede(first);
        }
        report
    }

    /// The report about one pod, with the results of `--node` and `--what-if`.
    pub(super) fn answer(
        &self,
        pod: &Pod,
        source: Option<&Value>,
        data: &mut ClusterData,
    ) -> Result<PodAnswer, Failure> {
        let report = self.explain(pod, source, data, false);
        let mut answer = PodAnswer { report, others: Vec::new(), outcome: None, checklists: Vec::new() };
        if !matches!(answer.report.conclusion, Conclusion::NodeAnalysis(_)) {
            return Ok(answer);
        }
        let pod = &self.with_scheduler(pod);
        let input = self.input(pod, source, data, false, &[]);
        for name in &self.args.on {
            let list = checklist(&mut data.cluster, &input, name);
            answer.checklists.push(list.map_err(|why| Failure::new(format!("--node {name}: {why}")))?);
        }
        if !self.changes.is_empty() {
            let supposed = what_if(&mut data.cluster, &input, &self.changes);
            let supposed = supposed.map_err(|why| Failure::usage(format!("--what-if: {why}")))?;
            answer.outcome = Some(supposed);
        }
        Ok(answer)
    }

    /// Says how many of the pods that a manifest asks for fit, if it asks for more than one.
    fn count_copies(&self, manifest: &ManifestPod, report: &mut Report, data: &mut ClusterData) {
        let pod = self.with_scheduler(&manifest.pod);
        let manifest = ManifestPod { pod, ..manifest.clone() };
        let Conclusion::NodeAnalysis(analysis) = &mut report.conclusion else { return };
        let result = fit::place(&mut data.cluster, &manifest, Some(manifest.replicas), &self.rules, data.now);
        if manifest.replicas > 1 {
            analysis.count_copies(result.placed, manifest.replicas, result.because);
        }
    }

    /// The flags that say where was looked.
    fn flags(&self) -> Vec<String> {
        let snapshot = self.args.snapshot.as_ref().and_then(|path| path.to_str());
        let flags = [("--snapshot", snapshot), ("--context", self.context)];
        let given = flags.into_iter().filter_map(|(flag, value)| Some([flag.to_owned(), value?.to_owned()]));
        given.flatten().collect()
    }

    fn input<'i>(
        &'i self,
        pod: &'i Pod,
        source: Option<&'i Value>,
        data: &ClusterData,
        is_triage: bool,
        autoscaler: &'i [AutoscalerEvent],
    ) -> Input<'i> {
        Input {
            pod,
            source,
            now: data.now,
            rules: &self.rules,
            options: self.options(is_triage),
            context: self.context,
            snapshot: self.args.snapshot.as_deref(),
            manifests: &self.args.filenames,
            last_try: pending::last_try(pod, &data.diagnostics),
            autoscaler,
            priority_classes: &self.classes,
        }
    }

    fn with_scheduler(&self, pod: &Pod) -> Pod {
        let mut pod = pod.clone();
        if let Some(name) = &self.args.scheduler {
            let mut spec = (*pod.spec).clone();
            spec.scheduler_name = (**name).into();
            pod.spec = Arc::new(spec);
        }
        pod
    }

    pub(super) fn finding(&self, pod: &Pod, data: &mut ClusterData) -> Option<PodFinding> {
        let needs = data.missing_rights();
        let has_events = !data.unreadable.contains(&Resource::Events) && self.args.scheduler.is_none();
        let snapshot = data.cluster.snapshot(data.now);
        let serves = |name: &str| enforcement(self.replicas.iter(), name, data.now) == Enforcement::Scheduler;
        let input = PendingInput {
            snapshot: &snapshot,
            diagnostics: &data.diagnostics,
            now: data.now,
            serves: &serves,
            has_events,
        };
        let finding = pending::pod_finding(pod, &input);
        finding.or_else(|| (!needs.is_empty()).then(nodes_unreadable))
    }

    /// Adds notes that do not follow from single nodes: a nomination, or a rollout that blocks itself.
    fn annotate(&self, pod: &Pod, report: &mut Report, data: &mut ClusterData) {
        let is_no_fit = report.is_no_fit();
        let Conclusion::NodeAnalysis(judged) = &mut report.conclusion else { return };
        if let Some(node) = &pod.nominated_node {
            judged.notes.push(format!(
                "It is nominated to {node}: pods of lower priority were asked to leave there, and it waits for them to go."
            ));
        }
        let snapshot = data.cluster.snapshot(data.now);
        let rules = self.rules.placing(pod);
        if is_no_fit
            && let Some((words, mut command)) =
                pending::rollout_deadlock(pod, &snapshot, &data.diagnostics, rules)
        {
            command.extend(
                self.context.iter().flat_map(|context| ["--context".to_owned(), (*context).to_owned()]),
            );
            judged.notes.push(format!("{words} To let one go first: {}", shell(&command)));
        }
    }
}

/// The finding for a caller who may not read nodes.
fn nodes_unreadable() -> PodFinding {
    PodFinding {
        code: NODES_UNREADABLE,
        label: "nodes cannot be seen".into(),
        words: vec!["You may not see the nodes, so it cannot be said what each of them lacks.".into()],
        is_blocked: false,
    }
}

/// The code of that finding.
pub(super) const NODES_UNREADABLE: &str = "Unseen";

fn autoscaler(pod: &Pod, data: &ClusterData) -> Vec<AutoscalerEvent> {
    let events = data.diagnostics.about("Pod", &pod.key.namespace, &pod.key.name);
    let theirs = events.into_iter().filter(|event| AUTOSCALERS.contains(&&*event.component));
    let said = theirs.map(|event| AutoscalerEvent {
        source: event.component.clone(),
        reason: event.reason.clone(),
        message: event.message.clone(),
        at: event.at,
    });
    said.take(2).collect()
}

/// The answers about everything in `subject`.
pub(super) fn answers(
    explainer: &Explainer<'_>,
    subject: &Subject,
    mut data: ClusterData,
    needs: Vec<String>,
) -> Result<Answers, Failure> {
    let namespace = Some(data.namespace.clone());
    let mut answers =
        Answers { now: data.now, needs, namespace, flags: explainer.flags(), ..Answers::default() };
    if let Some(selection) = &subject.pending {
        answers.namespace.clone_from(&selection.namespace);
        answers.causes = Some(triage::pending_pods(explainer, selection, &mut data));
        if answers.is_nothing() && selection.only.is_none() {
            answers.elsewhere = triage::pending_by_namespace(&data);
        }
        if explainer.args.print.output.is_picture() {
            triage::first_of_each_cause(explainer, &mut data, &mut answers)?;
        }
    }
    let manifest_pods =
        manifest::manifest_pods(&subject.manifests, &data.namespace, &data.diagnostics.priority_classes)?;
    if !subject.manifests.is_empty() && manifest_pods.is_empty() {
        return Err(Failure::usage("there is no pod and no workload in what -f names"));
    }
    for one in &manifest_pods {
        let answer = explainer.answer(&one.pod, Some(&one.source), &mut data)?;
        answers.pods.push(answer);
    }
    // After all answers, because the copies stay in the cluster: those of the next manifest are placed beside them, as in `fit`.
    for (one, answer) in manifest_pods.iter().zip(&mut answers.pods) {
        explainer.count_copies(one, &mut answer.report, &mut data);
    }
    for key in &subject.pods {
        if let Some(pod) = data.cluster.pod(key).cloned() {
            let source = data.diagnostics.source_of(key);
            answers.pods.push(explainer.answer(&pod, source.as_ref(), &mut data)?);
        }
    }
    for (workload, keys) in &subject.workloads {
        triage::workload(explainer, workload, keys, &mut data, &mut answers)?;
    }
    Ok(answers)
}

impl Answers {
    /// Whether at least one pod does not fit, or cannot be created.
    pub(super) fn is_blocked(&self) -> bool {
        let is_blocked = |one: &PodAnswer| match &one.outcome {
            Some(outcome) => outcome.is_no_fit(),
            None => one.report.is_no_fit(),
        };
        self.pods.iter().any(is_blocked)
            || self.causes.as_ref().is_some_and(Causes::is_blocked)
            || !self.blocked_workloads.is_empty()
    }

    /// Whether some answer is missing because the caller may not read nodes.
    pub(super) fn needs_nodes(&self) -> bool {
        let needs_nodes = |conclusion: &Conclusion| matches!(conclusion, Conclusion::PodFinding(finding) if finding.code == NODES_UNREADABLE);
        self.pods.iter().any(|one| needs_nodes(&one.report.conclusion))
            || self
                .causes
                .as_ref()
                .is_some_and(|causes| causes.groups.iter().any(|one| one.code == NODES_UNREADABLE))
    }

    /// Whether all pending pods were asked for and there are none.
    pub(super) fn is_nothing(&self) -> bool {
        self.causes.as_ref().is_some_and(Causes::is_empty)
    }

    /// The message for that, in the words of kubectl.
    pub(super) fn nothing_found(&self) -> String {
        let Some(namespace) = &self.namespace else { return "No pending pods found.".into() };
        let text = format!("No pending pods found in {namespace} namespace.");
        if self.elsewhere.is_empty() {
            return text;
        }
        let most =
            self.elsewhere.iter().max_by_key(|(_, count)| **count).map_or("", |(namespace, _)| namespace);
        let count: usize = self.elsewhere.values().sum();
        let place = match self.elsewhere.len() {
            1 => format!("in {most}"),
            several => format!("in {several} other namespaces, most of them in {most}"),
        };
        let words = ["kubectl", "reserve", "explain", "-A"].map(str::to_owned);
        let command = shell(&[&words[..], &self.flags].concat());
        format!("{text}\n{} Pending {place}: {command}", plural(count, "pod"))
    }

    /// Whether both are the same, except for the time.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let said = |answers: &Self| {
            let pods = answers.pods.iter().map(|one| {
                (one.report.conclusion.clone(), one.report.scheduler_message.clone(), one.others.clone())
            });
            (
                pods.collect::<Vec<_>>(),
                answers.complete_workloads.clone(),
                answers.blocked_workloads.clone(),
                answers.causes.clone(),
            )
        };
        said(self) == said(other)
    }
}

//! One pod at a time: its own state first, then every node.

use super::subject::Subject;
use super::triage;
use crate::cli::{Explain, Preemption};
use crate::error::Failure;
use crate::explain::{
    Answer, Autoscaler, Checklist, GroupBy, Input, Limit, Options, Outcome, Report, Rules, Stated, WhatIf,
    analyse, checklist, parse_what_if, state, what_if,
};
use crate::manifest;
use crate::pending::{self, Causes, Unmade, View};
use crate::render::explain::shell;
use crate::world::{Resource, World};
use common::cluster::{Enforcement, enforcement};
use common::model::{Pod, Replica};
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;

/// Who tells that more nodes would not help, or will come.
const AUTOSCALERS: [&str; 2] = ["cluster-autoscaler", "karpenter"];

/// Everything that was found out.
#[derive(Default)]
pub(super) struct Answers {
    /// Pods, each explained in full; and how many others are like it.
    pub(super) pods: Vec<Explained>,
    /// Everything that waits, by cause.
    pub(super) causes: Option<Causes>,
    /// Workloads that were asked for and lack nothing, in words.
    pub(super) settled: Vec<String>,
    /// Workloads that cannot make pods.
    pub(super) unmade: Vec<Unmade>,
    /// The namespace that was looked at, `None` for all.
    pub(super) namespace: Option<String>,
    pub(super) now: Timestamp,
    /// The rules that are missing to see nodes and pods.
    pub(super) needs: Vec<String>,
}

/// One pod.
pub(super) struct Explained {
    pub(super) report: Report,
    /// Pods that wait for the same.
    pub(super) others: Vec<String>,
    /// What the changes that were supposed would do.
    pub(super) outcome: Option<Outcome>,
    /// Every filter's word about the nodes that were named.
    pub(super) checklists: Vec<Checklist>,
}

/// How it is asked.
pub(super) struct Asking<'a> {
    args: &'a Explain,
    rules: Rules,
    replicas: Vec<Replica>,
    context: Option<&'a str>,
    classes: Vec<(String, i32)>,
    changes: Vec<WhatIf>,
}

impl<'a> Asking<'a> {
    pub(super) fn new(args: &'a Explain, world: &World, context: Option<&'a str>) -> Result<Self, Failure> {
        let replicas: Vec<Replica> = world.cluster.replicas().iter().cloned().collect();
        let (known, now) = (replicas.clone(), world.now);
        let rules = Rules::new(move |name| enforcement(known.iter(), name, now) != Enforcement::Nobody);
        let classes = world.notes.priority_classes.iter();
        let classes = classes.map(|(name, class)| (name.clone(), class.value)).collect();
        let changes = args.what_if.iter().map(|text| parse_what_if(text)).collect::<Result<_, _>>();
        let changes = changes.map_err(|why| Failure::usage(format!("--what-if: {why}")))?;
        Ok(Self { args, rules, replicas, context, classes, changes })
    }

    fn options(&self, is_triage: bool) -> Options {
        Options {
            // Of many pods the nearest node is told, and that may be far down: see `triage`.
            nodes: if is_triage { Limit::All } else { self.args.nodes },
            fixes: if is_triage { Limit::Most(0) } else { self.args.fixes },
            group_by: self.args.group_by.unwrap_or(GroupBy::Auto),
            preemption: !is_triage && self.args.consider_preemption == Preemption::Auto,
        }
    }

    /// Everything about one pod.
    pub(super) fn explain(
        &self,
        pod: &Pod,
        source: Option<&Value>,
        world: &mut World,
        is_triage: bool,
    ) -> Report {
        let pod = &self.as_asked(pod);
        let autoscaler = autoscaler(pod, world);
        let input = self.input(pod, source, world, is_triage, &autoscaler);
        if let Some(stated) = self.stated(pod, world) {
            let mut report = state(&mut world.cluster, &input, stated);
            // Whatever a gated pod was told came from the API server.
            report.said = report.said.filter(|_| pod.spec.gates.is_empty());
            return report;
        }
        let mut report = analyse(&mut world.cluster, &input);
        self.annotate(pod, &mut report, world);
        report
    }

    /// The same, with what was asked about single nodes and supposed changes.
    pub(super) fn explained(
        &self,
        pod: &Pod,
        source: Option<&Value>,
        world: &mut World,
    ) -> Result<Explained, Failure> {
        let report = self.explain(pod, source, world, false);
        let mut explained = Explained { report, others: Vec::new(), outcome: None, checklists: Vec::new() };
        if !matches!(explained.report.answer, Answer::Judged(_)) {
            return Ok(explained);
        }
        let pod = &self.as_asked(pod);
        let input = self.input(pod, source, world, false, &[]);
        for name in &self.args.on {
            let list = checklist(&mut world.cluster, &input, name);
            explained.checklists.push(list.map_err(|why| Failure::new(format!("--node {name}: {why}")))?);
        }
        if !self.changes.is_empty() {
            let supposed = what_if(&mut world.cluster, &input, &self.changes);
            let supposed = supposed.map_err(|why| Failure::usage(format!("--what-if: {why}")))?;
            explained.outcome = Some(supposed);
        }
        Ok(explained)
    }

    fn input<'i>(
        &'i self,
        pod: &'i Pod,
        source: Option<&'i Value>,
        world: &World,
        is_triage: bool,
        autoscaler: &'i [Autoscaler],
    ) -> Input<'i> {
        Input {
            pod,
            source,
            now: world.now,
            rules: &self.rules,
            options: self.options(is_triage),
            context: self.context,
            last_try: pending::last_try(pod, &world.notes),
            autoscaler,
            priority_classes: &self.classes,
        }
    }

    /// The pod as if it had the scheduler that was named.
    fn as_asked(&self, pod: &Pod) -> Pod {
        let mut pod = pod.clone();
        if let Some(name) = &self.args.scheduler {
            let mut spec = (*pod.spec).clone();
            spec.scheduler_name = (**name).into();
            pod.spec = Arc::new(spec);
        }
        pod
    }

    pub(super) fn stated(&self, pod: &Pod, world: &mut World) -> Option<Stated> {
        let needs = world.needs();
        let has_events = !world.unreadable.contains(&Resource::Events) && self.args.scheduler.is_none();
        let snapshot = world.cluster.snapshot(world.now);
        let serves =
            |name: &str| enforcement(self.replicas.iter(), name, world.now) == Enforcement::Scheduler;
        let view =
            View { snapshot: &snapshot, notes: &world.notes, now: world.now, serves: &serves, has_events };
        let stated = pending::level(pod, &view);
        stated.or_else(|| (!needs.is_empty()).then(unseen))
    }

    /// Adds what is known beyond what nodes say.
    fn annotate(&self, pod: &Pod, report: &mut Report, world: &mut World) {
        let is_no_fit = report.is_no_fit();
        let Answer::Judged(judged) = &mut report.answer else { return };
        if let Some(node) = &pod.nominated {
            judged.notes.push(format!(
                "It is nominated to {node}: pods of lower priority were asked to leave there, and it waits for them to go."
            ));
        }
        let snapshot = world.cluster.snapshot(world.now);
        let rules = self.rules.placing(pod);
        if is_no_fit && let Some((words, command)) = pending::deadlock(pod, &snapshot, &world.notes, rules) {
            judged.notes.push(format!("{words} To let one go first: {}", shell(&command)));
        }
    }
}

/// Without nodes nothing can be said about room.
fn unseen() -> Stated {
    Stated {
        code: UNSEEN,
        label: "nodes cannot be seen".into(),
        words: vec!["You may not see the nodes, so it cannot be said what each of them lacks.".into()],
        is_blocked: false,
    }
}

/// The code of a pod about which nothing can be said because nodes cannot be seen.
pub(super) const UNSEEN: &str = "Unseen";

fn autoscaler(pod: &Pod, world: &World) -> Vec<Autoscaler> {
    let events = world.notes.about("Pod", &pod.key.namespace, &pod.key.name);
    let theirs = events.into_iter().filter(|event| AUTOSCALERS.contains(&&*event.component));
    let said = theirs.map(|event| Autoscaler {
        source: event.component.clone(),
        reason: event.reason.clone(),
        message: event.message.clone(),
        at: event.at,
    });
    said.take(2).collect()
}

/// The answers to everything that was asked.
pub(super) fn answers(
    asking: &Asking<'_>,
    subject: &Subject,
    mut world: World,
    needs: Vec<String>,
) -> Result<Answers, Failure> {
    let mut answers =
        Answers { now: world.now, needs, namespace: Some(world.namespace.clone()), ..Answers::default() };
    if let Some(everything) = &subject.everything {
        answers.namespace.clone_from(&everything.namespace);
        answers.causes = Some(triage::everything(asking, everything, &mut world));
    }
    let wanted = manifest::wanted(&subject.manifests, &world.namespace, &world.notes.priority_classes)?;
    if !subject.manifests.is_empty() && wanted.is_empty() {
        return Err(Failure::usage("there is no pod and no workload in what -f names"));
    }
    for one in &wanted {
        let explained = asking.explained(&one.pod, Some(&one.source), &mut world)?;
        answers.pods.push(explained);
    }
    for key in &subject.pods {
        if let Some(pod) = world.cluster.pod(key).cloned() {
            let source = world.notes.source_of(key);
            answers.pods.push(asking.explained(&pod, source.as_ref(), &mut world)?);
        }
    }
    for (workload, keys) in &subject.workloads {
        triage::workload(asking, workload, keys, &mut world, &mut answers)?;
    }
    Ok(answers)
}

impl Answers {
    /// Whether at least one pod cannot be placed.
    pub(super) fn is_blocked(&self) -> bool {
        let is_blocked = |one: &Explained| match &one.outcome {
            Some(outcome) => outcome.after.is_empty(),
            None => one.report.is_no_fit(),
        };
        self.pods.iter().any(is_blocked)
            || self.causes.as_ref().is_some_and(Causes::is_blocked)
            || !self.unmade.is_empty()
    }

    /// Whether some answer is missing because nodes cannot be seen.
    pub(super) fn is_unseen(&self) -> bool {
        let is_unseen = |answer: &Answer| matches!(answer, Answer::Stated(stated) if stated.code == UNSEEN);
        self.pods.iter().any(|one| is_unseen(&one.report.answer))
            || self.causes.as_ref().is_some_and(|causes| causes.folded.iter().any(|one| one.code == UNSEEN))
    }

    /// Whether nothing waits although everything was asked for.
    pub(super) fn is_nothing(&self) -> bool {
        self.causes.as_ref().is_some_and(Causes::is_empty)
    }

    /// As kubectl says it.
    pub(super) fn nothing_found(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("No pending pods found in {namespace} namespace."),
            None => "No pending pods found.".into(),
        }
    }

    /// Whether the same is to be said, the time aside.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let said = |answers: &Self| {
            let pods = answers
                .pods
                .iter()
                .map(|one| (one.report.answer.clone(), one.report.said.clone(), one.others.clone()));
            (
                pods.collect::<Vec<_>>(),
                answers.settled.clone(),
                answers.unmade.clone(),
                answers.causes.clone(),
            )
        };
        said(self) == said(other)
    }
}

//! Scheduler, `explain` and extender are of one mind: for clusters made up at random, with reservations of every form, what
//! the daemon decides, what `explain` says, and what kube-scheduler is left with after asking our extender, is the same.

mod fixes;
mod shared_cluster;

use anyhow::{Result, ensure};
use common::api::names::SCHEDULER_NAME;
use common::cluster::Cluster;
use common::cycle::{self, Depth};
use common::model::{NodeName, Pod};
use common::plugins::{default_registry, without_reservations};
use daemon::extender_logic::{Question, Reply};
use daemon::queue::Backoff;
use daemon::state::{Effect, Input, Now, State};
use kubectl_reserve::explain::{Conclusion, Input as Asked, Options, Report, Rules, analyse};
use reserve_tests::conformance::generator::Generator;
use shared_cluster::{SharedCluster, now};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// A scheduler that asks our extender, and one that does not know of us.
const EXTENDED: &str = "default-scheduler";
const STRANGE: &str = "volcano";

const SEED: u64 = 20_261_117;

/// How many pods are decided on; each with all three sorts of scheduler.
const PODS: u64 = 300;

/// For how many seconds a pod may wait to be looked at.
const WAITED: u64 = 6;

/// How often each outcome has to be there for the comparison to mean something.
const ENOUGH: usize = 30;

#[test]
fn the_daemon_explain_and_the_extender_give_the_same_answer() -> Result<()> {
    let mut seen: BTreeMap<&'static str, usize> = BTreeMap::new();
    for (number, batch) in Generator::new(SEED, PODS).enumerate() {
        let batch = batch?;
        let shared_cluster = SharedCluster::new(&batch.cluster, number as u64)?;
        for line in &batch.pods {
            let pod = shared_cluster.pod(&line["pod"])?;
            let checks: [fn(&SharedCluster, &Pod) -> Result<&'static str>; 3] =
                [as_ours, as_extended, as_strange];
            for check in checks {
                let what =
                    check(&shared_cluster, &pod).map_err(|error| error.context(format!("{}", line["id"])))?;
                *seen.entry(what).or_default() += 1;
            }
        }
    }
    for what in ["ours fits", "ours does not fit", "extended: kept away", "extended: let in", "strange fits"]
    {
        ensure!(seen.get(what).is_some_and(|count| *count >= ENOUGH), "too little of {what:?}: {seen:?}");
    }
    Ok(())
}

/// A pod of the daemon's own.
fn as_ours(shared_cluster: &SharedCluster, pod: &Pod) -> Result<&'static str> {
    let pod = shared_cluster::of_scheduler(pod, SCHEDULER_NAME);
    let report = explained(&mut shared_cluster.cluster(), &pod, true);
    let (_, effects) = state(shared_cluster, Some(&pod));
    match (placed(&effects, &pod), &report.conclusion) {
        (Some(Placed::On(node)), Conclusion::NodeAnalysis(judged)) => {
            ensure!(judged.fits.contains(&node), "placed on {node}, explained: {:?}", judged.verdict);
            Ok("ours fits")
        }
        (Some(Placed::Somewhere), Conclusion::NodeAnalysis(judged)) => {
            ensure!(!judged.fits.is_empty(), "placed, explained: {:?}", judged.verdict);
            Ok("ours fits")
        }
        (None, Conclusion::NodeAnalysis(judged)) => {
            ensure!(
                judged.fits.is_empty() || judged.awaited_node.is_some(),
                "not placed, explained: it fits {:?}; it was told {:?}",
                judged.fits,
                told(&effects, &pod)
            );
            Ok("ours does not fit")
        }
        (None, _) => Ok("ours is not to be placed"),
        (Some(_), answer) => anyhow::bail!("placed, explained: {answer:?}"),
    }
}

/// A pod of a kube-scheduler that asks our extender about the nodes that it would take itself.
fn as_extended(shared_cluster: &SharedCluster, pod: &Pod) -> Result<&'static str> {
    let pod = shared_cluster::of_scheduler(pod, EXTENDED);
    let upstream = feasible(&mut shared_cluster.cluster(), &pod, false)?;
    let Conclusion::NodeAnalysis(judged) = explained(&mut shared_cluster.cluster(), &pod, true).conclusion
    else {
        return Ok("extended: not to be placed");
    };
    let nodes: Vec<NodeName> = upstream.iter().map(|name| NodeName::from(name.as_str())).collect();
    let refused = asked(&mut state(shared_cluster, None).0, &pod, nodes)?;
    let left: BTreeSet<String> = upstream.iter().filter(|name| !refused.contains(*name)).cloned().collect();
    let fits: BTreeSet<String> = judged.fits.iter().cloned().collect();
    ensure!(left == fits, "the extender leaves {left:?}, explained: {fits:?}");
    Ok(if refused.is_empty() { "extended: let in" } else { "extended: kept away" })
}

/// A pod of a scheduler that does not enforce: reservations are shown to it and nothing else.
fn as_strange(shared_cluster: &SharedCluster, pod: &Pod) -> Result<&'static str> {
    let pod = shared_cluster::of_scheduler(pod, STRANGE);
    let upstream = feasible(&mut shared_cluster.cluster(), &pod, false)?;
    match explained(&mut shared_cluster.cluster(), &pod, false).conclusion {
        Conclusion::NodeAnalysis(judged) => {
            let fits: BTreeSet<String> = judged.fits.iter().cloned().collect();
            ensure!(upstream == fits, "kube-scheduler has {upstream:?}, explained: {fits:?}");
            Ok(if fits.is_empty() { "strange does not fit" } else { "strange fits" })
        }
        _ => Ok("strange is not to be placed"),
    }
}

fn explained(cluster: &mut Cluster, pod: &Pod, enforces: bool) -> Report {
    let rules = Rules::new(move |_| enforces);
    let asked = Asked {
        pod,
        source: None,
        now: now(),
        rules: &rules,
        options: Options::default(),
        context: None,
        snapshot: None,
        manifests: &[],
        last_try: None,
        autoscaler: &[],
        priority_classes: &[],
    };
    analyse(cluster, &asked)
}

/// The nodes that a scheduler would take.
fn feasible(cluster: &mut Cluster, pod: &Pod, enforces: bool) -> Result<BTreeSet<String>> {
    let registry = if enforces { default_registry() } else { without_reservations() };
    let world = cluster.snapshot(now());
    if cycle::refusal(pod, &world, &registry).is_some() {
        return Ok(BTreeSet::new());
    }
    let trace =
        cycle::diagnose(&world.context(pod), &world, &registry, Depth::First).map_err(anyhow::Error::msg)?;
    let names = trace.feasible().filter_map(|id| world.name(id)).map(ToString::to_string);
    Ok(names.collect())
}

/// A daemon that has listed the cluster, and perhaps one pod more; and what it wished for since.
fn state(shared_cluster: &SharedCluster, pod: Option<&Pod>) -> (State, Vec<Effect>) {
    let profiles = BTreeMap::from([(SCHEDULER_NAME.into(), default_registry())]);
    let mut state = State::new(profiles, Backoff::default());
    let mut effects = Vec::new();
    for event in shared_cluster.events(pod) {
        effects.extend(state.handle(Input::Cluster(Box::new(event)), at(0)));
    }
    // A pod whose owner was not read is looked at all the same, a little later.
    for seconds in 1..=WAITED {
        effects.extend(state.handle(Input::Tick, at(seconds)));
    }
    (state, effects)
}

fn asked(state: &mut State, pod: &Pod, nodes: Vec<NodeName>) -> Result<BTreeSet<String>> {
    let question = Question::Filter { pod: Arc::new(pod.clone()), nodes };
    let mut effects = state.handle(Input::Question { id: 1, question: Box::new(question) }, at(WAITED));
    // Whoever is refused everywhere is looked at again a little later.
    effects.extend((1..3).flat_map(|more| state.handle(Input::Tick, at(WAITED + more))));
    for effect in effects {
        if let Effect::Reply { id: 1, reply: Reply::Filtered(refused) } = effect {
            return Ok(refused.into_keys().map(|name| name.to_string()).collect());
        }
    }
    anyhow::bail!("no answer")
}

fn told(effects: &[Effect], pod: &Pod) -> Option<String> {
    effects.iter().find_map(|effect| match effect {
        Effect::Condition { uid, reason, message, .. } if *uid == pod.uid => {
            Some(format!("{reason}: {message}"))
        }
        _ => None,
    })
}

fn at(seconds: u64) -> Now {
    Now { wall: now(), elapsed: Duration::from_secs(seconds) }
}

enum Placed {
    On(String),
    /// Its volumes come first; the node is not told yet.
    Somewhere,
}

fn placed(effects: &[Effect], pod: &Pod) -> Option<Placed> {
    let placed = effects.iter().find_map(|effect| match effect {
        Effect::Bind { uid, node, .. } if *uid == pod.uid => Some(Placed::On(node.to_string())),
        Effect::WriteObjects { uid, .. } if *uid == pod.uid => Some(Placed::Somewhere),
        _ => None,
    });
    // Where nothing is left to write about its volumes, it waits for them without a word.
    let evicts = |effect: &Effect| matches!(effect, Effect::Evict(one) if one.preemptor_uid == pod.uid);
    let is_refused = told(effects, pod).is_some() || effects.iter().any(evicts);
    let is_looked_at = pod.node.is_none() && pod.spec.gates.is_empty();
    let is_waiting = is_looked_at && !is_refused && !pod.spec.volumes.is_empty();
    placed.or(is_waiting.then_some(Placed::Somewhere))
}

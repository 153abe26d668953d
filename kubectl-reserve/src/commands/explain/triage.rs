//! Many pods at once: what each waits for, and what is common to them. Pods that are alike are judged once.

use super::answer::{Answers, Asking, Explained, UNSEEN};
use super::subject::Everything;
use crate::error::Failure;
use crate::explain::{Answer, Judged, Miss, Report, Stated};
use crate::pending::{Cause, Causes, Unmade, fold, unmade};
use crate::render::printable;
use crate::world::World;
use common::model::owner::Workload;
use common::model::pod::Phase;
use common::model::{Pod, PodKey, Uid};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Causes of one workload that are explained in full.
const CAUSES_MAX: usize = 3;

/// What pods that are alike have in common: their owner, and one spec in memory.
type Class = (Uid, usize);

/// What is said about one of them.
#[derive(Clone)]
struct Words {
    code: String,
    label: String,
    detail: String,
    is_blocked: bool,
}

/// Everything that waits, by cause.
pub(super) fn everything(asking: &Asking<'_>, asked: &Everything, world: &mut World) -> Causes {
    let is_asked = |pod: &&Arc<Pod>| asked.has(&pod.key) && is_pending(pod, world);
    let pods: Vec<Arc<Pod>> = world.cluster.pods().filter(is_asked).cloned().collect();
    let causes = causes(asking, pods, world);
    let unmade = match &asked.only {
        None => unmade(&world.cluster, &world.notes, asked.namespace.as_deref(), world.now),
        Some(_) => Vec::new(),
    };
    fold(causes, unmade)
}

/// Whether a pod waits to be placed, or was given to a node that is not there.
fn is_pending(pod: &Pod, world: &World) -> bool {
    let is_lost = |node| world.needs().is_empty() && world.cluster.ledger_of(node).is_none();
    pod.is_waiting()
        || (pod.phase == Phase::Pending && !pod.deleting && pod.node.as_ref().is_some_and(is_lost))
}

/// The pods of one workload that wait, each cause explained once; and why it cannot make more.
pub(super) fn workload(
    asking: &Asking<'_>,
    workload: &Workload,
    keys: &[PodKey],
    world: &mut World,
    answers: &mut Answers,
) -> Result<(), Failure> {
    let pods = keys.iter().filter_map(|key| world.cluster.pod(key));
    // The only one is of interest whatever its state.
    let pods: Vec<Arc<Pod>> = pods.filter(|pod| keys.len() == 1 || is_pending(pod, world)).cloned().collect();
    let (explained, all) = (pods.len(), keys.len());
    let causes = fold(causes(asking, pods, world), Vec::new());
    for one in causes.folded.iter().take(CAUSES_MAX) {
        let keys: Vec<PodKey> = one.pods.iter().map(|name| PodKey::new(&*one.namespace, &**name)).collect();
        let with_source = keys.iter().find(|key| world.notes.source_of(key).is_some());
        let Some(key) = with_source.or(keys.first()).cloned() else { continue };
        let Some(pod) = world.cluster.pod(&key).cloned() else { continue };
        let source = world.notes.source_of(&key);
        let explained = asking.explained(&pod, source.as_ref(), world)?;
        let others = one.pods.iter().filter(|name| ***name != *key.name).cloned().collect();
        answers.pods.push(Explained { others, ..explained });
    }
    let namespace = &*workload.namespace;
    let is_its = |one: &Unmade| {
        let is = |kind, name: &str| kind == workload.kind && *name == *workload.name;
        is(one.kind, &one.name) || one.top.as_ref().is_some_and(|(kind, name)| is(*kind, name))
    };
    let unmade = unmade(&world.cluster, &world.notes, Some(namespace), world.now).into_iter().filter(is_its);
    let unmade: Vec<Unmade> = unmade.collect();
    if explained == 0 && unmade.is_empty() {
        let (kind, name) = (workload.kind, &workload.name);
        answers.settled.push(match all {
            0 => {
                format!(
                "{kind} {namespace}/{name} has no pod that waits or runs, and nothing says that it failed to make one."
            )
            }
            _ => format!("{kind} {namespace}/{name}: all {all} pods have their nodes."),
        });
    }
    answers.unmade.extend(unmade);
    Ok(())
}

/// What each pod waits for.
fn causes(asking: &Asking<'_>, mut pods: Vec<Arc<Pod>>, world: &mut World) -> Vec<Cause> {
    pods.sort_by(|one, other| one.key.cmp(&other.key));
    let mut judged: BTreeMap<Class, Words> = BTreeMap::new();
    let mut causes = Vec::with_capacity(pods.len());
    for pod in pods {
        let top = world.cluster.pod_context(&pod).top().map(Workload::owner);
        let words = match asking.stated(&pod, world) {
            Some(stated) => Words {
                code: stated.code.into(),
                detail: detail(&pod, &stated),
                label: stated.label,
                is_blocked: stated.is_blocked,
            },
            None => {
                let whose = top.as_ref().map_or_else(|| pod.uid.clone(), |owner| owner.uid.clone());
                let class = (whose, Arc::as_ptr(&pod.spec).addr());
                let known = judged.entry(class);
                known.or_insert_with(|| words(&asking.explain(&pod, None, world, true))).clone()
            }
        };
        causes.push(Cause {
            key: pod.key.clone(),
            owner: top.map(|owner| (owner.kind.to_string(), owner.name)),
            code: words.code,
            label: words.label,
            detail: words.detail,
            is_blocked: words.is_blocked,
        });
    }
    causes
}

/// What is said about a pod; where that is not much, what its scheduler said.
fn detail(pod: &Pod, stated: &Stated) -> String {
    let said = pod.unscheduled().map(|told| printable(&told.message)).filter(|said| !said.is_empty());
    match said.filter(|_| stated.code == UNSEEN) {
        Some(said) => format!("{} said: {said}", pod.spec.scheduler_name),
        None => stated.words.join(" "),
    }
}

/// A report in one line.
fn words(report: &Report) -> Words {
    let is_blocked = report.is_no_fit();
    let of = |code: &str, label: &str, detail: &str| Words {
        code: code.into(),
        label: label.into(),
        detail: detail.into(),
        is_blocked,
    };
    match &report.answer {
        Answer::Judged(judged) => of_judged(report, judged),
        Answer::Stated(stated) => of(stated.code, &stated.label, &stated.words.join(" ")),
        Answer::Refused(why) => of("Refused", "not placed", why),
        Answer::Failed(why) => of("Failed", "cannot be judged", why),
        Answer::Bound(node) => of("Bound", "has its node", node),
        Answer::Deleting => of("Deleting", "being deleted", ""),
        Answer::Ended => of("Ended", "ended", ""),
    }
}

fn of_judged(report: &Report, judged: &Judged) -> Words {
    let is_blocked = report.is_no_fit();
    if let Some(awaits) = &judged.awaits {
        let detail = format!("{} is kept for it: {}", awaits.node, awaits.because);
        return Words { code: "Awaits".into(), label: "waits for its node".into(), detail, is_blocked };
    }
    if let Some(first) = judged.fits.first() {
        let more = judged.fits.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let detail = format!("fits now on {first}{more}; its scheduler should place it soon");
        return Words { code: "Fits".into(), label: "fits now".into(), detail, is_blocked };
    }
    let (code, label) = match &judged.dominant {
        Some(dominant) => (dominant.code.clone(), dominant.label.clone()),
        None => ("NoNodes".into(), "no nodes".into()),
    };
    // The nearest of those that the cause is about: a node of another kind may be nearer, and is of no use.
    let is_about = |miss: &&Miss| miss.blockers.iter().any(|blocker| blocker.code == code);
    let miss = judged.misses.iter().find(is_about).or(judged.misses.first());
    let detail = miss.map_or_else(|| judged.verdict.join(" "), nearest);
    Words { code, label, detail, is_blocked }
}

/// The nearest node, and what it lacks.
fn nearest(miss: &Miss) -> String {
    let lacks = miss.blockers.iter().map(|blocker| match (&blocker.figure, &blocker.evidence) {
        (Some(figure), _) if figure.short() > 0 => {
            format!("lacks {} {}", figure.resource, figure.show(figure.short()))
        }
        (_, Some(evidence)) => format!("{} ({evidence})", blocker.label),
        _ => blocker.label.clone(),
    });
    let asks = miss.blockers.iter().filter_map(|blocker| blocker.figure.as_ref()).next();
    let asks = asks.map_or_else(String::new, |figure| {
        format!("asks {} {} each; ", figure.resource, figure.show(figure.numbers.asks))
    });
    format!("{asks}nearest {}: {}", miss.name, lacks.collect::<Vec<_>>().join(", "))
}

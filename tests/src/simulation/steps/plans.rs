//! The plans that are written out rather than drawn: each flow, each write of it, each way to fail. Whatever fails, in the end
//! things are as if nothing had: the pod has its place again, and nothing is kept for nobody.

use super::faults::{BLOWS, Faults, Strike};
use super::scenario::{Scenario, ported, template};
use super::scenes::SCENES;
use super::sim::{Action, Sim};
use super::{daemon, outcome};
use crate::simulation::History;
use crate::simulation::history::SHORT;
use crate::simulation::seeds::Outcome;
use common::api::names::SCHEDULER_NAME;
use common::model::{Keep, OwnerKind, Pod};
use fastrand::Rng;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// One flow: its name, what its owner is, and what is done to one of its pods.
pub(super) struct Flow {
    pub(super) name: &'static str,
    pub(super) owner: Of,
    pub(super) is_kept: bool,
    pub(super) deed: fn(&mut Sim, &Arc<Pod>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Deployment,
    /// There is another one, whose pods take the rest of the room.
    ReplicaSets,
    StatefulSet,
    /// A Deployment whose pods have many host ports.
    Ports,
    Nobody,
}

const FLOWS: [Flow; 9] = [
    Flow { name: "pod of a Deployment", owner: Of::Deployment, is_kept: false, deed: Sim::recreate_that },
    Flow { name: "pod of a StatefulSet", owner: Of::StatefulSet, is_kept: false, deed: Sim::recreate_that },
    Flow { name: "bare pod", owner: Of::Nobody, is_kept: false, deed: Sim::recreate_that },
    Flow { name: "kept pod of a Deployment", owner: Of::Deployment, is_kept: true, deed: Sim::recreate_that },
    Flow { name: "deleted pod of a Deployment", owner: Of::Deployment, is_kept: true, deed: delete },
    Flow { name: "deleted pod of a StatefulSet", owner: Of::StatefulSet, is_kept: true, deed: delete },
    Flow { name: "deleted pod with many ports", owner: Of::Ports, is_kept: true, deed: delete },
    Flow {
        name: "recreated, then scaled to none",
        owner: Of::Deployment,
        is_kept: false,
        deed: recreate_and_scale,
    },
    Flow { name: "recreated twice at once", owner: Of::Deployment, is_kept: false, deed: recreate_twice },
];

/// So many host ports make a record of more than a kilobyte, and less than four.
const PORTS: Range<u16> = 20_000..20_045;

/// Each of several streams of chance: another order of the same things.
const CHANCES: u64 = 3;
/// What happens in a scene depends on who is faster: some orders are harmless.
const SCENE_CHANCES: u64 = 8;

fn delete(sim: &mut Sim, pod: &Arc<Pod>) {
    let top = sim.api.workloads.values().find(|one| one.keep.is_some()).map(|one| one.uid.clone());
    sim.scenario.promised.extend(top.map(|top| (top, 2)));
    let _ = sim.api.delete_pod(&pod.key, &pod.uid, sim.scenario.grace);
}

fn recreate_and_scale(sim: &mut Sim, pod: &Arc<Pod>) {
    // Nobody promises that they stay.
    sim.scenario.deeds = 1 << 2;
    sim.recreate_that(pod);
    sim.run_until(sim.api.now + Duration::from_secs(2));
    let deployment = sim.api.workloads.values().find(|one| one.kind == OwnerKind::Deployment).cloned();
    if let Some(deployment) = deployment {
        sim.scale_to(deployment, 0);
    }
}

fn recreate_twice(sim: &mut Sim, pod: &Arc<Pod>) {
    sim.recreate_that(pod);
    sim.recreate_that(pod);
}

/// Lives through all of them.
pub(super) fn all() -> Vec<(String, Outcome)> {
    let mut lived = Vec::new();
    for flow in &FLOWS {
        for chance in 0..CHANCES {
            let (well, writes) = live(flow, chance, None);
            let is_well = well.broken.is_none();
            lived.push((format!("{} {chance}", flow.name), well));
            if !is_well {
                continue;
            }
            for (is_command, count) in writes {
                for (nth, blow) in (1..=count).flat_map(|nth| BLOWS.map(|blow| (nth, blow))) {
                    let strike = Strike { is_command, nth, blow };
                    let whose = if is_command { "command" } else { "daemon" };
                    let name = format!("{} {chance}: {blow:?} at write {nth} of the {whose}", flow.name);
                    lived.push((name, live(flow, chance, Some(strike)).0));
                }
            }
        }
    }
    for scene in &SCENES {
        let chances = (0..SCENE_CHANCES).map(|chance| (chance, live(scene, chance, None).0));
        lived.extend(chances.map(|(chance, outcome)| (format!("{} {chance}", scene.name), outcome)));
    }
    lived
}

/// Lives through one of them; and how many writes the command and the daemons made.
fn live(flow: &Flow, chance: u64, strike: Option<Strike>) -> (Outcome, [(bool, usize); 2]) {
    let scenario = Scenario {
        quiet: Duration::from_secs(40),
        grace: Duration::from_secs(2),
        automatic_max: 100,
        is_elected: true,
        ..Scenario::default()
    };
    let faults = Faults { end: Duration::from_secs(40), ..Faults::none() };
    let mut sim = Sim::new(Rng::with_seed(chance), faults, scenario, History::new(SHORT));
    found(&mut sim, flow);
    sim.run_until(Duration::from_secs(20));
    let is_target = |pod: &&Arc<Pod>| pod.is_counted() && pod.labels.get("app") == Some("web");
    let Some(pod) = sim.api.picture.pods.values().find(is_target).cloned() else {
        sim.api.rules.break_("plan", "there is no pod to recreate");
        return (outcome(sim), [(true, 0), (false, 0)]);
    };
    (sim.scenario.command_writes, sim.scenario.daemon_writes) = (0, 0);
    sim.strike = strike;
    (flow.deed)(&mut sim, &pod);
    sim.settle();
    let writes = [(true, sim.scenario.command_writes), (false, sim.scenario.daemon_writes)];
    (outcome(sim), writes)
}

/// Two full nodes, and a pod that waits for whatever becomes free.
fn found(sim: &mut Sim, flow: &Flow) {
    sim.api.rules.schedulers.insert(SCHEDULER_NAME.to_owned());
    sim.api.rules.is_elected = true;
    ["n0", "n1"].into_iter().for_each(|node| sim.add_node(node, 4));
    let keep = flow.is_kept.then_some(Keep::For { life: Duration::from_secs(120), by: None });
    let web = template(2, "web", 0, true);
    match flow.owner {
        Of::Deployment | Of::Ports => {
            let web = if flow.owner == Of::Ports {
                ported(&web, PORTS.map(|port| (port, String::new())).collect())
            } else {
                web
            };
            let deployment = sim.add_workload(OwnerKind::Deployment, "web", 2, None, keep);
            let set = sim.add_workload(OwnerKind::ReplicaSet, "web-1", 2, Some(&deployment), None);
            sim.scenario.templates.insert(set.uid, web);
        }
        Of::ReplicaSets => {
            for name in ["web", "db"] {
                let set = sim.add_workload(OwnerKind::ReplicaSet, name, 2, None, keep.clone());
                sim.scenario.templates.insert(set.uid, template(2, name, 0, true));
            }
        }
        Of::StatefulSet => {
            let set = sim.add_workload(OwnerKind::StatefulSet, "web", 2, None, keep);
            sim.scenario.templates.insert(set.uid, web);
        }
        Of::Nobody => drop(sim.make_pod(&web, "web", None)),
    }
    sim.daemons.extend(["one", "two"].map(daemon::Daemon::new));
    sim.after(Duration::from_millis(1), Action::Start(0));
    sim.after(Duration::from_secs(1), Action::Start(1));
    // The others come when the first have their places.
    sim.run_until(Duration::from_secs(8));
    let rival = sim.add_workload(OwnerKind::ReplicaSet, "rival", 5, None, None);
    sim.scenario.templates.insert(rival.uid, template(2, "rival", 0, true));
}

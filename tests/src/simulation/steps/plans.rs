//! The plans ([`all`]), which have planned instead of random faults: each flow, each of its writes, each kind of fault. Whatever
//! fails, the end is the same: the pod has its place again, and no useless reservation is left.

use super::faults::{FAULT_KINDS, Faults, PlannedFault};
use super::multi_fault_plans::MULTI_FAULT_PLANS;
use super::scenario::{Scenario, template, with_ports};
use super::sim::{Action, Sim};
use super::{daemon, outcome};
use crate::simulation::HistoryLog;
use crate::simulation::history_log::SHORT;
use crate::simulation::seeds::Outcome;
use common::api::names::SCHEDULER_NAME;
use common::model::{Keep, OwnerKind, Pod};
use fastrand::Rng;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// One flow: its name, the kind of the owner, and what is done to one of its pods.
pub(super) struct Flow {
    pub(super) name: &'static str,
    pub(super) owner: OwnerType,
    pub(super) is_kept: bool,
    pub(super) activity: fn(&mut Sim, &Arc<Pod>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnerType {
    Deployment,
    /// Two ReplicaSets; the pods of the second take the rest of the room.
    ReplicaSets,
    StatefulSet,
    /// A Deployment whose pods have many host ports.
    Ports,
    Nobody,
}

const FLOWS: [Flow; 9] = [
    Flow {
        name: "pod of a Deployment",
        owner: OwnerType::Deployment,
        is_kept: false,
        activity: Sim::recreate_pod,
    },
    Flow {
        name: "pod of a StatefulSet",
        owner: OwnerType::StatefulSet,
        is_kept: false,
        activity: Sim::recreate_pod,
    },
    Flow { name: "bare pod", owner: OwnerType::Nobody, is_kept: false, activity: Sim::recreate_pod },
    Flow {
        name: "kept pod of a Deployment",
        owner: OwnerType::Deployment,
        is_kept: true,
        activity: Sim::recreate_pod,
    },
    Flow {
        name: "deleted pod of a Deployment",
        owner: OwnerType::Deployment,
        is_kept: true,
        activity: delete,
    },
    Flow {
        name: "deleted pod of a StatefulSet",
        owner: OwnerType::StatefulSet,
        is_kept: true,
        activity: delete,
    },
    Flow { name: "deleted pod with many ports", owner: OwnerType::Ports, is_kept: true, activity: delete },
    Flow {
        name: "recreated, then scaled to none",
        owner: OwnerType::Deployment,
        is_kept: false,
        activity: recreate_and_scale,
    },
    Flow {
        name: "recreated twice at once",
        owner: OwnerType::Deployment,
        is_kept: false,
        activity: recreate_twice,
    },
];

/// These host ports make a record of more than one and less than four kilobytes.
const PORTS: Range<u16> = 20_000..20_045;

/// How many random orders of events each plan has.
const CHANCES: u64 = 3;
/// The same for plans with several faults. They need more, because some orders are harmless.
const MULTI_FAULT_CHANCES: u64 = 8;

fn delete(sim: &mut Sim, pod: &Arc<Pod>) {
    let top = sim.api.workloads.values().find(|one| one.keep.is_some()).map(|one| one.uid.clone());
    sim.scenario.pods_before_eviction.extend(top.map(|top| (top, 2)));
    let _ = sim.api.delete_pod(&pod.key, &pod.uid, sim.scenario.grace);
}

fn recreate_and_scale(sim: &mut Sim, pod: &Arc<Pod>) {
    // With an activity enabled, the rule that no place is lost does not apply: the pods are scaled away.
    sim.scenario.activities = 1 << 2;
    sim.recreate_pod(pod);
    sim.run_until(sim.api.now + Duration::from_secs(2));
    let deployment = sim.api.workloads.values().find(|one| one.kind == OwnerKind::Deployment).cloned();
    if let Some(deployment) = deployment {
        sim.scale_to(deployment, 0);
    }
}

fn recreate_twice(sim: &mut Sim, pod: &Arc<Pod>) {
    sim.recreate_pod(pod);
    sim.recreate_pod(pod);
}

/// Simulates all plans: name and outcome of each.
pub(super) fn all() -> Vec<(String, Outcome)> {
    let mut results = Vec::new();
    for flow in &FLOWS {
        for chance in 0..CHANCES {
            let (well, writes) = simulate_plan(flow, chance, None);
            let is_well = well.broken.is_none();
            results.push((format!("{} {chance}", flow.name), well));
            if !is_well {
                continue;
            }
            for (is_command, count) in writes {
                for (nth, kind) in (1..=count).flat_map(|nth| FAULT_KINDS.map(|kind| (nth, kind))) {
                    let planned_fault = PlannedFault { is_command, nth, kind };
                    let program = if is_command { "command" } else { "daemon" };
                    let name = format!("{} {chance}: {kind:?} at write {nth} of the {program}", flow.name);
                    results.push((name, simulate_plan(flow, chance, Some(planned_fault)).0));
                }
            }
        }
    }
    for plan in &MULTI_FAULT_PLANS {
        let chances = (0..MULTI_FAULT_CHANCES).map(|chance| (chance, simulate_plan(plan, chance, None).0));
        results.extend(chances.map(|(chance, outcome)| (format!("{} {chance}", plan.name), outcome)));
    }
    results
}

/// Simulates one plan. Also returns the number of writes of the command (`true`) and of the daemons (`false`).
fn simulate_plan(
    flow: &Flow,
    chance: u64,
    planned_fault: Option<PlannedFault>,
) -> (Outcome, [(bool, usize); 2]) {
    let scenario = Scenario {
        activity_end: Duration::from_secs(40),
        grace: Duration::from_secs(2),
        automatic_max: 100,
        is_elected: true,
        ..Scenario::default()
    };
    let faults = Faults { end: Duration::from_secs(40), ..Faults::none() };
    let mut sim = Sim::new(Rng::with_seed(chance), faults, scenario, HistoryLog::new(SHORT));
    set_up(&mut sim, flow);
    sim.run_until(Duration::from_secs(20));
    let is_target = |pod: &&Arc<Pod>| pod.is_counted() && pod.labels.get("app") == Some("web");
    let Some(pod) = sim.api.state.pods.values().find(is_target).cloned() else {
        sim.api.rules.break_("plan", "there is no pod to recreate");
        return (outcome(sim), [(true, 0), (false, 0)]);
    };
    (sim.scenario.command_writes, sim.scenario.daemon_writes) = (0, 0);
    sim.planned_fault = planned_fault;
    (flow.activity)(&mut sim, &pod);
    sim.settle();
    let writes = [(true, sim.scenario.command_writes), (false, sim.scenario.daemon_writes)];
    (outcome(sim), writes)
}

/// Makes two full nodes, and a pod that waits for room.
fn set_up(sim: &mut Sim, flow: &Flow) {
    sim.api.rules.schedulers.insert(SCHEDULER_NAME.to_owned());
    sim.api.rules.is_elected = true;
    ["n0", "n1"].into_iter().for_each(|node| sim.add_node(node, 4));
    let keep = flow.is_kept.then_some(Keep::For { life: Duration::from_secs(120), requester: None });
    let web = template(2, "web", 0, true);
    match flow.owner {
        OwnerType::Deployment | OwnerType::Ports => {
            let web = if flow.owner == OwnerType::Ports {
                with_ports(&web, PORTS.map(|port| (port, String::new())).collect())
            } else {
                web
            };
            let deployment = sim.add_workload(OwnerKind::Deployment, "web", 2, None, keep);
            let set = sim.add_workload(OwnerKind::ReplicaSet, "web-1", 2, Some(&deployment), None);
            sim.scenario.templates.insert(set.uid, web);
        }
        OwnerType::ReplicaSets => {
            for name in ["web", "db"] {
                let set = sim.add_workload(OwnerKind::ReplicaSet, name, 2, None, keep.clone());
                sim.scenario.templates.insert(set.uid, template(2, name, 0, true));
            }
        }
        OwnerType::StatefulSet => {
            let set = sim.add_workload(OwnerKind::StatefulSet, "web", 2, None, keep);
            sim.scenario.templates.insert(set.uid, web);
        }
        OwnerType::Nobody => drop(sim.make_pod(&web, "web", None)),
    }
    sim.daemons.extend(["one", "two"].map(daemon::SimDaemon::new));
    sim.after(Duration::from_millis(1), Action::Start(0));
    sim.after(Duration::from_secs(1), Action::Start(1));
    // The rivals come when the first pods are bound.
    sim.run_until(Duration::from_secs(8));
    let rival = sim.add_workload(OwnerKind::ReplicaSet, "rival", 5, None, None);
    sim.scenario.templates.insert(rival.uid, template(2, "rival", 0, true));
}

//! What people do with the product, each in a cluster where somebody else waits for the room.

use super::line::{Process, STALE};
use super::scenario::{Workload, node};
use super::world::World;
use crate::history::Counts;
use http::Method;
use kubectl_reserve::Around;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// How long a cluster may take to come to rest.
const REST: Duration = Duration::from_secs(120);
/// How often a command that died or failed is given again, as people do.
const TRIES: usize = 3;
/// How long a reservation lives at most in a flow, and how long it may lie about then.
pub(super) const LIFE: Duration = Duration::from_secs(60 + 90 + 40);

/// One flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// `kubectl reserve pod`.
    Pod,
    /// `kubectl reserve restart`.
    Restart,
    /// `kubectl reserve drain`.
    Drain,
    /// `kubectl reserve add`, and then somebody deletes the pod.
    Add,
    /// `kubectl reserve add`, and then `release`.
    Release,
    /// Somebody deletes a pod whose place is kept.
    Keep,
}

/// All of them.
pub(super) const FLOWS: [(&str, Flow); 6] = [
    ("pod", Flow::Pod),
    ("restart", Flow::Restart),
    ("drain", Flow::Drain),
    ("add", Flow::Add),
    ("release", Flow::Release),
    ("keep", Flow::Keep),
];

impl Flow {
    /// Lives through it: a full cluster, the flow, and the time until nothing of it may be left.
    /// Where nothing goes wrong every command has to succeed.
    pub(super) async fn run(self, world: &World, must_succeed: bool) {
        let web = self.settle(world).await;
        let Some((name, _)) = world.pods_of("web").into_iter().next() else {
            return world.record.broke("nothing runs".to_owned());
        };
        let line = match self {
            Self::Pod => format!("pod {name} --ttl=60s --timeout=3m"),
            Self::Restart => "restart deployment/web --ttl=60s --timeout=3m --all".to_owned(),
            Self::Drain => "drain n1 --ttl=60s --timeout=3m".to_owned(),
            Self::Add | Self::Release => format!("add --pod {name} --ttl=60s"),
            Self::Keep => String::new(),
        };
        let mut given = Given { is_done: true, said: String::new() };
        if !line.is_empty() {
            given = give(world, &line).await;
        }
        if self == Self::Release {
            given.is_done &= give(world, &format!("release --pod {name} --ignore-not-found")).await.is_done;
        }
        // Nothing is promised to those who do not heed that; they do.
        if given.said.contains("it may not be enforced yet") {
            sleep(STALE).await;
        }
        if matches!(self, Self::Add | Self::Keep) {
            delete(world, &name);
        }
        if must_succeed && !given.is_done {
            world.record.broke(format!("I19: {line} did not succeed"));
        }
        sleep(LIFE).await;
        self.check(world, &web);
    }

    /// A cluster in which all rooms are taken and two pods wait for one.
    pub(super) async fn settle(self, world: &World) -> Workload {
        let mut web = Workload::new("web", 2);
        web.keep = (self == Self::Keep).then_some("60s");
        let mut scenario = vec![node("n1", 2), node("n2", 2), web.object(), Workload::new("db", 2).object()];
        if self == Self::Drain {
            scenario.push(node("n3", 2));
        }
        scenario.iter().for_each(|object| drop(world.make(object)));
        let is_settled = || world.is_running("web", 2) && world.is_running("db", 2);
        if !world.wait("the cluster has come to rest", REST, is_settled).await {
            world.record.broke("the cluster did not come to rest".to_owned());
        }
        if self != Self::Drain {
            world.make(&Workload::new("rival", 2).object());
            sleep(Duration::from_secs(5)).await;
        }
        web
    }

    /// What has to be so at the end.
    pub(super) fn check(self, world: &World, web: &Workload) {
        world.record.count("I7", Counts::check);
        if self != Self::Release {
            world.record.count("I16", Counts::check);
        }
        if !world.is_running("web", web.replicas) && self != Self::Release {
            world.record.broke(format!("I16: {:?} do not run", names(world, "web")));
        }
        if world.reservations() > 0 {
            world.record.broke("I7: reservations are left".to_owned());
        }
    }
}

/// What came of a command.
pub(super) struct Given {
    pub(super) is_done: bool,
    /// What it said last.
    said: String,
}

/// Gives a command, and again if it fails.
pub(super) async fn give(world: &World, line: &str) -> Given {
    let words: Vec<&str> = line.split(' ').chain(["--yes"]).collect();
    let mut given = Given { is_done: false, said: String::new() };
    for _ in 0..TRIES {
        let around = Around::default();
        let code = world.command(&words, &Process::default(), &around).await;
        given = Given { is_done: code == Some(0), said: around.said() };
        if given.is_done {
            break;
        }
        sleep(Duration::from_secs(5)).await;
    }
    given
}

pub(super) fn delete(world: &World, name: &str) {
    world.admin.ask(Method::DELETE, &format!("/api/v1/namespaces/default/pods/{name}"), &json!({}));
}

fn names(world: &World, app: &str) -> Vec<String> {
    let word = |pod: &Value| format!("{} on {}", pod["status"]["phase"], pod["spec"]["nodeName"]);
    world.pods_of(app).iter().map(|(name, pod)| format!("{name} {}", word(pod))).collect()
}

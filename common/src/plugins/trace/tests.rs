//! Trace: it reports, and changes nothing. The order of the reports is checked in the tests of `cycle`.

use super::{NoSink, Sink, descriptor};
use crate::config::RawArgs;
use crate::cycle::{BindingDecision, decide_binding, schedule};
use crate::framework::{Verdict, WeightedScore};
use crate::model::{NodeName, PodKey};
use crate::plugins::{Implementations, default_registry};
use crate::testing::{cluster_builder, node, now, pod};
use std::sync::{Arc, Mutex};

/// A sink that stores the reports.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Sink for Notes {
    fn record(&self, point: &'static str, _pod: &PodKey, node: Option<&NodeName>) {
        self.0.lock().unwrap().push(node.map_or_else(|| point.to_owned(), |node| format!("{point} {node}")));
    }
}

fn made(sink: impl Sink + 'static) -> Implementations {
    descriptor(sink).make(&RawArgs::Null).unwrap()
}

#[test]
fn it_is_at_every_point_but_the_order_of_the_queue() {
    let trace = made(NoSink);
    assert!(trace.queue_sort.is_none());
    assert!(trace.pre_enqueue.is_some() && trace.pre_filter.is_some() && trace.filter.is_some());
    assert!(trace.post_filter.is_some() && trace.pre_score.is_some() && trace.score.is_some());
    assert!(trace.reserve.is_some() && trace.permit.is_some() && trace.pre_bind.is_some());
    assert!(trace.bind.is_some() && trace.post_bind.is_some());
}

#[test]
fn with_it_every_pod_goes_where_it_would_go_without() {
    let plain = default_registry();
    let (mut traced, trace) = (default_registry(), made(NoSink));
    traced.filters.extend(trace.filter);
    traced.scores.extend(trace.score.map(|plugin| WeightedScore { plugin, weight: 1 }));
    traced.binds.splice(0..0, trace.bind);
    let mut cluster = cluster_builder().node(node("n1").cpu("1")).node(node("n2")).node(node("n3")).cluster();
    let world = cluster.snapshot(now());
    for cpu in ["500m", "2", "64"] {
        let pod = pod("p").cpu(cpu).build();
        let decision = schedule(&pod, &world, &plain);
        assert_eq!(schedule(&pod, &world, &traced), decision);
        assert_eq!(
            decide_binding(&pod, &"n2".into(), &world, &traced),
            BindingDecision::Granted,
            "it passes bindings on"
        );
    }
}

#[test]
fn what_is_taken_back_is_told_and_what_is_supposed_is_not() {
    let notes = Notes::default();
    let trace = made(notes.clone());
    let (filter, reserve) = (trace.filter.unwrap(), trace.reserve.unwrap());
    let mut cluster = cluster_builder().node(node("n1")).cluster();
    let (world, pod) = (cluster.snapshot(now()), pod("p").build());
    let ledger = world.nodes().next().unwrap();
    let (context, supposed) = (world.context(&pod), world.suppose(ledger.clone()));
    assert!(filter.prepare(&context, &supposed).is_none());
    let ask = filter.prepare(&context, &world).unwrap();
    assert_eq!([ask(ledger.id), ask(ledger.id)], [Verdict::Fits, Verdict::Fits]);
    reserve.unreserve(&context, ledger);
    assert_eq!(*notes.0.lock().unwrap(), ["Filter n1", "Unreserve n1"], "each node is passed once");
}

//! DefaultBinder: it accepts every pod.

use super::DefaultBinder;
use crate::framework::Bind;
use crate::testing::{cluster_builder, now, pod};

#[test]
fn every_pod_is_bound() {
    let mut cluster = cluster_builder().cluster();
    let snapshot = cluster.snapshot(now());
    for pod in [pod("p"), pod("q").scheduler("another"), pod("r").priority(7)] {
        assert!(DefaultBinder.binds(&snapshot.context(&pod.build())));
    }
}

//! SchedulingGates: a table of cases.

use super::SchedulingGates;
use crate::framework::PreEnqueue;
use crate::testing::pod;
use serde_json::json;

#[test]
fn gates_keep_a_pod_outside_and_are_named_in_order() {
    let table = [
        (json!(null), None),
        (json!([]), None),
        (json!([{ "name": "g1" }]), Some("waiting for scheduling gates: [g1]")),
        (json!([{ "name": "g2" }, { "name": "g1" }]), Some("waiting for scheduling gates: [g2 g1]")),
        (json!([{ "name": "example.com/a" }]), Some("waiting for scheduling gates: [example.com/a]")),
    ];
    for (gates, expected) in table {
        let pod = pod("p").with("/spec/schedulingGates", gates.clone()).build();
        let said = SchedulingGates.check(&pod);
        assert_eq!(said.as_ref().map(|one| one.reason.to_string()).as_deref(), expected, "{gates}");
        if let Some(rejection) = said {
            assert!(rejection.reason.is_unresolvable());
            assert_eq!(rejection.plugin, "SchedulingGates");
        }
    }
}

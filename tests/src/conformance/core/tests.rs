//! Tests of the decoding of cases.

use super::Core;
use crate::conformance::generator::Generator;

#[test]
fn every_kind_of_object_that_is_generated_is_read() {
    let mut core = Core::default();
    let mut counts = [0; 11];
    for batch in Generator::new(1, 400) {
        core.read(&batch.unwrap().cluster.to_string()).unwrap();
        assert!(core.cluster.is_complete());
        let kept = core.cluster.catalog();
        let here = [
            kept.namespaces.len(),
            kept.services.len(),
            kept.claims.len(),
            kept.volumes.len(),
            kept.classes.len(),
            kept.csi_nodes.len(),
            kept.csi_drivers.len(),
            kept.csi_capacities.len(),
            kept.attachments.len(),
            kept.budgets.len(),
            kept.claims.iter().filter(|claim| claim.is_bound()).count(),
        ];
        counts.iter_mut().zip(here).for_each(|(sum, more)| *sum += more);
    }
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}

//! `--feature-gates`: kube-scheduler's gates, all of which stand where kube-scheduler 1.37 has them by default.

use super::Said;
use anyhow::{Context as _, ensure};

/// The gates that alter what a scheduler decides or says, and how we have them.
const GATES: [(&str, bool); 34] = [
    ("ClearingNominatedNodeNameAfterBinding", true),
    ("CompositePodGroup", false),
    ("DRAAdminAccess", false),
    ("DRAConsumableCapacity", false),
    ("DRADerivedAttributes", false),
    ("DRADeviceBindingConditions", false),
    ("DRADeviceCompatibilityGroups", false),
    ("DRADeviceTaints", false),
    ("DRAExtendedResource", false),
    ("DRAFractionalCapacityRange", false),
    ("DRAListTypeAttributes", false),
    ("DRANodeAllocatableResources", false),
    ("DRAOptionalNodeOperations", false),
    ("DRAPartitionableDevices", false),
    ("DRAPrioritizedList", false),
    ("DRAWorkloadResourceClaims", false),
    ("DynamicResourceAllocation", false),
    ("GenericWorkload", false),
    ("InPlacePodLevelResourcesVerticalScaling", true),
    ("InPlacePodVerticalScaling", true),
    ("InPlacePodVerticalScalingSchedulerPreemption", false),
    ("MatchLabelKeysInPodTopologySpread", true),
    ("MatchLabelKeysInPodTopologySpreadSelectorMerge", true),
    ("NodeDeclaredFeatures", true),
    ("NodeInclusionPolicyInPodTopologySpread", true),
    ("NominatedNodeNameForExpectation", true),
    ("PodGroupPreemptionPolicy", false),
    ("PodLevelResources", true),
    ("StorageCapacityScoring", true),
    ("TaintTolerationComparisonOperators", false),
    ("TopologyAwareWorkloadScheduling", false),
    ("VolumeAttributesClass", true),
    ("VolumeLimitScaling", true),
    ("WorkloadAwarePreemption", false),
];

/// Reads `Name=true` and `kube:Name=true`, and says where that asks for something else than happens. Gates that are
/// not about scheduling, or only about how kube-scheduler goes about it, change nothing.
pub(super) fn check(gates: &[String], said: &mut Said) -> anyhow::Result<()> {
    for gate in gates.iter().map(|gate| gate.trim()).filter(|gate| !gate.is_empty()) {
        let (name, wanted) = gate
            .split_once('=')
            .with_context(|| format!("--feature-gates: missing bool value for {gate:?}"))?;
        let name = name.trim().rsplit(':').next().unwrap_or_default();
        let wanted = crate::args::switch(wanted.trim());
        ensure!(wanted.is_ok(), "--feature-gates: {gate:?} is neither true nor false");
        match GATES.iter().find(|(known, _)| *known == name) {
            Some((_, is_on)) if wanted != Ok(*is_on) => {
                said.warn(format!(
                    "the feature gate {name} is {} here",
                    if *is_on { "always on" } else { "not served" }
                ));
            }
            Some(_) => {}
            None => said.remarks.push(format!("the feature gate {name} has no meaning here")),
        }
    }
    Ok(())
}

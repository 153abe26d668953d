//! `--feature-gates`: all of kube-scheduler's gates are fixed at the defaults of kube-scheduler 1.37.

use super::StartupMessages;
use anyhow::{Context as _, ensure};

/// The gates that change what a scheduler decides or reports, and their fixed values.
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

/// Parses `Name=true` and `kube:Name=true`, and warns about values that differ from the fixed ones. Gates that are not in the
/// table are not about scheduling decisions, and have no effect.
pub(super) fn check(gates: &[String], messages: &mut StartupMessages) -> anyhow::Result<()> {
    for gate in gates.iter().map(|gate| gate.trim()).filter(|gate| !gate.is_empty()) {
        let (name, wanted) = gate
            .split_once('=')
            .with_context(|| format!("--feature-gates: missing bool value for {gate:?}"))?;
        let name = name.trim().rsplit(':').next().unwrap_or_default();
        let wanted = crate::args::switch(wanted.trim());
        ensure!(wanted.is_ok(), "--feature-gates: {gate:?} is neither true nor false");
        match GATES.iter().find(|(known, _)| *known == name) {
            Some((_, is_on)) if wanted != Ok(*is_on) => {
                messages.warn(format!(
                    "the feature gate {name} is {} here",
                    if *is_on { "always on" } else { "not served" }
                ));
            }
            Some(_) => {}
            None => messages.remarks.push(format!("the feature gate {name} has no meaning here")),
        }
    }
    Ok(())
}

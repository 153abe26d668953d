//! CSI migration of volumes of in-tree plugins: their CSI volume handles, and the nodes that can access them.
//!
//! Entry points: `plugin`, `handle` and `migrated_nodes` of [`PersistentVolume`] and [`VolumeSource`].

use super::volume::{InTreePlugin, PersistentVolume, PersistentVolumeSource};
use crate::model::{Labels, NodeSelector, NodeSelectorTerm, Operator, Requirement, Text, VolumeSource};
use std::borrow::Cow;
use std::collections::BTreeSet;

const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";
const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
const BETA_REGION: &str = "failure-domain.beta.kubernetes.io/region";

/// The delimiter of the zones of a volume that is in several zones.
const DELIMITER: &str = "__";

/// The placeholder for an unknown part of a volume handle.
const UNSPECIFIED: &str = "UNSPECIFIED";

/// The `kind` of Azure disks that can be migrated, in upper or lower case.
const MANAGED: &str = "Managed";

impl VolumeSource {
    /// The in-tree plugin of the volume, if the plugin is migrated to a CSI driver.
    pub fn plugin(&self) -> Option<InTreePlugin> {
        Some(match self {
            Self::AwsDisk { .. } => InTreePlugin::AwsEbs,
            Self::GceDisk { .. } => InTreePlugin::GcePd,
            Self::AzureDisk { .. } => InTreePlugin::AzureDisk,
            Self::Cinder { .. } => InTreePlugin::Cinder,
            Self::Portworx { .. } => InTreePlugin::Portworx,
            Self::Claim { .. } | Self::Ephemeral | Self::Rbd(_) | Self::Iscsi { .. } => return None,
        })
    }

    /// The CSI volume handle; empty for a source that is not migrated.
    ///
    /// # Errors
    /// If the handle cannot be determined, in Kubernetes' words.
    pub fn handle(&self) -> Result<String, String> {
        match self {
            Self::AwsDisk { id } => aws(id),
            Self::GceDisk { disk, .. } => gce(disk, &Labels::default()),
            Self::AzureDisk { uri, kind } => azure(uri, kind.as_deref()),
            Self::Cinder { id } | Self::Portworx { id } => Ok(id.to_string()),
            Self::Claim { .. } | Self::Ephemeral | Self::Rbd(_) | Self::Iscsi { .. } => Ok(String::new()),
        }
    }
}

impl PersistentVolume {
    pub fn plugin(&self) -> Option<InTreePlugin> {
        match &self.source {
            PersistentVolumeSource::InTree { plugin, .. } => Some(*plugin),
            PersistentVolumeSource::Csi { .. } | PersistentVolumeSource::Other => None,
        }
    }

    /// The CSI volume handle of a CSI volume or a migrated volume; empty for any other volume.
    ///
    /// # Errors
    /// If the handle cannot be determined, in Kubernetes' words.
    pub fn handle(&self) -> Result<Cow<'_, str>, String> {
        match &self.source {
            PersistentVolumeSource::Csi { handle, .. } => Ok(Cow::Borrowed(handle)),
            PersistentVolumeSource::Other => Ok(Cow::Borrowed("")),
            PersistentVolumeSource::InTree { plugin, id, kind } => match plugin {
                InTreePlugin::AwsEbs => aws(id).map(Cow::Owned),
                InTreePlugin::GcePd => gce(id, &self.labels).map(Cow::Owned),
                InTreePlugin::AzureDisk => azure(id, kind.as_deref()).map(Cow::Owned),
                InTreePlugin::Cinder | InTreePlugin::Portworx => Ok(Cow::Borrowed(id)),
            },
        }
    }

    /// The nodes that can access the volume after migration: the zone labels are replaced by the label of the CSI driver.
    pub fn migrated_nodes(&self) -> Option<Cow<'_, NodeSelector>> {
        let own = self.nodes.as_ref().map(Cow::Borrowed);
        let Some(key) = self.plugin().and_then(InTreePlugin::zone_key) else { return own };
        let (zone, region) = self.zone_labels();
        let mut terms: Vec<NodeSelectorTerm> =
            self.nodes.iter().flat_map(|nodes| &nodes.terms).cloned().collect();
        if has_values(&terms, zone) {
            rename(&mut terms, zone, key);
        } else if let Some(zones) = self.labels.get(zone) {
            add(&mut terms, key, zones);
        }
        if region == BETA_REGION && has_values(&terms, region) {
            rename(&mut terms, region, REGION);
        }
        if self.nodes.is_none() && terms.is_empty() {
            return None;
        }
        Some(Cow::Owned(NodeSelector { terms: terms.into() }))
    }

    /// The labels of zone and region that the volume uses: the beta labels if it has only these, else the current labels.
    fn zone_labels(&self) -> (&'static str, &'static str) {
        let terms = self.nodes.as_ref().map_or(&[][..], |nodes| &nodes.terms);
        let has_key =
            |key: &str| terms.iter().flat_map(NodeSelectorTerm::expressions).any(|one| *one.key == *key);
        let is_beta =
            !has_key(ZONE) && (has_key(BETA_ZONE) || !self.labels.has(ZONE) && self.labels.has(BETA_ZONE));
        if is_beta { (BETA_ZONE, BETA_REGION) } else { (ZONE, REGION) }
    }
}

fn has_values(terms: &[NodeSelectorTerm], key: &str) -> bool {
    let mut requirements = terms.iter().flat_map(NodeSelectorTerm::expressions);
    requirements.any(|one| *one.key == *key && !one.values.is_empty())
}

fn rename(terms: &mut [NodeSelectorTerm], from: &str, to: &str) {
    for term in terms {
        let renamed = |one: &Requirement| {
            let key = if *one.key == *from { Text::from(to) } else { one.key.clone() };
            Requirement { key, ..one.clone() }
        };
        let expressions: Vec<Requirement> = term.expressions().iter().map(renamed).collect();
        *term = NodeSelectorTerm::new(expressions, term.fields());
    }
}

/// Adds to each term the requirement that the node is in one of the zones.
fn add(terms: &mut Vec<NodeSelectorTerm>, key: &str, zones: &str) {
    let zones: BTreeSet<&str> =
        zones.split(DELIMITER).map(str::trim).filter(|zone| !zone.is_empty()).collect();
    if zones.is_empty() {
        return;
    }
    if terms.is_empty() {
        terms.push(NodeSelectorTerm::default());
    }
    let values = zones.into_iter().map(Text::from).collect();
    let more = Requirement { key: key.into(), operator: Operator::In, values };
    for term in terms {
        let expressions: Vec<Requirement> =
            term.expressions().iter().cloned().chain([more.clone()]).collect();
        *term = NodeSelectorTerm::new(expressions, term.fields());
    }
}

/// The handle of an AWS disk, whose id is the bare name or `aws://<zone>/<name>`.
fn aws(id: &str) -> Result<String, String> {
    let Some(rest) = id.strip_prefix("aws://") else { return Ok(id.to_owned()) };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default();
    let name = path.trim_matches('/');
    if name.starts_with("vol-") && !name.contains('/') {
        return Ok(name.to_owned());
    }
    let words = "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume";
    Err(format!("{words} ({id})"))
}

/// The handle of a GCE disk, with the zone or region of its labels.
fn gce(disk: &str, labels: &Labels) -> Result<String, String> {
    let beta = labels.get(BETA_ZONE).filter(|zones| !zones.is_empty());
    let zones = beta.or_else(|| labels.get(ZONE)).unwrap_or_default();
    let place = if zones.contains(DELIMITER) {
        format!("regions/{}", gce_region(zones)?)
    } else {
        format!("zones/{}", if zones.is_empty() { UNSPECIFIED } else { zones })
    };
    Ok(format!("projects/{UNSPECIFIED}/{place}/disks/{disk}"))
}

/// The region of these zones, which must be in the same region.
fn gce_region(zones: &str) -> Result<String, String> {
    let mut regions = BTreeSet::new();
    for zone in zones.split(DELIMITER) {
        let parts: Vec<&str> = zone.split('-').collect();
        let [locale, region, _] = *parts else {
            let words = "zone in unexpected format, expected: {locale}-{region}-{zone}, got:";
            return Err(format!("failed to get region from zones: {words} {zone}"));
        };
        regions.insert(format!("{locale}-{region}"));
    }
    match regions.len() {
        1 => Ok(regions.into_iter().collect()),
        _ => {
            let all: Vec<String> = regions.into_iter().map(|region| format!("{region}:{{}}")).collect();
            let words = "failed to get region from zones: multiple or no regions gotten from zones, got:";
            Err(format!("{words} map[{}]", all.join(" ")))
        }
    }
}

/// The handle of an Azure disk. A disk of another kind than [`MANAGED`] cannot be migrated.
fn azure(uri: &str, kind: Option<&str>) -> Result<String, String> {
    match kind.filter(|kind| !kind.eq_ignore_ascii_case(MANAGED)) {
        Some(kind) => Err(format!("kind({kind}) is not supported in csi migration")),
        None => Ok(uri.to_owned()),
    }
}

#[cfg(test)]
mod tests;

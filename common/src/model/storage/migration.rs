//! Volumes of the plugins of old as their CSI drivers see them: what the driver calls them, and which nodes reach them.

use super::volume::{Backing, InTreePlugin, PersistentVolume};
use crate::model::affinity::{NodeSelector, NodeTerm};
use crate::model::ids::Text;
use crate::model::labels::Labels;
use crate::model::requirement::{Operator, Requirement};
use crate::model::volume::VolumeSource;
use std::borrow::Cow;
use std::collections::BTreeSet;

const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";
const OLD_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
const OLD_REGION: &str = "failure-domain.beta.kubernetes.io/region";

/// What separates the zones of a volume that is in several.
const DELIMITER: &str = "__";

/// What stands for what is not known.
const UNSPECIFIED: &str = "UNSPECIFIED";

/// The kind of Azure's disks that its driver looks after, in whatever case.
const MANAGED: &str = "Managed";

impl VolumeSource {
    /// The plugin that it is of, if that has become a CSI driver.
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

    /// What the driver calls it; nothing for what no driver has taken over.
    ///
    /// # Errors
    /// When it cannot be said, in Kubernetes' words.
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
    /// The plugin of old that it is of, if that has become a CSI driver.
    pub fn plugin(&self) -> Option<InTreePlugin> {
        match &self.backing {
            Backing::InTree { plugin, .. } => Some(*plugin),
            Backing::Csi { .. } | Backing::Other => None,
        }
    }

    /// What a driver calls it, of its own or of a plugin of old; nothing for what no driver knows.
    ///
    /// # Errors
    /// When it cannot be said, in Kubernetes' words.
    pub fn handle(&self) -> Result<Cow<'_, str>, String> {
        match &self.backing {
            Backing::Csi { handle, .. } => Ok(Cow::Borrowed(handle)),
            Backing::Other => Ok(Cow::Borrowed("")),
            Backing::InTree { plugin, id, kind } => match plugin {
                InTreePlugin::AwsEbs => aws(id).map(Cow::Owned),
                InTreePlugin::GcePd => gce(id, &self.labels).map(Cow::Owned),
                InTreePlugin::AzureDisk => azure(id, kind.as_deref()).map(Cow::Owned),
                InTreePlugin::Cinder | InTreePlugin::Portworx => Ok(Cow::Borrowed(id)),
            },
        }
    }

    /// The nodes that reach it where a driver has taken it over: those whose labels of the driver's are so.
    pub fn migrated_nodes(&self) -> Option<Cow<'_, NodeSelector>> {
        let own = self.nodes.as_ref().map(Cow::Borrowed);
        let Some(key) = self.plugin().and_then(InTreePlugin::zone_key) else { return own };
        let (zone, region) = self.zone_labels();
        let mut terms: Vec<NodeTerm> = self.nodes.iter().flat_map(|nodes| &nodes.terms).cloned().collect();
        if has_values(&terms, zone) {
            rename(&mut terms, zone, key);
        } else if let Some(zones) = self.labels.get(zone) {
            add(&mut terms, key, zones);
        }
        if region == OLD_REGION && has_values(&terms, region) {
            rename(&mut terms, region, REGION);
        }
        if self.nodes.is_none() && terms.is_empty() {
            return None;
        }
        Some(Cow::Owned(NodeSelector { terms: terms.into() }))
    }

    /// The labels by which it tells where it is, the new ones unless only the old ones are there.
    fn zone_labels(&self) -> (&'static str, &'static str) {
        let terms = self.nodes.as_ref().map_or(&[][..], |nodes| &nodes.terms);
        let asks = |key: &str| terms.iter().flat_map(NodeTerm::expressions).any(|one| *one.key == *key);
        let is_old = !asks(ZONE) && (asks(OLD_ZONE) || !self.labels.has(ZONE) && self.labels.has(OLD_ZONE));
        if is_old { (OLD_ZONE, OLD_REGION) } else { (ZONE, REGION) }
    }
}

/// Whether any value is asked for under `key`.
fn has_values(terms: &[NodeTerm], key: &str) -> bool {
    let mut asked = terms.iter().flat_map(NodeTerm::expressions);
    asked.any(|one| *one.key == *key && !one.values.is_empty())
}

fn rename(terms: &mut [NodeTerm], from: &str, to: &str) {
    for term in terms {
        let renamed = |one: &Requirement| {
            let key = if *one.key == *from { Text::from(to) } else { one.key.clone() };
            Requirement { key, ..one.clone() }
        };
        let expressions: Vec<Requirement> = term.expressions().iter().map(renamed).collect();
        *term = NodeTerm::new(expressions, term.fields());
    }
}

/// Asks of each term besides that the node is in one of the zones.
fn add(terms: &mut Vec<NodeTerm>, key: &str, zones: &str) {
    let zones: BTreeSet<&str> =
        zones.split(DELIMITER).map(str::trim).filter(|zone| !zone.is_empty()).collect();
    if zones.is_empty() {
        return;
    }
    if terms.is_empty() {
        terms.push(NodeTerm::default());
    }
    let values = zones.into_iter().map(Text::from).collect();
    let more = Requirement { key: key.into(), operator: Operator::In, values };
    for term in terms {
        let expressions: Vec<Requirement> =
            term.expressions().iter().cloned().chain([more.clone()]).collect();
        *term = NodeTerm::new(expressions, term.fields());
    }
}

/// A disk of AWS: its bare name, or `aws://<zone>/<name>`.
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

/// A disk of GCE, in the zone or the region that its labels tell.
fn gce(disk: &str, labels: &Labels) -> Result<String, String> {
    let old = labels.get(OLD_ZONE).filter(|zones| !zones.is_empty());
    let zones = old.or_else(|| labels.get(ZONE)).unwrap_or_default();
    let place = if zones.contains(DELIMITER) {
        format!("regions/{}", gce_region(zones)?)
    } else {
        format!("zones/{}", if zones.is_empty() { UNSPECIFIED } else { zones })
    };
    Ok(format!("projects/{UNSPECIFIED}/{place}/disks/{disk}"))
}

/// The one region that these zones are in.
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

/// A disk of Azure's, which its driver looks after if that is who manages it.
fn azure(uri: &str, kind: Option<&str>) -> Result<String, String> {
    match kind.filter(|kind| !kind.eq_ignore_ascii_case(MANAGED)) {
        Some(kind) => Err(format!("kind({kind}) is not supported in csi migration")),
        None => Ok(uri.to_owned()),
    }
}

#[cfg(test)]
mod tests;

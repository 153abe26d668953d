//! The kind and version of a file: the version that kube-scheduler reads today, an older one, or something else. Entry point:
//! [`of`].

use serde_json::Value;

use super::findings::{Findings, quoted};
use super::plugin_catalog::PluginCatalog;
use super::policy;

/// The group of kube-scheduler's configuration.
const GROUP: &str = "kubescheduler.config.k8s.io";
pub(super) const KIND: &str = "KubeSchedulerConfiguration";
pub(super) const API_VERSION: &str = "kubescheduler.config.k8s.io/v1";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    /// `v1beta1` to `v1beta3`: read with warnings.
    Beta(u8),
}

impl Version {
    const ALL: [(&'static str, Version); 4] = [
        ("v1", Version::V1),
        ("v1beta3", Version::Beta(3)),
        ("v1beta2", Version::Beta(2)),
        ("v1beta1", Version::Beta(1)),
    ];

    pub(super) fn parse(api_version: &str) -> Option<Self> {
        let (group, version) = api_version.split_once('/')?;
        let known = Self::ALL.iter().find(|(name, _)| *name == version)?;
        (group == GROUP).then_some(known.1)
    }

    pub(super) fn is_old(self) -> bool {
        self != Version::V1
    }
}

/// The version of the file; `None` after reporting an error. The text is a file to use instead, for an old Policy file.
pub(super) fn of(
    file: &Value,
    catalog: PluginCatalog<'_>,
    found: &mut Findings,
) -> (Option<Version>, Option<String>) {
    let field = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (field("apiVersion"), field("kind"));
    if !file.is_object() {
        found.error("", format!("is not a map; a {KIND} starts with \"apiVersion: {API_VERSION}\""));
        return (None, None);
    }
    if kind == "Policy" {
        found.error(
            "kind",
            "\"Policy\" files are no longer read, by kube-scheduler since 1.23; write a profile instead",
        );
        return (None, Some(policy::replacement(file, catalog)));
    }
    if kind.is_empty() {
        found.error("kind", format!("is missing; expected {KIND}"));
    } else if kind != KIND {
        found.error("kind", format!("{} is no {KIND}", quoted(kind)));
    }
    let version = Version::parse(api_version);
    match version {
        Some(version) if version.is_old() => {
            found.warn(
                "apiVersion",
                format!("{} is an old version; read as {API_VERSION}", quoted(api_version)),
            );
        }
        Some(_) => {}
        None => found.error("apiVersion", unknown(api_version, file)),
    }
    (version.filter(|_| kind == KIND), None)
}

fn unknown(api_version: &str, file: &Value) -> String {
    if api_version.is_empty() {
        return format!("is missing; expected {API_VERSION}");
    }
    let hint = match file.get("algorithmSource") {
        Some(_) => {
            "; instead of algorithmSource, write profiles (read the policy file in its place to see them)"
        }
        None => "",
    };
    format!("{} is not read; expected {API_VERSION}{hint}", quoted(api_version))
}

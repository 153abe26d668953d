//! What is installed: the very files of `manifests/`, put together as `kubectl apply -k` does it. Pure: text to objects.

mod differ;
mod hash;
mod kinds;
mod overlay;
#[cfg(test)]
mod tests;

pub(crate) use differ::difference;
pub(crate) use kinds::{KINDS, Kind};

use common::api::names;
use serde_json::{Value, json};

/// The files, in no particular order.
const FILES: [&str; 10] = [
    include_str!("../../../manifests/daemon/namespace.yaml"),
    include_str!("../../../manifests/daemon/rbac.yaml"),
    include_str!("../../../manifests/daemon/account.yaml"),
    include_str!("../../../manifests/policies/writers.yaml"),
    include_str!("../../../manifests/policies/values.yaml"),
    include_str!("../../../manifests/daemon/policies.yaml"),
    include_str!("../../../manifests/daemon/fence.yaml"),
    include_str!("../../../manifests/daemon/flow.yaml"),
    include_str!("../../../manifests/daemon/deployment.yaml"),
    include_str!("../../../manifests/daemon/network.yaml"),
];

/// What the extender adds, and what it changes.
const EXTENDER: &str = include_str!("../../../manifests/extender/service.yaml");
const EXTENDER_PATCHES: [&str; 2] = [
    include_str!("../../../manifests/extender/deployment.yaml"),
    include_str!("../../../manifests/extender/network.yaml"),
];

/// The daemon's configuration, which becomes a ConfigMap.
const CONFIG: &str = include_str!("../../../manifests/daemon/config.yaml");

/// The image's name in the files; its tag is this version.
const IMAGE: &str = "reserve-daemon";

/// What may be chosen about it.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) image: Option<String>,
    pub(crate) namespace: String,
    /// Whether the daemon answers kube-scheduler as its extender.
    pub(crate) is_extender: bool,
}

/// An object, as it is applied.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Object {
    pub(crate) kind: Kind,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) json: Value,
}

impl Object {
    /// An object out of its JSON, if it is of a kind that is installed.
    pub(crate) fn new(json: Value) -> Option<Self> {
        let text = |pointer| json.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let (_, kind) = Kind::find(json.get("kind")?.as_str()?)?;
        let namespace = text("/metadata/namespace").filter(|_| kind.is_namespaced);
        Some(Self { kind, namespace, name: text("/metadata/name")?, json })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.kind.path(self.namespace.as_deref()), self.name)
    }

    /// `deployment.apps/reserve-daemon`.
    pub(crate) fn word(&self) -> String {
        format!("{}/{}", self.kind.word(), self.name)
    }

    /// Whether it is that object, whatever it says.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.kind == other.kind && self.namespace == other.namespace && self.name == other.name
    }
}

/// The image that is used unless another one is named.
pub(crate) fn default_image() -> String {
    format!("{IMAGE}:{}", env!("CARGO_PKG_VERSION"))
}

/// Everything, in the order in which it is applied.
pub(crate) fn objects(choice: &Choice) -> Result<Vec<Object>, String> {
    let read = |text: &str| documents(&in_namespace(text, &choice.namespace));
    let mut all = Vec::new();
    for file in FILES {
        all.extend(read(file)?);
    }
    if choice.is_extender {
        all.extend(read(EXTENDER)?);
        for patch in EXTENDER_PATCHES {
            for patch in read(patch)? {
                overlay::apply(&mut all, &patch)?;
            }
        }
    }
    let config = config_map(&choice.namespace);
    let config_name = config.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
    all.push(config);
    for json in &mut all {
        label(json);
        if json["kind"] == "Deployment" {
            fill_in(json, choice, &config_name);
        }
    }
    let mut objects: Vec<Object> = all
        .into_iter()
        .map(|json| Object::new(json).ok_or("an object of a kind that is not known here"))
        .collect::<Result<_, _>>()?;
    objects.sort_by_key(|object| Kind::find(object.kind.kind).map(|(order, _)| order));
    Ok(objects)
}

/// The namespace stands in policies and in the configuration too, so it is exchanged in the text.
fn in_namespace(text: &str, namespace: &str) -> String {
    text.replace(names::NAMESPACE, namespace)
}

fn documents(text: &str) -> Result<Vec<Value>, String> {
    serde_saphyr::from_multiple(text).map_err(|error| error.to_string())
}

fn config_map(namespace: &str) -> Value {
    let data = json!({ "config.yaml": in_namespace(CONFIG, namespace) });
    let name = format!("{IMAGE}-{}", hash::suffix(&data));
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "namespace": namespace }, "data": data })
}

fn label(json: &mut Value) {
    json["metadata"]["labels"][names::PART_LABEL] = names::APP.into();
}

/// The image, and the ConfigMap's whole name.
fn fill_in(deployment: &mut Value, choice: &Choice, config: &str) {
    let image = choice.image.clone().unwrap_or_else(default_image);
    let spec = &mut deployment["spec"]["template"]["spec"];
    for container in spec["containers"].as_array_mut().into_iter().flatten() {
        container["image"] = image.as_str().into();
    }
    for volume in spec["volumes"].as_array_mut().into_iter().flatten() {
        if volume["configMap"]["name"] == IMAGE {
            volume["configMap"]["name"] = config.into();
        }
    }
}

/// All objects as text that `kubectl apply -f -` takes.
pub(crate) fn yaml(objects: &[Object]) -> Result<String, String> {
    let mut text = String::new();
    for object in objects {
        text.push_str("---\n");
        text.push_str(&serde_saphyr::to_string(&object.json).map_err(|error| error.to_string())?);
    }
    Ok(text)
}

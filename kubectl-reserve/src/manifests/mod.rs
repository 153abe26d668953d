//! The objects that `install` applies: the files of `manifests/`, combined as `kubectl apply -k` does. Pure: text to objects. Entry
//! points: [`objects`], [`difference`].

mod differ;
mod hash;
mod kinds;
mod overlay;
#[cfg(test)]
mod tests;

pub(crate) use differ::difference;
pub(crate) use kinds::{KINDS, ManifestKind};

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

/// The object that the extender adds, and the patches that it needs.
const EXTENDER: &str = include_str!("../../../manifests/extender/service.yaml");
const EXTENDER_PATCHES: [&str; 2] = [
    include_str!("../../../manifests/extender/deployment.yaml"),
    include_str!("../../../manifests/extender/network.yaml"),
];

/// The daemon's configuration, which becomes a ConfigMap.
const CONFIG: &str = include_str!("../../../manifests/daemon/config.yaml");

/// The image's name in the files; its tag is this version.
const IMAGE: &str = "reserve-daemon";

#[derive(Debug, Clone)]
pub(crate) struct InstallOptions {
    pub(crate) image: Option<String>,
    pub(crate) namespace: String,
    /// Whether the daemon answers kube-scheduler as its extender.
    pub(crate) is_extender: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Object {
    pub(crate) kind: ManifestKind,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) json: Value,
}

impl Object {
    /// An object from its JSON; `None` if its kind is not among [`KINDS`].
    pub(crate) fn new(json: Value) -> Option<Self> {
        let text = |pointer| json.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let (_, kind) = ManifestKind::find(json.get("kind")?.as_str()?)?;
        let namespace = text("/metadata/namespace").filter(|_| kind.is_namespaced);
        Some(Self { kind, namespace, name: text("/metadata/name")?, json })
    }

    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.kind.path(self.namespace.as_deref()), self.name)
    }

    /// The name as kubectl writes it: `deployment.apps/reserve-daemon`.
    pub(crate) fn word(&self) -> String {
        format!("{}/{}", self.kind.word(), self.name)
    }

    /// Whether both are the same object in the cluster, whatever their content.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.kind == other.kind && self.namespace == other.namespace && self.name == other.name
    }
}

pub(crate) fn default_image() -> String {
    format!("{IMAGE}:{}", env!("CARGO_PKG_VERSION"))
}

/// All objects, in the order in which they are applied.
pub(crate) fn objects(options: &InstallOptions) -> Result<Vec<Object>, String> {
    let read = |text: &str| documents(&in_namespace(text, &options.namespace));
    let mut all = Vec::new();
    for file in FILES {
        all.extend(read(file)?);
    }
    if options.is_extender {
        all.extend(read(EXTENDER)?);
        for patch in EXTENDER_PATCHES {
            for patch in read(patch)? {
                overlay::apply(&mut all, &patch)?;
            }
        }
    }
    let config = config_map(&options.namespace);
    let config_name = config.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
    all.push(config);
    for json in &mut all {
        label(json);
        if json["kind"] == "Deployment" {
            fill_in(json, options, &config_name);
        }
    }
    let mut objects: Vec<Object> = all
        .into_iter()
        .map(|json| Object::new(json).ok_or("an object of a kind that is not known here"))
        .collect::<Result<_, _>>()?;
    objects.sort_by_key(|object| ManifestKind::find(object.kind.kind).map(|(order, _)| order));
    Ok(objects)
}

/// Replaces the namespace in the text, since policies and the configuration contain it, too.
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

/// Sets the image, and the full name of the ConfigMap.
fn fill_in(deployment: &mut Value, options: &InstallOptions, config: &str) {
    let image = options.image.clone().unwrap_or_else(default_image);
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

/// All objects as YAML for `kubectl apply -f -`.
pub(crate) fn yaml(objects: &[Object]) -> Result<String, String> {
    let mut text = String::new();
    for object in objects {
        text.push_str("---\n");
        text.push_str(&serde_saphyr::to_string(&object.json).map_err(|error| error.to_string())?);
    }
    Ok(text)
}

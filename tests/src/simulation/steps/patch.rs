//! JSON patches of a node's annotations, as the API server applies them: all operations or none.

use super::api::{Actor, Api, ErrorCode};
use crate::history::patches::stripped;
use common::api::names;
use common::api::reservation::parse;
use common::model::node::AnnotationSize;
use common::model::{Node, NodeName};
use serde_json::Value;
use std::collections::BTreeMap;

/// The API server's limit for the annotations of an object, in bytes.
const BYTES_MAX: u32 = 256 << 10;

type Annotations = BTreeMap<String, String>;

/// What a client reads of a node.
#[derive(Clone, Debug)]
pub(super) struct NodeSnapshot {
    pub(super) uid: String,
    pub(super) version: String,
    pub(super) annotations: Annotations,
}

impl Api {
    pub(super) fn read_node(&self, name: &NodeName) -> Result<NodeSnapshot, ErrorCode> {
        let node = self.state.nodes.get(name).ok_or(ErrorCode(404))?;
        let annotations = self.annotations.get(name).cloned().unwrap_or_default();
        Ok(NodeSnapshot {
            uid: node.uid.to_string(),
            version: node.resource_version.to_string(),
            annotations,
        })
    }

    /// Applies a JSON patch. Returns the new version.
    pub(super) fn patch_node(
        &mut self,
        who: Actor,
        name: &NodeName,
        patch: &Value,
    ) -> Result<u64, ErrorCode> {
        let snapshot = self.read_node(name)?;
        let annotations = patched(&snapshot, patch).ok_or(ErrorCode(422))?;
        if annotations == snapshot.annotations {
            return Ok(snapshot.version.parse().unwrap_or(0));
        }
        self.annotate(who, name, annotations)
    }

    /// Replaces all annotations of a node. Returns the new version.
    pub(super) fn annotate(
        &mut self,
        who: Actor,
        name: &NodeName,
        annotations: Annotations,
    ) -> Result<u64, ErrorCode> {
        let node = self.state.nodes.get(name).ok_or(ErrorCode(404))?;
        let size = size(&annotations);
        if size.bytes > BYTES_MAX {
            return Err(ErrorCode(422));
        }
        let before = self.annotations.get(name).cloned().unwrap_or_default();
        self.rules.check_annotations(who, name, &before, &annotations);
        if let Some(what) = stripped(&before, &annotations) {
            self.rules.break_("I6", &format!("{who:?} on {name}: {what}"));
        }
        let pairs = annotations.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let reservations = parse(pairs).into_boxed_slice();
        let node = Node { reservations, annotations: size, ..Node::clone(node) };
        for (key, value) in annotations.iter().filter(|(key, value)| before.get(*key) != Some(value)) {
            self.history.note(self.now, format_args!("{who:?} on {name}: {key}={value}"));
        }
        for key in before.keys().filter(|key| !annotations.contains_key(*key)) {
            self.history.note(self.now, format_args!("{who:?} on {name}: {key}-"));
        }
        self.annotations.insert(name.clone(), annotations);
        Ok(self.put_node(who, node))
    }
}

fn patched(snapshot: &NodeSnapshot, patch: &Value) -> Option<Annotations> {
    let mut next = snapshot.annotations.clone();
    for step in patch.as_array()? {
        let (op, path) = (step["op"].as_str()?, step["path"].as_str()?);
        let key = path.strip_prefix("/metadata/annotations/");
        let key = key.map(|key| key.replace("~1", "/").replace("~0", "~"));
        let value = step["value"].as_str();
        let is_well = match (op, path, key) {
            ("test", "/metadata/uid", _) => Some(&*snapshot.uid) == value,
            ("test", "/metadata/resourceVersion", _) => Some(&*snapshot.version) == value,
            ("test", _, Some(key)) => next.get(&key).map(String::as_str) == value,
            ("remove", _, Some(key)) => next.remove(&key).is_some(),
            ("add", "/metadata/annotations", _) => next.is_empty(),
            ("add", _, Some(key)) => next.insert(key, value?.to_owned()).is_none() || value.is_some(),
            _ => false,
        };
        if !is_well {
            return None;
        }
    }
    Some(next)
}

fn size(annotations: &Annotations) -> AnnotationSize {
    let mut size = AnnotationSize::default();
    for (key, value) in annotations {
        let bytes = u32::try_from(key.len() + value.len()).unwrap_or(u32::MAX);
        size.bytes = size.bytes.saturating_add(bytes);
        if key.starts_with(names::NODE_PREFIX) {
            size.our_bytes = size.our_bytes.saturating_add(bytes);
            size.our_keys += 1;
        }
    }
    size
}

//! Parses a request: path, query, and the requested form.

use crate::refusal::{Answer, Refusal};
use crate::resources::find;
use crate::store::Key;
use http::HeaderMap;
use http::header::ACCEPT;
use std::collections::BTreeMap;

/// The object or list that a path names.
#[derive(Debug)]
pub(super) struct Target {
    /// The namespace is empty for all namespaces, the name for all objects of the kind.
    pub(super) key: Key,
    pub(super) subresource: String,
}

impl Target {
    /// Parses `/api/v1/…` or `/apis/GROUP/v1/…`; `None` if nothing is served there.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let parts: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(decoded).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let (group, rest) = match parts[..] {
            ["api", "v1", ref rest @ ..] => ("", rest),
            ["apis", group, "v1", ref rest @ ..] => (group, rest),
            _ => return None,
        };
        let (resource, namespace, more) = match rest {
            // `namespaces/NAME/status` names a namespace, `namespaces/NAME/pods` the pods in it.
            ["namespaces", namespace, plural, more @ ..] if *plural != "status" => {
                (find(group, plural).filter(|one| one.is_namespaced)?, *namespace, more)
            }
            [plural, more @ ..] => (find(group, plural)?, "", more),
            [] => return None,
        };
        let (name, subresource) = match more {
            [] => ("", ""),
            // An object of a namespaced kind has no path without its namespace.
            _ if resource.is_namespaced && namespace.is_empty() => return None,
            [name] => (*name, ""),
            [name, subresource] => (*name, *subresource),
            _ => return None,
        };
        Some(Self { key: Key::new(resource, namespace, name), subresource: subresource.to_owned() })
    }
}

#[derive(Debug)]
pub(super) struct Query(BTreeMap<String, String>);

impl Query {
    pub(super) fn parse(query: &str) -> Self {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(key, value)| (decoded(key), decoded(value)))
                .collect(),
        )
    }

    /// The value of a parameter; empty if it is missing.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        matches!(self.get(name), "true" | "1")
    }

    pub(super) fn number(&self, name: &str) -> Answer<Option<u64>> {
        match self.get(name) {
            "" => Ok(None),
            text => {
                text.parse().map(Some).map_err(|_| Refusal::bad_request(format!("invalid {name}: {text:?}")))
            }
        }
    }

    pub(super) fn is_dry(&self) -> Answer<bool> {
        match self.get("dryRun") {
            "" => Ok(false),
            "All" => Ok(true),
            other => Err(Refusal::bad_request(format!("invalid dryRun: {other:?}"))),
        }
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail
            .get(..2)
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, hex) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
                continue;
            }
            (b'+', _) => bytes.push(b' '),
            (other, _) => bytes.push(*other),
        }
        rest = tail;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Whole,
    Metadata,
    /// Rows of a table, as `kubectl get` prints them.
    Table,
}

impl Form {
    /// The first form of the `Accept` header that the sandbox supports; `None` if there is none.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("*/*");
        accept.split(',').find_map(|media| {
            let mut parts = media.split(';').map(str::trim);
            let is_json = matches!(parts.next()?, "application/json" | "*/*" | "application/*");
            let parts: Vec<&str> = parts.collect();
            let is_v1 = !parts.iter().any(|part| part.starts_with("v=") && *part != "v=v1");
            match parts.iter().find_map(|part| part.strip_prefix("as=")) {
                _ if !is_json || !is_v1 => None,
                None => Some(Self::Whole),
                Some("Table") => Some(Self::Table),
                Some("PartialObjectMetadata" | "PartialObjectMetadataList") => Some(Self::Metadata),
                Some(_) => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, Key, Query, Target};
    use http::HeaderMap;

    #[test]
    fn paths_are_taken_apart() {
        let read = |path: &str| {
            let target = Target::parse(path)?;
            let Key { resource, namespace, name } = target.key;
            Some(format!("{} {namespace} {name} {}", resource.qualified(), target.subresource))
        };
        let table = [
            ("/api/v1/nodes", Some("nodes   ")),
            ("/api/v1/nodes/n1/status", Some("nodes  n1 status")),
            ("/api/v1/namespaces/a", Some("namespaces  a ")),
            ("/api/v1/namespaces/a/status", Some("namespaces  a status")),
            ("/api/v1/namespaces/a/pods/p/binding", Some("pods a p binding")),
            ("/apis/apps/v1/deployments", Some("deployments.apps   ")),
            ("/apis/apps/v1/namespaces/a/deployments/d", Some("deployments.apps a d ")),
            ("/api/v1/pods/p", None),
            ("/api/v1/namespaces/a/nodes", None),
            ("/apis/apps/v2/deployments", None),
            ("/api/v1/dragons", None),
        ];
        for (path, expected) in table {
            assert_eq!(read(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn queries_and_forms_are_read() {
        let query = Query::parse("&limit=500&fieldSelector=status.phase%21%3DFailed&watch=1&x=a+b");
        assert_eq!(
            (query.get("fieldSelector"), query.get("x"), query.is_true("watch")),
            ("status.phase!=Failed", "a b", true)
        );
        let form =
            |accept: &str| Form::of(&HeaderMap::from_iter([(http::header::ACCEPT, accept.parse().unwrap())]));
        let table = [
            ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", Some(Form::Table)),
            ("application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", Some(Form::Whole)),
            ("application/vnd.kubernetes.protobuf,application/json", Some(Form::Whole)),
            ("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", Some(Form::Metadata)),
            ("application/vnd.kubernetes.protobuf", None),
            ("*/*", Some(Form::Whole)),
        ];
        for (accept, expected) in table {
            assert_eq!(form(accept), expected, "{accept}");
        }
    }
}

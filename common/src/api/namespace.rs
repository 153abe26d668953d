//! Decodes a Namespace.

use super::DecodeError;
use super::meta::{ObjectWire, decode};
use crate::model::namespace::Namespace;

pub fn namespace(json: &str) -> Result<Namespace, DecodeError> {
    let ObjectWire { metadata, .. } = decode::<ObjectWire<'_>>("Namespace", json)?;
    Ok(Namespace { meta: metadata.object("Namespace")?, labels: metadata.labels(), keep: metadata.keep() })
}

#[cfg(test)]
mod tests {
    use super::namespace;

    #[test]
    fn labels_are_kept_and_a_list_is_none() {
        let decoded = namespace(
            r#"{"metadata":{"name":"a","uid":"u","resourceVersion":"3","labels":{"team":"red"}},"spec":{"finalizers":null}}"#,
        )
        .unwrap();
        assert_eq!((&*decoded.meta.name, decoded.meta.resource_version), ("a", 3));
        assert_eq!(decoded.labels.get("team"), Some("red"));
        assert_eq!(&*decoded.meta.namespace, "");
        assert!(
            namespace(r#"{"metadata":{"name":"a","labels":null}}"#).unwrap().labels.iter().next().is_none()
        );
        for odd in
            [r#"{"metadata":{"resourceVersion":"5"},"items":[]}"#, "{}", "null", r#"{"metadata":{"name":5}}"#]
        {
            assert!(namespace(odd).is_err(), "{odd}");
        }
    }
}

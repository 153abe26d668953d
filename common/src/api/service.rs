//! Decodes a Service.

use super::DecodeError;
use super::meta::{ObjectWire, Pairs, decode};
use crate::model::service::Service;
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct SpecWire<'a> {
    selector: Option<Pairs<'a>>,
}

pub fn service(json: &str) -> Result<Service, DecodeError> {
    let ObjectWire::<SpecWire<'_>> { metadata, spec, .. } = decode("Service", json)?;
    let selector = spec.selector.unwrap_or_default().labels();
    Ok(Service { meta: metadata.object("Service")?, selector })
}

#[cfg(test)]
mod tests {
    use super::service;
    use crate::model::labels::Labels;

    #[test]
    fn a_service_selects_pods_that_have_all_its_labels() {
        let json = r#"{"metadata":{"name":"web","namespace":"a","uid":"u"},"spec":{"selector":{"app":"web","tier":"x"},"ports":null}}"#;
        let web = service(json).unwrap();
        assert_eq!((&*web.meta.namespace, &*web.meta.name), ("a", "web"));
        assert!(web.selects(&Labels::new([("app", "web"), ("tier", "x"), ("more", "y")])));
        assert!(!web.selects(&Labels::new([("app", "web")])));
    }

    #[test]
    fn a_service_without_a_selector_selects_nothing() {
        for spec in ["null", "{}", r#"{"selector":null}"#, r#"{"selector":{}}"#] {
            let json = format!(r#"{{"metadata":{{"name":"s","uid":"u"}},"spec":{spec}}}"#);
            assert!(!service(&json).unwrap().selects(&Labels::new([("app", "web")])), "{spec}");
        }
        assert!(service(r#"{"metadata":{"name":"s"},"spec":{"selector":["app"]}}"#).is_err());
    }
}

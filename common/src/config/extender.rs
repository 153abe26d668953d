//! Parses extenders, with kube-scheduler's defaults and checks. Entry point: [`read_all`].

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::file_value::{FileMap, FileValue};
use super::findings::{Findings, quoted};
use super::value::{Extender, ExtenderTls, ManagedResource, Secret};
use crate::model::resources::is_extended_name;

const EXTENDER: [&str; 12] = [
    "urlPrefix",
    "filterVerb",
    "preemptVerb",
    "prioritizeVerb",
    "weight",
    "bindVerb",
    "enableHTTPS",
    "tlsConfig",
    "httpTimeout",
    "nodeCacheCapable",
    "managedResources",
    "ignorable",
];
const TLS: [&str; 8] =
    ["insecure", "serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData"];

const TIMEOUT: SignedDuration = SignedDuration::from_secs(5);

pub(super) fn read_all(file: &FileMap<'_>, found: &mut Findings) -> Vec<Extender> {
    let list = file.list("extenders", found);
    let mut managed = BTreeSet::new();
    let extenders: Vec<Extender> = list.iter().filter_map(|node| read(node, &mut managed, found)).collect();
    let binders = extenders.iter().filter(|extender| !extender.bind_verb.is_empty()).count();
    if binders > 1 {
        found.error("extenders", format!("{binders} of them have a bindVerb; only one can bind"));
    }
    extenders
}

pub(super) fn ignored_resources(extenders: &[Extender]) -> Vec<String> {
    let managed = extenders.iter().flat_map(|extender| &extender.managed_resources);
    managed.filter(|resource| resource.ignored_by_scheduler).map(|resource| resource.name.clone()).collect()
}

fn read(node: &FileValue<'_>, managed: &mut BTreeSet<String>, found: &mut Findings) -> Option<Extender> {
    let object = node.object(&EXTENDER, found)?;
    let mut text = |key: &str| object.text(key, found).unwrap_or_default();
    let (url_prefix, filter_verb, preempt_verb) =
        (text("urlPrefix"), text("filterVerb"), text("preemptVerb"));
    let (prioritize_verb, bind_verb) = (text("prioritizeVerb"), text("bindVerb"));
    let mut flag = |key: &str| object.flag(key, found).unwrap_or(false);
    let (enable_https, node_cache_capable, ignorable) =
        (flag("enableHTTPS"), flag("nodeCacheCapable"), flag("ignorable"));
    let weight = object.int64("weight", found).unwrap_or(0);
    if !prioritize_verb.is_empty() && weight <= 0 {
        found.error(
            &object.child("weight"),
            format!("{weight} is not more than 0, and there is a prioritizeVerb"),
        );
    }
    let timeout = object.duration("httpTimeout", found).filter(|timeout| !timeout.is_zero());
    Some(Extender {
        url_prefix,
        filter_verb,
        preempt_verb,
        prioritize_verb,
        weight,
        bind_verb,
        enable_https,
        tls: tls(&object, found),
        http_timeout: timeout.unwrap_or(TIMEOUT),
        node_cache_capable,
        managed_resources: managed_resources(&object, managed, found),
        ignorable,
    })
}

fn managed_resources(
    extender: &FileMap<'_>,
    managed: &mut BTreeSet<String>,
    found: &mut Findings,
) -> Vec<ManagedResource> {
    let mut resources = Vec::new();
    for node in extender.list("managedResources", found) {
        let Some(object) = node.object(&["name", "ignoredByScheduler"], found) else { continue };
        let name = object.text("name", found).unwrap_or_default();
        if !is_extended_name(&name) {
            let what = format!("{} is not the name of an extended resource", quoted(&name));
            found.error(&object.child("name"), what);
        }
        if !managed.insert(name.clone()) {
            found.error(&object.child("name"), format!("{} is managed twice", quoted(&name)));
        }
        let ignored_by_scheduler = object.flag("ignoredByScheduler", found).unwrap_or(false);
        resources.push(ManagedResource { name, ignored_by_scheduler });
    }
    resources
}

fn tls(extender: &FileMap<'_>, found: &mut Findings) -> Option<ExtenderTls> {
    let object = extender.object("tlsConfig", &TLS, found)?;
    let mut text = |key: &str| object.text(key, found).unwrap_or_default();
    let (server_name, cert_file, key_file, ca_file) =
        (text("serverName"), text("certFile"), text("keyFile"), text("caFile"));
    let mut data = |key: &str| Secret::new(object.bytes(key, found));
    let (cert_data, key_data, ca_data) = (data("certData"), data("keyData"), data("caData"));
    let insecure = object.flag("insecure", found).unwrap_or(false);
    if insecure && (!ca_file.is_empty() || !ca_data.bytes().is_empty()) {
        found.error(&object.child("insecure"), "any certificate will do, and yet there are roots to trust");
    }
    Some(ExtenderTls { insecure, server_name, cert_file, key_file, ca_file, cert_data, key_data, ca_data })
}

//! Prints an extender as a file has it, without secrets.

use serde_json::{Value, json};

use super::duration;
use super::show::{REDACTED, put};
use super::value::{Extender, ExtenderTls, ManagedResource};

pub(super) fn extender(extender: &Extender) -> Value {
    let mut shown = json!({
        "urlPrefix": without_password(&extender.url_prefix),
        "httpTimeout": duration::print(extender.http_timeout),
    });
    let verbs = [
        ("filterVerb", &extender.filter_verb),
        ("preemptVerb", &extender.preempt_verb),
        ("prioritizeVerb", &extender.prioritize_verb),
        ("bindVerb", &extender.bind_verb),
    ];
    put_filled(&mut shown, verbs);
    let flags = [
        ("enableHTTPS", extender.enable_https),
        ("nodeCacheCapable", extender.node_cache_capable),
        ("ignorable", extender.ignorable),
    ];
    for (key, _) in flags.into_iter().filter(|(_, flag)| *flag) {
        put(&mut shown, key, json!(true));
    }
    if extender.weight != 0 {
        put(&mut shown, "weight", json!(extender.weight));
    }
    if let Some(config) = &extender.tls {
        put(&mut shown, "tlsConfig", tls(config));
    }
    if !extender.managed_resources.is_empty() {
        put(&mut shown, "managedResources", extender.managed_resources.iter().map(managed).collect());
    }
    shown
}

fn managed(resource: &ManagedResource) -> Value {
    if resource.ignored_by_scheduler {
        return json!({"name": resource.name, "ignoredByScheduler": true});
    }
    json!({"name": resource.name})
}

fn tls(tls: &ExtenderTls) -> Value {
    let mut shown = json!({});
    let texts = [
        ("serverName", &tls.server_name),
        ("certFile", &tls.cert_file),
        ("keyFile", &tls.key_file),
        ("caFile", &tls.ca_file),
    ];
    put_filled(&mut shown, texts);
    let secrets = [("certData", &tls.cert_data), ("keyData", &tls.key_data), ("caData", &tls.ca_data)];
    for (key, _) in secrets.into_iter().filter(|(_, secret)| !secret.bytes().is_empty()) {
        put(&mut shown, key, json!(REDACTED));
    }
    if tls.insecure {
        put(&mut shown, "insecure", json!(true));
    }
    shown
}

fn put_filled<const N: usize>(shown: &mut Value, texts: [(&str, &String); N]) {
    for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        put(shown, key, json!(text));
    }
}

/// `https://user:password@host` without the user and the password.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let Some((_, host)) = authority.rsplit_once('@') else { return url.to_owned() };
    let colon = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{colon}{REDACTED}@{host}{path}")
}

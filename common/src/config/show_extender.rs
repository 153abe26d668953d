//! Prints an extender as a file has it, without secrets.

use serde_json::{Value, json};

use super::duration;
use super::show::{REDACTED, with};
use super::value::{Extender, ExtenderTls, ManagedResource, Secret};

pub(super) fn extender(extender: &Extender) -> Value {
    let shown = json!({
        "urlPrefix": without_password(&extender.url_prefix),
        "httpTimeout": duration::print(extender.http_timeout),
    });
    let optional = json!({
        "filterVerb": extender.filter_verb,
        "preemptVerb": extender.preempt_verb,
        "prioritizeVerb": extender.prioritize_verb,
        "bindVerb": extender.bind_verb,
        "enableHTTPS": extender.enable_https,
        "nodeCacheCapable": extender.node_cache_capable,
        "ignorable": extender.ignorable,
        "weight": Some(extender.weight).filter(|weight| *weight != 0),
        "tlsConfig": extender.tls.as_ref().map(tls),
        "managedResources": extender.managed_resources.iter().map(managed).collect::<Vec<_>>(),
    });
    with(shown, optional)
}

fn managed(resource: &ManagedResource) -> Value {
    with(json!({"name": resource.name}), json!({"ignoredByScheduler": resource.ignored_by_scheduler}))
}

fn tls(tls: &ExtenderTls) -> Value {
    let redacted = |secret: &Secret| (!secret.bytes().is_empty()).then_some(REDACTED);
    let optional = json!({
        "serverName": tls.server_name,
        "certFile": tls.cert_file,
        "keyFile": tls.key_file,
        "caFile": tls.ca_file,
        "certData": redacted(&tls.cert_data),
        "keyData": redacted(&tls.key_data),
        "caData": redacted(&tls.ca_data),
        "insecure": tls.insecure,
    });
    with(json!({}), optional)
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

//! The connection flags: how they change the cluster and the user of the kubeconfig, and how their values are parsed.

use super::{bad_url, parse_url};
use crate::cli::Connection;
use crate::error::Failure;
use common::config::parse_duration;
use http::Uri;
use kube::config::{AuthInfo, Cluster};
use std::path::Path;
use std::time::Duration;

pub(super) fn cluster(flags: &Connection, cluster: &mut Cluster) {
    let set = |value: &mut Option<String>, flag: &Option<String>| {
        if flag.is_some() {
            value.clone_from(flag);
        }
    };
    set(&mut cluster.server, &flags.server);
    set(&mut cluster.proxy_url, &flags.proxy_url);
    set(&mut cluster.tls_server_name, &flags.tls_server_name);
    if let Some(file) = &flags.certificate_authority {
        cluster.certificate_authority = Some(text(file));
        cluster.certificate_authority_data = None;
        cluster.insecure_skip_tls_verify = None;
    }
    if let Some(is_insecure) = flags.insecure_skip_tls_verify {
        cluster.insecure_skip_tls_verify = Some(is_insecure);
    }
}

/// Applies the flags to the user. A token replaces all other credentials but certificates.
pub(super) fn user(flags: &Connection, user: &mut AuthInfo) -> Result<(), Failure> {
    if let Some(token) = &flags.token {
        user.token = Some(token.clone().into());
        (user.token_file, user.exec, user.auth_provider) = (None, None, None);
        (user.username, user.password) = (None, None);
    }
    if let Some(file) = &flags.client_certificate {
        (user.client_certificate, user.client_certificate_data) = (Some(text(file)), None);
    }
    if let Some(file) = &flags.client_key {
        (user.client_key, user.client_key_data) = (Some(text(file)), None);
    }
    impersonate(flags, user)
}

fn impersonate(flags: &Connection, user: &mut AuthInfo) -> Result<(), Failure> {
    if flags.as_user.is_some() {
        // Groups and extras of the kubeconfig belong to the user that it impersonates, not to this one.
        user.impersonate.clone_from(&flags.as_user);
        (user.impersonate_uid, user.impersonate_groups, user.impersonate_user_extra) = (None, None, None);
    }
    if flags.as_uid.is_some() {
        user.impersonate_uid.clone_from(&flags.as_uid);
    }
    if !flags.as_group.is_empty() {
        user.impersonate_groups = Some(flags.as_group.clone());
    }
    if !flags.as_user_extra.is_empty() {
        let extras = user.impersonate_user_extra.get_or_insert_default();
        for extra in &flags.as_user_extra {
            let Some((key, value)) = extra.split_once('=').filter(|(key, _)| !key.is_empty()) else {
                return Err(Failure::usage(format!("--as-user-extra {extra:?}: expected KEY=VALUE")));
            };
            extras.entry(key.to_owned()).or_default().push(value.to_owned());
        }
    }
    let has_more = user.impersonate_uid.is_some()
        || user.impersonate_groups.is_some()
        || user.impersonate_user_extra.is_some();
    if has_more && user.impersonate.is_none() {
        return Err(Failure::usage("requesting uid, groups or user-extra without impersonating a user")
            .hint("add --as USER"));
    }
    Ok(())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The URL of a server. Without a scheme it is HTTPS if anything about TLS is configured, as in kubectl.
pub(super) fn server_url(server: &str, has_tls: bool) -> Result<Uri, Failure> {
    let scheme = if has_tls { "https" } else { "http" };
    let with_scheme = if server.contains("://") { server.to_owned() } else { format!("{scheme}://{server}") };
    let url = parse_url("server", &with_scheme)?;
    match url.scheme_str() {
        Some("http" | "https") if url.host().is_some_and(|host| !host.is_empty()) => Ok(url),
        _ => Err(bad_url("server", server, &"expected an address like https://HOST:PORT")),
    }
}

/// kubectl's durations: `0` for none, a plain number of seconds, or `1s`, `2m30s`, `3h`.
pub(super) fn timeout(text: &str) -> Result<Option<Duration>, Failure> {
    let duration = match text.parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => parse_duration(text).and_then(|duration| Duration::try_from(duration).ok()),
    };
    let duration = duration.ok_or_else(|| {
        Failure::usage(format!("--request-timeout {text:?}: expected a duration like 30s, 2m or 1h"))
    })?;
    Ok((!duration.is_zero()).then_some(duration))
}

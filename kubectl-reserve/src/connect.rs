//! From flags, environment and kubeconfig to a client, by kubectl's rules.

use crate::cli::Connection;
use crate::error::{Exit, Failure};
use common::model::chain::chain;
use kube::config::{KubeConfigOptions, Kubeconfig};
use std::path::PathBuf;
use std::time::Duration;

/// A way to the cluster.
pub(crate) struct Session {
    /// The client. It makes each call once.
    pub(crate) client: kube::Client,
    /// The namespace that was asked for, or the context's.
    pub(crate) namespace: String,
    /// How long a request may take.
    pub(crate) timeout: Option<Duration>,
}

/// Connects as the flags say.
pub(crate) async fn connect(flags: &Connection) -> Result<Session, Failure> {
    let timeout = timeout(&flags.request_timeout)?;
    let mut config = load(flags).await?;
    if let Some(namespace) = &flags.namespace {
        if !is_name(namespace) {
            return Err(Failure::new(format!("--namespace {namespace:?} is not the name of a namespace"))
                .exit(Exit::Usage));
        }
        config.default_namespace.clone_from(namespace);
    }
    if let Some(server) = &flags.server {
        config.cluster_url =
            server.parse().map_err(|error| Failure::new(format!("--server {server:?}: {error}")))?;
    }
    if flags.as_user.is_some() {
        config.auth_info.impersonate.clone_from(&flags.as_user);
    }
    if !flags.as_group.is_empty() {
        config.auth_info.impersonate_groups = Some(flags.as_group.clone());
    }
    let agent = concat!("kubectl-reserve/", env!("CARGO_PKG_VERSION"));
    config.headers.push((http::header::USER_AGENT, http::HeaderValue::from_static(agent)));
    config.default_retry = false;
    let namespace = config.default_namespace.clone();
    let client = kube::Client::try_from(config).map_err(|error| Failure::new(format!("connect: {error}")))?;
    Ok(Session { client, namespace, timeout })
}

/// Whether an object can be called `text`. Names become parts of URLs, so they are checked before.
pub(crate) fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.');
    (1..=253).contains(&text.len()) && text.bytes().all(allowed) && !text.starts_with(['.', '-'])
}

async fn load(flags: &Connection) -> Result<kube::Config, Failure> {
    let options = KubeConfigOptions {
        context: flags.context.clone(),
        cluster: flags.cluster.clone(),
        user: flags.user.clone(),
    };
    match kubeconfig(flags)? {
        Some(kubeconfig) => kube::Config::from_custom_kubeconfig(kubeconfig, &options)
            .await
            .map_err(|error| Failure::new(format!("kubeconfig: {}", chain(&error)))),
        // Only when there is no kubeconfig at all: a broken one must not make us act on another cluster.
        None => kube::Config::incluster().map_err(|_| {
            Failure::new("no kubeconfig found").hint("pass --kubeconfig FILE, or set KUBECONFIG")
        }),
    }
}

/// The kubeconfig to use: the flag's file, else the merged files of KUBECONFIG, else the one in the home directory.
fn kubeconfig(flags: &Connection) -> Result<Option<Kubeconfig>, Failure> {
    if let Some(path) = &flags.kubeconfig {
        return read(path).map(Some);
    }
    let mut merged: Option<Kubeconfig> = None;
    // As kubectl: files that are not there are passed over.
    for path in paths().into_iter().filter(|path| path.exists()) {
        let mut next = read(&path)?;
        // As kubectl: an empty context is none, so that a later file's counts.
        next.current_context = next.current_context.filter(|context| !context.is_empty());
        merged = Some(match merged {
            None => next,
            Some(so_far) => {
                so_far.merge(next).map_err(|error| Failure::new(format!("kubeconfig: {error}")))?
            }
        });
    }
    Ok(merged)
}

fn paths() -> Vec<PathBuf> {
    match std::env::var_os("KUBECONFIG").filter(|value| !value.is_empty()) {
        Some(value) => std::env::split_paths(&value).collect(),
        None => dirs::home_dir().map(|home| home.join(".kube/config")).into_iter().collect(),
    }
}

fn read(path: &PathBuf) -> Result<Kubeconfig, Failure> {
    Kubeconfig::read_from(path)
        .map_err(|error| Failure::new(format!("kubeconfig {}: {}", path.display(), chain(&error))))
}

/// kubectl's durations: `0` for none, a plain number of seconds, or `1s`, `2m`, `3h`.
fn timeout(text: &str) -> Result<Option<Duration>, Failure> {
    let seconds = if let Ok(seconds) = text.parse::<u64>() {
        seconds
    } else {
        let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).unwrap_or((text, ""));
        let scale = match unit {
            "s" => Some(1),
            "m" => Some(60),
            "h" => Some(3600),
            _ => None,
        };
        let parsed =
            number.parse::<u64>().ok().zip(scale).and_then(|(number, scale)| number.checked_mul(scale));
        parsed.ok_or_else(|| {
            Failure::new(format!("--request-timeout {text:?}: expected a duration like 30s, 2m or 1h"))
        })?
    };
    Ok((seconds > 0).then(|| Duration::from_secs(seconds)))
}

#[cfg(test)]
mod tests {
    use super::timeout;
    use std::time::Duration;

    #[test]
    fn durations_are_kubectls() {
        let seconds = |text| timeout(text).unwrap().map(|duration: Duration| duration.as_secs());
        assert_eq!(seconds("0"), None);
        assert_eq!(seconds("0s"), None);
        assert_eq!(seconds("7"), Some(7));
        assert_eq!(seconds("30s"), Some(30));
        assert_eq!(seconds("2m"), Some(120));
        assert_eq!(seconds("1h"), Some(3600));
        for odd in ["", "s", "-1s", "1d", "ten", "1 s", "99999999999999999h", "1ä"] {
            assert!(timeout(odd).is_err(), "{odd:?}");
        }
    }
}

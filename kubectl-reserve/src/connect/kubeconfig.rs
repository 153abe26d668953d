//! Kubeconfig files: `load` finds and merges them, `resolve` returns the cluster, the user and the namespace to use.

use super::{Environment, flags};
use crate::cli::Connection;
use crate::error::Failure;
use common::model::chain::chain;
use kube::config::{AuthInfo, Cluster, Context, Kubeconfig};
use std::path::Path;

/// A context with its cluster and its user.
#[derive(Debug, Default)]
pub(super) struct ResolvedContext {
    pub(super) cluster: Cluster,
    pub(super) user: AuthInfo,
    pub(super) namespace: String,
}

/// The context of the kubeconfig, changed by the flags; `None` if there is neither a kubeconfig nor `--server`.
pub(super) fn resolve(
    flags: &Connection,
    environment: &Environment,
) -> Result<Option<ResolvedContext>, Failure> {
    let Some(kubeconfig) =
        load(flags, environment)?.or_else(|| flags.server.is_some().then(Kubeconfig::default))
    else {
        return Ok(None);
    };
    let context = context(&kubeconfig, flags)?;
    let mut cluster = cluster(&kubeconfig, &context, flags)?;
    let mut user = user(&kubeconfig, &context, flags)?;
    flags::cluster(flags, &mut cluster);
    flags::user(flags, &mut user)?;
    if cluster.server.as_deref().is_none_or(str::is_empty) {
        return Err(Failure::new("the kubeconfig names no current context, or its cluster has no server")
            .hint("kubectl config use-context NAME chooses one; --context NAME for this command only"));
    }
    let namespace = context.namespace.filter(|namespace| !namespace.is_empty());
    Ok(Some(ResolvedContext { cluster, user, namespace: namespace.unwrap_or_else(|| "default".to_owned()) }))
}

/// The kubeconfig: the flag's file, else the merged files of the environment. None if there is no file at all.
pub(crate) fn load(flags: &Connection, environment: &Environment) -> Result<Option<Kubeconfig>, Failure> {
    if let Some(path) = &flags.kubeconfig {
        return read(path).map(Some);
    }
    let mut merged: Option<Kubeconfig> = None;
    // As kubectl: files that do not exist are skipped.
    for path in environment.kubeconfigs.iter().filter(|path| path.exists()) {
        let next = read(path)?;
        merged = Some(match merged {
            None => next,
            Some(so_far) => {
                so_far.merge(next).map_err(|error| Failure::new(format!("kubeconfig: {error}")))?
            }
        });
    }
    Ok(merged)
}

fn read(path: &Path) -> Result<Kubeconfig, Failure> {
    let mut kubeconfig = Kubeconfig::read_from(path)
        .map_err(|error| Failure::new(format!("kubeconfig {}: {}", path.display(), chain(&error))))?;
    // As kubectl: an empty current-context does not count, so that the one of a later file is used.
    kubeconfig.current_context = kubeconfig.current_context.filter(|context| !context.is_empty());
    Ok(kubeconfig)
}

fn context(kubeconfig: &Kubeconfig, flags: &Connection) -> Result<Context, Failure> {
    let Some(name) = flags.context.as_ref().or(kubeconfig.current_context.as_ref()) else {
        return Ok(Context::default());
    };
    let found = kubeconfig.contexts.iter().find(|context| context.name == *name);
    found.and_then(|found| found.context.clone()).ok_or_else(|| {
        Failure::new(format!("context was not found for specified context: {name}"))
            .hint("kubectl config get-contexts lists the contexts")
    })
}

fn cluster(kubeconfig: &Kubeconfig, context: &Context, flags: &Connection) -> Result<Cluster, Failure> {
    let name = flags.cluster.as_ref().unwrap_or(&context.cluster);
    let found = kubeconfig.clusters.iter().find(|cluster| cluster.name == *name);
    match found.and_then(|found| found.cluster.clone()) {
        Some(cluster) => Ok(cluster),
        // `--server` alone is enough.
        None if name.is_empty() || flags.server.is_some() => Ok(Cluster::default()),
        None => Err(Failure::new(format!("no server found for cluster {name:?}"))),
    }
}

fn user(kubeconfig: &Kubeconfig, context: &Context, flags: &Connection) -> Result<AuthInfo, Failure> {
    let Some(name) = flags.user.as_ref().or(context.user.as_ref()).filter(|name| !name.is_empty()) else {
        return Ok(AuthInfo::default());
    };
    let found = kubeconfig.auth_infos.iter().find(|user| user.name == *name);
    let found = found.map(|found| found.auth_info.clone().unwrap_or_default());
    found.ok_or_else(|| Failure::new(format!("auth info {name:?} does not exist")))
}

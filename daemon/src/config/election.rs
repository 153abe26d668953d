//! The settings of leader election: defaults, flags, checks.

use super::{StartupMessages, non_empty};
use crate::args::ElectionArgs;
use anyhow::ensure;
use common::api::names::{DEFAULT_SCHEDULER_NAME, LEADER_LEASE};
use common::config::{Configuration, LeaderElection};

/// Without a configuration file the daemon uses its own Lease, unless it places pods of `default-scheduler`: only one of all
/// schedulers that place these pods may work at a time, so it then shares kube-scheduler's Lease.
pub(super) fn use_own_lease(configuration: &mut Configuration, namespace: &str) {
    if !serves_default(configuration) {
        configuration.leader_election.resource_name = LEADER_LEASE.to_owned();
        configuration.leader_election.resource_namespace = namespace.to_owned();
    }
}

/// Applies the flags about leader election. They override the file, as in kube-scheduler.
pub(super) fn apply(args: &ElectionArgs, election: &mut LeaderElection) -> anyhow::Result<()> {
    election.leader_elect = args.leader_elect.unwrap_or(election.leader_elect);
    let durations = [
        (args.leader_elect_lease_duration, &mut election.lease_duration),
        (args.leader_elect_renew_deadline, &mut election.renew_deadline),
        (args.leader_elect_retry_period, &mut election.retry_period),
    ];
    for (flag, duration) in durations {
        *duration = flag.unwrap_or(*duration);
    }
    let texts = [
        (&args.leader_elect_resource_lock, &mut election.resource_lock),
        (&args.leader_elect_resource_name, &mut election.resource_name),
        (&args.leader_elect_resource_namespace, &mut election.resource_namespace),
    ];
    for (flag, text) in texts {
        if let Some(flag) = non_empty(flag) {
            flag.clone_into(text);
        }
    }
    if election.leader_elect { check(election) } else { Ok(()) }
}

fn check(election: &LeaderElection) -> anyhow::Result<()> {
    let lock = &election.resource_lock;
    ensure!(lock == "leases", "--leader-elect-resource-lock {lock:?}: only \"leases\" is served");
    let (lease, deadline, retry) = (election.lease_duration, election.renew_deadline, election.retry_period);
    ensure!(retry.is_positive(), "--leader-elect-retry-period must be more than 0s");
    ensure!(
        lease > deadline,
        "--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline"
    );
    ensure!(
        deadline > retry,
        "--leader-elect-renew-deadline must be longer than --leader-elect-retry-period"
    );
    Ok(())
}

/// Warns about a scheduler with another name that uses kube-scheduler's Lease: beside kube-scheduler it would wait for ever.
pub(super) fn warn(configuration: &Configuration, messages: &mut StartupMessages) {
    let election = &configuration.leader_election;
    let is_upstream =
        election.resource_name == "kube-scheduler" && election.resource_namespace == "kube-system";
    if election.leader_elect && is_upstream && !serves_default(configuration) {
        messages.warn(
            "works only while it has the Lease kube-system/kube-scheduler, which kube-scheduler has where it runs; \
             set leaderElection.resourceName, or --leader-elect-resource-name"
                .to_owned(),
        );
    }
}

fn serves_default(configuration: &Configuration) -> bool {
    configuration.profiles.iter().any(|profile| profile.scheduler_name == DEFAULT_SCHEDULER_NAME)
}

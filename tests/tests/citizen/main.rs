//! `kubectl reserve` among kubectl's own commands: the same forms of output, flags, credentials and completion, held
//! against real kubectl on a real API server; and its manners where there is no terminal.
#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "a test is its own outermost layer")]

mod completing;
mod connecting;
mod credentials;
mod manners;
mod output;

use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{Cluster, User};
use reserve_tests::shared_cluster::SharedCluster;
use std::process::Output;

static SHARED_CLUSTER: SharedCluster = SharedCluster::new("citizen", None);

/// What a command said, on both streams, and how it ended.
struct Said {
    out: String,
    talk: String,
    code: Option<i32>,
}

impl Said {
    fn new(output: Output) -> Result<Self> {
        let (out, talk) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
        Ok(Self { out, talk, code: output.status.code() })
    }

    /// What it printed, if it went well.
    fn well(self) -> Result<String> {
        ensure!(self.code == Some(0), "exit {:?}: {}{}", self.code, self.out, self.talk);
        Ok(self.out)
    }
}

/// Runs kubectl as the admin, with more environment.
fn kubectl(cluster: &Cluster, environment: &[(&str, &str)], words: &[&str]) -> Result<Said> {
    let mut command = cluster.kubectl(User::Admin)?;
    command.envs(environment.iter().copied()).args(words);
    Said::new(command.output().context("run kubectl")?)
}

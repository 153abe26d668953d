//! Checks the history of each cluster against the rules of [`crate::history`] when the cluster ends, whether the test asks for it
//! or not. [`Cluster::record`] starts the recording, [`Cluster::check_rules`] checks.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;

use super::audit::Audit;
use super::cluster::Cluster;
use super::recorder::Recorder;
use super::users::User;
use crate::history::{CheckSettings, History, Violation, check};

/// How long the recorder may need to catch up. Mostly it is milliseconds behind, on a busy machine more.
const CATCH_UP_MAX: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// The recording, which begins with the first daemon, and the rules.
#[derive(Debug, Default)]
pub(super) struct RuleCheck {
    recorder: tokio::sync::OnceCell<Recorder>,
    settings: Mutex<CheckSettings>,
}

impl Cluster {
    /// Starts the recording. The writes of `user`, one of our daemons, are checked when the cluster ends.
    ///
    /// # Errors
    /// When nodes and pods cannot be read.
    pub async fn record(&self, user: User, scheduler_names: &[&str]) -> Result<()> {
        {
            let mut settings = self.check_settings();
            settings.daemons.insert(self.user_name(user));
            settings.schedulers.extend(scheduler_names.iter().map(|name| (*name).to_owned()));
        }
        let client = self.admin();
        self.rule_check.recorder.get_or_try_init(|| Recorder::start(&client)).await.map(drop)
    }

    /// Says that two daemons decide about this node at the same time, without the fence, and that one may not have seen what the
    /// other did.
    pub fn expect_contention(&self, node: &str) {
        self.check_settings().contended.insert(node.to_owned());
    }

    /// Says that our command evicts this pod without a reservation, because the test tells it to.
    pub fn expect_unreserved(&self, namespace: &str, pod: &str) {
        self.check_settings().unreserved.insert(format!("{namespace}/{pod}"));
    }

    /// Every violation so far. This call blocks until the recorder has caught up.
    ///
    /// # Errors
    /// When the audit log or the recording cannot be read.
    #[expect(clippy::disallowed_methods, reason = "the harness is the outermost layer of a test")]
    pub fn violations(&self) -> Result<Vec<Violation>> {
        let Some(recorder) = self.rule_check.recorder.get() else { return Ok(vec![]) };
        let audit = Audit::answered(&self.dir().join("audit.log"))?;
        let newest = |kind: &str| {
            let of_kind = audit.writes().iter().filter(|write| write.is_stored() && write.resource == kind);
            of_kind.filter_map(|write| write.resource_version_after.as_ref()?.parse().ok()).max().unwrap_or(0)
        };
        let awaited = ["pods", "nodes"].map(|kind| (kind, newest(kind)));
        let mut waited = Duration::ZERO;
        while awaited.iter().any(|(kind, newest)| recorder.newest(kind) < *newest) && waited < CATCH_UP_MAX {
            std::thread::sleep(POLL);
            waited += POLL;
        }
        let (versions, writes) = (recorder.versions()?, audit.writes().to_vec());
        let history = History { versions, writes, end: Timestamp::now(), ..History::default() };
        Ok(check(&history, &self.check_settings()))
    }

    /// Checks that no rule was broken so far.
    ///
    /// # Errors
    /// When a rule was broken; the message lists all violations.
    pub fn check_rules(&self) -> Result<()> {
        let violations = self.violations()?;
        let lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
        anyhow::ensure!(
            lines.is_empty(),
            "rules broken:\n{}\nlogs: {}",
            lines.join("\n"),
            self.dir().display()
        );
        Ok(())
    }

    fn check_settings(&self) -> MutexGuard<'_, CheckSettings> {
        self.rule_check.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

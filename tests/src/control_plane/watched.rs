//! What a test's daemons did is held against the rules, whether the test asks for it or not.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;

use super::audit::Audit;
use super::cluster::Cluster;
use super::recorder::Recorder;
use super::users::User;
use crate::history::{History, Rules, Violation, check};

/// The recorder is milliseconds behind, on a busy machine more.
const CATCH_UP_MAX: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// The recording, once a daemon was started.
#[derive(Debug, Default)]
pub(super) struct Watched {
    recorder: tokio::sync::OnceCell<Recorder>,
    rules: Mutex<Rules>,
}

impl Cluster {
    /// From now on what a daemon of ours does as `user` is recorded, and held against the rules when the cluster ends.
    ///
    /// # Errors
    /// When nodes and pods cannot be read.
    pub async fn record(&self, user: User, scheduler_names: &[&str]) -> Result<()> {
        {
            let mut rules = self.rules();
            rules.daemons.insert(self.user_name(user));
            rules.schedulers.extend(scheduler_names.iter().map(|name| (*name).to_owned()));
        }
        let client = self.admin();
        self.watched.recorder.get_or_try_init(|| Recorder::start(&client)).await.map(drop)
    }

    /// Two daemons decide about this node at the same time, without the fence: what one does is news to the other.
    pub fn expect_contention(&self, node: &str) {
        self.rules().contended.insert(node.to_owned());
    }

    /// This pod is evicted by our command without a reservation, because somebody said so.
    pub fn expect_unreserved(&self, namespace: &str, pod: &str) {
        self.rules().unreserved.insert(format!("{namespace}/{pod}"));
    }

    /// Every rule that was broken so far. Takes a moment, and blocks.
    ///
    /// # Errors
    /// When what happened cannot be read.
    #[expect(clippy::disallowed_methods, reason = "the harness is the outermost layer of a test")]
    pub fn violations(&self) -> Result<Vec<Violation>> {
        let Some(recorder) = self.watched.recorder.get() else { return Ok(vec![]) };
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
        Ok(check(&history, &self.rules()))
    }

    /// An error that names every rule that was broken so far.
    ///
    /// # Errors
    /// When one was.
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

    fn rules(&self) -> MutexGuard<'_, Rules> {
        self.watched.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

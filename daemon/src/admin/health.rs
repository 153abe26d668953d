//! The health of the daemon: other modules set it, and probes read it ([`Health::answer`]).
//!
//! Nothing here calls the API server: when it is down, its schedulers must not be restarted as well.

use crate::lease::Leadership;
use crate::state::Now;
use http::StatusCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A leader whose Lease expired this long ago should have ended. If it still runs, it is stuck.
const OVERDUE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub struct Health {
    is_synced: AtomicBool,
    is_stopping: AtomicBool,
    is_electing: bool,
    leadership: Leadership,
}

impl Health {
    pub(crate) fn new(is_electing: bool, leadership: Leadership) -> Self {
        Self {
            is_synced: AtomicBool::new(false),
            is_stopping: AtomicBool::new(false),
            is_electing,
            leadership,
        }
    }

    /// Sets whether every watched kind was listed once.
    pub fn synced(&self, is_synced: bool) {
        self.is_synced.store(is_synced, Ordering::Relaxed);
    }

    pub fn stopping(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_leading(&self, now: Now) -> bool {
        self.leadership.is_held(now)
    }

    fn check(&self, check: Check, elapsed: Duration) -> Result<(), &'static str> {
        let is_bad = match check {
            Check::Ping => false,
            Check::LeaderElection => self.leadership.overdue(elapsed) > OVERDUE,
            Check::Shutdown => self.is_stopping.load(Ordering::Relaxed),
            Check::Sync => !self.is_synced.load(Ordering::Relaxed),
        };
        if is_bad { Err(check.failure_message()) } else { Ok(()) }
    }

    /// The answer to a probe: status code and kube-scheduler's text. `None` for a path that is not a probe.
    pub(super) fn answer(&self, path: &str, query: &str, elapsed: Duration) -> Option<(StatusCode, String)> {
        let (name, single) = match path.strip_prefix('/')?.split_once('/') {
            Some((name, single)) => (name, Some(single)),
            None => (path.strip_prefix('/')?, None),
        };
        let checks: &[Check] = match name {
            "healthz" | "livez" => &[Check::Ping, Check::LeaderElection],
            "readyz" => &[Check::LeaderElection, Check::Shutdown, Check::Sync],
            _ => return None,
        };
        let mut checks =
            checks.iter().filter(|check| self.is_electing || !matches!(check, Check::LeaderElection));
        match single {
            None => Some(self.all(name, checks.copied(), query, elapsed)),
            Some(single) => {
                let check = checks.find(|check| check.name() == single)?;
                Some(match self.check(*check, elapsed) {
                    Ok(()) => (StatusCode::OK, "ok".to_owned()),
                    Err(why) => {
                        (StatusCode::INTERNAL_SERVER_ERROR, format!("internal server error: {why}\n"))
                    }
                })
            }
        }
    }

    fn all(
        &self,
        name: &str,
        checks: impl Iterator<Item = Check>,
        query: &str,
        elapsed: Duration,
    ) -> (StatusCode, String) {
        let excluded: Vec<&str> = query.split('&').filter_map(|part| part.strip_prefix("exclude=")).collect();
        let mut text = String::new();
        let mut is_well = true;
        for check in checks {
            let said = if excluded.contains(&check.name()) {
                format!("[+]{} excluded: ok\n", check.name())
            } else if self.check(check, elapsed).is_ok() {
                format!("[+]{} ok\n", check.name())
            } else {
                is_well = false;
                // Every client may ask here. The reason is only in the log and in the single check.
                format!("[-]{} failed: reason withheld\n", check.name())
            };
            text.push_str(&said);
        }
        if !is_well {
            return (StatusCode::INTERNAL_SERVER_ERROR, format!("{text}{name} check failed\n"));
        }
        let is_verbose = query.split('&').any(|part| part == "verbose" || part.starts_with("verbose="));
        (StatusCode::OK, if is_verbose { format!("{text}{name} check passed\n") } else { "ok".to_owned() })
    }
}

#[derive(Clone, Copy, Debug)]
enum Check {
    Ping,
    LeaderElection,
    Shutdown,
    Sync,
}

impl Check {
    fn name(self) -> &'static str {
        match self {
            Self::Ping => "ping",
            Self::LeaderElection => "leaderElection",
            Self::Shutdown => "shutdown",
            Self::Sync => "sched-handler-sync",
        }
    }

    fn failure_message(self) -> &'static str {
        match self {
            Self::Ping => "no answer",
            Self::LeaderElection => "failed election to renew leadership on lease kube-scheduler",
            Self::Shutdown => "process is shutting down",
            Self::Sync => "handlers are not fully synchronized",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Health, Leadership};
    use std::time::Duration;

    const NOW: Duration = Duration::from_secs(1000);

    fn ask(health: &Health, path: &str, query: &str) -> String {
        let (code, text) = health.answer(path, query, NOW).unwrap();
        format!("{} {text}", code.as_u16())
    }

    #[test]
    fn in_the_words_of_kube_scheduler() {
        let health = Health::new(false, Leadership::for_ever());
        assert_eq!(ask(&health, "/livez", ""), "200 ok");
        assert_eq!(ask(&health, "/healthz", "verbose"), "200 [+]ping ok\nhealthz check passed\n");
        assert_eq!(
            ask(&health, "/readyz", ""),
            "500 [+]shutdown ok\n[-]sched-handler-sync failed: reason withheld\nreadyz check failed\n"
        );
        assert_eq!(
            ask(&health, "/readyz/sched-handler-sync", ""),
            "500 internal server error: handlers are not fully synchronized\n"
        );
        assert_eq!(ask(&health, "/readyz", "exclude=sched-handler-sync"), "200 ok");
        health.synced(true);
        assert_eq!(ask(&health, "/readyz", ""), "200 ok");
        health.stopping();
        assert!(ask(&health, "/readyz", "").starts_with("500"));
        assert!(ask(&health, "/livez", "").starts_with("200"), "a daemon that ends is not to be killed");
    }

    #[test]
    fn a_leader_that_does_not_renew_and_does_not_end_is_stuck() {
        let leadership = Leadership::none();
        let health = Health::new(true, leadership.clone());
        assert_eq!(ask(&health, "/livez/leaderElection", ""), "200 ok", "one that waits is well");
        for (until, expected) in [(1, "500"), (979, "500"), (980, "200"), (1010, "200")] {
            leadership.set(Duration::from_secs(until));
            for path in ["/livez", "/healthz", "/livez/leaderElection"] {
                assert!(ask(&health, path, "").starts_with(expected), "{path} {until}");
            }
        }
    }

    #[test]
    fn other_paths_are_no_probes() {
        let health = Health::new(false, Leadership::for_ever());
        for path in ["", "/", "/metrics", "/livezz", "/livez/", "/livez/leaderElection", "/livez/ping/x"] {
            assert!(health.answer(path, "", NOW).is_none(), "{path}");
        }
    }
}

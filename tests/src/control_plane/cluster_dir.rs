//! The folder of a cluster, and turns: a limited number of clusters run at once, and one starts at a time.
//!
//! Turns are file locks, so they work between threads and between processes, and end with the process.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::settings::tell;

/// How often a lock that is held elsewhere is tried again.
const LOCK_POLL: Duration = Duration::from_millis(100);
/// After this many attempts a message says what is being waited for.
const ATTEMPTS_QUIET: usize = 100;
/// More runs of one test at the same time than this are a mistake.
const SAME_NAME_MAX: usize = 64;

/// The folder of one cluster, locked. The files stay until a test of the same name runs again.
#[derive(Debug)]
pub(super) struct ClusterDir {
    pub(super) dir: PathBuf,
    locks: Vec<File>,
}

impl ClusterDir {
    /// An empty folder `<base>/<name>`, or `<name>-2` and so on while others use that.
    pub(super) fn take(base: &Path, name: &str) -> Result<Self> {
        let plain: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
        fs::create_dir_all(base).with_context(|| format!("create {}", base.display()))?;
        for number in 1..=SAME_NAME_MAX {
            let folder = if number == 1 { plain.clone() } else { format!("{plain}-{number}") };
            let Some(lock) = try_lock(&base.join(format!("{folder}.lock")))? else { continue };
            let dir = base.join(folder);
            if dir.exists() {
                fs::remove_dir_all(&dir).with_context(|| format!("empty {}", dir.display()))?;
            }
            fs::create_dir_all(&dir).with_context(|| format!("create {}", dir.display()))?;
            return Ok(Self { dir, locks: vec![lock] });
        }
        bail!("{SAME_NAME_MAX} clusters named `{name}` run already");
    }

    /// Holds a turn until this value is dropped.
    pub(super) fn keep(&mut self, turn: File) {
        self.locks.push(turn);
    }

    /// The path of a file or folder in this folder.
    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

/// Waits until one of `turns` turns is free, and takes it. The turn lasts as long as the returned file.
pub(super) async fn turn(base: &Path, kind: &str, turns: usize) -> Result<File> {
    fs::create_dir_all(base).with_context(|| format!("create {}", base.display()))?;
    for attempt in 0.. {
        for number in 1..=turns {
            if let Some(lock) = try_lock(&base.join(format!(".{kind}-{number}.lock")))? {
                return Ok(lock);
            }
        }
        if attempt == ATTEMPTS_QUIET {
            tell(&format!("waiting for a turn: {turns} {kind} already, in this or another process"));
        }
        tokio::time::sleep(LOCK_POLL).await;
    }
    bail!("no turn");
}

fn try_lock(path: &Path) -> Result<Option<File>> {
    let file = File::create(path).with_context(|| format!("create {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(error)) => Err(error).with_context(|| format!("lock {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ClusterDir, turn};

    #[test]
    fn two_runs_of_one_test_get_two_folders_and_the_next_run_starts_empty() {
        let base = tempfile::tempdir().unwrap();
        let first = ClusterDir::take(base.path(), "a b").unwrap();
        std::fs::write(first.join("log"), "old").unwrap();
        let second = ClusterDir::take(base.path(), "a b").unwrap();
        assert_eq!(first.dir, base.path().join("a-b"));
        assert_eq!(second.dir, base.path().join("a-b-2"));
        drop(first);
        assert!(!ClusterDir::take(base.path(), "a b").unwrap().join("log").exists());
    }

    #[tokio::test]
    async fn a_turn_is_given_on_when_it_is_dropped() {
        let base = tempfile::tempdir().unwrap();
        let mine = turn(base.path(), "run", 1).await.unwrap();
        let short = Duration::from_millis(300);
        assert!(tokio::time::timeout(short, turn(base.path(), "run", 1)).await.is_err());
        let _other_turn = turn(base.path(), "run", 2).await.unwrap();
        drop(mine);
        assert!(tokio::time::timeout(short, turn(base.path(), "run", 1)).await.is_ok());
    }
}

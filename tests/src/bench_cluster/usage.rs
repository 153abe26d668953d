//! The processor time and the peak memory of a process, read from `/proc`.

use anyhow::{Context as _, Result};
use std::fs;
use std::time::Duration;

/// Linux counts processor time for `/proc` in hundredths of a second on every machine.
const TICK: Duration = Duration::from_millis(10);

/// What a process has used since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    /// In user mode and in the kernel, on all processors.
    pub(crate) cpu: Duration,
    /// The peak memory, in KiB.
    pub(crate) peak_kib: u64,
}

/// What the process has used up to now.
pub(crate) fn usage(pid: u32) -> Result<Usage> {
    let read = |file: &str| {
        let path = format!("/proc/{pid}/{file}");
        fs::read_to_string(&path).with_context(|| format!("read {path}"))
    };
    let cpu = cpu(&read("stat")?).context("a /proc/<pid>/stat without times")?;
    let peak_kib = peak_kib(&read("status")?).context("a /proc/<pid>/status without VmHWM")?;
    Ok(Usage { cpu, peak_kib })
}

/// Fields 14 and 15. Field 2 is the program's name in brackets, which may contain spaces and brackets.
fn cpu(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    Some(TICK * (ticks()? + ticks()?))
}

fn peak_kib(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{cpu, peak_kib, usage};
    use std::time::Duration;

    #[test]
    fn reads_what_the_kernel_writes() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 1 2 3 4 250 50 9 9 20 0 1 0 100 1 1";
        assert_eq!(cpu(stat), Some(Duration::from_secs(3)));
        assert_eq!(peak_kib("Name:\tx\nVmHWM:\t   2048 kB\nVmRSS:\t 1 kB\n"), Some(2048));
        assert_eq!((cpu("7 (x) S 1"), peak_kib("Name:\tx")), (None, None));
    }

    #[test]
    fn reads_about_this_very_process() {
        assert!(usage(std::process::id()).unwrap().peak_kib > 100);
    }
}

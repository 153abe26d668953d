//! Measures one run of a program ([`measure`]): its duration, its processor time, its peak memory.

use crate::bench_cluster::usage::usage;
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Linux counts processor time for `/proc` in hundredths of a second on every machine.
const TICK: Duration = Duration::from_millis(10);
/// How often memory is read. The kernel keeps the peak itself, so only the last 5 ms can be missed.
const LOOK: Duration = Duration::from_millis(5);

/// The cost of one run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measurement {
    /// The wall-clock time.
    pub lasted: Duration,
    /// The processor time in user mode and in the kernel.
    pub cpu: Duration,
    /// The peak memory, in KiB.
    pub peak_kib: u64,
}

/// Runs a program that must end with one of the exit codes `codes`.
///
/// # Errors
/// When the program cannot be run, or ends with another code.
#[expect(clippy::disallowed_methods, reason = "a measurement is made with a clock")]
pub fn measure(command: &mut Command, codes: &[i32]) -> Result<Measurement> {
    let (before, started) = (children()?, Instant::now());
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("start the program")?;
    let mut peak_kib = 0;
    let status = loop {
        if let Some(status) = child.try_wait().context("wait for the program")? {
            break status;
        }
        // An error means that the process has just ended, which the next try_wait reports.
        peak_kib = usage(child.id()).map_or(peak_kib, |used| used.peak_kib.max(peak_kib));
        std::thread::sleep(LOOK);
    };
    let lasted = started.elapsed();
    ensure!(status.code().is_some_and(|code| codes.contains(&code)), "{command:?} ended with {status}");
    Ok(Measurement { lasted, cpu: children()?.saturating_sub(before), peak_kib })
}

/// The average processor time of many runs: the kernel's unit, a hundredth of a second, is too coarse for a single one.
///
/// # Errors
/// When the program cannot be run, or fails.
pub fn cpu_of_many(command: &mut Command, runs: u32) -> Result<Duration> {
    let before = children()?;
    for _ in 0..runs {
        let status = command.stdout(Stdio::null()).status().context("run the program")?;
        ensure!(status.success(), "{command:?} ended with {status}");
    }
    Ok(children()?.saturating_sub(before) / runs)
}

/// Processor time of all child processes that have ended: fields 16 and 17. Field 2 is our name, which may contain spaces.
fn children() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").context("read /proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').context("a /proc/self/stat without a name")?;
    let mut fields = fields.split_whitespace().skip(13);
    let mut ticks = || fields.next().and_then(|ticks| ticks.parse::<u32>().ok());
    let both = ticks().zip(ticks()).context("a /proc/self/stat without times")?;
    Ok(TICK * (both.0 + both.1))
}

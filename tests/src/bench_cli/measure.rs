//! One run of a program: how long it took, its processor time, its peak memory.

use crate::bench_cluster::usage::usage;
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Linux counts processor time for `/proc` in hundredths of a second on every machine.
const TICK: Duration = Duration::from_millis(10);
/// How often memory is looked at; the kernel itself keeps the peak, so only the very last moments can be missed.
const LOOK: Duration = Duration::from_millis(5);

/// What a run took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// By the clock.
    pub lasted: Duration,
    /// In its own code and in the kernel for it.
    pub cpu: Duration,
    /// The most memory that it had, in KiB.
    pub peak_kib: u64,
}

/// Runs a program that must end with one of these codes.
///
/// # Errors
/// When it cannot be run, or ends otherwise.
#[expect(clippy::disallowed_methods, reason = "a measurement is made with a clock")]
pub fn measure(command: &mut Command, codes: &[i32]) -> Result<Measured> {
    let (before, started) = (children()?, Instant::now());
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("start the program")?;
    let mut peak_kib = 0;
    let status = loop {
        if let Some(status) = child.try_wait().context("wait for the program")? {
            break status;
        }
        // Once it has ended there is nothing to read, and it is asked for above.
        peak_kib = usage(child.id()).map_or(peak_kib, |used| used.peak_kib.max(peak_kib));
        std::thread::sleep(LOOK);
    };
    let lasted = started.elapsed();
    ensure!(status.code().is_some_and(|code| codes.contains(&code)), "{command:?} ended with {status}");
    Ok(Measured { lasted, cpu: children()?.saturating_sub(before), peak_kib })
}

/// The processor time of one of many runs, which a hundredth of a second is too coarse to tell of one.
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

/// Processor time of all programs that were waited for: fields 16 and 17. The second is our name, and may hold anything.
fn children() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").context("read /proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').context("a /proc/self/stat without a name")?;
    let mut fields = fields.split_whitespace().skip(13);
    let mut ticks = || fields.next().and_then(|ticks| ticks.parse::<u32>().ok());
    let both = ticks().zip(ticks()).context("a /proc/self/stat without times")?;
    Ok(TICK * (both.0 + both.1))
}

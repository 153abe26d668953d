//! The usual `process_…` metrics: CPU time, memory, open files. Read for each scrape; missing where there is no `/proc`.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use std::fs;

/// The kernel's clock ticks per second; 100 on every machine that Kubernetes runs on.
const TICKS: f64 = 100.0;

/// The size of a memory page on these machines.
const PAGE: u64 = 4096;

#[derive(Debug)]
pub(super) struct ProcessMetrics;

struct Usage {
    cpu_seconds: f64,
    started: f64,
    resident: u64,
    virtual_memory: u64,
    open_files: u64,
}

impl Collector for ProcessMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let Some(usage) = read() else { return Ok(()) };
        let about = "Total user and system CPU time spent in seconds";
        let cpu = ConstCounter::new(usage.cpu_seconds);
        cpu.encode(encoder.encode_descriptor("process_cpu_seconds", about, None, cpu.metric_type())?)?;
        let gauges = [
            ("process_open_fds", "Number of open file descriptors", usage.open_files),
            ("process_resident_memory_bytes", "Resident memory size in bytes", usage.resident),
            ("process_virtual_memory_bytes", "Virtual memory size in bytes", usage.virtual_memory),
        ];
        for (name, about, value) in gauges {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, about, None, gauge.metric_type())?)?;
        }
        let about = "Start time of the process since unix epoch in seconds";
        let started = ConstGauge::new(usage.started);
        started.encode(encoder.encode_descriptor(
            "process_start_time_seconds",
            about,
            None,
            started.metric_type(),
        )?)
    }
}

fn read() -> Option<Usage> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in brackets, and may contain any character.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3).and_then(|text| text.parse::<u64>().ok());
    let machine = fs::read_to_string("/proc/stat").ok()?;
    let booted = machine.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse::<u64>().ok())?;
    Some(Usage {
        cpu_seconds: seconds(field(14)? + field(15)?),
        started: seconds(field(22)?.checked_add(booted.checked_mul(100)?)?),
        virtual_memory: field(23)?,
        resident: field(24)?.checked_mul(PAGE)?,
        open_files: u64::try_from(fs::read_dir("/proc/self/fd").ok()?.count()).ok()?,
    })
}

#[expect(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    reason = "seconds with a fraction, for people"
)]
fn seconds(ticks: u64) -> f64 {
    ticks as f64 / TICKS
}

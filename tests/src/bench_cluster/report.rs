//! The table of all runs: medians, and whether the bars (the limits) are met.

use super::contender::Contender;
use super::run::Run;
use super::shape::Shape;
use std::fmt;

/// Limits of ours divided by kube-scheduler's: pods per second at least `rate`, processor time at most `cpu`, memory at most `rss`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bars {
    rate: f64,
    cpu: f64,
    rss: f64,
}

fn bars(shape: Shape) -> Bars {
    match shape {
        Shape::Basic => Bars { rate: 1.5, cpu: 0.25, rss: 0.333 },
        Shape::Spread | Shape::Affinity => Bars { rate: 2.0, cpu: f64::INFINITY, rss: f64::INFINITY },
    }
}

/// The two runs of a pair, and the run of the firehose. `None`: not run.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The run of our daemon.
    pub ours: Option<Run>,
    /// The run of kube-scheduler.
    pub upstream: Option<Run>,
    /// The run of the firehose.
    pub firehose: Option<Run>,
}

impl Row {
    fn of(&self, contender: Contender) -> Option<&Run> {
        match contender {
            Contender::Ours => self.ours.as_ref(),
            Contender::Upstream => self.upstream.as_ref(),
            Contender::Firehose => self.firehose.as_ref(),
        }
    }

    /// Adds the run of its contender.
    pub fn add(&mut self, run: Run) {
        match run.contender {
            Contender::Ours => self.ours = Some(run),
            Contender::Upstream => self.upstream = Some(run),
            Contender::Firehose => self.firehose = Some(run),
        }
    }
}

/// All pairs of all shapes.
#[derive(Clone, Debug, Default)]
pub struct ClusterBenchReport {
    /// The pairs of each shape.
    pub shapes: Vec<(Shape, Vec<Row>)>,
    /// The number of nodes and of pods.
    pub size: (usize, usize),
    /// Whether bars are shown.
    pub has_bars: bool,
}

/// Pods per second, processor seconds per thousand pods, MiB, events; or the ratios of ours to kube-scheduler's.
type Figures = [f64; 4];

#[expect(clippy::cast_precision_loss, reason = "a measurement, not a decision")]
fn figures(run: &Run) -> Figures {
    [run.pods_per_second(), run.cpu_per_thousand(), run.peak_mib(), run.events as f64]
}

impl ClusterBenchReport {
    /// Whether every bar is met.
    pub fn is_met(&self) -> bool {
        self.shapes.iter().all(|(shape, rows)| is_met(*shape, rows))
    }
}

fn is_met(shape: Shape, rows: &[Row]) -> bool {
    let bars = bars(shape);
    ratios(rows).is_some_and(|[rate, cpu, rss, _]| rate >= bars.rate && cpu <= bars.cpu && rss <= bars.rss)
}

/// The medians over all pairs of ours divided by kube-scheduler's.
#[expect(clippy::float_arithmetic, reason = "a measurement, not a decision")]
fn ratios(rows: &[Row]) -> Option<Figures> {
    let ratio = |row: &Row| {
        let (ours, upstream) = (figures(row.ours.as_ref()?), figures(row.upstream.as_ref()?));
        Some(std::array::from_fn(|at| ours[at] / upstream[at]))
    };
    medians(&rows.iter().filter_map(ratio).collect::<Vec<_>>())
}

/// The median of each figure; for an even count the lower one of the two in the middle.
fn medians(all: &[Figures]) -> Option<Figures> {
    let median = |at: usize| {
        let mut sorted: Vec<f64> = all.iter().map(|figures| figures[at]).collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or_default()
    };
    (!all.is_empty()).then(|| std::array::from_fn(median))
}

impl fmt::Display for ClusterBenchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nodes, pods) = self.size;
        writeln!(f, "{nodes} nodes, {pods} pods; medians\n")?;
        line(f, ["shape", "", "pods/s", "CPU s/1000 pods", "peak RSS MiB", "events"])?;
        for (shape, rows) in &self.shapes {
            self.write_shape(f, *shape, rows)?;
        }
        Ok(())
    }
}

impl ClusterBenchReport {
    fn write_shape(&self, f: &mut fmt::Formatter<'_>, shape: Shape, rows: &[Row]) -> fmt::Result {
        let mut name = shape.name();
        for contender in [Contender::Ours, Contender::Upstream, Contender::Firehose] {
            let found: Vec<Figures> = rows.iter().filter_map(|row| row.of(contender)).map(figures).collect();
            if let Some([rate, cpu, rss, events]) = medians(&found) {
                let cells =
                    [format!("{rate:.0}"), format!("{cpu:.3}"), format!("{rss:.0}"), format!("{events:.0}")];
                let [rate, cpu, rss, events] = &cells;
                line(f, [name, contender.name(), rate, cpu, rss, events])?;
                name = "";
            }
        }
        let Some(ratios) = ratios(rows) else { return Ok(()) };
        let [rate, cpu, rss, _] = &ratios.map(|ratio| format!("{ratio:.2}x"));
        line(f, ["", "ours/upstream's", rate, cpu, rss, ""])?;
        if !self.has_bars {
            return Ok(());
        }
        let bars = bars(shape);
        let at_most = |bar: f64| if bar.is_finite() { format!("≤ {bar:.2}x") } else { "-".to_owned() };
        let (least, word) =
            (format!("≥ {:.2}x", bars.rate), if is_met(shape, rows) { "met" } else { "MISSED" });
        line(f, ["", "bar", &least, &at_most(bars.cpu), &at_most(bars.rss), word])
    }
}

fn line(f: &mut fmt::Formatter<'_>, cells: [&str; 6]) -> fmt::Result {
    let [shape, name, rate, cpu, rss, events] = cells;
    let line = format!("{shape:<9} {name:<15} {rate:>8} {cpu:>16} {rss:>13} {events:>8}");
    writeln!(f, "{}", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{ClusterBenchReport, Contender, Row, Run, Shape};
    use std::time::Duration;

    fn made(contender: Contender, lasted: u64, cpu: u64, peak_mib: u64) -> Run {
        Run {
            shape: Shape::Basic,
            contender,
            pods: 1001,
            lasted: Duration::from_secs(lasted),
            first_after: Duration::ZERO,
            cpu: Duration::from_secs(cpu),
            peak_kib: peak_mib * 1024,
            events: 1001,
        }
    }

    fn report(ours: [(u64, u64, u64); 3]) -> ClusterBenchReport {
        let rows = ours.map(|(lasted, cpu, peak)| {
            let mut row = Row::default();
            row.add(made(Contender::Ours, lasted, cpu, peak));
            row.add(made(Contender::Upstream, 10, 8, 300));
            row
        });
        ClusterBenchReport { shapes: vec![(Shape::Basic, rows.to_vec())], size: (5, 1001), has_bars: true }
    }

    #[test]
    fn the_median_of_the_pairs_counts_for_each_bar() {
        assert!(report([(5, 1, 99), (5, 1, 99), (50, 9, 999)]).is_met(), "one pair is an accident");
        assert!(!report([(7, 1, 99), (7, 1, 99), (5, 1, 99)]).is_met(), "too slow");
        assert!(!report([(5, 3, 99), (5, 3, 99), (5, 1, 99)]).is_met(), "too much processor time");
        assert!(!report([(5, 1, 101), (5, 1, 101), (5, 1, 99)]).is_met(), "too much memory");
        assert!(
            !ClusterBenchReport { shapes: vec![(Shape::Spread, vec![])], ..ClusterBenchReport::default() }
                .is_met(),
            "no pairs"
        );
    }

    #[test]
    fn the_table_fits_a_narrow_terminal() {
        let mut report = report([(5, 1, 99), (5, 1, 99), (50, 9, 999)]);
        report.shapes[0].1[0].add(made(Contender::Firehose, 2, 1, 20));
        let table = report.to_string();
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
        for word in ["reserve-daemon", "kube-scheduler", "bind-firehose", "200", "2.00x", "0.12x", "met"] {
            assert!(table.contains(word), "{word}:\n{table}");
        }
    }
}

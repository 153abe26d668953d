//! The command line of `bench-cluster`.

use super::shape::Shape;
use anyhow::{Context as _, Result, bail, ensure};
use std::path::PathBuf;

const USAGE: &str = "\
usage: bench-cluster [--pairs NUMBER] [--nodes NUMBER] [--pods NUMBER]
                     [--shapes basic,spread,affinity] [--stream] [--no-bars]
                     [--only reserve-daemon|kube-scheduler] [--daemon FILE]

Runs reserve-daemon and kube-scheduler in turn (3 pairs of each shape, 5000
nodes, 10000 pods), each on a fresh kube-apiserver; prints a line of JSON for
each run and a table; fails when a bar is missed.

--stream    pods are made while the scheduler runs, not before
--no-bars   only measure
--only      only one of the two, to look at it closely; no bars
--daemon    this program instead of the one that is built with this one";

/// What to measure.
#[derive(Clone, Debug)]
pub struct BenchPlan {
    /// How often the two schedulers are compared, for each shape.
    pub pairs: usize,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of pods to place.
    pub pods: usize,
    /// The shapes of pods.
    pub shapes: Vec<Shape>,
    /// Whether pods are made while the scheduler runs, rather than before.
    pub is_stream: bool,
    /// Whether the program fails if a bar is missed.
    pub has_bars: bool,
    /// The only contender, if not all.
    pub only: Option<String>,
    /// Our daemon, if not the one that is built with this program.
    pub daemon: Option<PathBuf>,
}

impl Default for BenchPlan {
    fn default() -> Self {
        let (shapes, only, daemon) = (Shape::ALL.to_vec(), None, None);
        let (is_stream, has_bars) = (false, true);
        Self { pairs: 3, nodes: 5000, pods: 10_000, shapes, is_stream, has_bars, only, daemon }
    }
}

impl BenchPlan {
    /// Parses the arguments.
    ///
    /// # Errors
    /// When an argument is unknown or has no valid value.
    pub fn parse(arguments: &[String]) -> Result<Self> {
        let mut plan = Self::default();
        let mut arguments = arguments.iter();
        while let Some(option) = arguments.next() {
            let mut value = || arguments.next().with_context(|| format!("{option} wants a value\n{USAGE}"));
            let number = |text: &str| text.parse().with_context(|| format!("{option} wants a number"));
            match option.as_str() {
                "--pairs" => plan.pairs = number(value()?)?,
                "--nodes" => plan.nodes = number(value()?)?,
                "--pods" => plan.pods = number(value()?)?,
                "--shapes" => {
                    plan.shapes = value()?.split(',').map(Shape::named).collect::<Result<_>>()?;
                }
                "--stream" => plan.is_stream = true,
                "--no-bars" => plan.has_bars = false,
                "--only" => (plan.only, plan.has_bars) = (Some(value()?.clone()), false),
                "--daemon" => plan.daemon = Some(value()?.into()),
                other => bail!("unknown option {other}\n{USAGE}"),
            }
        }
        ensure!(plan.pairs > 0 && plan.nodes > 0 && plan.pods > 1, "nothing to measure\n{USAGE}");
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::{BenchPlan, Shape};

    fn parsed(line: &str) -> Result<BenchPlan, String> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        BenchPlan::parse(&arguments).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn takes_what_the_usage_says() {
        let plan = parsed("--pairs 1 --nodes 200 --pods 300 --shapes spread,basic --no-bars").unwrap();
        assert_eq!((plan.pairs, plan.nodes, plan.pods, plan.has_bars), (1, 200, 300, false));
        assert_eq!(plan.shapes, [Shape::Spread, Shape::Basic]);
        assert!(parsed("").unwrap().has_bars);
        for wrong in ["--pairs", "--pairs x", "--pairs 0", "--shapes round", "--fast"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}

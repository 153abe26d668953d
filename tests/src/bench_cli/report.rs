//! The table of measured figures, each with the most that it may be (its bar).

use std::fmt;

/// One figure and the most that it may be.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The label of the figure.
    pub what: String,
    /// The figure, in thousandths of its unit.
    pub figure: u64,
    /// The most that it may be, in thousandths; `None` for a figure that is only printed.
    pub most: Option<u64>,
    /// The unit of both, such as `ms`.
    pub unit: &'static str,
}

/// All figures.
#[derive(Clone, Debug, Default)]
pub struct CliBenchReport {
    /// In the order of the table.
    pub bars: Vec<Bar>,
}

impl CliBenchReport {
    /// Adds a figure with its bar, both in thousandths.
    pub fn add(&mut self, what: impl Into<String>, figure: u64, most: Option<u64>, unit: &'static str) {
        self.bars.push(Bar { what: what.into(), figure, most, unit });
    }

    /// Whether every figure is within its bar.
    pub fn is_met(&self) -> bool {
        self.bars.iter().all(Bar::is_met)
    }
}

impl Bar {
    fn is_met(&self) -> bool {
        self.most.is_none_or(|most| self.figure <= most)
    }
}

fn shown(thousandths: u64) -> String {
    format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
}

impl fmt::Display for CliBenchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<52} {:>10} {:>10}  {:<4}", "what", "measured", "at most", "")?;
        for bar in &self.bars {
            let most = bar.most.map_or_else(|| "-".to_owned(), shown);
            let verdict = if bar.is_met() { "" } else { "  MISSED" };
            writeln!(f, "{:<52} {:>10} {most:>10}  {:<4}{verdict}", bar.what, shown(bar.figure), bar.unit)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::CliBenchReport;

    #[test]
    fn a_figure_above_its_bar_is_missed() {
        let mut report = CliBenchReport::default();
        report.add("size", 15_000, Some(15_000), "MB");
        report.add("told", 99_999, None, "s");
        assert!(report.is_met());
        report.add("time", 1_501, Some(1_500), "s");
        assert!(!report.is_met());
        assert!(report.to_string().contains("1.501      1.500  s     MISSED"), "{report}");
    }
}

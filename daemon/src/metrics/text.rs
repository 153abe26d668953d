//! From OpenMetrics, which our crate writes, to Prometheus' text format 0.0.4, which everybody reads.
//!
//! They differ in this: a counter's `# TYPE` line names it with its `_total`; there is no `# EOF` and no `# UNIT`; a
//! bucket for one second is called `1`, not `1.0`, and one for ten microseconds `1e-05`, as Go writes it: a label is a text.

/// The same in the older format.
pub(super) fn plain(open_metrics: &str) -> String {
    let mut plain = String::with_capacity(open_metrics.len());
    let mut help = None;
    for line in open_metrics.lines() {
        if line.starts_with("# HELP ") {
            help = Some(line);
        } else if let Some(family) = line.strip_prefix("# TYPE ") {
            let (name, kind) = family.split_once(' ').unwrap_or((family, "untyped"));
            let suffix = if kind == "counter" { "_total" } else { "" };
            let about = help.take().and_then(|line| line.splitn(4, ' ').nth(3)).unwrap_or_default();
            plain.push_str(&format!("# HELP {name}{suffix} {about}\n# TYPE {name}{suffix} {kind}\n"));
        } else if !line.starts_with('#') {
            plain.push_str(&whole_bounds(line));
            plain.push('\n');
        }
    }
    plain
}

/// From here on Go writes an exponent.
const TINY: f64 = 0.0001;

/// `le="1.0"` as `le="1"`, `le="0.00001"` as `le="1e-05"`.
fn whole_bounds(line: &str) -> String {
    let Some((before, rest)) = line.split_once("le=\"") else { return line.to_owned() };
    let Some((bound, after)) = rest.split_once('"') else { return line.to_owned() };
    let bound = match bound.parse::<f64>() {
        Ok(tiny) if tiny > 0.0 && tiny < TINY => {
            let text = format!("{tiny:e}");
            let (digits, exponent) = text.split_once("e-").unwrap_or((&text, "0"));
            format!("{digits}e-{exponent:0>2}")
        }
        _ => bound.strip_suffix(".0").unwrap_or(bound).to_owned(),
    };
    format!("{before}le=\"{bound}\"{after}")
}

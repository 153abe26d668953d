//! Converts OpenMetrics, which the crate `prometheus_client` writes, to Prometheus' text format 0.0.4.
//!
//! In the older format the `# TYPE` line of a counter has the name with `_total`, and there is no `# EOF` and no `# UNIT`. Bounds
//! of buckets are labels, so their text matters: Go writes `1` and not `1.0` for one second, `1e-05` for ten microseconds.

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

/// Go writes smaller numbers with an exponent.
const TINY: f64 = 0.0001;

/// `le="1.0"` becomes `le="1"`, `le="0.00001"` becomes `le="1e-05"`.
fn whole_bounds(line: &str) -> String {
    let Some((before, rest)) = line.split_once("le=\"") else { return line.to_owned() };
    let Some((bound, after)) = rest.split_once('"') else { return line.to_owned() };
    let bound = match bound.parse::<f64>() {
        Ok(tiny) if tiny > 0.0 && tiny < TINY => {
            let text = format!("{tiny:e}");
            let (digits, exponent) = text.split_once("e-").unwrap_or((&text, "0"));
            format!("{digits}e-{exponent:0>2}")
        }
        // The shortest text for the number; `prometheus_client` does not always write that.
        Ok(finite) if finite.is_finite() => finite.to_string(),
        _ => bound.to_owned(),
    };
    format!("{before}le=\"{bound}\"{after}")
}

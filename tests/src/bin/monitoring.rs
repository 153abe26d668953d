//! `monitoring` writes the rules for Prometheus and the dashboard for Grafana into `monitoring/`. `make monitoring` runs it.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use reserve_tests::control_plane::workspace_dir;
use reserve_tests::monitoring::{dashboard, families, rules};

fn main() -> ExitCode {
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn write() -> Result<()> {
    let dir = workspace_dir().join("monitoring");
    let dashboard = serde_json::to_string_pretty(&dashboard(&families()))? + "\n";
    for (name, text) in [("rules.yaml", rules()), ("dashboard.json", dashboard)] {
        let file = dir.join(name);
        fs::write(&file, text).with_context(|| format!("write {}", file.display()))?;
    }
    Ok(())
}

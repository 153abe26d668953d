//! The bench itself works: a small one runs to its end, counts every pod of every contender, and prints what it found. The
//! figures of so small a run say nothing.

use assert_cmd::Command;
use serde_json::Value;

#[test]
fn a_small_bench_measures_all_three() {
    let arguments = ["--pairs", "1", "--nodes", "200", "--pods", "200", "--shapes", "basic", "--no-bars"];
    let output = Command::new(env!("CARGO_BIN_EXE_bench-cluster")).args(arguments).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{err}\n{out}");
    let (lines, table) = out.split_once("\n\n").unwrap();
    let runs: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = runs.iter().map(|run| run["scheduler"].as_str().unwrap()).collect();
    assert_eq!(names, ["kube-scheduler", "reserve-daemon", "bind-firehose"]);
    for run in &runs {
        let figures =
            ["pods_per_s", "cpu_s_per_1000", "peak_rss_mib"].map(|name| run[name].as_f64().unwrap());
        assert!(figures.iter().all(|figure| *figure > 0.0), "{run}");
        assert_eq!((&run["nodes"], &run["pods"], &run["pair"]), (&200.into(), &200.into(), &1.into()));
    }
    assert!(table.contains("200 nodes, 200 pods") && table.contains("ours/upstream's"), "{table}");
}

//! Thousands of seeds through the product under virtual time. `make simulate` runs more of them.

use reserve_tests::programs;
use reserve_tests::simulation::TIERS;
use std::process::Command;

#[test]
fn nothing_breaks_in_thousands_of_seeds() {
    // Optimised, with every assertion that the product has.
    let program = programs::build_with("simulate", "simulate").unwrap();
    for tier in TIERS {
        let output = Command::new(&program).arg(tier.name).output().unwrap();
        let (said, erred) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "again with `make simulate TIER={}`:\n{said}{erred}", tier.name);
        print!("{said}");
    }
}

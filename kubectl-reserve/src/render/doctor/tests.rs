//! Golden output of `doctor`, from values.

use super::{Check, DoctorReport};
use crate::print::Printable;
use crate::print::schema_check::assert_valid;
use crate::ui::Paint;

fn report() -> DoctorReport {
    let checks = vec![
        Check::ok("kubectl", "v1.37.1, /usr/bin/kubectl"),
        Check::note(
            "autoscaler",
            "a cluster-autoscaler runs: what is reserved looks free to it, so it may remove the node",
        ),
        Check::warn(
            "shadow",
            "/opt/bin/kubectl-reserve-pod is what kubectl runs for `kubectl reserve pod`",
            "rm /opt/bin/kubectl-reserve-pod",
        ),
        Check::fail("leader", "nobody leads", "kubectl -n kube-reserve logs deployment/reserve-daemon"),
    ];
    DoctorReport { checks, at: "2026-11-16T08:10:00Z".parse().unwrap(), paint: Paint::default() }
}

#[test]
fn each_check_is_a_line_with_its_cure() {
    insta::assert_snapshot!("doctor", report().table(false, true));
    assert!(report().table(false, true).lines().all(|line| line.chars().count() <= 80));
    let painted = DoctorReport { paint: Paint { has_color: true }, ..report() };
    assert!(painted.table(false, true).contains('\u{1b}') && !report().table(false, true).contains('\u{1b}'));
}

#[test]
fn the_document_is_as_its_schema_says() {
    let document = report().document().unwrap();
    assert_valid(&document);
    insta::assert_snapshot!("doctor_json", serde_json::to_string_pretty(&document).unwrap());
    assert_eq!(report().names()[0], "check/kubectl");
}

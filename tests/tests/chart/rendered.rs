//! What the chart renders is what `kubectl apply -k` applies, object by object, for the default values.

use crate::{NAMESPACE, by_name, chart_dir, helm, objects, printed, rendered_in};
use anyhow::{Context as _, Result};
use reserve_tests::control_plane::{Binaries, workspace_dir};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

fn kustomized(folder: &str) -> Result<BTreeMap<String, Value>> {
    let binaries = Binaries::locate()?;
    let mut kubectl = Command::new(binaries.path("kubectl")?);
    by_name(&printed(kubectl.arg("kustomize").arg(workspace_dir().join(folder)))?)
}

fn assert_equal(rendered: &BTreeMap<String, Value>, kustomized: &BTreeMap<String, Value>) {
    assert!(rendered.keys().eq(kustomized.keys()), "{:#?}\n{:#?}", rendered.keys(), kustomized.keys());
    for (name, object) in rendered {
        assert_eq!(object, &kustomized[name], "{name}");
    }
}

/// helm makes the namespace itself, before it asks for the objects; so by default there is none.
#[test]
fn the_chart_renders_what_kustomize_renders() -> Result<()> {
    let mut manifests = kustomized("manifests")?;
    assert_equal(&objects(&["namespace.create=true"])?, &manifests);
    assert_equal(
        &objects(&["namespace.create=true", "extender.enabled=true"])?,
        &kustomized("manifests/extender")?,
    );
    let mut with_policy = manifests.clone();
    with_policy.extend(kustomized("manifests/scheduler-name")?);
    assert_equal(
        &objects(&["namespace.create=true", "schedulerNameByNamespace.enabled=true"])?,
        &with_policy,
    );
    manifests.remove(&format!("Namespace  {NAMESPACE}")).context("no namespace")?;
    assert_equal(&objects(&[])?, &manifests);
    Ok(())
}

/// An archive has the files that the folder links to, and nothing that it does not need.
#[test]
fn the_archive_renders_the_same() -> Result<()> {
    let home = tempfile::tempdir()?;
    printed(helm(home.path())?.arg("package").arg(chart_dir()))?;
    let archive = home.path().join(format!("kubectl-reserve-{}.tgz", env!("CARGO_PKG_VERSION")));
    let (packed, folder) =
        (rendered_in(NAMESPACE, &archive, &[])?, rendered_in(NAMESPACE, &chart_dir(), &[])?);
    assert_eq!(packed, folder);
    let mut names = vec![];
    let tar = flate2::read::GzDecoder::new(std::fs::File::open(&archive)?);
    for entry in tar::Archive::new(tar).entries()? {
        names.push(entry?.path()?.to_string_lossy().into_owned());
    }
    assert!(names.contains(&"kubectl-reserve/files/daemon/policies.yaml".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with("kustomization.yaml")), "{names:?}");
    Ok(())
}

#[test]
fn helm_finds_no_fault_with_the_chart() -> Result<()> {
    let home = tempfile::tempdir()?;
    printed(helm(home.path())?.args(["lint", "--strict"]).arg(chart_dir()))?;
    let all = "extender.enabled=true,extender.certificates.source=cert-manager,serviceMonitor.enabled=true";
    printed(helm(home.path())?.args(["lint", "--strict", "--set", all]).arg(chart_dir()))?;
    Ok(())
}

#[test]
fn the_chart_is_of_this_version() -> Result<()> {
    let chart: Value = serde_saphyr::from_str(&std::fs::read_to_string(chart_dir().join("Chart.yaml"))?)?;
    let version = Value::from(env!("CARGO_PKG_VERSION"));
    assert_eq!((&chart["version"], &chart["appVersion"]), (&version, &version));
    Ok(())
}

/// In another namespace nothing names the usual one.
#[test]
fn another_namespace_is_named_everywhere() -> Result<()> {
    let set = [
        "extender.enabled=true,extender.certificates.source=cert-manager",
        "namespace.create=true,schedulerNameByNamespace.enabled=true",
    ];
    let text = rendered_in("elsewhere", &chart_dir(), &set)?;
    assert!(!text.contains(NAMESPACE), "{text}");
    let objects = by_name(&text)?;
    let fence = &objects["ValidatingAdmissionPolicy  reserve-fence"];
    let account = "request.userInfo.username == 'system:serviceaccount:elsewhere:reserve-daemon'";
    assert_eq!(fence["spec"]["matchConditions"][0]["expression"], *account);
    Ok(())
}

//! What the command has built in is what `kubectl apply -k` applies, object by object.

use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{Binaries, workspace_dir};
use reserve_tests::programs;
use serde_json::Value;
use std::process::Command;

fn printed(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).context("read what was printed")
}

/// Documents, by kind, namespace and name.
fn sorted(text: &str) -> Result<Vec<(String, Value)>> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text)?;
    let name = |json: &Value| {
        format!("{} {} {}", json["kind"], json["metadata"]["namespace"], json["metadata"]["name"])
    };
    let mut sorted: Vec<(String, Value)> = documents.into_iter().map(|json| (name(&json), json)).collect();
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(sorted)
}

/// No cluster is needed, and none is asked: the kubeconfig is a file that is not there.
fn rendered(arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(programs::build()?.join("kubectl-reserve"));
    command.args(["install", "--dry-run=client", "--kubeconfig", "no-such-file"]).args(arguments);
    printed(&mut command)
}

#[test]
fn install_applies_what_kustomize_renders() -> Result<()> {
    let kubectl = Binaries::locate()?;
    let kubectl = kubectl.path("kubectl")?;
    for (folder, arguments) in
        [("manifests", vec!["-o", "yaml"]), ("manifests/extender", vec!["-o", "yaml", "--extender"])]
    {
        let theirs = printed(Command::new(kubectl).arg("kustomize").arg(workspace_dir().join(folder)))?;
        let (theirs, ours) = (sorted(&theirs)?, sorted(&rendered(&arguments)?)?);
        let names = |all: &[(String, Value)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&ours), names(&theirs), "{folder}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs, "{folder}");
        }
    }
    Ok(())
}

#[test]
fn another_image_is_the_only_difference_and_json_is_a_list() -> Result<()> {
    let plain = rendered(&["-o", "yaml"])?;
    let other = rendered(&["-o", "yaml", "--image", "example.com/reserve-daemon:7"])?;
    let changed: Vec<_> = plain.lines().zip(other.lines()).filter(|(one, other)| one != other).collect();
    assert_eq!(changed.len(), 1, "{changed:?}");
    assert!(changed[0].1.ends_with("image: example.com/reserve-daemon:7"), "{changed:?}");
    let list: Value = serde_json::from_str(&rendered(&["-o", "json"])?)?;
    assert_eq!((&list["kind"], list["items"].as_array().map(Vec::len)), (&Value::from("List"), Some(41)));
    let names = rendered(&["-o", "name"])?;
    assert!(
        names.starts_with("namespace/kube-reserve\n") && names.ends_with("deployment.apps/reserve-daemon\n"),
        "{names}"
    );
    Ok(())
}

//! Every connection flag reaches the API server as kubectl's own would.

use super::{SHARED_CLUSTER, Said, kubectl};
use anyhow::{Context as _, Result};
use reserve_tests::control_plane::User;
use reserve_tests::shared_cluster::TestNamespace;
use std::fs;

/// `kubectl reserve list -A` with more words, which reads nodes and pods.
fn list(ns: &TestNamespace, environment: &[(&str, &str)], more: &[&str]) -> Result<Said> {
    kubectl(ns.cluster, environment, &[&["reserve", "list", "-A"][..], more].concat())
}

#[test]
fn somebody_else_can_be_acted_as() -> Result<()> {
    SHARED_CLUSTER.run("as", async |ns| {
        let refused = list(&ns, &[], &["--as", "jane", "--as-group=a", "--as-group=b"])?;
        assert_eq!(refused.code, Some(14), "{}", refused.talk);
        assert!(refused.talk.contains("nodes"), "{}", refused.talk);
        let masters = ["--as", "jane", "--as-group", "system:masters", "--as-uid=7", "--as-user-extra=a=b"];
        list(&ns, &[], &masters)?.well()?;
        let alone = list(&ns, &[], &["--as-group=a"])?;
        assert_eq!(alone.code, Some(2));
        assert!(alone.talk.contains("without impersonating a user"), "{}", alone.talk);
        Ok(())
    })
}

#[test]
fn files_of_a_list_that_are_missing_are_passed_over_and_broken_ones_are_not() -> Result<()> {
    SHARED_CLUSTER.run("files", async |ns| {
        let dir = ns.cluster.dir();
        let good = ns.cluster.kubeconfig(User::Admin);
        let broken = dir.join("broken.kubeconfig");
        fs::write(&broken, "clusters: {")?;
        let joined = |paths: &[&std::path::Path]| -> Result<String> {
            let joined = std::env::join_paths(paths)?;
            joined.into_string().ok().context("not text")
        };
        let missing = dir.join("missing.kubeconfig");
        list(&ns, &[("KUBECONFIG", &joined(&[&missing, &good])?)], &[])?.well()?;
        // As if in a pod: another cluster would be at hand.
        let pod = [("KUBERNETES_SERVICE_HOST", "127.0.0.1"), ("KUBERNETES_SERVICE_PORT", "1")];
        let lists = [joined(&[&broken])?, joined(&[&good, &broken])?];
        for list_of_files in &lists {
            let environment = [pod[0], pod[1], ("KUBECONFIG", list_of_files)];
            let said = list(&ns, &environment, &[])?;
            assert_eq!(said.code, Some(1), "{}", said.talk);
            assert!(said.talk.contains("broken.kubeconfig"), "{}", said.talk);
        }
        let good = good.to_str().context("not text")?;
        let flag = list(&ns, &[("KUBECONFIG", lists[0].as_str())], &["--kubeconfig", good]);
        flag?.well()?;
        let said = list(&ns, &[], &["--context=nobody"])?;
        assert!(said.talk.contains("context was not found for specified context: nobody"), "{}", said.talk);
        Ok(())
    })
}

#[test]
fn the_server_is_checked_as_asked() -> Result<()> {
    SHARED_CLUSTER.run("tls", async |ns| {
        let port = ns.cluster.api_port()?;
        let server = format!("--server=https://localhost:{port}");
        list(&ns, &[], &[&server])?.well()?;
        list(&ns, &[], &["--tls-server-name=kubernetes.default.svc"])?.well()?;
        let wrong = list(&ns, &[], &["--tls-server-name=elsewhere.example"])?;
        assert_eq!(wrong.code, Some(1), "{}", wrong.talk);
        assert!(wrong.talk.contains("certificate"), "{}", wrong.talk);
        let insecure = ["--tls-server-name=elsewhere.example", "--insecure-skip-tls-verify"];
        list(&ns, &[], &insecure)?.well()?;
        let authority = ns.cluster.dir().join("ca.crt");
        let authority = format!("--certificate-authority={}", authority.display());
        list(&ns, &[], &[&authority])?.well()?;
        let other = ns.cluster.dir().join("tokens.csv");
        let other = list(&ns, &[], &[&format!("--certificate-authority={}", other.display())])?;
        assert!(other.talk.contains("there is no certificate in it"), "{}", other.talk);
        Ok(())
    })
}

#[test]
fn requests_are_told_without_secrets_and_end_in_time() -> Result<()> {
    SHARED_CLUSTER.run("told", async |ns| {
        let token = token(&ns)?;
        let said = list(&ns, &[], &["-v=6", "--token", &token])?;
        let port = ns.cluster.api_port()?;
        let line =
            said.talk.lines().find(|line| line.contains("/api/v1/nodes")).context("no request told")?;
        assert!(
            line.contains(&format!("verb=\"GET\" url=\"https://127.0.0.1:{port}/api/v1/nodes")),
            "{line}"
        );
        assert!(line.contains("status=\"200 OK\" milliseconds="), "{line}");
        assert!(!said.talk.contains(&token) && !said.out.contains(&token), "a secret was told");
        assert!(!list(&ns, &[], &["-v", "5"])?.talk.contains("/api/v1"));

        // Somebody who listens and never answers.
        let silent = std::net::TcpListener::bind("127.0.0.1:0")?;
        let server = format!("http://{}", silent.local_addr()?);
        let said = list(&ns, &[], &["--server", &server, "--request-timeout=1s"])?;
        assert_eq!(said.code, Some(1));
        assert!(said.talk.contains("--request-timeout"), "{}", said.talk);
        let odd = list(&ns, &[], &["--request-timeout=soon"])?;
        assert_eq!(odd.code, Some(2), "{}", odd.talk);
        Ok(())
    })
}

/// The admin's own.
pub(super) fn token(ns: &TestNamespace) -> Result<String> {
    let table = fs::read_to_string(ns.cluster.dir().join("tokens.csv"))?;
    let line = table.lines().find(|line| line.contains(",admin,")).context("no admin")?;
    Ok(line.split(',').next().context("no token")?.to_owned())
}

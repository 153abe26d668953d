//! Every connection flag reaches the API server as kubectl's own would.

use super::{Said, TOWN, kubectl};
use anyhow::{Context as _, Result};
use reserve_tests::control_plane::User;
use reserve_tests::town::Plot;
use std::fs;

/// `kubectl reserve list -A` with more words, which reads nodes and pods.
fn list(plot: &Plot, environment: &[(&str, &str)], more: &[&str]) -> Result<Said> {
    kubectl(plot.cluster, environment, &[&["reserve", "list", "-A"][..], more].concat())
}

#[test]
fn somebody_else_can_be_acted_as() -> Result<()> {
    TOWN.run("as", async |plot| {
        let refused = list(&plot, &[], &["--as", "jane", "--as-group=a", "--as-group=b"])?;
        assert_eq!(refused.code, Some(14), "{}", refused.talk);
        assert!(refused.talk.contains("nodes"), "{}", refused.talk);
        let masters = ["--as", "jane", "--as-group", "system:masters", "--as-uid=7", "--as-user-extra=a=b"];
        list(&plot, &[], &masters)?.well()?;
        let alone = list(&plot, &[], &["--as-group=a"])?;
        assert_eq!(alone.code, Some(2));
        assert!(alone.talk.contains("without impersonating a user"), "{}", alone.talk);
        Ok(())
    })
}

#[test]
fn files_of_a_list_that_are_missing_are_passed_over_and_broken_ones_are_not() -> Result<()> {
    TOWN.run("files", async |plot| {
        let dir = plot.cluster.dir();
        let good = plot.cluster.kubeconfig(User::Admin);
        let broken = dir.join("broken.kubeconfig");
        fs::write(&broken, "clusters: {")?;
        let joined = |paths: &[&std::path::Path]| -> Result<String> {
            let joined = std::env::join_paths(paths)?;
            joined.into_string().ok().context("not text")
        };
        let missing = dir.join("missing.kubeconfig");
        list(&plot, &[("KUBECONFIG", &joined(&[&missing, &good])?)], &[])?.well()?;
        // As if in a pod: another cluster would be at hand.
        let pod = [("KUBERNETES_SERVICE_HOST", "127.0.0.1"), ("KUBERNETES_SERVICE_PORT", "1")];
        let lists = [joined(&[&broken])?, joined(&[&good, &broken])?];
        for list_of_files in &lists {
            let environment = [pod[0], pod[1], ("KUBECONFIG", list_of_files)];
            let said = list(&plot, &environment, &[])?;
            assert_eq!(said.code, Some(1), "{}", said.talk);
            assert!(said.talk.contains("broken.kubeconfig"), "{}", said.talk);
        }
        let good = good.to_str().context("not text")?;
        let flag = list(&plot, &[("KUBECONFIG", lists[0].as_str())], &["--kubeconfig", good]);
        flag?.well()?;
        let said = list(&plot, &[], &["--context=nobody"])?;
        assert!(said.talk.contains("context was not found for specified context: nobody"), "{}", said.talk);
        Ok(())
    })
}

#[test]
fn the_server_is_checked_as_asked() -> Result<()> {
    TOWN.run("tls", async |plot| {
        let port = plot.cluster.api_port()?;
        let server = format!("--server=https://localhost:{port}");
        list(&plot, &[], &[&server])?.well()?;
        list(&plot, &[], &["--tls-server-name=kubernetes.default.svc"])?.well()?;
        let wrong = list(&plot, &[], &["--tls-server-name=elsewhere.example"])?;
        assert_eq!(wrong.code, Some(1), "{}", wrong.talk);
        assert!(wrong.talk.contains("certificate"), "{}", wrong.talk);
        let insecure = ["--tls-server-name=elsewhere.example", "--insecure-skip-tls-verify"];
        list(&plot, &[], &insecure)?.well()?;
        let authority = plot.cluster.dir().join("ca.crt");
        let authority = format!("--certificate-authority={}", authority.display());
        list(&plot, &[], &[&authority])?.well()?;
        let other = plot.cluster.dir().join("tokens.csv");
        let other = list(&plot, &[], &[&format!("--certificate-authority={}", other.display())])?;
        assert!(other.talk.contains("there is no certificate in it"), "{}", other.talk);
        Ok(())
    })
}

#[test]
fn requests_are_told_without_secrets_and_end_in_time() -> Result<()> {
    TOWN.run("told", async |plot| {
        let token = token(&plot)?;
        let said = list(&plot, &[], &["-v=6", "--token", &token])?;
        let port = plot.cluster.api_port()?;
        let line =
            said.talk.lines().find(|line| line.contains("/api/v1/nodes")).context("no request told")?;
        assert!(
            line.contains(&format!("verb=\"GET\" url=\"https://127.0.0.1:{port}/api/v1/nodes")),
            "{line}"
        );
        assert!(line.contains("status=\"200 OK\" milliseconds="), "{line}");
        assert!(!said.talk.contains(&token) && !said.out.contains(&token), "a secret was told");
        assert!(!list(&plot, &[], &["-v", "5"])?.talk.contains("/api/v1"));

        // Somebody who listens and never answers.
        let silent = std::net::TcpListener::bind("127.0.0.1:0")?;
        let server = format!("http://{}", silent.local_addr()?);
        let said = list(&plot, &[], &["--server", &server, "--request-timeout=1s"])?;
        assert_eq!(said.code, Some(1));
        assert!(said.talk.contains("--request-timeout"), "{}", said.talk);
        let odd = list(&plot, &[], &["--request-timeout=soon"])?;
        assert_eq!(odd.code, Some(2), "{}", odd.talk);
        Ok(())
    })
}

/// The admin's own.
pub(super) fn token(plot: &Plot) -> Result<String> {
    let table = fs::read_to_string(plot.cluster.dir().join("tokens.csv"))?;
    let line = table.lines().find(|line| line.contains(",admin,")).context("no admin")?;
    Ok(line.split(',').next().context("no token")?.to_owned())
}

//! Runs a credential plugin: a program that the kubeconfig names, which may ask the user something, and prints an ExecCredential
//! with a token or a certificate.

use crate::error::Failure;
use crate::ui::progress;
use common::model::chain::chain;
use jiff::Timestamp;
use kube::config::{Cluster, ExecAuthCluster, ExecConfig, ExecInteractiveMode};
use serde::Deserialize;
use serde_json::json;
use std::io::{ErrorKind, IsTerminal, stdin};
use std::process::{Command, Output, Stdio};

/// What a plugin returned.
#[derive(Default)]
pub(super) struct ExecCredential {
    pub(super) token: Option<String>,
    /// A certificate and its key, in PEM.
    pub(super) identity: Option<(String, String)>,
    pub(super) expires: Option<Timestamp>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CredentialWire {
    api_version: Option<String>,
    status: Option<StatusWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StatusWire {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    expiration_timestamp: Option<Timestamp>,
}

/// Runs the plugin and waits for it. Progress output is suspended meanwhile.
pub(super) fn run(
    plugin: &ExecConfig,
    cluster: &Cluster,
    is_silent: bool,
) -> Result<ExecCredential, Failure> {
    let name = plugin.command.as_deref().ok_or_else(|| {
        Failure::new("the kubeconfig names a credential plugin without a command (users[].user.exec.command)")
    })?;
    let is_interactive = is_interactive(plugin, !is_silent && stdin().is_terminal())?;
    let mut command = command(name, plugin, cluster, is_interactive)?;
    command.stderr(if is_silent { Stdio::null() } else { Stdio::inherit() });
    let output = progress::suspend(|| command.output());
    let output = output.map_err(|error| {
        let failure = Failure::new(format!("credential plugin {name:?}: {error}"));
        match plugin.install_hint.as_deref().filter(|_| error.kind() == ErrorKind::NotFound) {
            Some(hint) => failure.hint(hint.trim()),
            None => failure,
        }
    })?;
    read(name, plugin, &output)
}

/// Whether the plugin may ask the user something.
fn is_interactive(plugin: &ExecConfig, is_terminal: bool) -> Result<bool, Failure> {
    match plugin.interactive_mode {
        Some(ExecInteractiveMode::Never) => Ok(false),
        Some(ExecInteractiveMode::Always) if !is_terminal => {
            Err(Failure::new("the credential plugin must ask, but stdin is not a terminal"))
        }
        Some(ExecInteractiveMode::Always) => Ok(true),
        Some(ExecInteractiveMode::IfAvailable) | None => Ok(is_terminal),
    }
}

fn command(
    name: &str,
    plugin: &ExecConfig,
    cluster: &Cluster,
    is_interactive: bool,
) -> Result<Command, Failure> {
    let mut spec = json!({ "interactive": is_interactive });
    if plugin.provide_cluster_info {
        let about = ExecAuthCluster::try_from(cluster).map_err(|error| Failure::new(chain(&error)))?;
        spec["cluster"] = serde_json::to_value(about).map_err(Failure::new)?;
    }
    let info = json!({ "kind": "ExecCredential", "apiVersion": plugin.api_version, "spec": spec });
    let mut command = Command::new(name);
    command.args(plugin.args.iter().flatten());
    for variable in plugin.env.iter().flatten() {
        if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
            command.env(name, value);
        }
    }
    command.env("KUBERNETES_EXEC_INFO", info.to_string());
    command.stdin(if is_interactive { Stdio::inherit() } else { Stdio::null() });
    command.stdout(Stdio::piped());
    Ok(command)
}

/// Decodes the output of the plugin. Errors never show the output, because it is a secret.
fn read(name: &str, plugin: &ExecConfig, output: &Output) -> Result<ExecCredential, Failure> {
    let failed = |what: &str| Failure::new(format!("credential plugin {name:?} {what}"));
    if !output.status.success() {
        return Err(failed(&format!("failed: {}", output.status)));
    }
    let text = str::from_utf8(&output.stdout).map_err(|_| failed("printed something that is not text"))?;
    let wire: CredentialWire = serde_saphyr::from_str(text)
        .map_err(|_| failed("printed something that is not an ExecCredential"))?;
    if wire.api_version.is_some() && wire.api_version != plugin.api_version {
        let wanted = plugin.api_version.as_deref().unwrap_or_default();
        return Err(failed(&format!("answered in another version than the kubeconfig's {wanted}")));
    }
    let status = wire.status.ok_or_else(|| failed("gave no status"))?;
    let identity = status.client_certificate_data.zip(status.client_key_data);
    if status.token.is_none() && identity.is_none() {
        return Err(failed("gave neither a token nor a certificate"));
    }
    Ok(ExecCredential { token: status.token, identity, expires: status.expiration_timestamp })
}

#[cfg(test)]
mod tests {
    use super::{is_interactive, run};
    use kube::config::{Cluster, ExecConfig, ExecInteractiveMode};

    fn plugin(script: &str) -> ExecConfig {
        let text = serde_json::json!({
            "apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", script],
            "interactiveMode": "Never", "installHint": "Get it from the shop.",
        });
        serde_json::from_value(text).unwrap()
    }

    fn failure(script: &str) -> String {
        run(&plugin(script), &Cluster::default(), true).err().unwrap().message.unwrap()
    }

    #[test]
    fn a_plugin_is_told_and_heard() {
        let script = r#"
            case $KUBERNETES_EXEC_INFO in *'"interactive":false'*) ;; *) exit 3 ;; esac
            echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",'
            echo '"status":{"token":"geheim","expirationTimestamp":"2026-11-17T09:00:00Z"}}'"#;
        let credential = run(&plugin(script), &Cluster::default(), true).ok().unwrap();
        assert_eq!(credential.token.as_deref(), Some("geheim"));
        assert_eq!(credential.expires.unwrap().to_string(), "2026-11-17T09:00:00Z");
    }

    #[test]
    fn what_goes_wrong_is_told_without_the_secret() {
        assert!(failure("exit 7").contains("exit status: 7"));
        assert!(
            failure("echo '{\"apiVersion\":\"client.authentication.k8s.io/v1beta1\"}'").contains("version")
        );
        assert!(failure("echo '{\"status\":{}}'").contains("neither a token nor a certificate"));
        assert!(failure("echo '{}'").contains("gave no status"));
        let message = failure("echo 'geheim: [}'");
        assert!(message.contains("not an ExecCredential") && !message.contains("geheim"), "{message}");
        let missing = ExecConfig { command: Some("no-such-program".into()), ..plugin("") };
        let failure = run(&missing, &Cluster::default(), true).err().unwrap();
        assert_eq!(failure.hint.as_deref(), Some("Get it from the shop."));
    }

    #[test]
    fn only_a_terminal_can_be_asked() {
        let mode = |mode, is_terminal| {
            is_interactive(&ExecConfig { interactive_mode: mode, ..plugin("") }, is_terminal).ok()
        };
        assert_eq!(mode(Some(ExecInteractiveMode::Never), true), Some(false));
        assert_eq!(mode(Some(ExecInteractiveMode::IfAvailable), true), Some(true));
        assert_eq!(mode(None, false), Some(false));
        assert_eq!(mode(Some(ExecInteractiveMode::Always), false), None);
    }
}

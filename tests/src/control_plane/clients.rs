//! kubectl and krew as a person would run them, and the rights people have.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use super::cluster::Cluster;
use super::settings;
use super::users::User;

impl Cluster {
    /// kubectl, ready to act as `user`, with our plugins and krew on its `PATH`.
    ///
    /// # Errors
    /// When `PATH` cannot be put together.
    pub fn kubectl(&self, user: User) -> Result<Command> {
        let mut dirs = vec![self.bin_dir()];
        dirs.extend(self.asked.plugin_dirs.iter().cloned());
        let mut command = Command::new(self.bin_dir().join("kubectl"));
        command
            .env("PATH", settings::path_with(&dirs)?)
            .env("KUBECONFIG", self.kubeconfig(user))
            // Nothing of the person who runs the tests is read or changed.
            .env("HOME", self.dir().join("home"))
            .env_remove("XDG_CACHE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env("KUBECACHEDIR", self.dir().join("kubectl-cache"))
            .env("KUBERC", "off")
            .env("KREW_ROOT", self.dir().join("krew"))
            .current_dir(self.dir());
        Ok(command)
    }

    /// Runs kubectl as the admin and returns what it printed.
    ///
    /// # Errors
    /// When it fails, with what it said.
    pub async fn run_kubectl(&self, arguments: &[&str]) -> Result<String> {
        self.run_kubectl_as(User::Admin, arguments).await
    }

    /// Runs kubectl as `user` and returns what it printed.
    ///
    /// # Errors
    /// When it fails, with what it said.
    pub async fn run_kubectl_as(&self, user: User, arguments: &[&str]) -> Result<String> {
        let mut command = self.kubectl(user)?;
        command.args(arguments);
        run(command, String::new()).await
    }

    /// Applies the manifests in a file, as the admin.
    ///
    /// # Errors
    /// When kubectl refuses, with what it said.
    pub async fn apply_file(&self, path: impl AsRef<Path>) -> Result<String> {
        let path = std::path::absolute(path.as_ref()).context("find the file to apply")?;
        self.run_kubectl(&["apply", "--filename", &path.to_string_lossy()]).await
    }

    /// Applies manifests given as text, as the admin.
    ///
    /// # Errors
    /// When kubectl refuses, with what it said.
    pub async fn apply(&self, manifests: &str) -> Result<String> {
        let mut command = self.kubectl(User::Admin)?;
        command.args(["apply", "--filename", "-"]);
        run(command, manifests.to_owned()).await
    }

    /// Gives `user` the rights of a ClusterRole, in one namespace or, with `None`, everywhere.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn grant(&self, user: User, cluster_role: &str, namespace: Option<&str>) -> Result<()> {
        let kind = if namespace.is_some() { "RoleBinding" } else { "ClusterRoleBinding" };
        let group = "rbac.authorization.k8s.io";
        let binding = json!({
            "apiVersion": format!("{group}/v1"),
            "kind": kind,
            "metadata": {"name": format!("{}-{cluster_role}", user.word()), "namespace": namespace},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": cluster_role},
            "subjects": [{"apiGroup": group, "kind": "User", "name": self.user_name(user)}],
        });
        self.apply(&binding.to_string()).await.map(drop)
    }

    /// Lets the tenant work in a namespace as the ClusterRole `edit` allows.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn let_tenant_edit(&self, namespace: &str) -> Result<()> {
        self.grant(User::Tenant, "edit", Some(namespace)).await
    }

    /// Applies `manifests/daemon/rbac.yaml` and gives [`User::Daemon`] the ClusterRole `reserve-daemon`.
    ///
    /// # Errors
    /// When the file is missing or the API server refuses.
    pub async fn install_roles(&self) -> Result<()> {
        self.apply_file(settings::workspace_dir().join("manifests/daemon/rbac.yaml")).await?;
        // Out of a pod it keeps its Leases where kube-scheduler does.
        self.grant(User::Daemon, "reserve-daemon-leases", Some("kube-system")).await?;
        self.grant(User::Daemon, "reserve-daemon", None).await
    }
}

/// Runs a command to its end, away from the threads that serve the test's other tasks.
async fn run(mut command: Command, input: String) -> Result<String> {
    let finished = tokio::task::spawn_blocking(move || -> Result<String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("start {command:?}"))?;
        let mut stdin = child.stdin.take().context("no standard input")?;
        // A command that fails early reads nothing; its own error is the one to show.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        let output = child.wait_with_output().context("wait for a command")?;
        if !output.status.success() {
            let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("kubectl {} ({}):\n{said}", arguments.join(" "), output.status);
        }
        String::from_utf8(output.stdout).context("read what kubectl printed")
    });
    finished.await.context("run kubectl")?
}

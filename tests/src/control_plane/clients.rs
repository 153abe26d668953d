//! Runs kubectl and krew as users do, and grants rights to users.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::api::{Api, PostParams};
use serde_json::json;

use super::cluster::Cluster;
use super::settings;
use super::users::User;

/// How long the authorizer may take to learn of a new role.
const IN_FORCE_MAX: Duration = Duration::from_secs(60);

impl Cluster {
    /// kubectl, ready to act as `user`, with our plugins and krew on its `PATH`.
    ///
    /// # Errors
    /// When `PATH` cannot be put together.
    pub fn kubectl(&self, user: User) -> Result<Command> {
        let mut dirs = vec![self.bin_dir()];
        dirs.extend(self.spec.plugin_dirs.iter().cloned());
        let mut command = Command::new(self.bin_dir().join("kubectl"));
        command
            .env("PATH", settings::path_with(&dirs)?)
            .env("KUBECONFIG", self.kubeconfig(user))
            // Nothing in the home directory of the user who runs the tests is read or changed.
            .env("HOME", self.dir().join("home"))
            .env_remove("XDG_CACHE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env("KUBECACHEDIR", self.dir().join("kubectl-cache"))
            .env("KUBERC", "off")
            .env("KREW_ROOT", self.dir().join("krew"))
            .current_dir(self.dir());
        Ok(command)
    }

    /// Runs kubectl as the admin and returns its output.
    ///
    /// # Errors
    /// When kubectl fails, with its error output.
    pub async fn run_kubectl(&self, arguments: &[&str]) -> Result<String> {
        self.run_kubectl_as(User::Admin, arguments).await
    }

    /// Runs kubectl as `user` and returns its output.
    ///
    /// # Errors
    /// When kubectl fails, with its error output.
    pub async fn run_kubectl_as(&self, user: User, arguments: &[&str]) -> Result<String> {
        let mut command = self.kubectl(user)?;
        command.args(arguments);
        run(command, String::new()).await
    }

    /// Applies the manifests in a file, as the admin.
    ///
    /// # Errors
    /// When kubectl fails, with its error output.
    pub async fn apply_file(&self, path: impl AsRef<Path>) -> Result<String> {
        let path = std::path::absolute(path.as_ref()).context("find the file to apply")?;
        self.run_kubectl(&["apply", "--filename", &path.to_string_lossy()]).await
    }

    /// Applies manifests given as text, as the admin.
    ///
    /// # Errors
    /// When kubectl fails, with its error output.
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
            "metadata": {"name": format!("{}-{cluster_role}", user.short_name()), "namespace": namespace},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": cluster_role},
            "subjects": [{"apiGroup": group, "kind": "User", "name": self.user_name(user)}],
        });
        self.apply(&binding.to_string()).await?;
        self.wait_until(&format!("{cluster_role} is in force"), IN_FORCE_MAX, async || {
            self.check_rights(user, cluster_role, namespace).await
        })
        .await
    }

    /// Checks that the authorizer allows one action of each rule of the role: it learns of roles and bindings by a watch of its
    /// own.
    async fn check_rights(&self, user: User, cluster_role: &str, namespace: Option<&str>) -> Result<()> {
        let roles: Api<ClusterRole> = Api::all(self.admin());
        let rules = roles.get(cluster_role).await?.rules.unwrap_or_default();
        for rule in rules.iter().filter(|rule| rule.resource_names.is_none()) {
            let first = |words: &Option<Vec<String>>| words.as_ref().and_then(|words| words.first().cloned());
            let Some(resource) = first(&rule.resources) else { continue };
            let (resource, subresource) = match resource.split_once('/') {
                Some((resource, sub)) => (resource.to_owned(), Some(sub.to_owned())),
                None => (resource, None),
            };
            let (verb, group) = (rule.verbs.first().cloned(), first(&rule.api_groups));
            let attributes = ResourceAttributes {
                verb,
                group,
                resource: Some(resource),
                subresource,
                namespace: namespace.map(str::to_owned),
                ..ResourceAttributes::default()
            };
            ensure!(self.may(&self.user_name(user), attributes.clone()).await?, "not yet: {attributes:?}");
        }
        Ok(())
    }

    /// Whether the authorizer allows an action to a user.
    ///
    /// # Errors
    /// When the API server does not answer.
    pub async fn may(&self, user: &str, attributes: ResourceAttributes) -> Result<bool> {
        let spec = SubjectAccessReviewSpec {
            user: Some(user.to_owned()),
            groups: Some(vec!["system:authenticated".to_owned()]),
            resource_attributes: Some(attributes),
            ..SubjectAccessReviewSpec::default()
        };
        let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
        let answer = Api::all(self.admin()).create(&PostParams::default(), &review).await;
        Ok(answer.context("ask the authorizer")?.status.context("no answer")?.allowed)
    }

    /// Lets the tenant work in a namespace as the ClusterRole `edit` allows.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn let_tenant_edit(&self, namespace: &str) -> Result<()> {
        self.grant(User::Tenant, "edit", Some(namespace)).await
    }

    /// Applies `manifests/daemon/rbac.yaml` and gives [`User::Daemon`] the ClusterRoles of the daemon.
    ///
    /// # Errors
    /// When the file is missing or the API server refuses.
    pub async fn install_roles(&self) -> Result<()> {
        let install = async || {
            self.apply_file(settings::workspace_dir().join("manifests/daemon/rbac.yaml")).await?;
            // Outside a pod the daemon keeps its Leases in kube-system, as kube-scheduler does.
            self.grant(User::Daemon, "reserve-daemon-leases", Some("kube-system")).await?;
            self.grant(User::Daemon, "reserve-daemon-owners", None).await?;
            self.grant(User::Daemon, "reserve-daemon", None).await
        };
        self.roles.get_or_try_init(install).await.copied()
    }
}

/// Runs a command to its end on a blocking thread, so that the test's other tasks go on.
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

//! The command line of every program of the control plane.

use std::path::{Path, PathBuf};

use super::users::User;

/// A program to run, with its arguments.
#[derive(Debug)]
pub(super) struct Component {
    /// Its name, which is also the name of its binary and of its log.
    pub(super) name: &'static str,
    pub(super) arguments: Vec<String>,
}

/// Folders and ports that the command lines depend on.
#[derive(Debug)]
pub(super) struct Layout {
    /// Folder of the cluster: certificates, tokens, kubeconfigs, data and logs.
    pub(super) dir: PathBuf,
    /// Folder with the audit policy and the stages of kwok.
    pub(super) configuration: PathBuf,
    /// Port of etcd for the API server.
    pub(super) etcd_port: u16,
    /// Port of etcd for other members, of which there are none.
    pub(super) peer_port: u16,
    pub(super) api_port: u16,
}

impl Layout {
    pub(super) fn etcd(&self) -> Component {
        let client = format!("http://127.0.0.1:{}", self.etcd_port);
        let peer = format!("http://127.0.0.1:{}", self.peer_port);
        Component::new("etcd")
            .with("name", "test")
            .with("data-dir", self.file("etcd-data"))
            .with("listen-client-urls", &client)
            .with("advertise-client-urls", &client)
            .with("listen-peer-urls", &peer)
            .with("initial-advertise-peer-urls", &peer)
            .with("initial-cluster", format!("test={peer}"))
            // The data need not survive a power failure.
            .with("unsafe-no-fsync", "true")
            .with("log-level", "warn")
    }

    pub(super) fn api_server(&self) -> Component {
        Component::new("kube-apiserver")
            .with("etcd-servers", format!("http://127.0.0.1:{}", self.etcd_port))
            .with("bind-address", "127.0.0.1")
            .with("advertise-address", "127.0.0.1")
            // The Service `kubernetes` may not point to loopback, and nothing here uses it.
            .with("endpoint-reconciler-type", "none")
            .with("secure-port", self.api_port.to_string())
            .with("cert-dir", self.file("api-certificates"))
            .with("tls-cert-file", self.file("server.crt"))
            .with("tls-private-key-file", self.file("server.key"))
            .with("client-ca-file", self.file("ca.crt"))
            // Without a CA for proxies, kube-controller-manager and kube-scheduler ask for one for ever.
            .with("requestheader-client-ca-file", self.file("ca.crt"))
            .with("requestheader-allowed-names", "nobody")
            .with("token-auth-file", self.file("tokens.csv"))
            .with("authorization-mode", "Node,RBAC")
            .with("enable-admission-plugins", "NodeRestriction")
            .with("service-account-issuer", "https://kubernetes.default.svc")
            .with("service-account-key-file", self.file("accounts.pub"))
            .with("service-account-signing-key-file", self.file("accounts.key"))
            .with("service-cluster-ip-range", "10.0.0.0/24")
            .with("allow-privileged", "true")
            .with("profiling", "false")
    }

    pub(super) fn controller_manager(&self) -> Component {
        Component::new("kube-controller-manager")
            .with_kubeconfigs(&self.kubeconfig(User::ControllerManager))
            .with("leader-elect", "false")
            .with("secure-port", "0")
            .with("profiling", "false")
            .with_high_qps()
            // The default is a system folder, which kube-controller-manager would create.
            .with("flex-volume-plugin-dir", self.file("flex-volumes"))
            // Without the key no `default` ServiceAccount appears, and every pod is refused.
            .with("use-service-account-credentials", "true")
            .with("service-account-private-key-file", self.file("accounts.key"))
            .with("root-ca-file", self.file("ca.crt"))
            // Without the star every controller that is not named is off.
            .with("controllers", "*,-horizontal-pod-autoscaler-controller,-node-ipam-controller")
    }

    /// kube-scheduler with its own defaults, or with the given configuration file.
    pub(super) fn scheduler(&self, configuration: Option<&Path>) -> Component {
        let scheduler = Component::new("kube-scheduler")
            .with_kubeconfigs(&self.kubeconfig(User::Scheduler))
            .with("secure-port", "0")
            .with("leader-elect", "false")
            .with_high_qps();
        match configuration {
            Some(file) => scheduler.with("config", file.to_string_lossy()),
            None => scheduler,
        }
    }

    pub(super) fn kwok(&self) -> Component {
        Component::new("kwok")
            .with("kubeconfig", self.kubeconfig(User::Kwok))
            .with("config", self.configuration_file("stages.yaml"))
            .with("manage-all-nodes", "true")
            .with("node-lease-duration-seconds", "40")
    }

    /// The kubeconfig file of a user.
    pub(super) fn kubeconfig(&self, user: User) -> String {
        self.file(&format!("{}.kubeconfig", user.short_name()))
    }

    fn file(&self, name: &str) -> String {
        self.dir.join(name).to_string_lossy().into_owned()
    }

    fn configuration_file(&self, name: &str) -> String {
        self.configuration.join(name).to_string_lossy().into_owned()
    }
}

impl Component {
    fn new(name: &'static str) -> Self {
        Self { name, arguments: vec![] }
    }

    fn with(mut self, flag: &str, value: impl AsRef<str>) -> Self {
        self.arguments.push(format!("--{flag}={}", value.as_ref()));
        self
    }

    /// kube-apiserver with an audit log.
    pub(super) fn audited(self, layout: &Layout) -> Self {
        self.with("audit-policy-file", layout.configuration_file("audit-policy.yaml"))
            .with("audit-log-path", layout.file("audit.log"))
            // Blocking and never rotated, so that this one file has every write.
            .with("audit-log-mode", "blocking")
            .with("audit-log-maxsize", "0")
    }

    /// kube-apiserver for a cluster without controllers, which would make ServiceAccounts and remove the taints of new nodes.
    /// scheduler_perf disables the same plugins.
    pub(super) fn bare(self) -> Self {
        self.with("disable-admission-plugins", "ServiceAccount,TaintNodesByCondition,Priority")
    }

    /// With the default of 20 requests per second a cluster takes twice as long to start.
    fn with_high_qps(self) -> Self {
        self.with("kube-api-qps", "1000").with("kube-api-burst", "2000")
    }

    fn with_kubeconfigs(self, file: &str) -> Self {
        self.with("kubeconfig", file)
            .with("authentication-kubeconfig", file)
            .with("authorization-kubeconfig", file)
    }
}

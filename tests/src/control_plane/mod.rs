//! A real Kubernetes control plane for tests. [`ControlPlane::start`] starts it.
//!
//! ```no_run
//! # use reserve_tests::control_plane::{ControlPlane, deployment, node};
//! # async fn example() -> anyhow::Result<()> {
//! let cluster = ControlPlane::start("my_test").with_scheduler().await?;
//! cluster.add_node(node("n1").cpu("6000m").memory("8Gi")).await?;
//! let testngx = cluster.deploy(deployment("testngx").cpu("1000m").memory("128Mi")).await?;
//! cluster.wait_until_running(&testngx.selector, 1).await?;
//! # Ok(())
//! # }
//! ```
//!
//! etcd, kube-apiserver, kube-controller-manager and, on request, kube-scheduler are the real programs; kwok replaces the kubelets
//! (`tests/control-plane/stages.yaml` says what pods do). Everything listens on loopback only and ends with the [`Cluster`], also
//! after a panic, Ctrl-C or `kill -9`. The files of the last run of each test, logs included, stay in `control-plane/<test>` of
//! cargo's target folder.

mod accounts;
mod audit;
mod binaries;
mod clients;
mod cluster;
mod cluster_dir;
mod components;
mod credentials;
mod go_build;
mod modules;
mod nodes;
mod pods;
mod process;
mod program;
mod recorder;
mod rule_check;
mod settings;
mod start;
mod users;
mod workloads;

pub use accounts::Account;
pub use audit::{Audit, Write};
pub use binaries::Binaries;
pub use cluster::Cluster;
pub use go_build::OurGoProgram;
pub use modules::kubernetes_version;
pub use nodes::{NodeShape, node};
pub use pods::{describe, is_running, name_of, node_of, unscheduled};
pub use program::Program;
pub use settings::workspace_dir;
pub use start::ControlPlane;
pub use users::User;
pub use workloads::{Workload, WorkloadShape, bare_pod, deployment, job, stateful_set};

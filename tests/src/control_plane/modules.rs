//! The programs of a control plane, the Go modules they are built from, and their versions.
//!
//! The versions are the `require` lines of the `go.mod` files under `tests/control-plane/`;
//! nothing else names them.

use anyhow::{Context as _, Result};

/// One Go module under `tests/control-plane/` and the programs it builds.
#[derive(Debug)]
pub(super) struct Module {
    /// Folder under `tests/control-plane/`, and the first part of its folder in the cache.
    pub(super) name: &'static str,
    /// The programs, each with the Go package it is built from.
    pub(super) programs: &'static [(&'static str, &'static str)],
    /// The Go module path whose version in `go.mod` is the version of the programs.
    path: &'static str,
    go_mod: &'static str,
    /// The Go variables that hold the version a program reports.
    version_variables: &'static [&'static str],
    /// Go build tags: parts that are left out.
    pub(super) tags: &'static str,
}

/// All programs of a cluster and its clients.
pub(super) const MODULES: &[Module] = &[
    Module {
        name: "etcd",
        programs: &[("etcd", "go.etcd.io/etcd/server/v3")],
        path: "go.etcd.io/etcd/server/v3",
        go_mod: include_str!("../../control-plane/etcd/go.mod"),
        version_variables: &[],
        tags: "",
    },
    Module {
        name: "kubernetes",
        programs: &[
            ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
            ("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
            ("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
            ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
        ],
        path: "k8s.io/kubernetes",
        go_mod: include_str!("../../control-plane/kubernetes/go.mod"),
        version_variables: &["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"],
        tags: "",
    },
    Module {
        name: "kwok",
        programs: &[("kwok", "sigs.k8s.io/kwok/cmd/kwok")],
        path: "sigs.k8s.io/kwok",
        go_mod: include_str!("../../control-plane/kwok/go.mod"),
        version_variables: &["sigs.k8s.io/kwok/pkg/consts.Version"],
        tags: "",
    },
    Module {
        name: "krew",
        programs: &[("krew", "sigs.k8s.io/krew/cmd/krew")],
        path: "sigs.k8s.io/krew",
        go_mod: include_str!("../../control-plane/krew/go.mod"),
        version_variables: &["sigs.k8s.io/krew/internal/version.gitTag"],
        tags: "",
    },
];

/// Programs that are no part of a cluster. Each is built for the tests that run it, and for nothing else.
pub(super) const CHECKERS: &[Module] = &[
    Module {
        name: "helm",
        programs: &[("helm", "helm.sh/helm/v4/cmd/helm")],
        path: "helm.sh/helm/v4",
        go_mod: include_str!("../../control-plane/helm/go.mod"),
        version_variables: &["helm.sh/helm/v4/internal/version.version"],
        tags: "",
    },
    Module {
        name: "actionlint",
        programs: &[("actionlint", "github.com/rhysd/actionlint/cmd/actionlint")],
        path: "github.com/rhysd/actionlint",
        go_mod: include_str!("../../control-plane/actionlint/go.mod"),
        version_variables: &["github.com/rhysd/actionlint.version"],
        tags: "",
    },
    Module {
        name: "promtool",
        programs: &[("promtool", "github.com/prometheus/prometheus/cmd/promtool")],
        path: "github.com/prometheus/prometheus",
        go_mod: include_str!("../../control-plane/promtool/go.mod"),
        version_variables: &["github.com/prometheus/common/version.Version"],
        // Without the clients of all clouds, which rules do not need.
        tags: "remove_all_sd",
    },
];

/// The Kubernetes version of the control plane, such as `v1.37.1`.
///
/// # Errors
/// When the wrapper module does not name one.
pub fn kubernetes_version() -> Result<String> {
    let module = MODULES.iter().find(|module| module.name == "kubernetes").context("no such module")?;
    Ok(module.version()?.to_owned())
}

impl Module {
    /// The version required in `go.mod`.
    pub(super) fn version(&self) -> Result<&'static str> {
        required_version(self.go_mod, self.path).with_context(|| {
            format!("tests/control-plane/{}/go.mod does not require {}", self.name, self.path)
        })
    }

    /// Linker flags that make the programs report their version.
    pub(super) fn linker_flags(&self) -> Result<String> {
        let version = self.version()?;
        let mut flags = String::from("-s -w");
        for variable in self.version_variables {
            if variable.starts_with("k8s.io/") {
                for (name, value) in kubernetes_variables(version) {
                    flags.push_str(&format!(" -X {variable}.{name}={value}"));
                }
            } else {
                flags.push_str(&format!(" -X {variable}={version}"));
            }
        }
        Ok(flags)
    }
}

/// Kubernetes keeps its version in six variables. The build date is fixed, so that two builds are equal.
fn kubernetes_variables(version: &str) -> [(&'static str, &str); 6] {
    let mut parts = version.trim_start_matches('v').split('.');
    [
        ("gitVersion", version),
        ("gitMajor", parts.next().unwrap_or_default()),
        ("gitMinor", parts.next().unwrap_or_default()),
        ("gitCommit", "unknown"),
        ("gitTreeState", "archive"),
        ("buildDate", "1970-01-01T00:00:00Z"),
    ]
}

fn required_version<'a>(go_mod: &'a str, path: &str) -> Option<&'a str> {
    go_mod.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip_while(|word| *word == "require");
        (words.next() == Some(path)).then(|| words.next())?
    })
}

#[cfg(test)]
mod tests {
    use super::{CHECKERS, MODULES, kubernetes_version, required_version};

    #[test]
    fn reads_both_forms_of_require() {
        let text =
            "module m\nrequire a.b/c v1.2.3\nrequire (\n\td.e/f v4.5.6 // indirect\n)\nreplace x => y v0\n";
        assert_eq!(required_version(text, "a.b/c"), Some("v1.2.3"));
        assert_eq!(required_version(text, "d.e/f"), Some("v4.5.6"));
        assert_eq!(required_version(text, "x"), None);
        assert_eq!(required_version(text, "a.b"), None);
    }

    #[test]
    fn every_module_has_a_version_and_tells_it_to_its_programs() {
        for module in MODULES.iter().chain(CHECKERS) {
            assert!(module.version().unwrap().starts_with('v'), "{module:?}");
        }
        assert!(kubernetes_version().unwrap().starts_with("v1.37."));
        let flags = MODULES[1].linker_flags().unwrap();
        assert!(flags.contains("-X k8s.io/client-go/pkg/version.gitMinor=37"), "{flags}");
        assert!(flags.contains("-X k8s.io/component-base/version.gitVersion=v1.37."), "{flags}");
    }
}

//! What the environment says about connections: where kubeconfigs are, and which proxies there are.

use std::path::PathBuf;

/// Read once, so that everything else is a function of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// The files of KUBECONFIG, else the one in the home directory. They need not exist.
    pub(crate) kubeconfigs: Vec<PathBuf>,
    pub(super) https_proxy: Option<String>,
    pub(super) http_proxy: Option<String>,
    pub(super) no_proxy: Option<String>,
}

impl Environment {
    /// The process's own.
    #[expect(clippy::disallowed_methods, reason = "the command is the outermost layer")]
    pub(crate) fn read() -> Self {
        let get = |name: &str| {
            let either = [name.to_owned(), name.to_ascii_lowercase()];
            either.into_iter().filter_map(|name| std::env::var(name).ok()).find(|value| !value.is_empty())
        };
        let kubeconfigs = match std::env::var_os("KUBECONFIG").filter(|value| !value.is_empty()) {
            Some(value) => {
                std::env::split_paths(&value).filter(|path| !path.as_os_str().is_empty()).collect()
            }
            None => dirs::home_dir().map(|home| home.join(".kube/config")).into_iter().collect(),
        };
        Self {
            kubeconfigs,
            https_proxy: get("HTTPS_PROXY"),
            http_proxy: get("HTTP_PROXY"),
            no_proxy: get("NO_PROXY"),
        }
    }
}

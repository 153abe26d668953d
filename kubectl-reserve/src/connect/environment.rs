//! The environment variables about connections: KUBECONFIG and the proxies.

use std::path::PathBuf;

/// The values of the environment. They are read once; everything else takes them as an argument.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// The files of KUBECONFIG, else the one in the home directory. They need not exist.
    pub(crate) kubeconfigs: Vec<PathBuf>,
    /// Whether credential plugins may neither read the terminal nor print to it.
    pub(super) is_silent: bool,
    pub(super) https_proxy: Option<String>,
    pub(super) http_proxy: Option<String>,
    pub(super) no_proxy: Option<String>,
}

impl Environment {
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
            is_silent: false,
            https_proxy: get("HTTPS_PROXY"),
            http_proxy: get("HTTP_PROXY"),
            no_proxy: get("NO_PROXY"),
        }
    }
}

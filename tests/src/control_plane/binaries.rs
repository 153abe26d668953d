//! Finds the programs of a control plane ([`Binaries::locate`]): in `KUBEBUILDER_ASSETS`, else in the cache, else by building them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::go_build;
use super::modules::{CHECKERS, MODULES, Module};
use super::settings;

/// The path of each program.
#[derive(Clone, Debug)]
pub struct Binaries {
    found: BTreeMap<&'static str, PathBuf>,
}

impl Binaries {
    /// Looks for every program in `KUBEBUILDER_ASSETS`, then in the user's cache, and builds what is missing.
    ///
    /// # Errors
    /// When a program is missing and cannot be built.
    pub fn locate() -> Result<Self> {
        Sources::from_environment()?.locate(MODULES)
    }

    /// The path of a program that is no part of a cluster: `helm`, `promtool` or `actionlint`. Looked for and built as the others.
    ///
    /// # Errors
    /// When there is no such program, or it cannot be built.
    pub fn locate_checker(program: &str) -> Result<PathBuf> {
        let module = CHECKERS.iter().find(|module| module.name == program);
        let module = module.with_context(|| format!("no module builds {program}"))?;
        let found = Sources::from_environment()?.locate(std::slice::from_ref(module))?;
        Ok(found.path(program)?.to_owned())
    }

    /// The path of a program such as `kube-apiserver`.
    ///
    /// # Errors
    /// When no module builds a program of that name.
    pub fn path(&self, program: &str) -> Result<&Path> {
        let path =
            self.found.get(program).with_context(|| format!("{program} is no part of the control plane"))?;
        Ok(path)
    }

    /// Every program with its path, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.found.iter().map(|(name, path)| (*name, path.as_path()))
    }
}

/// Where to look, in the order of the fields.
struct Sources {
    assets: Option<PathBuf>,
    cache: PathBuf,
    go: PathBuf,
}

impl Sources {
    fn from_environment() -> Result<Self> {
        let (assets, cache) = (settings::assets_dir()?, settings::cache_dir()?);
        Ok(Self { assets, cache, go: PathBuf::from("go") })
    }

    fn locate(&self, modules: &[Module]) -> Result<Binaries> {
        let mut found = BTreeMap::new();
        for module in modules {
            for (program, path) in self.locate_module(module)? {
                found.insert(program, path);
            }
        }
        Ok(Binaries { found })
    }

    fn locate_module(&self, module: &Module) -> Result<Vec<(&'static str, PathBuf)>> {
        let cached = self.cache.join(format!("{}-{}", module.name, module.version()?));
        let ready = |program: &str| -> Option<PathBuf> {
            let in_assets = self.assets.as_ref().map(|dir| dir.join(program));
            in_assets.into_iter().chain([cached.join(program)]).find(|path| path.is_file())
        };
        if module.programs.iter().any(|(program, _)| ready(program).is_none()) {
            go_build::build(module, &cached, &self.go)?;
        }
        module
            .programs
            .iter()
            .map(|(program, _)| {
                let path = ready(program).with_context(|| format!("the build left no {program}"))?;
                Ok((*program, path))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::Sources;
    use crate::control_plane::modules::MODULES;

    fn put(dir: &Path, program: &str) -> PathBuf {
        fs::create_dir_all(dir).unwrap();
        let path = dir.join(program);
        fs::write(&path, "").unwrap();
        path
    }

    #[test]
    fn assets_come_before_the_cache_and_each_program_is_looked_up_by_itself() {
        let home = tempfile::tempdir().unwrap();
        let (assets, cache) = (home.path().join("assets"), home.path().join("cache"));
        let mut expected = vec![];
        for module in MODULES {
            let cached = cache.join(format!("{}-{}", module.name, module.version().unwrap()));
            for (program, _) in module.programs {
                expected.push((*program, put(&cached, program)));
            }
        }
        let preferred = put(&assets, "kubectl");
        let sources = Sources { assets: Some(assets), cache, go: "/no/go".into() };

        let binaries = sources.locate(MODULES).unwrap();

        assert_eq!(binaries.path("kubectl").unwrap(), preferred);
        for (program, path) in expected.iter().filter(|(program, _)| *program != "kubectl") {
            assert_eq!(binaries.path(program).unwrap(), path, "{program}");
        }
    }

    #[test]
    fn without_go_the_error_says_what_to_do() {
        let home = tempfile::tempdir().unwrap();
        let sources = Sources { assets: None, cache: home.path().into(), go: home.path().join("no-go") };
        let error = format!("{:#}", sources.locate(MODULES).unwrap_err());
        assert!(error.contains("Go 1.26 or newer is needed to build etcd"), "{error}");
        assert!(error.contains("KUBEBUILDER_ASSETS"), "{error}");
    }

    #[test]
    fn a_failing_build_shows_what_go_said_and_leaves_nothing_behind() {
        let home = tempfile::tempdir().unwrap();
        let go = home.path().join("go");
        fs::write(&go, "#!/bin/sh\necho 'no space left' >&2\nexit 1\n").unwrap();
        fs::set_permissions(&go, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let cache = home.path().join("cache");
        let sources = Sources { assets: None, cache: cache.clone(), go };

        let error = format!("{:#}", sources.locate(MODULES).unwrap_err());

        assert!(error.contains("no space left") && error.contains("build etcd"), "{error}");
        let left: Vec<_> = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(left.iter().all(|path| path.extension().is_some_and(|e| e == "lock")), "{left:?}");
    }
}

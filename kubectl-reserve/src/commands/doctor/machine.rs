//! Checks of this machine: kubectl, and which files kubectl finds as our plugin.

use crate::platform;
use crate::render::doctor::Check;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

const PLUGIN: &str = "kubectl-reserve";
const COMPLETION: &str = "kubectl_complete-reserve";

/// The first version of kubectl that asks plugins for completion.
const COMPLETES: (u32, u32) = (1, 26);

/// The facts about this machine.
#[derive(Debug, Default)]
pub(super) struct Machine {
    /// The programs on the PATH that the checks are about, in the order of the PATH.
    pub(super) programs: Vec<PathBuf>,
    pub(super) own: Option<PathBuf>,
    /// The version of kubectl, by its own output.
    pub(super) kubectl_version: Option<String>,
}

impl Machine {
    /// Looks at the PATH, and asks kubectl for its version.
    pub(super) fn look(path: Option<&OsStr>) -> Self {
        let dirs: Vec<PathBuf> = path.into_iter().flat_map(std::env::split_paths).collect();
        let programs: Vec<PathBuf> = dirs.iter().flat_map(|dir| programs(dir)).collect();
        let own = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok());
        let kubectl = programs.iter().find(|path| name(path) == "kubectl");
        let kubectl_version = kubectl.and_then(|kubectl| version(kubectl));
        Self { programs, own, kubectl_version }
    }

    pub(super) fn checks(&self) -> Vec<Check> {
        let mut checks = vec![self.kubectl(), self.plugin()];
        checks.extend(self.shadows());
        checks.push(self.completion());
        checks
    }

    fn first(&self, wanted: &str) -> Option<&PathBuf> {
        self.programs.iter().find(|path| name(path) == wanted)
    }

    fn kubectl(&self) -> Check {
        const NAME: &str = "kubectl";
        let Some(path) = self.first("kubectl") else {
            return Check::warn(
                NAME,
                "not found on the PATH",
                "install kubectl; the plugin also runs by itself",
            );
        };
        let Some(version) = &self.kubectl_version else {
            let cure = format!("{} version --client", path.display());
            return Check::warn(NAME, format!("{} does not say its version", path.display()), cure);
        };
        match numbers(version) {
            Some(numbers) if numbers < COMPLETES => Check::warn(
                NAME,
                format!("{version} does not ask plugins for completion"),
                "install kubectl 1.26 or newer",
            ),
            _ => Check::ok(NAME, format!("{version}, {}", path.display())),
        }
    }

    fn plugin(&self) -> Check {
        const NAME: &str = "plugin";
        let found: Vec<&PathBuf> = self.programs.iter().filter(|path| name(path) == PLUGIN).collect();
        let is_own = |path: &Path| self.own.is_none() || path.canonicalize().ok() == self.own;
        match &found[..] {
            [] => Check::warn(
                NAME,
                format!("{PLUGIN} is not on the PATH, so `kubectl reserve` does not find it"),
                "put it into a folder of the PATH",
            ),
            [first, ..] if !is_own(first) => Check::warn(
                NAME,
                format!("`kubectl reserve` runs {}, which is another one than this", first.display()),
                format!("remove {}, or put this one's folder before it in the PATH", first.display()),
            ),
            [first, ..] => Check::ok(NAME, format!("{} {}", env!("CARGO_PKG_VERSION"), first.display())),
        }
    }

    /// A file with a longer name overshadows our plugin: `kubectl reserve pod` runs `kubectl-reserve-pod` if it exists.
    fn shadows(&self) -> Vec<Check> {
        let longer = self.programs.iter().filter(|path| name(path).starts_with("kubectl-reserve-"));
        let check = |path: &PathBuf| {
            let words = name(path).replacen('-', " ", 2).replace('-', " ");
            Check::warn(
                "shadow",
                format!("for `{words}` kubectl runs {} instead of this plugin", path.display()),
                format!("rm {}", path.display()),
            )
        };
        let mut checks: Vec<Check> = longer.map(check).collect();
        if checks.is_empty() {
            checks.push(Check::ok("shadow", "no other file takes a verb of this plugin"));
        }
        checks
    }

    fn completion(&self) -> Check {
        const NAME: &str = "completion";
        match self.first(COMPLETION) {
            Some(path) => Check::ok(NAME, path.display().to_string()),
            None => Check::warn(
                NAME,
                format!("{COMPLETION} is not on the PATH, so shell completion is not installed"),
                "kubectl reserve completion install",
            ),
        }
    }
}

fn name(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_suffix(".exe").map_or_else(|| name.clone(), str::to_owned)
}

/// The programs in a folder that the checks are about; none if the folder does not exist.
fn programs(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let concerns = |path: &PathBuf| {
        let name = name(path);
        name == "kubectl" || name == COMPLETION || name == PLUGIN || name.starts_with("kubectl-reserve-")
    };
    let mut programs: Vec<PathBuf> =
        paths.filter(concerns).filter(|path| platform::is_executable(path)).collect();
    programs.sort();
    programs
}

fn version(kubectl: &Path) -> Option<String> {
    let output = Command::new(kubectl).args(["version", "--client", "-o", "json"]).output().ok()?;
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    Some(json.pointer("/clientVersion/gitVersion")?.as_str()?.to_owned())
}

/// The first two numbers of `v1.37.1`.
pub(super) fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.trim_start_matches('v').split('.');
    let mut next =
        || parts.next().map(|part| part.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok());
    Some((next()??, next()??))
}

#[cfg(test)]
mod tests {
    use super::{Machine, numbers};
    use crate::render::doctor::Level;
    use std::path::PathBuf;

    fn levels(programs: &[&str], version: Option<&str>) -> Vec<(&'static str, Level)> {
        let programs = programs.iter().map(PathBuf::from).collect();
        let machine = Machine { programs, own: None, kubectl_version: version.map(Into::into) };
        machine.checks().into_iter().map(|check| (check.name, check.level)).collect()
    }

    #[test]
    fn the_plugin_is_found_and_nothing_shadows_it() {
        let all = ["/a/kubectl", "/b/kubectl-reserve", "/b/kubectl_complete-reserve"];
        assert!(levels(&all, Some("v1.37.1")).iter().all(|(_, level)| *level == Level::Ok));
        let names: Vec<_> =
            levels(&[], None).into_iter().filter(|(_, level)| *level == Level::Warn).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        let old = levels(&all, Some("v1.25.0"));
        assert_eq!(old[0], ("kubectl", Level::Warn));
    }

    #[test]
    fn a_longer_name_is_a_shadow() {
        let machine = Machine {
            programs: vec!["/a/kubectl-reserve-list-all".into(), "/b/kubectl-reserve".into()],
            ..Machine::default()
        };
        let shadow = machine.shadows().remove(0);
        assert_eq!(shadow.level, Level::Warn);
        assert!(shadow.message.contains("`kubectl reserve list all`"), "{}", shadow.message);
        assert_eq!(shadow.cure.unwrap(), "rm /a/kubectl-reserve-list-all");
    }

    #[test]
    fn versions_have_two_numbers() {
        assert_eq!(numbers("v1.37.1"), Some((1, 37)));
        assert_eq!(numbers("v1.30+"), Some((1, 30)));
        assert_eq!(numbers("1.9.0-gke.1"), Some((1, 9)));
        assert_eq!(numbers("nonsense"), None);
    }
}

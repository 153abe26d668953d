//! Builds Go programs into the cache, once, even if several processes ask at the same time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use tokio::time::Instant;

use super::modules::Module;
use super::settings::{self, tell};

/// How many lines of the compiler's output an error repeats.
const LINES_SHOWN: usize = 20;

/// Advice for users who have the programs already; see `settings::assets_dir`.
const INSTEAD: &str = ", or point KUBEBUILDER_ASSETS at a folder that holds etcd, kube-apiserver, \
                       kube-controller-manager, kube-scheduler, kubectl, kwok and krew";

/// Builds all programs of `module` into the folder `into`.
pub(super) fn build(module: &Module, into: &Path, go: &Path) -> Result<()> {
    let programs: Vec<&str> = module.programs.iter().map(|(program, _)| *program).collect();
    once(module.name, &programs, into, |dir| {
        let build = |(program, package): &(&'static str, &'static str)| {
            let go_build = GoBuild {
                program,
                package,
                version: module.version()?,
                folder: settings::source_dir().join(module.name),
                modules: None,
                instead: INSTEAD,
                linker_flags: module.linker_flags()?,
                tags: module.tags,
            };
            go_build.build(&dir.join(program), go)
        };
        module.programs.iter().try_for_each(build)
    })
}

/// A Go program of this repository that is built against the versions of one of the wrapper modules.
#[derive(Debug)]
pub struct OurGoProgram {
    /// The file name of the program.
    pub name: &'static str,
    /// The folder of its sources.
    pub folder: PathBuf,
    /// The `go.mod` that names the versions.
    pub modules: PathBuf,
    /// The version for messages.
    pub version: String,
    /// The key of the build in the cache. Other sources or versions have another key.
    pub key: String,
}

impl OurGoProgram {
    /// The program's path in the cache. Builds the program if it is missing.
    ///
    /// # Errors
    /// When the build fails.
    pub fn locate(&self) -> Result<PathBuf> {
        let cached = settings::cache_dir()?.join(format!("{}-{}", self.name, self.key));
        let program = cached.join(self.name);
        if !program.is_file() {
            once(self.name, &[self.name], &cached, |dir| {
                let go_build = GoBuild {
                    program: self.name,
                    package: ".",
                    version: &self.version,
                    folder: self.folder.clone(),
                    modules: Some(&self.modules),
                    instead: "",
                    linker_flags: "-s -w".to_owned(),
                    tags: "",
                };
                go_build.build(&dir.join(self.name), Path::new("go"))
            })?;
        }
        Ok(program)
    }
}

/// Runs `work` under a lock, for a temporary folder that is renamed to `into` at the end, so that neither a crash nor a second
/// process leaves half a build.
fn once(name: &str, programs: &[&str], into: &Path, work: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let parent = into.parent().context("the cache has no parent folder")?;
    fs::create_dir_all(parent).with_context(|| format!("create the cache folder {}", parent.display()))?;
    let lock = File::create(beside(into, "lock")).context("create the lock of the cache")?;
    if lock.try_lock().is_err() {
        tell(&format!("another process builds {name}; waiting for it"));
        lock.lock().context("wait for the lock of the cache")?;
    }
    if programs.iter().all(|program| into.join(program).is_file()) {
        return Ok(());
    }
    let partial = beside(into, "partial");
    remove(&partial)?;
    let built = work(&partial);
    if built.is_err() {
        remove(&partial)?;
        return built;
    }
    remove(into)?;
    fs::rename(&partial, into).with_context(|| format!("move the build to {}", into.display()))
}

/// How one program is built.
struct GoBuild<'a> {
    program: &'a str,
    package: &'a str,
    version: &'a str,
    /// Where `go build` runs.
    folder: PathBuf,
    /// The `go.mod` to use instead of the folder's own.
    modules: Option<&'a Path>,
    /// Advice for users without Go.
    instead: &'a str,
    linker_flags: String,
    tags: &'a str,
}

impl GoBuild<'_> {
    fn build(&self, to: &Path, go: &Path) -> Result<()> {
        let Self { program, version, .. } = self;
        tell(&format!("building {program} {version} from Go modules; done once, it can take minutes"));
        let started = Instant::now();
        let output = self.command(to, go).output().with_context(|| self.go_is_needed())?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let lines: Vec<&str> = said.lines().collect();
            let last = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n");
            let folder = self.folder.strip_prefix(settings::workspace_dir()).unwrap_or(&self.folder);
            bail!("build {program} {version} in {}:\n{last}\n\n{}", folder.display(), self.go_is_needed());
        }
        tell(&format!("built {program} in {:.0?}", started.elapsed()));
        Ok(())
    }

    fn go_is_needed(&self) -> String {
        format!("Go 1.26 or newer is needed to build {}; install it{}", self.program, self.instead)
    }

    fn command(&self, to: &Path, go: &Path) -> Command {
        let mut command = Command::new(go);
        command.args(["build", "-mod=readonly", "-trimpath", "-buildvcs=false"]);
        if let Some(modules) = self.modules {
            command.arg("-modfile").arg(modules);
        }
        command
            .args(["-tags", self.tags, "-ldflags", &self.linker_flags])
            .arg("-o")
            .arg(to)
            .arg(self.package);
        command.current_dir(&self.folder).env("CGO_ENABLED", "0").env("GOWORK", "off");
        command
    }
}

/// `<dir>.<extension>`; a version has dots, so `Path::with_extension` would cut it.
fn beside(dir: &Path, extension: &str) -> PathBuf {
    let mut name = dir.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", dir.display()))
        }
        _ => Ok(()),
    }
}

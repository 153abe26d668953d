//! kube-scheduler's side: builds the oracle once, starts it ([`Oracle::start`]), and sends it one line at a time.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail};

use super::format::CaseOutcome;
use crate::control_plane::{OurGoProgram, kubernetes_version};

/// A running oracle. Dropping this value ends it.
pub struct Oracle {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Oracle {
    /// Builds the oracle if the cache does not have it, and starts it.
    ///
    /// # Errors
    /// When the oracle cannot be built or started.
    pub fn start() -> Result<Self> {
        let mut process = Command::new(program()?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("start the oracle")?;
        let input = process.stdin.take();
        let output = process.stdout.take().context("the oracle has no output")?;
        Ok(Self { process, input, output: BufReader::new(output) })
    }

    /// Sends a line of a case. After the line of a pod call [`Oracle::outcome`], before the pipe is full.
    ///
    /// # Errors
    /// When the oracle has ended; it prints the reason on standard error.
    pub fn send(&mut self, line: &str) -> Result<()> {
        let input = self.input.as_mut().context("the oracle's input is closed")?;
        input.write_all(line.as_bytes())?;
        input.write_all(b"\n")?;
        input.flush().context("send a case to the oracle")
    }

    /// The outcome of the last pod.
    ///
    /// # Errors
    /// When the oracle has ended, or prints something else.
    pub fn outcome(&mut self) -> Result<CaseOutcome> {
        let mut line = String::new();
        self.output.read_line(&mut line).context("read from the oracle")?;
        if line.is_empty() {
            bail!("the oracle has ended; what it said is above");
        }
        serde_json::from_str(&line).with_context(|| format!("the oracle said {}", line.trim_end()))
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // The oracle ends when its input is closed.
        self.input.take();
        let _ = self.process.wait();
    }
}

/// The path of the oracle, built from its current sources.
///
/// # Errors
/// When the build fails.
pub fn program() -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle");
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("control-plane/kubernetes/go.mod");
    let version = kubernetes_version()?;
    let key = format!("{version}-{:016x}", hash(&sources(&folder, &modules)?));
    OurGoProgram { name: "oracle", folder, modules, version, key }.locate()
}

/// The contents of all source files of the oracle, in a fixed order.
fn sources(folder: &Path, modules: &Path) -> Result<Vec<u8>> {
    let entries = fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "go"));
    files.sort();
    files.push(modules.to_owned());
    let mut all = Vec::new();
    for file in files {
        all.extend(fs::read(&file).with_context(|| format!("read {}", file.display()))?);
        all.push(0);
    }
    Ok(all)
}

/// FNV-1a, which is good enough to detect changed sources.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn other_sources_have_another_hash() {
        assert_eq!(hash(b"a"), 0xaf63_dc4c_8601_ec8c, "FNV-1a of one letter");
        assert_ne!(hash(b"package main"), hash(b"package main\n"));
    }
}

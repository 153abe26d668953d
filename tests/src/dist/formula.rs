//! The Homebrew formula of a release: the archives for macOS and Linux, each with its checksum.

use super::{ReleaseArchive, tag};
use anyhow::{Result, ensure};
use std::fmt::Write as _;

/// Homebrew's words for the platforms that it has, by ours.
const SYSTEMS: [(&str, &str); 2] = [("darwin", "on_macos"), ("linux", "on_linux")];
const PROCESSORS: [(&str, &str); 2] = [("arm64", "on_arm"), ("amd64", "on_intel")];

const HEAD: &str = "\
class KubectlReserve < Formula
  desc \"Keep the place of Kubernetes pods while they are recreated\"
  homepage \"REPOSITORY\"
  version \"VERSION\"
  license \"Apache-2.0\"
";

const TAIL: &str = "
  def install
    bin.install \"kubectl-reserve\"
    man1.install Dir[\"man/*.1\"]
    bash_completion.install \"completions/kubectl-reserve.bash\" => \"kubectl-reserve\"
    zsh_completion.install \"completions/_kubectl-reserve\"
    fish_completion.install \"completions/kubectl-reserve.fish\"
  end

  test do
    assert_match \"Client Version: v#{version}\", shell_output(\"#{bin}/kubectl-reserve version --client\")
  end
end
";

/// The formula for the archives that are of Homebrew's platforms; `repository` is the address of this repository.
///
/// # Errors
/// When there is no such archive.
pub fn formula(packed: &[ReleaseArchive], repository: &str) -> Result<String> {
    let version = tag();
    let head = HEAD.replace("REPOSITORY", repository).replace("VERSION", version.trim_start_matches('v'));
    let mut text = head.clone();
    for (os, system) in SYSTEMS {
        let of_system: Vec<&ReleaseArchive> = packed.iter().filter(|one| one.target.os == os).collect();
        let mut blocks = String::new();
        for (arch, processor) in PROCESSORS {
            let Some(archive) = of_system.iter().find(|one| one.target.arch == arch) else { continue };
            let name = archive.file.file_name().unwrap_or_default().to_string_lossy();
            // Writing to a String does not fail.
            let _ = write!(
                blocks,
                "    {processor} do\n      url \"{repository}/releases/download/{version}/{name}\"\n      sha256 \"{}\"\n    end\n",
                archive.sha256
            );
        }
        if !blocks.is_empty() {
            let _ = write!(text, "\n  {system} do\n{blocks}  end\n");
        }
    }
    ensure!(text != head, "no archive for macOS or Linux");
    Ok(text + TAIL)
}

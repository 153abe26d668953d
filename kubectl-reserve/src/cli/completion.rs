//! `kubectl reserve completion`.

use clap::{Args, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  # Let kubectl complete \"kubectl reserve\"; once, and after that in every shell
  kubectl reserve completion install

  # Let this shell complete the program by its own name, kubectl-reserve
  source <(kubectl reserve completion bash)";

/// `kubectl reserve completion`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completion {
    /// The shell to print a script for; or install, to make the link that kubectl
    /// itself asks for completions
    #[arg(value_name = "SHELL|install")]
    pub(crate) target: CompletionTarget,
}

/// The shell that a script is printed for, or `install`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompletionTarget {
    Bash,
    Zsh,
    Fish,
    Powershell,
    /// Make the link that kubectl runs, beside the plugin
    Install,
}

//! Flags for output to a terminal: colours, character set, verbosity, prompts.

use clap::{Args, ValueEnum};

/// How to talk.
#[derive(Debug, Default, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TerminalFlags {
    /// When to use colours
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorMode::Auto)]
    pub(crate) color: ColorMode,

    /// The same as --color=never
    #[arg(long, global = true)]
    pub(crate) no_color: bool,

    /// Use no characters beyond ASCII
    #[arg(long, global = true)]
    pub(crate) ascii: bool,

    /// Say only what was asked for, and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// How much to tell about what happens, 0 to 9; from 6 on every request
    #[arg(short = 'v', long = "v", global = true, value_name = "LEVEL", default_value_t = 0,
          value_parser = clap::value_parser!(u8))]
    pub(crate) verbosity: u8,

    /// Do not ask before changing something
    #[arg(short, long, global = true)]
    pub(crate) yes: bool,

    /// Never ask anything
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
}

/// When colours are used.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorMode {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

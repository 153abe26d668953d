//! Flags about the log.

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// A line for people.
    Text,
    /// A JSON object on each line.
    Json,
}

/// The flags about the log.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Log")]
pub struct LogArgs {
    /// How much to log: 0 for warnings, 2 for what was decided, 4 and more for everything.
    #[arg(short, long = "v", value_name = "LEVEL", default_value_t = 2)]
    pub verbosity: u32,

    /// Lines for people, or for machines.
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub logging_format: LogFormat,
}

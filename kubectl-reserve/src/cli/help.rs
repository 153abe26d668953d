//! How help looks: what a verb is for, examples, usage, its own flags. Flags that every verb has are listed once, by the
//! verb `options`, as kubectl does it.

use super::Cli;
use clap::builder::Resettable;
use clap::{Arg, ColorChoice, Command, CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::path::Path;

/// The widest that help is. Wider lines are harder to read, and break where the terminal is narrow.
const WIDTH_MAX: usize = 80;

/// What help texts call the command.
const NAME: &str = "kubectl reserve";

const EXAMPLES: &str = "Examples:";

/// How the program was called.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    words: Vec<OsString>,
    /// What one types: `kubectl reserve`.
    pub(crate) name: String,
}

impl Invocation {
    pub(crate) fn new(words: Vec<OsString>) -> Self {
        let name = words.first().map_or_else(|| NAME.to_owned(), |program| typed(Path::new(program)));
        Self { words, name }
    }

    /// Reads what was typed.
    pub(crate) fn parse(&self) -> Result<Cli, clap::Error> {
        let mut command = self.command();
        let matches = command.try_get_matches_from_mut(&self.words)?;
        Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// Everything that can be typed, with its help.
    pub(crate) fn command(&self) -> Command {
        let footer = format!(
            "Use \"{} options\" for a list of global command-line options\n(applies to all commands).",
            self.name
        );
        let root = Cli::command().bin_name(&self.name).color(self.color()).max_term_width(WIDTH_MAX);
        let root = root.mut_args(|arg| if arg.is_global_set() { arg.hide(true) } else { arg });
        dress(root, &self.name, &footer)
    }

    /// The flags that every verb has.
    pub(crate) fn options(&self) -> String {
        let globals = Cli::command().get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
        let flags = list(globals);
        format!("The following options can be passed to any command:\n\n{flags}")
    }

    /// clap speaks before the flags are read, so they are looked for here.
    fn color(&self) -> ColorChoice {
        let words: Vec<&str> = self.words.iter().filter_map(|word| word.to_str()).collect();
        let is_said = |when: &str| {
            words.contains(&&*format!("--color={when}"))
                || words.windows(2).any(|pair| pair == ["--color", when])
        };
        match () {
            () if words.contains(&"--no-color") || is_said("never") => ColorChoice::Never,
            () if is_said("always") => ColorChoice::Always,
            () => ColorChoice::Auto,
        }
    }
}

/// What one types for a program of that name: kubectl turns dashes into words, and underscores into dashes.
fn typed(program: &Path) -> String {
    let stem = program.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    match stem.strip_prefix("kubectl-") {
        Some(plugin) if !plugin.is_empty() => {
            format!("kubectl {}", plugin.replace('-', " ").replace('_', "-"))
        }
        _ => NAME.to_owned(),
    }
}

/// Gives a command and all below it their layout.
fn dress(command: Command, name: &str, footer: &str) -> Command {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (notes, examples) = match text.find(EXAMPLES) {
        Some(at) => text.split_at(at),
        None => (text.as_str(), ""),
    };
    let (notes, examples) = (notes.trim().replace(NAME, name), examples.trim().replace(NAME, name));
    let mut template = String::from("{about-with-newline}\n");
    if !examples.is_empty() {
        template += "{before-help}";
    }
    template += "{usage-heading} {usage}\n\n{all-args}{after-help}\n\n";
    template += footer;
    let command = if examples.is_empty() { command } else { command.before_help(examples) };
    let command =
        if notes.is_empty() { command.after_help(Resettable::Reset) } else { command.after_help(notes) };
    command.help_template(template).mut_subcommands(|verb| dress(verb, name, footer))
}

/// The help of these flags alone.
fn list(flags: Vec<Arg>) -> String {
    let mut command = Command::new("options")
        .args(flags)
        .disable_help_flag(true)
        .max_term_width(WIDTH_MAX)
        .help_template("{all-args}");
    format!("{}\n", command.render_help().to_string().trim_end())
}

#[cfg(test)]
mod tests {
    use super::Invocation;

    fn called(words: &[&str]) -> Invocation {
        Invocation::new(words.iter().map(Into::into).collect())
    }

    fn help(words: &[&str]) -> String {
        called(words).parse().unwrap_err().to_string()
    }

    #[test]
    fn the_name_is_what_one_types() {
        assert_eq!(called(&["/usr/bin/kubectl-reserve"]).name, "kubectl reserve");
        assert_eq!(called(&["kubectl-pod_reserve.exe"]).name, "kubectl pod-reserve");
        assert_eq!(called(&["kubectl-my-reserve"]).name, "kubectl my reserve");
        assert_eq!(called(&["x"]).name, "kubectl reserve");
        assert_eq!(called(&[]).name, "kubectl reserve");
    }

    #[test]
    fn help_has_examples_before_usage_and_no_global_flags() {
        for words in [&["kubectl-reserve", "--help"][..], &["kubectl-reserve", "help", "list"]] {
            let help = help(words);
            let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("no {text:?} in {help}"));
            assert!(at("\nExamples:\n") < at("\nUsage: kubectl reserve"), "{help}");
            assert!(help.trim_end().ends_with(
                "Use \"kubectl reserve options\" for a list of global command-line options\n(applies to all commands)."
            ));
            assert!(!help.contains("--kubeconfig") && !help.contains("--no-color"), "{help}");
        }
    }

    #[test]
    fn under_another_name_help_speaks_of_that() {
        let help = help(&["kubectl-pod_reserve", "--help"]);
        assert!(help.contains("\nUsage: kubectl pod-reserve") && help.contains("kubectl pod-reserve list"));
        assert!(!help.contains("kubectl reserve"), "{help}");
    }

    #[test]
    fn every_line_of_every_help_fits_and_says_something() {
        let command = called(&["kubectl-reserve"]).command();
        for verb in command.get_subcommands() {
            let help = help(&["kubectl-reserve", verb.get_name(), "--help"]);
            assert!(help.contains(&format!("Usage: kubectl reserve {}", verb.get_name())), "{help}");
            for line in help.lines().filter(|line| !line.starts_with("Use \"")) {
                assert!(line.chars().count() <= 80, "{}: {line}", verb.get_name());
            }
        }
    }

    #[test]
    fn namespaces_can_be_given_in_every_way_before_and_after_the_verb() {
        for flag in [&["-n", "x"][..], &["-nx"], &["-n=x"], &["--namespace", "x"], &["--namespace=x"]] {
            let before = [&["kubectl-reserve"], flag, &["list"]].concat();
            let after = [&["kubectl-reserve", "list"], flag].concat();
            for words in [before, after] {
                let cli = called(&words).parse().unwrap();
                assert_eq!(cli.connection.namespace.as_deref(), Some("x"), "{words:?}");
            }
        }
    }

    #[test]
    fn options_are_the_global_flags() {
        let options = called(&["kubectl-reserve"]).options();
        for flag in ["--as-user-extra", "--tls-server-name", "-n, --namespace", "-v, --v", "-y, --yes"] {
            assert!(options.contains(flag), "{flag} in {options}");
        }
        assert!(!options.contains("--all-namespaces") && !options.contains("--help"), "{options}");
    }

    #[test]
    fn a_slip_of_the_finger_is_told_with_what_was_meant() {
        let error = called(&["kubectl-reserve", "lisst"]).parse().unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let text = error.to_string();
        assert!(
            text.contains("similar subcommand")
                && text.contains("'list'")
                && text.contains("Usage: kubectl reserve")
        );
    }
}

//! The layout of help texts: purpose of the verb, examples, usage, the verb's own flags. Flags that every verb has are listed
//! once, by the verb `options`, as in kubectl. Entry point: [`Invocation`].

use super::Cli;
use super::topics::topic;
use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, Error};
use clap::{Arg, ColorChoice, Command, CommandFactory, FromArgMatches};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The maximum width of help texts. Wider lines are harder to read, and break where the terminal is narrow.
const WIDTH_MAX: usize = 80;

/// The name of the command in help texts.
pub(super) const NAME: &str = "kubectl reserve";

const EXAMPLES: &str = "Examples:";

/// The verbs that ask before they change something.
const ASKING: [&str; 6] = ["pod", "restart", "drain", "release", "install", "uninstall"];

/// Verbs of kubectl, and ours for the same.
const OWN_VERBS: [(&str, &str); 8] = [
    ("get", "list"),
    ("delete", "release"),
    ("create", "add"),
    ("evict", "pod"),
    ("rollout", "restart"),
    ("top", "nodes"),
    ("apply", "install"),
    ("annotate", "add"),
];

/// How the program was called.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    words: Vec<OsString>,
    /// The command as the user types it: `kubectl reserve`.
    pub(crate) name: String,
}

impl Invocation {
    pub(crate) fn new(words: Vec<OsString>) -> Self {
        let name = words.first().map_or_else(|| NAME.to_owned(), |program| display_name(Path::new(program)));
        Self { words, name }
    }

    /// The path or name that the program was called with: `argv[0]`.
    pub(crate) fn program(&self) -> Option<&OsStr> {
        self.words.first().map(OsString::as_os_str)
    }

    /// Parses the command line.
    pub(crate) fn parse(&self) -> Result<Cli, Error> {
        let words: Vec<&str> = self.words.iter().filter_map(|word| word.to_str()).collect();
        if let Some(text) = topic(&words, &self.name) {
            return Err(text);
        }
        let mut command = self.command();
        let matches = command.try_get_matches_from_mut(&self.words).map_err(with_own_verb)?;
        Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// All verbs and flags, with their help texts.
    pub(crate) fn command(&self) -> Command {
        let footer = format!(
            "Use \"{} options\" for a list of global command-line options\n(applies to all commands).",
            self.name
        );
        let root = Cli::command().bin_name(&self.name).color(self.color()).max_term_width(WIDTH_MAX);
        let yes = root.get_arguments().find(|arg| arg.get_id() == "yes").cloned();
        let root = root.mut_args(|arg| if arg.is_global_set() { arg.hide(true) } else { arg });
        // The flag is shown where it means something.
        let root = root.mut_subcommands(|verb| match &yes {
            Some(yes) if ASKING.contains(&verb.get_name()) => verb.arg(yes.clone()),
            _ => verb,
        });
        with_layout(root, &self.name, &footer)
    }

    /// The output of the verb `options`: the flags that every verb has.
    pub(crate) fn options(&self) -> String {
        let globals = Cli::command().get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
        let flags = flags_help(globals);
        format!("The following options can be passed to any command:\n\n{flags}")
    }

    /// clap prints errors and help before the flags are parsed, so this searches the words for the colour flags.
    fn color(&self) -> ColorChoice {
        let words: Vec<&str> = self.words.iter().filter_map(|word| word.to_str()).collect();
        let is_color_flag = |when: &str| {
            words.contains(&&*format!("--color={when}"))
                || words.windows(2).any(|pair| pair == ["--color", when])
        };
        match () {
            () if words.contains(&"--no-color") || is_color_flag("never") => ColorChoice::Never,
            () if is_color_flag("always") => ColorChoice::Always,
            () => ColorChoice::Auto,
        }
    }
}

/// Suggests our verb to a user who typed kubectl's for the same.
fn with_own_verb(mut error: Error) -> Error {
    if let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand)
        && let Some((_, verb)) = OWN_VERBS.iter().find(|(theirs, _)| theirs == typed)
    {
        let verb = ContextValue::Strings(vec![(*verb).to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, verb);
    }
    error
}

/// What the user types to run a program of this name: kubectl turns dashes into words, and underscores into dashes.
fn display_name(program: &Path) -> String {
    let stem = program.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    match stem.strip_prefix("kubectl-") {
        Some(plugin) if !plugin.is_empty() => {
            format!("kubectl {}", plugin.replace('-', " ").replace('_', "-"))
        }
        _ => NAME.to_owned(),
    }
}

/// The command and all of its subcommands with our layout of help texts.
fn with_layout(command: Command, name: &str, footer: &str) -> Command {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (notes, examples) = split_examples(&text);
    let (notes, examples) = (notes.replace(NAME, name), examples.replace(NAME, name));
    let mut template = String::from("{about-with-newline}\n");
    if !examples.is_empty() {
        template += "{before-help}";
    }
    template += "{usage-heading} {usage}\n\n{all-args}{after-help}\n\n";
    template += footer;
    let command = if examples.is_empty() { command } else { command.before_help(examples) };
    let command =
        if notes.is_empty() { command.after_help(Resettable::Reset) } else { command.after_help(notes) };
    command.help_template(template).mut_subcommands(|verb| with_layout(verb, name, footer))
}

/// The notes of a help text, and its examples: the indented lines below `Examples:`.
fn split_examples(text: &str) -> (String, String) {
    let (before, rest) = match text.find(EXAMPLES) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let is_example = |line: &&str| line.is_empty() || line.starts_with(' ') || *line == EXAMPLES;
    let examples: Vec<&str> = rest.lines().take_while(is_example).collect();
    let after: Vec<&str> = rest.lines().skip(examples.len()).collect();
    let notes = format!("{}\n\n{}", before.trim(), after.join("\n").trim());
    (notes.trim().to_owned(), examples.join("\n").trim_end().to_owned())
}

/// The help text of these flags alone.
fn flags_help(flags: Vec<Arg>) -> String {
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

    fn invocation(words: &[&str]) -> Invocation {
        Invocation::new(words.iter().map(Into::into).collect())
    }

    fn help(words: &[&str]) -> String {
        invocation(words).parse().unwrap_err().to_string()
    }

    #[test]
    fn the_name_is_what_one_types() {
        assert_eq!(invocation(&["/usr/bin/kubectl-reserve"]).name, "kubectl reserve");
        assert_eq!(invocation(&["kubectl-pod_reserve.exe"]).name, "kubectl pod-reserve");
        assert_eq!(invocation(&["kubectl-my-reserve"]).name, "kubectl my reserve");
        assert_eq!(invocation(&["x"]).name, "kubectl reserve");
        assert_eq!(invocation(&[]).name, "kubectl reserve");
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
        let command = invocation(&["kubectl-reserve"]).command();
        for verb in command.get_subcommands() {
            let help = help(&["kubectl-reserve", verb.get_name(), "--help"]);
            assert!(help.contains(&format!("Usage: kubectl reserve {}", verb.get_name())), "{help}");
            for line in help.lines().filter(|line| !line.starts_with("Use \"")) {
                assert!(line.chars().count() <= 80, "{}: {line}", verb.get_name());
            }
            // A command that is broken into two lines cannot be pasted.
            let examples = help.lines().skip_while(|line| *line != super::EXAMPLES).skip(1);
            for line in examples.take_while(|line| !line.starts_with("Usage")).filter(|line| !line.is_empty())
            {
                assert!(
                    ["  # ", "  kubectl ", "  source <(kubectl "].iter().any(|lead| line.starts_with(lead)),
                    "{line}"
                );
            }
        }
    }

    #[test]
    fn namespaces_can_be_given_in_every_way_before_and_after_the_verb() {
        for flag in [&["-n", "x"][..], &["-nx"], &["-n=x"], &["--namespace", "x"], &["--namespace=x"]] {
            let before = [&["kubectl-reserve"], flag, &["list"]].concat();
            let after = [&["kubectl-reserve", "list"], flag].concat();
            for words in [before, after] {
                let cli = invocation(&words).parse().unwrap();
                assert_eq!(cli.connection.namespace.as_deref(), Some("x"), "{words:?}");
            }
        }
    }

    #[test]
    fn options_are_the_global_flags() {
        let options = invocation(&["kubectl-reserve"]).options();
        for flag in ["--as-user-extra", "--tls-server-name", "-n, --namespace", "-v, --v", "-y, --yes"] {
            assert!(options.contains(flag), "{flag} in {options}");
        }
        assert!(!options.contains("--all-namespaces") && !options.contains("--help"), "{options}");
    }

    #[test]
    fn a_slip_of_the_finger_is_told_with_what_was_meant() {
        let error = invocation(&["kubectl-reserve", "lisst"]).parse().unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let text = error.to_string();
        assert!(
            text.contains("similar subcommand")
                && text.contains("'list'")
                && text.contains("Usage: kubectl reserve")
        );
        for (theirs, ours) in super::OWN_VERBS {
            let text = invocation(&["kubectl-reserve", theirs]).parse().unwrap_err().to_string();
            assert!(text.contains(&format!("'{ours}'")), "{text}");
        }
    }

    #[test]
    fn topics_are_help_texts() {
        for topic in ["exit-codes", "states", "what-if", "environment"] {
            let error = invocation(&["kubectl-pod_reserve", "help", topic]).parse().unwrap_err();
            assert_eq!(error.exit_code(), 0);
            let text = error.to_string();
            assert!(!text.contains("kubectl reserve") && !text.starts_with("error"), "{text}");
            assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{text:?}");
            assert!(help(&["kubectl-reserve", "--help"]).contains(topic));
        }
        assert!(help(&["kubectl-reserve", "list", "--help"]).contains("Occupied  the replaced pod"));
    }

    #[test]
    fn verbs_that_ask_show_how_not_to_be_asked() {
        for verb in super::ASKING {
            assert!(help(&["kubectl-reserve", verb, "--help"]).contains("-y, --yes"), "{verb}");
            for words in [&["kubectl-reserve", "-y", verb, "x"], &["kubectl-reserve", verb, "x", "-y"]] {
                let parsed = invocation(words).parse();
                assert!(parsed.is_err() || parsed.is_ok_and(|cli| cli.terminal.yes), "{words:?}");
            }
        }
        let cli = invocation(&["kubectl-reserve", "drain", "node-1", "--yes"]).parse().unwrap();
        assert!(cli.terminal.yes);
    }
}

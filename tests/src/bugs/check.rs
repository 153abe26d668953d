//! One check of a known bug: a command that passes without the bug and fails with it. [`Check::parse`] reads it.

use anyhow::{Result, bail, ensure};

/// A command of one of two forms:
///
/// - `cargo test -p PACKAGE --lib NAME -- --exact`
/// - `cargo run --profile simulate -p reserve-tests --bin simulate -- TIER --seed NUMBER`, or `--plan "NAME"`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The command line as typed in a shell.
    pub command: String,
    /// The same command, parsed.
    pub kind: CheckKind,
}

/// What a check runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// A unit test.
    Test {
        /// The cargo package.
        package: String,
        /// The test function with its module path.
        name: String,
    },
    /// A simulation.
    Simulation {
        /// `steps` or `whole`.
        tier: String,
        /// `--seed` or `--plan`.
        option: String,
        /// The seed's number or the plan's name.
        value: String,
    },
}

const SIMULATE: &str = "cargo run --profile simulate -p reserve-tests --bin simulate -- ";

impl Check {
    /// Parses a command.
    ///
    /// # Errors
    /// When the command has neither form.
    pub fn parse(command: &str) -> Result<Self> {
        let kind = match command.strip_prefix(SIMULATE) {
            Some(arguments) => simulation(arguments),
            None => test(command),
        };
        let Some(kind) = kind else { bail!("not a command that is known here: {command}") };
        Ok(Self { command: command.to_owned(), kind })
    }

    /// The check that runs the simulation of this seed.
    ///
    /// # Errors
    /// When `seed` is not a number.
    pub fn of_seed(tier: &str, seed: &str) -> Result<Self> {
        ensure!(seed.parse::<u64>().is_ok(), "{seed} is no seed");
        Self::parse(&format!("{SIMULATE}{tier} --seed {seed}"))
    }

    /// Whether this check is a simulation, by seed or by plan.
    pub fn is_seed(&self) -> bool {
        matches!(self.kind, CheckKind::Simulation { .. })
    }

    /// A short name: `cluster::tests::events::a_relist_finds_what_vanished_unseen`, `steps 4711`.
    pub fn name(&self) -> String {
        match &self.kind {
            CheckKind::Test { name, .. } => name.clone(),
            CheckKind::Simulation { tier, value, .. } => format!("{tier} {value}"),
        }
    }
}

fn test(command: &str) -> Option<CheckKind> {
    match command.split(' ').collect::<Vec<_>>()[..] {
        ["cargo", "test", "-p", package, "--lib", name, "--", "--exact"] => {
            Some(CheckKind::Test { package: package.to_owned(), name: name.to_owned() })
        }
        _ => None,
    }
}

fn simulation(arguments: &str) -> Option<CheckKind> {
    let (tier, rest) = arguments.split_once(' ')?;
    let (option, value) = rest.split_once(' ')?;
    let value = match option {
        "--seed" => value.parse::<u64>().ok()?.to_string(),
        "--plan" => value.strip_prefix('"')?.strip_suffix('"')?.to_owned(),
        _ => return None,
    };
    Some(CheckKind::Simulation { tier: tier.to_owned(), option: option.to_owned(), value })
}

#[cfg(test)]
mod tests {
    use super::Check;

    #[test]
    fn commands_are_understood_or_refused() {
        let name = |command: &str| Check::parse(command).map(|check| check.name()).ok();
        let test = "cargo test -p reserve-common --lib a::b -- --exact";
        assert_eq!(name(test).as_deref(), Some("a::b"));
        let seed = "cargo run --profile simulate -p reserve-tests --bin simulate -- steps --seed 7";
        assert_eq!(name(seed).as_deref(), Some("steps 7"));
        let plan = seed.replace("--seed 7", "--plan \"recreate 0: Die\"");
        assert_eq!(name(&plan).as_deref(), Some("steps recreate 0: Die"));
        for other in ["cargo test", "true", &test.replace(" -- --exact", ""), &seed.replace(" 7", " all")] {
            assert_eq!(name(other), None, "{other}");
        }
    }
}

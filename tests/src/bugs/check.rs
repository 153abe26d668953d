//! A command that passes as things are, and fails while a bug is there.

use anyhow::{Result, bail, ensure};

/// One of them, of one of two forms:
///
/// - `cargo test -p PACKAGE --lib NAME -- --exact`
/// - `cargo run --profile simulate -p reserve-tests --bin simulate -- TIER --seed NUMBER`, or `--plan "NAME"`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// As it is typed.
    pub command: String,
    /// What it runs.
    pub kind: Kind,
}

/// What a check runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A unit test.
    Test {
        /// Whose.
        package: String,
        /// With all modules that it is in.
        name: String,
    },
    /// A simulation.
    Simulation {
        /// Of which tier.
        tier: String,
        /// `--seed` or `--plan`.
        option: String,
        /// Which one.
        value: String,
    },
}

const SIMULATE: &str = "cargo run --profile simulate -p reserve-tests --bin simulate -- ";

impl Check {
    /// Reads a command.
    ///
    /// # Errors
    /// When it has neither form.
    pub fn parse(command: &str) -> Result<Self> {
        let kind = match command.strip_prefix(SIMULATE) {
            Some(arguments) => simulation(arguments),
            None => test(command),
        };
        let Some(kind) = kind else { bail!("not a command that is known here: {command}") };
        Ok(Self { command: command.to_owned(), kind })
    }

    /// A simulation of this seed.
    ///
    /// # Errors
    /// When it is not a number.
    pub fn of_seed(tier: &str, seed: &str) -> Result<Self> {
        ensure!(seed.parse::<u64>().is_ok(), "{seed} is no seed");
        Self::parse(&format!("{SIMULATE}{tier} --seed {seed}"))
    }

    /// Whether it is a simulation.
    pub fn is_seed(&self) -> bool {
        matches!(self.kind, Kind::Simulation { .. })
    }

    /// What it is called: `cluster::tests::events::a_relist_finds_what_vanished_unseen`, `steps 4711`.
    pub fn name(&self) -> String {
        match &self.kind {
            Kind::Test { name, .. } => name.clone(),
            Kind::Simulation { tier, value, .. } => format!("{tier} {value}"),
        }
    }
}

fn test(command: &str) -> Option<Kind> {
    match command.split(' ').collect::<Vec<_>>()[..] {
        ["cargo", "test", "-p", package, "--lib", name, "--", "--exact"] => {
            Some(Kind::Test { package: package.to_owned(), name: name.to_owned() })
        }
        _ => None,
    }
}

fn simulation(arguments: &str) -> Option<Kind> {
    let (tier, rest) = arguments.split_once(' ')?;
    let (option, value) = rest.split_once(' ')?;
    let value = match option {
        "--seed" => value.parse::<u64>().ok()?.to_string(),
        "--plan" => value.strip_prefix('"')?.strip_suffix('"')?.to_owned(),
        _ => return None,
    };
    Some(Kind::Simulation { tier: tier.to_owned(), option: option.to_owned(), value })
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

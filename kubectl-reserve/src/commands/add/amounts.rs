//! The amounts of `add`: parsed from the flags, and compared with what the node has and what is free.

use crate::amount::shown;
use crate::cli::Add;
use crate::error::{Exit, Failure};
use common::cluster::Ledger;
use common::model::quantity::parse_amount;
use common::model::resources::is_scalar_name;
use common::model::{ResourceName, Resources};

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts(Vec<(ResourceName, i64)>);

/// Parses the flags.
pub(super) fn read(args: &Add) -> Result<Amounts, Failure> {
    let mut amounts = Amounts::default();
    for (flag, name, text) in [("--cpu", "cpu", &args.cpu), ("--memory", "memory", &args.memory)] {
        if let Some(text) = text {
            amounts.push(flag, name, text)?;
        }
    }
    for pair in &args.resources {
        let (name, text) = pair.split_once('=').ok_or_else(|| {
            Failure::usage(format!("--resource {pair:?}: expected NAME=QUANTITY, like nvidia.com/gpu=1"))
        })?;
        amounts.push("--resource", name, text)?;
    }
    Ok(amounts)
}

impl Amounts {
    fn push(&mut self, flag: &str, name: &str, text: &str) -> Result<(), Failure> {
        let resource = ResourceName::from(name);
        match &resource {
            ResourceName::Pods => {
                return Err(Failure::usage(format!(
                    "{flag} pods: one pod slot is always reserved, and no more"
                )));
            }
            ResourceName::Scalar(scalar) if !is_scalar_name(scalar) => {
                return Err(Failure::usage(format!("{flag} {name:?} is not a resource that nodes have"))
                    .hint("cpu, memory, ephemeral-storage, hugepages-2Mi, or an extended one like nvidia.com/gpu"));
            }
            _ => {}
        }
        if self.0.iter().any(|(known, _)| *known == resource) {
            return Err(Failure::usage(format!("{flag}: {name} was given twice")));
        }
        let amount =
            parse_amount(&resource, text).map_err(|error| Failure::usage(format!("{flag}: {error}")))?;
        self.0.push((resource, amount));
        Ok(())
    }

    /// Replaces the amounts that the flags name.
    pub(super) fn apply(self, amount: &mut Resources) {
        for (resource, number) in self.0 {
            amount.set(resource, number);
        }
    }
}

/// Fails if an amount is larger than the node's allocatable.
pub(super) fn fits_at_all(amount: &Resources, ledger: &Ledger) -> Result<(), Failure> {
    let node = &ledger.node;
    for (resource, wanted) in amount.iter() {
        let has = node.allocatable.get(&resource);
        if wanted > has {
            let (wanted, has) = (shown(&resource, wanted), shown(&resource, has));
            return Err(Failure::new(format!(
                "refused: {resource} {wanted} is more than node {} can ever give, which is {has}",
                node.name
            ))
            .hint("--force-overcommit reserves it all the same")
            .exit(Exit::NoRoom));
        }
    }
    Ok(())
}

/// The resources of which too little is free now, in words with numbers.
pub(super) fn lacking(amount: &Resources, ledger: &Ledger) -> Vec<String> {
    let node = &ledger.node;
    let mut reserved = Resources::default();
    ledger.entries.iter().for_each(|entry| reserved.add_assign(&entry.held));
    let free = node.allocatable.minus(&ledger.used).minus(&reserved);
    let over = amount.iter().filter(|(resource, wanted)| *wanted > free.get(resource));
    over.map(|(resource, wanted)| {
        let left = free.get(&resource).max(0);
        let short = shown(&resource, wanted.saturating_sub(left));
        let (wanted, left) = (shown(&resource, wanted), shown(&resource, left));
        format!(
            "{resource} {wanted} is more than the {left} free on node {} now: the reservation is short by {short}",
            node.name
        )
    })
    .collect()
}

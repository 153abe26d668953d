//! `--resources`: which resources of the pod are reserved, and how much of each.

use crate::error::Failure;
use common::model::quantity::parse_amount;
use common::model::{ResourceName, Resources};

/// Changes `amount` to the value of the flag: `all`, `cpu,memory` or `cpu=500m`.
pub(crate) fn choose(amount: &mut Resources, asked: &str) -> Result<(), Failure> {
    if asked == "all" {
        return Ok(());
    }
    let mut chosen = Resources::default();
    chosen.pods = amount.pods;
    for part in asked.split(',').map(str::trim) {
        let (name, value) = part.split_once('=').map_or((part, None), |(name, value)| (name, Some(value)));
        let resource = ResourceName::from(name);
        let value = match value {
            Some(text) => parse_amount(&resource, text)
                .map_err(|error| Failure::usage(format!("--resources {part:?}: {error}")))?,
            None => amount.get(&resource),
        };
        if value == 0 || resource == ResourceName::Pods {
            return Err(Failure::usage(format!("--resources {part:?}: the pod asks for none of it"))
                .hint("name what it asks for, as in cpu,memory; or an amount, as in cpu=500m"));
        }
        chosen.set(resource, value);
    }
    *amount = chosen;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::choose;
    use common::model::{ResourceName, Resources};

    #[test]
    fn what_is_reserved_can_be_chosen() {
        let asks = || {
            let mut asks = Resources::default();
            (asks.cpu, asks.memory, asks.pods) = (2000, 1 << 30, 1);
            asks
        };
        let chosen = |text: &str| {
            let mut amount = asks();
            choose(&mut amount, text).map(|()| (amount.cpu, amount.memory, amount.pods))
        };
        assert_eq!(chosen("all").unwrap(), (2000, 1 << 30, 1));
        assert_eq!(chosen("cpu").unwrap(), (2000, 0, 1));
        assert_eq!(chosen("cpu=500m,memory").unwrap(), (500, 1 << 30, 1));
        for odd in ["", "gpu", "cpu=x", "cpu=0", "cpu,,memory", "pods", "nvidia.com/gpu"] {
            assert!(chosen(odd).is_err(), "{odd:?}");
        }
        let mut with = asks();
        choose(&mut with, "nvidia.com/gpu=2").unwrap();
        assert_eq!(with.get(&ResourceName::from("nvidia.com/gpu")), 2);
    }
}

//! The resources of a node: allocatable, requested, reserved and free, where `free = allocatable − requested − reserved`. Also the
//! formats in which `nodes` shows them.

use common::cluster::Ledger;
use common::model::{ResourceName, Resources};

/// The sums of one node, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Room {
    /// `status.allocatable`.
    pub(crate) allocatable: Resources,
    /// The requests of the pods on the node, as schedulers count them.
    pub(crate) requested: Resources,
    /// What reservations keep empty.
    pub(crate) reserved: Resources,
}

impl Room {
    /// The sums of one node.
    pub(crate) fn of(ledger: &Ledger) -> Self {
        let mut reserved = Resources::default();
        ledger.entries.iter().for_each(|entry| reserved.add_assign(&entry.held));
        Self { allocatable: ledger.node.allocatable.clone(), requested: ledger.used.clone(), reserved }
    }

    /// Adds the sums of another node.
    pub(crate) fn add(&mut self, other: &Self) {
        self.allocatable.add_assign(&other.allocatable);
        self.requested.add_assign(&other.requested);
        self.reserved.add_assign(&other.reserved);
    }

    /// What is free; negative where the node has promised more than it has.
    pub(crate) fn free(&self) -> Resources {
        self.allocatable.minus(&self.requested).minus(&self.reserved)
    }

    /// How much of `resource` is allocatable, requested, reserved and free.
    pub(crate) fn get(&self, resource: &ResourceName) -> [i64; 4] {
        let [has, asked, kept] =
            [&self.allocatable, &self.requested, &self.reserved].map(|amounts| amounts.get(resource));
        [has, asked, kept, has.saturating_sub(asked).saturating_sub(kept)]
    }
}

/// `part` of `whole` in percent, rounded; `None` if `whole` is not positive.
pub(crate) fn percent(part: i64, whole: i64) -> Option<i64> {
    let (part, whole) = (i128::from(part), i128::from(whole));
    (whole > 0).then(|| i64::try_from((part * 100 + whole / 2).div_euclid(whole)).unwrap_or(i64::MAX))
}

/// An amount for people: bytes are rounded.
pub(crate) fn short(resource: &ResourceName, amount: i64) -> String {
    match resource {
        _ if is_bytes(resource) => bytes(amount),
        ResourceName::Cpu if amount == 0 => "0".into(),
        resource => resource.format(amount),
    }
}

/// Whether amounts of the resource are bytes.
pub(crate) fn is_bytes(resource: &ResourceName) -> bool {
    matches!(resource, ResourceName::Memory | ResourceName::EphemeralStorage)
        || resource.as_str().starts_with("hugepages-")
}

/// Bytes in the largest binary unit that fits, with at most one decimal, rounded down.
pub(crate) fn bytes(amount: i64) -> String {
    const UNITS: [(&str, u64); 5] =
        [("Pi", 1 << 50), ("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];
    let sign = if amount < 0 { "-" } else { "" };
    let size = amount.unsigned_abs();
    let Some((unit, scale)) = UNITS.into_iter().find(|(_, scale)| size >= *scale) else {
        return format!("{sign}{size}");
    };
    match (size / scale, size % scale * 10 / scale) {
        (whole, 0) => format!("{sign}{whole}{unit}"),
        (whole, tenth) => format!("{sign}{whole}.{tenth}{unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Room, bytes, percent};
    use common::model::{ResourceName, Resources};
    use proptest::prelude::*;

    #[test]
    fn percent_is_rounded_and_nothing_has_none() {
        assert_eq!(percent(9400, 16000), Some(59));
        assert_eq!(percent(24800, 40000), Some(62));
        assert_eq!(percent(0, 5), Some(0));
        assert_eq!(percent(7, 5), Some(140));
        assert_eq!(percent(1, 0), None);
        assert_eq!(percent(i64::MAX, 1), Some(i64::MAX));
    }

    #[test]
    fn bytes_are_never_more_than_there_are() {
        for (amount, text) in [
            (0, "0"),
            (1023, "1023"),
            (1024, "1Ki"),
            (21 << 30, "21Gi"),
            ((21 << 30) + (999 << 20), "21.9Gi"),
            (-(3 << 29), "-1.5Gi"),
            (i64::MAX, "8191.9Pi"),
            (i64::MIN, "-8192Pi"),
        ] {
            assert_eq!(bytes(amount), text, "{amount}");
        }
    }

    fn amounts() -> impl Strategy<Value = Resources> {
        let number = || 0_i64..1 << 40;
        (number(), number(), number(), number()).prop_map(|(cpu, memory, pods, gpu)| {
            let mut amounts = Resources::default();
            (amounts.cpu, amounts.memory, amounts.pods) = (cpu, memory, pods);
            amounts.set(ResourceName::from("nvidia.com/gpu"), gpu);
            amounts
        })
    }

    fn room() -> impl Strategy<Value = Room> {
        (amounts(), amounts(), amounts()).prop_map(|(allocatable, requested, reserved)| Room {
            allocatable,
            requested,
            reserved,
        })
    }

    proptest! {
        #[test]
        fn what_is_free_is_what_is_neither_requested_nor_reserved(rooms in proptest::collection::vec(room(), 1..5)) {
            let mut total = Room::default();
            let mut free = Resources::default();
            for room in &rooms {
                total.add(room);
                free.add_assign(&room.free());
                let sum = room.free().plus(&room.requested).plus(&room.reserved);
                prop_assert_eq!(&sum, &room.allocatable);
                for name in ["cpu", "memory", "pods", "nvidia.com/gpu"] {
                    let resource = ResourceName::from(name);
                    let [has, asked, kept, left] = room.get(&resource);
                    prop_assert_eq!(left, has - asked - kept);
                    prop_assert_eq!(left, room.free().get(&resource));
                }
            }
            prop_assert_eq!(free, total.free(), "the total is the sum of the rows");
        }
    }
}

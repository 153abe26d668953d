//! Amounts of resources: the type of requests, of `status.allocatable`, and of what is used or reserved.
//!
//! The units are kube-scheduler's: milli for cpu, bytes or pieces for other resources, as `i64`. Arithmetic saturates, so that an
//! absurd number fits on no node instead of becoming a small number.
//!
//! Must not know: whose resources these are.

mod name;

#[cfg(test)]
mod tests;

use super::quantity::Quantity;
pub use name::{ResourceName, is_extended_name, is_scalar_name};

/// An amount of every resource. A resource that is not named has the amount zero.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Resources {
    /// Cpu, in milli.
    pub cpu: i64,
    /// Memory, in bytes.
    pub memory: i64,
    /// Local ephemeral storage, in bytes.
    pub ephemeral_storage: i64,
    /// Pods: one for a pod, the maximal number of pods for a node.
    pub pods: i64,
    /// All other resources, sorted by name, without zeros, so that equal amounts are equal values. A boxed slice, because most pods
    /// have none and there are very many pods.
    scalars: Box<[(Box<str>, i64)]>,
}

impl Resources {
    pub fn get(&self, name: &ResourceName) -> i64 {
        match name {
            ResourceName::Cpu => self.cpu,
            ResourceName::Memory => self.memory,
            ResourceName::EphemeralStorage => self.ephemeral_storage,
            ResourceName::Pods => self.pods,
            ResourceName::Scalar(name) => self.scalar(name),
        }
    }

    pub fn set(&mut self, name: ResourceName, amount: i64) {
        match name {
            ResourceName::Cpu => self.cpu = amount,
            ResourceName::Memory => self.memory = amount,
            ResourceName::EphemeralStorage => self.ephemeral_storage = amount,
            ResourceName::Pods => self.pods = amount,
            ResourceName::Scalar(name) => self.set_scalar(name, amount),
        }
    }

    /// Adds a quantity of the resource called `name`, rounded up to the scheduler's unit, as kube-scheduler reads a resource list.
    /// A name that it does not count is ignored: see [`is_scalar_name`].
    pub fn add_quantity(&mut self, name: &str, quantity: Quantity) {
        match name {
            "cpu" => self.cpu = self.cpu.saturating_add(quantity.milli_value()),
            "memory" => self.memory = self.memory.saturating_add(quantity.value()),
            "ephemeral-storage" => {
                self.ephemeral_storage = self.ephemeral_storage.saturating_add(quantity.value());
            }
            "pods" => self.pods = self.pods.saturating_add(quantity.value()),
            _ if quantity.is_zero() || !is_scalar_name(name) => {}
            _ => {
                let amount = self.scalar(name).saturating_add(quantity.value());
                self.set_scalar(name.into(), amount);
            }
        }
    }

    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.each(other, i64::saturating_add)
    }

    /// Adds in place. Allocates only if a scalar becomes zero or ceases to be zero.
    pub fn add_assign(&mut self, other: &Self) {
        self.combine_in_place(other, i64::saturating_add);
    }

    /// The difference; may fall below zero.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.each(other, i64::saturating_sub)
    }

    /// Subtracts in place, the reverse of [`Resources::add_assign`].
    pub fn sub_assign(&mut self, other: &Self) {
        self.combine_in_place(other, i64::saturating_sub);
    }

    /// The larger amount of each resource. A resource that only one side names is compared with zero.
    #[must_use]
    pub fn max_each(&self, other: &Self) -> Self {
        self.each(other, i64::max)
    }

    /// All amounts that are not zero, in the order of [`ResourceName`].
    pub fn iter(&self) -> impl Iterator<Item = (ResourceName, i64)> + '_ {
        let fixed = [
            (ResourceName::Cpu, self.cpu),
            (ResourceName::Memory, self.memory),
            (ResourceName::EphemeralStorage, self.ephemeral_storage),
            (ResourceName::Pods, self.pods),
        ];
        let scalars = self.scalars.iter().map(|(name, amount)| (ResourceName::Scalar(name.clone()), *amount));
        fixed.into_iter().filter(|(_, amount)| *amount != 0).chain(scalars)
    }

    /// The scalars of [`Resources::iter`], sorted, without copying their names.
    pub fn scalars(&self) -> impl ExactSizeIterator<Item = (&str, i64)> + '_ {
        self.scalars.iter().map(|(name, amount)| (name.as_ref(), *amount))
    }

    /// Whether some amount is at a limit of `i64`, so that a sum may have saturated.
    pub fn is_saturated(&self) -> bool {
        let fixed = [self.cpu, self.memory, self.ephemeral_storage, self.pods];
        let ends = [i64::MIN, i64::MAX];
        fixed.iter().any(|amount| ends.contains(amount))
            || self.scalars.iter().any(|(_, amount)| ends.contains(amount))
    }

    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    fn scalar(&self, name: &str) -> i64 {
        match self.find(name) {
            Ok(index) => self.scalars[index].1,
            Err(_) => 0,
        }
    }

    fn set_scalar(&mut self, name: Box<str>, amount: i64) {
        match (self.find(&name), amount) {
            (Ok(index), 0) => self.edit_scalars(|scalars| drop(scalars.remove(index))),
            (Ok(index), _) => self.scalars[index].1 = amount,
            (Err(_), 0) => {}
            (Err(index), _) => self.edit_scalars(|scalars| scalars.insert(index, (name, amount))),
        }
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.scalars.binary_search_by(|(other, _)| other.as_ref().cmp(name))
    }

    fn edit_scalars(&mut self, edit: impl FnOnce(&mut Vec<(Box<str>, i64)>)) {
        let mut scalars = std::mem::take(&mut self.scalars).into_vec();
        edit(&mut scalars);
        self.scalars = scalars.into_boxed_slice();
    }

    /// For operations that do not change an amount if `other` does not name the resource.
    fn combine_in_place(&mut self, other: &Self, combine: fn(i64, i64) -> i64) {
        self.cpu = combine(self.cpu, other.cpu);
        self.memory = combine(self.memory, other.memory);
        self.ephemeral_storage = combine(self.ephemeral_storage, other.ephemeral_storage);
        self.pods = combine(self.pods, other.pods);
        for (name, amount) in &other.scalars {
            match self.find(name).map(|index| &mut self.scalars[index].1) {
                Ok(here) if combine(*here, *amount) != 0 => *here = combine(*here, *amount),
                _ => self.set_scalar(name.clone(), combine(self.scalar(name), *amount)),
            }
        }
    }

    fn each(&self, other: &Self, combine: fn(i64, i64) -> i64) -> Self {
        let mut combined = Self {
            cpu: combine(self.cpu, other.cpu),
            memory: combine(self.memory, other.memory),
            ephemeral_storage: combine(self.ephemeral_storage, other.ephemeral_storage),
            pods: combine(self.pods, other.pods),
            scalars: Box::default(),
        };
        if !(self.scalars.is_empty() && other.scalars.is_empty()) {
            combined.scalars = self.each_scalar(other, combine);
        }
        combined
    }

    fn each_scalar(&self, other: &Self, combine: fn(i64, i64) -> i64) -> Box<[(Box<str>, i64)]> {
        let only_there = other.scalars.iter().filter(|(name, _)| self.find(name).is_err());
        let mut names: Vec<&str> =
            self.scalars.iter().chain(only_there).map(|(name, _)| name.as_ref()).collect();
        names.sort_unstable();
        let combined = names.into_iter().map(|name| (name, combine(self.scalar(name), other.scalar(name))));
        combined.filter(|(_, amount)| *amount != 0).map(|(name, amount)| (name.into(), amount)).collect()
    }
}

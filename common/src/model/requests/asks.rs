//! A few named quantities, and the three ways in which kube-scheduler merges them.
//!
//! A name that is there with zero is not the same as a name that is not there: only the latter gets a
//! default.

use crate::model::quantity::Quantity;

/// Named quantities, in order of arrival. A pod has two or three, so looking at all of them is the fastest
/// search.
#[derive(Debug, Clone, Default)]
pub(super) struct Asks<'a>(Vec<(&'a str, Quantity)>);

impl<'a> Asks<'a> {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, Quantity)> + '_ {
        self.0.iter().copied()
    }

    pub(super) fn get(&self, name: &str) -> Option<Quantity> {
        self.iter().find(|(other, _)| *other == name).map(|(_, quantity)| quantity)
    }

    pub(super) fn set(&mut self, name: &'a str, quantity: Quantity) {
        self.merge(name, quantity, |_| quantity);
    }

    pub(super) fn add(&mut self, others: &Self) {
        for (name, quantity) in others.iter() {
            self.merge(name, quantity, |here| here.plus(quantity));
        }
    }

    /// Raises each to at least what `others` says.
    pub(super) fn raise(&mut self, others: &Self) {
        for (name, quantity) in others.iter() {
            self.merge(name, quantity, |here| here.max(quantity));
        }
    }

    /// Replaces a quantity that is there; adds one that is not as it is.
    fn merge(&mut self, name: &'a str, quantity: Quantity, merged: impl FnOnce(Quantity) -> Quantity) {
        match self.0.iter_mut().find(|(other, _)| *other == name) {
            Some((_, here)) => *here = merged(*here),
            None => self.0.push((name, quantity)),
        }
    }
}

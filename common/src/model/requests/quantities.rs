//! A parsed resource list, and the three ways in which kube-scheduler merges such lists.
//!
//! A resource with the quantity zero is not the same as a missing resource: only a missing resource gets a default.

use crate::model::quantity::Quantity;

/// Quantities by resource name, in the order of insertion. A pod has two or three, so a linear search is the fastest.
#[derive(Debug, Clone, Default)]
pub(super) struct Quantities<'a>(Vec<(&'a str, Quantity)>);

impl<'a> Quantities<'a> {
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

    pub(super) fn raise(&mut self, others: &Self) {
        for (name, quantity) in others.iter() {
            self.merge(name, quantity, |here| here.max(quantity));
        }
    }

    /// Replaces the quantity of `name` by `merged` of it; if there is none, inserts `quantity`.
    fn merge(&mut self, name: &'a str, quantity: Quantity, merged: impl FnOnce(Quantity) -> Quantity) {
        match self.0.iter_mut().find(|(other, _)| *other == name) {
            Some((_, here)) => *here = merged(*here),
            None => self.0.push((name, quantity)),
        }
    }
}

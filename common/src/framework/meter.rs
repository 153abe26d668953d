//! How long plugins take, for those who measure it. There is no clock here: whoever measures brings one along.

use super::{Registry, Rejection};
use crate::model::ExtensionPoint;
use std::time::Duration;

/// What came of it, by upstream's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// It went well.
    Success,
    /// Something went wrong.
    Error,
    /// Not here, or not now.
    Unschedulable,
    /// The same, and nobody's leaving would help.
    UnschedulableAndUnresolvable,
    /// Later.
    Wait,
}

/// Somebody who measures.
pub trait Meter: Send + Sync {
    /// The time since some moment; it never goes back.
    fn now(&self) -> Duration;

    /// A pod has passed an extension point, with all of its plugins.
    fn passed(&self, extension_point: ExtensionPoint, status: Status, took: Duration);

    /// One plugin was asked there.
    fn asked(&self, plugin: &'static str, extension_point: ExtensionPoint, status: Status, took: Duration);
}

impl Status {
    /// Its name.
    pub fn name(self) -> String {
        format!("{self:?}")
    }

    /// What came of a question that can be answered with a rejection.
    pub fn of<T>(result: &Result<T, Rejection>) -> Self {
        result.as_ref().err().map_or(Self::Success, Self::of_rejection)
    }

    /// What a rejection means.
    pub fn of_rejection(rejection: &Rejection) -> Self {
        match rejection.reason.is_unresolvable() {
            true => Self::UnschedulableAndUnresolvable,
            false => Self::Unschedulable,
        }
    }
}

/// When something was begun; nothing if nobody measures.
#[derive(Clone, Copy)]
pub struct Begun(Option<Duration>);

impl Registry {
    /// Something begins.
    pub fn begin(&self) -> Begun {
        Begun(self.meter.as_ref().map(|meter| meter.now()))
    }

    /// How long it has been under way.
    pub fn since(&self, begun: Begun) -> Duration {
        self.meter.as_ref().zip(begun.0).map_or(Duration::ZERO, |(meter, at)| meter.now().saturating_sub(at))
    }

    /// A pod has passed an extension point.
    pub fn passed(&self, extension_point: ExtensionPoint, status: Status, begun: Begun) {
        self.took(extension_point, status, self.since(begun));
    }

    /// The same, when it is known how long that took.
    pub fn took(&self, extension_point: ExtensionPoint, status: Status, took: Duration) {
        if let Some(meter) = &self.meter {
            meter.passed(extension_point, status, took);
        }
    }

    /// One plugin was asked.
    pub fn asked(&self, plugin: &'static str, extension_point: ExtensionPoint, status: Status, begun: Begun) {
        if let Some(meter) = &self.meter {
            meter.asked(plugin, extension_point, status, self.since(begun));
        }
    }
}

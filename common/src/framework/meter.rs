//! Measures how long plugins and extension points take. There is no clock here: a [`Meter`] brings one along. Without a meter
//! nothing is measured.

use super::{Registry, Rejection};
use crate::model::ExtensionPoint;
use std::time::Duration;

/// The result of a plugin or an extension point, by kube-scheduler's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    Success,
    Error,
    Unschedulable,
    /// The pod was rejected, and preemption would not help.
    UnschedulableAndUnresolvable,
    Wait,
}

/// Receives the measurements, and has the clock for them.
pub trait Meter: Send + Sync {
    /// The time since a fixed moment; it never goes back.
    fn now(&self) -> Duration;

    fn record_extension_point(&self, extension_point: ExtensionPoint, status: Status, took: Duration);

    fn record_plugin(
        &self,
        plugin: &'static str,
        extension_point: ExtensionPoint,
        status: Status,
        took: Duration,
    );
}

impl Status {
    /// The name of the status, as kube-scheduler's metrics have it.
    pub fn name(self) -> String {
        format!("{self:?}")
    }

    pub fn of<T>(result: &Result<T, Rejection>) -> Self {
        result.as_ref().err().map_or(Self::Success, Self::of_rejection)
    }

    pub fn of_rejection(rejection: &Rejection) -> Self {
        match rejection.reason.is_unresolvable() {
            true => Self::UnschedulableAndUnresolvable,
            false => Self::Unschedulable,
        }
    }
}

/// When a measurement started; `None` without a meter.
#[derive(Clone, Copy)]
pub struct StartTime(Option<Duration>);

impl Registry {
    pub fn start_timer(&self) -> StartTime {
        StartTime(self.meter.as_ref().map(|meter| meter.now()))
    }

    /// The time since `start`; zero without a meter.
    pub fn elapsed(&self, start: StartTime) -> Duration {
        self.meter.as_ref().zip(start.0).map_or(Duration::ZERO, |(meter, at)| meter.now().saturating_sub(at))
    }

    /// All plugins of an extension point have run for a pod, since `start`.
    pub fn record_extension_point(&self, extension_point: ExtensionPoint, status: Status, start: StartTime) {
        self.record_duration(extension_point, status, self.elapsed(start));
    }

    /// All plugins of an extension point have run for a pod, and took this long.
    pub fn record_duration(&self, extension_point: ExtensionPoint, status: Status, took: Duration) {
        if let Some(meter) = &self.meter {
            meter.record_extension_point(extension_point, status, took);
        }
    }

    /// One plugin has run at an extension point, since `start`.
    pub fn record_plugin(
        &self,
        plugin: &'static str,
        extension_point: ExtensionPoint,
        status: Status,
        start: StartTime,
    ) {
        if let Some(meter) = &self.meter {
            meter.record_plugin(plugin, extension_point, status, self.elapsed(start));
        }
    }
}

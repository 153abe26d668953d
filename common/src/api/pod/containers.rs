//! Decodes the fields of containers besides requests: host ports, images, environment variables, and required features of the node.

use super::SpecWire;
use super::features::NonEmpty;
use super::requests::ContainerWire;
use crate::api::meta::{Str, or_empty};
use crate::model::image::normalized_image_name;
use crate::model::{HostPort, Text};
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct PortWire<'a> {
    host_port: Option<i32>,
    #[serde(rename = "hostIP")]
    host_ip: Option<Str<'a>>,
    protocol: Option<Str<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct RuleWire<'a> {
    action: Option<Str<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MountWire {
    bind_mount_options: NonEmpty,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct EnvWire<'a> {
    name: Option<Str<'a>>,
    value: Option<Str<'a>>,
    value_from: NonEmpty,
}

/// A variable whose name contains this word is taken to hold an image.
const IMAGE_WORD: &str = "IMAGE";
/// The most variables of a pod that are kept: enough for any build, and too few to fill our memory.
const ENV_MAX: usize = 16;
/// The longest name and the longest value that are kept. Image references are shorter.
const ENV_LEN_MAX: usize = 256;

/// The host ports that a pod uses while it runs. Ports of init containers that end do not count.
pub(super) fn ports(spec: &SpecWire<'_>) -> Box<[HostPort]> {
    let sidecars = spec.init_containers.iter().flatten().filter(|container| container.restarts_always());
    let containers = sidecars.chain(spec.containers.iter().flatten());
    containers.flat_map(|container| &container.ports.0).filter_map(port).collect()
}

fn port(wire: &PortWire<'_>) -> Option<HostPort> {
    let or = |text: &Option<Str<'_>>, default: &str| match or_empty(text.as_ref()) {
        empty if empty.is_empty() => default.into(),
        text => text,
    };
    // The API server accepts no port above 65535. Negative ports and 0 are ignored, as in kube-scheduler.
    let port = wire.host_port.and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0)?;
    Some(HostPort {
        protocol: or(&wire.protocol, HostPort::DEFAULT_PROTOCOL),
        ip: or(&wire.host_ip, HostPort::ALL_ADDRESSES),
        port,
    })
}

/// The normalized image names of init containers, containers and image volumes.
pub(super) fn images(spec: &SpecWire<'_>) -> Box<[Text]> {
    let containers = all(spec).map(|container| or_empty(container.image.as_ref()));
    let volumes = spec.volumes.0.iter().filter_map(|volume| volume.image.clone());
    containers.chain(volumes).map(normalized_image_name).collect()
}

/// The features that the pod's node must declare, sorted.
pub(super) fn needs(spec: &SpecWire<'_>) -> Box<[Text]> {
    let restarts_all = |container: &ContainerWire<'_>| {
        let is_for_all = |action: &Str<'_>| action.0 == "RestartAllContainers";
        container.restart_policy_rules.0.iter().any(|rule| rule.action.as_ref().is_some_and(is_for_all))
    };
    let binds = |container: &ContainerWire<'_>| {
        container.volume_mounts.0.iter().any(|mount| mount.bind_mount_options.0)
    };
    let own_users_on_host_network = spec.host_network == Some(true) && spec.host_users == Some(false);
    let needed = [
        (all(spec).any(restarts_all), "RestartAllContainersOnContainerExits"),
        (own_users_on_host_network, "UserNamespacesHostNetworkSupport"),
        (all(spec).any(binds), "VolumeBindMountOptions"),
    ];
    needed.into_iter().filter(|(is_needed, _)| *is_needed).map(|(_, name)| name.into()).collect()
}

/// The variables whose name contains [`IMAGE_WORD`] and whose value is given literally.
pub(super) fn env(spec: &SpecWire<'_>) -> Box<[(Text, Text)]> {
    let pair = |wire: &EnvWire<'_>| {
        let (name, value) = (&*wire.name.as_ref()?.0, &*wire.value.as_ref()?.0);
        let is_kept = !wire.value_from.0
            && name.to_ascii_uppercase().contains(IMAGE_WORD)
            && (1..=ENV_LEN_MAX).contains(&value.len())
            && name.len() <= ENV_LEN_MAX;
        is_kept.then(|| (name.into(), value.into()))
    };
    all(spec).flat_map(|container| &container.env.0).filter_map(pair).take(ENV_MAX).collect()
}

/// All containers, init containers first.
fn all<'s, 'a>(spec: &'s SpecWire<'a>) -> impl Iterator<Item = &'s ContainerWire<'a>> {
    spec.init_containers.iter().chain(&spec.containers).flatten()
}

//! What else than amounts the containers of a pod's JSON ask for: ports of the node, images, features of the node.

use super::Spec;
use super::features::Used;
use super::requests::ContainerWire;
use crate::api::meta::{Str, or_empty};
use crate::model::ids::Text;
use crate::model::image::tagged;
use crate::model::port::HostPort;
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PortWire<'a> {
    host_port: Option<i32>,
    #[serde(borrow, rename = "hostIP")]
    host_ip: Option<Str<'a>>,
    #[serde(borrow)]
    protocol: Option<Str<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct RuleWire<'a> {
    #[serde(borrow)]
    action: Option<Str<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MountWire {
    bind_mount_options: Used,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct EnvWire<'a> {
    #[serde(borrow)]
    name: Option<Str<'a>>,
    #[serde(borrow)]
    value: Option<Str<'a>>,
    value_from: Used,
}

/// What must be in the name of a variable for its value to be taken for an image.
const IMAGE_WORD: &str = "IMAGE";
/// So many variables of a pod are kept: enough for any build, and no way to fill our memory.
const ENV_MAX: usize = 16;
/// The longest name, and the longest value, that is kept. References of images are shorter.
const ENV_LEN_MAX: usize = 256;

/// The host ports that a pod has while it runs: those of init containers that end do not count.
pub(super) fn ports(spec: &Spec<'_>) -> Box<[HostPort]> {
    let sidecars = spec.init_containers.iter().flatten().filter(|container| container.restarts_always());
    let containers = sidecars.chain(spec.containers.iter().flatten());
    containers.flat_map(|container| &container.ports.0).filter_map(port).collect()
}

fn port(wire: &PortWire<'_>) -> Option<HostPort> {
    let or = |text: &Option<Str<'_>>, usual: &str| match or_empty(text.as_ref()) {
        empty if empty.is_empty() => usual.into(),
        text => text,
    };
    // The API server lets no port be above 65535; negative ones and 0 are none, as upstream.
    let port = wire.host_port.and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0)?;
    Some(HostPort {
        protocol: or(&wire.protocol, HostPort::DEFAULT_PROTOCOL),
        ip: or(&wire.host_ip, HostPort::ALL_ADDRESSES),
        port,
    })
}

/// The image of each init container, container and image volume, under the name that nodes know it by.
pub(super) fn images(spec: &Spec<'_>) -> Box<[Text]> {
    let containers = all(spec).map(|container| or_empty(container.image.as_ref()));
    let volumes = spec.volumes.0.iter().filter_map(|volume| volume.image.clone());
    containers.chain(volumes).map(tagged).collect()
}

/// The features that the pod's node must declare, sorted.
pub(super) fn needs(spec: &Spec<'_>) -> Box<[Text]> {
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

/// The variables that speak of an image, as far as their value is written out.
pub(super) fn env(spec: &Spec<'_>) -> Box<[(Text, Text)]> {
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

/// All containers, those for the start first.
fn all<'s, 'a>(spec: &'s Spec<'a>) -> impl Iterator<Item = &'s ContainerWire<'a>> {
    spec.init_containers.iter().chain(&spec.containers).flatten()
}

//! Host ports, and when two of them conflict on one node.

use super::ids::Text;

/// A port of the node (`hostPort`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPort {
    /// TCP, UDP or SCTP; empty for TCP.
    pub protocol: Text,
    /// The address; empty for all addresses.
    pub ip: Text,
    pub port: u16,
}

impl HostPort {
    /// The address that stands for all addresses. `::` does not, as in kube-scheduler.
    pub const ALL_ADDRESSES: &str = "0.0.0.0";

    /// The protocol of a port that names none.
    pub const DEFAULT_PROTOCOL: &str = "TCP";

    /// Whether both ports cannot be used on one node. Addresses and protocols are compared as text.
    pub fn conflicts_with(&self, other: &HostPort) -> bool {
        let (own, others) = (self.address(), other.address());
        self.port == other.port
            && self.protocol() == other.protocol()
            && (own == others || own == Self::ALL_ADDRESSES || others == Self::ALL_ADDRESSES)
    }

    /// The address, with the default filled in.
    pub fn address(&self) -> &str {
        if self.ip.is_empty() { Self::ALL_ADDRESSES } else { &self.ip }
    }

    /// The protocol, with the default filled in.
    pub fn protocol(&self) -> &str {
        if self.protocol.is_empty() { Self::DEFAULT_PROTOCOL } else { &self.protocol }
    }
}

#[cfg(test)]
mod tests {
    use super::HostPort;

    fn port(text: &str) -> HostPort {
        let parts: Vec<&str> = text.split('|').collect();
        HostPort { protocol: parts[0].into(), ip: parts[1].into(), port: parts[2].parse().unwrap() }
    }

    #[test]
    fn ports_conflict_as_in_kube_scheduler() {
        let table = [
            ("TCP|0.0.0.0|80", "TCP|0.0.0.0|80", true),
            ("TCP|0.0.0.0|80", "TCP|127.0.0.1|80", true),
            ("TCP|10.0.0.1|80", "TCP|127.0.0.1|80", false),
            ("TCP|10.0.0.1|80", "TCP|10.0.0.1|80", true),
            ("TCP|0.0.0.0|80", "TCP|0.0.0.0|81", false),
            ("TCP|0.0.0.0|80", "UDP|0.0.0.0|80", false),
            ("TCP|0.0.0.0|80", "tcp|0.0.0.0|80", false),
            ("||80", "TCP|10.0.0.1|80", true),
            ("||80", "UDP|10.0.0.1|80", false),
            ("TCP|::|80", "TCP|10.0.0.1|80", false),
            ("TCP|::|80", "TCP||80", true),
        ];
        for (one, other, expected) in table {
            assert_eq!(port(one).conflicts_with(&port(other)), expected, "{one} {other}");
            assert_eq!(port(other).conflicts_with(&port(one)), expected, "{other} {one}");
        }
    }
}

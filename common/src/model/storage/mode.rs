//! Access modes and volume modes.

/// How many nodes or pods may use a volume at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessMode {
    /// One node, reading and writing.
    ReadWriteOnce,
    /// Many nodes, reading.
    ReadOnlyMany,
    /// Many nodes, reading and writing.
    ReadWriteMany,
    /// One pod, reading and writing.
    ReadWriteOncePod,
    /// A mode of a newer API. All such modes count as the same mode.
    Unknown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessModes(u8);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VolumeMode {
    /// A filesystem, which is the default.
    #[default]
    Filesystem,
    Block,
}

impl AccessMode {
    pub fn from_name(name: &str) -> Self {
        match name {
            "ReadWriteOnce" => Self::ReadWriteOnce,
            "ReadOnlyMany" => Self::ReadOnlyMany,
            "ReadWriteMany" => Self::ReadWriteMany,
            "ReadWriteOncePod" => Self::ReadWriteOncePod,
            _ => Self::Unknown,
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl AccessModes {
    pub fn contains(self, mode: AccessMode) -> bool {
        self.0 & mode.bit() != 0
    }

    pub fn covers(self, modes: Self) -> bool {
        modes.0 & !self.0 == 0
    }
}

impl FromIterator<AccessMode> for AccessModes {
    fn from_iter<I: IntoIterator<Item = AccessMode>>(modes: I) -> Self {
        Self(modes.into_iter().fold(0, |bits, mode| bits | mode.bit()))
    }
}

impl VolumeMode {
    pub fn from_name(name: &str) -> Self {
        if name == "Block" { Self::Block } else { Self::Filesystem }
    }
}

#[cfg(test)]
mod tests {
    use super::{AccessMode, AccessModes};

    #[test]
    fn a_set_covers_what_is_in_it_and_nothing_at_all() {
        let set = |names: &[&str]| -> AccessModes {
            names.iter().map(|name| AccessMode::from_name(name)).collect()
        };
        let both = set(&["ReadWriteOnce", "ReadOnlyMany", "ReadWriteOnce"]);
        assert!(both.covers(set(&["ReadOnlyMany"])) && both.covers(set(&[])) && both.covers(both));
        assert!(!both.covers(set(&["ReadWriteMany"])) && !set(&[]).covers(both));
        assert!(both.contains(AccessMode::ReadWriteOnce) && !both.contains(AccessMode::ReadWriteOncePod));
        assert!(!both.covers(set(&["ReadWriteTwice"])) && set(&["x"]).contains(AccessMode::Unknown));
    }
}

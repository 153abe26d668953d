//! What the tests of `kubectl reserve` share: a real control plane, and words to speak to it.

pub mod control_plane;

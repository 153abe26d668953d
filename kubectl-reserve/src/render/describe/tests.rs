//! Golden output of `describe`.

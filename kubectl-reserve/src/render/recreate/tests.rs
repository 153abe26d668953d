//! Golden output.

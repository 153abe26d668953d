//! Golden output of `nodes`.

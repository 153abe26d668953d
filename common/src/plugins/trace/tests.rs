//! Trace: what is told, in order.

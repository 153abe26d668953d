//! An in-memory Kubernetes API, with small controllers and kubelets: for `kubectl reserve demo`, for tests that take
//! milliseconds, and for seeded fault simulation of the real daemon and command.
//!
//! Nobody lives here yet. What moves in may use `daemon` and `common`; `kubectl-reserve` may use it for `demo` and
//! `sandbox` alone.
#![forbid(unsafe_code)]

//! The program `kubectl-reserve`; everything is in the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Objects of a cluster are read by the ten thousand, each in a few dozen pieces of memory; musl's own is slow at that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    kubectl_reserve::main()
}

//! The program `kubectl-reserve`. Its code is in the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Tens of thousands of objects are read, each with a few dozen allocations. The allocator of musl is slow at that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    kubectl_reserve::main()
}

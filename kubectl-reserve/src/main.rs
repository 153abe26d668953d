//! The program `kubectl-reserve`; everything is in the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    kubectl_reserve::main()
}

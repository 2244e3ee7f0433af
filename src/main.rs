//! The `pis` program: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(pis::cli::main(std::env::args_os().collect()))
}

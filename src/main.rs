//! The `pombo` program: everything is in the library, behind its command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    pombo::cli::run(std::env::args_os())
}

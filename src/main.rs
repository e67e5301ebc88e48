//! The `pombo` program: everything is in the library, behind its command line.

use std::process::ExitCode;

/// Requests are taken on one thread, written on another and answered on the first.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    pombo::cli::run(std::env::args_os().collect())
}

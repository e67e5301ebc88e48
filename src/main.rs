//! The `pombo` program: everything is in the library, behind its command line.

use std::process::ExitCode;

/// An allocator for memory that is allocated on one thread and freed on another: requests are read on one
/// thread, written on another and answered on the first.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    pombo::cli::run(std::env::args_os().collect())
}

//! Tests that need a process of their own, because they look at the whole of it.

use std::process::{Command, Output};

const ALONE: &str = "POMBO_TEST_ALONE";

/// Whether this process runs one test only, started by [`run`].
pub(crate) fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

/// Runs a test of this program, by its whole name, in a process of its own.
pub(crate) async fn run(test: &'static str) -> Output {
    let run = move || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--include-ignored", "--nocapture"]).env(ALONE, "1");
        command.output().unwrap()
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

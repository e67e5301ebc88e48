//! Runs the program in a directory of its own.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A directory, and the environment that every run in it gets.
pub(crate) struct Place {
    directory: TempDir,
    environment: Vec<(String, String)>,
}

/// The output and the exit code of one run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), environment: Vec::new() }
    }

    /// With an option in the environment of every run.
    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    /// The program with these arguments, separated by spaces; a tilde stands for a space within an argument.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pombo"));
        command.args(line.split_whitespace().map(|word| word.replace('~', " ")));
        command.current_dir(self.path());
        let ours = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("POMBO_"));
        ours.for_each(|(name, _)| {
            command.env_remove(name);
        });
        // Not the configuration of a service of this machine.
        command.env("POMBO_CONFIG", "");
        command.envs(self.environment.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, line: &str) -> Run {
        self.run_with("", line)
    }

    /// Runs the program to its end with `input` on standard input.
    pub(crate) fn run_with(&self, input: &str, line: &str) -> Run {
        let mut child = self.command(line).stdin(Stdio::piped()).spawn().unwrap();
        // A program that refuses its arguments does not read its input.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// What the program prints with `--json`; it must succeed.
    pub(crate) fn json(&self, line: &str) -> Value {
        self.json_with("", line)
    }

    /// [`Place::json`] with `input` on standard input.
    pub(crate) fn json_with(&self, input: &str, line: &str) -> Value {
        let run = self.run_with(input, &format!("{line} --json"));
        assert_eq!(run.code, Some(0), "{line}: {run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    }
}

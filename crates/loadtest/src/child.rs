//! Processes that a load test starts and that never outlive it.
//!
//! Each holds the reading end of a pipe as its standard input and ends when the pipe is closed: by us, or
//! because this process was killed. On a terminal, Ctrl-C reaches them only through us.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child as Process, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::Value;

/// How long a child may take to print its address, and to end when it was asked to.
const PATIENCE: Duration = Duration::from_secs(60);
const ENDING: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(10);
/// How much of its log is shown when it failed, in bytes.
const SHOWN: i64 = 2_000;

/// A running child. Dropping it kills it; [`Child::stop`] asks first.
#[derive(Debug)]
pub(super) struct Child {
    process: Process,
    log: PathBuf,
    /// Such as `http://127.0.0.1:41234`.
    pub(super) base_url: String,
}

/// This program with these arguments; what it logs goes to `log`.
pub(super) fn this_program(arguments: &[&str], log: &Path) -> anyhow::Result<Command> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut command = Command::new(program);
    command.args(arguments).args(["--json", "--end-with-input"]);
    // It gets its configuration from this process alone, also on a machine with a configured service.
    command.env(config::VARIABLE, "");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(log)?);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    Ok(command)
}

impl Child {
    /// Starts it and waits until it says where it listens.
    pub(super) async fn start(mut command: Command, log: &Path) -> anyhow::Result<Self> {
        let mut process = command.spawn().context("cannot start another process of this program")?;
        let output = process.stdout.take();
        let mut child = Self { process, log: log.to_owned(), base_url: String::new() };
        let reading = tokio::task::spawn_blocking(move || {
            let mut first = String::new();
            let output = output.map(|output| BufReader::new(output).read_line(&mut first));
            output.transpose().map(|_| first)
        });
        let first =
            tokio::time::timeout(PATIENCE, reading).await.context("it did not print its address")???;
        let said: Value = serde_json::from_str(&first).unwrap_or_default();
        let Some(base_url) = said["base_url"].as_str() else {
            bail!("it ended before it listened\n{}", child.last_words());
        };
        base_url.clone_into(&mut child.base_url);
        Ok(child)
    }

    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    /// The end of its log, when it has ended by itself.
    pub(super) fn has_ended(&mut self) -> Option<String> {
        matches!(self.process.try_wait(), Ok(Some(_)) | Err(_)).then(|| self.last_words())
    }

    fn last_words(&self) -> String {
        let read = || {
            let mut file = File::open(&self.log)?;
            let from = -SHOWN.min(i64::try_from(file.metadata()?.len()).unwrap_or(SHOWN));
            file.seek(SeekFrom::End(from))?;
            let mut words = Vec::new();
            file.read_to_end(&mut words)?;
            Ok::<_, std::io::Error>(String::from_utf8_lossy(&words).trim().to_owned())
        };
        read().unwrap_or_default()
    }

    /// Asks the process to end and waits; kills it when that takes too long.
    pub(super) async fn stop(mut self) {
        drop(self.process.stdin.take());
        let deadline = Instant::now() + ENDING;
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < deadline {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // A process that has ended already is no failure.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

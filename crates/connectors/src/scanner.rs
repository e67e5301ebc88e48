//! A command that looks at files of strangers before they are kept, such as the client of a virus scanner.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

/// The exit code with which scanners refuse a file.
const REFUSED: i32 = 1;

/// The command that `media.scanner` names.
#[derive(Debug, Clone)]
pub struct Scanner {
    program: String,
    arguments: Vec<String>,
    patience: Duration,
}

/// What a scanner says of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scanned {
    /// It may be kept.
    Clean,
    /// It may not.
    Refused,
    /// Nothing: the sentence says why.
    Unknown(String),
}

impl Scanner {
    /// The scanner that the options name; `None` without one.
    pub fn new(options: &config::Media) -> Option<Self> {
        let (program, arguments) = options.scanner.split_first()?;
        let (program, arguments) = (program.clone(), arguments.to_vec());
        Some(Self { program, arguments, patience: options.scanner_timeout })
    }

    /// Looks at a file. A command that takes too long is ended.
    pub async fn look_at(&self, file: &Path) -> Scanned {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(file).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut running = match command.spawn() {
            Ok(running) => running,
            Err(error) => return Scanned::Unknown(format!("cannot run {}: {error}", self.program)),
        };
        match timeout(self.patience, running.wait()).await {
            Ok(Ok(status)) if status.success() => Scanned::Clean,
            Ok(Ok(status)) if status.code() == Some(REFUSED) => Scanned::Refused,
            Ok(Ok(status)) => Scanned::Unknown(format!("{} ended with {status}", self.program)),
            Ok(Err(error)) => Scanned::Unknown(format!("{} was lost: {error}", self.program)),
            Err(_) => {
                let seconds = self.patience.as_secs_f64();
                Scanned::Unknown(format!("{} did not answer within {seconds} s", self.program))
            }
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    async fn said(script: &str) -> Scanned {
        let options = config::Media {
            scanner: ["sh", "-c", script].map(str::to_owned).to_vec(),
            scanner_timeout: Duration::from_millis(300),
            ..config::Config::default().media
        };
        Scanner::new(&options).unwrap().look_at(Path::new("/the/file")).await
    }

    #[tokio::test]
    async fn the_exit_code_decides_and_silence_does_not() {
        // The first argument after the script is its name.
        assert_eq!(said("test \"$0\" = /the/file").await, Scanned::Clean);
        assert_eq!(said("exit 1").await, Scanned::Refused);
        assert!(matches!(said("exit 2").await, Scanned::Unknown(_)));
        assert!(matches!(said("sleep 60").await, Scanned::Unknown(_)));
        let missing = Scanner {
            program: "/no/such/program".to_owned(),
            arguments: Vec::new(),
            patience: Duration::from_secs(1),
        };
        assert!(matches!(missing.look_at(Path::new("/")).await, Scanned::Unknown(_)));
        assert!(Scanner::new(&config::Config::default().media).is_none());
    }
}

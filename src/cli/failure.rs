//! How a command ends: its exit code, and the error text on standard error.

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

use super::output::{Unwritten, has_colours};
use crate::config::Faults;

/// A mistake in the arguments or in a file, which a retry does not remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Misused(pub(super) String);

/// An end with an exit code of its own, which is no failure of the command.
#[derive(Debug, thiserror::Error)]
#[error("{said}")]
pub(super) struct OtherEnd {
    pub(super) code: u8,
    pub(super) said: String,
}

impl OtherEnd {
    /// The send is over, and somebody did not get it.
    pub(super) const NOT_EVERYBODY: u8 = 3;
    /// A person ended the command, and the send goes on.
    pub(super) const INTERRUPTED: u8 = 130;
}

/// Prints the error, if there is one, and returns the exit code.
pub(super) fn report(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    if error.downcast_ref::<Unwritten>().is_some_and(Unwritten::is_reader_gone) {
        return ExitCode::SUCCESS;
    }
    let stderr = io::stderr();
    if let Some(OtherEnd { code, said }) = error.downcast_ref() {
        let _ = writeln!(stderr.lock(), "{said}");
        return ExitCode::from(*code);
    }
    let label = if has_colours(&stderr) { "\u{1b}[1;31merror:\u{1b}[0m" } else { "error:" };
    // When standard error is closed too, there is no place left to report it.
    let _ = writeln!(stderr.lock(), "{label} {}", told(&error));
    if error.is::<Faults>() || error.is::<Misused>() { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// The sentence, and below it the causes that add something.
fn told(error: &anyhow::Error) -> String {
    let mut told = error.to_string();
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !told.contains(&words) {
            told.push_str("\n  because ");
            told.push_str(&words.replace('\n', "\n  "));
        }
        cause = inner.source();
    }
    told
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn causes_stand_below_the_sentence_and_nothing_is_said_twice() {
        let error = anyhow!("refused").context("no answer: refused").context("cannot reach the database");
        assert_eq!(told(&error), "cannot reach the database\n  because no answer: refused");
    }
}

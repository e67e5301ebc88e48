//! The faults of a configuration, with sentences from which an operator can correct them without reading
//! code.

use std::fmt;
use std::path::{Path, PathBuf};

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The reference that is compiled in.
    Default,
    /// The file of `--config`.
    File(PathBuf),
    /// The environment variable of this name.
    Environment(String),
    /// The variable of this name in the file beside the configuration file.
    Beside(String, PathBuf),
}

impl Source {
    /// A variable of this process, or of the file at `place`.
    pub(super) fn variable(name: &str, place: Option<&Path>) -> Self {
        match place {
            Some(place) => Self::Beside(name.to_owned(), place.to_owned()),
            None => Self::Environment(name.to_owned()),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Environment(name) => write!(f, "environment variable {name}"),
            Self::Beside(name, path) => write!(f, "variable {name} in {}", path.display()),
        }
    }
}

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The option, "server.bind"; `None` when a whole source cannot be read.
    pub option: Option<String>,
    /// The source of its value.
    pub source: Source,
    /// What is wrong with it.
    pub problem: String,
    /// What to do about it.
    pub mend: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.option {
            Some(option) => writeln!(f, "{option} ({})", self.source)?,
            None => writeln!(f, "{}", self.source)?,
        }
        writeln!(f, "  wrong: {}", self.problem)?;
        write!(f, "  fix:   {}", self.mend)
    }
}

/// All faults of a configuration: one block of text for each, for a terminal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            1 => f.write_str("the configuration has a fault")?,
            count => write!(f, "the configuration has {count} faults")?,
        }
        self.0.iter().try_for_each(|fault| write!(f, "\n\n{fault}"))
    }
}

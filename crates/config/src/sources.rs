//! Where a configuration comes from: the file, when nobody names one, and the variables beside it.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::fault::{Fault, Source};

/// Names the configuration file where `--config` does not. An empty value stands for none.
pub const VARIABLE: &str = "POMBO_CONFIG";
/// The file that the packaged unit reads, and commands with it.
pub const PACKAGED: &str = "/etc/pombo/pombo.toml";
/// The name of the file with variables, beside a configuration file: what the unit's `EnvironmentFile` is.
const BESIDE: &str = "environment";
/// The largest file with variables that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The files that a configuration was read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// The configuration file.
    pub file: Option<PathBuf>,
    /// The file with variables beside it.
    pub variables: Option<PathBuf>,
    /// A file with variables that this user may not read. A service has them from its unit all the same.
    pub unread: Option<PathBuf>,
}

/// The files, for a sentence that begins with "read from".
impl fmt::Display for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, variables, unread } = self;
        match (file, variables) {
            (Some(file), Some(variables)) => write!(f, "{} and {}", file.display(), variables.display())?,
            (Some(file), None) => file.display().fmt(f)?,
            (None, _) => f.write_str("the defaults and the environment")?,
        }
        match unread {
            Some(unread) => write!(f, ", without {}, which this user may not read", unread.display()),
            None => Ok(()),
        }
    }
}

/// The configuration file of a command: the given one, else the one that `POMBO_CONFIG` names, else the packaged unit's
/// if there is one.
pub fn locate(given: Option<&Path>) -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    chosen(given, named, Path::new(PACKAGED))
}

fn chosen(given: Option<&Path>, named: Option<PathBuf>, packaged: &Path) -> Option<PathBuf> {
    match (given, named) {
        (Some(given), _) => Some(given.to_owned()),
        (None, Some(named)) => Some(named).filter(|named| !named.as_os_str().is_empty()),
        (None, None) => packaged.exists().then(|| packaged.to_owned()),
    }
}

/// The variables beside this configuration file, each with the fault's source for it.
pub(super) fn variables(file: &Path, sources: &mut Sources) -> Result<Vec<(String, String)>, Fault> {
    let path = file.with_file_name(BESIDE);
    if !path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_BYTES) {
        return Ok(Vec::new());
    }
    match fs::read_to_string(&path) {
        Ok(text) => {
            sources.variables = Some(path);
            Ok(read(&text))
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            sources.unread = Some(path);
            Ok(Vec::new())
        }
        Err(error) => Err(Fault {
            option: None,
            source: Source::File(path),
            problem: format!("it cannot be read: {error}"),
            mend: "give a readable UTF-8 file with a NAME=value on each line, or none".to_owned(),
        }),
    }
}

/// Our variables in the text of an `EnvironmentFile`: `NAME=value` on each line, with or without quotes.
fn read(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';']));
    let pairs = lines.filter_map(|line| line.split_once('='));
    pairs
        .map(|(name, value)| (name.trim().to_owned(), unquoted(value.trim()).to_owned()))
        .filter(|(name, _)| name.starts_with("POMBO_"))
        .collect()
}

fn unquoted(value: &str) -> &str {
    let within = |quote: char| value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn the_packaged_file_counts_where_nobody_names_another_one() {
        let directory = tempfile::tempdir().unwrap();
        let packaged = directory.path().join("pombo.toml");
        assert_eq!(chosen(None, None, &packaged), None);
        fs::write(&packaged, "").unwrap();
        assert_eq!(chosen(None, None, &packaged), Some(packaged.clone()));
        assert_eq!(chosen(None, Some("named.toml".into()), &packaged), Some("named.toml".into()));
        assert_eq!(chosen(None, Some(PathBuf::new()), &packaged), None);
        assert_eq!(
            chosen(Some(Path::new("given.toml")), Some("named.toml".into()), &packaged),
            Some("given.toml".into())
        );
    }

    #[test]
    fn variables_beside_the_file_count_more_than_it_and_less_than_the_environment() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.toml");
        fs::write(&file, "[data]\ndir = \"of-the-file\"\n[log]\nlevel = \"error\"\n").unwrap();
        let beside = directory.path().join(BESIDE);
        let text = "# secrets\nPOMBO__DATA__DIR='beside'\nPOMBO__LOG__LEVEL = \"warn\"\nOTHER=1\nno line\n";
        fs::write(&beside, text).unwrap();
        let given = [("POMBO__LOG__LEVEL".to_owned(), "debug".to_owned())];
        let config = Config::load_from(Some(&file), given.into_iter()).unwrap();
        assert_eq!((config.data.dir, config.log.level.as_str()), ("beside".into(), "debug"));
        let read = format!("{} and {}", file.display(), beside.display());
        assert_eq!(config.sources.to_string(), read);
        fs::write(&beside, "POMBO__DATA__DIRR=x\n").unwrap();
        let faults = Config::load_from(Some(&file), std::iter::empty()).unwrap_err().to_string();
        assert!(faults.contains("did you mean data.dir?") && faults.contains("environment"), "{faults}");
        assert_eq!(Config::default().sources.to_string(), "the defaults and the environment");
    }
}

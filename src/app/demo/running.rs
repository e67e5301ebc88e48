//! How commands reach a running demonstration: a file in its directory, which only its owner can read, has its
//! addresses, a key, and the channel of the phone.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use anyhow::{Context as _, anyhow};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::report::exposed;
use super::{DIRECTORY, report};
use crate::domain::secret::Secret;

/// The file, in the directory of the demonstration.
const FILE: &str = "running.json";
/// A number that nobody has.
pub const SOMEBODY: &str = "+999 900 000 001";

/// How to reach a running demonstration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// The address of the service, without a slash at the end.
    pub base_url: String,
    /// The address of the simulated provider, and of the phone that it plays.
    pub simulator_url: String,
    /// A key of the company that has the channel.
    #[serde(serialize_with = "exposed")]
    pub api_key: Secret,
    /// The web session that the phone can be linked to.
    pub channel_id: Uuid,
    /// All channels, to which people can write.
    pub channels: Vec<RunningChannel>,
}

/// A channel of a running demonstration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningChannel {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: Uuid,
    /// Under which id the simulator knows it: that of its number, or its own for a web session.
    pub address: String,
}

impl Running {
    /// The address that shows the messages that the phone's devices sent.
    pub fn messages_url(&self) -> String {
        format!("{}/phone/messages", self.simulator_url)
    }

    /// A shell command that sends a text through the channel.
    pub fn send_command(&self) -> String {
        let Self { base_url, simulator_url: _, api_key, channel_id, channels: _ } = self;
        format!(
            "curl {base_url}/api/v1/web-chat/{channel_id}/messages \\\n    -H 'Authorization: Bearer {}' \
             -H 'Content-Type: application/json' \\\n    \
             -d '{{\"phone_number\":\"{SOMEBODY}\",\"recipient_type\":\"number\",\"type\":\"text\",\
             \"message\":\"Hello, you\"}}'",
            api_key.expose()
        )
    }

    /// The phone's part of the report, for a demonstration in this directory.
    pub(super) fn phone(&self, directory: &Path) -> report::Phone {
        report::Phone {
            channel_id: self.channel_id,
            pair_command: pair_command(directory),
            send_command: self.send_command(),
            messages_url: self.messages_url(),
        }
    }

    /// Finds the demonstration that runs in this directory. A demonstration that was killed is found too.
    ///
    /// # Errors
    ///
    /// A sentence for the person who tries it.
    pub fn find(directory: &Path) -> anyhow::Result<Self> {
        let path = directory.join(FILE);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(none_runs(directory)),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        serde_json::from_str(&text).with_context(|| {
            format!("{} was not written by a demonstration; start the demonstration again", path.display())
        })
    }

    /// Writes the file, and replaces an older one.
    pub(super) fn write(&self, directory: &Path) -> anyhow::Result<()> {
        let path = directory.join(FILE);
        let draft = directory.join(format!(".{FILE}-{}", std::process::id()));
        let written = self.write_to(&draft).and_then(|()| fs::rename(&draft, &path));
        if written.is_err() {
            // The error may contain the key.
            let _ = fs::remove_file(&draft);
        }
        written.with_context(|| format!("cannot write {}", path.display()))
    }

    fn write_to(&self, path: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        // A file that a killed process left may be readable by other users.
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => options.write(true).create_new(true),
        };
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        writeln!(file, "{}", serde_json::to_string_pretty(self)?)
    }

    /// Removes the file, unless another process has written its own meanwhile.
    pub(super) fn remove(&self, directory: &Path) {
        if Self::find(directory).is_ok_and(|found| found == *self) {
            // If removing fails, the next start overwrites the file.
            let _ = fs::remove_file(directory.join(FILE));
        }
    }
}

/// The error when no demonstration runs in the directory.
pub fn none_runs(directory: &Path) -> anyhow::Error {
    anyhow!(
        "no demonstration runs in {}: start one with `pombo demo{}` and leave it running, then repeat this in another \
         terminal",
        directory.display(),
        option(directory)
    )
}

/// The command that links the phone.
fn pair_command(directory: &Path) -> String {
    format!("pombo demo phone{}", option(directory))
}

/// The option that gives the directory to a command; empty for the default directory.
fn option(directory: &Path) -> String {
    if directory == Path::new(DIRECTORY) {
        return String::new();
    }
    let shown = directory.display().to_string();
    let is_plain = shown.chars().all(|letter| letter.is_alphanumeric() || "/._-".contains(letter));
    if is_plain {
        format!(" --data {shown}")
    } else {
        // In single quotes, a shell takes every character literally, except the single quote.
        format!(" --data '{}'", shown.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(port: u16) -> Running {
        Running {
            base_url: format!("http://127.0.0.1:{port}"),
            simulator_url: "http://127.0.0.1:2".to_owned(),
            api_key: Secret::new("pombo_key".to_owned()),
            channel_id: Uuid::nil(),
            channels: Vec::new(),
        }
    }

    #[test]
    fn another_process_finds_the_file_and_other_users_cannot_read_it() {
        let place = tempfile::tempdir().unwrap();
        running(1).write(place.path()).unwrap();
        running(2).write(place.path()).unwrap();
        assert_eq!(Running::find(place.path()).unwrap(), running(2));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(place.path().join(FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        running(1).remove(place.path());
        assert!(Running::find(place.path()).is_ok(), "the file of another process stays");
        running(2).remove(place.path());
        let error = Running::find(place.path()).unwrap_err().to_string();
        assert!(error.contains("pombo demo --data"), "{error}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_is_quoted_for_a_shell_and_the_default_one_is_left_out() {
        assert_eq!(pair_command(Path::new(DIRECTORY)), "pombo demo phone");
        assert_eq!(pair_command(Path::new("/tmp/demo-1")), "pombo demo phone --data /tmp/demo-1");
        assert_eq!(pair_command(Path::new("it's mine")), r"pombo demo phone --data 'it'\''s mine'");
    }
}

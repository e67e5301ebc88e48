//! Runs PostgreSQL's own programs against the database.
//!
//! The programs read the address from the environment, because arguments are visible to every user of the machine.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::process::{Command, ExitStatus, Stdio};

use sea_orm::sqlx::postgres::PgSslMode;
use url::Url;

use super::{Error, Result};
use crate::{address, connect};

/// The most characters of a program's output that an error repeats.
const WORDS: usize = 2_000;

/// A running program, with its error output.
pub(super) struct Client {
    tool: &'static str,
    pub(super) command: Command,
    said: File,
}

impl Client {
    /// `tool` for the database at this address.
    pub(super) fn of(tool: &'static str, url: &str) -> Result<Self> {
        let mut client = Self::offline(tool)?;
        let command = &mut client.command;
        for (name, value) in environment(url)? {
            command.env(name, value);
        }
        command.env("PGAPPNAME", "pombo backup").env("PGCONNECT_TIMEOUT", "10");
        Ok(client)
    }

    /// `tool` without the address of a database.
    pub(super) fn offline(tool: &'static str) -> Result<Self> {
        // A file, not a pipe: a file does not have to be read while the program runs.
        let said = tempfile::tempfile().map_err(Error::file("write", &std::env::temp_dir()))?;
        let copy = said.try_clone().map_err(Error::file("write", &std::env::temp_dir()))?;
        let mut command = Command::new(tool);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(copy);
        Ok(Self { tool, command, said })
    }

    /// The error of a program that did not start.
    pub(super) fn unstarted(&self, error: &io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::NotFound => Error::NoTool(self.tool),
            _ => Error::Tool { tool: self.tool, words: error.to_string() },
        }
    }

    /// Checks whether the program succeeded.
    pub(super) fn judge(&mut self, status: io::Result<ExitStatus>) -> Result<()> {
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => {
                let words = self.words();
                let words = if words.is_empty() { status.to_string() } else { words };
                Err(Error::Tool { tool: self.tool, words })
            }
            Err(error) => Err(self.unstarted(&error)),
        }
    }

    /// The end of its error output.
    fn words(&mut self) -> String {
        let mut said = Vec::new();
        let read = self.said.rewind().and_then(|()| self.said.read_to_end(&mut said));
        if read.is_err() {
            return String::new();
        }
        let said = String::from_utf8_lossy(&said);
        let said = said.trim();
        let from = said.char_indices().rev().nth(WORDS).map_or(0, |(at, _)| at);
        said[from..].to_owned()
    }
}

/// The address, as environment variables of the programs.
fn environment(url: &str) -> Result<Vec<(&'static str, String)>> {
    let options = connect::plain_on_this_machine(address::postgres(url)?);
    let no_address = || crate::Error::Unavailable("database.url is not a valid address".to_owned());
    let address = Url::parse(url).map_err(|_| no_address())?;
    let host = match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => options.get_host().trim_start_matches('[').trim_end_matches(']').to_owned(),
    };
    let ssl = match options.get_ssl_mode() {
        PgSslMode::Disable => "disable",
        PgSslMode::Allow => "allow",
        PgSslMode::Prefer => "prefer",
        PgSslMode::Require => "require",
        PgSslMode::VerifyCa => "verify-ca",
        PgSslMode::VerifyFull => "verify-full",
    };
    let mut variables = vec![
        ("PGHOST", host),
        ("PGPORT", options.get_port().to_string()),
        ("PGUSER", options.get_username().to_owned()),
        ("PGDATABASE", options.get_database().unwrap_or(options.get_username()).to_owned()),
        ("PGSSLMODE", ssl.to_owned()),
    ];
    if let Some(settings) = options.get_options() {
        variables.push(("PGOPTIONS", settings.to_owned()));
    }
    if let Some(password) = address.password() {
        variables.push(("PGPASSWORD", decoded(password)));
    }
    for (name, value) in address.query_pairs() {
        let variable = match &*name {
            "password" => "PGPASSWORD",
            "sslrootcert" | "ssl-root-cert" | "ssl-ca" => "PGSSLROOTCERT",
            "sslcert" | "ssl-cert" => "PGSSLCERT",
            "sslkey" | "ssl-key" => "PGSSLKEY",
            _ => continue,
        };
        variables.push((variable, value.into_owned()));
    }
    Ok(variables)
}

/// A percent-decoded part of an address. Unlike in a query, a plus sign stays one.
fn decoded(part: &str) -> String {
    let as_query = format!("part={}", part.replace('+', "%2B").replace('&', "%26"));
    let mut pairs = url::form_urlencoded::parse(as_query.as_bytes());
    pairs.next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(url: &str, name: &str) -> Option<String> {
        let variables = environment(url).unwrap();
        variables.into_iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    #[test]
    fn the_programs_get_the_whole_address_from_their_environment() {
        let url = "postgres://ana:a%2Bb+c%26d@[::1]:5433/pombo?sslmode=verify-full&sslrootcert=/etc/ca.pem";
        for (name, expected) in [
            ("PGHOST", "::1"),
            ("PGPORT", "5433"),
            ("PGUSER", "ana"),
            ("PGDATABASE", "pombo"),
            ("PGPASSWORD", "a+b+c&d"),
            ("PGSSLMODE", "verify-full"),
            ("PGSSLROOTCERT", "/etc/ca.pem"),
        ] {
            assert_eq!(variable(url, name).as_deref(), Some(expected), "{name}");
        }
        let elsewhere = "postgres://db/pombo?user=ana&password=x%20y";
        assert_eq!(variable(elsewhere, "PGPASSWORD").as_deref(), Some("x y"));
        assert_eq!(variable(elsewhere, "PGUSER").as_deref(), Some("ana"));
        assert_eq!(variable(elsewhere, "PGSSLMODE").as_deref(), Some("prefer"));
        assert_eq!(variable("postgres://ana@localhost/pombo", "PGSSLMODE").as_deref(), Some("disable"));
    }

    #[test]
    fn a_missing_program_is_reported_as_not_installed() {
        let mut client = Client::offline("pombo-no-such-program").unwrap();
        let status = client.command.status();
        let error = client.judge(status).unwrap_err();
        assert!(
            error.to_string().contains("is not installed") && matches!(error, Error::NoTool(_)),
            "{error}"
        );
    }
}

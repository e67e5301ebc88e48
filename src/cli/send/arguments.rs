//! The arguments of a send, checked before anything is asked for.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use uuid::Uuid;

use super::columns::ColumnUse;
use super::recipients::Recipients;
use crate::cli::failure::Misused;
use crate::cli::session::{Session, own_url, quiet_config};
use crate::cli::{Global, argument, secret_input};
use crate::clock::Timestamp;
use crate::domain::phone::Country;
use crate::domain::secret::Secret;
use crate::domain::values::is_value_name;

/// The variable with the key.
const KEY_VARIABLE: &str = "POMBO_API_KEY";
const CONTENT: &str = "What is sent";
const FILE: &str = "The file";
const SERVICE: &str = "The service";

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).args(["text", "template", "follow"])))]
pub(in crate::cli) struct Arguments {
    /// A CSV or Excel file (.xlsx) whose first line names the columns, or a file with a JSON object on each line (.ndjson): a
    /// recipient on each row, with values of their own
    file: Option<PathBuf>,
    /// A recipient's number in international form; may be given several times
    #[arg(long, value_name = "NUMBER", value_parser = argument::phone_number, conflicts_with = "file")]
    to: Vec<String>,

    /// A text, in which {{value.NAME}} and {{value.NAME|fallback}} stand for values
    #[arg(long, help_heading = CONTENT)]
    text: Option<String>,
    /// The name or id of an approved template
    #[arg(long, help_heading = CONTENT, value_name = "TEMPLATE")]
    template: Option<String>,
    /// The name or id of an approved template for people who did not write in the last 24 hours, to whom WhatsApp takes no text;
    /// without it, they are skipped
    #[arg(long, help_heading = CONTENT, value_name = "TEMPLATE", conflicts_with_all = ["template", "follow"])]
    template_instead: Option<String>,
    /// The template's language, if it has several
    #[arg(long, help_heading = CONTENT, value_name = "LANGUAGE", conflicts_with = "follow")]
    language: Option<String>,
    /// The name of the value for the template's next variable; once for each variable, unless values are called as the
    /// variables are: 1, 2 or their names, header, button.0
    #[arg(long = "parameter", help_heading = CONTENT, value_name = "NAME", value_parser = value_name)]
    pub(super) parameters: Vec<String>,
    /// A value of everybody who has none of their own; may be given several times
    #[arg(long = "value", help_heading = CONTENT, value_name = "NAME=TEXT", value_parser = value)]
    pub(super) values: Vec<(String, String)>,
    /// Fold line breaks and other white space in values, which templates cannot have
    #[arg(long, help_heading = CONTENT)]
    pub(super) clean: bool,

    /// What a column holds: phone_number, reference, ignored or the name of a value, such as "Order no=order", by the
    /// column's name or its place, such as "#3=order"; may be given several times
    #[arg(long = "map", help_heading = FILE, value_name = "COLUMN=USE", requires = "file")]
    mappings: Vec<ColumnUse>,
    /// The file's encoding when it is not UTF-8, such as windows-1252; with "auto", it is guessed from the whole file
    #[arg(long, help_heading = FILE, value_name = "NAME", requires = "file")]
    encoding: Option<String>,
    /// The country of numbers without a plus sign, such as BR; without it, they are international
    #[arg(long, help_heading = FILE, value_name = "COUNTRY", value_parser = argument::country, requires = "file")]
    country: Option<Country>,

    /// When the send starts, such as 2026-11-27T18:00:00Z; without it, at once
    #[arg(long, value_name = "TIME", value_parser = argument::future)]
    pub(super) at: Option<Timestamp>,
    /// After this time no message starts
    #[arg(long, value_name = "TIME", value_parser = argument::future)]
    pub(super) until: Option<Timestamp>,
    /// Check everything and send nothing: print counts, problems and the first messages
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Whether the others get the message when somebody is skipped
    #[arg(long, value_name = "WHAT", default_value = "send")]
    pub(super) on_skipped: Skipping,
    /// The name of the send in the console
    #[arg(long, value_parser = argument::name)]
    pub(super) name: Option<String>,
    /// Your own name for the send, such as an order's number
    #[arg(long)]
    pub(super) reference: Option<String>,
    /// A request that is repeated with the same key within a day is carried out only once
    #[arg(long, value_name = "KEY")]
    pub(super) idempotency_key: Option<String>,
    /// End when the send is accepted, without following it
    #[arg(long, conflicts_with_all = ["follow", "results", "dry_run"])]
    pub(super) detach: bool,
    /// Follow a send that was accepted before; give its file, too, for the results
    #[arg(long, value_name = "SEND", conflicts_with_all = ["at", "until", "dry_run", "to", "parameters", "values"])]
    follow: Option<Uuid>,
    /// The file to write with the result of each recipient, as CSV with the columns of the given file
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub(super) results: Option<PathBuf>,

    /// The channel's name or id; without it, the company's only connected business account
    #[arg(long, help_heading = SERVICE, value_name = "CHANNEL")]
    pub(super) channel: Option<String>,
    /// The company's name or id, for a command without a key that opens the database of the service
    #[arg(long, help_heading = SERVICE, value_name = "COMPANY")]
    pub(super) company: Option<String>,
    /// The file with an API key of the company, which has the scopes send and read; - reads standard input. Without it, the key
    /// of POMBO_API_KEY; without both, the command makes one for itself and revokes it at its end
    #[arg(long, help_heading = SERVICE, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// The address of the service; without it, the address in `server.bind`
    #[arg(long, help_heading = SERVICE)]
    pub(super) url: Option<String>,
}

/// What somebody who is skipped means for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Skipping {
    /// They get the message.
    Send,
    /// Nobody gets it.
    Refuse,
}

/// What the command does.
pub(super) enum What {
    Send(Composed),
    Follow(Uuid),
}

/// The content that is asked for.
pub(super) enum Composed {
    /// With the template for people whose window is closed.
    Text(String, Option<NamedTemplate>),
    Template(NamedTemplate),
}

/// A template by its name or id.
pub(super) struct NamedTemplate {
    pub(super) name: String,
    pub(super) language: Option<String>,
}

impl Composed {
    /// The template that some or all people get.
    pub(super) const fn template(&self) -> Option<&NamedTemplate> {
        match self {
            Self::Text(_, instead) => instead.as_ref(),
            Self::Template(template) => Some(template),
        }
    }
}

impl Arguments {
    pub(super) fn what(&self) -> anyhow::Result<What> {
        let named =
            |name: &String| NamedTemplate { name: name.trim().to_owned(), language: self.language.clone() };
        let content = match (self.follow, &self.text, &self.template) {
            (Some(send), ..) => return Ok(What::Follow(send)),
            (None, Some(text), _) => Composed::Text(text.clone(), self.template_instead.as_ref().map(named)),
            (None, None, Some(name)) => Composed::Template(named(name)),
            (None, None, None) => return Err(misused("give --text or --template")),
        };
        if content.template().is_none() && (self.language.is_some() || !self.parameters.is_empty()) {
            return Err(misused(
                "--language and --parameter are for a template, and cannot be used with --text alone: give \
                 --template-instead, too",
            ));
        }
        if self.file.is_none() && self.to.is_empty() {
            return Err(misused("nobody is named: give a file, or numbers with --to"));
        }
        Ok(What::Send(content))
    }

    /// The recipients, with the columns of a file.
    pub(super) fn recipients(&self) -> anyhow::Result<Recipients> {
        match &self.file {
            Some(path) => Recipients::of_file(path, self.encoding.as_deref(), self.country, &self.mappings),
            None => Ok(Recipients::Numbers(self.to.clone())),
        }
    }

    /// The key that was given.
    pub(super) fn key(&self) -> anyhow::Result<Option<Secret>> {
        if let Some(path) = &self.key_file {
            return secret_input::read(path).map(Some);
        }
        let key = std::env::var(KEY_VARIABLE).unwrap_or_default();
        let key = key.trim();
        Ok((!key.is_empty()).then(|| Secret::new(key.to_owned())))
    }

    /// The address of the service, for a command with a key.
    pub(super) fn url(&self, global: &Global) -> anyhow::Result<String> {
        match &self.url {
            Some(url) => Ok(url.clone()),
            None => Ok(own_url(&quiet_config(global)?)),
        }
    }

    /// The company of a command without a key, and its channel if one is named.
    pub(super) async fn own_company(&self, session: &Session) -> anyhow::Result<(Uuid, Option<String>)> {
        if let Some(company) = &self.company {
            return Ok((session.company(company).await?.id, self.channel.clone()));
        }
        if let Some(name) = &self.channel {
            let channel = session.channel(name).await?;
            return Ok((channel.company_id, Some(channel.id.to_string())));
        }
        match &session.companies(None).await?[..] {
            [only] => Ok((only.id, None)),
            _ => Err(misused("say whose send it is: give --company, --channel, or a key with --key-file")),
        }
    }
}

fn misused(sentence: &str) -> anyhow::Error {
    Misused(sentence.to_owned()).into()
}

fn value_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    if is_value_name(name) {
        Ok(name.to_owned())
    } else {
        Err("a value's name has 1 to 40 lower-case letters, digits and underscores, such as order".to_owned())
    }
}

fn value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a value is given with its name, such as shop=Acme")?;
    Ok((value_name(name)?, value.to_owned()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn read(line: &str) -> Result<Arguments, String> {
        let line = Line::try_parse_from(format!("send {line}").split_whitespace());
        let arguments = line.map_err(|error| error.to_string())?.arguments;
        arguments.what().map_err(|error| error.to_string())?;
        Ok(arguments)
    }

    #[test]
    fn contradicting_arguments_are_refused_with_a_remedy() {
        for (line, words) in [
            ("--to +5511988887777", "--text"),
            ("--text hello", "--to"),
            ("--text hello --template order --to +5511988887777", "cannot be used with"),
            ("--text hello --to 0800", "international form"),
            ("--text hello --to +5511988887777 people.csv", "cannot be used with"),
            ("--text hello --to +5511988887777 --parameter name", "cannot be used with"),
            ("--text hello --to +5511988887777 --language en", "--template-instead"),
            ("--template order --to +5511988887777 --template-instead order", "cannot be used with"),
            ("--template order people.csv --parameter Name", "lower-case"),
            ("--template order people.csv --value shop", "shop=Acme"),
            ("--template order people.csv --map order", "COLUMN=USE"),
            ("--text hello --map a=b", "<FILE>"),
            ("--text hello --to +5511988887777 --at 2020-01-01T00:00:00Z", "future"),
            ("--text hello --to +5511988887777 --dry-run --results a.csv", "cannot be used with"),
        ] {
            let error = read(line).unwrap_err();
            assert!(error.contains(words), "{line}: {error}");
        }
        let fine = read("people.csv --template order --value shop=A=B --parameter name").unwrap();
        assert_eq!(fine.values, [("shop".to_owned(), "A=B".to_owned())]);
        assert!(read(&format!("people.csv --follow {} --results a.csv", Uuid::nil())).is_ok());
        let both = "people.csv --text hello --template-instead order --language en --parameter name";
        let What::Send(content) = read(both).unwrap().what().unwrap() else { panic!("{both}") };
        let template = content.template().unwrap();
        assert_eq!((template.name.as_str(), template.language.as_deref()), ("order", Some("en")));
    }
}

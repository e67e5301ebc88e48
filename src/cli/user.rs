//! `pombo user`: people who sign in to the console. Pombo sends no e-mail: links are printed, to be passed
//! on.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use serde::Serialize;
use uuid::Uuid;

use super::failure::Misused;
use super::output::{Columns, Listed};
use super::session::Session;
use super::{argument, secret_input};
use crate::accounts::{self, Error, NewLink, User};
use crate::api::records;
use crate::clock::Timestamp;
use crate::domain::nearest::nearest;
use crate::domain::page::PageRequest;
use crate::domain::user::{Email, Role};

/// Users in each read of the store.
const PAGE: u64 = 500;

/// The rights of a user.
#[derive(Debug, Args)]
pub(super) struct Rights {
    /// The company's name or id
    #[arg(long, value_name = "COMPANY", required_unless_present = "operator")]
    company: Option<String>,
    /// What the user may do in the company: owner, member, viewer or agent
    #[arg(long, value_name = "ROLE", default_value = "member", requires = "company", value_parser = argument::role)]
    role: Role,
    /// Let the user operate every company
    #[arg(long)]
    operator: bool,
}

#[derive(Debug, Args)]
pub(super) struct Create {
    /// The user's e-mail address, which no other user has
    #[arg(value_parser = argument::email)]
    email: Email,
    /// The user's name; without it, the e-mail address
    #[arg(long, value_parser = argument::name)]
    name: Option<String>,
    #[command(flatten)]
    rights: Rights,
    /// The file with the first password; - reads standard input. Without it, a link to choose one is printed
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Invite {
    /// The e-mail address
    #[arg(value_parser = argument::email)]
    email: Email,
    /// The name that is suggested
    #[arg(long, value_parser = argument::name)]
    name: Option<String>,
    #[command(flatten)]
    rights: Rights,
}

#[derive(Debug, Args)]
pub(super) struct Disable {
    /// The user's e-mail address
    #[arg(value_parser = argument::email)]
    email: Email,
    /// Let the user sign in again
    #[arg(long)]
    undo: bool,
}

#[derive(Debug, Args)]
pub(super) struct Reset {
    /// The user's e-mail address
    #[arg(value_parser = argument::email)]
    email: Email,
    /// Remove the second factor too, for a user who lost it
    #[arg(long)]
    totp: bool,
}

#[derive(Debug, Args)]
pub(super) struct SignIn {
    /// The user's e-mail address
    #[arg(value_parser = argument::email)]
    email: Email,
}

/// A user: the operator API's record, and the user's status.
#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    user: records::User,
    status: &'static str,
    totp: bool,
}

/// A user, and the link that was created for the user.
#[derive(Serialize)]
struct Linked {
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    user: Option<Record>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
}

impl From<User> for Record {
    fn from(user: User) -> Self {
        let status = match user.disabled_at {
            Some(_) => "disabled",
            None if user.has_password => "active",
            None => "pending",
        };
        Self { status, totp: user.has_totp, user: user.into() }
    }
}

impl Listed for Record {
    const COLUMNS: Columns<Self> = &[
        ("e-mail", |Self { user, .. }| user.email.clone()),
        ("name", |Self { user, .. }| user.name.clone()),
        ("status", |Self { status, .. }| (*status).to_owned()),
        ("operator", |Self { user, .. }| yes(user.is_operator)),
        ("second factor", |Self { totp, .. }| yes(*totp)),
        ("created at", |Self { user, .. }| user.created_at.to_string()),
    ];
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

impl Linked {
    fn new(session: &Session, user: Option<User>, link: Option<&NewLink>) -> Self {
        let url = link.map(|link| format!("{}{}", session.public_url(), link.path()));
        Self { user: user.map(Record::from), link: url, expires_at: link.map(|link| link.expires_at) }
    }

    fn said(&self) -> String {
        let (Some(link), Some(end)) = (&self.link, self.expires_at) else { return String::new() };
        format!("{link}\n\nThis link is valid once, until {end}. It is shown only once: pass it on now.")
    }
}

/// The company that is named, and the role in it.
async fn company(session: &Session, rights: &Rights) -> anyhow::Result<Option<(Uuid, Role)>> {
    let Some(name) = &rights.company else { return Ok(None) };
    Ok(Some((session.company(name).await?.id, rights.role)))
}

pub(super) async fn create(session: &Session, arguments: Create) -> anyhow::Result<()> {
    let Create { email, name, rights, password_file } = arguments;
    let password = password_file.as_deref().map(secret_input::read_password).transpose()?;
    let accounts = session.accounts();
    let create = accounts::Create {
        email: email.as_str(),
        name: name.as_deref().unwrap_or(email.as_str()),
        password: password.as_ref().map(|password| password.expose()),
        company: company(session, &rights).await?,
        is_operator: rights.operator,
    };
    let user = accounts.create(&session.who(), create).await.map_err(|error| match error {
        Error::Exists => anyhow!("there is a user {email} already; `pombo user list` shows the users"),
        Error::CommonPassword => {
            let sentence = "the password is easy to guess: it is common, or made of the user's own data; choose another \
                            one, such as a sentence";
            Misused(sentence.to_owned()).into()
        }
        other => other.into(),
    })?;
    if password.is_some() {
        let said = format!("user {email} can sign in now, with the given password");
        return session.output.record(&Linked::new(session, Some(user), None), &said);
    }
    let link = accounts.reset(&session.who(), &user).await?;
    let linked = Linked::new(session, Some(user), Some(&link));
    let said = format!("user {email} chooses a password here:\n{}", linked.said());
    session.output.record(&linked, &said)
}

pub(super) async fn invite(session: &Session, arguments: Invite) -> anyhow::Result<()> {
    let Invite { email, name, rights } = arguments;
    let invite = accounts::Invite {
        email: email.as_str(),
        name: name.as_deref().unwrap_or_default(),
        company: company(session, &rights).await?,
        is_operator: rights.operator,
    };
    let link = session.accounts().invite(&session.who(), invite).await?;
    let linked = Linked::new(session, None, Some(&link));
    session.output.record(&linked, &linked.said())
}

pub(super) async fn list(session: &Session) -> anyhow::Result<()> {
    let (accounts, mut records) = (session.accounts(), Vec::<Record>::new());
    for page in 1.. {
        let found = accounts.users(PageRequest { page, limit: PAGE }, None).await?;
        let is_last = page >= found.pages(PAGE).into();
        records.extend(found.records.into_iter().map(Record::from));
        if is_last {
            break;
        }
    }
    session.output.list(&records, "there are no users; add one with `pombo user create EMAIL --operator`")
}

pub(super) async fn disable(session: &Session, Disable { email, undo }: Disable) -> anyhow::Result<()> {
    let user = find(session, &email).await?;
    let accounts = session.accounts();
    let changed = accounts.set_disabled(&session.who(), &user, !undo).await?;
    let said = match (undo, changed) {
        (false, true) => format!("user {email} is signed out and cannot sign in"),
        (false, false) => format!("user {email} was disabled before"),
        (true, true) => format!("user {email} can sign in again"),
        (true, false) => format!("user {email} is not disabled"),
    };
    session.output.record(&Record::from(accounts.user(user.id).await?), &said)
}

pub(super) async fn reset(session: &Session, Reset { email, totp }: Reset) -> anyhow::Result<()> {
    let user = find(session, &email).await?;
    let accounts = session.accounts();
    if totp {
        accounts.forget_totp(&session.who(), &user).await?;
    }
    let link = accounts.reset(&session.who(), &user).await?;
    let linked = Linked::new(session, Some(accounts.user(user.id).await?), Some(&link));
    session.output.record(&linked, &linked.said())
}

pub(super) async fn sign_in(session: &Session, SignIn { email }: SignIn) -> anyhow::Result<()> {
    let user = find(session, &email).await?;
    let link = session.accounts().sign_in_link(&session.who(), &user).await?;
    let linked = Linked::new(session, Some(user), Some(&link));
    session.output.record(&linked, &linked.said())
}

/// The user that an argument names.
async fn find(session: &Session, email: &Email) -> anyhow::Result<User> {
    let accounts = session.accounts();
    match accounts.user_by_email(email.as_str()).await {
        Err(Error::NotFound) => {}
        found => return Ok(found?),
    }
    let users = accounts.users(PageRequest { page: 1, limit: PAGE }, None).await?;
    let near = nearest(email.as_str(), users.records.iter().map(|user| user.email.as_str()));
    Err(match near {
        Some(near) => anyhow!("there is no user {email}; did you mean {near}?"),
        None => anyhow!("there is no user {email}; `pombo user list` shows all users"),
    })
}

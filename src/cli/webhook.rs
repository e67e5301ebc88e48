//! `pombo webhook`: the endpoints of companies, to which their events are sent.
//!
//! A running service follows each change within a second. Tests of an endpoint are left to its API: they need a service.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::argument::{self, MaybeOfCompany, OfCompany};
use super::failure::Misused;
use super::secret_input;
use super::session::Session;
use super::webhook_record::Record;
use super::webhook_settings::EndpointArguments;
use crate::api::records;
use crate::app::key_proof::require_to_seal;
use crate::clock::Timestamp;
use crate::connector::webhook::Sender;
use crate::domain::error::Refusal;
use crate::domain::page::PageRequest;
use crate::domain::webhook::{ReplayOf, ReplayRequest, Resume, Settings, Shape, types_of};
use crate::engine::{
    CheckedEndpoint, EndpointChange, EndpointRules, ShownEndpoint, StoredEndpoints, checked_secret,
    former_until, unverified_receiver,
};
use crate::store::companies::Company;
use crate::store::webhooks::{Changing, Replaying};

#[derive(Debug, Args)]
pub(super) struct Show {
    /// The endpoint's id, as `pombo webhook list` shows it
    id: Uuid,
}

#[derive(Debug, Args)]
pub(super) struct Add {
    #[command(flatten)]
    of: OfCompany,
    /// The address of the receiver, which begins with https://
    url: String,
    #[command(flatten)]
    given: EndpointArguments,
    /// In the shape graph: the file with the token that the receiver expects, which is asked once before the endpoint is added; -
    /// reads standard input
    #[arg(long, value_name = "FILE")]
    verify_token_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Change {
    /// The endpoint's id, as `pombo webhook list` shows it
    id: Uuid,
    /// The address of the receiver, which begins with https://
    #[arg(long)]
    url: Option<String>,
    #[command(flatten)]
    given: EndpointArguments,
    /// The default types of events from now on
    #[arg(long, conflicts_with = "types")]
    default_types: bool,
    /// The events of all channels from now on
    #[arg(long, conflicts_with = "channels")]
    all_channels: bool,
    /// No headers of its own from now on
    #[arg(long, conflicts_with = "headers_file")]
    no_headers: bool,
}

#[derive(Debug, Args)]
pub(super) struct Enable {
    /// The endpoint's id, as `pombo webhook list` shows it
    id: Uuid,
    /// Only events that happen from now on; without it, those that waited come first
    #[arg(long)]
    from_now: bool,
}

#[derive(Debug, Args)]
pub(super) struct Disable {
    /// The endpoint's id, as `pombo webhook list` shows it
    id: Uuid,
}

#[derive(Debug, Args)]
pub(super) struct RotateSecret {
    /// The endpoint's id, as `pombo webhook list` shows it
    id: Uuid,
    /// How long the former secret signs, too, at most 7d; 0s for not at all
    #[arg(long, value_name = "SPAN", default_value = "24h", value_parser = argument::span)]
    overlap: Duration,
}

#[derive(Debug, Args)]
pub(super) struct Delete {
    /// The endpoint's id, as `pombo webhook list` shows it
    id: Uuid,
}

#[derive(Debug, Args)]
pub(super) struct Deliveries {
    /// The endpoint's id, as `pombo webhook list` shows it
    id: Uuid,
    /// How many to list, the newest first
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    limit: u64,
}

#[derive(Debug, Args)]
pub(super) struct SendAgain {
    /// The endpoint's id, as `pombo webhook list` shows it
    id: Uuid,
    /// Only events that were given up or wait for another attempt
    #[arg(long)]
    failed: bool,
    /// Only these types of events, such as message.failed,send.*; without them, all that it gets
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    types: Vec<String>,
    /// Not those that were written to the log before this time (RFC 3339); from its beginning unless set
    #[arg(long, value_name = "TIME", value_parser = argument::moment)]
    since: Option<Timestamp>,
    /// Not those that were written to the log after this time (RFC 3339); up to now unless set
    #[arg(long, value_name = "TIME", value_parser = argument::moment)]
    until: Option<Timestamp>,
    /// End it: events that are not on their way yet are not sent again
    #[arg(long, conflicts_with_all = ["failed", "types", "since", "until"])]
    end: bool,
}

/// The answer to [`add`], the only one that contains the secret.
#[derive(Serialize)]
struct Created<'a> {
    secret: &'a str,
    #[serde(flatten)]
    record: &'a Record,
}

/// The endpoints of a company in the store.
fn stored<'s>(session: &'s Session, company: &Company) -> StoredEndpoints<'s> {
    StoredEndpoints { company: session.app.store.of(company.id), vault: &session.app.vault }
}

/// Checks an endpoint as the API does.
async fn checked(
    session: &Session,
    company: &Company,
    present: Option<Settings>,
    change: EndpointChange,
) -> anyhow::Result<CheckedEndpoint> {
    let options = &session.app.config.webhooks;
    let sender = Sender::new(options)?;
    let rules = EndpointRules { sender: &sender, schemes: options.schemes() };
    let checked = rules.check(company.id, present, change).await;
    Ok(checked.map_err(|refusal| Misused(refusal.sentence))?)
}

fn unknown(id: Uuid) -> anyhow::Error {
    anyhow!("there is no webhook endpoint {id}; `pombo webhook list` shows the endpoints")
}

/// A change that was not made, as the error that says what to do.
fn require_done(changing: Changing, id: Uuid) -> anyhow::Result<()> {
    match changing {
        Changing::Done => Ok(()),
        Changing::Outdated => Err(anyhow!("endpoint {id} was changed meanwhile; run the command again")),
        Changing::NoEndpoint => Err(unknown(id)),
    }
}

/// The endpoint of this id, and its company.
async fn find(session: &Session, id: Uuid) -> anyhow::Result<(ShownEndpoint, Company)> {
    let record = session.app.store.webhooks().find(id).await?.ok_or_else(|| unknown(id))?;
    let company = session.company(&record.endpoint.company_id.to_string()).await?;
    let shown = stored(session, &company).find(id).await?.ok_or_else(|| unknown(id))?;
    Ok((shown, company))
}

/// Prints the endpoint as it is after a change.
async fn print(session: &Session, id: Uuid, said: &str) -> anyhow::Result<()> {
    let (shown, company) = find(session, id).await?;
    session.output.record(&Record::new(shown, &company), said)
}

pub(super) async fn list(session: &Session, arguments: MaybeOfCompany) -> anyhow::Result<()> {
    let mut records = Vec::new();
    for company in session.companies(arguments.company.as_deref()).await? {
        let all = stored(session, &company).list().await?;
        records.extend(all.into_iter().map(|shown| Record::new(shown, &company)));
    }
    let empty = "there are no webhook endpoints; `pombo webhook add --help` says how to add one";
    session.output.list(&records, empty)
}

pub(super) async fn show(session: &Session, Show { id }: Show) -> anyhow::Result<()> {
    let (shown, company) = find(session, id).await?;
    let record = Record::new(shown, &company);
    if session.output.json {
        session.output.record(&record, "")
    } else {
        session.output.table(&[], record.fields().into_iter())
    }
}

pub(super) async fn add(session: &Session, arguments: Add) -> anyhow::Result<()> {
    let Add { of, url, given, verify_token_file } = arguments;
    let company = session.company(&of.company).await?;
    let new = EndpointChange { url: Some(url), ..given.read(session, &company).await? };
    let (url, shape) = (new.url.clone().unwrap_or_default(), new.shape.unwrap_or_default());
    let new = checked(session, &company, None, new).await?;
    if let Some(file) = verify_token_file {
        if shape != Shape::Graph {
            let sentence = "--verify-token-file is for the shape graph: others are not verified";
            return Err(Misused(sentence.to_owned()).into());
        }
        let token = secret_input::read(&file)?;
        let verified = Sender::new(&session.app.config.webhooks)?.verify(company.id, &url, &token).await;
        verified.map_err(|unverified| Misused(unverified_receiver(&unverified).sentence))?;
    }
    require_to_seal(&session.app).await?;
    let secret = checked_secret(None, shape).map_err(|refusal| Misused(refusal.sentence))?;
    let (shown, secret) = stored(session, &company).add(&session.who(), new, secret).await??;
    let record = Record::new(shown, &company);
    let (secret, records::Webhook { id, url, .. }) = (secret.expose(), &record.webhook);
    let said = format!(
        "{secret}\n\nThis is the secret of endpoint {id} of {}, with which {url} verifies what it gets. It is shown only \
         once: store it now. A running service sends events within a second.",
        company.name
    );
    session.output.record(&Created { secret, record: &record }, &said)
}

pub(super) async fn change(session: &Session, arguments: Change) -> anyhow::Result<()> {
    let Change { id, url, given, default_types, all_channels, no_headers } = arguments;
    let (shown, company) = find(session, id).await?;
    let mut change = EndpointChange { url, ..given.read(session, &company).await? };
    if default_types {
        change.types = Some(Vec::new());
    }
    if all_channels {
        change.channels = Some(Vec::new());
    }
    if no_headers {
        change.headers = Some(Vec::new());
    }
    if change == EndpointChange::default() {
        let sentence = "there is nothing to change; `pombo webhook change --help` lists the settings";
        return Err(Misused(sentence.to_owned()).into());
    }
    let has_headers = change.headers.is_some();
    let changed = checked(session, &company, Some(shown.endpoint.settings), change).await?;
    if has_headers {
        require_to_seal(&session.app).await?;
    }
    require_done(stored(session, &company).change(&session.who(), id, changed).await??, id)?;
    let said = format!("endpoint {id} is changed; a running service follows within a second");
    print(session, id, &said).await
}

pub(super) async fn enable(session: &Session, Enable { id, from_now }: Enable) -> anyhow::Result<()> {
    let (shown, company) = find(session, id).await?;
    if shown.endpoint.is_enabled() {
        return print(session, id, &format!("endpoint {id} is enabled already")).await;
    }
    let (resume, first) = match from_now {
        true => (Resume::FromNow, "what happens from now on"),
        false => (Resume::CatchUp, "the events that waited first"),
    };
    let webhooks = session.app.store.of(company.id).webhooks();
    webhooks.enable(&session.who(), id, resume).await?.ok_or_else(|| unknown(id))?;
    let said = format!("endpoint {id} is enabled; a running service sends it {first}, within a second");
    print(session, id, &said).await
}

pub(super) async fn disable(session: &Session, Disable { id }: Disable) -> anyhow::Result<()> {
    let (shown, company) = find(session, id).await?;
    if !shown.endpoint.is_enabled() {
        return print(session, id, &format!("endpoint {id} is disabled already")).await;
    }
    let webhooks = session.app.store.of(company.id).webhooks();
    webhooks.disable(&session.who(), id).await?.ok_or_else(|| unknown(id))?;
    let said = format!(
        "endpoint {id} is disabled; a running service sends it nothing more within a second, and its events wait\n\
         undo it: pombo webhook enable {id}"
    );
    print(session, id, &said).await
}

pub(super) async fn rotate_secret(session: &Session, arguments: RotateSecret) -> anyhow::Result<()> {
    let RotateSecret { id, overlap } = arguments;
    let (shown, company) = find(session, id).await?;
    let shape = shown.endpoint.settings.shape;
    let former_until = former_until(overlap).map_err(|refusal| Misused(refusal.sentence))?;
    require_to_seal(&session.app).await?;
    let secret = checked_secret(None, shape).map_err(|refusal| Misused(refusal.sentence))?;
    require_done(stored(session, &company).rotate(&session.who(), id, &secret, former_until).await?, id)?;
    let secret = secret.expose();
    let former = match former_until {
        Some(until) => format!("the former one signs, too, until {until}"),
        None => "the former one does not sign any more".to_owned(),
    };
    let said = format!(
        "{secret}\n\nThis is the new secret of endpoint {id}; {former}. It is shown only once: store it now. A running \
         service signs with it within a second."
    );
    session.output.record(&json!({ "id": id, "secret": secret, "former_until": former_until }), &said)
}

pub(super) async fn delete(session: &Session, Delete { id }: Delete) -> anyhow::Result<()> {
    let (_, company) = find(session, id).await?;
    if !session.app.store.of(company.id).webhooks().remove(&session.who(), id).await? {
        return Err(unknown(id));
    }
    let said = format!("endpoint {id} is deleted; a running service sends it nothing more within a second");
    session.output.record(&json!({ "id": id, "status": "deleted" }), &said)
}

pub(super) async fn send_again(session: &Session, arguments: SendAgain) -> anyhow::Result<()> {
    let SendAgain { id, failed, types, since, until, end } = arguments;
    let (_, company) = find(session, id).await?;
    let webhooks = session.app.store.of(company.id).webhooks();
    if end {
        if !webhooks.end_replay(&session.who(), id).await? {
            return Err(unknown(id));
        }
        return print(session, id, &format!("no further events are sent to endpoint {id} again")).await;
    }
    let misused = |refusal: Refusal| Misused(refusal.sentence);
    let types = types_of(types.iter().map(String::as_str)).map_err(misused)?;
    let of = if failed { ReplayOf::Failed } else { ReplayOf::All };
    let request = ReplayRequest { of, types, since, until }.checked().map_err(misused)?;
    let said = match webhooks.replay(&session.who(), id, request).await? {
        Replaying::NoEndpoint => return Err(unknown(id)),
        Replaying::Busy => {
            return Err(anyhow!(
                "endpoint {id} already gets events again; wait until that has ended, or end it: pombo webhook send-again \
                 {id} --end"
            ));
        }
        Replaying::Begins => {
            format!(
                "a running service begins within a second to send events to endpoint {id} again\n\
                 see when it has ended: pombo webhook show {id}"
            )
        }
    };
    print(session, id, &said).await
}

pub(super) async fn deliveries(session: &Session, arguments: Deliveries) -> anyhow::Result<()> {
    let Deliveries { id, limit } = arguments;
    let (_, company) = find(session, id).await?;
    let newest = PageRequest { page: 1, limit };
    let found = session.app.store.of(company.id).webhooks().deliveries(id, newest).await?;
    let records: Vec<_> = found.records.into_iter().map(records::WebhookDelivery::from).collect();
    session.output.list(&records, "there were no requests to this endpoint in the last 7 days")
}

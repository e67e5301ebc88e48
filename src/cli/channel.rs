//! `pombo channel`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use uuid::Uuid;

use super::argument::{self, MaybeOfCompany, OfChannel, OfCompany};
use super::channel_record::Record;
use super::failure::Misused;
use super::session::Session;
use super::{secret_input, tier};
use crate::app::key_proof::require_to_seal;
use crate::clock::Timestamp;
use crate::domain::channel::{Kind, Status};
use crate::domain::page::PageRequest;
use crate::domain::rate::Rate;
use crate::domain::tier::{Assignment, OwnOptions};
use crate::store;
use crate::store::channels::{NewChannel, Sealed};
use crate::vault::context;

/// Channels read from the store at once.
const PAGE: u64 = 1000;

#[derive(Debug, Args)]
pub(super) struct AddBusiness {
    #[command(flatten)]
    of: OfCompany,
    /// The name that the company gives the channel
    #[arg(long, value_parser = argument::name)]
    name: String,
    /// The number in international form
    #[arg(long, value_parser = argument::phone_number)]
    phone_number: String,
    /// The provider's id of the number
    #[arg(long, value_parser = argument::provider_id)]
    phone_number_id: String,
    /// The provider's id of the business account
    #[arg(long, value_parser = argument::provider_id)]
    waba_id: String,
    /// The file with the provider's access token; - reads standard input
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// The file with the app secret that signs the provider's webhooks; - reads standard input
    #[arg(long, value_name = "FILE")]
    app_secret_file: Option<PathBuf>,
    /// The tier to run under; without it, the company's
    #[arg(long)]
    tier: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct AddWeb {
    #[command(flatten)]
    of: OfCompany,
    /// The name that the company gives the channel
    #[arg(long, value_parser = argument::name)]
    name: String,
    /// The tier to run under; without it, the company's if it is for web sessions, else web-new
    #[arg(long)]
    tier: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct Show {
    #[command(flatten)]
    of: OfChannel,
}

#[derive(Debug, Args)]
pub(super) struct Reconnect {
    #[command(flatten)]
    of: OfChannel,
    /// The file with a new access token; - reads standard input. Without it, the stored token is tried again
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct SetTier {
    #[command(flatten)]
    of: OfChannel,
    /// The tier to run under
    tier: String,
    /// Options for which the channel has values of its own, such as messages_per_second=20/s; without any, the tier alone
    /// counts
    #[arg(value_name = "OPTION=VALUE")]
    options: Vec<Assignment>,
    /// For this long only, such as 2h; then the tier and the options count again that the channel had for good
    #[arg(long = "for", value_name = "SPAN", value_parser = argument::span, conflicts_with = "until")]
    span: Option<Duration>,
    /// Until this time only, such as 2026-11-27T18:00:00Z
    #[arg(long, value_name = "TIME", value_parser = argument::future)]
    until: Option<Timestamp>,
}

pub(super) async fn add_business(session: &Session, arguments: AddBusiness) -> anyhow::Result<()> {
    let AddBusiness { of, name, phone_number, phone_number_id, waba_id, token_file, app_secret_file, tier } =
        arguments;
    let both = app_secret_file.iter().chain([&token_file]);
    if both.filter(|file| secret_input::is_standard_input(file)).count() > 1 {
        let sentence = "standard input holds one secret only; give the other one in a file";
        return Err(Misused(sentence.to_owned()).into());
    }
    let company = session.company(&of.company).await?;
    let tier = tier::choose(session, tier, &company.tier, Kind::BusinessAccount).await?;
    let (id, vault) = (Uuid::now_v7(), &session.app.vault);
    let token = secret_input::read(&token_file)?;
    let app_secret = app_secret_file.as_deref().map(secret_input::read).transpose()?;
    require_to_seal(&session.app).await?;
    let _hold = vault.hold();
    let secrets = Sealed {
        token: Some(vault.seal(token.expose().as_bytes(), &context::token(id))),
        app_secret: app_secret.map(|secret| vault.seal(secret.expose().as_bytes(), &context::app_secret(id))),
    };
    let new = NewChannel {
        id,
        company_id: company.id,
        kind: Kind::BusinessAccount,
        name,
        phone_number: Some(phone_number),
        phone_number_id: Some(phone_number_id.clone()),
        waba_id: Some(waba_id),
        tier,
        secrets,
        status: Status::Connecting,
    };
    let channel = session.app.store.channels().add(&session.who(), new).await.map_err(|error| match error {
        store::Error::Taken(_) => anyhow!(
            "there is a channel with the phone number id {phone_number_id} already; a number belongs to one channel: \
             find it with `pombo channel list`, and give it a new token with `pombo channel reconnect`"
        ),
        other => other.into(),
    })?;
    let said = format!(
        "channel {} is {id}; a running service connects it within a second\n\
         next: pombo template sync --channel {id}",
        channel.name
    );
    session.output.record(&Record::new(channel, &company.name), &said)
}

pub(super) async fn add_web(session: &Session, AddWeb { of, name, tier }: AddWeb) -> anyhow::Result<()> {
    let company = session.company(&of.company).await?;
    let tier = tier::choose(session, tier, &company.tier, Kind::WebSession).await?;
    let new = NewChannel {
        id: Uuid::now_v7(),
        company_id: company.id,
        kind: Kind::WebSession,
        name,
        phone_number: None,
        phone_number_id: None,
        waba_id: None,
        tier,
        secrets: Sealed::default(),
        status: Status::Pairing,
    };
    let channel = session.app.store.channels().add(&session.who(), new).await?;
    let said = format!(
        "channel {} is {id}; it waits for a phone\nnext: pombo channel pair {id}",
        channel.name,
        id = channel.id
    );
    session.output.record(&Record::new(channel, &company.name), &said)
}

pub(super) async fn list(session: &Session, arguments: MaybeOfCompany) -> anyhow::Result<()> {
    let mut records = Vec::new();
    let mut ends = session.app.store.channels().tier_ends().await?;
    for company in session.companies(arguments.company.as_deref()).await? {
        for kind in [Kind::BusinessAccount, Kind::WebSession] {
            for page in 1.. {
                let request = PageRequest { page, limit: PAGE };
                let found = session.app.store.of(company.id).channels().of_kind(kind, request, None).await?;
                let is_last = page >= found.pages(PAGE).into();
                records.extend(found.records.into_iter().map(|channel| {
                    let end = ends.remove(&channel.id);
                    Record::new(channel, &company.name).until(end)
                }));
                if is_last {
                    break;
                }
            }
        }
    }
    session
        .output
        .list(&records, "there are no channels; `pombo channel add-business --help` says how to add one")
}

pub(super) async fn show(session: &Session, Show { of }: Show) -> anyhow::Result<()> {
    let channel = session.channel(&of.channel).await?;
    let company = session.company(&channel.company_id.to_string()).await?;
    let end = session.app.store.channels().tier_end(channel.id).await?;
    // A tier that is gone or cannot be read has no pace to compare.
    let pace = tier::find(session, &channel.tier, None)
        .await
        .map_or(Rate::UNLIMITED, |tier| tier.messages_per_second);
    let record = Record::new(channel, &company.name).until(end).hinting(pace);
    if session.output.json {
        session.output.record(&record, "")
    } else {
        session.output.table(&[], record.fields().into_iter())
    }
}

pub(super) async fn reconnect(session: &Session, arguments: Reconnect) -> anyhow::Result<()> {
    let Reconnect { of, token_file } = arguments;
    let channel = session.channel(&of.channel).await?;
    let id = channel.id;
    if channel.kind == Kind::WebSession {
        return Err(anyhow!(
            "the channel `{}` is a web session, which a phone links; it has no token",
            channel.name
        ));
    }
    let token = token_file.as_deref().map(secret_input::read).transpose()?;
    if token.is_some() {
        require_to_seal(&session.app).await?;
    }
    let _hold = session.app.vault.hold();
    let (store, vault, context) = (&session.app.store, &session.app.vault, context::token(id));
    let known = store.channels().secrets(id).await?.and_then(|secrets| secrets.token);
    let token = token.filter(|token| !vault.is_sealed(known.as_deref(), token, &context));
    let sealed = token.map(|token| vault.seal(token.expose().as_bytes(), &context));
    store.channels().reconnect(&session.who(), id, sealed).await?;
    let channel = session.channel(&id.to_string()).await?;
    let company = session.company(&channel.company_id.to_string()).await?;
    let said = format!(
        "channel {} is connecting; a running service connects it within a second, and its queue continues\n\
         see how it went: pombo channel show {id}",
        channel.name
    );
    session.output.record(&Record::new(channel, &company.name), &said)
}

pub(super) async fn set_tier(session: &Session, arguments: SetTier) -> anyhow::Result<()> {
    let SetTier { of, tier, options, span, until } = arguments;
    let channel = session.channel(&of.channel).await?;
    let id = channel.id;
    let tier = tier::find(session, &tier, Some(channel.kind)).await?;
    let own = OwnOptions::written(&options, &tier)
        .map_err(|faults| Misused(format!("nothing was changed:\n  {}", faults.join("\n  "))))?;
    let tier = tier.name;
    let until = until.or_else(|| span.map(|span| Timestamp::now().plus(span)));
    let channels = session.app.store.channels();
    let before = channels.tier_end(id).await?;
    channels.set_tier(&session.who(), id, (&tier, &own), until).await?;
    let company = session.company(&channel.company_id.to_string()).await?;
    let end = channels.tier_end(id).await?;
    let said = if channel.tier == tier && channel.own_options == own && before == end {
        format!("channel {} is under the tier {tier} already", channel.name)
    } else {
        let then =
            end.as_ref().map_or_else(String::new, |end| format!(" until {}, then {}", end.at, end.tier));
        let before = &channel.tier;
        let with = if own.is_empty() { String::new() } else { format!(" with {}", own.line()) };
        format!(
            "channel {}: tier {before} → {tier}{with}{then}; a running service follows within a second",
            channel.name
        )
    };
    let channel = session.channel(&id.to_string()).await?;
    session.output.record(&Record::new(channel, &company.name).until(end), &said)
}

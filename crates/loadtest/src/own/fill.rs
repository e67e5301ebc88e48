//! Fills the new database: companies with their keys, channels, tiers and contacts.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use uuid::Uuid;

use super::{NAME, OwnChannel, OwnCompany, data};
use crate::child::Child;
use crate::client::Named;
use crate::people::People;
use crate::program::Program;
use crate::{Event, Plan};
use clock::Timestamp;
use config::Secrets;
use domain::channel::{Kind, Status};
use domain::rate::Rate;
use domain::scope::Scopes;
use domain::secret::Secret;
use domain::tier;
use store::Store;
use store::api_keys::NewKey;
use store::changes::Who;
use store::channels::{NewChannel, Sealed};
use store::scratch::Scratch;
use vault::{Vault, api_key, context};

/// Contacts in each write.
const LOT: usize = 2_000;
/// The ids of the first number and of the first account at the simulator, which accepts every id.
const FIRST_NUMBER_ID: u64 = 106_540_352_242_922;
const FIRST_ACCOUNT_ID: u64 = 102_290_129_340_398;
/// The number before the first channel's.
const NUMBERS: u64 = 999_600_000_000;
const TOKEN: &[u8] = b"loadtest-token";
/// The secret that signs the simulator's webhooks.
pub(super) const APP_SECRET: &str = "loadtest-app-secret";

/// What the database was filled with.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) store: Store,
    pub(super) companies: Vec<OwnCompany>,
    pub(super) tiers: Vec<String>,
    pub(super) seeding: Duration,
}

/// Companies with a key, channels and contacts, in a new database.
pub(super) async fn fill(
    plan: &Plan,
    program: &impl Program,
    place: &Path,
    simulator: &Child,
    scratch: Option<&Scratch>,
    hear: &mut impl FnMut(Event<'_>) -> bool,
) -> anyhow::Result<Filled> {
    let mut config = plan.config.clone();
    config.data.dir = data(place, 1);
    config.database.url = scratch.map(|scratch| Secret::new(scratch.url().to_owned()));
    config.database.migrate = true;
    // The database is filled before the measurement, so its load does not matter.
    config.database.statement_timeout = Duration::ZERO;
    config.secrets = Secrets { key: None, previous_keys: Vec::new(), key_file: None };
    config.cloud_api.base_url.clone_from(&simulator.base_url);
    config.server.bind = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    // The key is created before the app looks for it, because a new key of a load test needs no warning.
    std::fs::create_dir_all(&config.data.dir)?;
    Vault::open(&config.secrets, &config.data.dir)?;
    let (store, vault) = program.open(config).await?;

    let tiers: Vec<_> =
        plan.rates.iter().enumerate().map(|(place, _)| named(place, plan.rates.len())).collect();
    apply(&store, tiers.iter().map(String::as_str).zip(plan.rates.iter().copied())).await?;
    let mut companies = Vec::new();
    let mut seeding = Duration::ZERO;
    let mut done = 0;
    for number in 0..plan.companies.max(1) {
        let name = named(number as usize, plan.companies as usize);
        let id = store.companies().add(&Who::Pombo, &name, &name).await?.id;
        let key = add_key(&store, id).await?;
        let mut channels = Vec::new();
        for place in 0..plan.channels.max(1) {
            let place = u64::from(number * plan.channels.max(1) + place);
            let tier = &tiers[usize::try_from(place).unwrap_or_default() % tiers.len().max(1)];
            channels.push(add_channel(program, &store, &vault, (id, number), place, tier).await?);
        }
        let people =
            People { contacts: share(plan.contacts, plan.companies.max(1), number), tags: plan.tags };
        let begun = Instant::now();
        let mut tell = |lot: u64| {
            done += lot;
            hear(Event::Seeding { done, total: plan.contacts.into() })
        };
        let tags = seed(&store, id, people, &mut tell).await?;
        seeding += begun.elapsed();
        companies.push(OwnCompany { name, key, channels, tags, people });
    }
    Ok(Filled { store, companies, tiers, seeding })
}

/// The name of one of several, or of the only one.
fn named(place: usize, of: usize) -> String {
    if of > 1 { format!("{NAME}-{}", place + 1) } else { NAME.to_owned() }
}

/// A company's share of the contacts, at least one.
fn share(contacts: u32, companies: u32, place: u32) -> u32 {
    (contacts / companies + u32::from(place < contacts % companies)).max(1)
}

async fn add_key(store: &Store, company: Uuid) -> anyhow::Result<Secret> {
    let (key, prefix) = api_key::generate();
    let hash = api_key::hash(key.expose());
    let new = NewKey { name: NAME, prefix: &prefix, hash, expires_at: None, scopes: Scopes::ALL };
    store.of(company).keys().add(&Who::Pombo, new).await?;
    Ok(key)
}

/// Writes the contacts. `tell` hears how many were written, and returns whether to stop.
async fn seed(
    store: &Store,
    company: Uuid,
    people: People,
    tell: &mut impl FnMut(u64) -> bool,
) -> anyhow::Result<Vec<(Named, u64)>> {
    let mut tags = Vec::new();
    for (number, expected) in (1..).zip(people.recipients()) {
        let name = format!("group {number}");
        let id = store.of(company).tags().ensure(&name, None).await?;
        tags.push((Named { id, name }, expected));
    }
    for (its, lot) in people.lots(LOT) {
        let its: Vec<_> = its.iter().filter_map(|tag| Some(tags.get(*tag as usize)?.0.id)).collect();
        let lot: Vec<_> = lot.into_iter().map(|person| (Uuid::now_v7(), person)).collect();
        store.of(company).contacts().add(&lot, &its, Timestamp::now()).await?;
        if tell(lot.len() as u64) {
            bail!("ended before anything was measured");
        }
    }
    store.contacts().grew().await?;
    // With more tags than contacts, some tags have no contact.
    tags.retain(|(_, expected)| *expected > 0);
    Ok(tags)
}

/// Gives all tiers of the test this rate, as an operator would while the service runs.
pub(crate) async fn change_tiers(store: &Store, tiers: &[String], rate: Rate) -> anyhow::Result<()> {
    apply(store, tiers.iter().map(|tier| (tier.as_str(), rate))).await
}

/// Tiers with these rates, and without a limit for pairs: contacts have several tags, and a tag may be sent to
/// several times.
async fn apply(store: &Store, rates: impl Iterator<Item = (&str, Rate)>) -> anyhow::Result<()> {
    let built_in = tier::parse(tier::BUILT_IN)
        .map_err(|faults| anyhow!(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))?;
    let model = built_in.into_iter().find(|tier| tier.name == "unlimited").context("no tier `unlimited`")?;
    let mut documents = Vec::new();
    for (name, rate) in rates {
        let mut tier = model.clone();
        name.clone_into(&mut tier.name);
        tier.description = "The rate of this load test.".to_owned();
        tier.messages_per_second = rate;
        documents.push((name.to_owned(), serde_json::to_string(&tier)?));
    }
    store.tiers().apply(&Who::Pombo, &documents).await?;
    Ok(())
}

async fn add_channel(
    program: &impl Program,
    store: &Store,
    vault: &Arc<Vault>,
    (company, number): (Uuid, u32),
    place: u64,
    tier: &str,
) -> anyhow::Result<OwnChannel> {
    let id = Uuid::now_v7();
    let name = if place == 0 { NAME.to_owned() } else { format!("{NAME}-{}", place + 1) };
    let number_id = (FIRST_NUMBER_ID + place).to_string();
    let new = NewChannel {
        id,
        company_id: company,
        kind: Kind::BusinessAccount,
        name: name.clone(),
        phone_number: Some(format!("+{}", NUMBERS + place + 1)),
        phone_number_id: Some(number_id.clone()),
        waba_id: Some((FIRST_ACCOUNT_ID + u64::from(number)).to_string()),
        tier: tier.to_owned(),
        secrets: Sealed {
            token: Some(vault.seal(TOKEN, &context::token(id))),
            app_secret: Some(vault.seal(APP_SECRET.as_bytes(), &context::app_secret(id))),
        },
        status: Status::Connecting,
    };
    let channel = store.channels().add(&Who::Pombo, new).await?;
    program.probe(&channel).await?;
    match store.channels().find(id).await? {
        Some(channel) if channel.connection.status == Status::Connected => {
            Ok(OwnChannel { id, name, number: number_id, tier: tier.to_owned() })
        }
        _ => bail!("the simulator did not confirm the channel"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companies_share_the_contacts_and_names_have_numbers_only_when_there_are_several() {
        let shares: Vec<_> = (0..3).map(|place| share(20, 3, place)).collect();
        assert_eq!(shares, [7, 7, 6]);
        assert_eq!(share(1, 3, 2), 1);
        assert_eq!((named(0, 1), named(1, 2)), ("loadtest".to_owned(), "loadtest-2".to_owned()));
    }
}

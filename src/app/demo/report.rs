//! The report of what there is to try, read from the store once the service runs.

use std::path::PathBuf;

use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::keys::Keys;
use super::plan;
use super::running::{Running, RunningChannel};
use super::seed::Seeded;
use crate::accounts::{self, Accounts, Create};
use crate::domain::channel::Kind;
use crate::domain::page::PageRequest;
use crate::domain::secret::Secret;
use crate::domain::user::Role;
use crate::store::Store;
use crate::store::changes::Who;

/// More channels than a demonstration has.
const ALL: PageRequest = PageRequest { page: 1, limit: 1000 };

/// Everything that a person who tries the service needs to know.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The address of the service, without a slash at the end.
    pub base_url: String,
    /// The address of the simulated provider.
    pub simulator_url: String,
    /// The directory of all data.
    pub directory: PathBuf,
    /// Whether the directory was there before.
    #[serde(rename = "reused")]
    pub is_reused: bool,
    /// The companies, in the order of the plan.
    pub companies: Vec<DemoCompany>,
    /// The web session to try; `None` when it was removed.
    pub phone: Option<Phone>,
    /// The receiver of webhooks of the first company; `None` when the company has no room for its endpoint.
    pub events: Option<EventInbox>,
    /// The user who may open the console.
    pub console: Console,
}

/// The people of a demonstration, each with an address that signs them in, once.
#[derive(Debug, Clone, Serialize)]
pub struct Console {
    /// The owner of the first company.
    pub owner: SignIn,
    /// An operator.
    pub operator: SignIn,
}

/// A person who can sign in.
#[derive(Debug, Clone, Serialize)]
pub struct SignIn {
    /// The person's e-mail address.
    pub email: String,
    /// The address that signs the person in; valid once, for a day.
    #[serde(serialize_with = "exposed")]
    pub url: Secret,
}

/// A web session, and the phone that the simulator plays for it.
#[derive(Debug, Clone, Serialize)]
pub struct Phone {
    /// The channel.
    pub channel_id: Uuid,
    /// The command that links the phone to the channel.
    pub pair_command: String,
    /// The command that sends a text through the channel.
    pub send_command: String,
    /// The address that shows the messages that people got through the channel.
    pub messages_url: String,
}

/// A receiver of webhooks that shows the events that it got.
#[derive(Debug, Clone, Serialize)]
pub struct EventInbox {
    /// The webhook endpoint to which the events are sent.
    pub webhook_id: Uuid,
    /// The address that shows the last events.
    pub url: String,
}

/// A company and what belongs to it.
#[derive(Debug, Clone, Serialize)]
pub struct DemoCompany {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: Uuid,
    /// A key: that of the first start, while it is valid.
    #[serde(serialize_with = "exposed")]
    pub api_key: Secret,
    /// Business accounts in the order of the plan, then web sessions.
    pub channels: Vec<DemoChannel>,
    /// Templates of every status.
    pub templates: Vec<DemoTemplate>,
    /// The tags, with their numbers of contacts.
    pub tags: Vec<DemoTag>,
}

/// A channel.
#[derive(Debug, Clone, Serialize)]
pub struct DemoChannel {
    /// The id of the channel in paths.
    pub id: Uuid,
    /// `business_account` or `web_session`.
    pub kind: &'static str,
    /// The name of the channel.
    pub name: String,
    /// The status in the store.
    pub status: &'static str,
    /// The simulator's id of the number.
    pub phone_number_id: Option<String>,
}

/// A template.
#[derive(Debug, Clone, Serialize)]
pub struct DemoTemplate {
    /// The id, which a send gives as `template_id`.
    pub id: i64,
    /// Its name at the provider.
    pub name: String,
    /// Its language.
    pub language: String,
    /// Only an approved one can be sent.
    pub status: String,
}

/// A tag.
#[derive(Debug, Clone, Serialize)]
pub struct DemoTag {
    /// The id, which a send gives as `contact_tag_id`.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Contacts that have it.
    pub contacts: u64,
    /// Distinct valid numbers among them.
    pub valid_phones: u64,
}

/// Serializes the key in plain text. Only the report and the file beside it contain a demonstration's key.
pub(super) fn exposed<S: Serializer>(key: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(key.expose())
}

impl Report {
    /// How to reach the channel of the phone.
    pub(super) fn running(&self) -> Option<Running> {
        let is_it =
            |channel: &&DemoChannel| channel.name == plan::PHONE && channel.kind == Kind::WebSession.as_str();
        let running = |channel: &DemoChannel| RunningChannel {
            name: channel.name.clone(),
            id: channel.id,
            address: channel.phone_number_id.clone().unwrap_or_else(|| channel.id.to_string()),
        };
        self.companies.iter().find_map(|company| {
            let channel = company.channels.iter().find(is_it)?;
            Some(Running {
                base_url: self.base_url.clone(),
                simulator_url: self.simulator_url.clone(),
                api_key: company.api_key.clone(),
                channel_id: channel.id,
                channels: self.companies.iter().flat_map(|company| &company.channels).map(running).collect(),
            })
        })
    }
}

/// Reads the records of `seeded` from the store, and creates the keys that are missing. It is called once the service
/// runs: a start that fails creates none.
pub(super) async fn gather(
    store: &Store,
    accounts: &Accounts,
    seeded: Vec<Seeded>,
    base_url: String,
    simulator_url: String,
    directory: PathBuf,
    is_reused: bool,
) -> anyhow::Result<Report> {
    let (mut companies, mut keys) = (Vec::new(), Keys::read(&directory)?);
    for (Seeded { company, tags }, plan) in seeded.into_iter().zip(plan::COMPANIES) {
        let templates = store.of(company.id).templates().all().await?.into_iter();
        let templates = templates.map(|template| DemoTemplate {
            id: template.id,
            name: template.name,
            language: template.language,
            status: template.status.to_string(),
        });
        let mut counted = Vec::new();
        for (name, id) in tags {
            let (contacts, valid_phones) = store.of(company.id).tags().tagged_contacts(&[id]).await?;
            counted.push(DemoTag { id, name: name.to_owned(), contacts, valid_phones });
        }
        companies.push(DemoCompany {
            id: company.id,
            api_key: keys.of(store, company.id).await?,
            channels: channels(store, company.id, plan).await?,
            templates: templates.collect(),
            tags: counted,
            name: company.name,
        });
    }
    let console = console(accounts, companies.first().map(|company| company.id), &base_url).await?;
    Ok(Report {
        base_url,
        simulator_url,
        directory,
        is_reused,
        companies,
        phone: None,
        events: None,
        console,
    })
}

/// Creates the people, if they do not exist, and the addresses that sign them in.
async fn console(accounts: &Accounts, company: Option<Uuid>, base_url: &str) -> anyhow::Result<Console> {
    let owner = company.map(|company| (company, Role::Owner));
    Ok(Console {
        owner: sign_in(accounts, plan::OWNER, owner, base_url).await?,
        operator: sign_in(accounts, plan::OPERATOR, None, base_url).await?,
    })
}

async fn sign_in(
    accounts: &Accounts,
    plan::Person { email, name }: plan::Person,
    company: Option<(Uuid, Role)>,
    base_url: &str,
) -> anyhow::Result<SignIn> {
    let user = match accounts.user_by_email(email).await {
        Err(accounts::Error::NotFound) => {
            let is_operator = company.is_none();
            let create = Create { email, name, password: None, company, is_operator };
            accounts.create(&Who::Pombo, create).await?
        }
        found => found?,
    };
    let link = accounts.sign_in_link(&Who::Pombo, &user).await?;
    Ok(SignIn { email: email.to_owned(), url: Secret::new(format!("{base_url}{}", link.path())) })
}

async fn channels(
    store: &Store,
    company: Uuid,
    plan: &plan::PlannedCompany,
) -> anyhow::Result<Vec<DemoChannel>> {
    let mut channels = Vec::new();
    for kind in [Kind::BusinessAccount, Kind::WebSession] {
        let present = store.of(company).channels().of_kind(kind, ALL, None).await?.records;
        channels.extend(present.into_iter().map(|channel| DemoChannel {
            id: channel.id,
            kind: kind.as_str(),
            name: channel.name,
            status: channel.connection.status.as_str(),
            phone_number_id: channel.phone_number_id,
        }));
    }
    // Channels that were added meanwhile come after those of the plan.
    let place = |channel: &DemoChannel| plan.channels.iter().position(|planned| planned.name == channel.name);
    channels.sort_by_key(|channel| place(channel).unwrap_or(usize::MAX));
    Ok(channels)
}

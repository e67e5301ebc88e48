//! The real store, with the same operations.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use entity::{message, recipient_block, send, suppression, template};
use parking_lot::Mutex;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, DbBackend, EntityTrait as _, Statement};
use serde_json::value::RawValue;
use tempfile::TempDir;
use uuid::Uuid;

use super::operation::{ACCOUNTS, LONGEST_HOLD, Operation, Read, kind, sorted, stamp};
use super::rows::{message_row, send_row, suppression_row, template_row};
use super::{inbound, personal};
use crate::universe::model::Model;
use clock::Timestamp;
use domain::block::unpack;
use domain::channel::{Kind, Status};
use domain::event::Data;
use domain::event::log::Sequence;
use domain::message::State as At;
use domain::template::{ListedTemplate, ParameterFormat};
use store::changes::Who;
use store::channels::{NewChannel, Sealed};
use store::event_log::Reader;
use store::ledger::Terms;
use store::scratch::Scratch;
use store::templates::Said;
use store::{Lease, Options, Store};

const LANGUAGE: &str = "pt_BR";
const PATIENCE: Duration = Duration::from_secs(30);

/// The states of each message that have an event.
type Events = BTreeMap<(Uuid, u64), Vec<At>>;

pub(super) struct Real {
    store: Store,
    lease: Lease,
    /// For statements that the store has no call for.
    raw: DatabaseConnection,
    place: Place,
    /// Whether somebody reads the log.
    has_events: bool,
    /// The events that were read, and how far.
    events: Mutex<(Sequence, Events)>,
}

enum Place {
    File(#[expect(dead_code, reason = "the directory is removed when it is dropped")] TempDir),
    Server(Scratch),
}

impl Real {
    pub(super) async fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("pombo.db").display());
        Self::open(url, Place::File(directory)).await
    }

    pub(super) async fn postgres() -> Self {
        let server = std::env::var("POMBO_TEST_POSTGRES").expect("POMBO_TEST_POSTGRES names no server");
        let scratch = Scratch::create(&server).await.unwrap();
        Self::open(scratch.url().to_owned(), Place::Server(scratch)).await
    }

    async fn open(url: String, place: Place) -> Self {
        let options = Options {
            url,
            connections: 6,
            acquire_timeout: Duration::from_secs(10),
            statement_timeout: Duration::ZERO,
            synchronous_full: false,
            migrate: true,
        };
        let store = Store::open(&options).await.unwrap();
        let lease = store.lease().acquire(&options, "test").await.unwrap();
        let raw = Database::connect(&options.url).await.unwrap();
        for account in ACCOUNTS {
            let sql = "INSERT INTO company (id, name, tier, created_at) VALUES ($1, $2, 'standard', 1)";
            let values = [account.company_id.into(), account.waba_id.into()];
            let insert = Statement::from_sql_and_values(raw.get_database_backend(), sql, values);
            raw.execute_raw(insert).await.unwrap();
            for id in account.channels {
                let new = NewChannel {
                    id,
                    company_id: account.company_id,
                    kind: Kind::BusinessAccount,
                    name: id.to_string(),
                    phone_number: None,
                    phone_number_id: Some(id.to_string()),
                    waba_id: Some(account.waba_id.to_owned()),
                    tier: "standard".to_owned(),
                    secrets: Sealed { token: None, app_secret: None },
                    status: Status::Connected,
                };
                store.channels().add(&Who::Pombo, new).await.unwrap();
            }
        }
        Self { store, lease, raw, place, has_events: false, events: Mutex::default() }
    }

    /// The same with somebody who reads the events of all companies.
    pub(super) async fn with_events(mut self) -> Self {
        self.store.event_log().register(Reader::Nats, Timestamp::now()).await.unwrap();
        self.has_events = true;
        self
    }

    /// Empties the tables that the model has.
    pub(super) async fn clear(&self) {
        let of_sends = ["send", "send_source", "recipient_block", "message", "event_block"];
        let others = inbound::TABLES.into_iter().chain(personal::TABLES).chain(["suppression", "template"]);
        for table in of_sends.into_iter().chain(others) {
            self.raw.execute_unprepared(&format!("DELETE FROM {table}")).await.unwrap();
        }
        self.events.lock().1.clear();
    }

    pub(super) async fn remove(self) {
        self.raw.close().await.unwrap();
        drop(self.lease);
        self.store.close().await;
        if let Place::Server(scratch) = self.place {
            scratch.remove().await.unwrap();
        }
    }

    /// Whether another process can take the lease of one that lives.
    pub(super) fn loses_leases(&self) -> bool {
        self.raw.get_database_backend() == DbBackend::Postgres
    }

    pub(super) async fn ask(&self, operation: &Operation) -> String {
        let Self { store, lease, .. } = self;
        let done = || "done".to_owned();
        let sends = |company_id: &Uuid| store.of(*company_id).sends();
        match operation {
            Operation::Commit { batch, now } => {
                let terms = Terms { patience: PATIENCE, in_one_statement: now.millis() % 2 == 0 };
                match store.ledger().commit_on(terms, lease, batch, *now).await {
                    Ok(found) => {
                        format!("{} {} {:?}", sorted(found.gone), sorted(found.overtaken), found.ignored)
                    }
                    Err(error) => kind(&error),
                }
            }
            Operation::LoseLease | Operation::RegainLease => {
                let step = if matches!(operation, Operation::LoseLease) { '+' } else { '-' };
                let sql = format!("UPDATE lease SET epoch = epoch {step} 1");
                self.raw.execute_unprepared(&sql).await.unwrap();
                done()
            }
            Operation::Control { company_id, send_id, control } => {
                format!("{:?}", sends(company_id).control(*send_id, *control, None, None).await.unwrap())
            }
            Operation::Cancel { company_id, send_id, now } => {
                format!("{:?}", sends(company_id).cancel(*send_id, *now, None, None).await.unwrap())
            }
            Operation::Reschedule { company_id, send_id, start, now } => {
                let moved = sends(company_id).reschedule(*send_id, *start, *now, &Who::Pombo, None);
                format!("{:?}", moved.await.unwrap())
            }
            Operation::Expire { now, limit } => {
                format!("{:?}", store.sends().expire(*now, *limit).await.unwrap())
            }
            Operation::PutOffUnknown { until } => {
                store.sends().put_off_unknown(*until).await.unwrap().to_string()
            }
            Operation::EndLeft { now } => store.sends().end_left_messages(*now).await.unwrap().to_string(),
            Operation::ClockWentBack { now } => {
                store.sends().clock_went_back(*now, LONGEST_HOLD).await.unwrap().to_string()
            }
            Operation::Settle { sends, now } => {
                sorted(store.ledger().settle(sends, *now, PATIENCE).await.unwrap())
            }
            Operation::RemoveUnresolved => match store.sends().remove_unresolved(lease).await {
                Ok(removed) => removed.to_string(),
                Err(error) => kind(&error),
            },
            Operation::PauseTemplate { id } => {
                store.templates().pause(*id).await.unwrap();
                done()
            }
            Operation::ChangeTemplate { account, id: _, name, status, category, said_at } => {
                let said = Said { status: *status, category: *category, ..Said::default() };
                let changing = store.of(account.company_id).templates().change(
                    account.waba_id,
                    name,
                    LANGUAGE,
                    said,
                    *said_at,
                );
                changing.await.unwrap();
                done()
            }
            Operation::ListTemplates { account, listed, as_of } => {
                let listed = listed.iter().map(|listing| ListedTemplate {
                    provider_id: listing.name.clone(),
                    name: listing.name.clone(),
                    language: LANGUAGE.to_owned(),
                    category: listing.category.as_str().into(),
                    status: listing.status.as_str().into(),
                    parameter_format: ParameterFormat::Positional,
                    components: RawValue::from_string("[]".to_owned()).unwrap(),
                    rejected_reason: None,
                    quality_score: None,
                });
                let listed: Vec<_> = listed.collect();
                let listing =
                    store.of(account.company_id).templates().sync_as_of(account.waba_id, &listed, *as_of);
                listing.await.unwrap();
                done()
            }
            Operation::Read(read) => self.read(read).await,
        }
    }

    async fn read(&self, read: &Read) -> String {
        let store = &self.store;
        match read {
            Read::Unfinished { channel, size, ready, limit } => {
                format!("{:?}", store.sends().unfinished(*channel, *size, *ready, *limit).await.unwrap())
            }
            Read::UnfinishedAmong(sends) => {
                format!("{:?}", store.sends().unfinished_among(sends).await.unwrap())
            }
            Read::Waiting { send_id, horizon, limit } => {
                format!("{:?}", store.sends().waiting(*send_id, *horizon, *limit).await.unwrap())
            }
            Read::States { send_id, ordinals } => {
                sorted(store.sends().message_states(*send_id, ordinals).await.unwrap())
            }
            Read::RecipientsOf { company_id, keys } => {
                sorted(store.of(*company_id).sends().recipients_of(keys).await.unwrap())
            }
            Read::Recorded { send_id, progress } => {
                format!("{:?}", store.sends().recorded(*send_id, *progress).await.unwrap())
            }
            Read::Block { send_id, ordinal } => match store.sends().block_at(*send_id, *ordinal).await {
                Ok(block) => format!("{block:?}"),
                Err(error) => kind(&error),
            },
            Read::NextDue { channel, now } => {
                format!("{:?}", store.sends().next_due(*channel, *now).await.unwrap())
            }
            Read::WaitingTemplates { channel, size, now, after, limit } => {
                let waiting = store.templates().waiting(*channel, *size, *now, *after, *limit);
                format!("{:?}", waiting.await.unwrap())
            }
            Read::TemplateRecipients { account, since, now } => {
                let mut people = Vec::new();
                let reading =
                    store.templates().recipients(account.waba_id, (*since, *now), |page| people.extend(page));
                reading.await.unwrap();
                sorted(people)
            }
            Read::WebAttempts { channel, since } => {
                format!("{:?}", store.web_sessions().web_attempts_since(*channel, *since).await.unwrap())
            }
            Read::SendOfStamp { channel, send_id } => {
                let (millis, tail) = stamp(*send_id);
                format!("{:?}", store.web_sessions().send_of_stamp(*channel, millis, tail).await.unwrap())
            }
            Read::Suppressions { now } => sorted(store.suppressions().current(*now).await.unwrap()),
            Read::SuppressionsAmong { subjects, now } => {
                sorted(store.suppressions().among(subjects, *now).await.unwrap())
            }
        }
    }

    /// The number of each template, by account and name.
    pub(super) async fn template_numbers(&self) -> HashMap<(String, String), i64> {
        let rows = template::Entity::find().all(&self.raw).await.unwrap();
        rows.into_iter().map(|row| ((row.waba_id, row.name), row.id)).collect()
    }

    /// The events of each message, in the order of the log. Those of a removed send stay as they were read before.
    async fn events(&self) -> Events {
        let log = self.store.event_log();
        let through = log.settle().await.unwrap().through;
        let (mut after, mut events) = std::mem::take(&mut *self.events.lock());
        loop {
            let page = log.read(None, (after, through), 100_000, |_| true).await.unwrap();
            for event in page.told.into_iter().filter_map(|told| told.event) {
                let Data::Message(message) = event.data else { continue };
                let state = event.r#type.as_str().rsplit('.').next().and_then(At::from_word).unwrap();
                events.entry((message.send_id, message.ordinal)).or_default().push(state);
            }
            after = page.next;
            if !page.more {
                *self.events.lock() = (after, events.clone());
                return events;
            }
        }
    }

    /// Everything that is in the tables; the events of the model, if this store writes none.
    pub(super) async fn tables(&self, model: &Model) -> Model {
        let epoch = model.epoch;
        let events = if self.has_events { self.events().await } else { model.events.clone() };
        let sends = send::Entity::find().all(&self.raw).await.unwrap().into_iter().map(send_row).collect();
        let blocks = recipient_block::Entity::find().all(&self.raw).await.unwrap();
        let blocks = blocks
            .into_iter()
            .map(|row| ((row.send_id, row.first_ordinal.cast_unsigned()), unpack(&row.packed).unwrap()));
        let messages = message::Entity::find().all(&self.raw).await.unwrap();
        let suppressions = suppression::Entity::find().all(&self.raw).await.unwrap();
        let templates = template::Entity::find().all(&self.raw).await.unwrap();
        let templates = templates.into_iter().map(template_row).collect();
        Model {
            sends,
            blocks: blocks.collect(),
            personal: personal::rows(&self.raw).await,
            messages: messages.into_iter().map(message_row).collect(),
            events,
            suppressions: suppressions.iter().map(suppression_row).collect(),
            inbound: inbound::rows(&self.raw).await,
            templates,
            epoch,
            open: [epoch].into(),
        }
    }
}

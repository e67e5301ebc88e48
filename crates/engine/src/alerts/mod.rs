//! Alerts to people by e-mail: what happened is read from the log of events, held together, and sent.
//!
//! The [machine](crate::machine::alert) decides when. The [collector](collector) carries it out: it takes what the log tells
//! into threads, and writes mails from those that are due to the outbox. The [postman](postman) sends what is in the outbox.
//! All state is in the store, and only the node that does the housekeeping works at it: a process that ends at any
//! moment loses nothing, and repeats at most the mail that the server had just taken. The texts come from a [`Composer`]: the
//! engine knows no language.

mod collector;
mod postman;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::timeout;
use uuid::Uuid;

use self::collector::Collector;
use self::postman::Postman;
use crate::{Engine, rounds};
use clock::Timestamp;
use connectors::mail::{Letter, Mailer};
use domain::alert::AlertKind;
use domain::event::log::Fact;
use domain::send::Counts;
use store::alerts::AlertListener;
use store::sends::list::Record;

/// How long a stop of the engine waits for the mail that is being sent.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// What a mail tells a person.
#[derive(Debug)]
pub struct AlertLetter<'a> {
    /// The mail.
    pub id: Uuid,
    /// The recipient.
    pub to: &'a AlertListener,
    /// The company's name.
    pub company: &'a str,
    /// What happened, the first of it first; at least one.
    pub topics: Vec<AlertTopic>,
    /// How many further subjects there are.
    pub more: u64,
}

/// What happened to one subject.
#[derive(Debug)]
pub struct AlertTopic {
    /// The kind.
    pub kind: AlertKind,
    /// How often something happened.
    pub count: u64,
    /// When it happened first.
    pub since: Timestamp,
    /// What happened last, the oldest first.
    pub facts: Vec<AlertFact>,
}

/// Something that happened.
#[derive(Debug)]
pub struct AlertFact {
    /// What.
    pub fact: Fact,
    /// The name of the channel, or the address of the webhook endpoint; `None` if it is gone, or there is none.
    pub name: Option<String>,
    /// The send, if it is about one that is still kept.
    pub send: Option<Record>,
    /// The send's figures, if they could be counted.
    pub counts: Option<Counts>,
}

/// Writes the texts of mails, in the language of their recipients.
pub trait Composer: Send + Sync {
    /// The mail with what happened.
    fn compose(&self, letter: &AlertLetter<'_>) -> Letter;
}

/// Held while a mail is being sent.
#[derive(Default)]
pub(crate) struct Mailing(Mutex<()>);

impl Mailing {
    /// Waits for the mail that is being sent. No other one is sent while the engine stops.
    pub(crate) async fn stop(&self) {
        if timeout(STOP_PATIENCE, self.0.lock()).await.is_err() {
            tracing::warn!("a mail is still being sent, it may be repeated after the next start");
        }
    }
}

/// Alerts to people.
#[derive(Clone, Copy)]
pub struct AlertMails<'e> {
    engine: &'e Engine,
}

impl Engine {
    /// Alerts to people.
    pub const fn alert_mails(&self) -> AlertMails<'_> {
        AlertMails { engine: self }
    }
}

impl AlertMails<'_> {
    /// Sends alerts through this server until the engine stops. In a cluster, the node that does the housekeeping sends those
    /// of all.
    pub fn send(self, mailer: Mailer, composer: Arc<dyn Composer>) {
        let engine = self.engine;
        let thread = &engine.0.threads[1];
        let mut collector = Collector::new(engine.clone());
        rounds::repeat(thread, "alerts", async move || collector.round().await);
        let mut postman = Postman::new(engine.clone(), mailer, composer);
        rounds::repeat(thread, "mails", async move || postman.round().await);
    }

    /// Whether this process sends mails now. If not, another one may.
    fn are_sent_here(self) -> bool {
        let engine = self.engine;
        !engine.0.stopping.load(Ordering::Relaxed)
            && engine.0.shared.cluster.keeps_house()
            && !*engine.0.lease_lost.borrow()
    }
}

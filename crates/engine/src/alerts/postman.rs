//! Sends the mails of the outbox, one after the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{AlertFact, AlertLetter, AlertTopic, Composer};
use crate::machine::alert;
use crate::{Engine, Error};
use clock::Timestamp;
use connectors::mail::{Letter, Mailer, NotSent};
use domain::alert::{AlertItem, AlertKind};
use domain::event::log::{Fact, FactKind};
use store::alerts::AlertMail;
use uuid::Uuid;

/// How often the outbox is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// The pause after a server could not be reached: another mail would fail, too.
const AWAY: Duration = Duration::from_secs(30);
/// No other process sends a mail that was taken less than this ago: longer than sending and its timeout may take.
const TAKEN: Duration = Duration::from_secs(15 * 60);
/// How often what waits is counted, and mails that are too old are given up.
const MEASURE: Duration = Duration::from_secs(15);
/// How long the figures of a large send may take.
const COUNTING: Duration = Duration::from_secs(10);
/// How often a mail that was sent is removed from the outbox if the database fails, a second apart.
const REMOVALS: u32 = 60;

pub(super) struct Postman {
    engine: Engine,
    mailer: Mailer,
    composer: Arc<dyn Composer>,
    measured: Option<Instant>,
    /// Whether it was logged that mails cannot be sent.
    is_failing: bool,
}

impl Postman {
    pub(super) fn new(engine: Engine, mailer: Mailer, composer: Arc<dyn Composer>) -> Self {
        Self { engine, mailer, composer, measured: None, is_failing: false }
    }

    /// Sends what is due. Returns the pause before the next round.
    pub(super) async fn round(&mut self) -> Duration {
        if !self.engine.alert_mails().are_sent_here() {
            // Another node sends, and its figures count.
            self.measured = None;
            metrics::gauge!("pombo_mails_waiting").set(0.0);
            metrics::gauge!("pombo_mails_waiting_age_seconds").set(0.0);
            return LOOK;
        }
        if self.measured.is_none_or(|last| last.elapsed() >= MEASURE)
            && let Err(error) = self.measure().await
        {
            tracing::debug!(%error, "the mails that wait cannot be counted");
        }
        let engine = self.engine.clone();
        loop {
            let _mailing = engine.0.mailing.0.lock().await;
            // Checked while a stop waits.
            if !engine.alert_mails().are_sent_here() {
                return LOOK;
            }
            match self.send_next().await {
                Ok(Some(Ok(()))) => {}
                Ok(Some(Err(error))) if error.is_about_the_mail() => {}
                Ok(Some(Err(_))) => return AWAY,
                Ok(None) => return LOOK,
                Err(error) => {
                    tracing::debug!(%error, "mails cannot be read");
                    return LOOK;
                }
            }
        }
    }

    /// Sends the next mail that is due; `None` if there is none.
    async fn send_next(&mut self) -> Result<Option<Result<(), NotSent>>, Error> {
        let alerts = self.engine.store().alerts();
        let Some(mail) = alerts.take(Timestamp::now(), TAKEN).await? else { return Ok(None) };
        let Some(letter) = self.letter(&mail).await? else {
            alerts.remove(mail.id).await?;
            return Ok(Some(Ok(())));
        };
        let sent = self.mailer.send(&letter).await;
        match sent {
            Ok(_) => {
                metrics::counter!("pombo_mails_total", "result" => "sent").increment(1);
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!("mails are sent again");
                }
                self.remove(mail.id).await;
                Ok(Some(Ok(())))
            }
            Err(error) => {
                self.failed(&mail, &error).await?;
                Ok(Some(Err(error)))
            }
        }
    }

    /// A mail could not be sent: it is tried again later, or given up.
    async fn failed(&mut self, mail: &AlertMail, error: &NotSent) -> store::Result<()> {
        metrics::counter!("pombo_mails_total", "result" => "failed").increment(1);
        let alerts = self.engine.store().alerts();
        let (failures, now) = (mail.failures.saturating_add(1), Timestamp::now());
        let Some(until) = alert::retry_at(failures, mail.made_at, now) else {
            metrics::counter!("pombo_mails_total", "result" => "given_up").increment(1);
            tracing::warn!(user.id = %mail.user_id, company.id = %mail.company_id, %error, "an alert is given up, it could not be sent for a day");
            return alerts.remove(mail.id).await;
        };
        let is_known = std::mem::replace(&mut self.is_failing, !error.is_about_the_mail());
        if is_known && !error.is_about_the_mail() {
            tracing::debug!(%error, "mails still cannot be sent");
        } else {
            tracing::warn!(user.id = %mail.user_id, %error, %until, "an alert could not be sent, it is tried again");
        }
        alerts.put_off(mail.id, failures, until).await
    }

    /// Removes a mail that was sent. While the database is away it is tried again, so that the mail is not repeated.
    async fn remove(&self, mail: Uuid) {
        for _ in 0..REMOVALS {
            match self.engine.store().alerts().remove(mail).await {
                Ok(()) => return,
                Err(error) => tracing::debug!(%error, "a mail that was sent cannot be removed yet"),
            }
            tokio::time::sleep(LOOK).await;
        }
        tracing::warn!("a mail that was sent could not be removed from the database, it may be sent twice");
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    async fn measure(&mut self) -> store::Result<()> {
        let (alerts, now) = (self.engine.store().alerts(), Timestamp::now());
        let given_up = alerts.give_up(now.minus(alert::GIVES_UP_AFTER), now).await?;
        if given_up > 0 {
            metrics::counter!("pombo_mails_total", "result" => "given_up").increment(given_up);
            tracing::warn!(mails = given_up, "alerts are given up, they could not be sent for a day");
        }
        let (waiting, oldest) = alerts.waiting().await?;
        metrics::gauge!("pombo_mails_waiting").set(waiting as f64);
        let age = oldest.map(|oldest| now.from_now(oldest)).unwrap_or_default();
        metrics::gauge!("pombo_mails_waiting_age_seconds").set(age.as_secs_f64());
        self.measured = Some(Instant::now());
        Ok(())
    }

    /// The mail in words; `None` if its recipient left the company, or wants nothing of it any more.
    async fn letter(&self, mail: &AlertMail) -> Result<Option<Letter>, Error> {
        let store = self.engine.store();
        let listeners = store.of(mail.company_id).alerts().listeners().await?;
        let Some(to) = listeners.iter().find(|listener| listener.user_id == mail.user_id) else {
            return Ok(None);
        };
        let Some(company) = store.companies().find(mail.company_id).await? else { return Ok(None) };
        let mut topics = Vec::new();
        for item in &mail.items {
            let wanted = item.kind.parse::<AlertKind>().ok().filter(|kind| to.kinds.contains(kind));
            let Some(kind) = wanted else { continue };
            topics.push(self.topic(company.id, kind, item).await?);
        }
        if topics.is_empty() {
            return Ok(None);
        }
        let letter = AlertLetter { id: mail.id, to, company: &company.name, topics, more: mail.more };
        Ok(Some(self.composer.compose(&letter)))
    }

    async fn topic(&self, company: Uuid, kind: AlertKind, item: &AlertItem) -> Result<AlertTopic, Error> {
        let AlertItem { kind: _, count, since, facts } = item;
        let mut shown = Vec::with_capacity(facts.len());
        for fact in facts {
            shown.push(self.fact(company, fact).await?);
        }
        Ok(AlertTopic { kind, count: *count, since: *since, facts: shown })
    }

    /// A fact with the names and figures of what it is about.
    async fn fact(&self, company: Uuid, fact: &Fact) -> Result<AlertFact, Error> {
        let store = self.engine.store();
        let (mut send, mut counts) = (None, None);
        let name = match &fact.what {
            FactKind::WebhookDisabled { id, .. } | FactKind::WebhookRecovered { id, .. } => {
                let endpoint = store.of(company).webhooks().find(*id).await?;
                endpoint.map(|endpoint| endpoint.settings.public_url())
            }
            what => {
                if let FactKind::Send { id, .. } = what {
                    send = store.of(company).sends().head(*id, Timestamp::now()).await?;
                }
                match fact.channel_id {
                    Some(id) => self.engine.directory().find(id).await?.map(|channel| channel.name.clone()),
                    None => None,
                }
            }
        };
        if let Some(send) = &send {
            let counted = self.engine.sends().tally(company, send, COUNTING).await?;
            counts = counted.map(|counted| counted.tally.counts);
        }
        Ok(AlertFact { fact: fact.clone(), name, send, counts })
    }
}

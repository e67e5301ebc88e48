//! Receipts and whatever else a provider tells of its own accord: stored, then told to whom it concerns.
//!
//! Not an actor: nothing is owned here. What is to be written goes to the ledger, which gathers it with
//! everything else; what is to be known goes to the channels' actors. Everything may come twice and in any
//! order: hearing it again changes nothing.

mod sorted;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use self::sorted::{Notice, Place, Sorted};
use super::channel::{self, Recheck, Troubled};
use super::ledger::Hear;
use super::{Engine, Error};
use crate::clock::Timestamp;
use crate::connector::update::{self, Heard, TemplateChange};
use crate::domain::channel::Channel;
use crate::domain::message::{Key, State};
use crate::domain::phone::PhoneNumber;
use crate::domain::secret::Secret;
use crate::store::ledger::{Event, INBOUND_MESSAGE, Receipt};
use crate::store::template::Said;

/// Our status of a template that the provider keeps back, until it says otherwise.
const PAUSED: &str = "PAUSED";

/// The company's channels that a webhook may speak of.
struct Family {
    /// The one whose address it came to.
    own: Arc<Channel>,
    /// All others, when it speaks of more than that one.
    others: Vec<Arc<Channel>>,
}

impl Family {
    /// The channel of the place's number; the one that was written to when no number is named.
    fn channel(&self, place: &Place) -> Option<&Arc<Channel>> {
        let Some(number) = &place.number else { return Some(&self.own) };
        self.all().find(|channel| channel.phone_number_id.as_ref() == Some(number))
    }

    /// The channels of the place: one of its number, all of its account.
    fn channels<'a>(&'a self, place: &'a Place) -> impl Iterator<Item = &'a Arc<Channel>> {
        self.all().filter(move |channel| match (&place.number, &place.account) {
            (Some(number), _) => channel.phone_number_id.as_ref() == Some(number),
            (None, Some(account)) => channel.waba_id.as_ref() == Some(account),
            (None, None) => channel.id == self.own.id,
        })
    }

    fn all(&self) -> impl Iterator<Item = &Arc<Channel>> {
        std::iter::once(&self.own).chain(&self.others)
    }
}

impl Engine {
    /// The secret with which the provider signs what it tells at this channel's address; `None` when the
    /// channel has none.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when it is not known yet and the database is away.
    pub async fn app_secret(&self, channel: &Channel) -> Result<Option<Arc<Secret>>, Error> {
        Ok(self.0.app_secrets.find(self.store(), &self.0.shared.vault, channel).await?)
    }

    /// The word that the provider repeats when it is told this channel's address; `None` while nobody asked for one.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when it is not known yet and the database is away.
    pub async fn verify_token(&self, channel: &Channel) -> Result<Option<Arc<Secret>>, Error> {
        Ok(self.0.verify_tokens.find(self.store(), &self.0.shared.vault, channel).await?)
    }

    /// Takes in what the provider told at this channel's address: everything that has to last is durable when
    /// this returns. What concerns other channels of the same company reaches those, what concerns other
    /// companies nobody.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when it cannot be written now: the provider repeats it.
    pub async fn hear(&self, channel: &Arc<Channel>, heard: Vec<Heard>) -> Result<(), Error> {
        let mut sorted = Sorted::new(heard, Timestamp::now());
        let family = self.family(channel, &sorted).await?;
        let told = told(&family, &sorted);
        let counts = Counts::of(&family, &sorted);
        let hear = self.to_be_written(&family, &mut sorted).await?;
        let said = hear.suppressions.clone();
        if !hear.is_empty() {
            self.0.shared.ledger.send(hear).await??;
        }
        // What was said may be older than what is known: the store has what counts.
        self.0.shared.suppressions.look_up(self.store(), &said).await?;
        counts.record();
        for (channel_id, messages) in told {
            self.directory().ask(channel_id, channel::Heard(messages)).await;
        }
        self.notify(&family, &sorted.notices).await;
        self.change_templates(&family, &sorted).await
    }

    /// Whom the webhook may speak of; the store is asked only when that is more than its own number.
    async fn family(&self, channel: &Arc<Channel>, sorted: &Sorted) -> Result<Family, Error> {
        let own = |place: &Place| place.number.is_some() && place.number == channel.phone_number_id;
        let receipts = sorted.receipts.iter().map(|(place, ..)| place);
        let inbound = sorted.inbound.iter().map(|(place, ..)| place);
        let mut named = receipts.chain(inbound).filter(|place| place.number.is_some());
        let mut others = Vec::new();
        let spreads = sorted.notices.iter().map(|(place, _)| place);
        let templates = sorted.templates.iter().map(|(place, ..)| place);
        if !named.all(own) || !spreads.chain(templates).all(own) {
            let all = self.store().business_accounts(channel.company_id).await?;
            others = all.into_iter().filter(|other| other.id != channel.id).map(Arc::new).collect();
        }
        Ok(Family { own: Arc::clone(channel), others })
    }

    /// What the ledger writes.
    async fn to_be_written(&self, family: &Family, sorted: &mut Sorted) -> Result<Hear, Error> {
        let company_id = family.own.company_id;
        let mut hear =
            Hear { events: events(family, std::mem::take(&mut sorted.inbound)), ..Hear::default() };
        let keys: Vec<_> = sorted.refused.iter().filter_map(|refused| refused.key).collect();
        let written_to = self.store().recipients_of(company_id, &keys).await?;
        hear.suppressions = sorted.words(company_id, |key| written_to.get(&key).copied());
        let receipts = sorted.receipts.drain(..).map(|(_, key, receipt)| stored(company_id, key, receipt));
        hear.receipts = receipts.collect();
        Receipt::reduce(&mut hear.receipts);
        Ok(hear)
    }

    /// Notes what became of templates: those that the provider spoke of, and those that it kept back.
    async fn change_templates(&self, family: &Family, sorted: &Sorted) -> Result<(), Error> {
        let company_id = family.own.company_id;
        for (send_id, said_at) in &sorted.held_templates {
            let Some(template) = self.store().template_of_send(company_id, *send_id).await? else { continue };
            let said = Said { status: Some(PAUSED), ..Said::default() };
            let (waba_id, name, language) = (&template.waba_id, &template.name, &template.language);
            if self.store().change_template(company_id, waba_id, name, language, said, *said_at).await? {
                tracing::warn!(
                    template.id = template.id,
                    template = name,
                    "the provider keeps a template back"
                );
                self.want_templates(&family.own);
            }
        }
        for (place, name, language, change, said_at) in &sorted.templates {
            let Some(channel) = family.channels(place).next() else { continue };
            let Some(account) = place.account.as_ref().or(channel.waba_id.as_ref()) else { continue };
            let said = match change {
                TemplateChange::Status { status, .. } => Said { status: Some(status), ..Said::default() },
                TemplateChange::Quality(score) => Said { quality_score: Some(score), ..Said::default() },
                TemplateChange::Category(category) => Said { category: Some(category), ..Said::default() },
            };
            if self.store().change_template(company_id, account, name, language, said, *said_at).await? {
                tracing::info!(channel.id = %channel.id, template = name, language, ?change, "a template changed");
            } else if self.store().find_template_by_name(company_id, account, name, language).await?.is_none()
            {
                self.want_templates(channel);
            }
        }
        Ok(())
    }

    /// The provider spoke of a template that we do not know.
    fn want_templates(&self, channel: &Arc<Channel>) {
        // Its actor says whether they can be listed through it.
        self.directory().wake(channel);
        self.0.shared.template_sync.want(channel, Duration::ZERO);
    }

    /// Tells the channels what concerns their number or account.
    async fn notify(&self, family: &Family, notices: &[(Place, Notice)]) {
        for (place, notice) in notices {
            for channel in family.channels(place) {
                let directory = self.directory();
                match notice {
                    // What failed before a person reconnected the channel says nothing of it now.
                    Notice::Trouble { disposition, failure, at, .. }
                        if disposition.refusal(failure).is_some() && *at < channel.connection.since => {}
                    Notice::Trouble { disposition, failure, at: _, is_of_message } => {
                        directory.wake(channel);
                        let (disposition, failure) = (*disposition, failure.clone());
                        let troubled = Troubled { disposition, failure, is_of_message: *is_of_message };
                        directory.ask(channel.id, troubled).await;
                    }
                    Notice::Recheck(Some(number)) if shown(channel).is_some_and(|shown| shown != *number) => {
                    }
                    Notice::Recheck(_) => {
                        directory.wake(channel);
                        directory.ask(channel.id, Recheck).await;
                    }
                }
            }
        }
    }
}

/// The number that a channel is known by to people.
fn shown(channel: &Channel) -> Option<PhoneNumber> {
    channel.phone_number.as_deref().and_then(|number| PhoneNumber::parse(number).ok())
}

fn stored(company_id: Uuid, key: Key, receipt: update::Receipt) -> Receipt {
    let update::Receipt { key: _, provider_message_id, state, at, recipient: _, refusal } = receipt;
    let error = refusal.map(|(_, failure)| failure);
    Receipt { key, company_id, state, provider_message_id: Some(provider_message_id), error, at }
}

/// Which channel has to know of which messages, each as far along as it was heard to be.
fn told(family: &Family, sorted: &Sorted) -> HashMap<Uuid, Vec<(Key, State)>> {
    let mut told: HashMap<Uuid, HashMap<Key, State>> = HashMap::new();
    for (place, key, receipt) in &sorted.receipts {
        let Some(channel) = family.channel(place) else { continue };
        let state = told.entry(channel.id).or_default().entry(*key).or_insert(receipt.state);
        *state = state.advanced_by(receipt.state);
    }
    told.into_iter().map(|(channel, messages)| (channel, messages.into_iter().collect())).collect()
}

/// Messages from people, to be kept for the channel that they were sent to.
fn events(family: &Family, inbound: Vec<(Place, String, String)>) -> Vec<Event> {
    let event = |(place, identity, payload)| {
        let channel = family.channel(&place)?;
        Some(Event {
            id: Uuid::now_v7(),
            company_id: channel.company_id,
            channel_id: channel.id,
            kind: INBOUND_MESSAGE,
            identity,
            payload,
        })
    };
    inbound.into_iter().filter_map(event).collect()
}

/// What a webhook adds to the metrics once it is taken in.
struct Counts {
    states: HashMap<State, u64>,
    ignored: [(&'static str, u64); 3],
}

impl Counts {
    fn of(family: &Family, sorted: &Sorted) -> Self {
        let mut states = HashMap::new();
        for (_, _, receipt) in &sorted.receipts {
            *states.entry(receipt.state).or_insert(0) += 1;
        }
        let foreign = sorted.inbound.iter().filter(|(place, ..)| family.channel(place).is_none()).count();
        let ignored = [
            ("no_key", sorted.nameless),
            ("unreadable", sorted.unreadable),
            ("foreign_number", foreign as u64),
        ];
        Self { states, ignored }
    }

    fn record(self) {
        for (state, count) in self.states {
            metrics::counter!("pombo_receipts_total", "state" => state.as_str()).increment(count);
        }
        for (reason, count) in self.ignored.into_iter().filter(|(_, count)| *count > 0) {
            metrics::counter!("pombo_receipts_ignored_total", "reason" => reason).increment(count);
        }
    }
}

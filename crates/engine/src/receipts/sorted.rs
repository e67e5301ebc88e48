//! Sorts a webhook's updates by what they lead to. Plain code: the present time is passed in.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::family::{Family, Whom, is_of_somebody};
use super::notices::{Notice, Notices, Of};
use super::part::{Part, Refused, parts};
use super::shown;
use super::spoken::statements;
use crate::conversations::HeardMessage;
use clock::Timestamp;
use connectors::Disposition;
use connectors::update::{self, AccountChange, Heard, TemplateChange, Update};
use domain::channel::Channel;
use domain::event::log::Fact;
use domain::message::{Failure, Key, State};
use domain::opt_out::OptOutWords;
use domain::phone::PhoneNumber;
use domain::suppression::{HOLD, Suppression};
use store::ledger::{Charge, Receipt};
use store::suppressions::Says;

/// The provider gives whole seconds: an event may have happened up to this much later.
const WITHIN_A_SECOND: Duration = Duration::from_millis(999);
/// The most template changes that are written one by one; beyond this the account's templates are listed again.
const MOST_TEMPLATES: usize = 1_000;
/// The log's sentence for an unreadable part.
const UNREADABLE: &str = "parts of a webhook cannot be read";
/// The most different event names of one webhook in the log.
const MOST_LOGGED: usize = 16;

/// A template by an account that has it, its name and its language.
type TemplateName = (Whom, String, String);

#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// The rows to write, in parts, so that other commits go in between.
    pub(super) parts: Vec<Part>,
    /// The messages that each channel is told about, each in its latest state.
    pub(super) told: HashMap<Uuid, Vec<(Key, State)>>,
    /// Sends whose template the provider holds back, and since when.
    pub(super) held_templates: BTreeMap<Uuid, Timestamp>,
    /// The changes of templates, with their times.
    pub(super) templates: Vec<(TemplateName, TemplateChange, Timestamp)>,
    /// Accounts with more template changes than are written one by one.
    pub(super) relisted: HashSet<Whom>,
    pub(super) notices: Vec<(Whom, Notice)>,
    /// What the provider said, for programs that read its own words.
    pub(super) said: Vec<Fact>,
    pub(super) names: Names,
    pub(super) counts: Counts,
}

/// What a webhook says about the names of people.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The numbers under which the provider knows the recipients of messages.
    pub(super) known_as: Vec<(Key, PhoneNumber)>,
    /// The ids of recipients within the business, with their numbers.
    pub(super) recipients: Vec<(String, PhoneNumber)>,
    /// The same of people who wrote or said what they want.
    pub(super) writers: Vec<(String, PhoneNumber)>,
}

/// The webhook's counts for the metrics.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Receipts by their states.
    pub(super) states: HashMap<State, u64>,
    /// Receipts that do not name their message.
    pub(super) nameless: u64,
    /// Updates about no channel of the company.
    pub(super) foreign: u64,
    pub(super) unreadable: u64,
}

/// A webhook being sorted.
struct Sorting<'a> {
    family: &'a Family,
    /// What a person's text means to the company.
    words: &'a OptOutWords,
    now: Timestamp,
    receipts: Vec<Receipt>,
    refused: Vec<Refused>,
    heard: Vec<HeardMessage>,
    told: HashMap<Uuid, HashMap<Key, State>>,
    held_templates: BTreeMap<Uuid, Timestamp>,
    /// The last change of each property of each template.
    templates: HashMap<(TemplateName, std::mem::Discriminant<TemplateChange>), (TemplateChange, Timestamp)>,
    relisted: HashSet<Whom>,
    notices: Notices,
    said: Vec<Fact>,
    names: Names,
    counts: Counts,
    /// Events that are only logged, and how often each came.
    news: BTreeMap<(&'static str, String), u64>,
}

/// The time of a statement that the provider dates `at`: the end of that second, and never later than its arrival. So
/// of two statements in one second, the later arrival counts.
pub(super) fn said_at(at: Timestamp, now: Timestamp) -> Timestamp {
    at.plus(WITHIN_A_SECOND).min(now)
}

impl Sorted {
    /// Sorts the updates received at `now`, in linear time. Updates about no channel of the family are counted and
    /// dropped.
    pub(super) fn new(family: &Family, words: &OptOutWords, heard: Vec<Heard>, now: Timestamp) -> Self {
        let mut sorting = Sorting {
            family,
            words,
            now,
            receipts: Vec::new(),
            refused: Vec::new(),
            heard: Vec::new(),
            told: HashMap::new(),
            held_templates: BTreeMap::new(),
            templates: HashMap::new(),
            relisted: HashSet::new(),
            notices: Notices::default(),
            said: Vec::new(),
            names: Names::default(),
            counts: Counts::default(),
            news: BTreeMap::new(),
        };
        for Heard { account, number, at, update } in heard {
            if !is_of_somebody(&update) {
                sorting.count(update);
            } else if let Some(whom) = family.whom(account.as_deref(), number.as_deref()) {
                sorting.add(whom, update, at.min(now));
            } else if !matches!(update, Update::Notice { .. }) {
                // A notice comes with the update that it led to.
                sorting.counts.foreign += 1;
            }
        }
        sorting.finish()
    }
}

impl Sorting<'_> {
    /// Counts an update that is for no channel.
    fn count(&mut self, update: Update) {
        match update {
            Update::Unreadable { field } => {
                self.counts.unreadable += 1;
                self.note(UNREADABLE, field);
            }
            Update::Other { field } => {
                tracing::debug!(field, "ignored an update without effect");
            }
            _ => {}
        }
    }

    fn note(&mut self, what: &'static str, word: String) {
        if self.news.len() < MOST_LOGGED || self.news.contains_key(&(what, word.clone())) {
            *self.news.entry((what, word)).or_default() += 1;
        }
    }

    fn add(&mut self, whom: Whom, update: Update, at: Timestamp) {
        let now = self.now;
        match update {
            Update::Receipt(receipt) => self.receipt(whom, receipt),
            Update::Template { provider_id: _, name, language, change } => {
                self.template((whom, name, language), change, said_at(at, now));
            }
            Update::Number { phone_number, event } => {
                self.note("a webhook says that a number changed", event);
                self.notices.recheck(whom, phone_number);
            }
            Update::Account(AccountChange::Disconnected(failure)) => {
                self.notices.trouble(whom, (Disposition::Disconnect, failure), said_at(at, now), Of::Number);
            }
            Update::Account(AccountChange::Blocked(failure)) => {
                self.notices.trouble(whom, (Disposition::Block, failure), said_at(at, now), Of::Number);
            }
            Update::Account(AccountChange::Restored) | Update::Limit { messaging_limit: _ } => {
                self.notices.recheck(whom, None);
            }
            Update::Account(AccountChange::Other(event)) => {
                self.note("a webhook says that a business account changed", event);
            }
            Update::Preference { recipient, user, stops, at } => {
                let says = if stops { Says::Stop { provider_code: None } } else { Says::Resume };
                let (scope, said_at) = (Suppression::Marketing, said_at(at, now));
                self.names.writers.extend(user.clone().zip(recipient));
                self.refused.push(Refused { key: None, recipient, user, scope, said_at, says });
            }
            Update::Notice { field, phone_number, value } => {
                let channels = self.family.channels(whom);
                let is_meant = |channel: &Channel| {
                    phone_number.map_or(channels.len() == 1, |number| shown(channel) == Some(number))
                };
                if let Some(channel) = channels.iter().find(|channel| is_meant(channel)) {
                    self.said.push(Fact::of_notice(channel.id, field, value, at));
                }
            }
            Update::Inbound(message) => {
                let (number, user) = (message.peer.number, message.peer.user_id.clone());
                self.refused.extend(statements(&message, self.words, now));
                self.names.writers.extend(user.zip(number).filter(|_| message.peer.group.is_none()));
                self.heard.push(HeardMessage::of(self.family.channel(whom), *message));
            }
            Update::Trouble(disposition, failure) => {
                self.notices.trouble(whom, (disposition, failure), said_at(at, now), Of::Number);
            }
            Update::Other { .. } | Update::Unreadable { .. } => self.count(update),
        }
    }

    fn template(&mut self, name: TemplateName, change: TemplateChange, said_at: Timestamp) {
        let key = (name, std::mem::discriminant(&change));
        let is_full = self.templates.len() >= MOST_TEMPLATES;
        match self.templates.get_mut(&key) {
            Some(last) if last.1 > said_at => {}
            Some(last) => *last = (change, said_at),
            None if is_full => {
                self.relisted.insert(key.0.0);
            }
            None => {
                self.templates.insert(key, (change, said_at));
            }
        }
    }

    fn receipt(&mut self, whom: Whom, mut receipt: update::Receipt) {
        receipt.at = receipt.at.min(self.now);
        if let Some((disposition, failure)) = &receipt.refusal {
            self.refusal(whom, &receipt, *disposition, failure);
        }
        self.names.recipients.extend(receipt.user.take().zip(receipt.recipient));
        let Some(key) = receipt.key else {
            self.counts.nameless += 1;
            return;
        };
        *self.counts.states.entry(receipt.state).or_default() += 1;
        self.names.known_as.extend(receipt.recipient.map(|recipient| (key, recipient)));
        let channel = self.family.channel(whom);
        let state = self.told.entry(channel.id).or_default().entry(key).or_insert(receipt.state);
        *state = state.advanced_by(receipt.state);
        self.receipts.push(stored(channel, key, receipt));
    }

    fn refusal(
        &mut self,
        whom: Whom,
        receipt: &update::Receipt,
        disposition: Disposition,
        failure: &Failure,
    ) {
        let (provider_code, now) = (failure.code, self.now);
        let (scope, says) = match disposition {
            Disposition::Suppress(scope) => (scope, Says::Stop { provider_code }),
            Disposition::HoldRecipient => {
                let until = receipt.at.plus(HOLD);
                if until <= now {
                    return;
                }
                (Suppression::Marketing, Says::Hold { until, provider_code })
            }
            Disposition::HoldTemplate => {
                let said_at = said_at(receipt.at, now);
                self.held_templates.extend(receipt.key.map(|key| (key.send_id, said_at)));
                return;
            }
            // This concerns only the message, which is over.
            Disposition::Fail | Disposition::Retry | Disposition::Pair => return,
            Disposition::Wait
            | Disposition::SlowNumber
            | Disposition::SlowAccount
            | Disposition::SlowApp
            | Disposition::Maintenance
            | Disposition::Disconnect
            | Disposition::Block
            | Disposition::Restrict => {
                let of = Of::Message(receipt.key);
                self.notices.trouble(whom, (disposition, failure.clone()), receipt.at, of);
                return;
            }
        };
        let update::Receipt { key, recipient, at, .. } = *receipt;
        let said_at = said_at(at, now);
        self.refused.push(Refused { key, recipient, user: None, scope, said_at, says });
    }

    fn finish(mut self) -> Sorted {
        for ((what, word), times) in self.news {
            if what == UNREADABLE {
                tracing::warn!(field = word, times, "{UNREADABLE}");
            } else {
                tracing::info!(event = word, times, "{what}");
            }
        }
        Receipt::reduce(&mut self.receipts);
        let told = self.told.into_iter();
        Sorted {
            parts: parts(self.receipts, self.refused, self.heard),
            told: told.map(|(channel, messages)| (channel, messages.into_iter().collect())).collect(),
            held_templates: self.held_templates,
            templates: self
                .templates
                .into_iter()
                .map(|((name, _), (change, said_at))| (name, change, said_at))
                .collect(),
            relisted: self.relisted,
            notices: self.notices.in_order(),
            said: self.said,
            names: self.names,
            counts: self.counts,
        }
    }
}

fn stored(channel: &Arc<Channel>, key: Key, receipt: update::Receipt) -> Receipt {
    let update::Receipt { key: _, provider_message_id, state, at, recipient: _, user: _, refusal, billing } =
        receipt;
    let error = refusal.map(|(_, failure)| failure);
    let company_id = channel.company_id;
    // Only messages that arrive cost something; the provider also says how it would bill one that it took.
    let charge = billing.filter(|_| matches!(state, State::Delivered | State::Read));
    let charge = charge.map(|billing| Charge { channel_id: channel.id, billing });
    let provider_message_id = Some(provider_message_id);
    Receipt { key, company_id, state, provider_message_id, error, at, charge }
}

impl Counts {
    pub(super) fn record(self) {
        let Self { states, nameless, foreign, unreadable } = self;
        for (state, count) in states {
            metrics::counter!("pombo_receipts_total", "state" => state.as_str()).increment(count);
        }
        let ignored = [("no_key", nameless), ("unreadable", unreadable), ("foreign_number", foreign)];
        for (reason, count) in ignored.into_iter().filter(|(_, count)| *count > 0) {
            metrics::counter!("pombo_receipts_ignored_total", "reason" => reason).increment(count);
        }
    }
}

#[cfg(test)]
mod tests;

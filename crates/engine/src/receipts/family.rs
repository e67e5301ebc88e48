//! The channels of one company, and which of them a webhook is about.
//!
//! One app may serve several companies, so that a webhook at the address of one company names numbers of another. Such
//! parts are not for this company.

use std::collections::HashMap;
use std::sync::Arc;

use connectors::update::{Heard, Update};
use domain::channel::Channel;

/// The company's channels that a webhook may be about.
#[derive(Debug)]
pub(super) struct Family {
    /// The channel whose address it came to, then all others if the webhook may be about them.
    channels: Vec<Arc<Channel>>,
    of_number: HashMap<String, usize>,
    of_account: HashMap<String, Vec<usize>>,
}

/// The subject of a part of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Whom {
    /// One channel, by its index in the family.
    Channel(usize),
    /// All channels of an account, by the index of the first.
    Account(usize),
}

impl Family {
    /// `own` has the address that the webhook came to.
    pub(super) fn new(own: Arc<Channel>, others: impl IntoIterator<Item = Arc<Channel>>) -> Self {
        let mut family = Self { channels: Vec::new(), of_number: HashMap::new(), of_account: HashMap::new() };
        for channel in std::iter::once(own).chain(others) {
            let place = family.channels.len();
            if let Some(number) = &channel.phone_number_id {
                family.of_number.entry(number.clone()).or_insert(place);
            }
            if let Some(account) = &channel.waba_id {
                family.of_account.entry(account.clone()).or_default().push(place);
            }
            family.channels.push(channel);
        }
        family
    }

    /// Whether these updates may be about more than the number of `own`.
    pub(super) fn is_needed(own: &Channel, heard: &[Heard]) -> bool {
        heard.iter().any(|Heard { account, number, at: _, update }| match (number, account) {
            (Some(number), _) => is_of_somebody(update) && own.phone_number_id.as_ref() != Some(number),
            (None, account) => is_of_somebody(update) && account.is_some(),
        })
    }

    /// The subject of an update; `None` when it is no channel of the company.
    pub(super) fn whom(&self, account: Option<&str>, number: Option<&str>) -> Option<Whom> {
        match (number, account) {
            (Some(number), _) => self.of_number.get(number).copied().map(Whom::Channel),
            (None, Some(account)) => self.of_account.get(account)?.first().copied().map(Whom::Account),
            (None, None) => Some(Whom::Channel(0)),
        }
    }

    /// The channel whose address the webhook came to.
    pub(super) fn own(&self) -> &Arc<Channel> {
        &self.channels[0]
    }

    /// The subject's channel, or the first of its account.
    pub(super) fn channel(&self, whom: Whom) -> &Arc<Channel> {
        let (Whom::Channel(place) | Whom::Account(place)) = whom;
        &self.channels[place]
    }

    /// All channels of the subject.
    pub(super) fn channels(&self, whom: Whom) -> Vec<&Arc<Channel>> {
        let first = self.channel(whom);
        let account = first.waba_id.as_ref().and_then(|account| self.of_account.get(account));
        match (whom, account) {
            (Whom::Account(_), Some(places)) => places.iter().map(|place| &self.channels[*place]).collect(),
            _ => vec![first],
        }
    }
}

/// Whether an update concerns a channel.
pub(super) const fn is_of_somebody(update: &Update) -> bool {
    !matches!(update, Update::Other { .. } | Update::Unreadable { .. })
}

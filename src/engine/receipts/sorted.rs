//! What a provider told, sorted by who has to do something about it. Plain: it takes the present moment and
//! decides.

use std::collections::BTreeMap;
use std::time::Duration;

use uuid::Uuid;

use crate::clock::Timestamp;
use crate::connector::Disposition;
use crate::connector::update::{self, AccountChange, Heard, TemplateChange, Update};
use crate::domain::message::{Failure, Key};
use crate::domain::phone::PhoneNumber;
use crate::domain::suppression::{HOLD, Suppression};
use crate::store::suppression::{Says, Word};

/// The provider tells whole seconds: what it says may have happened up to so much later.
const WITHIN_A_SECOND: Duration = Duration::from_millis(999);

/// Whom an update is about, in the provider's ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) account: Option<String>,
    /// `None`: the whole account.
    pub(super) number: Option<String>,
}

/// What a channel has to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Notice {
    /// Something is wrong with the number or its account.
    Trouble {
        disposition: Disposition,
        failure: Failure,
        /// Since when.
        at: Timestamp,
        /// Whether a message failed for it, and not the provider alone says so.
        is_of_message: bool,
    },
    /// The provider has news of the number, to be asked for. All numbers of the account when `None`.
    Recheck(Option<PhoneNumber>),
}

/// Something about a recipient that a receipt said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) key: Option<Key>,
    /// As the provider calls them, which need not be the number that was written to.
    recipient: Option<PhoneNumber>,
    scope: Suppression,
    said_at: Timestamp,
    says: Says,
}

/// Trouble of which the provider tells by itself.
const fn trouble(disposition: Disposition, failure: Failure, at: Timestamp) -> Notice {
    Notice::Trouble { disposition, failure, at, is_of_message: false }
}

/// What something counts as said at that the provider says was at `at`: the end of that second, and never later than
/// it is heard. So of one second the word that is heard later counts.
fn said_at(at: Timestamp, now: Timestamp) -> Timestamp {
    at.plus(WITHIN_A_SECOND).min(now)
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub(super) receipts: Vec<(Place, Key, update::Receipt)>,
    /// Receipts that do not name their message.
    pub(super) nameless: u64,
    pub(super) refused: Vec<Refused>,
    /// Sends whose template the provider keeps back, and when it said so.
    pub(super) held_templates: BTreeMap<Uuid, Timestamp>,
    /// Account, name, language, what changed, and when it was said.
    pub(super) templates: Vec<(Place, String, String, TemplateChange, Timestamp)>,
    pub(super) notices: Vec<(Place, Notice)>,
    /// Messages from people: the provider's id, and what came.
    pub(super) inbound: Vec<(Place, String, String)>,
    pub(super) unreadable: u64,
}

impl Sorted {
    pub(super) fn new(heard: Vec<Heard>, now: Timestamp) -> Self {
        let mut sorted = Self::default();
        for Heard { account, number, at, update } in heard {
            sorted.add(Place { account, number }, update, at.min(now), now);
        }
        sorted
    }

    fn add(&mut self, place: Place, update: Update, at: Timestamp, now: Timestamp) {
        match update {
            Update::Receipt(receipt) => self.receipt(place, receipt, now),
            Update::Template { provider_id: _, name, language, change } => {
                self.templates.push((place, name, language, change, said_at(at, now)));
            }
            Update::Number { phone_number, event } => {
                tracing::info!(event, "the provider has news of a number");
                self.notice(place, Notice::Recheck(phone_number));
            }
            Update::Account(AccountChange::Disconnected(failure)) => {
                self.notice(place, trouble(Disposition::Disconnect, failure, said_at(at, now)));
            }
            Update::Account(AccountChange::Blocked(failure)) => {
                self.notice(place, trouble(Disposition::Block, failure, said_at(at, now)));
            }
            Update::Account(AccountChange::Restored) | Update::Limit { messaging_limit: _ } => {
                self.notice(place, Notice::Recheck(None));
            }
            Update::Account(AccountChange::Other(event)) => {
                tracing::info!(event, "the provider has news of a business account");
            }
            Update::Preference { recipient, stops, at } => {
                let says = if stops { Says::Stop { provider_code: None } } else { Says::Resume };
                let (scope, said_at) = (Suppression::Marketing, said_at(at, now));
                self.refused.push(Refused { key: None, recipient: Some(recipient), scope, said_at, says });
            }
            Update::Inbound { id, from: _, at: _, payload } => self.inbound.push((place, id, payload)),
            Update::Trouble(disposition, failure) => {
                self.notice(place, trouble(disposition, failure, said_at(at, now)));
            }
            Update::Other { field } => tracing::debug!(field, "heard of something that nothing follows from"),
            Update::Unreadable { field } => {
                tracing::warn!(field, "a part of a webhook cannot be read");
                self.unreadable += 1;
            }
        }
    }

    fn receipt(&mut self, place: Place, mut receipt: update::Receipt, now: Timestamp) {
        receipt.at = receipt.at.min(now);
        if let Some((disposition, failure)) = &receipt.refusal {
            self.refusal(&place, &receipt, *disposition, failure, now);
        }
        match receipt.key {
            Some(key) => self.receipts.push((place, key, receipt)),
            None => self.nameless += 1,
        }
    }

    fn refusal(
        &mut self,
        place: &Place,
        receipt: &update::Receipt,
        disposition: Disposition,
        failure: &Failure,
        now: Timestamp,
    ) {
        let provider_code = failure.code;
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
            // Of this message alone, and it is over.
            Disposition::Fail | Disposition::Retry | Disposition::Pair => return,
            Disposition::Wait
            | Disposition::SlowNumber
            | Disposition::SlowAccount
            | Disposition::SlowApp
            | Disposition::Maintenance
            | Disposition::Disconnect
            | Disposition::Block
            | Disposition::Restrict => {
                let (failure, at) = (failure.clone(), receipt.at);
                let notice = Notice::Trouble { disposition, failure, at, is_of_message: true };
                self.notice(place.clone(), notice);
                return;
            }
        };
        let update::Receipt { key, recipient, at, .. } = *receipt;
        self.refused.push(Refused { key, recipient, scope, said_at: said_at(at, now), says });
    }

    /// Of many messages that met the same trouble, one tells of it: the last.
    fn notice(&mut self, place: Place, notice: Notice) {
        let same = |known: &(Place, Notice)| match (&known.1, &notice) {
            (Notice::Trouble { disposition: known_as, .. }, Notice::Trouble { disposition, .. }) => {
                known.0 == place && known_as == disposition
            }
            (known_as, notice) => known.0 == place && known_as == notice,
        };
        self.notices.retain(|known| !same(known));
        self.notices.push((place, notice));
    }

    /// What was said of the company's recipients, in the order in which it was heard. `written_to` names the numbers
    /// that the messages went to.
    pub(super) fn words(
        &self,
        company_id: Uuid,
        written_to: impl Fn(Key) -> Option<PhoneNumber>,
    ) -> Vec<Word> {
        let word = |refused: &Refused| {
            let Refused { key, recipient, scope, said_at, says } = *refused;
            let recipient = key.and_then(&written_to).or(recipient)?;
            Some(Word { company_id, recipient, scope, said_at, says })
        };
        self.refused.iter().filter_map(word).collect()
    }
}

#[cfg(test)]
mod tests;

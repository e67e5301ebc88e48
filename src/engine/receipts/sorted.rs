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
use crate::domain::suppression::Suppression;

/// How long the provider wants a recipient to be let be; one that is written to sooner is barred longer
/// (<https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes>, 131049).
const HOLD: Duration = Duration::from_secs(24 * 3_600);

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
    /// Something is wrong with the number or its account; when, if it is known.
    Trouble(Disposition, Failure, Option<Timestamp>),
    /// The provider has news of the number, to be asked for. All numbers of the account when `None`.
    Recheck(Option<PhoneNumber>),
}

/// Something about a recipient that a receipt said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) key: Option<Key>,
    /// As the provider calls them, which need not be the number that was written to.
    recipient: Option<PhoneNumber>,
    at: Timestamp,
    wish: Wish,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// Left out of this from now on.
    Stop(Suppression, Option<i64>),
    /// Let be until then.
    Hold(Timestamp, Option<i64>),
    /// Wants marketing again.
    Resume,
}

/// What becomes of a recipient's suppression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Suppressed, for ever or until then; with the provider's code.
    Suppressed(Option<Timestamp>, Option<i64>),
    Lifted,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub(super) receipts: Vec<(Place, Key, update::Receipt)>,
    /// Receipts that do not name their message.
    pub(super) nameless: u64,
    pub(super) refused: Vec<Refused>,
    /// Sends whose template the provider keeps back, and since when.
    pub(super) held_templates: BTreeMap<Uuid, Timestamp>,
    pub(super) templates: Vec<(Place, String, String, TemplateChange)>,
    pub(super) notices: Vec<(Place, Notice)>,
    /// Messages from people: the provider's id, and what came.
    pub(super) inbound: Vec<(Place, String, String)>,
    pub(super) unreadable: u64,
}

impl Sorted {
    pub(super) fn new(heard: Vec<Heard>, now: Timestamp) -> Self {
        let mut sorted = Self::default();
        for Heard { account, number, update } in heard {
            sorted.add(Place { account, number }, update, now);
        }
        sorted
    }

    fn add(&mut self, place: Place, update: Update, now: Timestamp) {
        match update {
            Update::Receipt(receipt) => self.receipt(place, receipt, now),
            Update::Template { provider_id: _, name, language, change } => {
                self.templates.push((place, name, language, change));
            }
            Update::Number { phone_number, event } => {
                tracing::info!(event, "the provider has news of a number");
                self.notice(place, Notice::Recheck(phone_number));
            }
            Update::Account(AccountChange::Disconnected(failure)) => {
                self.notice(place, Notice::Trouble(Disposition::Disconnect, failure, None));
            }
            Update::Account(AccountChange::Blocked(failure)) => {
                self.notice(place, Notice::Trouble(Disposition::Block, failure, None));
            }
            Update::Account(AccountChange::Restored) | Update::Limit { messaging_limit: _ } => {
                self.notice(place, Notice::Recheck(None));
            }
            Update::Account(AccountChange::Other(event)) => {
                tracing::info!(event, "the provider has news of a business account");
            }
            Update::Preference { recipient, stops, at } => {
                let wish = if stops { Wish::Stop(Suppression::Marketing, None) } else { Wish::Resume };
                self.refused.push(Refused { key: None, recipient: Some(recipient), at, wish });
            }
            Update::Inbound { id, from: _, at: _, payload } => self.inbound.push((place, id, payload)),
            Update::Trouble(disposition, failure) => {
                self.notice(place, Notice::Trouble(disposition, failure, None));
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
        let wish = match disposition {
            Disposition::Suppress(scope) => Wish::Stop(scope, failure.code),
            Disposition::HoldRecipient => {
                let until = receipt.at.plus(HOLD);
                if until <= now {
                    return;
                }
                Wish::Hold(until, failure.code)
            }
            Disposition::HoldTemplate => {
                self.held_templates.extend(receipt.key.map(|key| (key.send_id, receipt.at)));
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
                let at = Some(receipt.at);
                self.notice(place.clone(), Notice::Trouble(disposition, failure.clone(), at));
                return;
            }
        };
        let update::Receipt { key, recipient, at, .. } = *receipt;
        self.refused.push(Refused { key, recipient, at, wish });
    }

    /// Of many messages that met the same trouble, one tells of it: the last.
    fn notice(&mut self, place: Place, notice: Notice) {
        let same = |known: &(Place, Notice)| match (&known.1, &notice) {
            (Notice::Trouble(known_as, ..), Notice::Trouble(disposition, ..)) => {
                known.0 == place && known_as == disposition
            }
            (known_as, notice) => known.0 == place && known_as == notice,
        };
        self.notices.retain(|known| !same(known));
        self.notices.push((place, notice));
    }

    /// What becomes of each recipient of whom something was said, in the order in which it was said to have
    /// happened. `written_to` names the numbers that the messages went to.
    pub(super) fn verdicts(
        &mut self,
        written_to: impl Fn(Key) -> Option<PhoneNumber>,
    ) -> BTreeMap<(PhoneNumber, Suppression), Verdict> {
        self.refused.sort_by_key(|refused| refused.at);
        let mut verdicts = BTreeMap::new();
        for Refused { key, recipient, at: _, wish } in &self.refused {
            let Some(recipient) = key.and_then(&written_to).or(*recipient) else { continue };
            let (scope, said) = match *wish {
                Wish::Stop(scope, code) => (scope, Verdict::Suppressed(None, code)),
                Wish::Hold(until, code) => (Suppression::Marketing, Verdict::Suppressed(Some(until), code)),
                Wish::Resume => (Suppression::Marketing, Verdict::Lifted),
            };
            let is_held = matches!(said, Verdict::Suppressed(Some(_), _));
            // A hold neither ends what a person said nor what they took back.
            verdicts
                .entry((recipient, scope))
                .and_modify(|verdict| {
                    if !is_held || matches!(verdict, Verdict::Suppressed(Some(_), _)) {
                        *verdict = said;
                    }
                })
                .or_insert(said);
        }
        verdicts
    }
}

#[cfg(test)]
mod tests;

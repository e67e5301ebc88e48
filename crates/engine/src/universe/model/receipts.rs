//! Receipts: they move a message forward or change nothing, and an early one creates the row.

use super::{MessageRow, Model};
use domain::message::Key;
use domain::phone::PhoneNumber;
use domain::send::Recipients;
use store::ledger::{Ignored, Receipt};

impl Model {
    pub(super) fn receive(&mut self, receipts: &[Receipt]) -> Ignored {
        let mut ignored = Ignored::default();
        let mut receipts = receipts.to_vec();
        Receipt::reduce(&mut receipts);
        for receipt in receipts {
            let place = (receipt.key.send_id, receipt.key.ordinal);
            match self.messages.get_mut(&place) {
                Some(row) if row.company_id == receipt.company_id => {
                    let (before, company_id) = (row.state, receipt.company_id);
                    row.hear(receipt);
                    let state = row.state;
                    if state != before {
                        self.tell(place, company_id, state);
                    }
                }
                Some(_) => match self.attempted(&receipt) {
                    // The row of a message of another company stays.
                    Attempted::Yes(_) => {}
                    Attempted::Never => ignored.never_attempted += 1,
                    Attempted::Unknown => ignored.unknown_send += 1,
                },
                None => match self.attempted(&receipt) {
                    Attempted::Yes(recipient) => {
                        let (company_id, state) = (receipt.company_id, receipt.state);
                        self.messages.insert(place, MessageRow::early(recipient, receipt));
                        self.tell(place, company_id, state);
                    }
                    Attempted::Never => ignored.never_attempted += 1,
                    Attempted::Unknown => ignored.unknown_send += 1,
                },
            }
        }
        ignored
    }

    /// Whether the message of a receipt may have been attempted, and to whom.
    fn attempted(&self, receipt: &Receipt) -> Attempted {
        let key = receipt.key;
        let send = self.send(key.send_id).filter(|send| send.company_id == receipt.company_id);
        let Some(send) = send else { return Attempted::Unknown };
        if key.ordinal >= send.recipients.count().min(send.progress.high_water) {
            return Attempted::Never;
        }
        match send.recipients {
            Recipients::One(number) => Attempted::Yes(Some(number)),
            Recipients::Group => Attempted::Yes(None),
            Recipients::Blocks(_) => match self.number_at(key) {
                Some(number) => Attempted::Yes(Some(number)),
                None => Attempted::Unknown,
            },
        }
    }

    /// The recipient of this ordinal, by the recipient blocks.
    pub(super) fn number_at(&self, key: Key) -> Option<PhoneNumber> {
        let (first, numbers) = self.block_at(key.send_id, key.ordinal).ok()?;
        numbers.get(usize::try_from(key.ordinal - first).ok()?).copied()
    }
}

enum Attempted {
    Yes(Option<PhoneNumber>),
    Never,
    /// There is no such send, or the recipient is unknown.
    Unknown,
}

impl MessageRow {
    fn early(recipient: Option<PhoneNumber>, receipt: Receipt) -> Self {
        let Receipt { key: _, company_id, state, provider_message_id, error, at, charge: _ } = receipt;
        Self {
            company_id,
            recipient,
            state,
            attempts: 1,
            provider_message_id,
            error,
            retry_at: None,
            taken_at: Some(at),
            updated_at: at,
        }
    }

    fn hear(&mut self, receipt: Receipt) {
        if receipt.state.rank() <= self.state.rank() {
            return;
        }
        self.state = receipt.state;
        self.error = receipt.error;
        self.retry_at = None;
        self.taken_at = self.taken_at.or(Some(receipt.at));
        if self.provider_message_id.is_none() {
            self.provider_message_id = receipt.provider_message_id;
        }
        self.updated_at = self.updated_at.max(receipt.at);
    }
}

//! The sends of web sessions, by the time that is in their ids.

use uuid::Uuid;

use super::Model;
use clock::Timestamp;
use domain::content::Stored;
use domain::message::{Key, State as At};
use domain::phone::PhoneNumber;
use domain::send::Recipients;
use domain::tier::TURN_SPAN;

/// The bits of an id behind its milliseconds.
const BEHIND_MILLIS: u32 = 80;

impl Model {
    /// The sends of a web session whose message was handed over at `since` or later, or may have been, with the time when
    /// WhatsApp took it, or else that in their ids.
    pub(crate) fn web_attempts_since(&self, channel: Uuid, since: Timestamp) -> Vec<(Timestamp, Uuid)> {
        let first = since.minus(TURN_SPAN).millis().max(0).cast_unsigned();
        let first = Uuid::from_u128(u128::from(first) << BEHIND_MILLIS);
        let mut attempts = Vec::new();
        for (send_id, send) in self.sends.range(first..) {
            let is_single = !send.is_bulk() && send.expires_at.is_some();
            if send.channel_id != channel || !is_single || send.progress.high_water == 0 {
                continue;
            }
            // Whether the message was certainly not handed over, by any attempt.
            let row = self.message(Key { send_id: *send_id, ordinal: 0 });
            let taken_at = row.and_then(|row| row.taken_at);
            let is_unsent = row.filter(|row| row.taken_at.is_none()).is_some_and(|row| match row.state {
                At::Queued | At::Canceled | At::Expired => true,
                At::Failed => row.error.as_ref().and_then(|error| error.code).is_none(),
                _ => false,
            });
            if !is_unsent {
                let millis = (send_id.as_u128() >> BEHIND_MILLIS) as u64;
                let accepted = Timestamp::from_millis(millis.cast_signed());
                attempts.push((taken_at.map_or(accepted, |taken_at| taken_at.max(accepted)), *send_id));
            }
        }
        attempts.retain(|(at, _)| *at >= since);
        attempts.sort_unstable();
        attempts
    }

    /// The messages of a web session that keep their turn and wait, with their recipients.
    pub(crate) fn kept_turns(&self, channel: Uuid, now: Timestamp) -> Vec<(Uuid, Option<PhoneNumber>)> {
        let waiting = self.sends.iter().filter(|(_, send)| {
            let is_late = send.expires_at.is_none_or(|expires_at| expires_at <= now);
            send.channel_id == channel && send.is_active() && !send.is_bulk() && !is_late
        });
        let kept = waiting.filter(|(_, send)| {
            serde_json::from_str::<Stored>(&send.content).is_ok_and(|content| content.keeps_turn)
        });
        let recipient = |recipients| match recipients {
            Recipients::One(number) => Some(number),
            Recipients::Group | Recipients::Blocks(_) => None,
        };
        kept.map(|(id, send)| (*id, recipient(send.recipients))).collect()
    }

    /// The send of the channel whose id has these Unix milliseconds and ends with these bytes; `None` when there is
    /// none, or more than one.
    pub(crate) fn send_of_stamp(&self, channel: Uuid, millis: u64, tail: [u8; 3]) -> Option<Uuid> {
        let first = u128::from(millis) << BEHIND_MILLIS;
        let last = first | ((1 << BEHIND_MILLIS) - 1);
        let within = self.sends.range(Uuid::from_u128(first)..=Uuid::from_u128(last));
        let mut matching = within
            .filter(|(id, send)| send.channel_id == channel && id.as_bytes().ends_with(&tail))
            .map(|(id, _)| *id);
        matching.next().filter(|_| matching.next().is_none())
    }
}

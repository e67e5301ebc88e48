//! The people to whom channels sent templates recently.

use uuid::Uuid;

use super::{Model, SendRow};
use clock::Timestamp;
use domain::message::Key;
use domain::send::Recipients;
use domain::template::WrittenTo;

/// Messages of one send that are read at once.
const STRETCH: u64 = 10_000;

impl Model {
    /// Everybody to whom these channels sent a template since `since`. A message that was marked and has no row counts
    /// as sent at `now`; no message was sent later than that.
    pub(crate) fn template_recipients(
        &self,
        channels: &[Uuid],
        (since, now): (Timestamp, Timestamp),
    ) -> Vec<WrittenTo> {
        let counts = |send: &SendRow| {
            let is_recent = send.finished_at.is_none_or(|end| end >= since);
            channels.contains(&send.channel_id) && send.template_id.is_some() && is_recent
        };
        let mut people = Vec::new();
        for (send_id, send) in self.sends.iter().filter(|(_, send)| counts(send)) {
            let end = match send.recipients {
                // Rows are read in whole stretches.
                Recipients::Blocks(all) => send.progress.high_water.min(all).div_ceil(STRETCH) * STRETCH,
                Recipients::One(_) | Recipients::Group => 1,
            };
            for (_, row) in self.messages_of(*send_id).take_while(|(ordinal, _)| *ordinal < end) {
                let at = row.taken_at.filter(|at| *at > since);
                if let (Some(recipient), Some(at)) = (row.recipient, at) {
                    people.push(WrittenTo { recipient, at: at.min(now), is_certain: !row.state.is_open() });
                }
            }
            let marked = match send.recipients {
                Recipients::Blocks(_) => send.progress.settled..send.progress.high_water,
                Recipients::One(_) | Recipients::Group => 0..send.progress.high_water.min(1),
            };
            let marked = marked.map(|ordinal| Key { send_id: *send_id, ordinal });
            for key in marked.filter(|key| self.message(*key).is_none()) {
                let recipient = match send.recipients {
                    Recipients::One(number) => Some(number),
                    Recipients::Group => None,
                    Recipients::Blocks(_) => self.number_at(key),
                };
                people.extend(recipient.map(|recipient| WrittenTo { recipient, at: now, is_certain: false }));
            }
        }
        people
    }
}

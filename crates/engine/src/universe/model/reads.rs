//! The engine's reads.

use uuid::Uuid;

use super::{Model, SendRow, TemplateRow};
use clock::Timestamp;
use domain::message::Position;
use domain::phone::PhoneNumber;
use domain::send::{Control, Progress, Recipients, State, TemplateUse};
use store::Error;
use store::sends::{Ready, Size, Unfinished, Waiting, WaitingMessages};
use store::templates::MARKETING;
use store::templates::waiting::Candidate;

impl Model {
    /// The oldest unfinished sends of a channel that may go now, at most `limit`.
    pub(crate) fn unfinished(
        &self,
        channel: Uuid,
        size: Size,
        ready: Ready,
        limit: usize,
    ) -> Vec<Unfinished> {
        let may_go = |send: &SendRow| match send.template_id {
            None => true,
            Some(id) => ready.templates && self.template(id).is_some_and(TemplateRow::is_approved),
        };
        let ready =
            self.sends.iter().filter(|(_, send)| is_ready(send, channel, size, ready.now) && may_go(send));
        ready.map(|(id, send)| self.as_unfinished(*id, send)).take(limit).collect()
    }

    /// The unfinished ones of these sends, as [`Model::unfinished`] reads them.
    pub(crate) fn unfinished_among(&self, sends: &[Uuid]) -> Vec<Unfinished> {
        let among = self
            .sends
            .iter()
            .filter(|(id, send)| sends.contains(id) && send.is_active() && send.control == Control::Running);
        among.map(|(id, send)| self.as_unfinished(*id, send)).collect()
    }

    fn as_unfinished(&self, id: Uuid, send: &SendRow) -> Unfinished {
        let is_marketing = |id| self.template(id).is_some_and(|template| template.category == MARKETING);
        Unfinished {
            id,
            company_id: send.company_id,
            content: send.content.clone(),
            recipients: send.recipients,
            progress: send.progress,
            template: send.template_id.map(|id| TemplateUse { id, is_marketing: is_marketing(id) }),
            expires_at: send.expires_at,
        }
    }

    /// The messages of a send that wait: at most `limit` of those due before `horizon`, and how many more.
    pub(crate) fn waiting(&self, send_id: Uuid, horizon: Timestamp, limit: usize) -> WaitingMessages {
        let mut all: Vec<_> = self
            .messages_of(send_id)
            .filter_map(|(ordinal, row)| {
                let position = Position { ordinal, recipient: row.recipient };
                let (state, attempts, taken_at) = (row.state, row.attempts, row.taken_at);
                Some(Waiting { position, state, attempts, retry_at: row.retry_at?, taken_at })
            })
            .collect();
        all.sort_by_key(|waiting| (waiting.retry_at, waiting.position.ordinal));
        let near = all.partition_point(|waiting| waiting.retry_at < horizon);
        let soon: Vec<_> = all[..near.min(limit)].to_vec();
        let later = (all.len() - soon.len()) as u64;
        let cut = soon.last().filter(|_| soon.len() >= limit).map(|last| last.retry_at);
        let beyond = all.get(near).map(|waiting| waiting.retry_at);
        WaitingMessages { soon, later, later_due: cut.or(beyond).filter(|_| later > 0) }
    }

    /// The ordinals from `settled` up to the high-water mark that have a row, ascending.
    pub(crate) fn recorded(&self, send_id: Uuid, progress: Progress) -> Vec<u64> {
        let between = progress.settled..progress.high_water;
        self.messages_of(send_id).map(|(ordinal, _)| ordinal).filter(|it| between.contains(it)).collect()
    }

    /// The recipients of the block that holds `ordinal`, with the ordinal of the first of them.
    pub(crate) fn block_at(&self, send_id: Uuid, ordinal: u64) -> Result<(u64, Vec<PhoneNumber>), Error> {
        let mut before = self.blocks.range((send_id, 0)..=(send_id, ordinal));
        let none = || Error::Impossible(format!("send {send_id} has no block at {ordinal}"));
        before.next_back().map(|((_, first), numbers)| (*first, numbers.clone())).ok_or_else(none)
    }

    /// When the next scheduled send of a channel is due.
    pub(crate) fn next_due_send(&self, channel_id: Uuid, now: Timestamp) -> Option<Timestamp> {
        let running = self.sends.values().filter(|send| {
            send.channel_id == channel_id && send.is_active() && send.control == Control::Running
        });
        running.filter_map(|send| send.due_at).filter(|due| *due > now).min()
    }

    /// The oldest sends of a channel after `after` that have a template and wait only for the quota of templates, at
    /// most `limit`.
    pub(crate) fn waiting_templates(
        &self,
        channel: Uuid,
        size: Size,
        now: Timestamp,
        after: Uuid,
        limit: usize,
    ) -> Vec<Candidate> {
        let may_go = |send: &SendRow| {
            let template = send.template_id.and_then(|id| self.template(id));
            let has_more = !send.is_bulk() || send.progress.high_water < send.recipients.count();
            has_more && template.is_some_and(TemplateRow::is_approved)
        };
        let waiting = self
            .sends
            .iter()
            .filter(|(id, send)| **id > after && is_ready(send, channel, size, now) && may_go(send));
        let candidate = |(id, send): (&Uuid, &SendRow)| Candidate {
            id: *id,
            recipients: send.recipients,
            high_water: send.progress.high_water,
        };
        waiting.map(candidate).take(limit).collect()
    }
}

/// Whether people and the schedule let a send of a channel go now.
fn is_ready(send: &SendRow, channel_id: Uuid, size: Size, now: Timestamp) -> bool {
    send.channel_id == channel_id
        && send.state == Some(State::Active)
        && send.control == Control::Running
        && send.due_at.is_none_or(|due| due <= now)
        && match size {
            Size::Direct => !matches!(send.recipients, Recipients::Blocks(_)),
            Size::Bulk => matches!(send.recipients, Recipients::Blocks(_)),
        }
}

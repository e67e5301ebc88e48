//! The replay of an endpoint: events that it has got before, or that were given up, are sent once more. They are read in
//! parts, and become retries that are due at once, so that new events do not wait for them.

use std::time::Instant;

use super::effect::{Effect, Effects};
use super::input::{EndpointSettings, ReplayPage};
use super::retries::MOST_RETRIES;
use super::{LogReading, Machine, READ_PAUSE};
use crate::Moment;

/// The most events of a replay that wait at the same time.
const ROOM: usize = MOST_RETRIES / 2;
/// The least number of events to read at once.
const LEAST_PART: usize = 64;

/// What is still to be sent once more: the events after `after` up to `up_to`. Both are at most the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayRange {
    /// The sequence up to which events became retries.
    pub after: i64,
    /// The sequence of the last event that may be sent once more.
    pub up_to: i64,
}

impl ReplayRange {
    const fn is_over(self) -> bool {
        self.after >= self.up_to
    }
}

/// The replay of an endpoint, which may have none.
#[derive(Debug)]
pub(super) struct Replay {
    range: Option<ReplayRange>,
    reading: LogReading,
}

impl Replay {
    pub(super) const fn new(range: Option<ReplayRange>) -> Self {
        Self { range, reading: LogReading::Idle }
    }

    /// The sequence up to which events became retries; `None` without a replay.
    pub(super) fn place(&self) -> Option<i64> {
        self.range.map(|range| range.after)
    }

    pub(super) const fn again_at(&self) -> Option<Instant> {
        self.reading.again_at()
    }

    /// What is still to be sent once more.
    pub(super) fn rest(&self) -> Option<ReplayRange> {
        self.range.filter(|range| !range.is_over())
    }

    /// The rest is not sent.
    pub(super) fn end(&mut self) {
        if let Some(range) = &mut self.range {
            range.after = range.after.max(range.up_to);
        }
    }
}

impl Machine {
    /// Reads the next part of the replay while there is room for its events.
    pub(super) fn read_replay(&mut self, now: Instant, effects: &mut Effects) {
        let Some(ReplayRange { after, up_to }) = self.replay.rest() else { return };
        if !self.replay.reading.may_begin(now) {
            return;
        }
        let EndpointSettings { max_in_flight, batch, .. } = self.settings;
        let part = (2 * max_in_flight * batch).clamp(LEAST_PART, ROOM);
        let room = ROOM.saturating_sub(self.retries.fresh());
        let limit = match self.circuit.is_open() {
            false if room >= LEAST_PART => part.min(room),
            // A probe needs an event, and there is no other one.
            true if self.retries.len() == 0 && self.window.is_settled() => 1,
            _ => return,
        };
        self.replay.reading = LogReading::UnderWay;
        effects.push(Effect::ReadReplay { after, up_to, limit });
    }

    pub(super) fn was_replay_read(&mut self, result: Result<ReplayPage, String>, at: Moment) {
        self.replay.reading = LogReading::Idle;
        if self.replay.rest().is_none() {
            return;
        }
        match result {
            Ok(ReplayPage { items, up_to }) => {
                items.into_iter().for_each(|item| self.retries.send_once_more(item, at));
                if let Some(range) = &mut self.replay.range {
                    range.after = range.after.max(up_to);
                }
            }
            Err(error) => {
                tracing::error!(webhook.id = %self.endpoint, error, "cannot read events that a webhook gets once more, the read is retried");
                self.replay.reading = LogReading::Again(at.monotonic + READ_PAUSE);
            }
        }
    }
}

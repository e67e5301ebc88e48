//! Writes of an endpoint: one at a time, each with everything that changed since the last one.

use std::time::{Duration, Instant};

use super::Machine;
use super::circuit::EndpointHealth;
use super::effect::{Effect, Effects, Write};
use super::replay::ReplayRange;
use crate::Moment;

/// Delay before a failed write is repeated.
pub(super) const WRITE_PAUSE: Duration = Duration::from_secs(1);
/// Delay between writes of a cursor that passed only events that the endpoint does not want.
pub(super) const IDLE_INTERVAL: Duration = Duration::from_secs(10);

/// What is in the store, and the write under way.
#[derive(Debug)]
pub(super) struct EndpointWriting {
    cursor: i64,
    /// `None` after a failed write, which may have changed it.
    health: Option<EndpointHealth>,
    /// The place of the replay.
    replay: Option<i64>,
    under_way: Option<Write>,
    /// When the failed write is repeated.
    again_at: Option<Instant>,
    /// The last write failed, and was logged.
    is_failing: bool,
    /// When a write that is not urgent may begin.
    idle_until: Instant,
}

impl EndpointWriting {
    pub(super) fn new(
        cursor: i64,
        health: EndpointHealth,
        replay: Option<ReplayRange>,
        now: Instant,
    ) -> Self {
        Self {
            cursor,
            health: Some(health),
            replay: replay.map(|range| range.after),
            under_way: None,
            again_at: None,
            is_failing: false,
            idle_until: now,
        }
    }

    pub(super) const fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }
}

impl Machine {
    /// Writes what changed, unless a write is under way or pauses.
    pub(super) fn write(&mut self, at: Moment, effects: &mut Effects) {
        let now = at.monotonic;
        if self.write_at(now).is_none_or(|time| time > now) {
            return;
        }
        let (cursor, health) = (self.window.cursor(), self.circuit.health);
        let replay = self.replay.place();
        let write = Write {
            cursor: (cursor != self.writing.cursor).then_some(cursor),
            health: (Some(health) != self.writing.health).then_some(health),
            replay: replay.filter(|_| replay != self.writing.replay),
            ..self.retries.changes()
        };
        self.writing.again_at = None;
        self.writing.idle_until = now + IDLE_INTERVAL;
        self.writing.under_way = Some(write.clone());
        effects.push(Effect::Write(write));
    }

    /// When the next write begins; `None` while one is under way or nothing changed.
    pub(super) fn write_at(&self, now: Instant) -> Option<Instant> {
        let cursor = self.window.cursor();
        let is_urgent = self.retries.is_changed()
            || Some(self.circuit.health) != self.writing.health
            || self.replay.place() != self.writing.replay
            || cursor != self.writing.cursor && (self.is_stopping || self.window.passes_events(cursor));
        if self.writing.is_under_way() || !is_urgent && cursor == self.writing.cursor {
            return None;
        }
        let soonest = if is_urgent { now } else { self.writing.idle_until };
        Some(self.writing.again_at.map_or(soonest, |again| again.max(soonest)))
    }

    /// A write ended.
    pub(super) fn written(&mut self, result: Result<(), String>, at: Moment) {
        let Some(write) = self.writing.under_way.take() else { return };
        if let Err(error) = result {
            self.writing.again_at = Some(at.monotonic + WRITE_PAUSE);
            if write.health.is_some() {
                self.writing.health = None;
            }
            self.retries.changed_again(write);
            if !std::mem::replace(&mut self.writing.is_failing, true) {
                tracing::error!(webhook.id = %self.endpoint, error, "cannot write the state of a webhook, the write is repeated");
            }
            return;
        }
        self.writing.is_failing = false;
        if let Some(cursor) = write.cursor {
            self.writing.cursor = cursor;
            self.window.stored(cursor);
        }
        self.writing.health = write.health.or(self.writing.health);
        self.writing.replay = write.replay.or(self.writing.replay);
    }
}

//! How long a send takes together with the template for people whose window is closed.

use crate::clock::Timestamp;
use crate::domain::channel::Channel;
use crate::domain::plan::{Course, Estimate, estimate_from};
use crate::domain::tier::Tier;

/// The courses of the sends that a request makes, which take turns.
pub(super) struct Courses {
    pub(super) first: Course,
    /// That of the template for people whose window is closed, beside another send.
    other: Option<Course>,
}

impl Courses {
    pub(super) fn of(channel: &Channel, main: Course, closed: Option<Course>) -> Self {
        let main = Course { level: channel.level, ..main };
        let closed = closed.filter(|closed| closed.recipients > 0);
        let Some(closed) = closed else { return Self { first: main, other: None } };
        let closed = Course { level: channel.level, ..closed };
        if main.recipients == 0 {
            return Self { first: closed, other: None };
        }
        Self { first: main.clone().beside(&closed), other: Some(closed.beside(&main)) }
    }

    /// When both are over.
    pub(super) fn estimate(&self, tier: &Tier) -> Estimate {
        let of = |course: &Course| estimate_from(Timestamp::now(), course, tier);
        let first = of(&self.first);
        match self.other.as_ref().map(of) {
            Some(other) if other.takes >= first.takes => other,
            _ => first,
        }
    }
}

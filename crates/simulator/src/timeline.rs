//! Accepted messages per tenth of a second, only of the last minutes. They show whether a sender is even, or
//! has bursts that a figure per second hides.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Serialize, Serializer};

/// The width of a column.
const STEP_MILLIS: u64 = 100;
/// The columns that are kept: two minutes.
const COLUMNS: usize = 1_200;

/// Accepted messages per tenth of a second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Timeline {
    /// The width of a column, in milliseconds in JSON.
    #[serde(rename = "step_ms", serialize_with = "millis")]
    pub step: Duration,
    /// When the first column began, counted from the simulator's start; milliseconds in JSON.
    #[serde(rename = "begins_ms", serialize_with = "millis")]
    pub begins: Duration,
    /// The columns, the oldest first, up to the last that has a message; empty when there was none.
    pub accepted: Vec<u32>,
}

fn millis<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// The running count behind [`Timeline`].
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// The number of the first column, counted from the simulator's start.
    first: u64,
    columns: VecDeque<u32>,
}

impl Columns {
    /// Notes a message at this moment, in milliseconds since the simulator's start.
    pub(super) fn note(&mut self, now: u64) {
        let column = now / STEP_MILLIS;
        let end = self.first + self.columns.len() as u64;
        if self.columns.is_empty() || column >= end + COLUMNS as u64 {
            self.columns.clear();
            self.first = column;
        }
        // A moment before the first column counts as the first.
        let place = usize::try_from(column.saturating_sub(self.first)).unwrap_or_default();
        if place >= self.columns.len() {
            self.columns.resize(place + 1, 0);
        }
        self.columns[place] += 1;
        while self.columns.len() > COLUMNS {
            self.columns.pop_front();
            self.first += 1;
        }
    }

    /// The columns now.
    pub(super) fn shown(&self) -> Timeline {
        Timeline {
            step: Duration::from_millis(STEP_MILLIS),
            begins: Duration::from_millis(self.first * STEP_MILLIS),
            accepted: self.columns.iter().copied().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted_by_tenths_of_a_second() {
        let mut columns = Columns::default();
        for now in [1_000, 1_099, 1_100, 1_350] {
            columns.note(now);
        }
        let shown = columns.shown();
        assert_eq!((shown.begins, shown.accepted), (Duration::from_secs(1), vec![2, 1, 0, 1]));
    }

    #[test]
    fn only_the_newest_columns_are_kept() {
        let mut columns = Columns::default();
        columns.note(0);
        columns.note(COLUMNS as u64 * STEP_MILLIS);
        let shown = columns.shown();
        assert_eq!((shown.begins, shown.accepted.len()), (Duration::from_millis(100), COLUMNS));
        columns.note(10_000_000);
        assert_eq!(columns.shown().accepted, [1]);
    }
}

//! The messages of a company's sends of today and of the last days, by state, and why those of today failed. They are counted as the
//! figures of a large send are: in parts, in turns with other requests, and again only when counting takes a small share of the
//! time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::tallies::{PART, SMALL};
use crate::Error;
use crate::sends::Sends;
use clock::Timestamp;
use domain::message::State;
use domain::send::Counts;
use store::sends::Countable;

/// Sends that are read in one turn.
const PAGE: u64 = 500;
/// The most different causes of failures; further ones are counted together, without a code.
const MOST_CAUSES: usize = 64;

/// The days whose sends are counted: they differ between time zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Days {
    /// The company.
    pub company_id: Uuid,
    /// When the first of the days began.
    pub from: Timestamp,
    /// When the present day began.
    pub today: Timestamp,
}

/// The messages of the sends that were accepted in these days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayCounts {
    /// Of the present day.
    pub today: Counts,
    /// Why messages of the present day failed: how many of each code of the provider's, the most first. Failures without a code
    /// are together.
    pub failures: Vec<(Option<i64>, u64)>,
    /// Of all the days.
    pub all: Counts,
    /// When counting began.
    pub at: Timestamp,
}

impl DayCounts {
    fn new(at: Timestamp) -> Self {
        Self { today: Counts::default(), failures: Vec::new(), all: Counts::default(), at }
    }

    /// Adds failed messages of today by their causes.
    fn add_failures(&mut self, causes: Vec<(Option<i64>, u64)>) {
        for (code, messages) in causes {
            let has_room = self.failures.len() < MOST_CAUSES;
            let known = |code: Option<i64>| self.failures.iter().position(|(known, _)| *known == code);
            let code = if has_room || known(code).is_some() { code } else { None };
            match known(code) {
                Some(place) => self.failures[place].1 += messages,
                None => self.failures.push((code, messages)),
            }
        }
    }

    /// Adds the rows of a send, and its messages that have none.
    fn add(&mut self, days: &Days, send: &Countable, mut counts: Counts) {
        counts.add_rowless(send.state, send.high_water, send.recipients);
        self.all.add_all(&counts);
        if send.created_at >= days.today {
            self.today.add_all(&counts);
        }
    }
}

impl Sends<'_> {
    /// The messages of these days, which may be some seconds old; `None` when nobody counted them before, and counting takes
    /// longer than `patience`.
    pub async fn of_days(&self, days: Days, patience: Duration) -> Option<Arc<DayCounts>> {
        let (mut latest, is_due) = self.engine.0.days.ask(days.company_id, days, Instant::now());
        if is_due {
            let engine = self.engine.clone();
            self.engine.0.threads[1].spawn(async move { engine.sends().count_days_in_turn(days).await });
        }
        let counted = tokio::time::timeout(patience, latest.wait_for(Option::is_some)).await;
        counted.ok().and_then(|latest| latest.ok()?.clone())
    }

    async fn count_days_in_turn(self, days: Days) {
        let _turn = self.engine.0.days.turn(days.company_id).await;
        let started = Instant::now();
        let counted = self.count_days(&days).await;
        // A failure was logged.
        self.engine.0.days.counted(days, counted.ok(), started.elapsed());
    }

    async fn count_days(self, days: &Days) -> Result<DayCounts, Error> {
        let at = Timestamp::now();
        let mut counted = DayCounts::new(at);
        let mut before = None;
        loop {
            let records = self.engine.records_of(days.company_id).await?;
            let company = records.of(days.company_id);
            let page = company.sends().accepted_since(days.from, before, PAGE).await?;
            drop(records);
            let Some(last) = page.last() else {
                counted.failures.sort_by_key(|(code, messages)| (std::cmp::Reverse(*messages), *code));
                return Ok(counted);
            };
            before = Some(last.id);
            let (small, large): (Vec<_>, Vec<_>) = page.iter().partition(|send| send.recipients <= SMALL);
            let mut rest = small.as_slice();
            while !rest.is_empty() {
                let (batch, more) = rest.split_at(together(rest));
                self.count_batch(days, batch, &mut counted).await?;
                rest = more;
            }
            for send in large {
                self.count_large(days, send, &mut counted).await?;
            }
        }
    }

    /// Counts the messages of small sends, in one turn.
    async fn count_batch(
        self,
        days: &Days,
        sends: &[&Countable],
        counted: &mut DayCounts,
    ) -> Result<(), Error> {
        let ids: Vec<_> = sends.iter().map(|send| send.id).collect();
        let records = self.engine.records_of(days.company_id).await?;
        let mut rows = records.of(days.company_id).sends().count_each(&ids).await?;
        let of_today = sends.iter().filter(|send| send.created_at >= days.today).map(|send| send.id);
        let has_failed = |id: &Uuid| rows.get(id).is_some_and(|counts| counts.of(State::Failed) > 0);
        let failed: Vec<_> = of_today.filter(has_failed).collect();
        counted.add_failures(records.of(days.company_id).sends().causes_of(&failed).await?);
        for send in sends {
            counted.add(days, send, rows.remove(&send.id).unwrap_or_default());
        }
        Ok(())
    }

    /// Counts the messages of a large send, a part in each turn.
    async fn count_large(self, days: &Days, send: &Countable, counted: &mut DayCounts) -> Result<(), Error> {
        let mut counts = Counts::default();
        let (mut next, end) = (0, send.high_water.min(send.recipients));
        while next < end {
            let to = next.saturating_add(PART).min(end);
            let records = self.engine.records_of(days.company_id).await?;
            let part = records.of(days.company_id).sends().count_part(send.id, next, to).await?;
            counts.add_all(&part);
            if send.created_at >= days.today && part.of(State::Failed) > 0 {
                let causes = records.of(days.company_id).sends().causes_of_part(send.id, next, to).await?;
                counted.add_failures(causes);
            }
            next = to;
        }
        counted.add(days, send, counts);
        Ok(())
    }
}

/// How many of these sends are counted together, at least one.
fn together(sends: &[&Countable]) -> usize {
    let mut messages = 0;
    let fits = |send: &&&Countable| {
        messages += send.recipients;
        messages <= PART
    };
    sends.iter().take_while(fits).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::send::State as SendState;

    fn send(recipients: u64) -> Countable {
        let created_at = Timestamp::from_millis(5);
        Countable { id: Uuid::nil(), created_at, state: SendState::Active, recipients, high_water: 0 }
    }

    #[test]
    fn small_sends_are_counted_together_as_far_as_they_fit() {
        let (one, many) = (send(1), send(PART));
        assert_eq!(together(&[&one, &one, &one]), 3);
        assert_eq!(together(&[&one, &many, &one]), 1);
        assert_eq!(together(&[&many, &one]), 1);
    }

    #[test]
    fn a_send_of_today_counts_today_and_in_the_week_and_messages_without_rows_wait() {
        let days = |today| Days {
            company_id: Uuid::nil(),
            from: Timestamp::from_millis(0),
            today: Timestamp::from_millis(today),
        };
        let mut counted = DayCounts::new(Timestamp::from_millis(9));
        counted.add(&days(5), &send(3), Counts::default());
        counted.add(&days(6), &send(4), Counts::default());
        assert_eq!((counted.today.of(State::Queued), counted.all.of(State::Queued)), (3, 7));
    }

    #[test]
    fn causes_are_added_up_and_the_rarest_of_too_many_count_together() {
        let mut counted = DayCounts::new(Timestamp::from_millis(9));
        counted.add_failures(vec![(Some(131_026), 2), (None, 1)]);
        counted.add_failures(vec![(Some(131_026), 3)]);
        assert_eq!(counted.failures, [(Some(131_026), 5), (None, 1)]);
        counted.add_failures((0..1_000).map(|code| (Some(code), 1)).collect());
        assert_eq!(counted.failures.len(), MOST_CAUSES);
        assert_eq!(counted.failures.iter().map(|(_, messages)| messages).sum::<u64>(), 1_006);
    }
}

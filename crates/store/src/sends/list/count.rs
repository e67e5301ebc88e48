//! The messages of listed sends, counted by state.

use std::collections::HashMap;

use sea_orm::{QueryResult, Value};
use uuid::Uuid;

use super::Record;
use crate::Result;
use crate::nouns::{AllSends, Sends};
use domain::message;
use domain::send::Counts;

impl Sends<'_> {
    /// Counts the messages of those of these sends, smallest first, that have no more recipients than `budget` together.
    /// Returns the counts by the sends' ids.
    pub async fn counts_within(self, sends: &[Record], budget: u64) -> Result<HashMap<Uuid, Counts>> {
        let mut smallest: Vec<_> = sends.to_vec();
        smallest.sort_by_key(|send| send.recipients);
        let mut all = 0_u64;
        let fits = smallest.iter().take_while(|send| {
            all = all.saturating_add(send.recipients);
            all <= budget
        });
        let fits = fits.count();
        smallest.truncate(fits);
        self.count_messages(&mut smallest).await?;
        Ok(smallest.into_iter().map(|send| (send.id, send.counts)).collect())
    }

    /// Counts the messages of these sends by state, in one pass over them.
    pub(super) async fn count_messages(self, sends: &mut [Record]) -> Result<()> {
        let ids: Vec<_> = sends.iter().map(|send| send.id).collect();
        let mut counted = self.count_each(&ids).await?;
        for send in sends {
            send.counts = counted.remove(&send.id).unwrap_or_default();
            send.counts.add_rowless(send.state, send.progress.high_water, send.recipients);
        }
        Ok(())
    }
}

impl AllSends<'_> {
    /// The rows by state among those that [`Store::rows_between`](crate::Store::rows_between) selects with these parameters.
    pub(in crate::sends) async fn count_between(self, range: [Value; 3]) -> Result<Counts> {
        let sql = format!("SELECT COUNT(*), {} {}", count_of_each_state(), self.store.rows_between());
        self.store.row(sql, range).await?.map_or_else(|| Ok(Counts::default()), |row| counts(&row))
    }
}

/// The columns that count the rows in each state, in the order of the states, and then those that were answered.
pub(crate) fn count_of_each_state() -> String {
    let states = message::State::ALL.map(|state| format!("state = {}", state.as_i16()));
    let each = states.into_iter().chain([is_answered()]);
    each.map(|condition| format!("COUNT(*) FILTER (WHERE {condition})")).collect::<Vec<_>>().join(", ")
}

/// The condition for the row of a message that arrived and was answered. Answers to one in doubt are marked, too.
fn is_answered() -> String {
    let [sent, delivered, read] = message::State::TAKEN.map(message::State::as_i16);
    format!("answered_at IS NOT NULL AND state IN ({sent}, {delivered}, {read})")
}

/// Reads a row whose first column is followed by those of [`count_of_each_state`].
pub(crate) fn counts(row: &QueryResult) -> Result<Counts> {
    let number = |index: usize| row.try_get_by_index::<i64>(index).map(i64::cast_unsigned);
    let mut counts = Counts::default();
    for (index, state) in (1..).zip(message::State::ALL) {
        counts.add(state, number(index)?);
    }
    counts.add_answered(number(message::State::ALL.len() + 1)?);
    Ok(counts)
}

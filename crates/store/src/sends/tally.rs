//! Counts a part of a send's messages at a time, so that a count of millions blocks nothing.

use uuid::Uuid;

use super::list::{count_of_each_state, counts};
use crate::Result;
use crate::contacts::signed;
use crate::nouns::AllSends;
use domain::message::State;
use domain::send::{Cause, Pace, Part};

impl AllSends<'_> {
    /// Counts the rows of a send with ordinals from `from` up to `to`: by state, by what went wrong, and by the steps
    /// of `pace` in which the provider took them.
    pub async fn tally_part(self, send_id: Uuid, from: u64, to: u64, pace: &Pace) -> Result<Part> {
        let range = [send_id.into(), signed(from).into(), signed(to).into()];
        let within = self.store.rows_between();
        let mut part = Part::default();
        let each = count_of_each_state();
        if let Some(row) = self.store.row(format!("SELECT COUNT(*), {each} {within}"), range.clone()).await? {
            part.counts = counts(&row)?;
        }
        if State::RETRIED.into_iter().any(|state| part.counts.of(state) > 0) {
            let over = State::RETRIED.map(|state| state.as_i16().to_string()).join(", ");
            let sql = format!(
                "SELECT state, error_code, MIN(error), COUNT(*) {within} AND state IN ({over}) \
                 GROUP BY state, error_code"
            );
            for row in self.store.rows(sql, range.clone()).await? {
                part.causes.push(Cause {
                    state: super::state(row.try_get_by_index(0)?)?,
                    code: row.try_get_by_index(1)?,
                    sentence: row.try_get_by_index(2)?,
                    messages: row.try_get_by_index::<i64>(3)?.cast_unsigned(),
                });
            }
        }
        let step = i64::try_from(pace.step.as_millis()).unwrap_or(i64::MAX).max(1);
        let [id, from, to] = range;
        let sql = format!(
            "SELECT (taken_at - $4) / $5 AS step, COUNT(*) {within} AND taken_at IS NOT NULL GROUP BY 1"
        );
        for row in self.store.rows(sql, [id, from, to, pace.from.millis().into(), step.into()]).await? {
            let messages: i64 = row.try_get_by_index(1)?;
            part.taken.push((row.try_get_by_index(0)?, messages.cast_unsigned()));
        }
        Ok(part)
    }
}

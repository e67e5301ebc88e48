//! Counts a part of a send's messages at a time, so that a count of millions blocks nothing.

use sea_orm::Value;
use uuid::Uuid;

use crate::contacts::signed;
use crate::nouns::AllSends;
use crate::{Result, fetch};
use domain::message::State;
use domain::send::{Cause, Pace, Part};

impl AllSends<'_> {
    /// Counts the rows of a send with ordinals from `from` up to `to`: by state, by what went wrong, and by the steps
    /// of `pace` in which the provider took them.
    pub async fn tally_part(self, send_id: Uuid, from: u64, to: u64, pace: &Pace) -> Result<Part> {
        let range: [Value; 3] = [send_id.into(), signed(from).into(), signed(to).into()];
        let within = self.store.rows_between();
        let mut part = Part { counts: self.count_between(range.clone()).await?, ..Part::default() };
        if State::RETRIED.into_iter().any(|state| part.counts.of(state) > 0) {
            let over = State::RETRIED.map(|state| state.as_i16().to_string()).join(", ");
            let sql = format!(
                "SELECT state, error_code, MIN(error), COUNT(*) {within} AND state IN ({over}) \
                 GROUP BY state, error_code"
            );
            for (state, code, sentence, messages) in fetch(&self.store.read, sql, range.clone()).await? {
                let (state, messages) = (super::state(state)?, i64::cast_unsigned(messages));
                part.causes.push(Cause { state, code, sentence, messages });
            }
        }
        let step = i64::try_from(pace.step.as_millis()).unwrap_or(i64::MAX).max(1);
        let [id, from, to] = range;
        let sql = format!(
            "SELECT (taken_at - $4) / $5 AS step, COUNT(*) {within} AND taken_at IS NOT NULL GROUP BY 1"
        );
        let values = [id, from, to, pace.from.millis().into(), step.into()];
        let taken = fetch(&self.store.read, sql, values).await?.into_iter();
        part.taken.extend(taken.map(|(step, messages)| (step, i64::cast_unsigned(messages))));
        Ok(part)
    }
}

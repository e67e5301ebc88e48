//! Corrects moments that were written while the wall clock was ahead, once the clock was set back.
//!
//! Rows have times: when they were written, and until when something waits. A row with a later time than now was
//! written by a clock that was ahead: left unchanged, it would wait for as long as the clock was wrong.

use std::time::Duration;

use super::{Result, execute};
use crate::nouns::AllSends;
use clock::Timestamp;
use domain::send::State;

/// The tables and columns with times of statements about recipients and templates. Those of a person whose number is not
/// known wait in a table of their own.
const SAID: [(&str, &str); 5] = [
    ("suppression", "said_at"),
    ("person_statement", "said_at"),
    ("template", "status_said_at"),
    ("template", "quality_said_at"),
    ("template", "category_said_at"),
];

impl AllSends<'_> {
    /// Corrects times after the clock went back. Waits that the service decided on (messages that wait for a retry, and
    /// holds of recipients, none of which lasts longer than `longest_hold`) get their intended length from `now` on.
    /// Statements about recipients and templates with a future time count as made now, so that later ones count. Times
    /// that clients requested stay: a schedule follows the clock. Returns how many rows moved.
    ///
    /// Each SQL statement is a transaction of its own, so that it holds no lock while it waits for another.
    pub async fn clock_went_back(self, now: Timestamp, longest_hold: Duration) -> Result<u64> {
        let moment = || now.millis().into();
        let active = State::Active.as_i16();
        let sql = format!(
            "UPDATE message SET retry_at = retry_at - updated_at + $1, updated_at = $2 \
             WHERE retry_at IS NOT NULL AND updated_at > $3 \
             AND send_id IN (SELECT id FROM send WHERE state < 2 AND state = {active})"
        );
        let values = [moment(), moment(), moment()];
        let waiting = execute(&self.store.write, &sql, values).await?;
        if waiting > 0 {
            // A send that waits until its first message is due is checked again, which finds the new time.
            let sql = format!(
                "UPDATE send SET due_at = NULL WHERE state < 2 AND state = {active} AND due_at > $1 \
                 AND (send_at IS NULL OR due_at <> send_at)"
            );
            execute(&self.store.write, &sql, [moment()]).await?;
        }
        let mut said = 0;
        for column in SAID {
            said += self.set_back(column, now).await?;
        }
        let held = self.set_back(("suppression", "until"), now.plus(longest_hold)).await?;
        Ok(waiting + said + held)
    }

    /// Sets the times in a column that are later than this to it. Returns how many there are.
    async fn set_back(self, (table, column): (&str, &str), to: Timestamp) -> Result<u64> {
        let sql = format!("UPDATE {table} SET {column} = $1 WHERE {column} > $2");
        execute(&self.store.write, sql, [to.millis().into(), to.millis().into()]).await
    }
}

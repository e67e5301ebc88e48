//! The contacts behind selected messages of a send.

use uuid::Uuid;

use super::SendSnapshot;
use super::selected::{STRETCH, is_meant};
use crate::Result;
use crate::contacts::search::{ORDINALS, listed};
use crate::contacts::signed;
use crate::dialect::{Rows, Type};
use crate::nouns::Messages;
use domain::message::Reception;
use domain::phone::PhoneNumber;

/// Messages that one statement examines, so that the time of a statement is bounded.
const SPAN: u64 = 250_000;

impl Messages<'_> {
    /// The ordinals of those contacts of `company` whose numbers the selected messages went to, in any order. Of a person
    /// with several forms of a number, the contact with the form in the send counts.
    ///
    /// Each message costs a look into an index, and each contact that is found takes a few bytes of memory.
    pub(crate) async fn places(
        self,
        company: Uuid,
        snapshot: &SendSnapshot,
        reception: Reception,
    ) -> Result<Vec<i64>> {
        let selection = &reception.selection();
        let may_be_rowless =
            selection.has_wordless(snapshot.unattempted) || selection.has_wordless(snapshot.reserved);
        let progress = snapshot.progress;
        let rows_end = if may_be_rowless { progress.settled } else { progress.high_water };
        let rows_end = rows_end.min(snapshot.recipients);
        let (mut places, mut next) = (Vec::new(), 0);
        while next < rows_end {
            let end = rows_end.min(next + SPAN);
            places.extend(self.places_of_rows(company, snapshot, reception, (next, end)).await?);
            next = end;
        }
        while may_be_rowless && next < snapshot.recipients {
            let stretch = self.stretch(snapshot, next, STRETCH).await?;
            let Some(last) = stretch.last() else { break };
            next = last.outcome.position.ordinal + 1;
            let meant = stretch.iter().filter(|message| is_meant(selection, message));
            let numbers: Vec<_> = meant.filter_map(|message| message.outcome.position.recipient).collect();
            places.extend(self.places_of_numbers(company, &numbers).await?);
        }
        Ok(places)
    }

    async fn places_of_rows(
        self,
        company: Uuid,
        snapshot: &SendSnapshot,
        reception: Reception,
        (from, to): (u64, u64),
    ) -> Result<Vec<i64>> {
        let states = reception.selection().states.into_iter().map(|state| state.as_i16().to_string());
        let states = states.collect::<Vec<_>>().join(", ");
        let answered = match reception.is_answered() {
            Some(true) => " AND answered_at IS NOT NULL",
            Some(false) => " AND answered_at IS NULL",
            None => "",
        };
        let select = format!(
            "{ORDINALS} (SELECT recipient {} AND state IN ({states}){answered}) AS reached CROSS JOIN contact \
             WHERE contact.company_id = $4 AND contact.phone = reached.recipient",
            self.store.rows_between()
        );
        let values = [snapshot.send_id.into(), signed(from).into(), signed(to).into(), company.into()];
        listed(&self.store.read, select, values).await
    }

    async fn places_of_numbers(self, company: Uuid, numbers: &[PhoneNumber]) -> Result<Vec<i64>> {
        let mut wanted = Rows::new(self.store.backend, &[("phone", Type::Int)]);
        numbers.iter().for_each(|number| wanted.push([number.as_i64().into()]));
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let (wanted, values) = wanted.behind([company.into()]);
        let select = format!(
            "{ORDINALS} {wanted} AS wanted CROSS JOIN contact \
             WHERE contact.company_id = $1 AND contact.phone = wanted.phone"
        );
        listed(&self.store.read, select, values).await
    }
}

//! Suppressions of a company, for people: a page at a time, and those of certain numbers.

use sea_orm::{PaginatorTrait as _, QuerySelect as _, Value};

use super::{Kept, kept, qualified_columns, read};
use crate::Result;
use crate::dialect::{Rows, Type};
use crate::nouns::Suppressions;
use clock::Timestamp;
use domain::page::{Page, PageRequest};
use domain::phone::PhoneNumber;

/// Recipients that are looked up together.
const TOGETHER: usize = 5_000;
const RECIPIENT: &[(&str, Type)] = &[("recipient", Type::Int)];

impl Suppressions<'_> {
    /// The suppressions of these recipients that hold at `now`. A recipient is found only by the number under which the
    /// person is known, or was when the suppression began.
    pub async fn among(self, recipients: &[PhoneNumber], now: Timestamp) -> Result<Vec<Kept>> {
        let mut found = Vec::new();
        for recipients in recipients.chunks(TOGETHER) {
            let mut asked = Rows::new(self.store.backend, RECIPIENT);
            recipients.iter().for_each(|recipient| asked.push([recipient.as_i64().into()]));
            let (asked, values) = asked.select(3);
            let sql = format!(
                "SELECT {} FROM {asked} AS asked JOIN suppression \
                 ON suppression.company_id = $1 AND suppression.recipient = asked.recipient \
                 WHERE suppression.until IS NULL OR suppression.until > $2 \
                 ORDER BY suppression.recipient, suppression.scope",
                qualified_columns()
            );
            let before: [Value; 2] = [self.company.into(), now.millis().into()];
            for row in &self.store.rows(sql, before.into_iter().chain(values)).await? {
                found.push(read(row)?);
            }
        }
        Ok(found)
    }

    /// One page of the suppressions of `company` that hold at `now`, by number; only of the person with one number, if given.
    pub async fn page(
        self,
        page: PageRequest,
        of: Option<PhoneNumber>,
        now: Timestamp,
    ) -> Result<Page<Kept>> {
        let matching = match of {
            Some(number) => {
                let persons = self.store.of(self.company).persons();
                self.of_forms(&persons.forms_in(&self.store.read, number).await?, now)
            }
            None => self.holding(now),
        };
        let counted = matching.clone().count(&self.store.read);
        let shown = matching.limit(page.limit).offset(page.offset()).all(&self.store.read);
        // Each query reads many rows, so both run at the same time.
        let (total, models) = tokio::try_join!(counted, shown)?;
        Ok(Page { records: models.iter().map(kept).collect::<Result<_>>()?, total })
    }
}

//! Suppressions of a company, for people: a page at a time, and those of certain numbers.

use sea_orm::Value;

use super::{COLUMNS, Kept, listed, qualified_columns, read};
use crate::Result;
use crate::contacts::signed;
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
        let mut condition = "company_id = $1 AND (until IS NULL OR until > $2)".to_owned();
        let mut values: Vec<Value> = vec![self.company.into(), now.millis().into()];
        if let Some(number) = of {
            let forms = self.store.of(self.company).persons().forms_in(&self.store.read, number).await?;
            condition.push_str(&format!(" AND recipient IN ({})", listed(&forms)));
        }
        let count = format!("SELECT count(*) FROM suppression WHERE {condition}");
        let counted = self.store.count(count, values.clone());
        let (limit, offset) = (values.len() + 1, values.len() + 2);
        let select = format!(
            "SELECT {COLUMNS} FROM suppression WHERE {condition} ORDER BY recipient, scope
             LIMIT ${limit} OFFSET ${offset}"
        );
        values.extend([signed(page.limit).into(), signed(page.offset()).into()]);
        // Each query reads many rows, so both run at the same time.
        let (total, rows) = tokio::try_join!(counted, self.store.rows(select, values))?;
        Ok(Page { records: rows.iter().map(read).collect::<Result<_>>()?, total })
    }
}

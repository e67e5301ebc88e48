//! Suppressions of a company, a page at a time, for people.

use sea_orm::{FromQueryResult as _, Value};

use super::{COLUMNS, Kept, Row, listed};
use crate::Result;
use crate::contacts::signed;
use crate::nouns::Suppressions;
use clock::Timestamp;
use domain::page::{Page, PageRequest};
use domain::phone::PhoneNumber;

impl Suppressions<'_> {
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
        let kept = rows.iter().map(|row| Row::from_query_result(row, "")?.try_into());
        Ok(Page { records: kept.collect::<Result<_>>()?, total })
    }
}

//! The family of a send: its retries, their retries, and the sends of which it is a retry. A message to one person is in
//! several of them, and should arrive by one.

use uuid::Uuid;

use super::messages::SendSnapshot;
use crate::nouns::Sends;
use crate::{Result, fetch};
use domain::send::Source;

/// How many retries of each send a record names, the newest ones.
const MOST_RETRIES: u32 = 100;

/// The kind of the sources that are sends.
const KIND: i16 = Source::Send(Uuid::nil()).kind();
/// The kind of the sources that are sends whose content a template stands in for.
pub(super) const CLOSED: i16 = Source::Closed(None).kind();

/// A send of a company, and the sends of which it is a retry, as the beginning of a statement: the send and the company are
/// these parameters.
fn ancestors(send: &str, company: &str) -> String {
    format!(
        "WITH RECURSIVE ancestor(id) AS (SELECT id FROM send WHERE id = {send} AND company_id = {company} \
         UNION SELECT source_id FROM send_source JOIN ancestor ON send_source.send_id = ancestor.id \
         WHERE kind = {KIND})"
    )
}

impl Sends<'_> {
    /// The oldest send of the family, by which all its sends know it. It may have been removed.
    pub async fn first_of_family(self, send_id: Uuid) -> Result<Uuid> {
        let sql = format!("{} SELECT id FROM ancestor", ancestors("$1", "$2"));
        let ancestors = fetch::<Uuid>(&self.store.read, sql, [send_id.into(), self.company.into()]).await?;
        // Ids rise with time, and a retry is younger than its send.
        Ok(ancestors.into_iter().fold(send_id, |first, id| first.min(id)))
    }

    /// The other accepted sends of the family, the oldest first.
    pub async fn relatives(self, send_id: Uuid) -> Result<Vec<SendSnapshot>> {
        let chosen = format!(
            "id <> $3 AND id IN ({}, relative(id) AS (SELECT id FROM ancestor \
             UNION SELECT send_source.send_id FROM send_source \
             JOIN relative ON send_source.source_id = relative.id WHERE send_source.kind = {KIND}) \
             SELECT id FROM relative)",
            ancestors("$3", "$1")
        );
        self.snapshots(&chosen, send_id).await
    }
}

/// The statement that reads what was made of the sends that are rows of `asked`, the newest first, with the kind of its source:
/// their retries, and the send of a template that goes to people whose window is closed.
pub(super) fn made_of(asked: &str) -> String {
    format!(
        "SELECT source_id, send_id, kind FROM (SELECT source_id, send_id, send_source.kind, \
         ROW_NUMBER() OVER (PARTITION BY source_id, send_source.kind ORDER BY send_id DESC) AS place \
         FROM send_source JOIN send ON send.id = send_source.send_id \
         WHERE send_source.kind IN ({KIND}, {CLOSED}) AND send.state > {resolving} \
         AND source_id IN (SELECT id FROM {asked} AS asked)) AS made \
         WHERE place <= {MOST_RETRIES} ORDER BY source_id, send_id DESC",
        resolving = domain::send::State::Resolving.as_i16(),
    )
}

//! New sends, their recipients and the answers that are kept with them.

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::{Activation, BlockOf, NewSend, PendingWrites, State};
use crate::dialect::{Bulk, Cell, Type};
use crate::lease::Lease;
use crate::nouns::Ledger;
use crate::sends::stored_recipient;
use crate::{Error, Result, execute};
use clock::Timestamp;
use domain::send::Recipients;

pub(super) const SEND: &[(&str, Type)] = &[
    ("id", Type::Uuid),
    ("company_id", Type::Uuid),
    ("channel_id", Type::Uuid),
    ("state", Type::Int),
    ("content", Type::Text),
    ("recipients", Type::Int),
    ("recipient", Type::Int),
    ("template_id", Type::Int),
    ("skipped", Type::Int),
    ("send_at", Type::Int),
    ("expires_at", Type::Int),
    ("reference", Type::Text),
    ("metadata", Type::Text),
    ("given_name", Type::Text),
    ("given_name_folded", Type::Text),
    ("made_by", Type::Text),
];
const BLOCK: &[(&str, Type)] = &[
    ("send_id", Type::Uuid),
    ("first_ordinal", Type::Int),
    ("recipients", Type::Int),
    ("packed", Type::Bytes),
];
const ANSWER: &[(&str, Type)] = &[
    ("company_id", Type::Uuid),
    ("key", Type::Text),
    ("fingerprint", Type::Bytes),
    ("send_id", Type::Uuid),
    ("recipients", Type::Int),
    ("skipped", Type::Int),
    ("skipped_first", Type::Text),
];

impl Ledger<'_> {
    /// The new sends, as they are written.
    pub(super) fn rows_of_sends(self, batch: &PendingWrites) -> Bulk {
        let mut rows = Bulk::new(self.store.backend, SEND);
        batch.sends.iter().for_each(|send| rows.push(cells_of(send)));
        rows
    }

    /// Inserts new sends in a transaction that has checked the lease.
    pub(super) async fn insert_sends(
        self,
        to: &impl ConnectionTrait,
        lease: &Lease,
        rows: Bulk,
        now: Timestamp,
    ) -> Result<()> {
        let resolver = lease.node();
        self.store
            .write(to, rows, vec![now.millis().into()], |incoming, now| {
                insert_into_send(incoming, now, resolver)
            })
            .await?;
        Ok(())
    }

    /// Inserts new sends in a statement of their own, on SQLite, where the lease cannot be lost.
    pub(super) async fn insert_sends_alone(self, rows: Bulk, now: Timestamp) -> Result<()> {
        let own = vec![now.millis().into()];
        let insert = |incoming: &str, now| insert_into_send(incoming, now, None);
        self.store
            .try_write(&self.store.write, rows, own, insert)
            .await
            .map(drop)
            .map_err(Error::while_committing)
    }

    pub(super) async fn insert_blocks(self, to: &impl ConnectionTrait, batch: &PendingWrites) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, BLOCK);
        for BlockOf { send_id, block } in &batch.blocks {
            rows.push([
                (*send_id).into(),
                block.first_ordinal.cast_signed().into(),
                block.recipients.cast_signed().into(),
                Cell::Bytes(&block.packed),
            ]);
        }
        let written = self.store.write(to, rows, Vec::new(), |incoming, _| {
            format!(
                "INSERT INTO recipient_block (send_id, first_ordinal, recipients, packed) \
                 SELECT incoming.send_id, incoming.first_ordinal, incoming.recipients, incoming.packed \
                 FROM {incoming} AS incoming JOIN send ON send.id = incoming.send_id \
                 AND send.state IN ({}, {})",
                State::Resolving.as_i16(),
                State::Active.as_i16(),
            )
        });
        if written.await? == batch.blocks.len() as u64 {
            return Ok(());
        }
        Err(Error::Missing("a send whose audience is being written is not there any more".to_owned()))
    }

    pub(super) async fn activate(self, to: &impl ConnectionTrait, batch: &PendingWrites) -> Result<()> {
        for Activation { send_id, recipients, skipped, instead } in &batch.activations {
            let main = (*send_id, *recipients, *skipped);
            let instead = instead.map(|instead| (instead.send_id, instead.recipients, 0));
            for (send_id, recipients, skipped) in [main].into_iter().chain(instead) {
                let sql =
                    "UPDATE send SET state = $2, recipients = $3, skipped = $4 WHERE id = $1 AND state = $5";
                let values = [
                    send_id.into(),
                    State::Active.as_i16().into(),
                    recipients.cast_signed().into(),
                    skipped.cast_signed().into(),
                    State::Resolving.as_i16().into(),
                ];
                if execute(to, sql, values).await? != 1 {
                    return Err(Error::Missing(format!(
                        "the send {send_id} is not being resolved (any more)"
                    )));
                }
            }
        }
        Ok(())
    }

    pub(super) async fn keep_answers(
        self,
        to: &impl ConnectionTrait,
        batch: &PendingWrites,
        now: Timestamp,
    ) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, ANSWER);
        let mut answers: Vec<_> = batch.answers.iter().collect();
        answers.sort_by_key(|answer| (answer.company_id, &answer.key));
        for answer in answers {
            rows.push([
                answer.company_id.into(),
                answer.key.as_str().into(),
                Cell::Bytes(&answer.fingerprint),
                answer.send_id.into(),
                answer.recipients.cast_signed().into(),
                answer.skipped.cast_signed().into(),
                answer.skipped_first.as_str().into(),
            ]);
        }
        // An answer that is too old to be given again makes room for a new one under the same key.
        self.store.write(to, rows, vec![now.millis().into()], |incoming, now| {
            format!(
                "INSERT INTO idempotency_key (company_id, key, fingerprint, send_id, recipients, skipped, \
                 skipped_first, created_at) \
                 SELECT company_id, key, fingerprint, send_id, recipients, skipped, skipped_first, ${now} \
                 FROM {incoming} AS incoming WHERE TRUE \
                 ON CONFLICT (company_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, \
                 send_id = excluded.send_id, recipients = excluded.recipients, skipped = excluded.skipped, \
                 skipped_first = excluded.skipped_first, created_at = excluded.created_at, result = NULL"
            )
        })
        .await?;
        Ok(())
    }
}

/// The row of a new send, as [`SEND`] names its columns.
pub(super) fn cells_of(send: &NewSend) -> [Cell<'_>; SEND.len()] {
    let recipient = match send.recipients {
        Recipients::One(number) => Some(stored_recipient(Some(number))),
        Recipients::Group => Some(stored_recipient(None)),
        Recipients::Blocks(_) => None,
    };
    [
        send.id.into(),
        send.company_id.into(),
        send.channel_id.into(),
        i64::from(send.state.as_i16()).into(),
        send.content.as_str().into(),
        send.recipients.count().cast_signed().into(),
        Cell::Int(recipient),
        Cell::Int(send.template_id),
        send.skipped.cast_signed().into(),
        Cell::Int(send.schedule.send_at.map(Timestamp::millis)),
        Cell::Int(send.schedule.expires_at.map(Timestamp::millis)),
        Cell::Text(send.label.reference.as_deref()),
        Cell::Text(send.label.metadata.as_deref()),
        Cell::Text(send.label.name.as_deref()),
        Cell::Text(send.label.name_folded.as_deref()),
        Cell::Text(send.label.made_by.as_deref()),
    ]
}

/// The statement that inserts sends. It ends with the source of the rows. A node of a cluster writes its id into the
/// sends whose audience it still resolves.
pub(super) fn insert_into_send(incoming: &str, now: usize, node: Option<Uuid>) -> String {
    let (column, signature) = node.map_or_else(Default::default, |node| {
        let resolving = State::Resolving.as_i16();
        (", resolver", format!(", CASE WHEN state = {resolving} THEN UUID '{node}' END"))
    });
    format!(
        "INSERT INTO send (id, company_id, channel_id, state, content, recipients, recipient, \
         template_id, skipped, due_at, send_at, expires_at, reference, metadata, given_name, given_name_folded, \
         made_by, high_water, settled, created_at{column}) \
         SELECT id, company_id, channel_id, state, content, recipients, recipient, template_id, \
         skipped, send_at, send_at, expires_at, reference, metadata, given_name, given_name_folded, made_by, 0, 0, \
         ${now}{signature} \
         FROM {incoming} AS incoming"
    )
}

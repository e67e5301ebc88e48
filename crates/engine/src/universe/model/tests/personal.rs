//! Values, references and skipped entries in random batches and in the store's tables.

use sea_orm::{ConnectionTrait as _, DatabaseConnection, QueryResult, Statement};
use uuid::Uuid;

use crate::universe::model::personal::PersonalRows;
use domain::send::Block;
use machines::dice::Dice;
use store::ledger::{BlockOf, PendingWrites, PersonalSend, ReferenceOf, SkippedOf};

/// The tables that have rows of it.
pub(super) const TABLES: [&str; 4] = ["personal_send", "send_values", "message_reference", "send_skipped"];

/// Adds what belongs to a new send with so many recipients.
pub(super) fn add(
    dice: &mut Dice,
    batch: &mut PendingWrites,
    (send_id, company_id): (Uuid, Uuid),
    recipients: u64,
) {
    batch.personal.push(PersonalSend { send_id, company_id, seal: Uuid::from_u128(dice.wide()) });
    for first_ordinal in (0..recipients).step_by(2) {
        let recipients = (recipients - first_ordinal).min(2);
        let packed = vec![dice.below(256) as u8; 3];
        batch.values.push(BlockOf { send_id, block: Block { first_ordinal, recipients, packed } });
    }
    for ordinal in 0..recipients {
        if !dice.happens(400) {
            continue;
        }
        let reference = format!("crm-{}", dice.below(4));
        batch.references.push(ReferenceOf { send_id, company_id, ordinal, reference });
    }
    for place in 0..dice.below(3) {
        batch.skipped.push(SkippedOf { send_id, place, entries: 1, packed: format!("[{place}]") });
    }
}

/// All rows of the four tables.
pub(super) async fn rows(raw: &DatabaseConnection) -> PersonalRows {
    let all = async |table: &str| {
        let sql = Statement::from_string(raw.get_database_backend(), format!("SELECT * FROM {table}"));
        raw.query_all_raw(sql).await.unwrap()
    };
    let id = |row: &QueryResult, column: &str| row.try_get::<Uuid>("", column).unwrap();
    let int = |row: &QueryResult, column: &str| row.try_get::<i64>("", column).unwrap().cast_unsigned();
    let text = |row: &QueryResult, column: &str| row.try_get::<String>("", column).unwrap();
    let bytes = |row: &QueryResult, column: &str| row.try_get::<Vec<u8>>("", column).unwrap();
    let (sends, values) = (all("personal_send").await, all("send_values").await);
    let (references, skipped) = (all("message_reference").await, all("send_skipped").await);
    PersonalRows {
        sends: sends
            .iter()
            .map(|row| (id(row, "send_id"), (id(row, "company_id"), id(row, "seal"))))
            .collect(),
        values: values
            .iter()
            .map(|row| {
                let place = (id(row, "send_id"), int(row, "first_ordinal"));
                (place, (int(row, "recipients"), bytes(row, "packed")))
            })
            .collect(),
        references: references
            .iter()
            .map(|row| {
                let place = (id(row, "send_id"), int(row, "ordinal"));
                (place, (id(row, "company_id"), text(row, "reference")))
            })
            .collect(),
        skipped: skipped
            .iter()
            .map(|row| {
                let place = (id(row, "send_id"), int(row, "place"));
                (place, (int(row, "entries"), text(row, "packed")))
            })
            .collect(),
    }
}

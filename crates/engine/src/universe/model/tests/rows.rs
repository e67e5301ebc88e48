//! The store's rows as the model has them.

use entity::{message, send, suppression, template};
use uuid::Uuid;

use super::operation::PAUSED_AT;
use crate::universe::model::{MessageRow, SendRow, SuppressionRow, TemplateRow};
use clock::Timestamp;
use domain::message::{Failure, State as At};
use domain::phone::PhoneNumber;
use domain::send::{Control, Progress, Recipients, State};
use domain::suppression::{Source, Suppression};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(super) fn send_row(row: send::Model) -> (Uuid, SendRow) {
    let recipients = match row.recipient {
        None => Recipients::Blocks(row.recipients.cast_unsigned()),
        Some(0) => Recipients::Group,
        Some(number) => Recipients::One(PhoneNumber::from_i64(number).unwrap()),
    };
    let progress =
        Progress { high_water: row.high_water.cast_unsigned(), settled: row.settled.cast_unsigned() };
    let send = SendRow {
        company_id: row.company_id,
        channel_id: row.channel_id,
        state: State::from_i16(row.state),
        control: Control::from_i16(row.control).unwrap(),
        content: row.content,
        template_id: row.template_id,
        recipients,
        skipped: row.skipped.cast_unsigned(),
        progress,
        due_at: row.due_at.map(at),
        send_at: row.send_at.map(at),
        expires_at: row.expires_at.map(at),
        created_at: at(row.created_at),
        finished_at: row.finished_at.map(at),
    };
    assert!(send.state.is_some() || row.state == -1, "{} is no state", row.state);
    (row.id, send)
}

pub(super) fn message_row(row: message::Model) -> ((Uuid, u64), MessageRow) {
    let message = MessageRow {
        company_id: row.company_id,
        recipient: PhoneNumber::from_i64(row.recipient),
        state: At::from_i16(row.state).unwrap(),
        attempts: row.attempts.cast_unsigned(),
        provider_message_id: row.provider_message_id,
        error: row.error.map(|sentence| Failure { code: row.error_code, sentence }),
        retry_at: row.retry_at.map(at),
        taken_at: row.taken_at.map(at),
        updated_at: at(row.updated_at),
    };
    ((row.send_id, row.ordinal.cast_unsigned()), message)
}

pub(super) fn suppression_row(
    row: &suppression::Model,
) -> ((Uuid, PhoneNumber, Suppression), SuppressionRow) {
    let scope = Suppression::from_i16(row.scope).unwrap();
    let subject = (row.company_id, PhoneNumber::from_i64(row.recipient).unwrap(), scope);
    let kept = SuppressionRow {
        until: row.until.map(at),
        provider_code: row.provider_code,
        created_at: at(row.created_at),
        said_at: at(row.said_at),
        source: row.source.and_then(Source::from_i16),
    };
    (subject, kept)
}

pub(super) fn template_row(row: template::Model) -> (i64, TemplateRow) {
    // The real store asks the system's clock when it pauses a template.
    let said_at = |millis: i64| at(if millis > 1_740_000_000_000 { PAUSED_AT.millis() } else { millis });
    let kept = TemplateRow {
        waba_id: row.waba_id,
        name: row.name,
        status: row.status,
        category: row.category,
        status_said_at: said_at(row.status_said_at),
        category_said_at: said_at(row.category_said_at),
        quality_said_at: said_at(row.quality_said_at),
    };
    (row.id, kept)
}

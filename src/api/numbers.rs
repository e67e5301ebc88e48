//! Checks of numbers before they are sent to.

use std::collections::HashMap;

use actix_web::web::{Data, Json};
use serde::Serialize;
use utoipa::ToSchema;

use super::State;
use super::auth::Company;
use super::body::Body;
use super::envelope::Answer;
use super::error::{Error, ErrorBody};
use super::rate_limit::whole_seconds;
use super::suppressions::Suppression;
use super::web_chat::own_session;
use crate::domain::phone::{Country, PhoneNumber};
use crate::domain::request::{CheckEntry, CheckRequest, NumberCheck, SkipCode};
use crate::engine::records::suppressions::Kept;
use crate::engine::{NumbersChecked, skip_of};
use crate::surface::body::Room;

/// The memory of an entry's result, beside its suppressions.
const ENTRY: usize = 512;

/// The results, in the order of the request.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct NumbersAnswer {
    /// One result for each entry.
    data: Vec<CheckedNumber>,
    /// Entries that are plainly one phone number.
    valid_count: u64,
    /// Entries that are no phone number; a send skips them.
    invalid_count: u64,
    /// Valid numbers that sends skip: all sends, or those of marketing templates.
    suppressed_count: u64,
    /// The questions to WhatsApp; null when the request names no web session.
    whatsapp: Option<WhatsappCheck>,
}

/// The result for one entry.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CheckedNumber {
    /// The beginning of the entry, as it was given.
    #[schema(example = "+55 11 98888-7777")]
    input: String,
    /// Whether it is plainly one phone number.
    is_valid: bool,
    /// The kind of reason for which a send skips it, as in the answer to a send: `invalid_number`, `suppressed`, or
    /// `opted_out` (only sends of marketing templates skip it). Null when nothing does.
    #[schema(example = "opted_out")]
    code: Option<&'static str>,
    /// The reason, in words that continue "the number …"; null when there is none.
    #[schema(example = "does not want marketing messages")]
    reason: Option<String>,
    /// The number that was read, in international form (E.164); null for an invalid entry.
    #[schema(example = "+5511988887777")]
    phone_number: Option<String>,
    /// The two letters of the number's country; of several countries with one calling code, the main one. Null when
    /// the calling code is not known.
    #[schema(example = "BR")]
    country: Option<&'static str>,
    /// The suppressions that hold now, of any form of the number.
    suppressions: Vec<Suppression>,
    /// Whether the number is on WhatsApp; null when nobody was asked, or the answer is not known yet.
    on_whatsapp: Option<bool>,
}

/// The questions to WhatsApp.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WhatsappCheck {
    /// Different numbers that WhatsApp was asked about for this request. The others were known: an answer is valid for
    /// 30 days, and for a day if the number is not there.
    asked: u64,
    /// Different valid numbers without an answer yet.
    unanswered: u64,
    /// When to repeat the request for these, in seconds; null when there are none.
    retry_after: Option<u64>,
    /// Why they have no answer; null when there are none.
    reason: Option<String>,
}

/// Check numbers
///
/// For each entry: whether it is a phone number, the number that was read, its country, and whether sends skip it.
/// Nothing is sent and nothing is stored, except what WhatsApp answered.
///
/// With `channel_id`, a web session also finds out whether the numbers are on WhatsApp. It asks about few numbers, at
/// the pace and within the bounds that its tier sets for messages (`messages_per_second`, `jitter`, `daily_cap`,
/// `cold_contacts`), one after the other: more would get the account restricted. The request waits for at most the
/// option `web_session.patience` and asks about at most 100 numbers; `whatsapp` says when to repeat it for the rest.
#[utoipa::path(
    post,
    path = "/api/v1/numbers/check",
    operation_id = "checkNumbers",
    request_body = NumberCheck,
    responses(
        (status = 200, description = "What is known of each entry", body = NumbersAnswer),
        (status = 404, description = "`channel_not_found`: the company has no such web session", body = ErrorBody),
        (status = 409, description = "`session_disconnected`", body = ErrorBody),
    ),
)]
pub(super) async fn check(company: Company, body: Body, state: Data<State>) -> Answer<NumbersAnswer> {
    let parse = |bytes: &[u8], room: &mut Room| -> Result<_, Error> {
        let request = CheckRequest::parse(bytes)?;
        room.charge(ENTRY * request.entries.len())?;
        Ok(request)
    };
    let (CheckRequest { entries, channel_id }, _room) = body.read(&state.options).await?.read(parse).await?;
    let channel = match channel_id {
        Some(id) => Some(own_session(&state, company, id).await?),
        None => None,
    };
    let numbers: Vec<_> = entries.iter().filter_map(|entry| entry.number.as_ref().ok().copied()).collect();
    let records = state.engine.company(company.id).await?;
    let suppressed = state.engine.contacts().suppressions_of(&records, &numbers).await?;
    drop(records);
    let asked = match channel {
        Some(channel) => Some(state.engine.web_sends().check_numbers(&channel, &numbers).await?),
        None => None,
    };
    Ok(Json(answer(entries, &suppressed, asked)))
}

fn answer(
    entries: Vec<CheckEntry>,
    suppressed: &HashMap<PhoneNumber, Vec<Kept>>,
    asked: Option<NumbersChecked>,
) -> NumbersAnswer {
    let there = asked.as_ref().map(|asked| &asked.answers);
    let data: Vec<_> = entries.into_iter().map(|entry| checked(entry, suppressed, there)).collect();
    let count =
        |is: &dyn Fn(&CheckedNumber) -> bool| data.iter().filter(|checked| is(checked)).count() as u64;
    NumbersAnswer {
        valid_count: count(&|checked| checked.is_valid),
        invalid_count: count(&|checked| !checked.is_valid),
        suppressed_count: count(&|checked| checked.is_valid && checked.code.is_some()),
        whatsapp: asked.map(|asked| whatsapp(asked, &data)),
        data,
    }
}

fn checked(
    CheckEntry { input, number }: CheckEntry,
    suppressed: &HashMap<PhoneNumber, Vec<Kept>>,
    there: Option<&HashMap<PhoneNumber, bool>>,
) -> CheckedNumber {
    let number = match number {
        Ok(number) => number,
        Err(reason) => {
            return CheckedNumber {
                input,
                is_valid: false,
                code: Some(SkipCode::InvalidNumber.as_str()),
                reason: Some(reason),
                phone_number: None,
                country: None,
                suppressions: Vec::new(),
                on_whatsapp: None,
            };
        }
    };
    let kept = suppressed.get(&number).map(Vec::as_slice).unwrap_or_default();
    let skip = skip_of(kept);
    CheckedNumber {
        input,
        is_valid: true,
        code: skip.map(|(code, _)| code.as_str()),
        reason: skip.map(|(_, reason)| reason.to_owned()),
        phone_number: Some(format!("+{number}")),
        country: Country::of(number).map(Country::code),
        suppressions: kept.iter().copied().map(Suppression::from).collect(),
        on_whatsapp: there.and_then(|there| there.get(&number).copied()),
    }
}

fn whatsapp(
    NumbersChecked { asked, later, answers: _ }: NumbersChecked,
    data: &[CheckedNumber],
) -> WhatsappCheck {
    let waits = data.iter().filter(|checked| checked.is_valid && checked.on_whatsapp.is_none());
    let mut unanswered: Vec<_> = waits.map(|checked| checked.phone_number.as_deref()).collect();
    unanswered.sort_unstable();
    unanswered.dedup();
    let (retry_after, reason) = later.unzip();
    WhatsappCheck {
        asked: asked as u64,
        unanswered: unanswered.len() as u64,
        retry_after: retry_after.map(whole_seconds),
        reason,
    }
}

//! What a company answers by itself: confirmations of opt-outs and opt-ins, a text while nobody is there, and read marks.

use std::collections::BTreeMap;

use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::State;
use super::auth::{Author, Company};
use super::body::Body;
use super::envelope::Answer;
use super::error::Error;
use crate::domain::automatic::{AnswerKind, AutomaticTexts, InvalidHours, OpeningHours, WEEKDAYS};
use crate::domain::bodies;
use crate::domain::body::Field;
use crate::error::Code;

/// What a company answers by itself.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AutomaticAnswers {
    /// The text that confirms an opt-out word; null when none does.
    #[schema(example = "You get no more messages from us. Write START to get them again.")]
    stop_text: Option<String>,
    /// The text that confirms that a person takes an opt-out word back; null when none does.
    #[schema(example = "You get our messages again.")]
    start_text: Option<String>,
    /// The text for people who write outside of the opening hours; null when none goes.
    #[schema(example = "Thank you for writing. We answer tomorrow from 9 on.")]
    away_text: Option<String>,
    /// The time zone of the opening hours.
    #[schema(example = "America/Sao_Paulo")]
    time_zone: String,
    /// The spans of each day of the week in which somebody answers; empty for a day on which nobody does.
    #[schema(example = json!({"monday": "09:00-12:30, 14:00-18:00", "sunday": ""}))]
    opening_hours: BTreeMap<String, String>,
    /// Whether people are told that their messages were read, when an agent opens a conversation.
    #[schema(example = true)]
    read_marks: bool,
}

bodies! {
    /// What a company answers by itself. A field that is left out or null has its default value: no text, UTC, no opening
    /// hours, and read marks.
    pub(super) struct NewAutomaticAnswers of Value {
        /// The text that confirms an opt-out word, at most 1,000 characters. It goes although the person opted out.
        #[schema(example = "You get no more messages from us. Write START to get them again.")]
        stop_text: Option<String>,
        /// The text that confirms that a person takes an opt-out word back, at most 1,000 characters.
        #[schema(example = "You get our messages again.")]
        start_text: Option<String>,
        /// The text for people who write outside of the opening hours, at most 1,000 characters.
        #[schema(example = "Thank you for writing. We answer tomorrow from 9 on.")]
        away_text: Option<String>,
        /// The time zone of the opening hours.
        #[schema(example = "America/Sao_Paulo")]
        time_zone: Option<String>,
        /// At most three spans for each day of the week, in their order. Days that are left out are closed.
        #[schema(example = json!({"monday": "09:00-12:30, 14:00-18:00", "tuesday": "09:00-18:00"}))]
        opening_hours: Option<BTreeMap<String, String>>,
        /// Whether people are told that their messages were read, when an agent opens a conversation; `true` when absent.
        /// Without it, people who wrote to a business account do not see that an agent types either, which would say the same.
        #[schema(example = true)]
        read_marks: Option<bool>,
    }
}

impl From<AutomaticTexts> for AutomaticAnswers {
    fn from(AutomaticTexts { stop, start, away, hours, hides_reading }: AutomaticTexts) -> Self {
        let days = WEEKDAYS.map(str::to_owned).into_iter().zip(hours.days());
        Self {
            stop_text: stop,
            start_text: start,
            away_text: away,
            time_zone: hours.zone().to_owned(),
            opening_hours: days.collect(),
            read_marks: !hides_reading,
        }
    }
}

/// Show automatic answers
#[utoipa::path(
    get,
    path = "/api/v1/automatic-answers",
    operation_id = "showAutomaticAnswers",
    responses((status = 200, description = "What the company answers by itself", body = AutomaticAnswers)),
)]
pub(super) async fn show(company: Company, state: Data<State>) -> Answer<AutomaticAnswers> {
    let records = state.engine.company(company.id).await?;
    Ok(Json(records.automatic().texts().await?.into()))
}

/// Set automatic answers
///
/// Messages that arrive from now on get these answers: each is a direct send, under the same limits as every other, and a person
/// gets each kind once in 12 hours. An opt-out word is answered by its confirmation alone. Groups, calls, reactions and
/// messages of programs get no answer. What an opt-out word does is set by owners and operators.
#[utoipa::path(
    put,
    path = "/api/v1/automatic-answers",
    operation_id = "setAutomaticAnswers",
    request_body = NewAutomaticAnswers,
    responses((status = 200, description = "What the company answers by itself", body = AutomaticAnswers)),
)]
pub(super) async fn set(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
) -> Answer<AutomaticAnswers> {
    let (
        NewAutomaticAnswers { stop_text, start_text, away_text, time_zone, opening_hours, read_marks },
        _room,
    ) = body.fields(&state.options).await?;
    let days = days(&opening_hours)?;
    let zone = time_zone.text()?.unwrap_or("UTC");
    let hours = OpeningHours::parse(zone, days.iter().map(String::as_str)).map_err(|wrong| match &wrong {
        InvalidHours::Zone => time_zone.refuse(Code::InvalidField, &wrong),
        InvalidHours::Day { .. } => opening_hours.refuse(Code::InvalidField, &wrong),
    })?;
    let texts = AutomaticTexts::new(stop_text.text()?, start_text.text()?, away_text.text()?, hours);
    let texts = texts.map_err(|(kind, wrong)| {
        let field = match kind {
            AnswerKind::Stop => &stop_text,
            AnswerKind::Start => &start_text,
            AnswerKind::Away => &away_text,
        };
        field.refuse(Code::InvalidField, wrong)
    })?;
    let texts = texts.hiding_reading(!read_marks.choice()?.unwrap_or(true));
    let records = state.engine.company(company.id).await?;
    records.automatic().set_texts(&who, &texts).await?;
    Ok(Json(texts.into()))
}

/// The spans of each day, from Monday on.
fn days(field: &Field<Value, Option<BTreeMap<String, String>>>) -> Result<[String; 7], Error> {
    let wrong = || field.wrong_type("an object that has the spans of each day, a text, by its English name");
    let mut days: [String; 7] = Default::default();
    let given = match field.given() {
        None | Some(Value::Null) => return Ok(days),
        Some(Value::Object(given)) => given,
        Some(_) => return Err(wrong().into()),
    };
    for (name, spans) in given {
        let day = WEEKDAYS.iter().position(|day| day == name).and_then(|place| days.get_mut(place));
        let (Some(day), Some(spans)) = (day, spans.as_str()) else { return Err(wrong().into()) };
        spans.clone_into(day);
    }
    Ok(days)
}

//! Requests to retry messages of an earlier send: which messages, and when.

use std::ops::ControlFlow;

use serde_json::value::RawValue;

use super::body::Split;
use super::business::{BusinessSend, moment};
use super::field::{Json, Raw};
use super::instead::given;
use super::shape::{ErrorCodes, RetriedStates, TemplateInstead};
use super::structured;
use crate::bodies;
use crate::body::Body as _;
use crate::error::{Code, Refusal};
use crate::message::{Selection, State};
use crate::send::Schedule;
use crate::template::TemplateRequest;

/// Most entries of `error_code`: the provider has fewer codes.
const MOST_CODES: usize = 200;

/// A client's selection of messages of a send to send again.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryRequest {
    /// Which messages.
    pub selection: Selection,
    /// The template that goes in place of the send's content to people whose window is closed.
    pub instead: Option<TemplateRequest>,
    /// The schedule; not compared with the present time yet, see [`Schedule::check`].
    pub schedule: Schedule,
    /// The names of fields that were given and have no effect, the first ones of many.
    pub ignored: Vec<String>,
}

bodies! {
    /// The messages of a send that are retried. Unknown fields have no effect, and are named in the answer's `ignored`.
    pub struct SendAgain<'a> of &'a RawValue {
        /// The states of the messages; `failed` and `expired` when absent.
        #[schema(example = "failed")]
        state: Option<RetriedStates>,
        /// Only messages with one of these codes of the provider; messages with any code when absent.
        #[schema(example = 131_026)]
        error_code: Option<ErrorCodes>,
        /// The template that goes to those whose window is closed now, as for any send; without effect for the retry of a send
        /// of a template. Its texts cannot have the values of the send's recipients.
        template_instead: Option<TemplateInstead>,
        /// When the new send starts, as for any send.
        #[schema(format = DateTime)]
        send_at: Option<String>,
        /// The time after which no message of the new send starts, as for any send.
        #[schema(format = DateTime)]
        expires_at: Option<String>,
    }
}

impl RetryRequest {
    /// Reads a request's body; an empty one selects everything that failed or expired, at once.
    ///
    /// # Errors
    ///
    /// `invalid_body`, then `unknown_field`, then `invalid_field`.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        if bytes.trim_ascii().is_empty() {
            return Ok(Self::of(selection(Vec::new(), Vec::new())));
        }
        let split = Split::other::<SendAgain<'_>>(bytes)?;
        let SendAgain { state, error_code, template_instead, send_at, expires_at } = split.body();
        let selection = selection(states(state)?, codes(error_code)?);
        // The body of a retry has no fields with values.
        let instead = given(template_instead, split.body::<BusinessSend<'_>>().personal())?;
        let schedule = Schedule { send_at: moment(send_at)?, expires_at: moment(expires_at)? };
        let mut ignored = split.ignored(SendAgain::NAMES);
        let instead = instead.map(|(template, unused)| {
            ignored.extend(unused);
            template
        });
        Ok(Self { selection, instead, schedule, ignored })
    }

    /// The memory that [`RetryRequest::parse`] may take for the structures in a body.
    pub fn weight(bytes: &[u8]) -> usize {
        let split = Split::other::<SendAgain<'_>>(bytes);
        split.map_or(0, |split| structured::weight(split.body::<SendAgain<'_>>().template_instead))
    }

    /// The fields that a body gave without effect, as [`RetryRequest::parse`] names them; none of a body that it refuses.
    pub fn ignored(bytes: &[u8]) -> Vec<String> {
        Self::parse(bytes).map_or_else(|_| Vec::new(), |request| request.ignored)
    }

    /// The request to send these messages again at once.
    pub fn of(selection: Selection) -> Self {
        Self { selection, instead: None, schedule: Schedule::default(), ignored: Vec::new() }
    }
}

/// The selection: without states, messages that failed or expired; with codes alone, messages that failed.
fn selection(states: Vec<State>, codes: Vec<i64>) -> Selection {
    let states = if states.is_empty() { vec![State::Failed, State::Expired] } else { states };
    Selection { states, codes }
}

fn states(field: Raw<'_, Option<RetriedStates>>) -> Result<Vec<State>, Refusal> {
    let mut states = Vec::new();
    each(field, |entry| {
        let Json::Text(word) = entry else { return false };
        let known = State::RETRIED.into_iter().find(|state| state.as_str() == word.trim());
        if let Some(state) = known.filter(|state| !states.contains(state)) {
            states.push(state);
        }
        known.is_some()
    })
    .ok_or_else(|| {
        let words = State::RETRIED.map(State::as_str).join(", ");
        field.refuse(Code::InvalidField, format_args!("must be one of {words}, or an array of these"))
    })?;
    Ok(states)
}

fn codes(field: Raw<'_, Option<ErrorCodes>>) -> Result<Vec<i64>, Refusal> {
    let mut codes = Vec::new();
    each(field, |entry| {
        let code: Option<i64> = match entry {
            Json::Number(written) => written.parse().ok(),
            Json::Text(text) => text.trim().parse().ok(),
            _ => None,
        };
        codes.extend(code);
        code.is_some() && codes.len() <= MOST_CODES
    })
    .ok_or_else(|| {
        let expected = "must be a code of the provider, such as 131026, or an array of at most";
        field.refuse(Code::InvalidField, format_args!("{expected} {MOST_CODES} of these"))
    })?;
    Ok(codes)
}

/// Visits one value or many; `None` when `take` refuses one of them.
fn each<'a, T>(field: Raw<'a, T>, mut take: impl FnMut(Json<'a>) -> bool) -> Option<()> {
    let mut is_fine = true;
    field.each(|entry| {
        is_fine = entry == Json::Absent || take(entry);
        if is_fine { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    is_fine.then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clock::Timestamp;

    fn read(body: &str) -> Result<(Vec<&'static str>, Vec<i64>), Code> {
        let read = RetryRequest::parse(body.as_bytes()).map_err(|refusal| refusal.code)?;
        let words = read.selection.states.iter().map(|state| state.as_str()).collect();
        Ok((words, read.selection.codes))
    }

    #[test]
    fn an_empty_request_selects_everything_that_failed_or_expired() {
        for body in ["", " \n", "{}", r#"{"state":null,"error_code":[]}"#, r#"{"state":" ","other":1}"#] {
            assert_eq!(read(body), Ok((vec!["failed", "expired"], vec![])), "{body}");
        }
    }

    #[test]
    fn states_and_codes_are_one_or_many() {
        assert_eq!(read(r#"{"state":"canceled"}"#), Ok((vec!["canceled"], vec![])));
        assert_eq!(
            read(r#"{"state":["unknown","unknown","failed"],"error_code":["131026",131049]}"#),
            Ok((vec!["unknown", "failed"], vec![131_026, 131_049]))
        );
        let schedule = r#"{"send_at":"2090-01-01T00:00:00Z"}"#;
        let read = RetryRequest::parse(schedule.as_bytes()).unwrap().schedule;
        assert_eq!(read.send_at, Timestamp::parse("2090-01-01T00:00:00Z").ok());
    }

    #[test]
    fn a_template_may_go_to_those_whose_window_is_closed_now() {
        let body = r#"{"error_code":131047,"template_instead":{"template_id":7,"components":[],"color":1}}"#;
        let read = RetryRequest::parse(body.as_bytes()).unwrap();
        assert_eq!(read.instead.map(|template| template.template_id), Some(7));
        assert_eq!(read.ignored, ["template_instead.color"]);
        let wrong = RetryRequest::parse(br#"{"template_instead":{"template_id":7}}"#).unwrap_err();
        assert_eq!(
            (wrong.code, wrong.param.as_deref()),
            (Code::MissingComponents, Some("template_instead.components"))
        );
        assert!(RetryRequest::parse(b"{}").unwrap().instead.is_none());
    }

    #[test]
    fn a_selection_that_cannot_be_sent_again_is_refused() {
        let many = format!(r#"{{"error_code":[{}]}}"#, vec!["1"; MOST_CODES + 1].join(","));
        for body in [
            r#"{"state":"read"}"#,
            r#"{"state":"Failed"}"#,
            r#"{"state":7}"#,
            r#"{"state":["failed",{}]}"#,
            r#"{"error_code":"x"}"#,
            r#"{"error_code":1.5}"#,
            r#"{"error_code":99999999999999999999}"#,
            r#"{"error_code":{}}"#,
            r#"{"send_at":7}"#,
            r#"{"expires_at":"tomorrow"}"#,
            many.as_str(),
        ] {
            assert_eq!(read(body), Err(Code::InvalidField), "{body}");
        }
        for body in ["[]", "{", "7", r#"{"state":"failed","state":"failed"}"#] {
            assert_eq!(read(body), Err(Code::InvalidBody), "{body}");
        }
    }
}

//! The contacts for whom a send had an outcome, as a filter names them.

use uuid::Uuid;

use crate::api::State;
use crate::api::auth::Company;
use crate::api::error::Error;
use crate::domain::message::Reception;
use crate::engine::records::contacts::BySend;
use crate::error::Code;

/// The outcome that a send and a word ask for; both are given, or neither.
///
/// # Errors
///
/// `invalid_field` for one without the other, for another word, and for a send that the company does not have: a mistyped
/// id would list nobody.
pub(super) async fn read(
    state: &State,
    company: Company,
    send: Option<Uuid>,
    outcome: Option<&str>,
) -> Result<Option<BySend>, Error> {
    let wrong = |name: &'static str, what: String| Error::of(name, Code::InvalidField, what);
    let words = || Reception::ALL.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let (send, reception) = match (send, outcome) {
        (None, None) => return Ok(None),
        (Some(_), None) => {
            return Err(wrong(
                "send_outcome",
                format!("is missing beside `send_id`: give one of {}", words()),
            ));
        }
        (None, Some(_)) => {
            return Err(wrong(
                "send_id",
                "is missing beside `send_outcome`: give the id of a send".to_owned(),
            ));
        }
        (Some(send), Some(word)) => match word.parse::<Reception>() {
            Ok(reception) => (send, reception),
            Err(_) => return Err(wrong("send_outcome", format!("is none of {}", words()))),
        },
    };
    if state.engine.company(company.id).await?.sends().snapshot(send).await?.is_none() {
        let what = format!("is {send}, which is no send of this company: GET /api/v1/sends lists them");
        return Err(wrong("send_id", what));
    }
    Ok(Some(BySend { send, reception }))
}

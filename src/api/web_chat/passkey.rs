//! The passkey gate of a pairing: the challenge that WhatsApp sends to some accounts, and the answers to it.
//!
//! As for the rest of a pairing, answers contain secrets that are only for the person with the phone.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::own_channel;
use super::pairing::no_store;
use crate::api::State;
use crate::api::auth::Company;
use crate::api::body::Body;
use crate::api::error::{Error, ErrorBody, MessageBody};
use crate::api::path_id::Id;
use crate::api::schema::PairingState;
use crate::clock::Timestamp;
use crate::connector::web_session::Assertion;
use crate::domain::bodies;
use crate::domain::body::Body as _;
use crate::domain::web_session::WebAuthnAssertion;
use crate::engine::web_session::{Pairing, Passkey, PasskeyAnswer};
use crate::error::Code;

/// The answer to a step of the passkey gate of a pairing.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum PasskeyStep {
    /// The signed challenge.
    Assertion(PasskeyAssertion),
    /// The phone shows the same code.
    Confirmation(PasskeyConfirmation),
}

bodies! {
    /// A signed challenge.
    pub(crate) struct PasskeyAssertion of Value {
        /// The signature and what it is for.
        assertion: WebAuthnAssertion,
    }

    /// Confirms that the codes are the same.
    pub(crate) struct PasskeyConfirmation of Value {
        /// `true`. To end the pairing instead, use `DELETE`.
        confirmed: bool,
    }
}

/// What WhatsApp waits for at the passkey gate of a pairing.
#[derive(Serialize, ToSchema)]
pub(crate) struct PasskeyGate {
    /// The state of the pairing. Unless it is `passkey_required` or `passkey_confirm`, all fields but
    /// `instruction` are null, and `waits_for_phone` is false.
    #[schema(value_type = PairingState, example = "passkey_required")]
    state: &'static str,
    /// A sentence for the person: what the phone shows, and what to do now.
    instruction: &'static str,
    /// The challenge that a passkey of the account has to sign: the `PublicKeyCredentialRequestOptions` that
    /// WhatsApp sent, for `PublicKeyCredential.parseRequestOptionsFromJSON()` and
    /// `navigator.credentials.get()` on a page of `https://web.whatsapp.com`.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    challenge: Option<Map<String, Value>>,
    /// Eight characters that the phone shows too, while the state is `passkey_confirm`.
    #[schema(example = "ABCD-1234")]
    code: Option<String>,
    /// Until when WhatsApp waits.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// Whether this step is answered, so that the rest happens on the phone.
    waits_for_phone: bool,
}

impl From<Pairing> for PasskeyGate {
    fn from(pairing: Pairing) -> Self {
        let (state, instruction) = (pairing.stage.as_str(), pairing.instruction());
        match pairing.passkey {
            Some(Passkey { challenge, code, expires_at, waits_for_phone }) => Self {
                state,
                instruction,
                challenge: Some(challenge.options().clone()),
                code: code.map(|code| code.expose().to_owned()),
                expires_at: Some(expires_at),
                waits_for_phone,
            },
            None => Self {
                state,
                instruction,
                challenge: None,
                code: None,
                expires_at: None,
                waits_for_phone: false,
            },
        }
    }
}

/// Show the passkey challenge
///
/// WhatsApp asks some accounts for a passkey while a device is linked. Only a browser on
/// `https://web.whatsapp.com` can use the passkey, for instance with an extension that reads the challenge
/// here, has it signed there, and submits the assertion with `POST`. Poll about once a second while the pairing
/// is in progress.
#[utoipa::path(
    get,
    path = "/api/v1/web-chat/{id}/pairing/passkey",
    operation_id = "showPasskey",
    params(("id" = Uuid, Path, description = "The channel")),
    responses(
        (status = 200, description = "What WhatsApp waits for", body = PasskeyGate),
        (status = 404, description = "No such channel in this company", body = MessageBody),
        (status = 501, description = "`feature_unavailable`", body = ErrorBody),
    ),
)]
pub(crate) async fn show(company: Company, id: Id, state: Data<State>) -> Result<HttpResponse, Error> {
    let channel = own_channel(&state, company, id).await?;
    let progress = state.engine.phones().pairing(channel.id).await?;
    Ok(HttpResponse::Ok().insert_header(no_store()).json(PasskeyGate::from(progress)))
}

/// Answer the passkey challenge
///
/// While the pairing is `passkey_required`, send the `assertion`: the result of `PublicKeyCredential.toJSON()`
/// for the passkey's answer to the challenge. While it is `passkey_confirm`, send `confirmed: true` if the
/// phone shows the same code. `GET` has the further state of the pairing; when WhatsApp does not accept the
/// assertion, the pairing ends with the reason `passkey_refused`.
#[utoipa::path(
    post,
    path = "/api/v1/web-chat/{id}/pairing/passkey",
    operation_id = "answerPasskey",
    params(("id" = Uuid, Path, description = "The channel")),
    request_body = PasskeyStep,
    responses(
        (status = 202, description = "Handed to WhatsApp", body = PasskeyGate),
        (status = 404, description = "No such channel in this company", body = MessageBody),
        (status = 409, description = "`passkey_not_expected`", body = ErrorBody),
        (status = 501, description = "`feature_unavailable`", body = ErrorBody),
        (status = 500, description = "An internal failure; the body has no details", body = MessageBody),
    ),
)]
pub(crate) async fn answer(
    company: Company,
    id: Id,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let channel = own_channel(&state, company, id).await?;
    let (fields, _room) = body.tree(&state.options).await?;
    let answer = read(fields)?;
    let progress = state.engine.phones().answer_passkey(&channel, answer).await?;
    Ok(HttpResponse::Accepted().insert_header(no_store()).json(PasskeyGate::from(progress)))
}

/// The one field of the body.
fn read(mut fields: Map<String, Value>) -> Result<PasskeyAnswer, Error> {
    let is_given = |name| !matches!(fields.get(name), None | Some(Value::Null));
    let is_assertion = fields.contains_key("assertion") && !is_given("confirmed");
    let is_confirmation = !is_given("assertion");
    let take = |name: &str| fields.remove(name);
    let step = match (is_assertion, is_confirmation) {
        (true, _) => Some(PasskeyStep::Assertion(PasskeyAssertion::take(take))),
        (_, true) => Some(PasskeyStep::Confirmation(PasskeyConfirmation::take(take))),
        _ => None,
    };
    let wrong = |sentence: String| Error::refused(Code::InvalidField, sentence);
    match step {
        Some(PasskeyStep::Assertion(PasskeyAssertion { assertion })) => {
            let parsed = Assertion::parse(assertion.given().unwrap_or(&Value::Null));
            parsed.map(PasskeyAnswer::Assertion).map_err(|fault| wrong(format!("in `assertion`, {fault}")))
        }
        Some(PasskeyStep::Confirmation(PasskeyConfirmation { confirmed }))
            if confirmed.given() == Some(&Value::Bool(true)) =>
        {
            Ok(PasskeyAnswer::Confirmation)
        }
        _ => Err(wrong(
            "give `assertion`, an object, to answer the challenge, or `confirmed`: true when the phone shows the code"
                .to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_an_assertion_or_a_confirmation_and_never_both() {
        let read = |body: &str| read(serde_json::from_str(body).unwrap());
        assert_eq!(read(r#"{"confirmed":true}"#).unwrap(), PasskeyAnswer::Confirmation);
        for body in [
            "{}",
            r#"{"confirmed":false}"#,
            r#"{"confirmed":"true"}"#,
            r#"{"assertion":{}}"#,
            r#"{"assertion":null}"#,
            r#"{"assertion":{},"confirmed":true}"#,
        ] {
            let refused = read(body);
            let is_refused =
                matches!(&refused, Err(Error::Refused(refusal)) if refusal.code == Code::InvalidField);
            assert!(is_refused, "{body}: {refused:?}");
        }
    }
}

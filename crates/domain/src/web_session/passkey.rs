//! The passkey gate: the challenge that WhatsApp sends to some accounts while a device is being linked, and
//! the answer to it.
//!
//! The phone accepts the code, and WhatsApp then asks for a WebAuthn assertion by a passkey of the account.
//! Only a browser on WhatsApp's own address can create one, so the caller brings the assertion from there. It
//! signs only the challenge.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::secret::Secret;

/// How long WhatsApp waits for an assertion if the challenge does not say it.
const USUAL_SPAN: Duration = Duration::from_secs(5 * 60);
/// The bounds of the time in a challenge.
const SHORTEST_SPAN: Duration = Duration::from_secs(1);
const LONGEST_SPAN: Duration = Duration::from_secs(10 * 60);
/// The maximum number of characters of one field of an assertion: real ones have some hundreds.
const FIELD_CHARS: usize = 8 * 1024;
/// The type of a credential that is a passkey.
const PUBLIC_KEY: &str = "public-key";

/// The challenge that an assertion has to sign, as WhatsApp sent it: a `PublicKeyCredentialRequestOptions` in
/// JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    options: Map<String, Value>,
    signed: Vec<u8>,
}

impl Challenge {
    /// Parses the options that WhatsApp sent.
    ///
    /// # Errors
    ///
    /// A sentence when they are no options with a challenge.
    pub fn parse(options: &str) -> Result<Self, &'static str> {
        let Ok(Value::Object(options)) = serde_json::from_str(options) else {
            return Err("the options of the passkey are not a JSON object");
        };
        let signed = options.get("challenge").and_then(Value::as_str).and_then(decoded);
        let signed = signed.filter(|signed| !signed.is_empty());
        let signed = signed.ok_or("the options of the passkey have no challenge")?;
        Ok(Self { options, signed })
    }

    /// The complete options.
    pub const fn options(&self) -> &Map<String, Value> {
        &self.options
    }

    /// How long WhatsApp waits for the assertion.
    pub fn valid_for(&self) -> Duration {
        let said = self.options.get("timeout").and_then(Value::as_u64).map(Duration::from_millis);
        said.map_or(USUAL_SPAN, |said| said.clamp(SHORTEST_SPAN, LONGEST_SPAN))
    }
}

impl Serialize for Challenge {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.options.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Challenge {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&Value::deserialize(deserializer)?.to_string()).map_err(de::Error::custom)
    }
}

/// The result of `PublicKeyCredential.toJSON()` in a browser; further fields are ignored. All fields but `type`
/// are base64url.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebAuthnAssertion {
    #[schema(example = "Y3JlZGVudGlhbA")]
    id: String,
    #[serde(rename = "rawId")]
    #[schema(example = "Y3JlZGVudGlhbA")]
    raw_id: String,
    #[schema(example = "public-key")]
    r#type: &'static str,
    response: WebAuthnResponse,
}

/// The data that the passkey signed, and its signature.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebAuthnResponse {
    #[serde(rename = "clientDataJSON")]
    client_data_json: String,
    #[serde(rename = "authenticatorData")]
    authenticator_data: String,
    signature: String,
    #[serde(rename = "userHandle")]
    user_handle: Option<String>,
}

/// A passkey's answer to a challenge: the result of `PublicKeyCredential.toJSON()` in a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assertion {
    json: Secret,
    credential_id: Vec<u8>,
    signed: Vec<u8>,
}

/// Why an assertion is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAssertion {
    /// A field is absent.
    #[error("`{0}` is missing or is not text")]
    Missing(&'static str),
    /// A field does not have the required encoding.
    #[error("`{0}` is not base64url, or is longer than any assertion")]
    NotEncoded(&'static str),
    /// The credential has another type.
    #[error("`type` is not `public-key`")]
    OtherType,
    /// The signed data is not what a browser signs for an assertion.
    #[error("`response.clientDataJSON` is not what a browser signs in navigator.credentials.get()")]
    OtherCeremony,
}

impl Assertion {
    /// Parses an assertion; fields that WhatsApp does not need are ignored.
    ///
    /// # Errors
    ///
    /// [`InvalidAssertion`].
    pub fn parse(given: &Value) -> Result<Self, InvalidAssertion> {
        use InvalidAssertion::{Missing, NotEncoded, OtherCeremony, OtherType};
        let text = |pointer: &str| given.pointer(pointer).and_then(Value::as_str);
        let encoded = |pointer, name| {
            let text = text(pointer).filter(|text| !text.is_empty()).ok_or(Missing(name))?;
            let bytes = decoded(text).ok_or(NotEncoded(name))?;
            Ok::<_, InvalidAssertion>((text, bytes))
        };
        if text("/type") != Some(PUBLIC_KEY) {
            return Err(OtherType);
        }
        let id = text("/id").filter(|id| !id.is_empty()).ok_or(Missing("id"))?;
        decoded(id).ok_or(NotEncoded("id"))?;
        let (raw_id, credential_id) = encoded("/rawId", "rawId")?;
        let (client_data, said) = encoded("/response/clientDataJSON", "response.clientDataJSON")?;
        let (authenticator_data, _) = encoded("/response/authenticatorData", "response.authenticatorData")?;
        let (signature, _) = encoded("/response/signature", "response.signature")?;
        let user_handle = match given.pointer("/response/userHandle") {
            None | Some(Value::Null) => None,
            Some(_) => Some(encoded("/response/userHandle", "response.userHandle")?.0),
        };
        let said: Value = serde_json::from_slice(&said).map_err(|_| OtherCeremony)?;
        if said["type"] != "webauthn.get" {
            return Err(OtherCeremony);
        }
        let signed = said["challenge"].as_str().and_then(decoded).ok_or(OtherCeremony)?;
        let json = json!(WebAuthnAssertion {
            id: id.to_owned(),
            raw_id: raw_id.to_owned(),
            r#type: PUBLIC_KEY,
            response: WebAuthnResponse {
                client_data_json: client_data.to_owned(),
                authenticator_data: authenticator_data.to_owned(),
                signature: signature.to_owned(),
                user_handle: user_handle.map(str::to_owned),
            },
        });
        Ok(Self { json: Secret::new(json.to_string()), credential_id, signed })
    }

    /// Whether it signs this challenge and not another one. Only WhatsApp can verify the signature.
    pub fn answers(&self, challenge: &Challenge) -> bool {
        self.signed == challenge.signed
    }

    /// The assertion in WhatsApp's form, in JSON.
    pub fn as_json(&self) -> &str {
        self.json.expose()
    }

    /// The id of the passkey.
    pub fn credential_id(&self) -> &[u8] {
        &self.credential_id
    }
}

impl Serialize for Assertion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_json())
    }
}

impl<'de> Deserialize<'de> for Assertion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Secret::deserialize(deserializer)?;
        let given = serde_json::from_str(json.expose()).map_err(de::Error::custom)?;
        Self::parse(&given).map_err(de::Error::custom)
    }
}

/// WhatsApp did not accept the answer, or did not reply. The device is not linked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PasskeyRefused(pub String);

/// Base64url, with or without padding.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let is_short = text.len() <= FIELD_CHARS;
    URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok().filter(|_| is_short)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(text: &str) -> Challenge {
        Challenge::parse(&json!({"challenge": text, "timeout": 60_000}).to_string()).unwrap()
    }

    fn assertion(client_data: &Value) -> Value {
        json!({
            "id": "Y3JlZA",
            "rawId": "Y3JlZA==",
            "type": "public-key",
            "authenticatorAttachment": "cross-platform",
            "response": {
                "clientDataJSON": URL_SAFE_NO_PAD.encode(client_data.to_string()),
                "authenticatorData": "AAAA",
                "signature": "AQID",
                "userHandle": null,
            },
        })
    }

    fn signed(challenge: &str) -> Value {
        json!({"type": "webauthn.get", "challenge": challenge, "origin": "https://web.whatsapp.com"})
    }

    #[test]
    fn an_assertion_belongs_to_the_challenge_that_it_signs() {
        let parsed = Assertion::parse(&assertion(&signed("YWJj"))).unwrap();
        assert!(parsed.answers(&challenge("YWJj")) && parsed.answers(&challenge("YWJj=")));
        assert!(!parsed.answers(&challenge("YWJk")));
        assert_eq!(parsed.credential_id(), b"cred");
        let handed_on: Value = serde_json::from_str(parsed.as_json()).unwrap();
        assert_eq!(handed_on["response"]["signature"], "AQID");
        assert!(handed_on.get("authenticatorAttachment").is_none(), "WhatsApp takes no other field");
    }

    #[test]
    fn the_error_of_an_invalid_assertion_names_the_field() {
        let with = |pointer: &str, value: Value| {
            let mut given = assertion(&signed("YWJj"));
            *given.pointer_mut(pointer).unwrap() = value;
            Assertion::parse(&given).unwrap_err().to_string()
        };
        for (pointer, value, expected) in [
            ("/id", json!(""), "`id` is missing"),
            ("/id", json!("**"), "`id` is not base64url"),
            ("/rawId", json!(7), "`rawId` is missing"),
            ("/type", json!("password"), "`type` is not `public-key`"),
            ("/response", json!({}), "`response.clientDataJSON` is missing"),
            ("/response/signature", json!("a b"), "`response.signature` is not base64url"),
            ("/response/signature", json!("A".repeat(FIELD_CHARS + 4)), "longer than any assertion"),
            ("/response/userHandle", json!([]), "`response.userHandle` is missing"),
            ("/response/clientDataJSON", json!("YWJj"), "is not what a browser signs"),
        ] {
            let said = with(pointer, value);
            assert!(said.contains(expected), "{pointer}: {said}");
        }
        let other = assertion(&json!({"type": "webauthn.create", "challenge": "YWJj"}));
        assert_eq!(Assertion::parse(&other), Err(InvalidAssertion::OtherCeremony));
        assert!(Assertion::parse(&json!(null)).is_err());
    }

    #[test]
    fn a_challenge_says_how_long_it_waits_within_bounds() {
        let span = |timeout: Value| {
            let options = json!({"challenge": "YWJj", "timeout": timeout}).to_string();
            Challenge::parse(&options).unwrap().valid_for()
        };
        assert_eq!(span(json!(60_000)), Duration::from_secs(60));
        assert_eq!(span(json!(1)), SHORTEST_SPAN);
        assert_eq!(span(json!(u64::MAX)), LONGEST_SPAN);
        assert_eq!(span(json!("soon")), USUAL_SPAN);
        for options in ["[]", "{", "{}", r#"{"challenge":""}"#, r#"{"challenge":7}"#] {
            assert!(Challenge::parse(options).is_err(), "{options}");
        }
    }
}

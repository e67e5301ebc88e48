//! The passkey of the simulated accounts, and the gate in which WhatsApp asks for it.
//!
//! A scan says whether the account is protected by it ([`super::http::scan`]). Its signatures are not WebAuthn's:
//! only this module makes and checks them.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use super::gates::Entry;
use domain::phone::PhoneNumber;
use driver::{Assertion, Challenge};

/// The relying party of WhatsApp's own passkeys.
const RELYING_PARTY: &str = "whatsapp.com";
/// The origin in which browsers use them.
const ORIGIN: &str = "https://web.whatsapp.com";

#[derive(Debug)]
pub(super) struct Passkey {
    id: [u8; 16],
    key: [u8; 32],
}

/// A device that WhatsApp links only after the passkey is used.
pub(super) struct Gate {
    /// The number of the phone that used the device's code.
    pub(super) number: PhoneNumber,
    pub(super) challenge: Challenge,
    pub(super) until: Instant,
    /// The code that phone and device show, once the passkey was used.
    pub(super) code: Option<String>,
    /// The entry that makes the phone show this gate.
    pub(super) entry: Entry,
}

impl Passkey {
    pub(super) fn new() -> Self {
        Self { id: rand::random(), key: rand::random() }
    }

    /// A new challenge.
    pub(super) fn challenge(&self, valid_for: Duration) -> Option<Challenge> {
        let options = json!({
            "challenge": URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>()),
            "rpId": RELYING_PARTY,
            "timeout": u64::try_from(valid_for.as_millis()).unwrap_or(u64::MAX),
            "userVerification": "required",
            "allowCredentials": [{ "type": "public-key", "id": URL_SAFE_NO_PAD.encode(self.id) }],
        });
        Challenge::parse(&options.to_string()).ok()
    }

    /// The passkey's assertion for these options, in the form that a browser gives it; `None` when they have no
    /// challenge.
    pub(super) fn sign(&self, options: &Value) -> Option<Value> {
        let challenge = options["challenge"].as_str()?;
        let client_data =
            json!({ "type": "webauthn.get", "challenge": challenge, "origin": ORIGIN }).to_string();
        // The hash of the relying party, the flags for presence and verification, and a count of signatures.
        let data = [&Sha256::digest(RELYING_PARTY)[..], &[5], &[0; 4]].concat();
        let signature = self.mac(&data, client_data.as_bytes())?.finalize().into_bytes();
        let id = URL_SAFE_NO_PAD.encode(self.id);
        Some(json!({
            "id": id,
            "rawId": id,
            "type": "public-key",
            "response": {
                "clientDataJSON": URL_SAFE_NO_PAD.encode(client_data),
                "authenticatorData": URL_SAFE_NO_PAD.encode(data),
                "signature": URL_SAFE_NO_PAD.encode(signature),
                "userHandle": null,
            },
        }))
    }

    /// Whether this passkey made the assertion.
    pub(super) fn has_signed(&self, assertion: &Assertion) -> bool {
        let Ok(given) = serde_json::from_str::<Value>(assertion.as_json()) else { return false };
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(given["response"][name].as_str()?).ok();
        let (Some(data), Some(client_data), Some(signature)) =
            (bytes("authenticatorData"), bytes("clientDataJSON"), bytes("signature"))
        else {
            return false;
        };
        assertion.credential_id() == self.id
            && self.mac(&data, &client_data).is_some_and(|mac| mac.verify_slice(&signature).is_ok())
    }

    fn mac(&self, data: &[u8], client_data: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        mac.update(data);
        mac.update(&Sha256::digest(client_data));
        Some(mac)
    }
}

//! Verifies requests as the receivers of webhooks do, by the Standard Webhooks specification. It shares no code with the
//! service that signs them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use clock::Timestamp;

/// How far the time of a request may be from the present, in seconds.
const TOLERANCE_S: u64 = 300;

/// The secret of an endpoint, ready to verify.
pub(super) struct WebhookVerifier(Hmac<Sha256>);

/// What a request is signed with.
#[derive(Debug, Clone, Copy)]
pub(super) struct SignatureHeaders<'a> {
    /// `webhook-id`.
    pub(super) id: &'a str,
    /// `webhook-timestamp`.
    pub(super) timestamp: &'a str,
    /// `webhook-signature`.
    pub(super) signatures: &'a str,
}

impl WebhookVerifier {
    /// `None` for a text that is no secret.
    pub(super) fn new(secret: &str) -> Option<Self> {
        let key = STANDARD.decode(secret.strip_prefix("whsec_")?).ok()?;
        Hmac::<Sha256>::new_from_slice(&key).ok().map(Self)
    }

    /// Whether one of the signatures is that of this body, and was made a short time ago.
    pub(super) fn verifies(&self, headers: SignatureHeaders<'_>, body: &[u8], now: Timestamp) -> bool {
        let SignatureHeaders { id, timestamp, signatures } = headers;
        let Ok(signed_at) = timestamp.parse::<i64>() else { return false };
        let is_recent = now.millis().div_euclid(1_000).abs_diff(signed_at) <= TOLERANCE_S;
        let head = format!("{id}.{timestamp}.");
        let is_valid = |encoded: &str| {
            let Ok(signature) = STANDARD.decode(encoded) else { return false };
            let mac = self.0.clone().chain_update(head.as_bytes()).chain_update(body);
            mac.verify_slice(&signature).is_ok()
        };
        is_recent && signatures.split(' ').filter_map(|one| one.strip_prefix("v1,")).any(is_valid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_specification_is_valid_and_every_change_of_it_is_not() {
        const SIGNED: SignatureHeaders<'static> = SignatureHeaders {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: "1614265330",
            signatures: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        };
        const BODY: &[u8] = br#"{"test": 2432232314}"#;
        let verifier = WebhookVerifier::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let now = Timestamp::from_millis(1_614_265_331_000);
        assert!(verifier.verifies(SIGNED, BODY, now));
        let several = format!("v1,AAAA {}", SIGNED.signatures);
        assert!(verifier.verifies(SignatureHeaders { signatures: &several, ..SIGNED }, BODY, now));
        for wrong in [
            SignatureHeaders { id: "msg_other", ..SIGNED },
            SignatureHeaders { timestamp: "1614265331", ..SIGNED },
            SignatureHeaders { timestamp: "", ..SIGNED },
            SignatureHeaders { signatures: "", ..SIGNED },
            SignatureHeaders { signatures: "v1,AAAA", ..SIGNED },
        ] {
            assert!(!verifier.verifies(wrong, BODY, now), "{wrong:?}");
        }
        assert!(!verifier.verifies(SIGNED, b"{}", now));
        assert!(!verifier.verifies(SIGNED, BODY, Timestamp::from_millis(1_614_266_331_000)), "too late");
        assert!(WebhookVerifier::new("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").is_none());
    }
}

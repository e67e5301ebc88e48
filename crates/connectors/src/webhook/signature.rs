//! Signs deliveries by the Standard Webhooks specification 1.0.0.
//!
//! <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>. Each attempt is signed
//! with its own time, so that a receiver can refuse a delivery that somebody repeats later. During a rotation, the new
//! and the old secret both sign.

use std::fmt;
use std::ops::RangeInclusive;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use domain::secret::Secret;

/// The beginning of every secret.
const PREFIX: &str = "whsec_";
/// The bytes of a secret that is made here.
const GENERATED: usize = 32;
/// The bytes that a secret may have.
const BYTES: RangeInclusive<usize> = 24..=64;
/// The version of a signature that is an HMAC with SHA-256.
const VERSION: &str = "v1";

/// A text that is not the secret of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSecret {
    /// It begins with something else.
    #[error("the secret does not begin with `whsec_`: write `whsec_` and the base64 of 32 random bytes")]
    Prefix,
    /// The rest is not base64.
    #[error("the secret is not base64, with its padding, after `whsec_`: encode 32 random bytes")]
    Encoding,
    /// It has too few bytes, or too many.
    #[error("the secret has {0} bytes: give it from 24 to 64 random bytes, encoded as base64")]
    Length(usize),
}

/// A new secret: `whsec_` and the base64 of 32 random bytes.
pub fn generate() -> Secret {
    let bytes = Zeroizing::new(rand::random::<[u8; GENERATED]>());
    let encoded = Zeroizing::new(STANDARD.encode(bytes.as_slice()));
    Secret::new(format!("{PREFIX}{}", encoded.as_str()))
}

/// A secret of an endpoint that is ready to sign.
#[derive(Clone)]
pub struct SigningKey(Hmac<Sha256>);

impl SigningKey {
    /// Reads a secret: `whsec_` and the base64, with its padding, of 24 to 64 bytes. The libraries of receivers read
    /// no other form.
    ///
    /// # Errors
    ///
    /// [`InvalidSecret`] for any other text.
    pub fn parse(secret: &Secret) -> Result<Self, InvalidSecret> {
        let encoded = secret.expose().strip_prefix(PREFIX).ok_or(InvalidSecret::Prefix)?;
        let bytes = Zeroizing::new(STANDARD.decode(encoded).map_err(|_| InvalidSecret::Encoding)?);
        if !BYTES.contains(&bytes.len()) {
            return Err(InvalidSecret::Length(bytes.len()));
        }
        // HMAC accepts a key of any length.
        let key = Hmac::<Sha256>::new_from_slice(bytes.as_slice());
        key.map(Self).map_err(|_| InvalidSecret::Length(bytes.len()))
    }
}

/// The fewest and the most characters of an app secret.
const APP_SECRET: RangeInclusive<usize> = 16..=128;

/// A text that cannot be the app secret of an endpoint which gets Meta's webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the secret is not a text of 16 to 128 ASCII letters, digits and punctuation, such as an app secret of Meta"
)]
pub struct InvalidAppSecret;

/// The secret of an endpoint that gets Meta's webhooks, as programs know it: the text is the key.
#[derive(Clone)]
pub struct AppSecret(Hmac<Sha256>);

impl AppSecret {
    /// Reads a secret.
    ///
    /// # Errors
    ///
    /// For a text that is too short, too long, or has other characters than programs can be given.
    pub fn parse(secret: &Secret) -> Result<Self, InvalidAppSecret> {
        let text = secret.expose();
        if !APP_SECRET.contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidAppSecret);
        }
        // HMAC accepts a key of any length.
        Hmac::<Sha256>::new_from_slice(text.as_bytes()).map(Self).map_err(|_| InvalidAppSecret)
    }

    /// The key that signs by the Standard Webhooks specification, too: that of the secret, or the text's bytes if the secret is not in
    /// the form of that specification.
    pub fn signing_key(&self, secret: &Secret) -> SigningKey {
        SigningKey::parse(secret).unwrap_or_else(|_| SigningKey(self.0.clone()))
    }

    /// The value of `X-Hub-Signature-256` for a body.
    pub fn sign(&self, body: &[u8]) -> String {
        let mac = self.0.clone().chain_update(body);
        format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for AppSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AppSecret(…)")
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(…)")
    }
}

/// The value of `webhook-signature`: a signature of each key, separated by spaces. `timestamp` is the time of the
/// attempt in seconds since 1970, as in `webhook-timestamp`.
pub fn sign(keys: &[SigningKey], id: &str, timestamp: i64, body: &[u8]) -> String {
    let head = format!("{id}.{timestamp}.");
    let signatures = keys.iter().map(|SigningKey(key)| {
        let mac = key.clone().chain_update(head.as_bytes()).chain_update(body);
        format!("{VERSION},{}", STANDARD.encode(mac.finalize().into_bytes()))
    });
    signatures.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;

    fn parse(text: &str) -> Result<SigningKey, InvalidSecret> {
        SigningKey::parse(&Secret::new(text.to_owned()))
    }

    fn of_bytes(count: usize) -> String {
        format!("whsec_{}", STANDARD.encode(vec![7_u8; count]))
    }

    #[test]
    fn the_example_of_the_specification_is_signed_as_it_says() {
        let key = parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = sign(&[key], ID, 1_614_265_330, BODY);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn during_a_rotation_both_secrets_sign() {
        let keys = [24, 64].map(|count| parse(&of_bytes(count)).unwrap());
        let alone = keys.each_ref().map(|key| sign(std::slice::from_ref(key), ID, 5, BODY));
        assert_ne!(alone[0], alone[1]);
        assert_eq!(sign(&keys, ID, 5, BODY), alone.join(" "));
        assert_ne!(sign(&keys, ID, 6, BODY), alone.join(" "), "each attempt has its own signature");
    }

    #[test]
    fn a_secret_has_its_prefix_base64_and_enough_bytes() {
        for (text, refused) in [
            ("", InvalidSecret::Prefix),
            ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", InvalidSecret::Prefix),
            ("whsec_ MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", InvalidSecret::Encoding),
            ("whsec_hunter2!", InvalidSecret::Encoding),
            ("whsec_", InvalidSecret::Length(0)),
            (of_bytes(23).as_str(), InvalidSecret::Length(23)),
            (of_bytes(65).as_str(), InvalidSecret::Length(65)),
            // The libraries of receivers do not read it without the padding.
            (of_bytes(32).trim_end_matches('='), InvalidSecret::Encoding),
        ] {
            assert_eq!(parse(text).map(drop), Err(refused), "{text}");
        }
    }

    #[test]
    fn meta_s_signature_of_a_body_has_the_text_as_its_key() {
        let of = |text: &str| AppSecret::parse(&Secret::new(text.to_owned()));
        assert_eq!(of("Jefe").map(drop), Err(InvalidAppSecret));
        assert_eq!(of(&"ç".repeat(20)).map(drop), Err(InvalidAppSecret));
        let secret = Secret::new("0123456789abcdef0123456789abcdef".to_owned());
        let app = AppSecret::parse(&secret).unwrap();
        assert!(crate::cloud_api::webhook::verify(&secret, BODY, &app.sign(BODY)));
        assert!(!crate::cloud_api::webhook::verify(&secret, b"{}", &app.sign(BODY)));
        assert_eq!(format!("{app:?}"), "AppSecret(…)");
        let standard = Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned());
        let signed = |key: SigningKey| sign(&[key], ID, 1_614_265_330, BODY);
        assert_eq!(
            signed(AppSecret::parse(&standard).unwrap().signing_key(&standard)),
            signed(SigningKey::parse(&standard).unwrap())
        );
    }

    #[test]
    fn a_new_secret_can_sign_and_is_not_shown() {
        let [one, other] = [generate(), generate()];
        assert_ne!(one, other);
        assert_eq!(one.expose().len(), "whsec_".len() + 44);
        assert_eq!(format!("{:?}", SigningKey::parse(&one).unwrap()), "SigningKey(…)");
    }
}

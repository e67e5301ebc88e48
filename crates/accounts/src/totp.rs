//! Codes of a second factor (TOTP, RFC 6238): six digits, a new one every 30 seconds, one step of tolerance.

use totp_rs::{Builder, Secret as Raw, Totp};

use super::{Error, Result};
use clock::Timestamp;
use domain::secret::Secret;

/// The name of the issuer, which the app on the phone shows.
const ISSUER: &str = "Pombo";
/// RFC 4226 recommends 160 bits.
const SECRET_BYTES: usize = 20;

/// A new secret in base32, for people to type.
pub(super) fn generate() -> Secret {
    let bytes: [u8; SECRET_BYTES] = rand::random();
    Secret::new(Raw::from(bytes).to_base32())
}

/// The address that an app on a phone reads from a QR code.
///
/// # Errors
///
/// [`Error::Defect`] when the secret is not valid.
pub(super) fn url(secret: &Secret, email: &str) -> Result<Secret> {
    let url = totp(secret, email)?.to_url().map_err(|error| defect(&error))?;
    Ok(Secret::new(url))
}

/// The time step of this code: the present step, the one before, or the next.
///
/// # Errors
///
/// [`Error::Defect`] when the secret is not valid.
pub(super) fn step(secret: &Secret, code: &str, now: Timestamp) -> Result<Option<i64>> {
    let seconds = u64::try_from(now.millis() / 1_000).unwrap_or_default();
    let step = totp(secret, "")?.check(code, seconds);
    Ok(step.and_then(|step| i64::try_from(step).ok()))
}

fn totp(secret: &Secret, email: &str) -> Result<Totp> {
    let raw = Raw::try_from_base32(secret.expose()).map_err(|error| defect(&error))?;
    // Colons separate the parts of the address.
    let account = email.replace(':', "_");
    let builder = Builder::new().with_secret(raw).with_issuer(Some(ISSUER)).with_account_name(account);
    builder.build().map_err(|error| defect(&error))
}

fn defect(error: &impl std::fmt::Display) -> Error {
    Error::Defect(format!("the secret of a second factor cannot be used: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6238, appendix B: the last six of its eight digits.
    #[test]
    fn codes_are_those_of_the_standard_and_one_step_is_tolerated() {
        let secret = Secret::new(Raw::from(*b"12345678901234567890").to_base32());
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        assert_eq!(step(&secret, "287082", at(59)).unwrap(), Some(1));
        assert_eq!(step(&secret, "081804", at(1_111_111_109)).unwrap(), Some(37_037_036));
        for (code, seconds, expected) in [
            ("287082", 89, Some(1)),
            ("287082", 90, None),
            ("287082", 0, Some(1)),
            ("287083", 59, None),
            ("", 59, None),
            ("28708", 59, None),
            ("2870822", 59, None),
            ("٢٨٧٠٨٢", 59, None),
        ] {
            assert_eq!(step(&secret, code, at(seconds)).unwrap(), expected, "{code} at {seconds}");
        }
    }

    #[test]
    fn a_phone_reads_issuer_person_and_secret() {
        let secret = generate();
        assert_eq!(secret.expose().len(), 32);
        assert_ne!(secret, generate());
        let url = url(&secret, "a:na@example.com").unwrap();
        let url = url.expose();
        assert!(url.starts_with("otpauth://totp/Pombo:a_na%40example.com?"), "{url}");
        assert!(
            url.contains(&format!("secret={}", secret.expose())) && url.contains("issuer=Pombo"),
            "{url}"
        );
    }
}

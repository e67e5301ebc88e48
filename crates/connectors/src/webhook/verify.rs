//! Verifies a receiver of Meta's webhooks, as Meta does: it is asked once, and answers with the challenge.

use rand::RngExt as _;
use uuid::Uuid;

use super::{DeliveryFault, Sender};
use domain::secret::Secret;

/// The digits of a challenge. Some receivers answer with it as a number, so it has no zero in front and fits into the numbers of
/// all languages.
const DIGITS: std::ops::RangeInclusive<u64> = 100_000_000..=999_999_999_999_999;
/// The most characters of a wrong answer that a sentence shows.
const SHOWN: usize = 60;

/// Why a receiver is not verified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    /// It cannot be asked, or refuses.
    #[error(transparent)]
    Fault(#[from] DeliveryFault),
    /// It answered with something else than the challenge.
    #[error(
        "the receiver answered `{0}` in place of the challenge: check that the address is that of its webhooks, and its verify \
         token"
    )]
    OtherAnswer(String),
}

impl Sender {
    /// Asks the receiver at this address once whether it expects webhooks, with the token that it was given. Some receivers accept
    /// a token only once, so nothing is repeated.
    ///
    /// # Errors
    ///
    /// When it cannot be asked, refuses, or answers anything but the challenge.
    pub async fn verify(&self, company: Uuid, url: &str, token: &Secret) -> Result<(), Unverified> {
        let challenge = rand::rng().random_range(DIGITS).to_string();
        let query = [
            ("hub.mode", "subscribe"),
            ("hub.verify_token", token.expose()),
            ("hub.challenge", challenge.as_str()),
        ];
        let answer = self.get(company, url, &query).await?;
        // An answer that is too long is accepted, and is not the challenge.
        if let Some(fault) = answer.fault.as_ref().filter(|_| !answer.is_delivered()) {
            return Err(fault.clone().into());
        }
        // Some receivers write it as JSON.
        let said = answer.kept.trim().trim_matches('"');
        if said == challenge {
            return Ok(());
        }
        Err(Unverified::OtherAnswer(said.chars().take(SHOWN).collect()))
    }
}

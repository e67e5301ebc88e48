//! The second factor of a person: it is set up in two steps, accepts each code once, and is removed with the
//! password.

use rand::distr::{Distribution as _, Uniform};

use super::attempt::Attempt;
use super::sessions::keep;
use super::{Accounts, Email, Error, Origin, Result, Session, totp};
use clock::Timestamp;
use domain::secret::Secret;
use store::users::Credentials;
use vault::{api_key, context};

/// How many recovery codes a person gets.
const CODES: usize = 10;
/// The letters and digits of a recovery code, without those that are easily confused. 16 of them are 79 bits.
const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
const CODE_CHARS: usize = 16;
/// The size of a group of characters, for people who copy a code.
const GROUP: usize = 4;
/// The digits of a code.
const DIGITS: usize = 6;

/// What a person proves again before their second factor is set up, replaced or removed: a stolen session is not enough.
#[derive(Debug, Clone, Copy)]
pub struct Proof<'a> {
    /// The password, as it was typed.
    pub password: &'a str,
    /// A code of the present second factor or a recovery code, if there is a second factor.
    pub code: Option<&'a str>,
}

/// A second factor that is not confirmed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TotpSetup {
    /// The secret in base32, for people to type.
    pub secret: Secret,
    /// The address for a QR code.
    pub url: Secret,
}

/// A second factor that was confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TotpConfirmed {
    /// The recovery codes, which are shown once.
    pub codes: Vec<Secret>,
    /// The session's new token, for its cookie.
    pub token: Secret,
}

impl Accounts {
    /// Begins the setup of a second factor, which replaces the present one. It is active once a code confirms it, within
    /// ten minutes.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when the password or the code is wrong, [`Error::TooMany`], [`Error::Store`].
    pub async fn begin_totp(
        &self,
        session: &Session,
        proof: Proof<'_>,
        origin: &Origin,
    ) -> Result<TotpSetup> {
        self.check_again(session, proof, origin).await?;
        let secret = totp::generate();
        let url = totp::url(&secret, &session.user.email)?;
        let sealed = self.0.vault.seal(secret.expose().as_bytes(), &context::totp_setup(session.id));
        self.store().users().put_totp_setup(session.id, session.user.id, &sealed).await?;
        Ok(TotpSetup { secret, url })
    }

    /// The second factor that is not confirmed yet, to show it again.
    ///
    /// # Errors
    ///
    /// [`Error::Defect`], [`Error::Store`].
    pub async fn begun_totp(&self, session: &Session) -> Result<Option<TotpSetup>> {
        let Some(sealed) = self.store().users().totp_setup(session.id).await? else { return Ok(None) };
        // It waits for minutes only, so a rotation of the sealing keys leaves it behind: the person begins again.
        let Ok(secret) = self.0.vault.unseal(&sealed, &context::totp_setup(session.id)) else {
            return Ok(None);
        };
        let url = totp::url(&secret, &session.user.email)?;
        Ok(Some(TotpSetup { secret, url }))
    }

    /// Confirms the second factor with one of its codes. The new recovery codes replace the earlier ones, and
    /// are shown once. All other sessions of the person end.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when the code is wrong, [`Error::TooMany`], [`Error::NotFound`] when no setup was begun, or the
    /// credentials changed meanwhile, [`Error::Store`].
    pub async fn confirm_totp(
        &self,
        session: &Session,
        code: &str,
        origin: &Origin,
    ) -> Result<TotpConfirmed> {
        let TotpSetup { secret, url: _ } = self.begun_totp(session).await?.ok_or(Error::NotFound)?;
        let attempt = Attempt::within(self, session, origin).await?;
        let result = self.set_totp(session, &secret, code, origin).await;
        attempt.end(&result, |_| true).await;
        result
    }

    async fn set_totp(
        &self,
        session: &Session,
        secret: &Secret,
        code: &str,
        origin: &Origin,
    ) -> Result<TotpConfirmed> {
        let step = totp::step(secret, code.trim(), Timestamp::now())?.ok_or(Error::Refused)?;
        let codes: Vec<_> = (0..CODES).map(|_| recovery_code()).collect();
        let hashes: Vec<_> = codes.iter().map(|code| hash(code.expose())).collect();
        let (user, _hold) = (&session.user, self.0.vault.hold());
        let sealed = self.0.vault.seal(secret.expose().as_bytes(), &context::totp_secret(user.id));
        let (token, keep) = keep(session);
        let who = origin.who(&user.email);
        let set = self.store().users().set_totp(&who, user, keep, &sealed, step, &hashes).await?;
        if set { Ok(TotpConfirmed { codes, token }) } else { Err(Error::NotFound) }
    }

    /// Removes the second factor of a person who proves their identity again, and ends all their other sessions. Returns
    /// the session's new token, for its cookie.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when the password or the code is wrong, [`Error::TooMany`], [`Error::NotFound`] when there is
    /// none, [`Error::Store`].
    pub async fn remove_totp(&self, session: &Session, proof: Proof<'_>, origin: &Origin) -> Result<Secret> {
        self.check_again(session, proof, origin).await?;
        let (token, keep) = keep(session);
        let who = origin.who(&session.user.email);
        let removed = self.store().users().remove_totp(&who, &session.user, Some(keep)).await?;
        if removed { Ok(token) } else { Err(Error::NotFound) }
    }

    /// Checks the password, and the code of a person who has a second factor. Both count as one guess.
    async fn check_again(&self, session: &Session, proof: Proof<'_>, origin: &Origin) -> Result<()> {
        let attempt = Attempt::within(self, session, origin).await?;
        let result = self.is_proven(session, proof, origin).await;
        attempt.end(&result, |()| true).await;
        result
    }

    async fn is_proven(&self, session: &Session, proof: Proof<'_>, origin: &Origin) -> Result<()> {
        let found = self.store().users().credentials(session.user.id).await?.ok_or(Error::NotFound)?;
        if !self.0.passwords.fits(proof.password, found.password.as_deref()).await? {
            let email = Email::parse(&found.user.email).ok();
            return Err(self.refuse(email.as_ref(), "password", origin).await);
        }
        if found.user.has_totp {
            self.check_code(&found, proof.code.unwrap_or_default(), origin).await?;
        }
        Ok(())
    }

    /// How many recovery codes the person has left.
    pub async fn recovery_codes_left(&self, session: &Session) -> Result<u64> {
        Ok(self.store().users().recovery_codes_left(session.user.id).await?)
    }

    /// Whether this is a code of the person's second factor, or a recovery code. Each code is valid once.
    pub(super) async fn is_code(&self, found: &Credentials, code: &str) -> Result<bool> {
        let code: String = code.chars().filter(|c| !c.is_whitespace() && *c != '-').collect();
        let Credentials { user, totp_secret, password: _ } = found;
        if code.len() == DIGITS {
            let Some(sealed) = totp_secret else { return Ok(false) };
            let secret = self.0.vault.unseal(sealed, &context::totp_secret(user.id))?;
            let Some(step) = totp::step(&secret, &code, Timestamp::now())? else { return Ok(false) };
            return Ok(self.store().users().spend_totp_step(user.id, step).await?);
        }
        if code.len() != CODE_CHARS {
            return Ok(false);
        }
        Ok(self.store().users().spend_recovery_code(user.id, &hash(&code)).await?)
    }
}

fn recovery_code() -> Secret {
    let mut code = String::with_capacity(CODE_CHARS + CODE_CHARS / GROUP);
    let mut random = rand::rng();
    // `Uniform::new` fails only for empty bounds, and these are not.
    if let Ok(letters) = Uniform::new(0, LETTERS.len()) {
        for place in 0..CODE_CHARS {
            if place > 0 && place % GROUP == 0 {
                code.push('-');
            }
            code.push(char::from(LETTERS[letters.sample(&mut random)]));
        }
    }
    Secret::new(code)
}

/// The stored hash of a recovery code, without groups and in small letters.
fn hash(code: &str) -> [u8; 32] {
    api_key::hash(&code.replace('-', "").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recovery_code_fits_however_it_is_typed() {
        let code = recovery_code();
        let text = code.expose();
        assert_eq!(text.len(), 19, "{text}");
        assert_eq!(hash(text), hash(&text.to_uppercase().replace('-', "")));
        assert_ne!(code, recovery_code());
    }
}

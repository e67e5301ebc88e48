//! Hashes passwords with Argon2id, and judges new ones, on threads that serve no requests, some at a time.
//!
//! Hashes are stored in the usual text form (PHC string), which contains the parameters: when these are
//! raised, older hashes can still be checked. A password is normalised (NFKC), so that it matches however a
//! keyboard composes its letters.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;
use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

use super::strength::{self, About};
use super::{Error, Result};
use domain::user::MAX_PASSWORD;

/// 19 MiB and two passes: OWASP's advice
/// (<https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html>).
const COST: Cost = Cost { memory_kib: 19 * 1024, passes: 2, lanes: 1 };
const HASH_BYTES: usize = 32;
const SALT_BYTES: usize = 16;
/// The maximum of passwords that wait for a thread. The last one waits some seconds.
const MOST_WAITING: usize = 100;
/// When to retry if too many are waiting.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// The maximum of memory, lanes, and memory times passes for checking a stored hash, so that a damaged or planted row can
/// use neither all memory nor a thread for longer than some seconds.
const MOST: Cost = Cost { memory_kib: 256 * 1024, passes: 64, lanes: 16 };
const MOST_WORK_KIB: u64 = 1024 * 1024;
/// The longest stored salt, in base64.
const MOST_SALT: usize = 88;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cost {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

/// The threads for passwords.
pub(super) struct Passwords {
    running: Arc<Semaphore>,
    waiting: Semaphore,
}

impl Default for Passwords {
    fn default() -> Self {
        // Half of the processors; the others keep serving and sending.
        let running = available_parallelism().map_or(1, NonZeroUsize::get).div_ceil(2);
        Self { running: Arc::new(Semaphore::new(running)), waiting: Semaphore::new(MOST_WAITING) }
    }
}

impl Passwords {
    /// The hash of a new password, in the stored form.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`] when too many wait.
    pub(super) async fn hash(&self, password: &str) -> Result<String> {
        let password = normalised(password);
        self.apart(move || {
            let salt: [u8; SALT_BYTES] = rand::random();
            Ok(written(COST, &salt, &COST.hash(&password, &salt)?))
        })
        .await
    }

    /// Whether a password matches the stored hash. Without a stored hash the answer is no, after the same
    /// time.
    pub(super) async fn fits(&self, password: &str, stored: Option<&str>) -> Result<bool> {
        let password = normalised(password);
        let stored = stored.map(|text| read(text).ok_or_else(unreadable)).transpose()?;
        self.apart(move || {
            let (cost, salt, expected) = stored.unwrap_or((COST, vec![0; SALT_BYTES], [0; HASH_BYTES]));
            Ok(cost.hash(&password, &salt)?.ct_eq(&expected).into())
        })
        .await
    }

    /// Whether a new password is easy to guess, for an attacker who knows this about the person.
    pub(super) async fn is_common(&self, password: &str, about: About) -> Result<bool> {
        let password = normalised(password);
        self.apart(move || {
            let text = std::str::from_utf8(&password)
                .map_err(|_| Error::Defect("a normalised password is no text".to_owned()))?;
            Ok(strength::is_common(text, &about))
        })
        .await
    }

    async fn apart<T: Send + 'static>(&self, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        let too_many = || Error::TooMany { retry_after: RETRY_AFTER };
        let _place = self.waiting.try_acquire().map_err(|_| too_many())?;
        let permit = Arc::clone(&self.running).acquire_owned().await.map_err(|_| too_many())?;
        let worked = tokio::task::spawn_blocking(move || {
            let result = work();
            // The thread returns the permit, because the caller may be gone by then.
            drop(permit);
            result
        });
        worked.await.map_err(|_| Error::Defect("hashing a password failed".to_owned()))?
    }
}

impl Cost {
    /// Whether a hash of this cost may be computed.
    const fn is_bounded(self) -> bool {
        let Self { memory_kib, passes, lanes } = self;
        let work = memory_kib as u64 * passes as u64;
        memory_kib <= MOST.memory_kib && passes <= MOST.passes && lanes <= MOST.lanes && work <= MOST_WORK_KIB
    }

    fn hash(self, password: &[u8], salt: &[u8]) -> Result<[u8; HASH_BYTES]> {
        let Self { memory_kib, passes, lanes } = self;
        let defect = |error: argon2::Error| Error::Defect(format!("a password cannot be hashed: {error}"));
        let parameters = Params::new(memory_kib, passes, lanes, Some(HASH_BYTES)).map_err(defect)?;
        let mut hash = [0; HASH_BYTES];
        Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters)
            .hash_password_into(password, salt, &mut hash)
            .map_err(defect)?;
        Ok(hash)
    }
}

/// The normalised password, cut to the longest length that is hashed. A longer password matches no hash.
fn normalised(password: &str) -> Zeroizing<Vec<u8>> {
    let text: Zeroizing<String> = Zeroizing::new(password.chars().take(MAX_PASSWORD + 1).nfkc().collect());
    Zeroizing::new(text.as_bytes().to_vec())
}

fn written(Cost { memory_kib, passes, lanes }: Cost, salt: &[u8], hash: &[u8]) -> String {
    let (salt, hash) = (STANDARD_NO_PAD.encode(salt), STANDARD_NO_PAD.encode(hash));
    format!("$argon2id$v=19$m={memory_kib},t={passes},p={lanes}${salt}${hash}")
}

/// Reads what [`written`] writes.
fn read(text: &str) -> Option<(Cost, Vec<u8>, [u8; HASH_BYTES])> {
    let mut parts = text.strip_prefix("$argon2id$v=19$")?.split('$');
    let (costs, salt, hash) = (parts.next()?, parts.next()?, parts.next()?);
    let mut costs = costs.split(',');
    let mut cost = |name: &str| costs.next()?.strip_prefix(name)?.parse::<u32>().ok();
    let cost = Cost { memory_kib: cost("m=")?, passes: cost("t=")?, lanes: cost("p=")? };
    let hash = STANDARD_NO_PAD.decode(hash).ok()?.try_into().ok()?;
    let is_whole = parts.next().is_none() && salt.len() <= MOST_SALT && cost.is_bounded();
    is_whole.then_some((cost, STANDARD_NO_PAD.decode(salt).ok()?, hash))
}

fn unreadable() -> Error {
    Error::Defect("a stored password hash was not written by this program".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_hash_is_read_as_it_was_written_and_nothing_else_is() {
        let text = written(COST, &[1; SALT_BYTES], &[2; HASH_BYTES]);
        assert!(text.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{text}");
        assert_eq!(read(&text), Some((COST, vec![1; SALT_BYTES], [2; HASH_BYTES])));
        for wrong in ["", "secret", &text[1..], &text[..text.len() - 4], &format!("{text}$x")] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_stored_hash_that_costs_too_much_is_not_computed() {
        let text = written(COST, &[1; SALT_BYTES], &[2; HASH_BYTES]);
        for dear in [
            "m=4000000000,t=2,p=1",
            "m=19456,t=4000000000,p=1",
            "m=19456,t=2,p=4000000000",
            "m=262144,t=5,p=1",
        ] {
            assert_eq!(read(&text.replace("m=19456,t=2,p=1", dear)), None, "{dear}");
        }
        let raised = text.replace("m=19456,t=2,p=1", "m=262144,t=4,p=4");
        assert!(read(&raised).is_some(), "a higher cost than today's is read");
        assert_eq!(
            read(&text.replace(&STANDARD_NO_PAD.encode([1; SALT_BYTES]), &"A".repeat(1_000_000))),
            None
        );
    }

    /// From the tests of the reference implementation.
    #[test]
    fn a_hash_is_the_one_of_the_standard() {
        let cost = Cost { memory_kib: 256, passes: 2, lanes: 1 };
        let hash = cost.hash(b"password", b"somesalt").unwrap();
        assert_eq!(hex::encode(hash), "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe");
    }

    #[tokio::test]
    async fn a_password_fits_however_its_letters_are_composed_and_another_one_does_not() {
        let passwords = Passwords::default();
        let stored = passwords.hash("corazón de León").await.unwrap();
        assert_ne!(stored, passwords.hash("corazón de León").await.unwrap(), "salted");
        for (password, fits) in [
            ("corazón de León", true),
            ("corazo\u{301}n de Leo\u{301}n", true),
            ("corazon de Leon", false),
            ("", false),
        ] {
            assert_eq!(passwords.fits(password, Some(&stored)).await.unwrap(), fits, "{password}");
        }
        assert!(!passwords.fits("", None).await.unwrap());
    }
}

//! Messages between the nodes of a cluster, sealed with keys that are derived from the sealing keys: a node that has
//! them proves it with each message.
//!
//! A sealed message begins with a version and the id of its sealing key: `3`, eight bytes of id, a nonce of 24 bytes,
//! ciphertext and tag (XChaCha20-Poly1305). All keys of the ring open messages, so that nodes understand each other
//! during a rotation. A key that was removed opens none any more: who stole it is locked out.

use chacha20poly1305::aead::{Aead as _, Generate as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};

use super::derived::{OF_MESSAGES, derived};
use super::ring::{Ring, Sealer};
use super::{Error, KeyId, Vault};
use domain::secret::SealingKey;

/// The first byte of a message.
const MESSAGE: u8 = 3;
const NONCE_BYTES: usize = 24;
/// How many bytes longer a sealed message is: version, id of the key, nonce and tag.
pub const MESSAGE_OVERHEAD: usize = 1 + KeyId::BYTES + NONCE_BYTES + 16;

/// The cipher of messages for a sealing key.
pub(super) fn cipher(key: &SealingKey) -> XChaCha20Poly1305 {
    let key = derived(key, OF_MESSAGES);
    XChaCha20Poly1305::new((&*key).into())
}

/// A message that was opened.
#[derive(Debug)]
pub struct Opened {
    /// Its content.
    pub content: Vec<u8>,
    /// The sealing key behind it, which the other node has: an answer is sealed with the same.
    pub key: KeyId,
}

impl Vault {
    /// Seals a message to other nodes with the current key.
    pub fn seal_message(&self, content: &[u8], context: &[u8]) -> Vec<u8> {
        self.refresh();
        seal(self.ring().current(), content, context)
    }

    /// Seals the answer to a message that was sealed with this key. If the key was removed meanwhile, the current key
    /// seals.
    pub fn seal_answer(&self, key: KeyId, content: &[u8], context: &[u8]) -> Vec<u8> {
        let ring = self.ring();
        let sealer = ring.in_use().find(|sealer| sealer.id == key).unwrap_or_else(|| ring.current());
        seal(sealer, content, context)
    }

    /// Opens a message that another node sealed for the same context.
    ///
    /// # Errors
    ///
    /// [`Error::NotSealed`], [`Error::UnknownKey`], [`Error::DoesNotOpen`].
    pub fn open_message(&self, sealed: &[u8], context: &[u8]) -> Result<Opened, Error> {
        // A key that was just removed from the file must open nothing.
        self.refresh();
        open(&self.ring(), sealed, context)
    }
}

#[expect(clippy::expect_used, reason = "the cipher refuses only texts of 256 GiB and more")]
fn seal(sealer: &Sealer, content: &[u8], context: &[u8]) -> Vec<u8> {
    let nonce = XNonce::generate();
    let payload = Payload { msg: content, aad: context };
    let ciphertext = sealer.messages.encrypt(&nonce, payload).expect("a message is small");
    [&[MESSAGE], sealer.id.as_slice(), nonce.as_slice(), &ciphertext].concat()
}

fn open(ring: &Ring, sealed: &[u8], context: &[u8]) -> Result<Opened, Error> {
    let rest = sealed.strip_prefix(&[MESSAGE]).ok_or(Error::NotSealed)?;
    let (key, rest) = rest.split_first_chunk::<{ KeyId::BYTES }>().ok_or(Error::NotSealed)?;
    let (nonce, ciphertext) = rest.split_first_chunk::<NONCE_BYTES>().ok_or(Error::NotSealed)?;
    let key = KeyId::from_slice(key).ok_or(Error::NotSealed)?;
    let sealer = ring.in_use().find(|sealer| sealer.id == key).ok_or(Error::UnknownKey(key))?;
    let payload = Payload { msg: ciphertext, aad: context };
    let content = sealer.messages.decrypt(nonce.into(), payload).map_err(|_| Error::DoesNotOpen)?;
    Ok(Opened { content, key })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use config::{Config, Secrets};

    fn vault(current: u8, previous: &[u8]) -> Vault {
        let key = |byte| SealingKey::new([byte; 32]);
        let previous_keys = previous.iter().map(|byte| key(*byte)).collect();
        let secrets = Secrets { key: Some(key(current)), previous_keys, key_file: None };
        Vault::open(&secrets, Path::new("/nowhere")).unwrap().0
    }

    #[test]
    fn a_message_opens_with_its_key_and_in_its_context_and_never_as_a_stored_value() {
        let sealed = vault(1, &[]).seal_message(b"a text", b"question");
        assert_eq!(sealed.len(), b"a text".len() + MESSAGE_OVERHEAD);
        assert!(!sealed.windows(4).any(|window| window == b"text"));
        assert_eq!(vault(1, &[]).open_message(&sealed, b"question").unwrap().content, b"a text");
        assert!(matches!(vault(1, &[]).open_message(&sealed, b"answer"), Err(Error::DoesNotOpen)));
        assert!(matches!(vault(2, &[]).open_message(&sealed, b"question"), Err(Error::UnknownKey(_))));
        let stored = vault(1, &[]).seal(b"a text", "question");
        assert!(matches!(vault(1, &[]).open_message(&stored, b"question"), Err(Error::NotSealed)));
        let dressed = [&[MESSAGE], &stored[1..]].concat();
        assert!(matches!(vault(1, &[]).open_message(&dressed, b"question"), Err(Error::DoesNotOpen)));
    }

    #[test]
    fn every_altered_or_missing_byte_of_a_message_is_noticed() {
        let vault = vault(1, &[]);
        let sealed = vault.seal_message(b"a text", b"question");
        for position in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[position] ^= 1;
            assert!(vault.open_message(&altered, b"question").is_err(), "byte {position}");
            assert!(vault.open_message(&sealed[..position], b"question").is_err(), "cut at {position}");
        }
    }

    #[test]
    fn during_a_rotation_both_sides_understand_each_other_and_an_answer_has_the_key_of_its_question() {
        let (old, new) = (vault(1, &[2]), vault(2, &[1]));
        let question = new.seal_message(b"?", b"question");
        let opened = old.open_message(&question, b"question").unwrap();
        let answer = old.seal_answer(opened.key, b"!", b"answer");
        assert_eq!(vault(2, &[]).open_message(&answer, b"answer").unwrap().content, b"!");
        let asked = old.seal_message(b"?", b"question");
        assert_eq!(new.open_message(&asked, b"question").unwrap().content, b"?");
        assert!(vault(2, &[]).open_message(&asked, b"question").is_err(), "the old key was removed");
    }

    #[tokio::test]
    async fn a_key_that_was_removed_from_the_file_opens_no_message_of_a_running_service() {
        let directory = tempfile::tempdir().unwrap();
        let open = || Vault::open(&Config::default().secrets, directory.path()).unwrap().0;
        let (service, command) = (open(), open());
        let forged = command.seal_message(b"?", b"question");
        assert!(service.open_message(&forged, b"question").is_ok());
        let first = command.current_key();
        command.add_key().await.unwrap();
        assert!(service.open_message(&forged, b"question").is_ok(), "both keys are in use");
        command.discard_key(first).await.unwrap();
        assert!(matches!(service.open_message(&forged, b"question"), Err(Error::UnknownKey(_))));
    }
}

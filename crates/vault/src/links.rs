//! Signatures of addresses that anybody who has them may open until they expire: HMAC-SHA256 under keys that are derived from
//! the sealing keys.

use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::Vault;
use super::derived::{OF_LINKS, derived};
use super::ring::{Ring, Sealer};
use domain::secret::SealingKey;

/// The length of a signature in bytes.
pub const SIGNATURE_BYTES: usize = 32;

/// The key of signatures for a sealing key.
pub(super) fn key(key: &SealingKey) -> Zeroizing<[u8; 32]> {
    derived(key, OF_LINKS)
}

impl Vault {
    /// Signs what an address says, with the current key.
    pub fn sign_link(&self, said: &str) -> [u8; SIGNATURE_BYTES] {
        self.refresh();
        mac(self.ring().current(), said).finalize().into_bytes().into()
    }

    /// Whether one of the keys signed what an address says; a key that was removed signs nothing any more. The comparison
    /// takes the same time for every signature.
    pub fn is_link_signed(&self, said: &str, signature: &[u8]) -> bool {
        let is_signed =
            |ring: &Ring| ring.in_use().any(|sealer| mac(sealer, said).verify_slice(signature).is_ok());
        is_signed(&self.ring()) || self.refresh() && is_signed(&self.ring())
    }
}

#[expect(clippy::expect_used, reason = "the algorithm takes a key of any length")]
fn mac(sealer: &Sealer, said: &str) -> Hmac<Sha256> {
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(&*sealer.links).expect("any key will do");
    mac.update(said.as_bytes());
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_one_text_and_one_installation() {
        let (vault, other) = (Vault::unused(), Vault::unused());
        let signature = vault.sign_link("a file until noon");
        assert!(vault.is_link_signed("a file until noon", &signature));
        assert!(!vault.is_link_signed("a file until one", &signature));
        assert!(!other.is_link_signed("a file until noon", &signature));
        for wrong in [&signature[..31], &[], &[0; 32]] {
            assert!(!vault.is_link_signed("a file until noon", wrong), "{wrong:?}");
        }
    }
}

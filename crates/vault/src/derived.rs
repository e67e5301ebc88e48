//! Keys that are derived from a sealing key, each for one purpose (HKDF-SHA256, RFC 5869), so that a value of one purpose
//! never opens as a value of another.

use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

use domain::secret::SealingKey;

/// The key of the messages between the nodes of a cluster. The text is part of what travels and never changes.
pub(super) const OF_MESSAGES: &[u8] = b"pombo messages between nodes";

/// The key that signs addresses of files. The text never changes: addresses that were signed before stay valid.
pub(super) const OF_LINKS: &[u8] = b"pombo signed links";

/// The key for the purpose that this text names.
#[expect(clippy::expect_used, reason = "the algorithm refuses only keys of more than 8,160 bytes")]
pub(super) fn derived(key: &SealingKey, purpose: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut derived = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(None, key.expose()).expand(purpose, &mut *derived).expect("32 bytes can be derived");
    derived
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_keys_never_change_and_differ_by_purpose_and_key() {
        let ones = SealingKey::new([1; 32]);
        assert_eq!(
            hex::encode(*derived(&ones, OF_MESSAGES)),
            "c4e649592b040b1194650590373192c2f29b21ded2fed4444762b1e4b850f428"
        );
        assert_ne!(derived(&ones, OF_MESSAGES), derived(&ones, OF_LINKS));
        assert_ne!(derived(&ones, OF_MESSAGES), derived(&SealingKey::new([2; 32]), OF_MESSAGES));
    }
}

//! Proofs that a process has a sealing key: a value that only this key opens, which is kept in the database.

use super::{KeyId, Vault, context};

impl Vault {
    /// The ids of the keys in use: the current key, then those that only open values, latest first.
    pub fn key_ids(&self) -> Vec<KeyId> {
        self.refresh();
        self.ring().in_use().map(|sealer| sealer.id).collect()
    }

    /// A new proof of a key in use; `None` for any other key.
    pub fn prove(&self, key: KeyId) -> Option<Vec<u8>> {
        self.ring().seal_with(key, &[], &context::key_proof(key))
    }

    /// Whether this vault has the key of this proof in use. A key that was removed from the key file does not count,
    /// because the next process does not have it.
    pub fn proves(&self, key: &[u8], proof: &[u8]) -> bool {
        let Some(key) = KeyId::from_slice(key) else { return false };
        self.key_ids().contains(&key) && self.unseal_bytes(proof, &context::key_proof(key)).is_ok()
    }
}

//! People in webhooks: an address, a name, and an id that is specific to the business.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The business-scoped id of a person with this address: a phone in digits, or such an id itself. No country has the
/// code before its dot.
pub(super) fn user_id(address: &str) -> String {
    if is_user_id(address) {
        return address.to_owned();
    }
    let digest: [u8; 32] = Sha256::digest(address).into();
    let number = digest.iter().take(8).fold(0, |number: u64, byte| (number << 8) | u64::from(*byte));
    format!("ZZ.{number}")
}

/// Whether an address is no phone but a business-scoped id.
pub(super) fn is_user_id(address: &str) -> bool {
    address.contains('.')
}

/// An entry of `contacts`.
pub(super) fn contact(address: &str) -> Value {
    let mut contact = json!({ "profile": { "name": "Simulated person" }, "user_id": user_id(address) });
    if !is_user_id(address) {
        contact["wa_id"] = address.into();
    }
    contact
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_has_one_id_whatever_the_address() {
        let id = user_id("5511999990001");
        assert!(id.starts_with("ZZ.") && id[3..].bytes().all(|byte| byte.is_ascii_digit()), "{id}");
        assert_eq!(user_id(&id), id);
        assert_ne!(user_id("5511999990002"), id);
        assert_eq!(contact(&id), json!({ "profile": { "name": "Simulated person" }, "user_id": id }));
        assert_eq!(contact("5511999990001")["wa_id"], "5511999990001");
    }
}

//! People in webhooks: an address, a name, and an id that is specific to the business.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The business-scoped id of a person with this address: a phone in digits, in any of its forms, or such an id itself. No
/// country has the code before its dot.
pub(super) fn user_id(address: &str) -> String {
    if is_user_id(address) {
        return address.to_owned();
    }
    let digest: [u8; 32] = Sha256::digest(wa_id(address)).into();
    let number = digest.iter().take(8).fold(0, |number: u64, byte| (number << 8) | u64::from(*byte));
    format!("ZZ.{number}")
}

/// Whether an address is no phone but a business-scoped id.
pub(super) fn is_user_id(address: &str) -> bool {
    address.contains('.')
}

/// The number under which WhatsApp knows a person, for a phone in digits: the forms that it keeps from before these
/// countries changed their numbers. What it does elsewhere is not documented, and this simulator knows one more such
/// country, Benin, whose numbers got `01` in 2024.
pub(super) fn wa_id(phone: &str) -> String {
    let is_phone = phone.bytes().all(|byte| byte.is_ascii_digit());
    let rest = |prefix: &str, length: usize| {
        phone.strip_prefix(prefix).filter(|rest| is_phone && rest.len() == length)
    };
    if let Some(rest) = rest("55", 11)
        && rest[2..].starts_with('9')
        && rest[..2].parse().is_ok_and(|area: u8| area > 30)
    {
        return format!("55{}{}", &rest[..2], &rest[3..]);
    }
    if let Some(rest) = rest("52", 10) {
        return format!("521{rest}");
    }
    if let Some(rest) = rest("54", 10) {
        return format!("549{rest}");
    }
    if let Some(rest) = rest("229", 10).filter(|rest| rest.starts_with("01")) {
        return format!("229{}", &rest[2..]);
    }
    phone.to_owned()
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
    fn a_number_is_known_as_whatsapp_keeps_it() {
        for (phone, known_as) in [
            ("5564988887777", "556488887777"),
            ("556488887777", "556488887777"),
            ("5511988887777", "5511988887777"),
            ("525512345678", "5215512345678"),
            ("5215512345678", "5215512345678"),
            ("541155554444", "5491155554444"),
            ("5491155554444", "5491155554444"),
            ("2290161234567", "22961234567"),
            ("16505551234", "16505551234"),
            ("55aãbbbbbbbb", "55aãbbbbbbbb"),
        ] {
            assert_eq!(wa_id(phone), known_as);
        }
    }

    #[test]
    fn a_person_has_one_id_whatever_the_address() {
        let id = user_id("5511999990001");
        assert!(id.starts_with("ZZ.") && id[3..].bytes().all(|byte| byte.is_ascii_digit()), "{id}");
        assert_eq!(user_id(&id), id);
        assert_eq!(user_id("5564988887777"), user_id("556488887777"));
        assert_ne!(user_id("5511999990002"), id);
        assert_eq!(contact(&id), json!({ "profile": { "name": "Simulated person" }, "user_id": id }));
        assert_eq!(contact("5511999990001")["wa_id"], "5511999990001");
    }
}

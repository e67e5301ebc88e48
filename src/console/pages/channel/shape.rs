//! The fields by which a business account is known at the provider, checked by their shape before the provider is asked:
//! most mistakes are a value that was copied from the field beside it.

use crate::console::form::Form;
use crate::domain::secret::Secret;

/// The longest name of a channel, in characters.
pub(crate) const NAME: usize = 200;
/// The most digits of a provider's id.
pub(crate) const ID: usize = 32;
/// The fewest digits of a provider's id, which has some 15: a phone number has fewer.
const LEAST_ID: usize = 14;
/// The longest token, in characters. No token of the provider is nearly as long.
const SECRET: usize = 16 * 1024;
/// The characters of an app secret: digits and letters from a to f.
const APP_SECRET: usize = 32;
/// How every access token begins.
const TOKEN: &str = "EAA";

/// The name that a company gives a channel.
pub(crate) fn name(form: &mut Form) -> String {
    let name = form.required("name", NAME);
    if name.chars().any(char::is_control) {
        form.fault("name", form.text().get("channels-fault-name"));
    }
    name
}

/// The ids of a number and of its business account.
pub(crate) fn ids(form: &mut Form) -> (String, String) {
    let (number, account) = (id(form, "phone_number_id"), id(form, "waba_id"));
    if number == account {
        form.fault("waba_id", form.text().get("channels-fault-same-id"));
    }
    (number, account)
}

fn id(form: &mut Form, name: &'static str) -> String {
    let (id, text) = (form.required(name, ID), form.text());
    if !id.bytes().all(|digit| digit.is_ascii_digit()) {
        form.fault(name, text.get("channels-fault-id"));
    } else if id.len() < LEAST_ID {
        form.fault(name, text.with("channels-fault-short-id", [("count", id.len().into())]));
    }
    id
}

/// An access token, if one was typed.
pub(crate) fn token(form: &mut Form) -> Option<Secret> {
    let token = secret(form, "token")?;
    let typed = token.expose();
    let key = if is_app_secret(typed) {
        "channels-fault-token-is-secret"
    } else if typed.contains('|') {
        "channels-fault-token-of-app"
    } else if !typed.starts_with(TOKEN) {
        "channels-fault-token"
    } else {
        return Some(token);
    };
    form.fault("token", form.text().get(key));
    None
}

/// The secret that signs webhooks, if one was typed.
pub(crate) fn app_secret(form: &mut Form) -> Option<Secret> {
    let secret = secret(form, "app_secret")?;
    let (typed, text) = (secret.expose(), form.text());
    if is_app_secret(typed) {
        return Some(secret);
    }
    let fault = match typed.starts_with(TOKEN) {
        true => text.get("channels-fault-secret-is-token"),
        false => text.with("channels-fault-app-secret", [("count", typed.len().into())]),
    };
    form.fault("app_secret", fault);
    None
}

fn is_app_secret(typed: &str) -> bool {
    typed.len() == APP_SECRET && typed.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn secret(form: &mut Form, name: &'static str) -> Option<Secret> {
    let typed = form.optional(name, SECRET)?;
    if !typed.bytes().all(|byte| byte.is_ascii_graphic()) {
        form.fault(name, form.text().get("channels-fault-secret"));
        return None;
    }
    Some(Secret::new(typed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;
    use crate::console::text::Text;

    /// The fault of the field when it has this value.
    fn fault(field: &'static str, value: &str) -> Option<String> {
        let other = ("waba_id", "102290129340398".to_owned());
        let mut form = Form::filled(Text(Language::English), [other]);
        form.put(field, value);
        match field {
            "token" => drop(token(&mut form)),
            "app_secret" => drop(app_secret(&mut form)),
            _ => drop(ids(&mut form)),
        }
        form.fault_of(field).map(str::to_owned)
    }

    #[test]
    fn a_value_of_another_field_is_told_at_the_field_itself() {
        let secret = "0123456789abcdef0123456789ABCDEF";
        for (field, sound) in
            [("phone_number_id", "106540352242922"), ("token", "EAAG-good"), ("app_secret", secret)]
        {
            assert_eq!(fault(field, sound), None, "{field}");
        }
        for (field, wrong, words) in [
            ("phone_number_id", "+55 11 98888-7777", "digits only"),
            ("phone_number_id", "5511988887777", "13 digits"),
            ("waba_id", "", "Fill this in"),
            ("token", secret, "the app secret"),
            ("token", "123456789012345|abc", "app token"),
            ("token", "Bearer EAAG", "no spaces"),
            ("token", "106540352242922", "begins with EAA"),
            ("app_secret", "EAAG-good", "the access token"),
            ("app_secret", "0123456789abcdef", "16 characters"),
        ] {
            let fault = fault(field, wrong).unwrap_or_default();
            assert!(fault.contains(words), "{field} {wrong}: {fault}");
        }
    }

    #[test]
    fn the_two_ids_are_not_the_same() {
        let id = || "102290129340398".to_owned();
        let mut form = Form::filled(Text(Language::English), [("phone_number_id", id()), ("waba_id", id())]);
        ids(&mut form);
        assert!(form.fault_of("waba_id").is_some() && form.fault_of("phone_number_id").is_none());
    }
}

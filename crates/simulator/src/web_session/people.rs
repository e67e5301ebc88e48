//! The people of the simulated WhatsApp: every address exists, unless its last digits say otherwise.

use domain::phone::PhoneNumber;
use driver::{Jid, Picture, RESTRICTED};

/// The last digits of numbers that are not on WhatsApp, and of groups that do not exist.
const NOBODY: &str = "0000";
/// The last digits of numbers whose messages are refused, each with the code.
const REFUSED: &[(&str, i64)] = &[("0463", RESTRICTED), ("0479", 479)];
/// The prefix that turns a number into the address that hides it.
const HIDING: &str = "77";
/// How many people a group has.
const MEMBERS: u64 = 2;

/// The outcome of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The message cannot be handed over: there is no such group.
    NoGroup,
    /// WhatsApp accepts it, and it does not arrive.
    Nobody,
    /// WhatsApp refuses it with this code.
    Refused(i64),
    /// The message arrives.
    Arrives,
}

/// The outcome of a message to this address.
pub(super) fn fate(to: &Jid) -> Fate {
    let user = user(to);
    let refused = REFUSED.iter().find(|(ending, _)| user.ends_with(ending));
    match (to.is_group(), refused) {
        (true, _) if user.ends_with(NOBODY) => Fate::NoGroup,
        (false, _) if user.ends_with(NOBODY) => Fate::Nobody,
        (false, Some((_, code))) => Fate::Refused(*code),
        _ => Fate::Arrives,
    }
}

/// Whether the number has an account.
pub(super) fn is_on_whatsapp(number: PhoneNumber) -> bool {
    fate(&Jid::person(number)) != Fate::Nobody
}

/// The number of a person, also behind the address that hides it; `None` for a group.
pub(super) fn number(jid: &Jid) -> Option<PhoneNumber> {
    let behind = || PhoneNumber::parse(user(jid).strip_prefix(HIDING)?).ok();
    jid.number().or_else(|| if jid.is_group() { None } else { behind() })
}

/// The address that hides a number: always the same, with the same last digits.
pub(crate) fn hidden(number: PhoneNumber) -> Option<Jid> {
    Jid::parse(&format!("{HIDING}{number}@lid")).ok()
}

/// The recipient of messages to the address.
pub(super) fn receivers(to: &Jid) -> Vec<Jid> {
    if !to.is_group() {
        return vec![to.clone()];
    }
    let member = |place| Jid::parse(&format!("{HIDING}99900000000{place}@lid")).ok();
    (1..=MEMBERS).filter_map(member).collect()
}

/// The profile picture; every other address shows one.
pub(super) fn picture(of: &Jid) -> Option<Picture> {
    let user = user(of);
    let last = user.bytes().last()?;
    last.is_multiple_of(2)
        .then(|| Picture { id: user.to_owned(), url: format!("https://pps.example/v/{user}/picture.jpg") })
}

/// The part before the server's name.
pub(super) fn user(jid: &Jid) -> &str {
    jid.as_str().split_once('@').map_or(jid.as_str(), |(user, _)| user)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> PhoneNumber {
        PhoneNumber::parse(text).unwrap()
    }

    #[test]
    fn the_last_digits_decide_the_outcome_of_a_message() {
        for (to, expected) in [
            ("999900000001@s.whatsapp.net", Fate::Arrives),
            ("999900000000@s.whatsapp.net", Fate::Nobody),
            ("999900000463@s.whatsapp.net", Fate::Refused(463)),
            ("77999900000479@lid", Fate::Refused(479)),
            ("120363000000000000@g.us", Fate::NoGroup),
            ("120363000000000463@g.us", Fate::Arrives),
        ] {
            assert_eq!(fate(&Jid::parse(to).unwrap()), expected, "{to}");
        }
    }

    #[test]
    fn a_hidden_address_is_always_the_same_and_has_the_fate_of_its_number() {
        let of = number("+999 900 000 463");
        assert_eq!(hidden(of), hidden(of));
        assert_ne!(hidden(of), hidden(number("+999 900 000 464")));
        assert_eq!(fate(&hidden(of).unwrap()), fate(&Jid::person(of)));
        assert!(hidden(number("999999999999999")).is_some(), "the longest number");
        assert_eq!(super::number(&hidden(of).unwrap()), Some(of));
        assert_eq!(super::number(&Jid::group("120363000000000001").unwrap()), None);
    }

    #[test]
    fn a_message_to_a_group_is_received_by_several_people() {
        let group = Jid::group("120363000000000001").unwrap();
        assert_eq!(receivers(&group).len(), 2);
        let person = Jid::person(number("+999 900 000 001"));
        assert_eq!(receivers(&person), [person]);
    }
}

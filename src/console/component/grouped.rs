//! A phone number in groups, as people read and compare it.

use crate::domain::phone::{Country, PhoneNumber};

/// The calling code of Brazil, whose area codes have two digits.
const BRAZIL: u16 = 55;

/// The number with its country code and in groups: `+55 11 98888 7777`.
pub(in crate::console) fn grouped(number: PhoneNumber) -> String {
    let digits = number.to_string();
    let calling = Country::of(number).map(Country::calling_code);
    let code = calling.map(|code| code.to_string()).filter(|code| digits.starts_with(code.as_str()));
    let (code, mut rest) = digits.split_at(code.map_or(0, |code| code.len()));
    let mut grouped = format!("+{code}");
    let mut take = |rest: &mut &str, length: usize| {
        let (group, behind) = rest.split_at(length.min(rest.len()));
        if grouped.len() > 1 {
            grouped.push(' ');
        }
        grouped.push_str(group);
        *rest = behind;
    };
    if calling == Some(BRAZIL) && rest.len() > 6 {
        take(&mut rest, 2);
        let middle = rest.len() - 4;
        take(&mut rest, middle);
    }
    while rest.len() > 4 {
        take(&mut rest, 3);
    }
    take(&mut rest, 4);
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_in_groups_behind_their_country_codes() {
        for (number, wanted) in [
            ("5511988887777", "+55 11 98888 7777"),
            ("551133334444", "+55 11 3333 4444"),
            ("34612345678", "+34 612 345 678"),
            ("12125550101", "+1 212 555 0101"),
        ] {
            assert_eq!(grouped(PhoneNumber::parse(number).unwrap()), wanted);
        }
        // Numbers that no country has.
        assert_eq!(grouped(PhoneNumber::parse("999900000001").unwrap()), "+999 900 000 001");
    }
}

//! A number that a person types: the number that it is, which is shown before it is saved.
//!
//! People leave the country code out, and then the same digits are a stranger's number in another country. So only a number
//! with a plus sign is taken as it is typed. For any other one the form is shown again, with a button for each number that
//! may be meant.

use maud::{Markup, html};

use super::countries;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::words::Words;
use crate::domain::phone::{Country, InvalidPhone, PhoneNumber};

/// Typed numbers that are shown as they were read.
const SHOWN: usize = 20;

/// What a person typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// This number, without doubt or by the person's choice.
    Number(PhoneNumber),
    /// One of these, which the person has to choose.
    Either(Vec<PhoneNumber>),
    /// No number.
    Wrong(InvalidPhone),
}

/// Reads the field `name` of a form of a company in this country.
pub(crate) fn read(words: &Words, name: &str, country: Option<Country>) -> Typed {
    let text = words.one(name);
    let international = PhoneNumber::parse(text);
    if PhoneNumber::is_marked_international(text) {
        return international.map_or_else(Typed::Wrong, Typed::Number);
    }
    let national = country.and_then(|country| PhoneNumber::national(text, country));
    let meant: Vec<PhoneNumber> = national.into_iter().chain(international).collect();
    let chosen = words.one(&choice(name));
    match (meant.iter().find(|number| number.to_string() == chosen), international) {
        (Some(number), _) => Typed::Number(*number),
        (None, Err(invalid)) if meant.is_empty() => Typed::Wrong(invalid),
        (None, _) => Typed::Either(meant),
    }
}

/// The buttons that save the form of `name` with one of these numbers.
pub(crate) fn choose(text: Text, name: &str, meant: &[PhoneNumber]) -> Markup {
    html! {
        fieldset.field {
            legend { (text.get("shell-number-meant")) }
            p.actions {
                @for number in meant {
                    button type="submit" name=(choice(name)) value=(number) { (in_groups(text, *number)) }
                }
            }
        }
    }
}

/// The number as the form is to store it; without one, the form has a fault.
pub(crate) fn required(
    form: &mut Form,
    name: &str,
    country: Option<Country>,
    wrong: &str,
) -> (Option<PhoneNumber>, Vec<PhoneNumber>) {
    let text = form.text();
    match read(form.words(), name, country) {
        Typed::Number(number) => (Some(number), Vec::new()),
        Typed::Either(meant) => {
            form.fault(name, text.get("shell-number-unsure"));
            (None, meant)
        }
        Typed::Wrong(_) => {
            form.fault(name, text.get(wrong));
            (None, Vec::new())
        }
    }
}

/// What typed numbers are read as, also while they are typed, for a form whose numbers are international: each number, and what is one only inside the
/// company's country.
pub(crate) fn read_as<'a>(
    text: Text,
    typed: impl Iterator<Item = &'a str>,
    country: Option<Country>,
) -> Markup {
    let typed: Vec<&str> = typed.take(SHOWN).collect();
    let national = |typed: &str| {
        let is_marked = PhoneNumber::is_marked_international(typed);
        country.filter(|_| !is_marked).and_then(|country| PhoneNumber::national(typed, country))
    };
    html! {
        // Always there: what is typed fills it.
        div.reading id="numbers-reading" role="status" {
            @if !typed.is_empty() {
                ul.soft {
                    @for typed in typed {
                        li {
                            bdi { (typed) } " → "
                            @match PhoneNumber::parse(typed) {
                                Ok(number) => bdi.digits { (in_groups(text, number)) },
                                Err(_) => (text.get("shell-number-none")),
                            }
                            @if let Some(number) = national(typed) {
                                " " strong { (text.with("shell-number-national", [("number", grouped(number).into())])) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What the field `name` of a form is read as, below the field and while it is typed: the number with its country, or the
/// numbers that may be meant. `known` is the text that the record has now, which is not asked about again.
pub(crate) fn reading(
    text: Text,
    words: &Words,
    name: &str,
    country: Option<Country>,
    known: &str,
) -> Markup {
    let typed = match PhoneNumber::parse(known) {
        Ok(number) if words.one(name) == known => Typed::Number(number),
        _ => read(words, name, country),
    };
    html! {
        p.hint.reading id=(format!("{name}-reading")) role="status" {
            @match typed {
                Typed::Number(number) => {
                    (text.with("shell-number-read", [("number", in_groups(text, number).into())]))
                }
                Typed::Either(meant) => {
                    (text.get("shell-number-meant"))
                    @for number in meant { " " bdi { (in_groups(text, number)) } "." }
                }
                // The beginning of a number is no fault yet.
                Typed::Wrong(InvalidPhone::NoDigits | InvalidPhone::TooShort) => {}
                Typed::Wrong(_) => { (text.get("shell-number-none")) }
            }
        }
    }
}

/// A number in groups, with its country.
fn in_groups(text: Text, number: PhoneNumber) -> String {
    match Country::of(number) {
        Some(country) => format!("{} ({})", grouped(number), countries::name(text, country)),
        None => grouped(number),
    }
}

/// A number in groups of digits, as people read it: `+34 612 34 56 78`.
pub(crate) fn grouped(number: PhoneNumber) -> String {
    let digits = number.to_string();
    let calling = Country::of(number).map(|country| country.calling_code().to_string()).unwrap_or_default();
    let national = digits.get(calling.len()..).unwrap_or_default();
    let sizes: &[usize] = match (calling.as_str(), national.len()) {
        ("34", 9) => &[3, 2, 2, 2],
        ("33", 9) => &[1, 2, 2, 2, 2],
        ("52" | "54" | "55", 10) => &[2, 4, 4],
        ("54", 11) => &[1, 2, 4, 4],
        ("55", 11) => &[2, 5, 4],
        ("44", 10) => &[4, 6],
        (_, 8) => &[4, 4],
        (_, 11) => &[3, 4, 4],
        _ => &[],
    };
    let mut shown = format!("+{calling}");
    let (mut rest, mut sizes) = (national, sizes.iter());
    while !rest.is_empty() {
        // Threes, without a single digit at the end.
        let size =
            sizes.next().copied().unwrap_or(if rest.len() <= 5 && rest.len() != 3 { rest.len() } else { 3 });
        let (group, others) = rest.split_at(size.min(rest.len()));
        if shown.len() > 1 {
            shown.push(' ');
        }
        shown.push_str(group);
        rest = others;
    }
    shown
}

/// A typed number in groups of digits; as it was typed, if it is no number.
pub(crate) fn written(typed: &str) -> String {
    PhoneNumber::parse(typed).map_or_else(|_| typed.to_owned(), grouped)
}

/// The name of the button that chooses a number.
fn choice(name: &str) -> String {
    format!("{name}_as")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str, chosen: &str) -> Typed {
        let mut words = Words::default();
        words.add("number", text.to_owned());
        words.add("number_as", chosen.to_owned());
        read(&words, "number", Country::parse("BR"))
    }

    #[test]
    fn numbers_are_shown_in_the_groups_of_their_country() {
        for (digits, shown) in [
            (34_612_345_678, "+34 612 34 56 78"),
            (5_511_988_887_777, "+55 11 98888 7777"),
            (551_133_334_444, "+55 11 3333 4444"),
            (12_125_550_101, "+1 212 555 0101"),
            (447_911_123_456, "+44 7911 123456"),
            (351_912_345_678, "+351 912 345 678"),
            (4_712_345_678, "+47 1234 5678"),
            (999_900_000_001, "+999 900 000 001"),
            (8_613_812_345_678, "+86 138 1234 5678"),
        ] {
            assert_eq!(grouped(PhoneNumber::from_u64(digits).unwrap()), shown);
        }
    }

    #[test]
    fn a_number_is_read_while_it_is_typed() {
        let reading = |typed: &str, known: &str| {
            let mut words = Words::default();
            words.add("number", typed.to_owned());
            let text = Text(crate::console::language::Language::English);
            reading(text, &words, "number", Country::parse("BR"), known).into_string()
        };
        assert!(reading("+55 11 98888-7777", "").contains("+55 11 98888 7777 (Brazil)"));
        let both = reading("21 97100-0058", "");
        assert!(both.contains("+55 21 97100 0058 (Brazil)") && both.contains("+21"), "{both}");
        assert!(reading("5511988887777", "5511988887777").contains("+55 11 98888 7777"));
        assert!(reading("+55 1", "").ends_with("role=\"status\"></p>"));
    }

    #[test]
    fn only_a_number_with_a_plus_sign_is_taken_as_it_is_typed() {
        let number = |value| PhoneNumber::from_u64(value).unwrap();
        let (brazil, abroad) = (number(5_521_971_000_058), number(21_971_000_058));
        assert_eq!(typed("+55 21 97100-0058", ""), Typed::Number(brazil));
        assert_eq!(typed("21 97100-0058", ""), Typed::Either(vec![brazil, abroad]));
        assert_eq!(typed("21 97100-0058", "5521971000058"), Typed::Number(brazil));
        assert_eq!(typed("21 97100-0058", "21971000058"), Typed::Number(abroad));
        assert_eq!(typed("21 97100-0058", "12125550101"), Typed::Either(vec![brazil, abroad]));
        assert_eq!(typed("11 97100-0058", ""), Typed::Either(vec![number(5_511_971_000_058)]));
        assert_eq!(typed("5521971000058", ""), Typed::Either(vec![brazil]));
        assert_eq!(typed("n/a", ""), Typed::Wrong(InvalidPhone::NoDigits));
        assert_eq!(typed("+12", ""), Typed::Wrong(InvalidPhone::TooShort));
    }
}

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<u64, InvalidPhone> {
    PhoneNumber::parse(text).map(PhoneNumber::as_u64)
}

#[test]
fn separators_are_stripped_and_the_rules_are_named() {
    assert_eq!(parse("+55 (11) 98888-7777"), Ok(5_511_988_887_777));
    assert_eq!(parse("1234567"), Ok(1_234_567));
    assert_eq!(parse("999999999999999"), Ok(999_999_999_999_999));
    assert_eq!(parse(""), Err(InvalidPhone::NoDigits));
    assert_eq!(parse("n/a"), Err(InvalidPhone::NoDigits));
    assert_eq!(parse("123456"), Err(InvalidPhone::TooShort));
    assert_eq!(parse("1234567890123456"), Err(InvalidPhone::TooLong));
    assert_eq!(parse("0044 20 7946 0958"), Err(InvalidPhone::LeadingZero));
    assert_eq!(parse(&"1 ".repeat(1_000_000)), Err(InvalidPhone::TooLong));
}

#[test]
fn a_text_that_is_plainly_one_number_is_that_number() {
    for (text, number) in [
        ("5511900000901.0", 5_511_900_000_901),
        ("5511900000902.00", 5_511_900_000_902),
        ("5511900000903,0", 5_511_900_000_903),
        ("5511900000904,00", 5_511_900_000_904),
        ("+5511900000905.0", 5_511_900_000_905),
        ("5.511.900.000.906,00", 5_511_900_000_906),
        ("+33.1.23.45.67.00", 33_123_456_700),
        ("=\"5511900000907\"", 5_511_900_000_907),
        ("'5511900000908", 5_511_900_000_908),
        ("+44 (0) 20 7946 0104", 442_079_460_104),
        ("+44 (0)20 7946 0104", 442_079_460_104),
        ("+44(0)2079460104", 442_079_460_104),
        ("(+44) (0)20 7946 0104", 442_079_460_104),
        ("WhatsApp (Ana) +44 (0)20 7946 0104", 442_079_460_104),
        ("+49 (0)30 1234567", 49_301_234_567),
        ("+49 30/1234567", 49_301_234_567),
        ("tel:+1-212-555-0103", 12_125_550_103),
        ("TEL: +1 212 555 0103", 12_125_550_103),
        ("Cel: +55 11 90000-0105", 5_511_900_000_105),
        ("WhatsApp (Ana) +55 11 90000-0105", 5_511_900_000_105),
        ("+55 11 90000-0105 (Ana)", 5_511_900_000_105),
        ("+55 11 90000-0105 casa", 5_511_900_000_105),
        ("+966 ٥٠ 123 4567", 966_501_234_567),
        ("۹۸۹۱۲۳۴۵۶۷۸۹", 989_123_456_789),
        ("＋５５ １１ ９００００－０１０５", 5_511_900_000_105),
        ("\u{202a}+55\u{a0}11\u{a0}90000\u{2011}0105\u{202c}", 5_511_900_000_105),
        ("5511900001101:12@s.whatsapp.net", 5_511_900_001_101),
        ("5511900001102@s.whatsapp.net", 5_511_900_001_102),
        ("5511900001103@c.us", 5_511_900_001_103),
        ("+1 212 555 0101", 12_125_550_101),
    ] {
        assert_eq!(parse(text), Ok(number), "{text}");
    }
}

#[test]
fn a_text_that_is_something_else_is_refused_with_what_it_looks_like() {
    use InvalidPhone::*;
    for (text, looks_like) in [
        ("5.51199E+12", Figure),
        ("5,51199E+12", Figure),
        ("+5.51199E+12", Figure),
        ("=5.51199E+12", Figure),
        ("551199e12", Figure),
        ("5511988887777.5", Figure),
        ("5511988887777,25", Figure),
        ("2026-11-26 09:00", Date),
        ("2026-11-26", Date),
        ("2026-11-26T09:00:00Z", Date),
        ("26/11/2026", Date),
        ("11.26.2026", Date),
        ("+1 555 123 4567 ext. 89", Extension),
        ("+1 212 555 0102x9", Extension),
        ("+1 212 555 0102 x 9", Extension),
        ("+55 11 3333-1500 ramal 12", Extension),
        ("+1 212 555 0102 #9", Extension),
        ("tel:+1-212-555-0103;ext=77", Extension),
        ("83842157310076@lid", Lid),
        ("120363000000000001@g.us", WhatsAppId),
        ("status@broadcast", WhatsAppId),
        ("BR.ENT.a1B2c3D4e5", WhatsAppId),
        ("US.13491208655302741918", WhatsAppId),
        ("5511988887777@example.com", EmailAddress),
        ("3333-151/3333-152", Several),
        ("+5511988887777/8", Several),
        ("+55 11 98888-7777 / +55 11 98888-7778", Several),
        ("+5511988887777, +5511988887778", Several),
        ("5511988887777;5511988887778", Several),
        ("1234567 7654321", Several),
        ("5511988887777 ou 5511988887778", Several),
        ("Cel 2: +55 11 90000-0105", Several),
        ("1-800-FLOWERS 22", Letters),
        ("55119a8888b7777", Letters),
        ("5511988887777:12", Unclear),
        ("5511*98888*7777", Unclear),
        ("(11) 90000-2701", National),
        ("11 90000-2701", National),
        ("10987654321", National),
        ("+1 190 000 2701", National),
        ("(011) 90000-2702", LeadingZero),
        ("0055 11 90000-2703", LeadingZero),
        ("0044 (0)20 7946 0104", LeadingZero),
        ("0049 (0)30 1234567", LeadingZero),
    ] {
        assert_eq!(parse(text), Err(looks_like), "{text}");
    }
}

/// Whether the digits are those of a national number.
fn is_national(value: u64) -> bool {
    (10_000_000_000..12_000_000_000).contains(&value)
}

proptest! {
    #[test]
    fn a_valid_number_survives_any_separators(value in 1_000_000_u64..=999_999_999_999_999, gap in "[ ()-]{0,3}") {
        prop_assume!(!is_national(value));
        let decorated: String =
            value.to_string().chars().flat_map(|digit| [gap.clone(), digit.to_string()]).collect();
        prop_assert_eq!(parse(&format!("+{decorated}")), Ok(value));
    }

    #[test]
    fn a_valid_number_is_the_same_in_every_script(value in 1_000_000_u64..=999_999_999_999_999, zero in prop::sample::select(vec!['٠', '۰', '०', '０', '𝟎', '𝟶'])) {
        prop_assume!(!is_national(value));
        let written: String = value
            .to_string()
            .bytes()
            .filter_map(|digit| char::from_u32(u32::from(zero) + u32::from(digit - b'0')))
            .collect();
        prop_assert_eq!(parse(&written), Ok(value));
    }

    #[test]
    fn what_parses_is_shown_and_parsed_again_unchanged(text in "[ +0-9().,;:/xeE@a-z-]{0,40}|.{0,40}") {
        if let Ok(number) = PhoneNumber::parse(&text) {
            prop_assert_eq!(PhoneNumber::parse(&number.to_string()), Ok(number));
            prop_assert_eq!(PhoneNumber::from_u64(number.as_u64()), Some(number));
            prop_assert_eq!(PhoneNumber::from_i64(number.as_i64()), Some(number));
        }
    }
}

#[test]
fn the_forms_of_one_number_are_one_person() {
    let number = |value| PhoneNumber::from_u64(value).unwrap();
    for (person, other) in [
        (5_564_988_887_777, 556_488_887_777),
        (5_511_961_234_567, 551_161_234_567),
        (525_512_345_678, 5_215_512_345_678),
        (5_491_155_554_444, 541_155_554_444),
        (5_492_994_112_233, 542_994_112_233),
        (2_250_708_091_011, 22_508_091_011),
        (2_250_544_091_011, 22_544_091_011),
        (2_250_141_091_011, 22_541_091_011),
    ] {
        let (person, other) = (number(person), number(other));
        assert_eq!((person.person(), other.person()), (person, person), "{other}");
        assert_eq!((person.other_form(), other.other_form()), (Some(other), Some(person)), "{other}");
        assert!(person.may_be_form_of(other), "{other}");
    }
    // Landlines, new mobile numbers that never had a shorter form, incomplete numbers, and other countries.
    for alone in [
        551_133_334_444,
        5_511_933_334_444,
        5_511_900_000_000,
        5_215_012_345,
        549_115_555_444,
        22_520_212_223,
        2_250_711_091_011,
        2_252_720_212_223,
        16_505_551_234,
        1_234_567,
    ] {
        let alone = number(alone);
        assert_eq!((alone.person(), alone.other_form()), (alone, None), "{alone}");
    }
    assert!(number(2_290_161_234_567).may_be_form_of(number(22_961_234_567)));
    assert!(!number(5_511_900_000_001).may_be_form_of(number(5_511_900_000_002)));
    assert!(!number(5_511_900_000_001).may_be_form_of(number(4_411_900_000_001)));
}

proptest! {
    #[test]
    fn a_person_s_number_is_its_own_and_forms_lead_to_it(value in 1_000_000_u64..=999_999_999_999_999) {
        let number = PhoneNumber::from_u64(value).unwrap();
        let person = number.person();
        prop_assert!(PhoneNumber::from_u64(person.as_u64()).is_some());
        prop_assert_eq!(person.person(), person);
        if let Some(other) = number.other_form() {
            prop_assert_eq!(other.person(), person);
        }
    }
}

#[test]
fn a_national_number_is_read_by_the_rules_of_its_country() {
    for (country, text, number) in [
        ("BR", "(11) 90000-2701", Ok(5_511_900_002_701)),
        ("BR", "(011) 90000-2702", Ok(5_511_900_002_702)),
        ("BR", "0 15 11 90000-2702", Ok(5_511_900_002_702)),
        ("BR", "0055 11 90000-2703", Ok(5_511_900_002_703)),
        ("BR", "11 3000-0201", Ok(551_130_000_201)),
        ("BR", "5511900002704", Ok(5_511_900_002_704)),
        ("BR", "55 99999-9999", Ok(5_555_999_999_999)),
        ("BR", "+1 212 555 0101", Ok(12_125_550_101)),
        ("BR", "351912345678", Ok(351_912_345_678)),
        ("BR", "5511900002705@s.whatsapp.net", Ok(5_511_900_002_705)),
        ("BR", "90000-2701", Err(InvalidPhone::National)),
        ("BR", "0800 123", Err(InvalidPhone::LeadingZero)),
        ("US", "(212) 555-0101", Ok(12_125_550_101)),
        ("US", "1 212 555 0101", Ok(12_125_550_101)),
        ("US", "011 55 11 90000-2703", Ok(5_511_900_002_703)),
        ("DE", "030 901820", Ok(4_930_901_820)),
        ("DE", "4930901820", Ok(4_930_901_820)),
        ("DE", "0049 (0)30 1234567", Ok(49_301_234_567)),
        ("GB", "020 7946 0104", Ok(442_079_460_104)),
        ("GB", "0044 (0)20 7946 0104", Ok(442_079_460_104)),
        ("GB", "(0044) (0)20 7946 0104", Ok(442_079_460_104)),
        ("GB", "0049 (0)30 1234567", Ok(49_301_234_567)),
        ("US", "011 44 (0)20 7946 0104", Ok(442_079_460_104)),
        ("AU", "0011 44 (0)20 7946 0104", Ok(442_079_460_104)),
        ("IT", "06 1234 5678", Ok(390_612_345_678)),
        ("IT", "391 234 5678", Ok(393_912_345_678)),
        ("IT", "393331234567", Ok(393_331_234_567)),
        ("RU", "8 (916) 123-45-67", Ok(79_161_234_567)),
        ("HU", "06 30 123 4567", Ok(36_301_234_567)),
        ("MX", "55 1234 5678", Ok(525_512_345_678)),
        ("br", "2026-11-26", Err(InvalidPhone::Date)),
        ("BR", "n/a", Err(InvalidPhone::NoDigits)),
    ] {
        let country = Country::parse(country);
        let read = PhoneNumber::parse_in(text, country).map(PhoneNumber::as_u64);
        assert_eq!(read, number, "{text} in {country:?}");
    }
    assert_eq!(PhoneNumber::parse_in("(11) 90000-2701", None), Err(InvalidPhone::National));
    assert_eq!(Country::parse("ZZ"), None);
}

#[test]
fn digits_without_plus_and_zero_become_nobody_elses_number() {
    let unclear = Err(InvalidPhone::National);
    for (country, digits, number) in [
        // Longer than the numbers that people dial inside the country.
        ("DE", "5511988887777", Ok(5_511_988_887_777)),
        ("DE", "436641234567", Ok(436_641_234_567)),
        ("AT", "5511988887777", Ok(5_511_988_887_777)),
        ("AT", "491701234567", Ok(491_701_234_567)),
        ("IT", "436641234567", Ok(436_641_234_567)),
        ("MX", "5511988887777", Ok(5_511_988_887_777)),
        ("AR", "5511988887777", Ok(5_511_988_887_777)),
        ("US", "5511988887777", Ok(5_511_988_887_777)),
        ("DE", "999900000001", unclear),
        // As long as the country's, but no mobile number of it.
        ("DE", "41791234567", unclear),
        ("AT", "15112345678", unclear),
        ("IT", "41791234567", unclear),
        ("GB", "4791234567", unclear),
        ("NL", "33612345678", unclear),
        ("AR", "59891234567", unclear),
        ("BR", "12125550101", unclear),
        // The landline of somebody in Hanoi, or a mobile phone in the Congo.
        ("VN", "2438251234", unclear),
        ("VN", "02438251234", Ok(842_438_251_234)),
        // Mobile numbers whose zero a spreadsheet dropped, and landlines that nobody else can have.
        ("DE", "1701234567", Ok(491_701_234_567)),
        ("DE", "15112345678", Ok(4_915_112_345_678)),
        ("DE", "30901820", Ok(4_930_901_820)),
        ("AT", "6641234567", Ok(436_641_234_567)),
        ("AT", "6761234567", Ok(436_761_234_567)),
        ("ID", "812345678901", Ok(62_812_345_678_901)),
        ("NL", "97012345678", Ok(3_197_012_345_678)),
        ("GB", "2079460104", Ok(442_079_460_104)),
        ("BR", "51987654321", Ok(5_551_987_654_321)),
        // Where no zero is dialled, and where one belongs to the number.
        ("AR", "2975123456", Ok(542_975_123_456)),
        ("AR", "91112345678", Ok(5_491_112_345_678)),
        ("RU", "4951234567", Ok(74_951_234_567)),
        ("US", "2125550101", Ok(12_125_550_101)),
        ("IT", "3331234567", Ok(393_331_234_567)),
        ("IT", "012345678901", Ok(39_012_345_678_901)),
        ("CI", "0708091011", Ok(2_250_708_091_011)),
        // The country's own code.
        ("AT", "436641234567", Ok(436_641_234_567)),
        ("DE", "4915112345678", Ok(4_915_112_345_678)),
        ("MX", "525512345678", Ok(525_512_345_678)),
    ] {
        let read = PhoneNumber::parse_in(digits, Country::parse(country)).map(PhoneNumber::as_u64);
        assert_eq!(read, number, "{digits} in {country}");
    }
}

#[test]
fn national_numbers_are_read_with_their_zero_and_those_of_mobile_phones_without_it() {
    for plan in super::plans::PLANS {
        let read = |text: &str, national: &str| {
            let read = PhoneNumber::parse_in(text, Country::parse(plan.code));
            assert_eq!(read, parse_international(plan.calling, national), "{text} in {}", plan.code);
        };
        for length in plan.lengths.iter().filter(|_| plan.trunk == "0") {
            for digit in ["2", "5", "9"] {
                let national = digit.repeat(*length);
                read(&format!("0{national}"), &national);
            }
        }
        for (first, lengths) in plan.mobile {
            for digit in first.chars() {
                for length in *lengths {
                    let national = format!("{digit}{}", "9".repeat(length - 1));
                    read(&national, &national);
                }
            }
        }
    }
}

fn parse_international(calling: u16, national: &str) -> Result<PhoneNumber, InvalidPhone> {
    PhoneNumber::parse(&format!("+{calling}{national}"))
}

#[test]
fn the_numbers_of_mobile_phones_are_known() {
    let is_mobile = |number| PhoneNumber::from_u64(number).is_some_and(PhoneNumber::is_mobile);
    for number in [5_511_988_887_777, 551_188_887_777, 436_641_234_567, 12_125_550_101, 41_791_234_567] {
        assert!(is_mobile(number), "{number}");
    }
    for number in [5_511_388_887_777, 431_513_123, 900_002_701, 999_900_000_001] {
        assert!(!is_mobile(number), "{number}");
    }
}

#[test]
fn every_country_has_a_code_of_its_own_and_a_calling_code_that_begins_no_other() {
    let all: Vec<Country> = Country::all().collect();
    for country in &all {
        assert_eq!(Country::parse(country.code()), Some(*country));
        for other in &all {
            let (one, two) = (country.calling_code().to_string(), other.calling_code().to_string());
            assert!(one == two || !two.starts_with(&one), "{country:?} {other:?}");
        }
    }
}

#[test]
fn the_country_of_a_company_is_guessed_from_its_numbers() {
    let guess = |numbers: &[u64]| {
        Country::guess(numbers.iter().filter_map(|number| PhoneNumber::from_u64(*number))).map(Country::code)
    };
    assert_eq!(guess(&[5_511_900_000_001, 12_125_550_101, 5_521_900_000_001]), Some("BR"));
    assert_eq!(guess(&[12_125_550_101, 5_511_900_000_001]), Some("US"));
    assert_eq!(guess(&[999_900_000_001]), None);
    assert_eq!(guess(&[]), None);
}

#[test]
fn a_number_that_is_another_one_inside_the_country_is_found() {
    let brazil = Country::parse("BR").unwrap();
    let national = |text| PhoneNumber::national(text, brazil).map(PhoneNumber::as_u64);
    assert_eq!(national("21 97100-0058"), Some(5_521_971_000_058));
    assert_eq!(national("+55 21 97100-0058"), None);
    assert_eq!(national("5521971000058"), None);
    assert!(PhoneNumber::is_marked_international(" +55 21 97100-0058"));
    assert!(!PhoneNumber::is_marked_international("55 21 97100-0058"));
}

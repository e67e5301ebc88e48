//! How values of own fields are read, compared and spelled.

use super::*;

fn number(text: &str) -> FieldValue {
    FieldValue::Number(Decimal::parse(text).unwrap())
}

fn date(text: &str) -> FieldValue {
    FieldValue::Date(Day::parse(text).unwrap())
}

fn field(key: &str, kind: FieldKind) -> OwnField {
    OwnField { id: Uuid::nil(), key: FieldKey::parse(key).unwrap(), name: key.to_owned(), kind }
}

#[test]
fn a_key_is_made_from_the_name_and_is_free() {
    let mut known = Vec::new();
    for (name, key) in [
        ("Date of birth", "date_of_birth"),
        ("date-of-birth", "date_of_birth_2"),
        ("Cidade (São Paulo)", "cidade_sao_paulo"),
        ("2nd phone", "f_2nd_phone"),
        ("Город", "field"),
        ("城市", "field_2"),
        ("Email", "email_2"),
    ] {
        let made = FieldKey::for_name(name, &known);
        assert_eq!(made.as_str(), key, "{name}");
        known.push(field(key, FieldKind::Text));
    }
    let long = FieldKey::for_name(&"ab ".repeat(40), &[]);
    assert!(long.as_str().len() <= FieldKey::LONGEST && !long.as_str().ends_with('_'), "{long}");
    for wrong in ["", "A", "1a", "a-b", "_a", "é", &"a".repeat(41)] {
        assert_eq!(FieldKey::parse(wrong), None, "{wrong}");
    }
    let key = FieldKey::parse("birth_date").unwrap();
    let read: FieldKey = serde_json::from_str(&serde_json::to_string(&key).unwrap()).unwrap();
    assert_eq!(read, key);
}

#[test]
fn numbers_of_programs_are_exact() {
    for (text, shown) in [
        ("0", "0"),
        ("-0.0", "0"),
        ("007", "7"),
        ("12.50", "12.5"),
        ("-0.000001", "-0.000001"),
        ("999999999999.999", "999999999999.999"),
    ] {
        let read = Decimal::parse(text).unwrap();
        assert_eq!(read.to_string(), shown, "{text}");
        assert_eq!(Decimal::from_millionths(read.millionths()), read);
        assert_eq!(Decimal::written(&read.unmistakable()), Ok(read), "{text}");
    }
    for wrong in
        ["", "-", ".5", "5.", "1e3", "1,5", "+1", "1000000000000", "0.0000001", "123456789012.1234", "٣"]
    {
        assert_eq!(Decimal::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn a_number_of_a_file_is_read_as_people_write_it_and_never_guessed() {
    for (cell, read) in [
        ("1.234,56", "1234.56"),
        ("1,234.56", "1234.56"),
        ("1.234.567", "1234567"),
        ("1 234,5", "1234.5"),
        ("1\u{a0}234", "1234"),
        ("1'234.50", "1234.5"),
        ("12,5", "12.5"),
        ("0.125", "0.125"),
        ("1234.567", "1234.567"),
        ("−3", "-3"),
        ("+3", "3"),
        ("1.2340", "1.234"),
    ] {
        assert_eq!(Decimal::written(cell), Ok(Decimal::parse(read).unwrap()), "{cell}");
    }
    for unclear in ["1.234", "1,234", "-12,345"] {
        assert_eq!(Decimal::written(unclear), Err(WrongValue::UnclearNumber), "{unclear}");
    }
    for wrong in ["", "none", "R$ 3", "12 34", "1 5", "1,5 0", "1.23.4", "1,2,3", "1.234,5,6", "--1"] {
        assert_eq!(Decimal::written(wrong), Err(WrongValue::Number), "{wrong}");
    }
}

#[test]
fn a_date_of_a_file_is_read_by_its_country_and_never_guessed() {
    let (brazil, states) = (Country::parse("BR"), Country::parse("US"));
    for (cell, country, read) in [
        ("2026-01-31", None, "2026-01-31"),
        ("2026/1/3", None, "2026-01-03"),
        ("2026-01-31 10:00:00", None, "2026-01-31"),
        ("2026-01-31T10:00", None, "2026-01-31"),
        ("31/01/2026", None, "2026-01-31"),
        ("01/31/2026", None, "2026-01-31"),
        ("03.04.2026", None, "2026-04-03"),
        ("03.04.2026", states, "2026-04-03"),
        ("05/05/2026", None, "2026-05-05"),
        ("03/04/2026", brazil, "2026-04-03"),
        ("03/04/2026", states, "2026-03-04"),
    ] {
        assert_eq!(Day::written(cell, country), Ok(Day::parse(read).unwrap()), "{cell}");
    }
    assert_eq!(Day::written("03/04/2026", None), Err(WrongValue::UnclearDate));
    for wrong in [
        "",
        "soon",
        "2026",
        "31/01/26",
        "2026-02-30",
        "2026-13-01",
        "1/2/3/4",
        "2026-01-31 soon",
        "0000-01-01",
    ] {
        assert_eq!(Day::written(wrong, None), Err(WrongValue::Date), "{wrong}");
    }
    assert_eq!(Day::written("01/31/2026", brazil), Err(WrongValue::Date));
    for day in ["0001-01-01", "2024-02-29", "9999-12-31"] {
        let day = Day::parse(day).unwrap();
        assert_eq!(Day::from_number(day.number()), Some(day));
    }
    assert_eq!((Day::parse("2026-1-31"), Day::parse("2025-02-29")), (None, None));
}

#[test]
fn values_are_spelled_in_the_language_of_a_template() {
    let (price, born) = (number("1234.5"), date("1990-03-07"));
    for (language, price_as, born_as) in [
        ("pt_BR", "1234,5", "07/03/1990"),
        ("es_MX", "1234.5", "07/03/1990"),
        ("de", "1234,5", "07.03.1990"),
        ("en_US", "1234.5", "March 7, 1990"),
        ("en_GB", "1234.5", "7 March 1990"),
        ("ja", "1234.5", "1990-03-07"),
        ("", "1234.5", "1990-03-07"),
    ] {
        assert_eq!((price.spelled(language).as_str(), born.spelled(language).as_str()), (price_as, born_as));
    }
}

#[test]
fn texts_are_bounded_and_empty_values_are_absent() {
    for kind in FieldKind::ALL {
        assert_eq!((kind.exact(" "), kind.written("\t", None)), (Ok(None), Ok(None)));
    }
    let long = "é".repeat(LONGEST_TEXT);
    assert_eq!(FieldKind::Text.exact(&long), Ok(Some(FieldValue::Text(long.clone()))));
    assert_eq!(FieldKind::Text.exact(&format!("{long}x")), Err(WrongValue::TooLong));
    assert_eq!(FieldKind::Text.written("a\0", None), Err(WrongValue::Nul));
    assert_eq!(checked_name(" Data  de\u{a0}nascimento "), Ok("Data  de nascimento".to_owned()));
    assert!(checked_name("\u{200b}").is_err() && checked_name(&"x".repeat(61)).is_err());
}

#[test]
fn a_condition_has_one_form_as_a_text() {
    let fields =
        [field("city", FieldKind::Text), field("age", FieldKind::Number), field("born", FieldKind::Date)];
    for text in [
        "city=Rio de Janeiro",
        "city!=a=b",
        "city=*",
        "city!=*",
        "age=18",
        "age>=18.5",
        "age<=-3",
        "born>=1990-01-31",
        "born!=*",
    ] {
        let condition = FieldCondition::parse(text, &fields).unwrap();
        assert_eq!(condition.to_string(), text);
        let stored = serde_json::to_string(&condition).unwrap();
        assert_eq!(serde_json::from_str::<FieldCondition>(&stored).unwrap(), condition, "{stored}");
    }
    let key = |word| FieldKey::parse(word).unwrap();
    for (text, fault) in [
        ("city", ConditionFault::Form),
        ("city>Rio", ConditionFault::Form),
        ("town=Rio", ConditionFault::NoSuchField("town".to_owned())),
        ("=Rio", ConditionFault::NoSuchField(String::new())),
        ("city=", ConditionFault::Nothing(key("city"))),
        ("city>=Rio", ConditionFault::Order(key("city"))),
        ("age=old", ConditionFault::Value(key("age"), WrongValue::Number)),
        ("born<=1990", ConditionFault::Value(key("born"), WrongValue::Date)),
    ] {
        assert_eq!(FieldCondition::parse(text, &fields), Err(fault), "{text}");
    }
}

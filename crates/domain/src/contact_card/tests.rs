//! Cards in the provider's form, and as vCards.

use serde_json::{Value, json};

use super::*;

fn whole() -> Value {
    json!({
        "name": {
            "formatted_name": "Dr. Ana Souza", "first_name": "Ana", "last_name": "Souza", "middle_name": "Maria",
            "prefix": "Dr.", "suffix": "Jr.",
        },
        "phones": [{"phone": "+55 11 98888-7777", "type": "CELL", "wa_id": "5511988887777"}, {"phone": "190"}],
        "emails": [{"email": "ana@example.com", "type": "WORK"}],
        "addresses": [{
            "street": "Rua das Flores, 7", "city": "São Paulo", "state": "SP", "zip": "01000-000", "country": "Brazil",
            "country_code": "br", "type": "HOME",
        }],
        "urls": [{"url": "https://example.com", "type": "WORK"}],
        "org": {"company": "Acme; Sons", "department": "Bread", "title": "Baker"},
        "birthday": "1990-12-31",
    })
}

fn card(card: &Value) -> Result<ContactCard, Refusal> {
    ContactCard::parse_all(&json!([card])).map(|mut cards| cards.remove(0))
}

#[test]
fn a_card_keeps_every_field_of_the_provider_and_is_read_back_unchanged() {
    let read = card(&whole()).unwrap();
    assert_eq!(json!(read), whole());
    assert_eq!(serde_json::from_value::<ContactCard>(whole()).unwrap(), read);
    let small = json!({"name": {"formatted_name": "Ana", "first_name": "Ana"}});
    let mut blank = small.clone();
    blank["phones"] = json!([]);
    blank["birthday"] = json!(" ");
    assert_eq!(json!(card(&blank).unwrap()), small);
}

#[test]
fn a_card_becomes_a_vcard_that_phones_read() {
    insta::assert_snapshot!(card(&whole()).unwrap().vcard(), @r"
    BEGIN:VCARD
    VERSION:3.0
    N:Souza;Ana;Maria;Dr.;Jr.
    FN:Dr. Ana Souza
    ORG:Acme\; Sons;Bread
    TITLE:Baker
    TEL;type=CELL;waid=5511988887777:+55 11 98888-7777
    TEL:190
    EMAIL;type=WORK:ana@example.com
    ADR;type=HOME:;;Rua das Flores\, 7;São Paulo;SP;01000-000;Brazil
    URL;type=WORK:https://example.com
    BDAY:1990-12-31
    END:VCARD
    ");
}

#[test]
fn no_text_of_a_card_begins_a_line_or_a_parameter_of_its_own() {
    let sly = json!({
        "name": {"formatted_name": "A\nTEL:+1", "first_name": "A\r\nNOTE:x"},
        "phones": [{"phone": "1\\;2", "type": "CELL:evil\nTEL", "wa_id": "5511;x=y"}],
    });
    insta::assert_snapshot!(card(&sly).unwrap().vcard(), @r"
    BEGIN:VCARD
    VERSION:3.0
    N:;A\nNOTE:x;;;
    FN:A\nTEL:+1
    TEL;type=CELLevilTEL;waid=5511xy:1\\\;2
    END:VCARD
    ");
}

#[test]
fn a_card_that_the_provider_would_refuse_is_refused_by_its_path() {
    let sentence = |value: Value| {
        let refusal = ContactCard::parse_all(&value).unwrap_err();
        assert_eq!(refusal.code, Code::InvalidContacts, "{value}");
        refusal.sentence
    };
    let named = |fields: Value| {
        let mut card = json!({"name": {"formatted_name": "Ana", "first_name": "Ana"}});
        card.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!([card])
    };
    assert_eq!(sentence(json!([7])), "`contacts[0]` must be an object");
    assert_eq!(sentence(json!([{}])), "`contacts[0].name` is missing: give an object");
    assert_eq!(
        sentence(json!([{"name": {"first_name": "Ana"}}])),
        "`contacts[0].name.formatted_name` is missing: give a text"
    );
    assert_eq!(
        sentence(json!([{"name": {"formatted_name": "Ana"}}])),
        "`contacts[0].name` has no part beside `formatted_name`: give at least one of first_name, last_name, \
         middle_name, suffix, prefix"
    );
    assert_eq!(
        sentence(named(json!({"phones": [{"type": "CELL"}]}))),
        "`contacts[0].phones[0].phone` is missing: give a text"
    );
    assert_eq!(
        sentence(named(json!({"phones": [{"phone": 190}]}))),
        "`contacts[0].phones[0].phone` must be a string"
    );
    for birthday in ["31.12.1990", "1990-13-01", "1990-1-1"] {
        assert_eq!(
            sentence(named(json!({"birthday": birthday}))),
            "`contacts[0]` has a `birthday` that is not a date such as 1990-12-31"
        );
    }
    let many = vec![named(json!({}))[0].clone(); MOST_CARDS + 1];
    assert_eq!(sentence(json!(many)), "`contacts` has 258 items; at most 257 are allowed");
    assert!(ContactCard::parse_all(&json!(many[1..])).is_ok());
}

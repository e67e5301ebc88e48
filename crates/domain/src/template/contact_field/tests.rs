//! What contact fields become, and where they are refused.

use super::*;
use crate::error::Code;

fn ana() -> Person {
    Person {
        first_name: " Ana\nLúcia ".to_owned(),
        email: "ana@example.com".to_owned(),
        phone_number: "+55 11 98888-7777".to_owned(),
        ..Person::default()
    }
}

fn text(text: &str) -> Parameter {
    Parameter::Text { text: text.to_owned(), parameter_name: None }
}

fn to(person: Option<&Person>) -> Addressee<'_> {
    Addressee { person, values: None }
}

#[test]
fn each_field_has_its_value_on_one_line_or_the_text_in_its_place() {
    let ana = ana();
    for (text, expected) in [
        ("Dear {{contact.first_name}}!", Ok("Dear Ana Lúcia!")),
        ("{{contact.name}}", Ok("Ana Lúcia")),
        ("{{contact.last_name|friend}}", Ok("friend")),
        ("{{contact.email}} {{contact.phone_number}}", Ok("ana@example.com +55 11 98888-7777")),
        ("{{contact.email|a|b}}", Ok("ana@example.com")),
        ("no field", Ok("no field")),
        ("{{contact.last_name}}", Err(NoValue::Contact(ContactField::LastName))),
    ] {
        assert_eq!(filled(text, Some(&ana), "en"), expected.map(str::to_owned), "{text}");
    }
    assert_eq!(filled("Hi {{contact.name|dear friend}}", None, "en"), Ok("Hi dear friend".to_owned()));
    assert_eq!(filled("{{contact.name}}", None, "en"), Err(NoValue::Contact(ContactField::Name)));
}

#[test]
fn an_invalid_field_is_refused_with_its_beginning() {
    for wrong in [
        "Hi {{1}}",
        "{{contact.nick name}}",
        "{{ contact.name }}",
        "{{contact.name",
        "{{contact.name| }}",
        "{{contact.Name}}",
        "{{contact.name|a{b}}",
    ] {
        let refusal = check(&[Component::Body { parameters: vec![text(wrong)] }]).unwrap_err();
        assert_eq!(refusal.code, Code::InvalidComponents);
        assert!(refusal.sentence.contains("is no contact field"), "{}", refusal.sentence);
    }
    let fine = [Component::Body { parameters: vec![text("{{contact.name}}, } and {"), text("x")] }];
    assert_eq!(check(&fine), Ok(()));
}

#[test]
fn only_fields_without_a_text_in_their_place_are_needed() {
    let components = [
        Component::Header { parameters: vec![text("{{contact.email}}")] },
        Component::Body { parameters: vec![text("{{contact.name|you}} {{contact.email}} {{contact.name}}")] },
    ];
    assert_eq!(needed(&components), [ContactField::Email, ContactField::Name]);
    assert!(are_used(&components));
    assert!(!are_used(&[Component::Body { parameters: vec![text("10 %")] }]));
}

#[test]
fn values_in_the_address_of_a_button_are_encoded() {
    let button = |text| Component::Button {
        sub_type: "url".to_owned(),
        index: 0,
        parameters: vec![Parameter::Text { text, parameter_name: None }],
    };
    let given = [button("u?who={{contact.name}}".to_owned()), Component::Other(serde_json::json!({"a": 1}))];
    let filled = fill_in(&given, to(Some(&ana())), "en").unwrap();
    assert_eq!(filled, [button("u?who=Ana%20L%C3%BAcia".to_owned()), given[1].clone()]);
    assert_eq!(fill_in(&given, to(None), "en"), Err(NoValue::Contact(ContactField::Name)));
}

#[test]
fn fields_in_cards_are_filled_and_checked_like_all_others() {
    let card = |text: Parameter| {
        let components = vec![Component::Body { parameters: vec![text] }];
        [Component::Carousel { cards: vec![Card { card_index: 0, components }] }]
    };
    let given = card(text("For {{contact.first_name|you}}"));
    assert_eq!(check(&given), Ok(()));
    assert!(are_used(&given));
    assert_eq!(fill_in(&given, to(Some(&ana())), "en"), Ok(card(text("For Ana Lúcia")).to_vec()));
    assert_eq!(needed(&card(text("{{contact.email}}"))), [ContactField::Email]);
    let refusal = check(&card(text("{{contact.Nickname}}"))).unwrap_err();
    assert!(refusal.sentence.contains("is no contact field"), "{}", refusal.sentence);
}

#[test]
fn a_field_where_none_is_filled_in_is_refused_and_never_sent_literally() {
    let field = "{{contact.name|you}}";
    let button = |parameter| Component::Button {
        sub_type: "quick_reply".to_owned(),
        index: 0,
        parameters: vec![parameter],
    };
    let header = |parameter| Component::Header { parameters: vec![parameter] };
    for component in [
        button(Parameter::Payload { payload: field.to_owned() }),
        button(Parameter::CouponCode { coupon_code: field.to_owned() }),
        button(Parameter::Other(serde_json::json!({"type": "action", "action": {"flow_token": field}}))),
        header(Parameter::Location { location: serde_json::json!({"name": field}) }),
        header(Parameter::Document(Media {
            source: Source::Id("1".to_owned()),
            filename: Some(format!("{field}.pdf")),
        })),
        Component::Other(serde_json::json!({"type": "order_status", "of": [{"text": field}]})),
    ] {
        let refusal = check(std::slice::from_ref(&component)).unwrap_err();
        assert!(refusal.sentence.contains("cannot have contact fields"), "{component:?}");
    }
}

/// What a request says about a recipient.
fn order(order: &str) -> crate::values::Values {
    let mut values = crate::values::Values::default();
    values.set("order", order).unwrap();
    values
}

#[test]
fn values_stand_beside_contact_fields_and_are_never_read_as_placeholders() {
    let (ana, values) = (ana(), order("A 1 {{contact.email}}"));
    let to = Addressee { person: Some(&ana), values: Some(&values) };
    for (text, expected) in [
        ("{{value.order}} of {{contact.name}}", Ok("A 1 {{contact.email}} of Ana Lúcia")),
        ("{{value.place|home}}", Ok("home")),
        ("{{value.place}}", Err(NoValue::Value("place".to_owned()))),
    ] {
        assert_eq!(filled_for(text, to), expected.map(str::to_owned), "{text}");
    }
    let picture = |link: &str| {
        let source = Source::Link(link.to_owned());
        [Component::Header { parameters: vec![Parameter::Image(Media { source, filename: None })] }]
    };
    for (link, value, expected) in [
        ("{{value.order|https://a.example/b.jpg}}", "https://c.example/d e.jpg", "https://c.example/d e.jpg"),
        ("{{value.other|https://a.example/b.jpg}}", "x", "https://a.example/b.jpg"),
        ("https://a.example/{{value.order}}.jpg", "1/2", "https://a.example/1%2F2.jpg"),
    ] {
        assert_eq!(check_all(&picture(link), Placeholders::All), Ok(()));
        assert!(check(&picture(link)).is_err(), "only a request with values has them");
        let values = order(value);
        let to = Addressee { person: None, values: Some(&values) };
        assert_eq!(fill_in(&picture(link), to, "en").as_deref(), Ok(&picture(expected)[..]));
    }
}

#[test]
fn placeholders_of_values_are_refused_where_no_value_is_filled_in() {
    assert!(check_text("{{value.order}}").is_err(), "this request has no values");
    for wrong in ["{{value.Order}}", "{{value.}}", "{{value.a b}}", "{{value.order|}}", "{{1}}"] {
        assert_eq!(check_text_of("message", wrong, Placeholders::All).unwrap_err().code, Code::InvalidField);
    }
    for link in ["ftp://{{value.a}}", "{{contact.name}}", "https://a.example/{{contact.name}}"] {
        assert!(check_link("link", link).is_err(), "{link}");
    }
}

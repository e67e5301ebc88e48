//! What each kind of template takes and refuses.

use serde_json::{Value, json};

use super::*;

mod any;
mod cards;

fn template(components: Value) -> Template {
    Template {
        id: 7,
        name: "order".to_owned(),
        language: "pt_BR".to_owned(),
        category: Category::Utility,
        status: Status::Approved,
        parameter_format: ParameterFormat::read(None, &components),
        components,
    }
}

/// "ok", or the sentence of the refusal.
fn outcome(template: &Template, given: &Value) -> String {
    let checked = parse_components(given).and_then(|given| template.check_components(&given));
    match checked {
        Ok(()) => "ok".to_owned(),
        Err(refusal) => {
            assert_eq!(refusal.code, Code::InvalidComponents);
            refusal.sentence
        }
    }
}

fn texts(values: &[&str]) -> Value {
    values.iter().map(|text| json!({"type": "text", "text": text})).collect()
}

fn button(sub_type: &str, index: &Value, parameters: &Value) -> Value {
    json!([{"type": "button", "sub_type": sub_type, "index": index, "parameters": parameters}])
}

#[test]
fn a_numbered_text_takes_as_many_texts_as_it_has_variables() {
    let template = template(json!([
        {"type": "HEADER", "format": "TEXT", "text": "Order {{1}}"},
        {"type": "BODY", "text": "Hi {{1}}, {{ 2 }} and {{1}} again, {{not one}} {{}} {{3"},
        {"type": "FOOTER", "text": "Reply STOP"},
    ]));
    let header = json!({"type": "header", "parameters": texts(&["A-1"])});
    let given = |body: Value| json!([header, {"type": "BODY", "parameters": body}]);
    assert_eq!(outcome(&template, &given(texts(&["Ana", "the desk"]))), "ok");
    let money = json!({"type": "currency", "currency": {"fallback_value": "R$ 1", "code": "BRL", "amount_1000": 1000}});
    let moment = json!({"type": "date_time", "date_time": {"fallback_value": "today"}});
    assert_eq!(outcome(&template, &given(json!([money, moment]))), "ok");
    for (body, sentence) in [
        (texts(&["Ana"]), "`components`: the body expects 2 parameters, but 1 is given"),
        (texts(&["a", "b", "c"]), "`components`: the body expects 2 parameters, but 3 are given"),
        (json!([]), "`components`: the body expects 2 parameters, but 0 are given"),
        (
            json!([{"type": "text", "text": "a"}, {"type": "image", "link": "https://h/a.jpg"}]),
            "`components`: the body expects text for parameter 2, but it is of type `image`",
        ),
        (
            json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b", "parameter_name": "city"}]),
            "`components`: the body numbers its variables: leave the `parameter_name` `city` out and keep their order",
        ),
    ] {
        assert_eq!(outcome(&template, &given(body)), sentence);
    }
    assert_eq!(
        outcome(&template, &json!([{"type": "body", "parameters": texts(&["a", "b"])}])),
        "`components`: the header expects 1 parameter, but 0 are given"
    );
    assert_eq!(
        outcome(&template, &json!([header, header])),
        "`components`: the header is given twice: give all its parameters in one component"
    );
}

#[test]
fn a_template_without_variables_takes_nothing() {
    let template = template(json!([{"type": "body", "text": "Hello"}]));
    assert_eq!(outcome(&template, &json!([])), "ok");
    assert_eq!(outcome(&template, &json!([{"type": "body", "parameters": []}, {"type": "header"}])), "ok");
    assert_eq!(
        outcome(&template, &json!([{"type": "body", "parameters": texts(&["a"])}])),
        "`components`: the body expects 0 parameters, but 1 is given"
    );
    assert_eq!(
        outcome(&template, &json!([{"type": "header", "parameters": texts(&["a"])}])),
        "`components`: the header is given, but the template has no header"
    );
    assert_eq!(
        outcome(&template, &button("url", &json!("0"), &texts(&["a"]))),
        "`components`: the button 0 is given, but the template has 0 buttons, counted from 0"
    );
    assert_eq!(
        outcome(&template, &json!([{"type": "carousel", "cards": []}])),
        "`components` has one of type `carousel`, which the template does not have: use header, body or button"
    );
}

#[test]
fn named_variables_are_given_by_name_in_any_order() {
    let mut template = template(json!([{"type": "BODY", "text": "Hi {{first_name}}, {{order_2}}"}]));
    assert_eq!(template.parameter_format, ParameterFormat::Named);
    let body = |names: &[Option<&str>]| {
        let parameters: Vec<Value> =
            names.iter().map(|name| json!({"type": "text", "text": "x", "parameter_name": name})).collect();
        json!([{"type": "body", "parameters": parameters}])
    };
    assert_eq!(outcome(&template, &body(&[Some("order_2"), Some("first_name")])), "ok");
    for (names, sentence) in [
        (
            [Some("order_2"), Some("name")],
            "`components`: the body has no variable `name`: its variables are first_name, order_2",
        ),
        ([Some("order_2"), Some("order_2")], "`components`: the body has `order_2` twice"),
        (
            [Some("order_2"), None],
            "`components`: the body names its variables (first_name, order_2): parameter 2 needs its `parameter_name`",
        ),
    ] {
        assert_eq!(outcome(&template, &body(&names)), sentence);
    }
    template.parameter_format = ParameterFormat::read(Some("positional"), &template.components);
    assert_eq!(outcome(&template, &json!([])), "ok");
}

#[test]
fn a_header_takes_the_one_file_or_place_of_its_format() {
    let link = "https://example.com/a.bin";
    let given = |parameters: Value| json!([{"type": "header", "parameters": parameters}]);
    for kind in ["image", "video", "document"] {
        let template = template(json!([{"type": "HEADER", "format": kind.to_uppercase()}]));
        for parameter in [
            json!({"type": kind, "link": link}),
            json!({"type": kind.to_uppercase(), "id": "123"}),
            json!({"type": kind, kind: {"link": link}}),
            json!({"type": kind, kind: {"id": "123", "filename": "a.pdf"}}),
        ] {
            assert_eq!(outcome(&template, &given(json!([parameter]))), "ok");
        }
        let one = format!("`components`: the header expects one {kind} parameter, but ");
        assert_eq!(outcome(&template, &json!([])), format!("{one}0 are given"));
        assert_eq!(outcome(&template, &given(texts(&["a"]))), format!("{one}one of type `text` is given"));
        assert_eq!(outcome(&template, &given(texts(&["a", "b"]))), format!("{one}2 are given"));
    }
    let place = json!([{"type": "location", "location": {"latitude": "1", "longitude": "2"}}]);
    let located = template(json!([{"type": "HEADER", "format": "LOCATION"}]));
    assert_eq!(outcome(&located, &given(place.clone())), "ok");
    assert_ne!(outcome(&located, &given(texts(&["a"]))), "ok");
    let unknown = template(json!([{"type": "HEADER", "format": "HOLOGRAM"}]));
    assert_eq!(outcome(&unknown, &given(place)), "ok");
}

#[test]
fn a_button_takes_what_its_kind_needs_at_its_position() {
    let of = |button: Value| {
        template(
            json!([{"type": "BUTTONS", "buttons": [{"type": "PHONE_NUMBER", "phone_number": "+1"}, button]}]),
        )
    };
    let text = texts(&["x"]);
    let payload = json!([{"type": "payload", "payload": "YES"}]);
    let coupon = json!([{"type": "coupon_code", "coupon_code": "25OFF"}]);
    let link = of(json!({"type": "URL", "url": "https://h/{{1}}"}));
    assert_eq!(outcome(&link, &button("URL", &json!("1"), &text)), "ok");
    assert_eq!(outcome(&link, &button("url", &json!(1), &text)), "ok");
    assert_eq!(
        outcome(&link, &json!([])),
        "`components`: the button 1 is missing: the template needs a button of sub_type `url` with one text parameter"
    );
    assert_eq!(
        outcome(&link, &button("quick_reply", &json!("1"), &payload)),
        "`components`: the button 1 must have the sub_type `url`, not `quick_reply`"
    );
    assert_eq!(
        outcome(&link, &button("url", &json!("1"), &payload)),
        "`components`: the button 1 expects one text parameter, but one of type `payload` is given"
    );
    let both = json!([
        {"type": "button", "sub_type": "url", "index": 1, "parameters": text},
        {"type": "button", "sub_type": "url", "index": "1", "parameters": text},
    ]);
    assert!(outcome(&link, &both).contains("button 1 is given twice"));
    let code = of(json!({"type": "OTP", "otp_type": "COPY_CODE"}));
    assert_eq!(outcome(&code, &button("url", &json!("1"), &text)), "ok");
    assert_ne!(outcome(&code, &json!([])), "ok");
    let copy = of(json!({"type": "COPY_CODE"}));
    assert_eq!(outcome(&copy, &button("copy_code", &json!("1"), &coupon)), "ok");
    assert_ne!(outcome(&copy, &button("copy_code", &json!("1"), &text)), "ok");
    let reply = of(json!({"type": "QUICK_REPLY", "text": "OK"}));
    assert_eq!(outcome(&reply, &button("quick_reply", &json!("1"), &payload)), "ok");
    assert_eq!(outcome(&reply, &button("quick_reply", &json!("1"), &json!([]))), "ok");
    assert_eq!(outcome(&reply, &json!([])), "ok");
    let fixed = of(json!({"type": "URL", "url": "https://h/"}));
    assert_eq!(outcome(&fixed, &json!([])), "ok");
    assert_eq!(
        outcome(&fixed, &button("url", &json!("1"), &text)),
        "`components`: the button 1 is given, but this button of the template has nothing to fill in"
    );
    let flow = of(json!({"type": "FLOW"}));
    let action = json!([{"type": "action", "action": {"flow_token": "t"}}]);
    assert_eq!(outcome(&flow, &button("flow", &json!("1"), &action)), "ok");
    assert_eq!(outcome(&flow, &button("flow", &json!("1"), &json!(null))), "ok");
    assert_eq!(
        outcome(&flow, &json!([])),
        "`components`: the button 1 is missing: the template needs a button of sub_type `flow`, with or without parameters"
    );
    let catalog = of(json!({"type": "CATALOG"}));
    assert_eq!(outcome(&catalog, &button("CATALOG", &json!(1), &action)), "ok");
    assert_ne!(outcome(&catalog, &json!([])), "ok");
    let products = of(json!({"type": "MPM"}));
    assert_eq!(outcome(&products, &button("mpm", &json!(1), &action)), "ok");
    assert_ne!(outcome(&products, &button("mpm", &json!(1), &json!([]))), "ok");
    assert_ne!(outcome(&products, &json!([])), "ok");
}

#[test]
fn what_we_do_not_know_about_a_template_is_left_to_the_provider() {
    let carousel =
        template(json!([{"type": "BODY", "text": "x"}, {"type": "CAROUSEL", "cards": []}, 5, {"type": 7}]));
    assert_eq!(outcome(&carousel, &json!([{"type": "carousel", "cards": [{"card_index": 0}]}])), "ok");
    let unreadable = template(json!("?"));
    assert_eq!(outcome(&unreadable, &json!([{"type": "body", "parameters": texts(&["a"])}])), "ok");
}

#[test]
fn an_authentication_text_always_takes_its_code() {
    let mut template = template(json!([{"type": "BODY", "add_security_recommendation": true}]));
    assert_eq!(outcome(&template, &json!([])), "ok");
    template.category = Category::Authentication;
    assert_eq!(outcome(&template, &json!([{"type": "body", "parameters": texts(&["1234"])}])), "ok");
    assert_ne!(outcome(&template, &json!([])), "ok");
}

#[test]
fn a_component_that_cannot_be_read_is_refused_by_its_path() {
    let parameter = |parameter: Value| json!([{"type": "body", "parameters": [parameter]}]);
    let long = "x".repeat(2049);
    for (given, beginning) in [
        (json!([1]), "`components[0]` must be an object"),
        (json!([{}]), "`components[0].type` is missing"),
        (json!([{"type": 5}]), "`components[0].type` must be a string"),
        (json!([{"type": "body", "parameters": {}}]), "`components[0].parameters` must be an array"),
        (json!([{"type": "button", "index": "0"}]), "`components[0].sub_type` is missing"),
        (json!([{"type": "button", "sub_type": "url"}]), "`components[0].index` is missing"),
        (button("url", &json!("10"), &json!([])), "`components[0].index` must be the button's position"),
        (button("url", &json!(-1), &json!([])), "`components[0].index` must be the button's position"),
        (button("url", &json!(true), &json!([])), "`components[0].index` must be the button's position"),
        (parameter(json!("Ana")), "`components[0].parameters[0]` must be an object"),
        (parameter(json!({"text": "Ana"})), "`components[0].parameters[0].type` is missing"),
        (parameter(json!({"type": "text", "text": " "})), "`components[0].parameters[0].text` is missing"),
        (
            parameter(json!({"type": "text", "text": 12})),
            "`components[0].parameters[0].text` must be a string",
        ),
        (
            parameter(json!({"type": "text", "text": "a\nb"})),
            "`components[0].parameters[0]` must be text on one line",
        ),
        (
            parameter(json!({"type": "text", "text": "a\tb"})),
            "`components[0].parameters[0]` must be text on one line",
        ),
        (
            parameter(json!({"type": "text", "text": "a     b"})),
            "`components[0].parameters[0]` must be text on one",
        ),
        (parameter(json!({"type": "image"})), "`components[0].parameters[0].link` is missing"),
        (
            parameter(json!({"type": "image", "image": 5})),
            "`components[0].parameters[0].image` must be an object",
        ),
        (
            parameter(json!({"type": "image", "link": "x"})),
            "`components[0].parameters[0].link` must begin with http",
        ),
        (
            parameter(json!({"type": "image", "link": long})),
            "`components[0].parameters[0].link` is longer than 2048",
        ),
        (
            parameter(json!({"type": "video", "video": {"link": "https://h", "id": "1"}})),
            "`components[0].parameters[0].video` must have either",
        ),
        (parameter(json!({"type": "currency"})), "`components[0].parameters[0].currency` is missing"),
        (parameter(json!({"type": "payload"})), "`components[0].parameters[0].payload` is missing"),
        (Value::Array(vec![json!({}); 33]), "`components` has 33 items; at most 32 are allowed"),
    ] {
        let refusal = parse_components(&given).err();
        assert!(
            refusal.as_ref().is_some_and(|it| it.sentence.starts_with(beginning)),
            "{beginning}: {refusal:?}"
        );
    }
    assert!(parse_components(&parameter(json!({"type": "text", "text": "a    b"}))).is_ok());
}

#[test]
fn only_an_approved_template_becomes_content_and_idle_parts_are_left_out() {
    let mut template = template(json!([{"type": "body", "text": "{{1}}"}]));
    let components =
        json!([{"type": "header", "parameters": []}, {"type": "body", "parameters": texts(&["Ana"])}]);
    let request = TemplateRequest {
        template_id: 7,
        language: None,
        components: parse_components(&components).unwrap_or_default(),
        short: None,
        contact_fields: true,
    };
    let parameters = vec![Parameter::Text { text: "Ana".to_owned(), parameter_name: None }];
    let content = Content::Template {
        name: "order".to_owned(),
        language: "pt_BR".to_owned(),
        components: vec![Component::Body { parameters }],
        contact_fields: false,
    };
    assert_eq!(request.clone().fit(&template), Ok(content));
    template.status = Status::Paused;
    let refusal = request.fit(&template).err();
    assert_eq!(refusal.map(|it| it.code), Some(Code::TemplateNotApproved));
}

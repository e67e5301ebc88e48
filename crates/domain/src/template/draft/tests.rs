//! Tests of their parent module.

use super::*;

fn draft(components: &Value, is_local: bool) -> Result<TemplateDraft, Refusal> {
    let given = DraftFields {
        name: "order_ready",
        language: "pt-BR",
        category: "utility",
        parameter_format: None,
        components,
        options: None,
    };
    TemplateDraft::new(given, is_local)
}

#[test]
fn a_whole_template_is_taken_with_its_language_and_category_in_the_provider_s_form() {
    let components = json!([
        {"type": "HEADER", "format": "TEXT", "text": "Order {{1}}", "example": {"header_text": ["A-1"]}},
        {"type": "BODY", "text": "Hi {{1}}, come to {{2}}.", "example": {"body_text": [["Ana", "the desk"]]}},
        {"type": "FOOTER", "text": "Reply STOP"},
        {"type": "BUTTONS", "buttons": [
            {"type": "URL", "text": "Track", "url": "https://x.example/{{1}}", "example": ["https://x.example/7"]},
            {"type": "QUICK_REPLY", "text": "OK"},
        ]},
    ]);
    let template = draft(&components, false).unwrap();
    assert_eq!((template.language.as_str(), template.category.as_str()), ("pt_BR", "UTILITY"));
    assert_eq!(template.parameter_format, ParameterFormat::Positional);
    assert_eq!(template.fields()["components"], components);
    let named = json!([{"type": "body", "text": "Hi {{first_name}}!",
        "example": {"body_text_named_params": [{"param_name": "first_name", "example": "Ana"}]}}]);
    assert_eq!(draft(&named, false).unwrap().parameter_format, ParameterFormat::Named);
}

#[test]
fn each_rule_names_the_part_that_breaks_it() {
    let body = json!({"type": "BODY", "text": "Hi there"});
    let buttons = |buttons: Value| json!([body, {"type": "BUTTONS", "buttons": buttons}]);
    let link = |url: &str| json!({"type": "URL", "text": "Go", "url": url});
    for (components, param) in [
        (json!([]), "components"),
        (json!([{"type": "FOOTER", "text": "x"}]), "components"),
        (json!([body, body]), "components[1]"),
        (json!([{"type": "BODY", "text": "x".repeat(1_025)}]), "components[0].text"),
        (json!([{"type": "BODY", "text": "Hi {{1}}!"}]), "components[0].example.body_text"),
        (json!([{"type": "BODY", "text": "Hi {{2}}!", "example": {"body_text": [["a"]]}}]), "components[0]"),
        (
            json!([{"type": "BODY", "text": "{{1}} is here", "example": {"body_text": [["a"]]}}]),
            "components[0]",
        ),
        (json!([{"type": "BODY", "text": "Hi {{a b}}!"}]), "components[0]"),
        (json!([{"type": "BODY", "text": "Hi {{1!"}]), "components[0]"),
        (json!([body, {"type": "FOOTER", "text": "{{1}}"}]), "components[1]"),
        (json!([{"type": "HEADER", "format": "IMAGE"}, body]), "components[0].example.header_handle[0]"),
        (json!([{"type": "HEADER", "format": "TEXT", "text": "x".repeat(61)}, body]), "components[0].text"),
        (buttons(json!([{"type": "QUICK_REPLY", "text": "x".repeat(26)}])), "components[1].buttons[0].text"),
        (buttons(json!([link("ftp://x")])), "components[1].buttons[0]"),
        (buttons(json!([link("https://x/{{1}}/y")])), "components[1].buttons[0]"),
        (buttons(json!([link("https://x/{{1}}")])), "components[1].buttons[0].example"),
        (
            buttons(json!([link("https://a"), link("https://b"), link("https://c")])),
            "components[1].buttons[2]",
        ),
    ] {
        let refused = draft(&components, false).unwrap_err();
        assert_eq!(refused.code, Code::InvalidTemplate);
        assert_eq!(refused.param.as_deref(), Some(param), "{components}: {refused}");
    }
}

#[test]
fn a_template_of_web_sessions_has_texts_only_and_needs_no_examples() {
    let text = json!([{"type": "BODY", "text": "{{1}} is ready"}]);
    assert!(draft(&text, true).is_ok() && draft(&text, false).is_err());
    for other in [
        json!([{"type": "HEADER", "format": "IMAGE", "example": {"header_handle": ["4::x"]}}, text[0]]),
        json!([text[0], {"type": "BUTTONS", "buttons": [{"type": "OTP", "otp_type": "COPY_CODE"}]}]),
        json!([text[0], {"type": "CAROUSEL", "cards": []}]),
    ] {
        assert!(draft(&other, true).is_err(), "{other}");
    }
    // Nobody else writes the text of a code.
    let components = json!([{"type": "BODY"}, {"type": "FOOTER"}]);
    let code = DraftFields {
        name: "code",
        language: "en",
        category: "AUTHENTICATION",
        parameter_format: None,
        components: &components,
        options: None,
    };
    assert!(TemplateDraft::new(code, false).is_ok() && TemplateDraft::new(code, true).is_err());
    // The provider gets its own options, and nothing else that a program writes beside.
    let given =
        json!({"message_send_ttl_seconds": 60, "allow_category_change": true, "sub_category": {}, "id": "7"});
    let code = DraftFields { options: given.as_object(), ..code };
    let fields = TemplateDraft::new(code, false).unwrap().fields();
    assert_eq!(
        (&fields["message_send_ttl_seconds"], &fields["allow_category_change"]),
        (&json!(60), &json!(true))
    );
    assert!(fields.get("sub_category").is_none() && fields.get("id").is_none(), "{fields}");
}

#[test]
fn name_language_and_category_are_the_provider_s() {
    let components = json!([{"type": "BODY", "text": "Hi"}]);
    for (name, language, category, param) in [
        ("Order", "en", "UTILITY", "name"),
        ("", "en", "UTILITY", "name"),
        ("a", "english!", "UTILITY", "language"),
        ("a", "en", "OTP", "category"),
    ] {
        let given = DraftFields {
            name,
            language,
            category,
            parameter_format: None,
            components: &components,
            options: None,
        };
        assert_eq!(TemplateDraft::new(given, true).unwrap_err().param.as_deref(), Some(param));
    }
}

//! Any template, any components.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// JSON in the words of templates, so that the checks are reached and not only the first one.
fn wordy_json() -> impl Strategy<Value = Value> {
    let words = proptest::sample::select(vec![
        "header",
        "BODY",
        "button",
        "buttons",
        "text",
        "image",
        "url",
        "quick_reply",
        "otp",
        "0",
        "https://h/{{1}}",
        "{{1}} {{a}}",
        "carousel",
        "",
        "location",
        "named",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        words.prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    let keys = proptest::sample::select(vec![
        "type",
        "parameters",
        "sub_type",
        "index",
        "text",
        "link",
        "image",
        "format",
        "buttons",
        "url",
        "parameter_name",
        "currency",
        "fallback_value",
    ]);
    leaf.prop_recursive(4, 64, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(keys.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_template_and_no_components_panic_and_what_parses_is_stored_unchanged(
        described in proptest::collection::vec(wordy_json(), 0..4),
        given in proptest::collection::vec(wordy_json(), 0..4),
    ) {
        let template = template(Value::from(described));
        if let Ok(components) = parse_components(&Value::from(given)) {
            let stored = serde_json::to_string(&components).unwrap_or_default();
            prop_assert_eq!(serde_json::from_str(&stored).ok(), Some(components.clone()));
            let request = TemplateRequest {
                template_id: 1,
                language: None,
                components,
                contact_fields: true,
                short: None,
            };
            let _either = request.fit(&template);
        }
    }

    #[test]
    fn a_body_takes_exactly_its_number_of_variables(variables in 0_usize..20, given in 0_usize..20) {
        let text: String = (1..=variables).map(|number| format!("{{{{{number}}}}} ")).collect();
        let template = template(json!([{"type": "BODY", "text": text}]));
        let parameters = texts(&vec!["x"; given]);
        let fits = outcome(&template, &json!([{"type": "body", "parameters": parameters}])) == "ok";
        prop_assert_eq!(fits, variables == given);
    }
}

//! The caller's own words on a send.

use serde_json::json;

use super::super::*;
use crate::send::{METADATA_ENTRIES, METADATA_KEY_CHARS, METADATA_VALUE_CHARS, NAME_CHARS, REFERENCE_CHARS};
use utoipa::PartialSchema as _;

#[test]
fn both_kinds_of_sends_take_them_and_the_reference_has_their_bounds() {
    let words = json!({
        "name": format!(" {} ", "n".repeat(NAME_CHARS)),
        "reference": "r".repeat(REFERENCE_CHARS),
        "metadata": {("k".repeat(METADATA_KEY_CHARS)): "\u{1f49a}".repeat(METADATA_VALUE_CHARS)},
    });
    let mut business = json!({"type": "text", "message": "x", "phone_number": "5511988887777"});
    business.as_object_mut().unwrap().extend(words.as_object().unwrap().clone());
    let mut web = business.clone();
    web["recipient_type"] = json!("number");
    let (limits, business, web) = (Limits::default(), business.to_string(), web.to_string());
    let business = BusinessRequest::parse(business.as_bytes(), &limits).unwrap();
    let web = WebRequest::parse(web.as_bytes(), &limits).unwrap();
    assert_eq!((&business.ignored, &web.ignored), (&Vec::new(), &Vec::new()));
    assert_eq!(business.label, web.label);
    assert_eq!(web.label.reference.as_ref().map(|text| text.len()), Some(REFERENCE_CHARS));
    assert_eq!(web.label.name.as_ref().map(|text| text.len()), Some(NAME_CHARS));
    web.check(&limits).unwrap();
    // The service adds the author before the request goes to another node.
    let mut made = web;
    for (author, is_fine) in
        [("user:ana@example.com", true), ("key:reports", true), ("", false), ("a\nb", false)]
    {
        made.label.made_by = Some(author.to_owned());
        assert_eq!(made.check(&limits).is_ok(), is_fine, "{author}");
        let passed_on = serde_json::to_string(&made).unwrap();
        assert_eq!(serde_json::from_str::<WebRequest>(&passed_on).unwrap(), made);
    }

    for schema in [BusinessSend::schema(), WebSend::schema()] {
        let schema = serde_json::to_value(schema).unwrap();
        assert_eq!(schema["properties"]["name"]["maxLength"], NAME_CHARS);
        assert_eq!(schema["properties"]["reference"]["maxLength"], REFERENCE_CHARS);
        let about = schema["properties"]["metadata"]["description"].as_str().unwrap().to_owned();
        for bound in [METADATA_ENTRIES, METADATA_VALUE_CHARS, METADATA_KEY_CHARS] {
            assert!(about.contains(&bound.to_string()), "{about}");
        }
    }
}

#[test]
fn the_largest_metadata_may_be_written_in_escapes() {
    let escaped = r"\ud83d\udc9a";
    let entry = |number: usize| {
        let key = format!("{number:02}{}", escaped.repeat(METADATA_KEY_CHARS - 2));
        format!("\"{key}\":\"{}\"", escaped.repeat(METADATA_VALUE_CHARS))
    };
    let metadata: Vec<_> = (0..METADATA_ENTRIES).map(entry).collect();
    let body = format!(
        r#"{{"type":"text","message":"x","phone_number":"5511988887777","metadata":{{{}}}}}"#,
        metadata.join(",")
    );
    let request = BusinessRequest::parse(body.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(request.label.metadata.len(), METADATA_ENTRIES);
}

//! A template that goes in place of another message to a person whose window is closed.

use super::body::Split;
use super::business::{BusinessSend, RequestedContent};
use super::field::{Json, Raw};
use super::recipients::PersonalFields;
use super::shape::TemplateInstead;
use super::{structured, template};
use crate::content::Content;
use crate::error::{Code, Refusal};
use crate::template::{TemplateRequest, unread_fields};

/// The field with the template.
pub(super) const INSTEAD: &str = "template_instead";

/// The content, with the template that goes in its place if one was given, and the fields of that which have no effect.
pub(super) fn or_template(
    content: Content,
    field: Raw<'_, Option<TemplateInstead>>,
    personal: PersonalFields<'_>,
) -> Result<(RequestedContent, Vec<String>), Refusal> {
    Ok(match given(field, personal)? {
        None => (RequestedContent::Ready(content), Vec::new()),
        Some((template, unused)) => (RequestedContent::OrTemplate(content, template), unused),
    })
}

/// The template of the field, if one was given, and the fields of it that have no effect, in a request that gives the values
/// of these fields.
pub(super) fn given(
    field: Raw<'_, Option<TemplateInstead>>,
    personal: PersonalFields<'_>,
) -> Result<Option<(TemplateRequest, Vec<String>)>, Refusal> {
    match field.look() {
        Json::Absent => Ok(None),
        Json::Object => {
            let (template, unused) = read(field.raw(), personal).map_err(of_instead)?;
            let unused = unused.into_iter().map(|name| format!("{INSTEAD}.{name}")).collect();
            Ok(Some((template, unused)))
        }
        _ => Err(field.wrong_type("an object with `template_id` and `components`")),
    }
}

/// The refusal of a template that goes in place of another message: the field at fault is one of `template_instead`.
#[must_use]
pub fn of_instead(refusal: Refusal) -> Refusal {
    let param = match &refusal.param {
        Some(param) => format!("{INSTEAD}.{param}"),
        None => INSTEAD.to_owned(),
    };
    refusal.about(param)
}

fn read(json: &str, personal: PersonalFields<'_>) -> Result<(TemplateRequest, Vec<String>), Refusal> {
    let split = Split::template(json)?;
    let fields: BusinessSend<'_> = split.body();
    let PersonalFields { recipients, values, parameters: _, clean, on_skipped } = personal;
    let parameters = fields.personal().parameters;
    let personal = PersonalFields { recipients, values, parameters, clean, on_skipped };
    let template = template::read(&fields, personal, fields.asks_for_contact_fields()?)?;
    let mut used = vec!["template_id", "language", "components", "contact_fields"];
    if template.short.is_some() {
        used.push("parameters");
    }
    let mut unused = split.ignored(&used);
    if let Ok(components) = structured::read(fields.components, Code::InvalidComponents) {
        unused.extend(unread_fields(&components));
    }
    Ok((template, unused))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::channel::Kind;
    use crate::error::Code;
    use crate::request::{BusinessRequest, ConversationRequest, Limits};
    use crate::template::ShortForm;

    fn read(body: &Value, channel: Kind) -> Result<ConversationRequest, Refusal> {
        ConversationRequest::parse(body.to_string().as_bytes(), channel, false, &Limits::default())
    }

    #[test]
    fn a_template_may_go_in_place_of_a_message_through_a_business_account_alone() {
        let with = |instead: Value| json!({"type": "text", "message": "hi", "template_instead": instead});
        let given = with(json!({"template_id": 7, "components": [], "color": "red"}));
        let request = read(&given, Kind::BusinessAccount).unwrap();
        let RequestedContent::OrTemplate(Content::Text { body, .. }, template) = &request.content else {
            panic!("{:?}", request.content)
        };
        assert_eq!((body.as_str(), template.template_id), ("hi", 7));
        assert_eq!(request.ignored, ["template_instead.color"]);
        let request = read(&given, Kind::WebSession).unwrap();
        assert!(matches!(request.content, RequestedContent::Ready(_)));
        assert_eq!(request.ignored, ["template_instead"]);
        let mut template = with(json!({"template_id": 7, "components": []}));
        template["type"] = json!("template");
        template["template_id"] = json!(8);
        template["components"] = json!([]);
        let request = read(&template, Kind::BusinessAccount).unwrap();
        assert!(matches!(request.content, RequestedContent::Template(_)));
        assert!(request.ignored.contains(&"template_instead".to_owned()), "{:?}", request.ignored);
        for (wrong, code, param) in [
            (json!(7), Code::InvalidField, "template_instead"),
            (json!({"components": []}), Code::MissingTemplateId, "template_instead.template_id"),
            (json!({"template_id": 7}), Code::MissingComponents, "template_instead.components"),
            (json!({"templateId": 7}), Code::UnknownField, "template_instead.templateId"),
        ] {
            let refusal = read(&with(wrong), Kind::BusinessAccount).unwrap_err();
            assert_eq!((refusal.code, refusal.param.as_deref()), (code, Some(param)));
        }
    }

    fn send(fields: Value) -> Result<BusinessRequest, Refusal> {
        let mut body = json!({"type": "text", "message": "hi", "phone_number": "5511900000001"});
        let Value::Object(fields) = fields else { panic!("{fields}") };
        body.as_object_mut().unwrap().extend(fields);
        BusinessRequest::parse(body.to_string().as_bytes(), &Limits::default())
    }

    fn template(request: &BusinessRequest) -> &TemplateRequest {
        let RequestedContent::OrTemplate(_, template) = &request.content else { panic!("{request:?}") };
        template
    }

    #[test]
    fn a_send_to_many_may_have_a_template_for_people_whose_window_is_closed() {
        let request = send(json!({
            "phone_number": ["5511900000001", "5511900000002"],
            "template_instead": {"template_id": 7, "components": [{"type": "body", "colour": 1}]},
        }));
        let request = request.unwrap();
        assert_eq!((template(&request).template_id, request.audience.numbers.len()), (7, 2));
        assert_eq!(request.ignored, ["template_instead.components[0].colour"]);
        let refusal = send(json!({"template_instead": {"template_id": 7}})).unwrap_err();
        assert_eq!(
            (refusal.code, refusal.param.as_deref()),
            (Code::MissingComponents, Some("template_instead.components"))
        );
        let asked = json!({"type": "template", "message": null, "template_id": 8, "components": [],
            "template_instead": {"template_id": 7}});
        let request = send(asked).unwrap();
        assert!(matches!(request.content, RequestedContent::Template(_)), "it is not read beside a template");
        assert_eq!(request.ignored, ["template_instead"]);
    }

    #[test]
    fn the_values_of_a_request_stand_in_its_template_too() {
        let with = |instead: Value| {
            let recipients = json!([{"phone_number": "5511900000001", "values": {"order": "A-7"}}]);
            let message = "{{value.order}}";
            send(
                json!({"phone_number": null, "recipients": recipients, "message": message, "template_instead": instead}),
            )
        };
        let text = json!([{"type": "body", "parameters": [{"type": "text", "text": "{{value.order}}"}]}]);
        let request = with(json!({"template_id": 7, "components": text})).unwrap();
        assert!(template(&request).contact_fields && request.ignored.is_empty(), "{request:?}");
        let request = with(json!({"template_id": 7})).unwrap();
        assert_eq!(template(&request).short, Some(ShortForm::ByName));
        let request = with(json!({"template_id": 7, "parameters": ["order"]})).unwrap();
        assert_eq!(template(&request).short, Some(ShortForm::Listed(vec!["order".to_owned()])));
        let both = json!({"template_id": 7, "components": [], "parameters": ["order"]});
        assert_eq!(with(both).unwrap().ignored, ["template_instead.parameters"]);
    }
}

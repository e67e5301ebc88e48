//! A template that goes in place of another message to a person whose window is closed.

use super::body::Split;
use super::business::{BusinessRequest, BusinessSend, RequestedContent};
use super::field::{Json, Raw};
use super::shape::TemplateInstead;
use super::template;
use crate::content::Content;
use crate::error::Refusal;
use crate::template::TemplateRequest;

/// The field with the template.
pub(super) const INSTEAD: &str = "template_instead";

impl BusinessRequest {
    /// The request without a template that goes in place of its content, and the request with that template if there is one.
    #[must_use]
    pub fn apart(self) -> (Self, Option<Self>) {
        match self.content {
            RequestedContent::OrTemplate(content, template) => {
                let instead = Self {
                    content: RequestedContent::Template(template),
                    audience: self.audience.clone(),
                    schedule: self.schedule,
                    label: self.label.clone(),
                    quotes: self.quotes.clone(),
                    ignored: self.ignored.clone(),
                };
                (Self { content: RequestedContent::Ready(content), ..self }, Some(instead))
            }
            content => (Self { content, ..self }, None),
        }
    }
}

/// The content, with the template that goes in its place if one was given, and the fields of that which have no effect.
pub(super) fn or_template(
    content: Content,
    field: Raw<'_, Option<TemplateInstead>>,
) -> Result<(RequestedContent, Vec<String>), Refusal> {
    match field.look() {
        Json::Absent => Ok((RequestedContent::Ready(content), Vec::new())),
        Json::Object => {
            let (template, unused) = instead(field.raw()).map_err(|refusal| {
                let param = match &refusal.param {
                    Some(param) => format!("{INSTEAD}.{param}"),
                    None => INSTEAD.to_owned(),
                };
                refusal.about(param)
            })?;
            let unused = unused.into_iter().map(|name| format!("{INSTEAD}.{name}")).collect();
            Ok((RequestedContent::OrTemplate(content, template), unused))
        }
        _ => Err(field.wrong_type("an object with `template_id` and `components`")),
    }
}

fn instead(json: &str) -> Result<(TemplateRequest, Vec<String>), Refusal> {
    let split = Split::template(json)?;
    let fields: BusinessSend<'_> = split.body();
    let template = template::read(&fields, fields.asks_for_contact_fields()?)?;
    Ok((template, split.ignored_of_template()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::channel::Kind;
    use crate::error::Code;
    use crate::request::{ConversationRequest, Limits};

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
}

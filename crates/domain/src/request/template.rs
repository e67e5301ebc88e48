//! The fields of a send of a template.

use super::business::BusinessSend;
use super::field::{Json, Raw};
use super::recipients::PersonalFields;
use super::shape::TemplateId;
use super::structured;
use crate::error::{Code, Refusal};
use crate::template::contact_field::{self, Placeholders};
use crate::template::{TemplateRequest, parse_components, parse_components_with_values};

/// Reads the fields of a template, in a request that gives the values of these fields. `contact_fields`: whether the request
/// asks for those alone.
pub(super) fn read(
    body: &BusinessSend<'_>,
    personal: PersonalFields<'_>,
    contact_fields: bool,
) -> Result<TemplateRequest, Refusal> {
    let template_id = template_id(body.template_id)?;
    // The provider writes `pt_BR`, other systems `pt-BR`.
    let language = body.language.text()?.map(|language| language.trim().replace('-', "_"));
    if language.as_ref().is_some_and(|language| language.contains(char::is_control)) {
        return Err(body.language.wrong_type("a language code, such as `pt_BR`"));
    }
    let field = body.components;
    let has_values = personal.are_given();
    let mut short = None;
    let components: Vec<_> = match field.look() {
        Json::Array if has_values => {
            parse_components_with_values(&structured::read(field, Code::InvalidComponents)?)?
        }
        Json::Array => parse_components(&structured::read(field, Code::InvalidComponents)?)?,
        Json::Absent if field.raw().starts_with('[') => Vec::new(),
        Json::Absent if has_values => {
            short = Some(personal.short()?);
            Vec::new()
        }
        Json::Absent => {
            return Err(field.refuse(
                Code::MissingComponents,
                "is missing: give the values of the template's variables, or [] if it has none",
            ));
        }
        _ => return Err(field.wrong_type("an array")),
    };
    if has_values {
        contact_field::check_all(&components, Placeholders::All)?;
    } else if contact_fields {
        contact_field::check(&components)?;
    }
    let contact_fields = contact_fields || has_values;
    Ok(TemplateRequest { template_id, language, components, short, contact_fields })
}

/// The template's id, as a number or as digits. An impossible id, negative or too large, is left to the look-up of the
/// template, which finds nothing.
fn template_id(field: Raw<'_, Option<TemplateId>>) -> Result<i64, Refusal> {
    let written = match field.look() {
        Json::Absent => {
            return Err(
                field.refuse(Code::MissingTemplateId, "is missing: give the id of an approved template")
            );
        }
        Json::Number(written) => written.to_owned(),
        Json::Text(text) => text.trim().to_owned(),
        Json::BrokenText | Json::Bool | Json::Array | Json::Object => String::new(),
    };
    let (sign, magnitude) = match written.strip_prefix('-') {
        Some(magnitude) => (-1, magnitude),
        None => (1, written.as_str()),
    };
    if magnitude.is_empty() || !magnitude.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(field.refuse(
            Code::InvalidTemplateIdFormat,
            "must be a whole number: the id that the channel's list of templates gives",
        ));
    }
    Ok(sign * magnitude.parse().unwrap_or(i64::MAX))
}

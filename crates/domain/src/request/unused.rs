//! The fields of a request that have no effect, which its answer names.

use super::body::Split;
use super::business::BusinessSend;
use super::enclosed::Through;
use super::field::Json;
use super::instead::INSTEAD;
use super::kind::BusinessKind;
use super::{label, recipients, structured};
use crate::error::Code;
use crate::template::unread_fields;

/// The fields that every request may have.
const OF_ALL: &[&str] = &[
    "type",
    "phone_number",
    "contact_tag_id",
    "without_contact_tag_id",
    "segment_id",
    "send_at",
    "expires_at",
];

/// The fields of a send through a business account that have no effect.
pub(super) fn ignored(split: &Split<'_>, body: &BusinessSend<'_>, kind: BusinessKind) -> Vec<String> {
    let of_all = if kind == BusinessKind::Template { OF_ALL.to_vec() } else { [OF_ALL, &[INSTEAD]].concat() };
    without_effect(split, body, (kind, Through::Business), &of_all)
}

/// The fields that have no effect beside those that every request of this form may have.
pub(super) fn without_effect(
    split: &Split<'_>,
    body: &BusinessSend<'_>,
    (kind, through): (BusinessKind, Through),
    of_all: &[&str],
) -> Vec<String> {
    let own: &[&str] = match kind {
        BusinessKind::Plain(plain) => plain.fields(),
        BusinessKind::Enclosed(enclosed) => enclosed.fields(),
        BusinessKind::Template => &["template_id", "language", "components", "contact_fields"],
        BusinessKind::Interactive => &["interactive"],
    };
    let of_values: &[&str] = if body.personal().are_given() { recipients::OF_ALL } else { &[] };
    let mut ignored = split.ignored(&[of_all, of_values, &label::FIELDS, own].concat());
    if matches!(kind, BusinessKind::Template)
        && let Ok(components) = structured::read(body.components, Code::InvalidComponents)
    {
        ignored.extend(unread_fields(&components));
    }
    if !of_values.is_empty()
        && matches!(kind, BusinessKind::Template)
        && body.components.look() == Json::Absent
    {
        ignored.retain(|name| name != "parameters");
    }
    if let BusinessKind::Enclosed(enclosed) = kind
        && let Ok(content) = enclosed.read(body.enclosed(), through)
    {
        ignored.extend(enclosed.unread(body.enclosed(), &content));
    }
    ignored
}

//! Changes of templates.

use super::super::lenient::fields;
use super::{Batch, plain};
use crate::update::{TemplateChange, Update};
use domain::template::{Category, Status};

fields! {
    Value {
        needs message_template_id, message_template_name, message_template_language;
        texts event, reason, new_quality_score, new_category;
        objects other_info: OtherInfo;
    }
    OtherInfo { texts title; }
}

/// A change of the status.
pub(super) fn read_status(json: &str, batch: &mut Batch) -> Option<()> {
    note(json, batch, |value| {
        let event = value.event.get()?;
        let title = value.other_info.as_ref().and_then(|info| info.title.get());
        let reason = value.reason.get().filter(|reason| *reason != "NONE");
        let flagged = (event == "FLAGGED").then_some(event);
        let title = title.or(reason).or(flagged).map(plain);
        Some(TemplateChange::Status { status: status(event), title })
    })
}

/// A change of the rating.
pub(super) fn read_quality(json: &str, batch: &mut Batch) -> Option<()> {
    note(json, batch, |value| Some(TemplateChange::Quality(word(value.new_quality_score.get()?))))
}

/// A change of the category. An announced change has the category that is valid until then.
pub(super) fn read_category(json: &str, batch: &mut Batch) -> Option<()> {
    note(json, batch, |value| {
        Some(TemplateChange::Category(Category::from(word(value.new_category.get()?).as_str())))
    })
}

fn note(
    json: &str,
    batch: &mut Batch,
    change: impl FnOnce(&Value<'_>) -> Option<TemplateChange>,
) -> Option<()> {
    let value: Value<'_> = serde_json::from_str(json).ok()?;
    batch.note(Update::Template {
        provider_id: plain(value.message_template_id.get()?),
        name: plain(value.message_template_name.get()?),
        language: plain(value.message_template_language.get()?).replace('-', "_"),
        change: change(&value)?,
    })
}

/// The status after an event. A template whose pause was lifted is approved again. A flagged template has a
/// bad rating and can still be sent, until it is paused or disabled, which is another event. Other events
/// have the name of the status.
fn status(event: &str) -> Status {
    match event {
        "APPROVED" | "REINSTATED" | "UNARCHIVED" | "UNPAUSE" | "UNPAUSED" | "FLAGGED" => Status::Approved,
        other => Status::from(word(other).as_str()),
    }
}

fn word(word: &str) -> String {
    plain(word).to_ascii_uppercase()
}

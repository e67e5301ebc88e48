//! What the readers of the event log are told when the provider changes templates.

use std::collections::HashMap;

use entity::template::{Entity, Model};
use sea_orm::{
    Condition, DerivePartialModel, EntityTrait as _, FromQueryResult as _, QueryFilter as _, QueryResult,
};

use crate::nouns::Templates;
use crate::{Result, Transaction};
use clock::Timestamp;
use domain::event::Type;
use domain::event::log::{ChangedValue, Fact};
use domain::template::Status;

/// The columns of a [`ToldTemplate`], which statements that change templates return.
pub(super) const TOLD: &str = "id, name, language, status, category, quality_score, rejected_reason";

/// The values of a template whose changes are told.
#[derive(Debug, Clone, PartialEq, Eq, DerivePartialModel)]
#[sea_orm(entity = "Entity")]
pub(super) struct ToldTemplate {
    id: i64,
    name: String,
    language: String,
    status: String,
    category: String,
    quality_score: Option<String>,
    rejected_reason: Option<String>,
}

/// Templates before a change, by their ids.
pub(super) type Before = HashMap<i64, ToldTemplate>;

impl From<Model> for ToldTemplate {
    fn from(model: Model) -> Self {
        let Model { id, name, language, status, category, quality_score, rejected_reason, .. } = model;
        Self { id, name, language, status, category, quality_score, rejected_reason }
    }
}

impl ToldTemplate {
    pub(super) fn read(row: &QueryResult) -> Result<Self> {
        Ok(Self::from_query_result(row, "")?)
    }

    /// The same template when it had this status.
    pub(super) fn with_status(&self, status: &str) -> Self {
        Self { status: status.to_owned(), ..self.clone() }
    }

    /// Why the provider's list says that it was rejected.
    pub(super) fn listed_reason(&self) -> Option<String> {
        let is_rejected = Status::from(self.status.as_str()) == Status::Rejected;
        self.rejected_reason.clone().filter(|_| is_rejected)
    }

    /// What is told of the template as it is now, after it was so `before`; `None` for a new one. The provider gives the
    /// reason for the status.
    pub(super) fn facts(
        &self,
        waba_id: &str,
        before: Option<&Self>,
        reason: Option<String>,
        at: Timestamp,
    ) -> Vec<Fact> {
        let mut changes = Vec::new();
        let status = before.map(|before| before.status.clone());
        if status.as_ref() != Some(&self.status)
            && let Some(r#type) = Type::of_template(&Status::from(self.status.as_str()))
        {
            changes.push(ChangedValue { r#type, old: status, new: self.status.clone(), reason });
        }
        if let Some(before) = before {
            if before.category != self.category {
                changes.push(ChangedValue {
                    r#type: Type::TemplateCategoryChanged,
                    old: Some(before.category.clone()),
                    new: self.category.clone(),
                    reason: None,
                });
            }
            if let Some(score) = &self.quality_score
                && before.quality_score.as_ref() != Some(score)
            {
                changes.push(ChangedValue {
                    r#type: Type::TemplateQualityChanged,
                    old: before.quality_score.clone(),
                    new: score.clone(),
                    reason: None,
                });
            }
        }
        let template = (self.id, waba_id, self.name.as_str(), self.language.as_str());
        changes.into_iter().map(|change| Fact::of_template(template, change, at)).collect()
    }
}

impl Templates<'_> {
    /// The company's templates that meet this condition; `None` when nobody reads the log. The counter of templates is
    /// locked, so that no other transaction changes them.
    pub(super) async fn before(self, within: &Transaction, condition: Condition) -> Result<Option<Before>> {
        if !self.store.event_log().hears_facts(within).await? {
            return Ok(None);
        }
        let before =
            Entity::find().filter(condition).into_partial_model::<ToldTemplate>().all(within).await?;
        Ok(Some(before.into_iter().map(|template| (template.id, template)).collect()))
    }

    /// Tells of these templates of a business account that were changed or added.
    pub(super) async fn tell(
        self,
        within: &Transaction,
        waba_id: &str,
        (before, changed): (&Before, &[ToldTemplate]),
        reason: impl Fn(&ToldTemplate) -> Option<String>,
        now: Timestamp,
    ) -> Result<()> {
        let mut facts = Vec::new();
        for template in changed {
            facts.extend(template.facts(waba_id, before.get(&template.id), reason(template), now));
        }
        self.store.event_log().tell_facts(within, self.company, facts, now).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::event::Event;
    use domain::event::log::Sequence;
    use serde_json::json;
    use uuid::Uuid;

    fn template(status: &str, category: &str, quality: Option<&str>) -> ToldTemplate {
        ToldTemplate {
            id: 9,
            name: "sale".to_owned(),
            language: "pt_BR".to_owned(),
            status: status.to_owned(),
            category: category.to_owned(),
            quality_score: quality.map(str::to_owned),
            rejected_reason: Some("SCAM".to_owned()),
        }
    }

    /// Type, old and new value, and reason of each event.
    fn told(before: Option<&ToldTemplate>, now: &ToldTemplate) -> Vec<serde_json::Value> {
        let at = Timestamp::from_millis(7);
        let facts = now.facts("waba", before, now.listed_reason(), at);
        let events = facts.into_iter().map(|fact| Event::of_fact(Uuid::nil(), Sequence::new(1, 0), fact));
        let short = |event: serde_json::Value| {
            let data = &event["data"];
            json!([event["type"], data["old"], data["new"], data["reason"]])
        };
        events.map(|event| short(json!(event))).collect()
    }

    #[test]
    fn each_changed_value_is_told_and_what_is_as_before_is_not() {
        let approved = template("APPROVED", "UTILITY", None);
        assert!(told(Some(&approved), &approved).is_empty());
        let expected = json!(["template.rejected", "APPROVED", "REJECTED", "SCAM"]);
        assert_eq!(told(Some(&approved), &approved.with_status("REJECTED")), [expected]);
        assert_eq!(
            told(Some(&approved), &template("PAUSED", "MARKETING", Some("RED"))),
            [
                json!(["template.paused", "APPROVED", "PAUSED", null]),
                json!(["template.category_changed", "UTILITY", "MARKETING", null]),
                json!(["template.quality_changed", null, "RED", null]),
            ]
        );
        let rated = template("APPROVED", "UTILITY", Some("GREEN"));
        assert!(told(Some(&rated), &approved).is_empty(), "a rating that is not mentioned");
        assert!(told(Some(&approved), &approved.with_status("PENDING")).is_empty());
    }

    #[test]
    fn a_new_template_is_told_by_its_status_alone() {
        let disabled = template("DISABLED", "UTILITY", Some("RED"));
        assert_eq!(told(None, &disabled), [json!(["template.disabled", null, "DISABLED", null])]);
        assert!(told(None, &disabled.with_status("PENDING")).is_empty());
    }
}

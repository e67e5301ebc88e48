//! Templates: listings of all of them, statements about single ones, and refusals by the provider.

use super::{Model, TemplateRow};
use clock::Timestamp;
use store::templates::{APPROVED, DELETED, PAUSED};

/// What the provider lists of one template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) name: String,
    pub(crate) status: String,
    pub(crate) category: String,
}

impl Model {
    /// Writes all templates of a business account, by a list that was requested at `as_of`. `number` gives a new
    /// template its id.
    pub(crate) fn list_templates(
        &mut self,
        waba_id: &str,
        listed: &[Listing],
        as_of: Timestamp,
        mut number: impl FnMut(&str) -> i64,
    ) {
        for row in self.templates.values_mut().filter(|row| row.waba_id == waba_id) {
            match listed.iter().find(|listing| listing.name == row.name) {
                Some(listing) => {
                    row.say_status(&listing.status, as_of);
                    row.say_category(&listing.category, as_of);
                }
                // A template that is no longer listed is gone; its category stays, with the time of the list.
                None => row.say_status(DELETED, as_of),
            }
            row.category_said_at = row.category_said_at.max(as_of);
            row.quality_said_at = row.quality_said_at.max(as_of);
        }
        for Listing { name, status, category } in listed {
            if self.templates.values().any(|row| row.waba_id == waba_id && row.name == *name) {
                continue;
            }
            let row = TemplateRow {
                waba_id: waba_id.to_owned(),
                name: name.clone(),
                status: status.clone(),
                category: category.clone(),
                status_said_at: as_of,
                category_said_at: as_of,
                quality_said_at: as_of,
            };
            self.templates.insert(number(name), row);
        }
    }

    /// Writes the provider's statement about one template at `said_at`.
    #[cfg(test)]
    pub(crate) fn change_template(
        &mut self,
        id: i64,
        status: Option<&str>,
        category: Option<&str>,
        said_at: Timestamp,
    ) {
        let Some(row) = self.templates.get_mut(&id) else { return };
        if let Some(status) = status {
            row.say_status(status, said_at);
        }
        if let Some(category) = category {
            row.say_category(category, said_at);
        }
    }

    /// Marks an approved template as paused.
    pub(crate) fn pause_template(&mut self, id: i64, now: Timestamp) {
        if let Some(row) = self.templates.get_mut(&id).filter(|row| row.status == APPROVED) {
            PAUSED.clone_into(&mut row.status);
            row.status_said_at = now;
        }
    }

    /// The template of this id.
    pub(crate) fn template(&self, id: i64) -> Option<&TemplateRow> {
        self.templates.get(&id)
    }

    /// Statements with a future time count as made now. Returns how many facets moved.
    pub(super) fn templates_went_back(&mut self, now: Timestamp) -> u64 {
        let mut moved = 0;
        for row in self.templates.values_mut() {
            for said_at in [&mut row.status_said_at, &mut row.category_said_at, &mut row.quality_said_at] {
                if *said_at > now {
                    *said_at = now;
                    moved += 1;
                }
            }
        }
        moved
    }
}

impl TemplateRow {
    /// Whether the provider lets it be sent.
    pub(crate) fn is_approved(&self) -> bool {
        self.status == APPROVED
    }

    fn say_status(&mut self, status: &str, said_at: Timestamp) {
        if self.status_said_at <= said_at {
            status.clone_into(&mut self.status);
            self.status_said_at = said_at;
        }
    }

    fn say_category(&mut self, category: &str, said_at: Timestamp) {
        if self.category_said_at <= said_at {
            category.clone_into(&mut self.category);
            self.category_said_at = said_at;
        }
    }
}

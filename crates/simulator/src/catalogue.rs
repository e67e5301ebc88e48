//! The templates of one business account, listed in pages and found by name and language.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::GraphError;
use super::seed::Template;
use super::template::StoredTemplate;

/// The first template id; ids stay below 2^53 as at the provider.
const FIRST_ID: u64 = 1_000_000_000_000_001;
/// The most templates of one account, as at the provider for verified businesses.
const LARGEST: usize = 6_000;

/// Gives template ids, unique in the whole simulator.
#[derive(Debug)]
pub(super) struct TemplateIds(AtomicU64);

impl Default for TemplateIds {
    fn default() -> Self {
        Self(AtomicU64::new(FIRST_ID))
    }
}

impl TemplateIds {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
pub(super) struct Catalogue {
    by_id: BTreeMap<u64, Arc<StoredTemplate>>,
    by_name: HashMap<String, Vec<u64>>,
}

/// The filters of a listing.
#[derive(Debug, Default)]
pub(super) struct Wanted<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) language: Option<&'a str>,
    pub(super) status: Option<&'a str>,
    pub(super) category: Option<&'a str>,
}

impl Wanted<'_> {
    fn has(&self, template: &Template) -> bool {
        let same = |wanted: Option<&str>, value: &str| wanted.is_none_or(|it| it.eq_ignore_ascii_case(value));
        same(self.name, &template.name)
            && same(self.language, &template.language)
            && same(self.status, &template.status)
            && same(self.category, &template.category)
    }
}

impl Catalogue {
    /// Adds a template and returns its id. Name and language together must be new.
    pub(super) fn add(&mut self, ids: &TemplateIds, template: Template) -> Result<u64, GraphError> {
        if self.find(&template.name, &template.language).is_some() {
            let details = format!("{} already exists in {}", template.name, template.language);
            return Err(GraphError::because(100, details).with_subcode(2_388_024));
        }
        if self.by_id.len() >= LARGEST {
            return Err(GraphError::because(100, format!("an account has at most {LARGEST} templates")));
        }
        let id = ids.next();
        self.by_name.entry(template.name.clone()).or_default().push(id);
        self.by_id.insert(id, Arc::new(StoredTemplate::new(id, template)));
        Ok(id)
    }

    /// The template of this name in this language.
    pub(super) fn find(&self, name: &str, language: &str) -> Option<&Arc<StoredTemplate>> {
        let ids = self.by_name.get(name)?;
        ids.iter().filter_map(|id| self.by_id.get(id)).find(|stored| stored.template.language == language)
    }

    /// The template with this id.
    pub(super) fn by_id(&self, id: u64) -> Option<&Arc<StoredTemplate>> {
        self.by_id.get(&id)
    }

    /// Gives a template another status; false when there is none with this id.
    pub(super) fn set_status(&mut self, id: u64, status: &str) -> bool {
        let Some(stored) = self.by_id.get_mut(&id) else { return false };
        status.clone_into(&mut Arc::make_mut(stored).template.status);
        true
    }

    /// Replaces a template's content: it is reviewed again.
    pub(super) fn edit(&mut self, id: u64, template: Template) {
        if self.by_id.contains_key(&id) {
            self.by_id.insert(id, Arc::new(StoredTemplate::new(id, template)));
        }
    }

    /// Removes the templates of this name, or only those with these ids; returns how many there were.
    pub(super) fn remove(&mut self, name: &str, only: Option<u64>) -> usize {
        let Some(ids) = self.by_name.get_mut(name) else { return 0 };
        let (gone, kept): (Vec<_>, Vec<_>) =
            std::mem::take(ids).into_iter().partition(|id| only.is_none_or(|only| only == *id));
        *ids = kept;
        for id in &gone {
            self.by_id.remove(id);
        }
        gone.len()
    }

    /// How many templates there are, and how many there can be.
    pub(super) fn count(&self) -> (usize, usize) {
        (self.by_id.len(), LARGEST)
    }

    /// How many templates are wanted.
    pub(super) fn count_wanted(&self, wanted: &Wanted<'_>) -> usize {
        self.by_id.values().filter(|stored| wanted.has(&stored.template)).count()
    }

    /// Up to `limit` wanted templates with ids above `after`, and whether there are more.
    pub(super) fn page(
        &self,
        wanted: &Wanted<'_>,
        after: u64,
        limit: usize,
    ) -> (Vec<Arc<StoredTemplate>>, bool) {
        let later = self.by_id.range((Bound::Excluded(after), Bound::Unbounded)).map(|(_, stored)| stored);
        let mut found: Vec<_> =
            later.filter(|stored| wanted.has(&stored.template)).take(limit + 1).map(Arc::clone).collect();
        let has_more = found.len() > limit;
        found.truncate(limit);
        (found, has_more)
    }
}

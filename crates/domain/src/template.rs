//! Message templates: the provider's description, the values of a request, and whether both fit.
//!
//! A request's values are parsed early, before the template is known ([`parse_components`]). They are checked against
//! the template ([`TemplateRequest::fit`]) before anything is queued: a bulk send must not fail a million times at the
//! provider because of one missing variable.

mod check;
mod component;
pub mod contact_field;
mod draft;
mod given;
mod library;
mod local;
mod parse;
mod shape;
mod short;
mod unread;

use clock::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;

pub use self::component::{Card, Component, Media, Parameter, Source};
pub use self::draft::{DraftFields, MOST_BUTTONS, TEMPLATE_CATEGORIES, TemplateDraft, variable_names};
pub use self::given::*;
pub use self::library::{
    LIBRARY_NAME, LibraryButton, LibraryDraft, LibraryFields, LibraryInput, LibraryPage, LibraryQuery,
    LibraryTemplate,
};
pub use self::parse::{parse_components, parse_components_with_values};
pub use self::shape::{Button, Header, Shape, Variables};
pub use self::short::{ShortForm, Variable, variables};
pub use self::unread::unread_fields;
use super::words::open_words;
use crate::content::Content;
use crate::error::{Code, Refusal};
use crate::phone::PhoneNumber;

/// Where a business account's id is, the templates of a company's web sessions have this word: nobody reviews them, and they are
/// sent as texts.
pub const LOCAL_ACCOUNT: &str = "web";
/// The most templates of a company's web sessions.
pub const MOST_LOCAL: u64 = 250;

/// The form of a template's variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParameterFormat {
    /// `{{1}}`, `{{2}}`: values come in this order.
    Positional,
    /// `{{first_name}}`: values carry the name, in any order.
    Named,
}

impl ParameterFormat {
    /// Both forms.
    pub const ALL: &[Self] = &[Self::Positional, Self::Named];

    /// Reads the provider's word. Older templates have none: the variables show the form.
    pub fn read(word: Option<&str>, components: &Value) -> Self {
        match word {
            Some(word) if word.eq_ignore_ascii_case("NAMED") => Self::Named,
            Some(word) if word.eq_ignore_ascii_case("POSITIONAL") => Self::Positional,
            _ if shape::has_named_variables(components) => Self::Named,
            _ => Self::Positional,
        }
    }

    /// The provider's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Positional => "POSITIONAL",
            Self::Named => "NAMED",
        }
    }
}

open_words! {
    /// The provider's status of a template.
    pub enum Status {
        /// The template can be sent.
        Approved = "APPROVED",
        /// The provider reviews it.
        Pending = "PENDING",
        /// The provider refused it.
        Rejected = "REJECTED",
        /// The provider has paused it for a while.
        Paused = "PAUSED",
        /// The provider has disabled it permanently.
        Disabled = "DISABLED",
        /// The provider reviews it again, after an appeal.
        InAppeal = "IN_APPEAL",
        /// The account has as many templates as it may have.
        LimitExceeded = "LIMIT_EXCEEDED",
        /// The provider no longer lists it: a word of our own.
        Deleted = "DELETED",
    }
}

open_words! {
    /// The provider's category of a template.
    pub enum Category {
        /// Advertising.
        Marketing = "MARKETING",
        /// About something that the recipient ordered or asked for.
        Utility = "UTILITY",
        /// A code to sign in with.
        Authentication = "AUTHENTICATION",
    }
}

/// A template of a business account, as the provider described it at the last synchronisation.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// Our own id, which requests name.
    pub id: i64,
    /// Its name at the provider; name and language together are its identity there.
    pub name: String,
    /// Its language, such as `pt_BR`.
    pub language: String,
    /// The provider's category.
    pub category: Category,
    /// The provider's status.
    pub status: Status,
    /// The form of its variables.
    pub parameter_format: ParameterFormat,
    /// Header, body, footer and buttons as the provider gives them.
    pub components: Value,
}

/// A template as the provider's list describes it.
#[derive(Debug, Clone)]
pub struct ListedTemplate {
    /// The provider's id.
    pub provider_id: String,
    /// Its name; name and language are its identity.
    pub name: String,
    /// With an underscore, such as `pt_BR`.
    pub language: String,
    /// The provider's category.
    pub category: Category,
    /// The provider's status.
    pub status: Status,
    /// The form of its variables.
    pub parameter_format: ParameterFormat,
    /// The provider's JSON, as it came.
    pub components: Box<RawValue>,
    /// Why the provider rejected it.
    pub rejected_reason: Option<String>,
    /// The provider's rating.
    pub quality_score: Option<String>,
}

impl Template {
    /// Whether the provider lets it be sent.
    pub fn is_approved(&self) -> bool {
        self.status == Status::Approved
    }

    /// Checks whether these values are the ones that the template's variables need. Parts that we do not know
    /// (new kinds of components, buttons and headers) are left to the provider.
    ///
    /// # Errors
    ///
    /// `invalid_components`, naming the component, what it expects and what was given.
    pub fn check_components(&self, given: &[Component]) -> Result<(), Refusal> {
        match shape::Shape::read(self) {
            Some(shape) => check::check(&shape, given),
            None => Ok(()),
        }
    }

    /// Whether header or text get another number of values than they have variables, for which the provider has a number of its
    /// own.
    pub fn is_miscounted(&self, given: &[Component]) -> bool {
        shape::Shape::read(self).is_some_and(|shape| check::is_miscounted(&shape, given))
    }
}

/// A request's part about a template, before the template is looked up.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateRequest {
    /// The template's id in the store; it may not exist.
    pub template_id: i64,
    /// The requested language, if it is not the template's own; `_` between its parts.
    pub language: Option<String>,
    /// The values of the variables.
    pub components: Vec<Component>,
    /// Instead of `components`: they are built from the template's own variables.
    pub short: Option<ShortForm>,
    /// Whether their texts may have [placeholders](contact_field).
    pub contact_fields: bool,
}

impl TemplateRequest {
    /// Joins the request with its template, which the caller found by id and language.
    ///
    /// # Errors
    ///
    /// `template_not_approved`, then what [`Template::check_components`] refuses.
    pub fn fit(mut self, template: &Template) -> Result<Content, Refusal> {
        let Template { name, language, status, .. } = template;
        if !template.is_approved() {
            return Err(Refusal::new(
                Code::TemplateNotApproved,
                format!(
                    "the template {name} ({language}) is {status}: only an approved template can be sent"
                ),
            )
            .about("template_id"));
        }
        if let Some(short) = &self.short {
            self.components = short.components(template)?;
        }
        template.check_components(&self.components)?;
        let contact_fields = self.contact_fields && contact_field::are_used(&self.components);
        let components = self.components.into_iter().filter(|component| !component.is_idle()).collect();
        Ok(Content::Template { name: name.clone(), language: language.clone(), components, contact_fields })
    }
}

/// A recipient of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenTo {
    /// The recipient.
    pub recipient: PhoneNumber,
    /// When the provider accepted the message, or may have.
    pub at: Timestamp,
    /// Whether the provider certainly accepted it.
    pub is_certain: bool,
}

#[cfg(test)]
mod tests;

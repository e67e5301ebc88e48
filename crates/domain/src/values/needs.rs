//! Which values a content needs, and what each of them may be: checked for every recipient before a send is accepted.

use super::text::{MAX_ADDRESS_CHARS, unfit_for_template};
use super::{Lookup, Values};
use crate::content::Content;
use crate::link::Link;
use crate::request::{Limits, SkipCode, SkippedEntry};
use crate::template::contact_field::{self, Addressee, filled_link, values_of};

/// The values that a content has placeholders for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needs {
    /// Those without a text in their place.
    required: Vec<String>,
    /// Those in the text of a template, which has to be on one line.
    in_lines: Vec<String>,
    /// Links with placeholders, which have to be addresses once they are filled in.
    links: Vec<String>,
    /// Texts with placeholders.
    texts: Vec<BoundedText>,
}

/// A text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BoundedText {
    text: String,
    /// The most characters that it may have once it is filled in.
    most: usize,
    /// The names of its values, each as often as it stands in the text.
    names: Vec<String>,
}

impl BoundedText {
    /// Whether the text fits with these values, whatever they are: most are so short that none has to be looked at.
    fn fits_all(&self, values: &dyn Lookup) -> bool {
        let bytes = values.most_bytes().and_then(|bytes| bytes.checked_mul(self.names.len()));
        bytes.is_some_and(|bytes| self.text.len().saturating_add(bytes) <= self.most)
    }

    /// No fewer bytes than the text has with these values: each stands in the place of a placeholder.
    fn most_bytes(&self, values: &dyn Lookup) -> usize {
        let length = |name: &String| values.value(name).map_or(0, str::len);
        self.text.len() + self.names.iter().map(length).sum::<usize>()
    }
}

/// Why a recipient cannot get the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// The kind of reason.
    pub code: SkipCode,
    /// The field at fault, such as `values.order`.
    pub field: String,
    /// In words that continue "the number …".
    pub reason: String,
}

impl Lack {
    /// The recipient as a skipped entry: `+` and the number, and which entry of `recipients` it is.
    pub fn entry(&self, input: &str, index: Option<u64>) -> SkippedEntry {
        let entry = SkippedEntry::of(self.code, input, &self.reason);
        SkippedEntry { index, field: Some(self.field.clone()), ..entry }
    }
}

impl Needs {
    /// The values of this content.
    pub fn of(content: &Content, limits: &Limits) -> Self {
        let mut needs =
            Self { required: Vec::new(), in_lines: Vec::new(), links: Vec::new(), texts: Vec::new() };
        if let Content::Template { components, .. } = content {
            for (name, is_required) in contact_field::values_in_texts(components) {
                needs.require(name, is_required);
                add(&mut needs.in_lines, name);
            }
            contact_field::links_with_values(components).into_iter().for_each(|link| needs.link(link));
            return needs;
        }
        let (text, link) = content.texts();
        if let Some(text) = text.filter(|text| contact_field::is_in(text)) {
            values_of(text).into_iter().for_each(|(name, is_required)| needs.require(name, is_required));
            let is_text = matches!(content, Content::Text { .. });
            let most = if is_text { limits.text_chars } else { limits.caption_chars };
            let names = values_of(text).into_iter().map(|(name, _)| name.to_owned()).collect();
            needs.texts.push(BoundedText { text: text.to_owned(), most, names });
        }
        link.filter(|link| contact_field::is_in(link)).into_iter().for_each(|link| needs.link(link));
        needs
    }

    fn require(&mut self, name: &str, is_required: bool) {
        if is_required {
            add(&mut self.required, name);
        }
    }

    fn link(&mut self, link: &str) {
        values_of(link).into_iter().for_each(|(name, is_required)| self.require(name, is_required));
        self.links.push(link.to_owned());
    }

    /// Whether nothing is asked of any value.
    pub fn is_nothing(&self) -> bool {
        self.required.is_empty() && self.in_lines.is_empty() && self.links.is_empty() && self.texts.is_empty()
    }

    /// Whether a recipient with these values can get the message; contact fields are not looked at.
    ///
    /// # Errors
    ///
    /// What the recipient lacks first.
    pub fn check(&self, values: &dyn Lookup) -> Result<(), Lack> {
        if let Some(name) = self.required.iter().find(|name| values.value(name).is_none()) {
            let reason = format!("has no value `{name}`, which the message needs");
            return Err(Lack { code: SkipCode::ValueMissing, field: format!("values.{name}"), reason });
        }
        if let Some((name, why)) = self.unfit(values) {
            return Err(not_allowed(name, &format!("`{name}` {why}")));
        }
        let to = Addressee { person: None, values: Some(values) };
        for link in &self.links {
            // A file of the library is none: only those that the request itself names are looked up.
            let filled = filled_link(link, to).unwrap_or_default();
            let name = values_of(link).first().map_or("", |(name, _)| *name);
            if filled.chars().nth(MAX_ADDRESS_CHARS).is_some() {
                return Err(not_allowed(
                    name,
                    &format!("`{name}` makes a link of more than {MAX_ADDRESS_CHARS} characters"),
                ));
            }
            if let Err(wrong) = Link::parse(&filled) {
                return Err(not_allowed(name, &format!("`{name}` makes a link that {wrong}")));
            }
        }
        for bounded in &self.texts {
            let BoundedText { text, most, names: _ } = bounded;
            // Hardly any text is so long that it has to be made for that.
            if bounded.fits_all(values) || bounded.most_bytes(values) <= *most {
                continue;
            }
            // A text that lacks a contact's field has another length anyway.
            let filled = contact_field::filled_for(text, to).unwrap_or_default();
            if filled.len() > *most && filled.chars().nth(*most).is_some() {
                let name = values_of(text).first().map_or("", |(name, _)| *name);
                return Err(not_allowed(name, &format!("makes the text longer than {most} characters")));
            }
        }
        Ok(())
    }

    /// The first value that the text of a template cannot have, and why.
    fn unfit(&self, values: &dyn Lookup) -> Option<(&str, &'static str)> {
        self.in_lines.iter().find_map(|name| Some((name.as_str(), unfit_for_template(values.value(name)?)?)))
    }

    /// Whether the values of all recipients can stand where the content has them.
    ///
    /// # Errors
    ///
    /// The first that cannot.
    pub fn check_shared(&self, shared: &Values) -> Result<(), Lack> {
        match self.unfit(shared) {
            Some((name, why)) => Err(not_allowed(name, &format!("`{name}` {why}"))),
            None => Ok(()),
        }
    }
}

fn not_allowed(name: &str, reason: &str) -> Lack {
    let reason = format!("has a value that cannot be sent: {reason}");
    Lack { code: SkipCode::ValueNotAllowed, field: format!("values.{name}"), reason }
}

fn add(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

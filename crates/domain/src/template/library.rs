//! Templates of the provider's own library. The provider wrote their words and knows their category; an account makes one of its
//! own of them by giving what their buttons lead to.

use serde_json::{Map, Value, json};

use super::Category;
use super::draft::{identity, options};
use crate::error::{Code, Refusal};

/// The field with the name that a template has in the library.
pub const LIBRARY_NAME: &str = "library_template_name";
/// The fields of a request that are about the library begin so.
const OF_LIBRARY: &str = "library_template_";
/// The most bytes of a name in the library, and of all fields about the library together.
const NAME: usize = 512;
const LONGEST: usize = 64 * 1024;

/// What is looked for in the library. Each field that is there leaves fewer templates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LibraryQuery<'a> {
    /// The whole name in the library.
    pub name: Option<&'a str>,
    /// A part of the name or of the words.
    pub search: Option<&'a str>,
    /// The provider's word for a topic, such as `PAYMENTS`.
    pub topic: Option<&'a str>,
    /// The provider's word for an occasion, such as `PAYMENT_OVERDUE`.
    pub usecase: Option<&'a str>,
    /// The provider's word for a trade, such as `E_COMMERCE`.
    pub industry: Option<&'a str>,
    /// A language, such as `pt_BR`.
    pub language: Option<&'a str>,
    /// Where the part begins that is asked for: [`LibraryPage::after`] of the part before.
    pub after: Option<&'a str>,
}

/// A part of the library.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LibraryPage {
    /// The templates of this part, each in one language.
    pub templates: Vec<LibraryTemplate>,
    /// Where the next part begins; `None` for the last one.
    pub after: Option<String>,
}

/// A template of the library in one language.
#[derive(Debug, Clone, PartialEq)]
pub struct LibraryTemplate {
    /// Its name in the library.
    pub name: String,
    /// With an underscore, such as `pt_BR`.
    pub language: String,
    /// The category, which templates that are made of it have, too.
    pub category: Category,
    /// The provider's word for its topic; empty when there is none.
    pub topic: String,
    /// The provider's word for its occasion; empty when there is none.
    pub usecase: String,
    /// The provider's words for the trades that it suits.
    pub industries: Vec<String>,
    /// Header, body, footer and buttons in the form of a template's parts, with the provider's examples.
    pub components: Value,
}

/// What a button of a template of the library asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibraryInput {
    /// The address of a page, which may end with a variable.
    Address,
    /// A phone number to call.
    Phone,
    /// How a code gets into an app.
    Code,
}

/// A button of a template of the library that asks for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LibraryButton<'a> {
    /// The words on it.
    pub text: &'a str,
    /// What it asks for.
    pub input: LibraryInput,
    /// Whether the address has a variable at its end.
    pub has_variable: bool,
}

impl LibraryTemplate {
    /// The buttons that ask for something, in their order.
    pub fn buttons(&self) -> Vec<LibraryButton<'_>> {
        let of_kind = |part: &&Value| part["type"] == "BUTTONS";
        let parts = self.components.as_array().into_iter().flatten().filter(of_kind);
        let buttons = parts.filter_map(|part| part["buttons"].as_array()).flatten();
        buttons.filter_map(asking).collect()
    }
}

fn asking(button: &Value) -> Option<LibraryButton<'_>> {
    let input = match button["type"].as_str()? {
        "URL" => LibraryInput::Address,
        "PHONE_NUMBER" => LibraryInput::Phone,
        "OTP" => LibraryInput::Code,
        _ => return None,
    };
    let address = button["url"].as_str().unwrap_or_default();
    let text = button["text"].as_str().unwrap_or_default();
    Some(LibraryButton { text, input, has_variable: address.contains("{{") })
}

/// A template of the library as it is asked for.
#[derive(Debug, Clone, Copy)]
pub struct LibraryFields<'a> {
    /// The name that the template gets in its account.
    pub name: &'a str,
    /// The language, with an underscore or a hyphen.
    pub language: &'a str,
    /// The category, in any case.
    pub category: &'a str,
    /// Further fields: those about the library, which go to the provider as they are, and its options.
    pub given: &'a Map<String, Value>,
}

/// A template of the library that an account asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct LibraryDraft {
    /// Lower-case letters, digits and underscores.
    pub name: String,
    /// With an underscore, such as `pt_BR`.
    pub language: String,
    /// One of [`super::TEMPLATE_CATEGORIES`].
    pub category: Category,
    /// The fields about the library, and the provider's options.
    given: Map<String, Value>,
}

impl LibraryDraft {
    /// A checked request. Whether the library has the template, and what it asks for, the provider knows.
    ///
    /// # Errors
    ///
    /// `invalid_template`, with the first field at fault.
    pub fn new(asked: LibraryFields<'_>) -> Result<Self, Refusal> {
        let (name, language, category) = identity(asked.name, asked.language, asked.category)?;
        let wrong = |field: &str, what: &str| Refusal::of(field, Code::InvalidTemplate, what);
        let in_library = asked.given.get(LIBRARY_NAME).and_then(Value::as_str).unwrap_or_default().trim();
        if in_library.is_empty() || in_library.len() > NAME {
            return Err(wrong(LIBRARY_NAME, "must be the name of a template of the library"));
        }
        let mut given = options(Some(asked.given));
        let mut bytes = 0;
        for (field, value) in asked.given.iter().filter(|(field, _)| field.starts_with(OF_LIBRARY)) {
            bytes += field.len() + value.to_string().len();
            if bytes > LONGEST {
                return Err(wrong(
                    field,
                    "is too long: what a template of the library asks for has at most 64 KiB",
                ));
            }
            given.insert(field.clone(), value.clone());
        }
        Ok(Self { name, language, category, given })
    }

    /// The fields of a request for it, in the provider's form.
    pub fn fields(&self) -> Value {
        let mut fields = json!({
            "name": self.name,
            "language": self.language,
            "category": self.category.as_str(),
        });
        for (name, value) in &self.given {
            fields[name.as_str()] = value.clone();
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(given: &Value) -> Result<LibraryDraft, Refusal> {
        let given = given.as_object().unwrap();
        LibraryDraft::new(LibraryFields { name: "my_update", language: "pt-BR", category: "utility", given })
    }

    #[test]
    fn what_is_about_the_library_goes_on_as_it_is_and_nothing_else() {
        let given = json!({
            "library_template_name": "delivery_update_1",
            "library_template_button_inputs": "[{'type': 'URL'}]",
            "library_template_body_inputs": { "add_contact_number": true },
            "message_send_ttl_seconds": 60,
            "components": [],
            "access_token": "secret",
        });
        let fields = asked(&given).unwrap().fields();
        assert_eq!(
            fields,
            json!({
                "name": "my_update", "language": "pt_BR", "category": "UTILITY",
                "library_template_name": "delivery_update_1",
                "library_template_button_inputs": "[{'type': 'URL'}]",
                "library_template_body_inputs": { "add_contact_number": true },
                "message_send_ttl_seconds": 60,
            })
        );
    }

    #[test]
    fn a_request_without_a_name_of_the_library_or_with_endless_inputs_is_refused() {
        let long = "x".repeat(LONGEST);
        for (given, field) in [
            (json!({}), LIBRARY_NAME),
            (json!({ "library_template_name": 7 }), LIBRARY_NAME),
            (json!({ "library_template_name": "a", "library_template_z": long }), "library_template_z"),
        ] {
            let refused = asked(&given).unwrap_err();
            assert_eq!((refused.code, refused.param.as_deref()), (Code::InvalidTemplate, Some(field)));
        }
    }

    #[test]
    fn buttons_ask_for_addresses_numbers_and_codes() {
        let components = json!([
            { "type": "BODY", "text": "Hi" },
            { "type": "BUTTONS", "buttons": [
                { "type": "QUICK_REPLY", "text": "Thanks" },
                { "type": "URL", "text": "Pay", "url": "https://x.example/{{1}}" },
                { "type": "PHONE_NUMBER", "text": "Call", "phone_number": "+1" },
                { "type": "OTP", "text": "Copy" },
            ]},
        ]);
        let template = LibraryTemplate {
            name: "a".to_owned(),
            language: "en".to_owned(),
            category: Category::Utility,
            topic: String::new(),
            usecase: String::new(),
            industries: Vec::new(),
            components,
        };
        let found: Vec<_> = template
            .buttons()
            .iter()
            .map(|button| (button.text, button.input, button.has_variable))
            .collect();
        let expected = [
            ("Pay", LibraryInput::Address, true),
            ("Call", LibraryInput::Phone, false),
            ("Copy", LibraryInput::Code, false),
        ];
        assert_eq!(found, expected);
    }
}

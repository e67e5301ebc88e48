//! The provider's library of templates, which all accounts have in common.

use serde::Deserialize;
use serde_json::{Value, json};

use super::CloudApi;
use super::lenient::without_nul;
use super::template::Paging;
use crate::Error;
use domain::template::{LibraryPage, LibraryQuery, LibraryTemplate};

/// The path below the version; it belongs to no account.
pub const LIBRARY: &str = "message_template_library";
/// Templates in a part: few enough for one answer.
const IN_A_PART: &str = "50";

#[derive(Deserialize)]
struct Shelf {
    data: Vec<Value>,
    paging: Option<Paging>,
}

impl CloudApi {
    /// A part of the provider's library.
    ///
    /// # Errors
    ///
    /// When the provider refuses the question or does not answer.
    pub async fn library(&self, query: &LibraryQuery<'_>) -> Result<LibraryPage, Error> {
        let LibraryQuery { name, search, topic, usecase, industry, language, after } = *query;
        let given = [
            ("name", name),
            ("search", search),
            ("topic", topic),
            ("usecase", usecase),
            ("industry", industry),
            ("language", language),
            ("after", after),
        ];
        let mut asked = vec![("limit", IN_A_PART)];
        asked.extend(given.iter().filter_map(|(name, value)| value.map(|value| (*name, value))));
        read_part(&self.ask(self.beside(LIBRARY), &asked).await?)
    }
}

fn read_part(bytes: &[u8]) -> Result<LibraryPage, Error> {
    let Shelf { data, paging } = serde_json::from_slice(bytes).map_err(|error| {
        Error::NoAnswer(format!("the provider's library of templates cannot be read: {error}"))
    })?;
    let after = paging.and_then(Paging::after);
    Ok(LibraryPage { templates: data.iter().filter_map(template).collect(), after })
}

/// A template of the library; `None` for what has no name or no words.
fn template(item: &Value) -> Option<LibraryTemplate> {
    let (name, body) = (text(item, "name"), text(item, "body"));
    if name.is_empty() || body.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    parts.extend(header(item));
    parts.push(with_examples(json!({ "type": "BODY", "text": body }), "body_text", item, "body_params"));
    let footer = text(item, "footer");
    if !footer.is_empty() {
        parts.push(json!({ "type": "FOOTER", "text": footer }));
    }
    let buttons: Vec<_> = item["buttons"].as_array().into_iter().flatten().map(button).collect();
    if !buttons.is_empty() {
        parts.push(json!({ "type": "BUTTONS", "buttons": buttons }));
    }
    Some(LibraryTemplate {
        name,
        language: text(item, "language").replace('-', "_"),
        category: text(item, "category").to_ascii_uppercase().as_str().into(),
        topic: text(item, "topic"),
        usecase: text(item, "usecase"),
        industries: texts(&item["industry"]),
        components: parts.into(),
    })
}

/// The header: a text, or an object with its format.
fn header(item: &Value) -> Option<Value> {
    let header = &item["header"];
    let format = ["format", "type"].map(|field| text(header, field).to_ascii_uppercase());
    let format = format.into_iter().find(|format| !format.is_empty());
    let words = header.as_str().map_or_else(|| text(header, "text"), without_nul);
    match format.as_deref() {
        None | Some("TEXT") if words.is_empty() => None,
        None | Some("TEXT") => {
            let part = json!({ "type": "HEADER", "format": "TEXT", "text": words });
            Some(with_examples(part, "header_text", item, "header_params"))
        }
        Some(format) => Some(json!({ "type": "HEADER", "format": format })),
    }
}

fn button(button: &Value) -> Value {
    let mut part = json!({ "type": text(button, "type").to_ascii_uppercase(), "text": text(button, "text") });
    for field in ["url", "phone_number"] {
        let value = text(button, field);
        if !value.is_empty() {
            part[field] = value.into();
        }
    }
    part
}

/// The part with the examples that the library has for its variables.
fn with_examples(mut part: Value, field: &str, item: &Value, params: &str) -> Value {
    let examples = texts(&item[params]);
    if !examples.is_empty() {
        // Those of a text are a row of their own.
        let row = if field == "body_text" { json!([examples]) } else { json!(examples) };
        part["example"] = json!({ field: row });
    }
    part
}

fn text(item: &Value, field: &str) -> String {
    item[field].as_str().map(str::trim).map(without_nul).unwrap_or_default()
}

/// The texts of a list; a single text is one of one.
fn texts(list: &Value) -> Vec<String> {
    let single = list.as_str().into_iter();
    let many = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    single.chain(many).map(without_nul).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::template::{Category, LibraryInput};

    #[test]
    fn a_part_of_the_library_is_read_in_the_form_of_templates() {
        let page = json!({
            "data": [
                {
                    "id": "7", "name": "balance_1", "language": "en-US", "category": "UTILITY", "topic": "PAYMENTS",
                    "usecase": "LOW_BALANCE_WARNING", "industry": ["FINANCIAL_SERVICES"], "header": "Low balance",
                    "body": "Hi {{1}}, you have {{2}}.", "body_params": ["Jim", "$7"],
                    "body_param_types": ["TEXT", "AMOUNT"],
                    "buttons": [
                        { "type": "url", "text": "Pay", "url": "https://x.example/{{1}}" },
                        { "type": "FLOW", "text": "Ask" },
                    ],
                },
                { "name": "statement_1", "language": "en", "category": "UTILITY", "body": "Here it is.", "industry": "RETAIL",
                  "header": { "format": "document" }, "footer": "Bye" },
                { "name": "without_words" },
            ],
            "paging": { "cursors": { "after": "Nw" }, "next": "https://graph.example/?after=Nw" },
        });
        let page = read_part(page.to_string().as_bytes()).unwrap();
        let [balance, statement] = &page.templates[..] else { panic!("{page:?}") };
        assert_eq!((page.after.as_deref(), balance.language.as_str()), (Some("Nw"), "en_US"));
        assert_eq!(
            (&balance.category, balance.usecase.as_str()),
            (&Category::Utility, "LOW_BALANCE_WARNING")
        );
        assert_eq!(
            balance.components,
            json!([
                { "type": "HEADER", "format": "TEXT", "text": "Low balance" },
                { "type": "BODY", "text": "Hi {{1}}, you have {{2}}.", "example": { "body_text": [["Jim", "$7"]] } },
                { "type": "BUTTONS", "buttons": [
                    { "type": "URL", "text": "Pay", "url": "https://x.example/{{1}}" },
                    { "type": "FLOW", "text": "Ask" },
                ]},
            ])
        );
        let [pay] = &balance.buttons()[..] else { panic!("a form asks for nothing") };
        assert_eq!((pay.input, pay.has_variable), (LibraryInput::Address, true));
        assert_eq!(statement.components[0], json!({ "type": "HEADER", "format": "DOCUMENT" }));
        assert_eq!(
            (statement.industries.as_slice(), &statement.components[2]["text"]),
            (&["RETAIL".to_owned()][..], &json!("Bye"))
        );
        assert!(read_part(b"[]").is_err());
    }
}

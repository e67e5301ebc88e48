//! Templates that people write. They are checked by the provider's rules before it is asked, so that a refusal names the part and
//! says what to do.

use serde_json::{Map, Value, json};

use super::shape::{Variables, placeholders};
use super::{Category, ParameterFormat};
use crate::error::{Code, Refusal};
use crate::payload::Node;

/// The categories that a template can have.
pub const TEMPLATE_CATEGORIES: [&str; 3] = ["MARKETING", "UTILITY", "AUTHENTICATION"];
/// The most buttons of a template.
pub const MOST_BUTTONS: usize = 10;
/// The most characters of a name, a language, a header or footer, the text, and a button.
const NAME: usize = 512;
const LANGUAGE: usize = 15;
const LINE: usize = 60;
const BODY: usize = 1_024;
const BUTTON: usize = 25;
const ADDRESS: usize = 2_000;
const NUMBER: usize = 20;
/// The most characters of an example.
const EXAMPLE: usize = 2_000;
/// The most bytes of all parts together.
const LONGEST: usize = 64 * 1024;
/// More than the provider has kinds of components.
const MOST_PARTS: usize = 8;
/// The buttons of which a template has at most so many.
const FEW: [(&str, usize); 3] = [("url", 2), ("phone_number", 1), ("copy_code", 1)];

/// What the provider takes besides; nothing of it changes what is sent from here.
const OPTIONS: [&str; 6] = [
    "allow_category_change",
    "cta_url_link_tracking_opted_out",
    "display_format",
    "is_primary_device_delivery_only",
    "message_send_ttl_seconds",
    "sub_category",
];
/// The most bytes of one of these that is a text.
const OPTION: usize = 64;

/// The words of a template as they were given.
#[derive(Debug, Clone, Copy)]
pub struct DraftFields<'a> {
    /// The name.
    pub name: &'a str,
    /// The language, with an underscore or a hyphen.
    pub language: &'a str,
    /// The category, in any case.
    pub category: &'a str,
    /// `POSITIONAL` or `NAMED`; `None` leaves it to the variables.
    pub parameter_format: Option<&'a str>,
    /// Header, body, footer and buttons in the provider's form.
    pub components: &'a Value,
    /// Further fields, of which the provider gets its options, such as how long a message is tried.
    pub options: Option<&'a Map<String, Value>>,
}

/// A template that follows the provider's rules, as far as they are known here.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateDraft {
    /// Lower-case letters, digits and underscores.
    pub name: String,
    /// With an underscore, such as `pt_BR`.
    pub language: String,
    /// One of [`TEMPLATE_CATEGORIES`].
    pub category: Category,
    /// The form of its variables.
    pub parameter_format: ParameterFormat,
    /// Its parts in the provider's form.
    pub components: Value,
    /// The provider's options; none for a template of web sessions.
    pub options: Map<String, Value>,
}

impl TemplateDraft {
    /// A checked template; `is_local` for one of web sessions, which is sent as a text and reviewed by nobody.
    ///
    /// # Errors
    ///
    /// `invalid_template`, with the first part at fault.
    pub fn new(given: DraftFields<'_>, is_local: bool) -> Result<Self, Refusal> {
        let (name, language, category) = identity(given.name, given.language, given.category)?;
        let known = |word: &str| ["POSITIONAL", "NAMED"].iter().any(|known| known.eq_ignore_ascii_case(word));
        if given.parameter_format.is_some_and(|word| !known(word)) {
            return Err(wrong("parameter_format", "must be POSITIONAL or NAMED"));
        }
        let parameter_format = ParameterFormat::read(given.parameter_format, given.components);
        // The text of a code that a web session sends is written by nobody else.
        let is_code = category == Category::Authentication && !is_local;
        let rules = Rules { format: parameter_format, is_local, is_code };
        if given.components.to_string().len() > LONGEST {
            return Err(wrong("components", "are too long: more than 64 KiB"));
        }
        rules.check(given.components)?;
        let components = given.components.clone();
        let options = if is_local { Map::new() } else { options(given.options) };
        Ok(Self { name, language, category, parameter_format, components, options })
    }

    /// The fields of a request for it, in the provider's form.
    pub fn fields(&self) -> Value {
        let mut fields = json!({
            "name": self.name,
            "language": self.language,
            "category": self.category.as_str(),
            "parameter_format": self.parameter_format.as_str(),
            "components": self.components,
        });
        for (name, value) in &self.options {
            fields[name.as_str()] = value.clone();
        }
        fields
    }
}

fn wrong(field: &str, what: &str) -> Refusal {
    Refusal::of(field, Code::InvalidTemplate, what)
}

/// The name, the language and the category of a new template, checked.
pub(super) fn identity(
    name: &str,
    language: &str,
    category: &str,
) -> Result<(String, String, Category), Refusal> {
    let name = name.trim();
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if name.is_empty() || name.len() > NAME || !name.bytes().all(is_name) {
        return Err(wrong("name", "must have 1 to 512 lower-case letters, digits and underscores"));
    }
    let language = language.trim().replace('-', "_");
    let is_language = language.len() <= LANGUAGE
        && language.split('_').all(|part| {
            part.len() >= 2 && part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
    if !is_language {
        return Err(wrong("language", "must be the code of a language, such as en, en_US or pt_BR"));
    }
    let category = category.trim().to_ascii_uppercase();
    if !TEMPLATE_CATEGORIES.contains(&category.as_str()) {
        return Err(wrong("category", "must be MARKETING, UTILITY or AUTHENTICATION"));
    }
    Ok((name.to_owned(), language, Category::from(category.as_str())))
}

/// The provider's options among these fields.
pub(super) fn options(given: Option<&Map<String, Value>>) -> Map<String, Value> {
    let is_short = |value: &Value| match value {
        Value::Bool(_) | Value::Number(_) => true,
        value => value.as_str().is_some_and(|text| text.len() <= OPTION),
    };
    let options = given.into_iter().flatten();
    let options = options.filter(|(name, value)| OPTIONS.contains(&name.as_str()) && is_short(value));
    options.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The distinct variables of a text as they are written in it: numbers, or names.
pub fn variable_names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for name in placeholders(text) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The rules for the parts of one template.
struct Rules {
    format: ParameterFormat,
    is_local: bool,
    /// Whether it is for codes, whose text the provider writes.
    is_code: bool,
}

impl Rules {
    fn check(&self, components: &Value) -> Result<(), Refusal> {
        let root = Node::root(Code::InvalidTemplate, "components", components);
        let mut kinds = Vec::new();
        for part in root.items(MOST_PARTS)? {
            let kind = part.word("type", LINE)?;
            if kinds.contains(&kind) {
                return Err(
                    part.refuse(format_args!("is a second {}: a template has one", kind.to_uppercase()))
                );
            }
            match kind.as_str() {
                "header" => self.header(&part)?,
                "body" => self.body(&part)?,
                "footer" if self.is_code && part.at("text").is_none() => {}
                "footer" => {
                    let text = part.text("text", LINE)?;
                    let mut variables = placeholders(text);
                    if variables.next().is_some() {
                        return Err(part.refuse("has a variable, which a footer cannot have"));
                    }
                }
                "buttons" => self.buttons(&part)?,
                _ if self.is_local => {
                    let what =
                        "is of a kind that a web session cannot send: give HEADER, BODY, FOOTER and BUTTONS";
                    return Err(part.refuse(what));
                }
                // The provider knows kinds that are not known here.
                _ => {}
            }
            kinds.push(kind);
        }
        match kinds.iter().any(|kind| kind == "body") {
            true => Ok(()),
            false => Err(root.refuse("has no BODY: give one with the text of the message")),
        }
    }

    fn header(&self, part: &Node<'_>) -> Result<(), Refusal> {
        let format =
            part.at("format").map_or_else(|| Ok("text".to_owned()), |_| part.word("format", LINE))?;
        if format == "text" {
            let variables = self.variables(part, part.text("text", LINE)?)?;
            if variables.0.len() > 1 {
                return Err(part.refuse("has more than one variable, of which a header has one at most"));
            }
            return self.examples(part, "header_text", &variables);
        }
        if self.is_local {
            return Err(part.refuse("is no text: the template of a web session has a text as its header"));
        }
        if !matches!(format.as_str(), "image" | "video" | "document") {
            return Ok(());
        }
        let handle = part.value()["example"]["header_handle"][0].as_str().unwrap_or_default();
        if handle.trim().is_empty() || handle.chars().count() > 4 * EXAMPLE {
            let remedy = "give a file of the library as `media:ID`, or the handle of an upload";
            return Err(part.missing("example.header_handle[0]", remedy));
        }
        Ok(())
    }

    fn body(&self, part: &Node<'_>) -> Result<(), Refusal> {
        if self.is_code && part.at("text").is_none() {
            return Ok(());
        }
        let text = part.text("text", BODY)?.trim();
        let variables = self.variables(part, text)?;
        // A text of web sessions is reviewed by nobody.
        if !self.is_local && (text.starts_with("{{") || text.ends_with("}}")) {
            return Err(part.refuse("begins or ends with a variable: put a word or a full stop there"));
        }
        self.examples(part, "body_text", &variables)
    }

    /// The variables of a text.
    fn variables(&self, part: &Node<'_>, text: &str) -> Result<Variables, Refusal> {
        let variables = Variables::of(text, self.format);
        let is_variable = |name: &str| variables.0.iter().any(|known| known == name);
        let strange = placeholders(text).find(|name| !is_variable(name));
        if let Some(name) = strange {
            let shown: String = name.chars().take(LINE).collect();
            return Err(part.refuse(format_args!(
                "has {{{{{shown}}}}}, which is no variable: write {{{{1}}}}, {{{{2}}}} and so on, or names of small letters, \
                 digits and underscores"
            )));
        }
        if text.matches("{{").count() != placeholders(text).count() {
            return Err(part.refuse("has a `{{` that is not closed"));
        }
        match self.format {
            ParameterFormat::Positional => {
                let count = variables.0.len();
                let has = |number: usize| variables.0.iter().any(|name| *name == number.to_string());
                if (1..=count).all(has) {
                    return Ok(variables);
                }
                Err(part.refuse("must number its variables {{1}}, {{2}} and so on, without a gap"))
            }
            ParameterFormat::Named => {
                let is_small = |name: &String| !name.bytes().any(|byte| byte.is_ascii_uppercase());
                if variables.0.iter().all(is_small) {
                    return Ok(variables);
                }
                Err(part.refuse("has a variable with capital letters: its name must have small ones"))
            }
        }
    }

    /// Each variable needs an example, by which the provider's people judge the text.
    fn examples(&self, part: &Node<'_>, field: &str, variables: &Variables) -> Result<(), Refusal> {
        if self.is_local || variables.0.is_empty() {
            return Ok(());
        }
        let example = &part.value()["example"];
        let is_given = |value: &Value| {
            value.as_str().is_some_and(|text| !text.trim().is_empty() && text.chars().count() <= EXAMPLE)
        };
        let is_complete = match self.format {
            ParameterFormat::Positional => {
                let row = example[field].as_array().map_or(&[][..], Vec::as_slice);
                let row = row.first().and_then(Value::as_array).map_or(row, Vec::as_slice);
                row.len() == variables.0.len() && row.iter().all(is_given)
            }
            ParameterFormat::Named => {
                let given = example[format!("{field}_named_params")].as_array();
                let of = |name: &String| {
                    let mut given = given.into_iter().flatten();
                    given.any(|one| one["param_name"] == **name && is_given(&one["example"]))
                };
                variables.0.iter().all(of)
            }
        };
        if is_complete {
            return Ok(());
        }
        let field = match self.format {
            ParameterFormat::Positional => format!("example.{field}"),
            ParameterFormat::Named => format!("example.{field}_named_params"),
        };
        Err(part.missing(
            &field,
            format_args!("give one example for each of the {} variables", variables.0.len()),
        ))
    }

    fn buttons(&self, part: &Node<'_>) -> Result<(), Refusal> {
        let buttons = part.items_at("buttons", MOST_BUTTONS)?;
        let mut kinds = Vec::with_capacity(buttons.len());
        for button in &buttons {
            let kind = button.word("type", LINE)?;
            match kind.as_str() {
                "quick_reply" => {
                    button.text("text", BUTTON)?;
                }
                "phone_number" => {
                    button.text("text", BUTTON)?;
                    button.text("phone_number", NUMBER)?;
                }
                "url" => {
                    button.text("text", BUTTON)?;
                    self.address(button)?;
                }
                _ if self.is_local => {
                    let what =
                        "is of a kind that a web session cannot send: give QUICK_REPLY, URL and PHONE_NUMBER";
                    return Err(button.refuse(what));
                }
                _ => {}
            }
            let most = FEW.iter().find(|(known, _)| *known == kind).map_or(MOST_BUTTONS, |(_, most)| *most);
            if kinds.iter().filter(|known| **known == kind).count() >= most {
                let kind = kind.to_uppercase();
                return Err(
                    button.refuse(format_args!("is one too many: a template has at most {most} of {kind}"))
                );
            }
            kinds.push(kind);
        }
        Ok(())
    }

    fn address(&self, button: &Node<'_>) -> Result<(), Refusal> {
        let address = button.text("url", ADDRESS)?.trim();
        if !address.starts_with("https://") && !address.starts_with("http://") {
            return Err(button.refuse("has a `url` that does not begin with https://"));
        }
        let variables = placeholders(address).count();
        if variables == 0 {
            return Ok(());
        }
        if variables > 1 || !address.ends_with("}}") {
            return Err(button.refuse("has a `url` whose variable is not one at its end"));
        }
        let example =
            button.value()["example"].as_array().is_some_and(|row| row.iter().any(Value::is_string));
        let example = example || button.value()["example"].is_string();
        if example || self.is_local {
            return Ok(());
        }
        Err(button.missing("example", "give the whole address as an example"))
    }
}

#[cfg(test)]
mod tests;

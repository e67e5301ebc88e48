//! The short form of a template's values: `components` that are built from the template's own variables, each of which
//! stands for a value of the recipient.
//!
//! A variable with a name has the value of that name. Those of a text with numbers have the values `1`, `2` and so on; the
//! header's, if it has one, and its file have `header`; the end of a button's address has `button.0`, by its position. A list
//! of names gives these in the order header, text, buttons.

use super::component::{Component, Media, Parameter, Source};
use super::shape::{Button, Header, Shape, Variables};
use super::{ParameterFormat, Template};
use crate::error::{Code, Refusal};
use crate::values::{BUTTON, is_value_name};

/// The name of the value for a header that is a file, or whose variable has a number.
const HEADER: &str = "header";

/// Which values the variables of a template have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShortForm {
    /// Those with the names of the variables.
    ByName,
    /// Those with these names, in the order of the variables.
    Listed(Vec<String>),
}

/// A variable of a template, for people and files that give its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The name of its value.
    pub value: String,
    /// Whether it is the address of a file.
    pub is_link: bool,
}

/// The variables of a template, in the order header, text, buttons: the columns of a file for it.
///
/// # Errors
///
/// `invalid_components` for a template that needs more than texts and the file of its header, such as a carousel.
pub fn variables(template: &Template) -> Result<Vec<Variable>, Refusal> {
    let mut variables = Vec::new();
    build(template, |name, is_link| {
        if !variables.iter().any(|known: &Variable| known.value == name) {
            variables.push(Variable { value: name.to_owned(), is_link });
        }
        name.to_owned()
    })?;
    Ok(variables)
}

impl ShortForm {
    /// The `components` of this template.
    ///
    /// # Errors
    ///
    /// `invalid_components` for a template that needs more than texts and the file of its header, and for a list of another
    /// length.
    pub(super) fn components(&self, template: &Template) -> Result<Vec<Component>, Refusal> {
        let Self::Listed(names) = self else { return build(template, |name, _| name.to_owned()) };
        let mut given = names.iter();
        let mut count = 0;
        let components = build(template, |_, _| {
            count += 1;
            given.next().cloned().unwrap_or_default()
        })?;
        if count == names.len() {
            return Ok(components);
        }
        let what = format_args!(
            "has {} names, but the template has {count} variables, counting header, text and buttons",
            names.len()
        );
        Err(Refusal::of("parameters", Code::InvalidComponents, what))
    }
}

/// Builds the components; `name` gives the name of the value for a variable.
fn build(template: &Template, mut name: impl FnMut(&str, bool) -> String) -> Result<Vec<Component>, Refusal> {
    let long = |what: &str| {
        let sentence = format!(
            "the template {} needs `components`: {what} cannot be filled from values by name",
            template.name
        );
        Refusal::new(Code::InvalidComponents, sentence).about("components")
    };
    let Some(shape) = Shape::read(template) else { return Err(long("its description")) };
    let Shape { header, body, buttons, cards, has_deadline, other_kinds: _, format } = shape;
    if !cards.is_empty() {
        return Err(long("a carousel"));
    }
    if has_deadline {
        return Err(long("the end of an offer"));
    }
    let mut placeholder = |variable: &str, is_link: bool| {
        let name = name(variable, is_link);
        // A name that is none is that of a variable of the provider's, which values cannot have.
        if name.is_empty() || is_value_name(&name) {
            Ok(format!("{{{{value.{name}}}}}"))
        } else {
            Err(long(&format!("the variable `{name}`")))
        }
    };
    let mut components = Vec::new();
    let parameters = match header {
        Header::Absent => Vec::new(),
        Header::Text(variables) => texts(&variables, format, |variable| match format {
            ParameterFormat::Positional => placeholder(HEADER, false),
            ParameterFormat::Named => placeholder(variable, false),
        })?,
        Header::Media(kind) => {
            let file = Media { source: Source::Link(placeholder(HEADER, true)?), filename: None };
            vec![match kind {
                "image" => Parameter::Image(file),
                "video" => Parameter::Video(file),
                _ => Parameter::Document(file),
            }]
        }
        Header::Location => return Err(long("the place in its header")),
        Header::Product | Header::Unchecked => return Err(long("its header")),
    };
    components.extend((!parameters.is_empty()).then_some(Component::Header { parameters }));
    let parameters = texts(&body, format, |variable| placeholder(variable, false))?;
    components.extend((!parameters.is_empty()).then_some(Component::Body { parameters }));
    for (index, button) in (0_u8..).zip(buttons) {
        let (sub_type, parameters) = match button {
            Button::Fixed | Button::QuickReply => continue,
            Button::Link => {
                let text = placeholder(&format!("{BUTTON}{index}"), false)?;
                ("url", vec![Parameter::Text { text, parameter_name: None }])
            }
            Button::Flow => ("flow", Vec::new()),
            Button::Catalog => ("catalog", Vec::new()),
            Button::CopyCode | Button::ProductList | Button::Unchecked => {
                return Err(long(&format!("the button {index}")));
            }
        };
        components.push(Component::Button { sub_type: sub_type.to_owned(), index, parameters });
    }
    Ok(components)
}

fn texts(
    Variables(variables): &Variables,
    format: ParameterFormat,
    mut placeholder: impl FnMut(&str) -> Result<String, Refusal>,
) -> Result<Vec<Parameter>, Refusal> {
    let text = |variable: &String| {
        let parameter_name = (format == ParameterFormat::Named).then(|| variable.clone());
        Ok(Parameter::Text { text: placeholder(variable)?, parameter_name })
    };
    variables.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::template::{Category, Status};

    fn template(components: Value) -> Template {
        Template {
            id: 7,
            name: "order".to_owned(),
            language: "en".to_owned(),
            category: Category::Utility,
            status: Status::Approved,
            parameter_format: ParameterFormat::read(None, &components),
            components,
        }
    }

    fn body(text: &str) -> Value {
        json!({"type": "BODY", "text": text})
    }

    #[test]
    fn the_variables_of_a_template_stand_for_values_in_their_order() {
        let buttons = json!({"type": "BUTTONS", "buttons": [
            {"type": "QUICK_REPLY", "text": "Stop"}, {"type": "URL", "text": "See", "url": "https://a.example/{{1}}"}]});
        let numbered =
            template(json!([{"type": "HEADER", "format": "IMAGE"}, body("{{1}}: {{2}}"), buttons]));
        let names: Vec<_> =
            variables(&numbered).unwrap().into_iter().map(|it| (it.value, it.is_link)).collect();
        let expected = [("header", true), ("1", false), ("2", false), ("button.1", false)];
        assert_eq!(names, expected.map(|(name, is_link)| (name.to_owned(), is_link)));
        let components = ShortForm::ByName.components(&numbered).unwrap();
        assert_eq!(numbered.check_components(&components), Ok(()));
        let listed =
            |names: &[&str]| ShortForm::Listed(names.iter().map(|name| (*name).to_owned()).collect());
        let components = listed(&["photo", "name", "order", "order"]).components(&numbered).unwrap();
        let json = serde_json::to_string(&components).unwrap();
        assert!(["{{value.photo}}", "{{value.name}}"].iter().all(|name| json.contains(name)), "{json}");
        assert!(listed(&["name"]).components(&numbered).is_err());
        let named = template(json!([body("Dear {{first_name}}")]));
        assert_eq!(variables(&named).unwrap()[0].value, "first_name");
        assert_eq!(named.check_components(&ShortForm::ByName.components(&named).unwrap()), Ok(()));
    }

    #[test]
    fn a_template_that_needs_more_than_texts_needs_components() {
        for header in [json!({"type": "HEADER", "format": "LOCATION"}), body("{{First}}")] {
            let refusal = ShortForm::ByName.components(&template(json!([header]))).unwrap_err();
            assert_eq!(refusal.code, Code::InvalidComponents);
        }
    }
}

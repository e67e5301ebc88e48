//! Checks that the values of a request are those that a template needs.

use std::fmt;

use super::ParameterFormat;
use super::component::{Component, Parameter};
use super::shape::{Button, Header, Shape, Variables};
use crate::error::{Code, Refusal};

/// Checks each part of the template against its given values, and all given values against the template.
pub(super) fn check(shape: &Shape, given: &[Component]) -> Result<(), Refusal> {
    let Given { header, body, buttons } = Given::sort(shape, given)?;
    check_header(shape, header)?;
    check_wording(&Part::Body, &shape.body, shape.format, body)?;
    for (index, button) in shape.buttons.iter().enumerate() {
        let given = buttons.iter().find(|given| usize::from(given.index) == index);
        check_button(index, button, given)?;
    }
    let count = shape.buttons.len();
    match buttons.iter().find(|given| usize::from(given.index) >= count) {
        Some(beyond) => Err(refuse(
            &Part::Button(beyond.index.into()),
            format_args!("is given, but the template has {count} buttons, counted from 0"),
        )),
        None => Ok(()),
    }
}

/// A part of the template, as a refusal calls it.
#[derive(Clone, Copy)]
enum Part {
    Header,
    Body,
    Button(usize),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("header"),
            Self::Body => f.write_str("body"),
            Self::Button(index) => write!(f, "button {index}"),
        }
    }
}

/// The request's components, each kind at its place. Parts without values count as not given.
struct Given<'a> {
    header: &'a [Parameter],
    body: &'a [Parameter],
    buttons: Vec<GivenButton<'a>>,
}

struct GivenButton<'a> {
    index: u8,
    sub_type: &'a str,
    parameters: &'a [Parameter],
}

impl<'a> Given<'a> {
    fn sort(shape: &Shape, components: &'a [Component]) -> Result<Self, Refusal> {
        let mut sorted = Self { header: &[], body: &[], buttons: Vec::new() };
        for component in components.iter().filter(|component| !component.is_idle()) {
            match component {
                Component::Header { parameters } => once(&Part::Header, &mut sorted.header, parameters)?,
                Component::Body { parameters } => once(&Part::Body, &mut sorted.body, parameters)?,
                Component::Button { sub_type, index, parameters } => {
                    if sorted.buttons.iter().any(|known| known.index == *index) {
                        return Err(twice(&Part::Button((*index).into())));
                    }
                    sorted.buttons.push(GivenButton { index: *index, sub_type, parameters });
                }
                Component::Other(value) => {
                    let kind =
                        value.get("type").and_then(serde_json::Value::as_str).unwrap_or_default().trim();
                    if !shape.other_kinds.iter().any(|known| known.eq_ignore_ascii_case(kind)) {
                        return Err(invalid(format!(
                            "`components` has one of type `{}`, which the template does not have: use header, body or button",
                            shown(kind)
                        )));
                    }
                }
            }
        }
        Ok(sorted)
    }
}

fn once<'a>(part: &Part, slot: &mut &'a [Parameter], given: &'a [Parameter]) -> Result<(), Refusal> {
    if !slot.is_empty() {
        return Err(twice(part));
    }
    *slot = given;
    Ok(())
}

fn check_header(shape: &Shape, given: &[Parameter]) -> Result<(), Refusal> {
    match &shape.header {
        Header::Absent if given.is_empty() => Ok(()),
        Header::Absent => Err(refuse(&Part::Header, "is given, but the template has no header")),
        Header::Text(variables) => check_wording(&Part::Header, variables, shape.format, given),
        Header::Media(kind) => check_single(&Part::Header, kind, given),
        Header::Location => check_single(&Part::Header, "location", given),
        Header::Unchecked => Ok(()),
    }
}

/// The values for a text's variables: as many as there are, or, when they have names, those names.
fn check_wording(
    part: &Part,
    variables: &Variables,
    format: ParameterFormat,
    given: &[Parameter],
) -> Result<(), Refusal> {
    let Variables(expected) = variables;
    if expected.len() != given.len() {
        return Err(refuse(
            part,
            format_args!("expects {}, but {} given", counted(expected.len()), were(given.len())),
        ));
    }
    for (index, parameter) in given.iter().enumerate() {
        let position = index + 1;
        let Some(name) = parameter.wording() else {
            return Err(refuse(
                part,
                format_args!(
                    "expects text for parameter {position}, but it is of type `{}`",
                    shown(parameter.kind())
                ),
            ));
        };
        match (format, name) {
            (ParameterFormat::Positional, None) => {}
            (ParameterFormat::Positional, Some(name)) => {
                let name = shown(name);
                return Err(refuse(
                    part,
                    format_args!(
                        "numbers its variables: leave the `parameter_name` `{name}` out and keep their order"
                    ),
                ));
            }
            (ParameterFormat::Named, name) => {
                check_name(part, expected, position, name)?;
                if given.iter().take(index).any(|earlier| earlier.wording() == Some(name)) {
                    return Err(refuse(
                        part,
                        format_args!("has `{}` twice", shown(name.unwrap_or_default())),
                    ));
                }
            }
        }
    }
    Ok(())
}

fn check_name(part: &Part, expected: &[String], position: usize, name: Option<&str>) -> Result<(), Refusal> {
    let names = expected.join(", ");
    match name {
        Some(name) if expected.iter().any(|known| known == name) => Ok(()),
        Some(name) => {
            Err(refuse(part, format_args!("has no variable `{}`: its variables are {names}", shown(name))))
        }
        None => Err(refuse(
            part,
            format_args!("names its variables ({names}): parameter {position} needs its `parameter_name`"),
        )),
    }
}

fn check_button(index: usize, button: &Button, given: Option<&GivenButton<'_>>) -> Result<(), Refusal> {
    let part = Part::Button(index);
    let (sub_type, parameter, optional) = match button {
        Button::Unchecked => return Ok(()),
        Button::Fixed => {
            return match given {
                Some(_) => {
                    Err(refuse(&part, "is given, but this button of the template has nothing to fill in"))
                }
                None => Ok(()),
            };
        }
        Button::Link => ("url", "text", false),
        Button::CopyCode => ("copy_code", "coupon_code", false),
        Button::QuickReply => ("quick_reply", "payload", true),
    };
    match given {
        None if optional => Ok(()),
        None => Err(refuse(
            &part,
            format_args!(
                "is missing: the template needs a button of sub_type `{sub_type}` with one {parameter} parameter"
            ),
        )),
        Some(given) if given.sub_type != sub_type => Err(refuse(
            &part,
            format_args!("must have the sub_type `{sub_type}`, not `{}`", shown(given.sub_type)),
        )),
        Some(given) => check_single(&part, parameter, given.parameters),
    }
}

/// Exactly one value, of this kind.
fn check_single(part: &Part, kind: &str, given: &[Parameter]) -> Result<(), Refusal> {
    match given {
        [only] if only.kind() == kind => Ok(()),
        [other] => Err(refuse(
            part,
            format_args!("expects one {kind} parameter, but one of type `{}` is given", shown(other.kind())),
        )),
        _ => Err(refuse(part, format_args!("expects one {kind} parameter, but {} given", were(given.len())))),
    }
}

fn counted(count: usize) -> String {
    if count == 1 { "1 parameter".to_owned() } else { format!("{count} parameters") }
}

fn were(count: usize) -> String {
    if count == 1 { "1 is".to_owned() } else { format!("{count} are") }
}

/// A client's word, short enough for a sentence.
fn shown(word: &str) -> String {
    word.chars().take(40).collect()
}

fn twice(part: &Part) -> Refusal {
    refuse(part, "is given twice: give all its parameters in one component")
}

fn refuse(part: &Part, what: impl fmt::Display) -> Refusal {
    invalid(format!("`components`: the {part} {what}"))
}

fn invalid(sentence: String) -> Refusal {
    Refusal::new(Code::InvalidComponents, sentence)
}

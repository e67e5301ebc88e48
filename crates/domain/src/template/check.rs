//! Checks that the values of a request are those that a template needs.

use std::fmt;

use serde_json::Value;

use super::ParameterFormat;
use super::component::{Card, Component, Parameter};
use super::shape::{Button, Header, Shape, Variables};
use crate::error::{Code, Refusal};

/// Checks each part of the template against its given values, and all given values against the template.
pub(super) fn check(shape: &Shape, given: &[Component]) -> Result<(), Refusal> {
    let Given { cards, deadline, .. } = check_parts(None, shape, given)?;
    if shape.has_deadline && deadline.is_empty() {
        let what = "is missing: give one limited_time_offer parameter with its `expiration_time_ms`";
        return Err(refuse(None, Part::Deadline, what));
    }
    if !deadline.is_empty() {
        check_single(None, Part::Deadline, "limited_time_offer", deadline)?;
    }
    check_cards(&shape.cards, cards)
}

/// Whether header or text get another number of values than they have variables.
pub(super) fn is_miscounted(shape: &Shape, given: &[Component]) -> bool {
    let (mut header, mut body) = (0, 0);
    for component in given {
        match component {
            Component::Header { parameters } => header = parameters.len(),
            Component::Body { parameters } => body = parameters.len(),
            _ => {}
        }
    }
    let Variables(of_body) = &shape.body;
    let is_header_wrong = match &shape.header {
        Header::Absent => header > 0,
        Header::Text(Variables(of_header)) => header != of_header.len(),
        _ => false,
    };
    is_header_wrong || body != of_body.len()
}

/// The values of each card. A card whose template needs nothing may be left out.
fn check_cards(shapes: &[Shape], given: &[Card]) -> Result<(), Refusal> {
    for (position, shape) in (0_u8..).zip(shapes) {
        let mut of_card = given.iter().filter(|card| card.card_index == position);
        let components = of_card.next().map_or(&[][..], |card| card.components.as_slice());
        if of_card.next().is_some() {
            return Err(invalid(format!("`components`: the card {position} is given twice")));
        }
        check_parts(Some(position), shape, components)?;
    }
    let beyond = given.iter().find(|card| usize::from(card.card_index) >= shapes.len());
    match beyond {
        Some(card) if !shapes.is_empty() => Err(invalid(format!(
            "`components`: the card {} is given, but the template has {} cards, counted from 0",
            card.card_index,
            shapes.len()
        ))),
        _ => Ok(()),
    }
}

/// Checks header, body and buttons, of the template itself or of one of its cards. Returns the values of the other
/// parts.
fn check_parts<'a>(card: Option<u8>, shape: &Shape, given: &'a [Component]) -> Result<Given<'a>, Refusal> {
    let given = Given::sort(card, shape, given)?;
    check_header(card, shape, given.header)?;
    check_wording(card, Part::Body, &shape.body, shape.format, given.body)?;
    for (index, button) in shape.buttons.iter().enumerate() {
        let given = given.buttons.iter().find(|given| usize::from(given.index) == index);
        check_button(card, index, button, given)?;
    }
    let count = shape.buttons.len();
    match given.buttons.iter().find(|given| usize::from(given.index) >= count) {
        Some(beyond) => Err(refuse(
            card,
            Part::Button(beyond.index.into()),
            format_args!("is given, but the template has {count} buttons, counted from 0"),
        )),
        None => Ok(given),
    }
}

/// A part of the template, as a refusal calls it.
#[derive(Clone, Copy)]
enum Part {
    Header,
    Body,
    Button(usize),
    Carousel,
    Deadline,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("header"),
            Self::Body => f.write_str("body"),
            Self::Button(index) => write!(f, "button {index}"),
            Self::Carousel => f.write_str("carousel"),
            Self::Deadline => f.write_str("limited-time offer"),
        }
    }
}

/// The request's components, each kind at its place. Parts without values count as not given.
struct Given<'a> {
    header: &'a [Parameter],
    body: &'a [Parameter],
    buttons: Vec<GivenButton<'a>>,
    cards: &'a [Card],
    deadline: &'a [Parameter],
}

struct GivenButton<'a> {
    index: u8,
    sub_type: &'a str,
    parameters: &'a [Parameter],
}

impl<'a> Given<'a> {
    fn sort(card: Option<u8>, shape: &Shape, components: &'a [Component]) -> Result<Self, Refusal> {
        let mut sorted = Self { header: &[], body: &[], buttons: Vec::new(), cards: &[], deadline: &[] };
        for component in components.iter().filter(|component| !component.is_idle()) {
            match component {
                Component::Header { parameters } => once(card, Part::Header, &mut sorted.header, parameters)?,
                Component::Body { parameters } => once(card, Part::Body, &mut sorted.body, parameters)?,
                Component::Button { sub_type, index, parameters } => {
                    if sorted.buttons.iter().any(|known| known.index == *index) {
                        return Err(twice(card, Part::Button((*index).into())));
                    }
                    sorted.buttons.push(GivenButton { index: *index, sub_type, parameters });
                }
                Component::Carousel { cards } => {
                    if shape.cards.is_empty() {
                        expect_kind(shape, "carousel")?;
                    }
                    once(card, Part::Carousel, &mut sorted.cards, cards)?;
                }
                Component::LimitedTimeOffer { parameters } => {
                    expect_kind(shape, "limited_time_offer")?;
                    once(card, Part::Deadline, &mut sorted.deadline, parameters)?;
                }
                Component::Other(value) => {
                    expect_kind(shape, value.get("type").and_then(Value::as_str).unwrap_or_default().trim())?;
                }
            }
        }
        Ok(sorted)
    }
}

/// Whether the template has a component of this kind.
fn expect_kind(shape: &Shape, kind: &str) -> Result<(), Refusal> {
    if shape.other_kinds.iter().any(|known| known.eq_ignore_ascii_case(kind)) {
        return Ok(());
    }
    Err(invalid(format!(
        "`components` has one of type `{}`, which the template does not have: use header, body or button",
        shown(kind)
    )))
}

fn once<'a, T>(card: Option<u8>, part: Part, slot: &mut &'a [T], given: &'a [T]) -> Result<(), Refusal> {
    if !slot.is_empty() {
        return Err(twice(card, part));
    }
    *slot = given;
    Ok(())
}

fn check_header(card: Option<u8>, shape: &Shape, given: &[Parameter]) -> Result<(), Refusal> {
    match &shape.header {
        Header::Absent if given.is_empty() => Ok(()),
        Header::Absent => Err(refuse(card, Part::Header, "is given, but the template has no header")),
        Header::Text(variables) => check_wording(card, Part::Header, variables, shape.format, given),
        Header::Media(kind) => check_single(card, Part::Header, kind, given),
        Header::Location => check_single(card, Part::Header, "location", given),
        Header::Product => check_single(card, Part::Header, "product", given),
        Header::Unchecked => Ok(()),
    }
}

/// The values for a text's variables: as many as there are, or, when they have names, those names.
fn check_wording(
    card: Option<u8>,
    part: Part,
    variables: &Variables,
    format: ParameterFormat,
    given: &[Parameter],
) -> Result<(), Refusal> {
    let Variables(expected) = variables;
    let refuse = |what: fmt::Arguments<'_>| Err(refuse(card, part, what));
    if expected.len() != given.len() {
        return refuse(format_args!("expects {}, but {} given", counted(expected.len()), were(given.len())));
    }
    for (index, parameter) in given.iter().enumerate() {
        let position = index + 1;
        let Some(name) = parameter.wording() else {
            let kind = shown(parameter.kind());
            return refuse(format_args!("expects text for parameter {position}, but it is of type `{kind}`"));
        };
        match (format, name) {
            (ParameterFormat::Positional, None) => {}
            (ParameterFormat::Positional, Some(name)) => {
                let name = shown(name);
                return refuse(format_args!(
                    "numbers its variables: leave the `parameter_name` `{name}` out and keep their order"
                ));
            }
            (ParameterFormat::Named, None) => {
                let names = expected.join(", ");
                return refuse(format_args!(
                    "names its variables ({names}): parameter {position} needs its `parameter_name`"
                ));
            }
            (ParameterFormat::Named, Some(name)) if !expected.iter().any(|known| known == name) => {
                let (name, names) = (shown(name), expected.join(", "));
                return refuse(format_args!("has no variable `{name}`: its variables are {names}"));
            }
            (ParameterFormat::Named, name) => {
                if given.iter().take(index).any(|earlier| earlier.wording() == Some(name)) {
                    return refuse(format_args!("has `{}` twice", shown(name.unwrap_or_default())));
                }
            }
        }
    }
    Ok(())
}

/// The needs of a button, in the words of a request.
struct Needs {
    sub_type: &'static str,
    parameter: &'static str,
    /// Whether the button must be named.
    is_named: bool,
    /// Whether it may be named without a parameter.
    may_be_bare: bool,
}

impl Needs {
    /// The needs of a kind of button; `None` if there are none.
    const fn of(button: &Button) -> Option<Self> {
        let (sub_type, parameter, is_named, may_be_bare) = match button {
            Button::Fixed | Button::Unchecked => return None,
            Button::Link => ("url", "text", true, false),
            Button::CopyCode => ("copy_code", "coupon_code", true, false),
            Button::QuickReply => ("quick_reply", "payload", false, false),
            Button::Flow => ("flow", "action", true, true),
            Button::Catalog => ("catalog", "action", true, true),
            Button::ProductList => ("mpm", "action", true, false),
        };
        Some(Self { sub_type, parameter, is_named, may_be_bare })
    }
}

fn check_button(
    card: Option<u8>,
    index: usize,
    button: &Button,
    given: Option<&GivenButton<'_>>,
) -> Result<(), Refusal> {
    let part = Part::Button(index);
    let Some(Needs { sub_type, parameter, is_named, may_be_bare }) = Needs::of(button) else {
        return match given {
            Some(_) if *button == Button::Fixed => {
                Err(refuse(card, part, "is given, but this button of the template has nothing to fill in"))
            }
            _ => Ok(()),
        };
    };
    match given {
        None if !is_named => Ok(()),
        None if may_be_bare => Err(refuse(
            card,
            part,
            format_args!(
                "is missing: the template needs a button of sub_type `{sub_type}`, with or without parameters"
            ),
        )),
        None => Err(refuse(
            card,
            part,
            format_args!(
                "is missing: the template needs a button of sub_type `{sub_type}` with one {parameter} parameter"
            ),
        )),
        Some(given) if given.sub_type != sub_type => Err(refuse(
            card,
            part,
            format_args!("must have the sub_type `{sub_type}`, not `{}`", shown(given.sub_type)),
        )),
        Some(given) if may_be_bare && given.parameters.is_empty() => Ok(()),
        Some(given) => check_single(card, part, parameter, given.parameters),
    }
}

/// Exactly one value, of this kind.
fn check_single(card: Option<u8>, part: Part, kind: &str, given: &[Parameter]) -> Result<(), Refusal> {
    let refuse = |what: fmt::Arguments<'_>| Err(refuse(card, part, what));
    match given {
        [only] if only.kind().eq_ignore_ascii_case(kind) => match missing_content(only) {
            Some(what) => refuse(format_args!("needs {what}")),
            None => Ok(()),
        },
        [other] => {
            let given = shown(other.kind());
            refuse(format_args!("expects one {kind} parameter, but one of type `{given}` is given"))
        }
        _ => refuse(format_args!("expects one {kind} parameter, but {} given", were(given.len()))),
    }
}

/// What a value of a kind that is not read lacks, so that the provider would refuse it for each recipient.
fn missing_content(given: &Parameter) -> Option<&'static str> {
    let Parameter::Other(value) = given else { return None };
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
    let is_filled = |list: &Value| list.as_array().is_some_and(|list| !list.is_empty());
    match given.kind().to_ascii_lowercase().as_str() {
        "limited_time_offer" => {
            let end = &value["limited_time_offer"]["expiration_time_ms"];
            (!end.as_i64().is_some_and(i64::is_positive))
                .then_some("its `expiration_time_ms`, in Unix milliseconds")
        }
        "product" => {
            let product = &value["product"];
            let is_named = is_text(&product["product_retailer_id"]) && is_text(&product["catalog_id"]);
            (!is_named).then_some("a `product_retailer_id` and a `catalog_id`")
        }
        "action" if !value["action"].is_object() => Some("an `action`"),
        "action" => {
            let sections = &value["action"]["sections"];
            let is_whole =
                |section: &Value| is_text(&section["title"]) && is_filled(&section["product_items"]);
            let are_whole =
                sections.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(is_whole));
            (!sections.is_null() && !are_whole)
                .then_some("`sections` with a `title` and `product_items` each")
        }
        _ => None,
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

fn twice(card: Option<u8>, part: Part) -> Refusal {
    refuse(card, part, "is given twice: give all its parameters in one component")
}

fn refuse(card: Option<u8>, part: Part, what: impl fmt::Display) -> Refusal {
    invalid(match card {
        Some(card) => format!("`components`: the {part} of card {card} {what}"),
        None => format!("`components`: the {part} {what}"),
    })
}

fn invalid(sentence: String) -> Refusal {
    Refusal::new(Code::InvalidComponents, sentence).about("components")
}

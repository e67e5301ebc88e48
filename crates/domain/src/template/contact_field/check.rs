//! Whether the placeholders of a request are ones that can be filled in, where they stand.

use super::places::{TextPlace, visit};
use super::{
    Component, ContactField, OPEN, Piece, PlaceholderSubject, Placeholders, SHOWN_CHARS, has_contact_fields,
    is_in, pieces,
};
use crate::error::{Code, Refusal};
use crate::own_field::{FieldKey, OwnField, find};

/// Whether every `{{` of the values begins a contact's field, in a value that may have fields. Elsewhere it would be sent as
/// it is.
///
/// # Errors
///
/// `invalid_components` with the first that does not.
pub fn check(components: &[Component]) -> Result<(), Refusal> {
    check_all(components, Placeholders::Contact)
}

/// Like [`check`], for these placeholders. Links of files may have values too, after an address or at their beginning.
///
/// # Errors
///
/// Those of [`check`].
pub fn check_all(components: &[Component], which: Placeholders) -> Result<(), Refusal> {
    visit(components, &mut |text, place| match place {
        TextPlace::Text | TextPlace::Address => check_text_of("components", text, which),
        TextPlace::Link if which == Placeholders::All => check_link("components", text),
        TextPlace::Link | TextPlace::Other if is_in(text) => Err(misplaced(text)),
        TextPlace::Link | TextPlace::Other => Ok(()),
    })
}

fn misplaced(text: &str) -> Refusal {
    let shown: String = text.chars().take(SHOWN_CHARS).collect();
    let sentence = format!(
        "`components`: `{shown}` cannot have contact fields: they stand in parameters of type `text`, in header, body, \
         buttons and cards"
    );
    Refusal::new(Code::InvalidComponents, sentence).about("components")
}

/// Whether every `{{` of a text begins a contact's field.
///
/// # Errors
///
/// Those of [`check`].
pub fn check_text(text: &str) -> Result<(), Refusal> {
    check_text_of("components", text, Placeholders::Contact)
}

/// Whether every `{{` of the text in this field of a request begins one of these placeholders.
///
/// # Errors
///
/// `invalid_components` below `components`, and `invalid_field` for another field.
pub fn check_text_of(param: &str, text: &str, which: Placeholders) -> Result<(), Refusal> {
    let shown = |wrong: &str| wrong.chars().take(SHOWN_CHARS).collect::<String>();
    let pieces = pieces(text).map_err(|wrong| unknown(param, &shown(wrong), &[], which))?;
    let value = pieces.iter().find_map(|piece| match piece {
        Piece::Field { subject: PlaceholderSubject::Value(name), .. } => Some(*name),
        Piece::Field { .. } | Piece::Text(_) => None,
    });
    if let Some(name) = value.filter(|_| which == Placeholders::Contact) {
        return Err(unknown(param, &shown(&format!("{{{{value.{name}")), &[], which));
    }
    Ok(())
}

/// Like [`check_text_of`] for the link of a file, which has no fields of contacts: values, behind `http://` or `https://` or at
/// the beginning.
///
/// # Errors
///
/// Those of [`check_text_of`].
pub fn check_link(param: &str, text: &str) -> Result<(), Refusal> {
    check_text_of(param, text, Placeholders::All)?;
    if has_contact_fields(text) {
        return Err(Refusal::of(param, code_of(param), "cannot have contact fields in the link of a file"));
    }
    let starts = ["http://", "https://", OPEN].iter().any(|start| text.starts_with(start));
    if is_in(text) && !starts {
        let what = "must begin with http://, https:// or a value that does";
        return Err(Refusal::of(param, code_of(param), what));
    }
    Ok(())
}

fn code_of(param: &str) -> Code {
    if param == "components" { Code::InvalidComponents } else { Code::InvalidField }
}

/// The refusal of what is no placeholder of a company with these own fields.
fn unknown(param: &str, shown: &str, own: &[OwnField], which: Placeholders) -> Refusal {
    let built_in = ContactField::BUILT_IN.iter().map(ContactField::word);
    let names: Vec<&str> = built_in.chain(own.iter().map(|field| field.key.as_str())).collect();
    let names = names.join(", ");
    let more = if own.is_empty() { " or the key of an own field" } else { "" };
    let values = match which {
        Placeholders::Contact => "",
        Placeholders::All => "; or {{value.NAME}}, where NAME is that of a value of the recipients",
    };
    let sentence = format!(
        "`{param}`: `{shown}` is no contact field: write {{{{contact.NAME}}}} or {{{{contact.NAME|TEXT}}}}, where NAME \
         is one of {names}{more}, and TEXT is for recipients without a value{values}"
    );
    Refusal::new(code_of(param), sentence).about(param)
}

/// Whether the company has all of these own fields.
///
/// # Errors
///
/// `invalid_components` with the first that it lacks.
pub fn check_own(keys: &[FieldKey], own: &[OwnField]) -> Result<(), Refusal> {
    match keys.iter().find(|key| find(own, **key).is_none()) {
        Some(key) => {
            Err(unknown("components", &format!("{{{{contact.{key}}}}}"), own, Placeholders::Contact))
        }
        None => Ok(()),
    }
}

//! Contact fields in texts that a person sees before they are sent.

use super::{ContactField, Piece, PlaceholderSubject, SHOWN_CHARS, pieces};
use crate::contact::Person;
use crate::own_field::{OwnField, find};

/// What begins with `{{` and is no field of a company with these own fields, the first of it; `None` when every `{{` of the
/// text begins one.
pub fn first_unknown(text: &str, own: &[OwnField]) -> Option<String> {
    let pieces = match pieces(text) {
        Ok(pieces) => pieces,
        Err(wrong) => return Some(wrong.chars().take(SHOWN_CHARS).collect()),
    };
    let unknown = |piece| match piece {
        Piece::Field { subject: PlaceholderSubject::Contact(ContactField::Own(key)), .. }
            if find(own, key).is_none() =>
        {
            Some(format!("{{{{contact.{key}}}}}"))
        }
        Piece::Field { subject: PlaceholderSubject::Value(name), .. } => {
            Some(format!("{{{{value.{name}}}}}"))
        }
        Piece::Field { .. } | Piece::Text(_) => None,
    };
    pieces.into_iter().find_map(unknown)
}

/// The text for a recipient as [`filled`](super::filled), in which a field that cannot be filled stays as it is written; and
/// the names of those fields, each once.
pub fn filled_as_known(text: &str, person: Option<&Person>, language: &str) -> (String, Vec<String>) {
    let Ok(pieces) = pieces(text) else { return (text.to_owned(), Vec::new()) };
    let (mut filled, mut missing) = (String::with_capacity(text.len()), Vec::new());
    for piece in pieces {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Field { subject: PlaceholderSubject::Value(name), .. } => {
                filled.push_str(&format!("{{{{value.{name}}}}}"));
            }
            Piece::Field { subject: PlaceholderSubject::Contact(field), fallback } => {
                let value = person.and_then(|person| field.of(person, language));
                if let Some(text) = value.as_deref().or(fallback) {
                    filled.push_str(text);
                    continue;
                }
                filled.push_str("{{contact.");
                filled.push_str(field.word());
                filled.push_str("}}");
                let name = field.word().to_owned();
                if !missing.contains(&name) {
                    missing.push(name);
                }
            }
        }
    }
    (filled, missing)
}

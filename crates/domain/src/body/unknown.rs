//! Unknown fields: nearly all are accepted, so that a body may have fields of a later version. One that is another
//! spelling of a known field is refused: the client believes that it has an effect.

use crate::error::{Code, Refusal};
use crate::nearest::respelled;

/// How many unknown fields of a body are compared with the known ones. A body that a person or a program for this path
/// wrote has a few.
pub const MOST_COMPARED: usize = 64;
/// Parameters of the address that clients put into bodies by mistake.
const PARAMETERS: &[&str] = &["dry_run"];

/// Refuses the first of these unknown fields that is another spelling of a known field, or belongs to the address.
///
/// # Errors
///
/// `unknown_field`.
pub fn refuse_misspelled<'a>(
    unknown: impl IntoIterator<Item = &'a str>,
    known: &[&'static str],
) -> Result<(), Refusal> {
    let mut unknown = unknown.into_iter().take(MOST_COMPARED);
    unknown.try_for_each(|name| {
        let Some(meant) = respelled(name, known.iter().chain(PARAMETERS).copied()) else { return Ok(()) };
        let what = if PARAMETERS.contains(&meant) {
            format!("belongs to the address, not to the body: add `?{meant}=true` to the path")
        } else {
            format!("is no field of this body: did you mean `{meant}`?")
        };
        Err(Refusal::of(name, Code::UnknownField, what))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_spelling_of_a_known_field_is_refused_and_other_fields_are_not() {
        let known = ["type", "message", "send_at", "voice"];
        let check = |name: &str| refuse_misspelled([name], &known).map_err(|refusal| refusal.sentence);
        for fine in ["colour", "id", "body", "reference", "created_at", "x"] {
            assert_eq!(check(fine), Ok(()), "{fine}");
        }
        assert_eq!(
            check("sendAt"),
            Err("`sendAt` is no field of this body: did you mean `send_at`?".to_owned())
        );
        for name in ["dry_run", "dryRun", "dry-run"] {
            let sentence = check(name).unwrap_err();
            assert!(sentence.ends_with("add `?dry_run=true` to the path"), "{sentence}");
        }
    }

    #[test]
    fn a_body_of_countless_fields_costs_no_more_than_one_of_some() {
        let many = std::iter::repeat_n("colour", MOST_COMPARED).chain(["sendAt"]);
        assert_eq!(refuse_misspelled(many, &["send_at"]), Ok(()));
    }
}

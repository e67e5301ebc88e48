//! Requests with values for their recipients: what is asked before the audience is resolved, and the refusals that follow it.

use uuid::Uuid;

use crate::Error;
use clock::database::new_id;
use domain::content::Content;
use domain::error::{Code, Refusal};
use domain::request::{Audience, Limits, SkipCode, Skipped, SkippedEntry};
use domain::values::Needs;
use store::Store;
use store::sends::personal::KeptValues;

/// What the values of the recipients are sealed to; `None` for a request without values, and for the retry of one.
///
/// # Errors
///
/// `value_not_allowed` for a value of all recipients, `values_gone` for the retry of a send whose values are no longer
/// kept.
pub(super) async fn seal_of_values(
    store: &Store,
    content: &Content,
    audience: &Audience,
) -> Result<Option<Uuid>, Error> {
    if let Some(personal) = &audience.personal {
        let needs = Needs::of(content, &Limits::default());
        needs.check_shared(&personal.shared).map_err(|lack| {
            let sentence = format!("nobody can get the message: it {}", lack.reason);
            Refusal::new(Code::ValueNotAllowed, sentence).about(lack.field)
        })?;
        return Ok(Some(new_id()));
    }
    let Some(again) = &audience.again else { return Ok(None) };
    match store.sends().values_kept(again.send_id).await? {
        KeptValues::None => Ok(None),
        KeptValues::Here(_) => Ok(Some(new_id())),
        KeptValues::Gone => {
            let sentence = "the values of the send's recipients are no longer kept, so that it cannot be sent again: \
                            make a new send with values (`values.keep` says how long they are kept)";
            Err(Refusal::new(Code::ValuesGone, sentence).into())
        }
    }
}

/// The fields that a request gave without effect, and the values that have no place in its contents.
pub(super) fn with_unused<'c>(
    mut ignored: Vec<String>,
    contents: impl IntoIterator<Item = &'c Content>,
    audience: &Audience,
) -> Vec<String> {
    if let Some(personal) = &audience.personal {
        ignored.extend(personal.unused(contents));
    }
    ignored
}

/// The refusal of a send without recipients, with the true reasons where entries were skipped.
pub(super) fn nobody(is_retry: bool, is_refused: bool, skipped: Skipped) -> Error {
    let of_values = [SkipCode::ValueMissing, SkipCode::ValueNotAllowed];
    if is_refused || of_values.iter().any(|code| skipped.counts.contains_key(code.as_str())) {
        let reasons = skipped.reasons().unwrap_or_default();
        let sentence = if is_refused {
            format!(
                "nothing was sent, because `on_skipped` is refuse and entries would be skipped: {reasons}"
            )
        } else {
            format!("nobody is left to send to: {reasons}")
        };
        return Error::Nobody { refusal: Refusal::new(Code::RecipientsSkipped, sentence), skipped };
    }
    let is_closed = |entry: &SkippedEntry| entry.code.as_deref() == Some(SkipCode::WindowClosed.as_str());
    if skipped.count == 1 && skipped.first.iter().all(is_closed) {
        let sentence = "the person did not write in the last 24 hours, so that WhatsApp takes only templates: send an \
                        approved template (`type` `template`), or give one as `template_instead`";
        return Error::Nobody { refusal: Refusal::new(Code::WindowClosed, sentence), skipped };
    }
    let sentence = if let Some(reasons) = skipped.reasons() {
        format!("nobody is left to send to: {reasons}")
    } else if is_retry {
        "nobody is left to send to again: no message of the send has a selected state and code".to_owned()
    } else {
        "nobody is left to send to: give a number of 7 to 15 digits that begins with a country code, or a tag \
         with contacts that have one"
            .to_owned()
    };
    Error::Nobody { refusal: Refusal::new(Code::NoValidRecipients, sentence), skipped }
}

//! The body of a send with many recipients, whose characters are looked at once: most of them are recipients with their values.
//!
//! The recipients are read where they stand. The rest of the body, with nothing in their place, is read as the body of a send
//! whose recipients come in a file. What is unusual, and all that is wrong, is left to [`SplitSend`](super::SplitSend).

use super::body::Split;
use super::business::{BusinessRequest, BusinessSend};
use super::recipients::quick;
use super::recipients::scanner::JsonScanner;
use super::{Limits, split_send};

/// The most bytes before the recipients, and behind them.
const MOST_BESIDE: usize = 64 * 1024;

/// The body of a send through a business account, of which the beginning up to its recipients is read.
#[derive(Debug)]
pub struct QuickSend<'a> {
    text: &'a str,
    /// Where the array of the recipients begins.
    array: usize,
}

impl<'a> QuickSend<'a> {
    /// Finds the recipients in a body; `None` when it has none near its beginning.
    pub fn of(body: &'a [u8]) -> Option<Self> {
        let mut json = JsonScanner::new(beginning(body), 0);
        let mut array = None;
        // Breaks off at the array.
        let _ = json.members(|json, name| {
            if name != split_send::RECIPIENTS {
                return json.pass();
            }
            array = (json.peek() == Some(b'[')).then_some(json.place());
            None
        });
        Some(Self { array: array?, text: std::str::from_utf8(body).ok()? })
    }

    /// The memory that the recipients may take.
    pub const fn weight(&self) -> usize {
        split_send::weight_of_recipients(self.text.len() - self.array)
    }

    /// Reads the request. `charge` is asked for the memory that the rest of the body may take. `None` for a body that is to be
    /// read as a [`SplitSend`](super::SplitSend): for each that is refused, among others.
    ///
    /// # Errors
    ///
    /// Those of `charge`.
    pub fn read<E>(
        &self,
        limits: &Limits,
        charge: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<Option<BusinessRequest>, E> {
        let mut json = JsonScanner::new(self.text, self.array);
        let Some((mut rows, mut skipped)) = quick::read(&mut json, limits.phone_numbers, false) else {
            return Ok(None);
        };
        let behind = &self.text[json.place()..];
        if rows.given() == 0 || behind.len() > MOST_BESIDE {
            return Ok(None);
        }
        let rest = [&self.text[..self.array], "null", behind].concat();
        let Ok(split) = Split::upload(rest.as_bytes()) else { return Ok(None) };
        let fields = split.body::<BusinessSend<'_>>();
        // White space in values is folded as they are read.
        if !matches!(fields.personal().clean.flag(), Ok(false)) {
            return Ok(None);
        }
        charge(fields.weight())?;
        // Rows in memory can be read.
        let _ = rows.finish(&mut skipped);
        Ok(BusinessRequest::read(&split, limits, Some((rows, skipped))).ok())
    }
}

/// The readable beginning of a body.
fn beginning(body: &[u8]) -> &str {
    let beginning = &body[..body.len().min(MOST_BESIDE)];
    let readable = std::str::from_utf8(beginning).map_or_else(|end| end.valid_up_to(), str::len);
    std::str::from_utf8(&beginning[..readable]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Refusal;

    fn quickly(body: &str) -> Option<BusinessRequest> {
        let send = QuickSend::of(body.as_bytes())?;
        send.read(&Limits::default(), |_| Ok::<_, Refusal>(())).unwrap()
    }

    #[test]
    fn a_body_that_is_read_quickly_is_the_request_that_a_close_look_finds() {
        let recipients = r#""recipients" : [ {"phone_number":"+5511988887778","values":{"order":"A, ]}"},"reference":"crm"},
            {"phone_number":5511988887777}, {"phone_number":"1","values":{"order":7}},
            {"phone_number":"5511988887777","values":{"order":"B"}} ]"#;
        let text = r#""type":"text","message":"{{value.order|none}} [\"recipients\"]""#;
        for body in [
            format!(r#"{{{text},{recipients}}}"#),
            format!(
                r#" {{ {recipients} , {text} ,"values":{{"shop":"Acme"}},"clean":false,"caption":"x"}} "#
            ),
            format!(r#"{{"phone_number":["5511988887779"],{text},{recipients},"on_skipped":"refuse"}}"#),
            format!(
                r#"{{"type":"template","template_id":7,"parameters":["order"],{recipients},"values":null}}"#
            ),
        ] {
            let found = quickly(&body);
            assert!(found.is_some(), "{body}");
            assert_eq!(found, BusinessRequest::parse(body.as_bytes(), &Limits::default()).ok(), "{body}");
        }
    }

    #[test]
    fn what_is_unusual_or_wrong_is_left_to_a_close_look() {
        let (text, one) =
            (r#""type":"text","message":"{{value.a|b}}""#, r#"{"phone_number":"5511988887777"}"#);
        let recipients = format!(r#""recipients":[{one}]"#);
        for body in [
            String::new(),
            "[]".to_owned(),
            format!("{{{text}}}"),
            format!(r#"{{{text},"recipients":[]}}"#),
            format!(r#"{{{text},"recipients":null}}"#),
            format!(r#"{{{text},"recipients":{one}}}"#),
            format!(r#"{{{text},"recipients":[{one},]}}"#),
            format!(r#"{{{text},"recipients":[{one}"#),
            format!(r#"{{{text},{recipients},{recipients}}}"#),
            format!(r#"{{{text},"recipients":null,{recipients}}}"#),
            format!(r#"{{{text},{recipients},"clean":true}}"#),
            format!(r#"{{{text},{recipients},"clean":"x"}}"#),
            format!(r#"{{{text},{recipients}}}}}"#),
            format!(r#"{{{text},{recipients},}}"#),
            format!(r#"{{{text},,{recipients}}}"#),
            format!(r#"{{"type":"text",{recipients}}}"#),
            format!(r#"{{"a":{{{text},{recipients}}}}}"#),
            format!(r#"{{"a":"{}",{text},{recipients}}}"#, "é".repeat(MOST_BESIDE / 2)),
            format!(r#"{{{text},{recipients},"a":"{}"}}"#, "x".repeat(MOST_BESIDE)),
        ] {
            assert_eq!(quickly(&body), None, "{body:.300}");
        }
    }
}

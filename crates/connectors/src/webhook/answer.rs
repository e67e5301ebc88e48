//! Reads the answers of receivers, of which no part is trusted.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::{HeaderMap, RETRY_AFTER as RETRY_AFTER_HEADER};
use tokio::time::{Instant, timeout_at};

use super::{ANSWER_BYTES, DeliveryAnswer, DeliveryFault, KEPT_BYTES, RETRY_AFTER};
use clock::Timestamp;

/// The header with which a receiver asks for no further attempts, and its value.
const DELIVERY: [&str; 2] = ["webhook-delivery", "abort-message"];

/// Reads an answer until `deadline`, which is the end of `limit`. Its duration is left to the caller.
pub(super) async fn read(mut response: Response, deadline: Instant, limit: Duration) -> DeliveryAnswer {
    let status = response.status().as_u16();
    let is_accepted = response.status().is_success();
    let retry_after = if is_accepted { None } else { retry_after(response.headers(), Timestamp::now()) };
    let aborts = aborts(response.headers());
    let (bytes, unread) = body(&mut response, deadline, limit).await;
    let fault = match status {
        200..=299 => unread,
        300..=399 => Some(DeliveryFault::Redirect(status)),
        _ => Some(DeliveryFault::Status(status)),
    };
    DeliveryAnswer {
        status: Some(status),
        took: Duration::ZERO,
        kept: plain(&bytes),
        retry_after,
        aborts,
        fault,
    }
}

/// The beginning of the body, at most [`KEPT_BYTES`], and why the body was not read to its end.
async fn body(
    response: &mut Response,
    deadline: Instant,
    limit: Duration,
) -> (Vec<u8>, Option<DeliveryFault>) {
    let (mut kept, mut length) = (Vec::<u8>::new(), 0_usize);
    let unread = loop {
        let chunk = match timeout_at(deadline, response.chunk()).await {
            Ok(Ok(Some(chunk))) => chunk,
            Ok(Ok(None)) => break None,
            Ok(Err(_)) => break Some(DeliveryFault::AnswerBroken),
            Err(_) => break Some(DeliveryFault::AnswerTooSlow(limit)),
        };
        let room = KEPT_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
        length += chunk.len();
        if length > ANSWER_BYTES {
            break Some(DeliveryFault::AnswerTooLong);
        }
    };
    (kept, unread)
}

/// Text that can be stored and shown, at most [`KEPT_BYTES`] long.
fn plain(bytes: &[u8]) -> String {
    let is_shown = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    let mut text = String::new();
    for c in String::from_utf8_lossy(bytes).chars().filter(|c| is_shown(*c)) {
        // A byte that is not UTF-8 becomes a character of three.
        if text.len() + c.len_utf8() > KEPT_BYTES {
            break;
        }
        text.push(c);
    }
    text
}

/// The delay that the receiver asks for, in seconds or as a date, within [`RETRY_AFTER`].
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let asked = headers.get(RETRY_AFTER_HEADER)?.to_str().ok()?.trim();
    let delay = match asked.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        // More seconds than fit in the number.
        Err(_) if !asked.is_empty() && asked.bytes().all(|byte| byte.is_ascii_digit()) => Duration::MAX,
        Err(_) => Timestamp::parse_http(asked).ok()?.from_now(now),
    };
    Some(delay.clamp(*RETRY_AFTER.start(), *RETRY_AFTER.end()))
}

fn aborts(headers: &HeaderMap) -> bool {
    let [name, wanted] = DELIVERY;
    headers
        .get(name)
        .is_some_and(|value| value.as_bytes().trim_ascii().eq_ignore_ascii_case(wanted.as_bytes()))
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn with(name: &'static str, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_str(value).unwrap());
        headers
    }

    #[test]
    fn a_delay_is_read_in_seconds_and_as_a_date_within_its_bounds() {
        let now = Timestamp::parse_http("Wed, 21 Oct 2026 07:28:00 GMT").unwrap();
        for (value, seconds) in [
            ("7", Some(7)),
            (" 120 ", Some(120)),
            ("0", Some(1)),
            ("18446744073709551615", Some(86_400)),
            ("1000000000000000000000000", Some(86_400)),
            ("Wed, 21 Oct 2026 07:29:30 GMT", Some(90)),
            ("Wed, 21 Oct 2026 07:27:00 GMT", Some(1)),
            ("Fri, 31 Dec 2100 23:59:59 GMT", Some(86_400)),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ] {
            let read = retry_after(&with("retry-after", value), now);
            assert_eq!(read.map(|delay| delay.as_secs()), seconds, "{value}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }

    #[test]
    fn only_the_word_of_the_specification_aborts() {
        assert!(aborts(&with("webhook-delivery", "abort-message")));
        assert!(aborts(&with("webhook-delivery", " Abort-Message ")));
        assert!(!aborts(&with("webhook-delivery", "abort")));
        assert!(!aborts(&HeaderMap::new()));
    }

    #[test]
    fn an_answer_is_kept_as_text_that_can_be_stored() {
        assert_eq!(plain(b"line\r\n\tnext\0\x1b[31m"), "line\n\tnext[31m");
        assert_eq!(plain(b"caf\xc3\xa9 \xff"), "caf\u{e9} \u{fffd}");
        let kept = plain(&[0xff; KEPT_BYTES]);
        assert_eq!(kept.len(), KEPT_BYTES / 3 * 3);
        assert_eq!(plain(&[b'x'; KEPT_BYTES]).len(), KEPT_BYTES);
    }
}

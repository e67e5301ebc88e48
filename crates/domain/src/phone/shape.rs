//! What a text looks like, before its digits are read: ids of WhatsApp, dates, figures of spreadsheets, extensions.

use std::borrow::Cow;

use super::InvalidPhone;

/// The part of a text in which a number may be. The digits and signs of the text are ASCII.
///
/// # Errors
///
/// What it looks like, when that is no number.
pub(super) fn number_part(text: &str) -> Result<Cow<'_, str>, InvalidPhone> {
    if let Some((user, host)) = text.rsplit_once('@') {
        return address(user, host);
    }
    if is_business_scoped(text) {
        return Err(InvalidPhone::WhatsAppId);
    }
    if is_date(text) {
        return Err(InvalidPhone::Date);
    }
    let text = without_formula(text);
    if is_exponent(text) {
        return Err(InvalidPhone::Figure);
    }
    if has_extension_parameter(text) {
        return Err(InvalidPhone::Extension);
    }
    without_decimals(text).map(without_trunk).ok_or(InvalidPhone::Figure)
}

/// An address with a host: a person of WhatsApp is named by the number, with the device perhaps.
fn address<'a>(user: &'a str, host: &str) -> Result<Cow<'a, str>, InvalidPhone> {
    match host.trim_end().to_ascii_lowercase().as_str() {
        "s.whatsapp.net" | "c.us" => {
            let number = user.split([':', '_', '.']).next().unwrap_or_default();
            if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
                Ok(Cow::Borrowed(number))
            } else {
                Err(InvalidPhone::WhatsAppId)
            }
        }
        "lid" | "hosted.lid" => Err(InvalidPhone::Lid),
        "g.us" | "broadcast" | "newsletter" | "hosted" | "bot" => Err(InvalidPhone::WhatsAppId),
        _ => Err(InvalidPhone::EmailAddress),
    }
}

/// Whether it is a person's id within one business, `BR.1A2b` or `BR.ENT.1A2b`: a country's two letters, a point, and at
/// most 128 letters and digits.
fn is_business_scoped(text: &str) -> bool {
    let Some((country, id)) = text.split_once('.') else { return false };
    let id = id.strip_prefix("ENT.").unwrap_or(id);
    country.len() == 2
        && country.bytes().all(|byte| byte.is_ascii_uppercase())
        && !id.is_empty()
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether it is a date, perhaps with a time: `2026-11-26 09:00`, `26/11/2026`.
fn is_date(text: &str) -> bool {
    let end = text.find(|char: char| char.is_whitespace() || char == 'T').unwrap_or(text.len());
    let (date, rest) = text.split_at(end);
    let Some(separator) = date.chars().find(|char| !char.is_ascii_digit()) else { return false };
    if !matches!(separator, '-' | '/' | '.') {
        return false;
    }
    let parts: Vec<&str> = date.split(separator).collect();
    let [first, second, third] = parts[..] else { return false };
    let value = |part: &str, lengths: &[usize]| {
        let is_plain = lengths.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        if is_plain { part.parse::<u16>().ok() } else { None }
    };
    let is_day = |part| value(part, &[1, 2]).is_some_and(|day| (1..=31).contains(&day));
    let is_year = |part| value(part, &[4]).is_some_and(|year| (1900..2200).contains(&year));
    let is_date = is_day(second) && (is_year(first) && is_day(third) || is_day(first) && is_year(third));
    is_date && (rest.trim().is_empty() || rest.contains(':'))
}

/// Drops what makes a spreadsheet keep a number as text: `="5511988887777"`, `'5511988887777`.
fn without_formula(text: &str) -> &str {
    let text = text.strip_prefix('=').unwrap_or(text).trim();
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    text.strip_prefix('\'').unwrap_or(text).trim()
}

/// Whether it is a figure with an exponent, as spreadsheets show long numbers: `5.51199E+12`.
fn is_exponent(text: &str) -> bool {
    let Some((front, exponent)) = text.split_once(['E', 'e']) else { return false };
    let front = front.trim_start_matches(['+', '-']);
    let exponent = exponent.trim_start_matches(['+', '-']);
    let is_figure =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
    front.bytes().any(|byte| byte.is_ascii_digit())
        && is_figure(front)
        && (1..=3).contains(&exponent.len())
        && exponent.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether it has the parameter of an extension that RFC 3966 gives to `tel:` links.
fn has_extension_parameter(text: &str) -> bool {
    text.split(';')
        .skip(1)
        .any(|parameter| parameter.trim().get(..4).is_some_and(|name| name.eq_ignore_ascii_case("ext=")))
}

/// Drops the decimals that a spreadsheet adds to a whole number, `.0` and `,00`, and the points between its thousands;
/// `None` for decimals that are not zero.
///
/// A point also separates groups of digits, so decimals behind it are dropped only when no other group stands before
/// them: the last two digits of `+33.1.23.45.67.00` belong to the number.
fn without_decimals(text: &str) -> Option<&str> {
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((front, decimals)) = text.rsplit_once(',')
        && (1..=2).contains(&decimals.len())
        && is_plain(decimals)
        && digits(front) >= super::MIN_DIGITS
        && !front.contains(',')
    {
        return decimals.bytes().all(|byte| byte == b'0').then_some(front);
    }
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    if let Some((front, decimals)) = unsigned.split_once('.')
        && front.len() >= super::MIN_DIGITS
        && is_plain(front)
        && !decimals.is_empty()
        && is_plain(decimals)
    {
        if decimals.bytes().all(|byte| byte == b'0') && decimals.len() <= 2 {
            return Some(front);
        }
        // No country writes a point behind ten digits and more.
        return if front.len() >= 10 { None } else { Some(text) };
    }
    Some(text)
}

/// What is dialled before the country code: in Australia, in North America, and in most countries.
const EXITS: [&str; 3] = ["0011", "011", "00"];

/// Drops the `(0)` behind a country code, which is dialled only inside the country: `+44 (0)20 7946 0104`,
/// `0044 (0)20 7946 0104`, `(+44) (0)20 7946 0104`.
fn without_trunk(text: &str) -> Cow<'_, str> {
    for (at, _) in text.match_indices('(') {
        let front = &text[..at];
        let Some((trunk, rest)) = text[at + 1..].split_once(')') else { break };
        if trunk.trim() == "0" && is_country_code(front) {
            return Cow::Owned(format!("{front} {rest}"));
        }
    }
    Cow::Borrowed(text)
}

/// Whether the digits of a text are as many as those of a country code, which may stand behind an exit prefix. They stand
/// together, perhaps in parentheses.
fn is_country_code(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| !c.is_ascii_digit());
    let is_whole = bare.bytes().all(|byte| byte.is_ascii_digit() || b" -.".contains(&byte));
    let closes_first = text.find(')') < text.find('(') && text.contains(')');
    if !is_whole || closes_first {
        return false;
    }
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let is_short = |digits: &str| (1..=3).contains(&digits.len());
    is_short(&digits) || EXITS.into_iter().filter_map(|exit| digits.strip_prefix(exit)).any(is_short)
}

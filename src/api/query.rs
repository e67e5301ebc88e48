//! Decodes query strings strictly: a value that is not valid text is refused, not repaired.

use std::borrow::Cow;

/// A parameter whose value is not percent-encoded UTF-8, or holds a NUL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Undecodable;

/// The value of `name`, decoded; the last one when it is given more than once.
pub(super) fn value<'a>(query: &'a str, name: &str) -> Result<Option<Cow<'a, str>>, Undecodable> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let named = pairs.rev().find(|(key, _)| decode(key).as_deref() == Ok(name));
    named.map(|(_, value)| decode(value)).transpose()
}

/// Every value of `name`, decoded, in their order.
pub(super) fn values<'a>(query: &'a str, name: &str) -> Result<Vec<Cow<'a, str>>, Undecodable> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.filter(|(key, _)| decode(key).as_deref() == Ok(name)).map(|(_, value)| decode(value)).collect()
}

/// The name of each parameter, decoded where that is possible. Nothing between two `&`, or a lone `=`, is no parameter.
pub(super) fn names(query: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let pairs = query.split('&').filter(|pair| !matches!(*pair, "" | "="));
    pairs.map(|pair| {
        let name = pair.split_once('=').map_or(pair, |(name, _)| name);
        decode(name).unwrap_or(Cow::Borrowed(name))
    })
}

fn decode(text: &str) -> Result<Cow<'_, str>, Undecodable> {
    if !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return Ok(Cow::Borrowed(text));
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'+' => b' ',
            b'%' => {
                let high = bytes.next().and_then(hex_digit).ok_or(Undecodable)?;
                let low = bytes.next().and_then(hex_digit).ok_or(Undecodable)?;
                high << 4 | low
            }
            plain => plain,
        });
    }
    let decoded = String::from_utf8(decoded).map_err(|_| Undecodable)?;
    // PostgreSQL's text type cannot hold a NUL.
    if decoded.contains('\0') { Err(Undecodable) } else { Ok(Cow::Owned(decoded)) }
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_the_last_one_wins() {
        let query = "a=1&b=%C3%A9+x&a=2&c&d=&%61=3";
        let read = |name| value(query, name).unwrap().map(Cow::into_owned);
        assert_eq!(read("a").as_deref(), Some("3"));
        assert_eq!(read("b").as_deref(), Some("é x"));
        assert_eq!(read("c").as_deref(), Some(""));
        assert_eq!(read("d").as_deref(), Some(""));
        assert_eq!(read("e"), None);
    }

    #[test]
    fn badly_encoded_text_is_refused() {
        for broken in ["a=%", "a=%4", "a=%zz", "a=%ff", "a=%00", "a=%C3"] {
            assert_eq!(value(broken, "a"), Err(Undecodable), "{broken}");
            assert_eq!(value(broken, "b"), Ok(None), "{broken}");
        }
    }
}

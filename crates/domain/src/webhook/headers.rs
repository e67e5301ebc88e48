//! The headers that the requests to an endpoint have in addition to Pombo's own.

use crate::error::{Code, Refusal};
use crate::secret::Secret;

/// The most headers of an endpoint.
const MOST: usize = 20;
/// The most characters of a header's name.
const NAME_CHARS: usize = 100;
/// The most characters of a header's value.
const VALUE_CHARS: usize = 1_024;
/// The beginnings of the names of the headers that identify and sign a request, and of those for a proxy.
const OWN_PREFIXES: &[&str] = &["webhook-", "proxy-"];
/// The names of headers that a request has already, and of those that govern the connection: with them an endpoint could
/// change where a request ends, how its body is read, or how long its receiver is awaited.
const OWN: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

/// A header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Its name, in small letters once it is checked.
    pub name: String,
    /// Its value, which may be a password.
    pub value: Secret,
}

/// Checked headers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<Header>);

impl Headers {
    /// Checks headers as a client gives them. Space around names and values is removed.
    ///
    /// # Errors
    ///
    /// `invalid_field` for `headers`. The sentence contains no value.
    pub fn checked(given: Vec<Header>) -> Result<Self, Refusal> {
        if given.len() > MOST {
            return Err(refuse(format!("has more than {MOST} headers")));
        }
        let mut headers = Vec::<Header>::with_capacity(given.len());
        for Header { name, value } in given {
            let name = checked_name(&name).map_err(refuse)?;
            let value = checked_value(&name, value).map_err(refuse)?;
            if headers.iter().any(|before| before.name == name) {
                return Err(refuse(format!("has the header `{name}` more than once")));
            }
            headers.push(Header { name, value });
        }
        Ok(Self(headers))
    }

    /// The headers, in the order in which they were given.
    pub fn as_slice(&self) -> &[Header] {
        &self.0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text that is sealed and stored.
    pub fn to_stored(&self) -> Secret {
        let pairs: Vec<_> =
            self.0.iter().map(|header| (header.name.as_str(), header.value.expose())).collect();
        // Pairs of texts can always be written as JSON.
        Secret::new(serde_json::to_string(&pairs).unwrap_or_default())
    }

    /// Reads the text of [`Headers::to_stored`]; `None` for any other text.
    pub fn from_stored(text: &Secret) -> Option<Self> {
        let pairs: Vec<(String, Secret)> = serde_json::from_str(text.expose()).ok()?;
        Some(Self(pairs.into_iter().map(|(name, value)| Header { name, value }).collect()))
    }
}

/// Whether Pombo sets this header itself, or leaves it to the connection. `name` is in small letters.
pub fn is_own_header(name: &str) -> bool {
    OWN.contains(&name) || OWN_PREFIXES.iter().any(|start| name.starts_with(start))
}

fn refuse(what: String) -> Refusal {
    Refusal::of("headers", Code::InvalidField, what)
}

fn checked_name(given: &str) -> Result<String, String> {
    let name = given.trim().to_ascii_lowercase();
    if name.chars().count() > NAME_CHARS {
        return Err(format!("has a name that is longer than {NAME_CHARS} characters"));
    }
    if name.is_empty() || !name.bytes().all(is_of_name) {
        return Err(format!("has `{name}`, which is not the name of a header"));
    }
    if is_own_header(&name) {
        return Err(format!("has `{name}`, which Pombo sets itself"));
    }
    Ok(name)
}

/// Whether a name of a header can contain this byte (RFC 9110, section 5.6.2).
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn checked_value(name: &str, given: Secret) -> Result<Secret, String> {
    let value = given.expose().trim();
    if value.is_empty() {
        return Err(format!("has no value for `{name}`"));
    }
    if value.chars().count() > VALUE_CHARS {
        return Err(format!("has a value for `{name}` that is longer than {VALUE_CHARS} characters"));
    }
    if !value.bytes().all(|byte| byte == b'\t' || byte == b' ' || byte.is_ascii_graphic()) {
        return Err(format!(
            "has a value for `{name}` with other characters than ASCII letters, digits, punctuation, spaces and tabs"
        ));
    }
    Ok(if value.len() == given.expose().len() { given } else { Secret::new(value.to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, value: &str) -> Header {
        Header { name: name.to_owned(), value: Secret::new(value.to_owned()) }
    }

    fn refused(headers: Vec<Header>) -> String {
        let refusal = Headers::checked(headers).unwrap_err();
        assert_eq!((refusal.code, refusal.param.as_deref()), (Code::InvalidField, Some("headers")));
        refusal.sentence
    }

    #[test]
    fn headers_are_kept_in_their_order_with_names_in_small_letters() {
        let headers =
            Headers::checked(vec![header(" X-Team ", "shop"), header("Authorization", " Bearer a b ")]);
        let headers = headers.unwrap();
        assert_eq!(headers.as_slice(), [header("x-team", "shop"), header("authorization", "Bearer a b")]);
        assert_eq!(Headers::from_stored(&headers.to_stored()), Some(headers));
        let none = Headers::default();
        assert!(none.is_empty() && Headers::from_stored(&none.to_stored()) == Some(none));
        assert_eq!(Headers::from_stored(&Secret::new("{}".to_owned())), None);
    }

    #[test]
    fn a_header_that_pombo_sets_is_refused() {
        for name in [
            "Host",
            "content-length",
            "Content-Type",
            "User-Agent",
            "webhook-id",
            "Webhook-Signature",
            "TE",
            "Accept-Encoding",
            "Proxy-Authorization",
        ] {
            let small = name.to_ascii_lowercase();
            let sentence = format!("`headers` has `{small}`, which Pombo sets itself");
            assert_eq!(refused(vec![header(name, "x")]), sentence);
        }
    }

    #[test]
    fn names_and_values_can_be_sent_as_they_are() {
        for (name, value, sentence) in [
            ("", "x", "`headers` has ``, which is not the name of a header"),
            ("x y", "x", "`headers` has `x y`, which is not the name of a header"),
            ("x:y", "x", "`headers` has `x:y`, which is not the name of a header"),
            ("ç", "x", "`headers` has `ç`, which is not the name of a header"),
            ("x-a", " ", "`headers` has no value for `x-a`"),
        ] {
            assert_eq!(refused(vec![header(name, value)]), sentence);
        }
        for value in ["a\r\nb: c", "secret\0", "ç"] {
            let sentence = refused(vec![header("x-a", value)]);
            assert!(
                sentence.starts_with("`headers` has a value for `x-a` with other characters"),
                "{sentence}"
            );
            assert!(!sentence.contains(value));
        }
        assert!(Headers::checked(vec![header("x-a", "a\tb")]).is_ok());
    }

    #[test]
    fn headers_are_bounded_and_unique() {
        let many = |count: usize| (0..count).map(|nth| header(&format!("x-{nth}"), "x")).collect::<Vec<_>>();
        assert!(Headers::checked(many(MOST)).is_ok());
        assert_eq!(refused(many(MOST + 1)), "`headers` has more than 20 headers");
        assert_eq!(
            refused(vec![header("x-a", "1"), header("X-A", "2")]),
            "`headers` has the header `x-a` more than once"
        );
        assert!(Headers::checked(vec![header("x-a", &"v".repeat(VALUE_CHARS))]).is_ok());
        assert_eq!(
            refused(vec![header("x-a", &"v".repeat(VALUE_CHARS + 1))]),
            "`headers` has a value for `x-a` that is longer than 1024 characters"
        );
        assert_eq!(
            refused(vec![header(&"n".repeat(NAME_CHARS + 1), "x")]),
            "`headers` has a name that is longer than 100 characters"
        );
    }
}

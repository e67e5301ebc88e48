//! Links to media: absolute http or https addresses, for a provider or this service to fetch.
//!
//! This module checks only the form. The code that fetches a link checks whether it may be fetched from inside our
//! network, and whether its answer is a usable file.

use url::Url;
use uuid::Uuid;

/// The most characters of a link, unless the configuration says otherwise.
pub const MAX_CHARS: usize = 2048;
/// The most characters of a file name that we derive from a link.
const MAX_FILE_NAME_CHARS: usize = 120;
/// The longest extension (`xlsx`, `numbers`) that makes a path segment a file name.
const MAX_EXTENSION_CHARS: usize = 8;

/// The extensions of pages and programs of web servers.
const PAGES: &[&str] = &[
    "action", "ashx", "asp", "aspx", "axd", "cfm", "cgi", "dll", "do", "exe", "htm", "html", "jsf", "jsp",
    "jspx", "php", "php3", "php5", "phtml", "pl", "py", "rb", "shtml", "xhtml",
];

/// A well-formed link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    text: String,
    url: Url,
}

/// Why something is not a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLink {
    /// The link does not begin with `http://` or `https://`.
    #[error("must begin with http:// or https://")]
    Scheme,
    /// The rest is not an address: no host, a bad port, forbidden characters.
    #[error("is not a complete web address such as https://example.com/file.jpg")]
    Malformed,
    /// The rest behind `media:` is not an id.
    #[error("must have the id of a file of the library behind media:, as GET /api/v1/media shows it")]
    File,
}

impl Link {
    /// Reads a link; white space around it does not count.
    ///
    /// The text is kept as it was given, because the provider caches by exact address. A link with spaces or letters
    /// outside ASCII is kept in its percent-encoded form, which every client can fetch.
    ///
    /// # Errors
    ///
    /// [`InvalidLink`] says what is wrong with it, in words that continue "the link …".
    pub fn parse(text: &str) -> Result<Self, InvalidLink> {
        let text = text.trim();
        let after_scheme =
            ["https://", "http://"].into_iter().find_map(|scheme| strip_prefix_without_case(text, scheme));
        match after_scheme {
            None => return Err(InvalidLink::Scheme),
            Some(rest) if rest.starts_with(['/', '\\']) => return Err(InvalidLink::Malformed),
            Some(_) => {}
        }
        let url = Url::parse(text).map_err(|_| InvalidLink::Malformed)?;
        if url.host_str().is_none_or(str::is_empty) {
            return Err(InvalidLink::Malformed);
        }
        let plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        let text = if plain { text.to_owned() } else { url.as_str().to_owned() };
        Ok(Self { text, url })
    }

    /// Reads the link of a file to send: as [`Link::parse`], or `media:` and the id of a file of the company's library.
    ///
    /// # Errors
    ///
    /// As [`Link::parse`], and [`InvalidLink::File`].
    pub fn parse_file(text: &str) -> Result<Self, InvalidLink> {
        let Some(id) = strip_prefix_without_case(text.trim(), FILE) else { return Self::parse(text) };
        let text = file_link(Uuid::try_parse(id).map_err(|_| InvalidLink::File)?);
        let url = Url::parse(&text).map_err(|_| InvalidLink::File)?;
        Ok(Self { text, url })
    }

    /// The link as it is sent to the provider.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The link as it is sent to the provider.
    pub fn into_string(self) -> String {
        self.text
    }

    /// The name of the file, when the path ends in something that looks like one. A page that makes files
    /// (`boleto.php`) has a name of its own, which would be wrong for them.
    pub fn file_name(&self) -> Option<String> {
        let segment = self.url.path_segments()?.next_back()?;
        let name = percent_decoded(segment)?;
        let (stem, extension) = name.rsplit_once('.')?;
        let looks_right = !stem.is_empty()
            && (1..=MAX_EXTENSION_CHARS).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !PAGES.contains(&extension.to_ascii_lowercase().as_str())
            && name.chars().count() <= MAX_FILE_NAME_CHARS
            && is_file_name(&name);
        looks_right.then_some(name)
    }
}

/// What the link of a file of a library begins with.
const FILE: &str = "media:";

/// The link that names a file of a company's library. It says nothing about where the file is kept: a provider gets an
/// address that is signed when the message goes, a web session gets the file itself.
pub fn file_link(id: Uuid) -> String {
    format!("{FILE}{id}")
}

/// The file of a library that a link names; `None` for a link to another place.
pub fn file_id(link: &str) -> Option<Uuid> {
    Uuid::try_parse(link.strip_prefix(FILE)?).ok()
}

/// The longest name of a document, in characters: file systems have no longer ones.
pub(crate) const FILE_NAME_CHARS: usize = 240;
/// What is wrong with another name.
pub(crate) const NOT_A_FILE_NAME: &str = "must be a file's name, on one line and without slashes";

/// Whether a text can be the name of a document.
pub(crate) fn is_file_name(name: &str) -> bool {
    !name.contains(|c: char| c.is_control() || matches!(c, '/' | '\\'))
}

fn strip_prefix_without_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// The text with its percent signs resolved; `None` when the decoded bytes are not UTF-8.
pub fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        let pair = tail.split_at_checked(2).filter(|_| first == b'%');
        match pair.and_then(|(pair, after)| Some((hex_byte(pair)?, after))) {
            Some((byte, after)) => {
                bytes.push(byte);
                rest = after;
            }
            None => bytes.push(first),
        }
    }
    String::from_utf8(bytes).ok()
}

fn hex_byte(pair: &[u8]) -> Option<u8> {
    let mut byte = [0];
    hex::decode_to_slice(pair, &mut byte).ok()?;
    Some(byte[0])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_complete_web_addresses_are_links() {
        let kept = |text| Link::parse(text).map(Link::into_string);
        assert_eq!(kept("https://example.com/a.jpg?x=1#y"), Ok("https://example.com/a.jpg?x=1#y".to_owned()));
        assert_eq!(kept(" HTTP://Example.com:8080 "), Ok("HTTP://Example.com:8080".to_owned()));
        assert_eq!(kept("https://example.com/a b.jpg"), Ok("https://example.com/a%20b.jpg".to_owned()));
        for text in
            ["", "example.com/a.jpg", "//example.com", "ftp://example.com", "data:,x", "https:example.com"]
        {
            assert_eq!(kept(text), Err(InvalidLink::Scheme), "{text}");
        }
        for text in
            ["https://", "https:///a.jpg", "https://?x", "http://:80/", "https://a b/", "http://h:99999"]
        {
            assert_eq!(kept(text), Err(InvalidLink::Malformed), "{text}");
        }
    }

    #[test]
    fn a_file_of_the_library_is_named_by_its_id_and_only_where_a_file_is_sent() {
        let id = "01943b0c-6b1e-7c3a-8a52-5a6d7e8f9012";
        let kept = |text: &str| Link::parse_file(text).map(|link| (link.file_name(), link.into_string()));
        for text in [format!("media:{id}"), format!(" MEDIA:{} ", id.to_uppercase())] {
            assert_eq!(kept(&text), Ok((None, format!("media:{id}"))), "{text}");
            assert_eq!(Link::parse(&text), Err(InvalidLink::Scheme), "{text}");
        }
        assert_eq!(kept("media:logo.png"), Err(InvalidLink::File));
        assert_eq!(file_id(&file_link(Uuid::from_u128(7))), Some(Uuid::from_u128(7)));
        assert_eq!(kept("https://h/a.png"), Ok((Some("a.png".to_owned()), "https://h/a.png".to_owned())));
    }

    #[test]
    fn a_file_name_is_the_last_segment_when_it_looks_like_one() {
        let name = |text| Link::parse(text).ok().and_then(|link| link.file_name());
        assert_eq!(name("https://h/a/invoice.pdf?x=1").as_deref(), Some("invoice.pdf"));
        assert_eq!(name("https://h/Julho%20%C3%A1.tar.gz").as_deref(), Some("Julho á.tar.gz"));
        assert_eq!(name("https://h/100%.pdf").as_deref(), Some("100%.pdf"));
        for text in [
            "https://h",
            "https://h/",
            "https://h/download",
            "https://h/.env",
            "https://h/a%2Fb.pdf",
            "https://h/%FF.pdf",
            "https://h/boleto.php",
            "https://h/invoice.ASPX?id=7",
        ] {
            assert_eq!(name(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_kept_link_parses_to_itself(text in "(https?://)?.{0,60}") {
            if let Ok(link) = Link::parse(&text) {
                link.file_name();
                prop_assert!(link.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
                prop_assert_eq!(Link::parse(link.as_str()).map(Link::into_string), Ok(link.into_string()));
            }
        }
    }
}

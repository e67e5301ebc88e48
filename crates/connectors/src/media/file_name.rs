//! The name that the recipient of a document sees.

use reqwest::header::HeaderValue;
use url::Url;

use domain::link::{self, Link};

/// The maximum number of characters of a name, including its extension.
const MAX_CHARS: usize = 120;
/// The longest extension that is kept when a name is shortened.
const MAX_EXTENSION_CHARS: usize = 16;

/// The name that the host gives the file (`Content-Disposition`), or else the name in the link, or else the
/// name in the final address.
pub(super) fn of(disposition: Option<&HeaderValue>, link: &Url, found_at: &Url) -> Option<String> {
    let told = disposition.and_then(|value| told(value.as_bytes())).and_then(|name| clean(&name));
    let in_address = |url: &Url| {
        let name = Link::parse(url.as_str()).ok()?.file_name()?;
        clean(&name)
    };
    told.or_else(|| in_address(link)).or_else(|| in_address(found_at))
}

/// The name in a `Content-Disposition`: `filename*` has priority over `filename` (RFC 6266).
fn told(value: &[u8]) -> Option<String> {
    let value = text(value);
    let mut plain = None;
    for (name, value) in parameters(&value) {
        if name.eq_ignore_ascii_case("filename*") {
            if let Some(extended) = extended(&value) {
                return Some(extended);
            }
        } else if name.eq_ignore_ascii_case("filename") && plain.is_none() {
            plain = Some(value);
        }
    }
    plain
}

/// The text as UTF-8 if it is valid, as many servers send it, and otherwise as Latin-1, by the standard.
fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap_or_else(|_| bytes.iter().copied().map(char::from).collect())
}

/// The parameters after the first semicolon, as names and values. A quoted value may contain semicolons.
fn parameters(value: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = value.split_once(';').map_or("", |(_, rest)| rest);
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let (value, remaining) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let (value, remaining) = after.split_once(';').unwrap_or((after, ""));
                (value.trim().to_owned(), remaining)
            }
        };
        found.push((name.trim_matches([';', ' ', '\t']).to_owned(), value));
        rest = remaining;
    }
    found
}

/// The text up to the closing quote, and the rest after it.
fn unquoted(quoted: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (value, "")
}

/// Decodes `UTF-8''na%C3%AFve.pdf`. Other character sets than UTF-8 are rare and not decoded.
fn extended(value: &str) -> Option<String> {
    let mut parts = value.splitn(3, '\'');
    let (charset, _language, name) = (parts.next()?, parts.next()?, parts.next()?);
    charset.eq_ignore_ascii_case("utf-8").then(|| link::percent_decoded(name))?
}

/// The name without folders and deceptive characters, and not too long; `None` when nothing is left.
pub(super) fn clean(name: &str) -> Option<String> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|character| !is_deceptive(*character)).collect();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = name.trim_start_matches('.').trim_end_matches(['.', ' ']);
    if name.is_empty() { None } else { Some(shortened(name)) }
}

/// Control characters; characters that change the writing direction, so that `gpj.exe` shows as `exe.jpg`;
/// characters without width; and characters that systems forbid in names.
fn is_deceptive(character: char) -> bool {
    character.is_control() && !character.is_whitespace()
        || matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{fffd}')
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(character, '<' | '>' | ':' | '"' | '|' | '?' | '*')
}

/// At most [`MAX_CHARS`], with its ending.
fn shortened(name: &str) -> String {
    if name.chars().count() <= MAX_CHARS {
        return name.to_owned();
    }
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let ending = ending.filter(|ending| ending.chars().count() <= MAX_EXTENSION_CHARS);
    let ending = ending.map_or_else(String::new, |ending| format!(".{ending}"));
    let kept = MAX_CHARS - ending.chars().count();
    name.chars().take(kept).chain(ending.chars()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(disposition: &[u8]) -> Option<String> {
        told(disposition).and_then(|name| clean(&name))
    }

    #[test]
    fn the_host_may_name_the_file_in_any_of_the_usual_ways() {
        for (header, name) in [
            ("attachment; filename=\"invoice.pdf\"", Some("invoice.pdf")),
            ("attachment;filename=invoice.pdf", Some("invoice.pdf")),
            ("inline; size=7; FileName = \"a;b=c.pdf\" ; x=y", Some("a;b=c.pdf")),
            (r#"attachment; filename="say \"hi\".pdf""#, Some("say hi.pdf")),
            (
                "attachment; filename=\"fatura.pdf\"; filename*=UTF-8''fatura%20n%C2%BA%207.pdf",
                Some("fatura nº 7.pdf"),
            ),
            ("attachment; filename*=utf-8'pt'%C3%A1.pdf; filename=\"a.pdf\"", Some("á.pdf")),
            ("attachment; filename*=UTF-16''%00a; filename=\"a.pdf\"", Some("a.pdf")),
            ("attachment; filename*=UTF-8''%FF; filename=a.pdf", Some("a.pdf")),
            ("attachment; filename=\"açaí.pdf\"", Some("açaí.pdf")),
            ("attachment; filename=\"unclosed.pdf", Some("unclosed.pdf")),
            ("attachment; filename=\"\"", None),
            ("attachment", None),
            ("", None),
        ] {
            assert_eq!(named(header.as_bytes()).as_deref(), name, "{header}");
        }
        assert_eq!(named(b"attachment; filename=\"a\xe7a\xed.pdf\"").as_deref(), Some("açaí.pdf"));
    }

    #[test]
    fn a_name_leads_to_no_folder_and_hides_nothing() {
        for (given, name) in [
            ("../../etc/passwd", Some("passwd")),
            (r"C:\Users\x\report.docx", Some("report.docx")),
            ("a\u{202e}fdp.exe", Some("afdp.exe")),
            ("a\u{200b}b\u{0}c\r\nd.pdf", Some("abc d.pdf")),
            ("  two   words .pdf ", Some("two words .pdf")),
            ("..hidden.", Some("hidden")),
            ("what?<is>|this*.pdf", Some("whatisthis.pdf")),
            ("...", None),
            ("a/", None),
            ("", None),
        ] {
            assert_eq!(clean(given).as_deref(), name, "{given:?}");
        }
        let long = format!("{}.pdf", "x".repeat(300));
        let kept = clean(&long).unwrap();
        assert!(kept.chars().count() == MAX_CHARS && kept.ends_with("x.pdf"), "{kept}");
    }

    #[test]
    fn the_host_s_name_is_used_before_the_link_s_and_the_link_s_before_the_last_address_s() {
        let url = |text| Url::parse(text).unwrap();
        let (link, plain, end) =
            (url("https://h/a.pdf?x"), url("https://h/download?id=1"), url("https://cdn/b.pdf"));
        let header = HeaderValue::from_static("attachment; filename=c.pdf");
        assert_eq!(of(Some(&header), &link, &end).as_deref(), Some("c.pdf"));
        assert_eq!(of(None, &link, &end).as_deref(), Some("a.pdf"));
        assert_eq!(of(None, &plain, &end).as_deref(), Some("b.pdf"));
        assert_eq!(of(None, &plain, &plain), None);
    }

    proptest! {
        #[test]
        fn any_name_from_a_host_becomes_short_and_harmless(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let header = [b"attachment; filename=".as_slice(), &bytes].concat();
            if let Some(name) = named(&header) {
                prop_assert!(!name.is_empty() && name.chars().count() <= MAX_CHARS);
                prop_assert!(!name.contains(|c: char| c.is_control() || is_deceptive(c) || matches!(c, '/' | '\\')));
            }
        }
    }
}

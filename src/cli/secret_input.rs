//! Reads secrets from a file, or from standard input with `-`. Arguments would show the secrets to every user
//! of the machine and keep them in the shell's history.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context as _;
use zeroize::Zeroizing;

use super::failure::Misused;
use crate::domain::secret::Secret;
use crate::domain::user::check_password;
use crate::domain::webhook::Header;

/// The largest file of a secret. No token is nearly as long; a larger file is the wrong one.
const MAX_BYTES: usize = 16 * 1024;
/// The largest file of headers.
const MAX_HEADERS_BYTES: usize = 32 * 1024;

/// The secret in `path`, without the space and line break around it.
pub(super) fn read(path: &Path) -> anyhow::Result<Secret> {
    parse(open(path)?, &name(path))
}

/// The password in `path`, without the line break at its end: it may have spaces.
pub(super) fn read_password(path: &Path) -> anyhow::Result<Secret> {
    parse_password(open(path)?, &name(path))
}

/// The headers in `path`: one on each line, its name, a colon and its value, which may be a secret.
pub(super) fn read_headers(path: &Path) -> anyhow::Result<Vec<Header>> {
    parse_headers(open(path)?, &name(path))
}

fn open(path: &Path) -> anyhow::Result<Box<dyn Read>> {
    if is_standard_input(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).with_context(|| {
        format!("cannot read {}; check the path and that this user may read it", path.display())
    })?;
    Ok(Box::new(file))
}

fn name(path: &Path) -> String {
    if is_standard_input(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// Whether `path` stands for standard input.
pub(super) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// What the input holds, up to one byte more than `most`.
fn bytes(input: impl Read, most: usize, name: &str) -> anyhow::Result<Zeroizing<Vec<u8>>> {
    // A vector that grows would leave copies of the secret behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(most + 1));
    input.take(most as u64 + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {name}"))?;
    Ok(bytes)
}

fn parse(input: impl Read, name: &str) -> anyhow::Result<Secret> {
    let bytes = bytes(input, MAX_BYTES, name)?;
    let fault = |what: &str| Misused(format!("{name} {what}; it must hold the secret and nothing else"));
    let text = std::str::from_utf8(&bytes).map_err(|_| fault("is not text"))?.trim();
    if text.is_empty() {
        return Err(fault("is empty").into());
    }
    if bytes.len() > MAX_BYTES {
        return Err(fault("is longer than any secret").into());
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(fault("has spaces, line breaks or other characters that no secret has").into());
    }
    Ok(Secret::new(text.to_owned()))
}

fn parse_password(input: impl Read, name: &str) -> anyhow::Result<Secret> {
    let bytes = bytes(input, MAX_BYTES, name)?;
    let fault = |what: &str| Misused(format!("{name} {what}; it must hold the password on one line"));
    let text = std::str::from_utf8(&bytes).map_err(|_| fault("is not text"))?;
    let line = text.strip_suffix('\n').unwrap_or(text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.chars().any(char::is_control) {
        return Err(fault("has line breaks or other control characters").into());
    }
    check_password(line).map_err(|wrong| Misused(format!("the password {wrong}")))?;
    Ok(Secret::new(line.to_owned()))
}

fn parse_headers(input: impl Read, name: &str) -> anyhow::Result<Vec<Header>> {
    let bytes = bytes(input, MAX_HEADERS_BYTES, name)?;
    let fault = |what: &str| {
        Misused(format!(
            "{name} {what}; it must hold one header on each line, such as `authorization: Bearer …`"
        ))
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| fault("is not text"))?;
    if bytes.len() > MAX_HEADERS_BYTES {
        return Err(fault("is longer than headers may be").into());
    }
    let mut headers = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (name, value) = line.split_once(':').ok_or_else(|| fault("has a line without a colon"))?;
        headers.push(Header { name: name.trim().to_owned(), value: Secret::new(value.trim().to_owned()) });
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_stand_on_lines_and_their_values_are_not_shown() {
        let read = |text: &[u8]| parse_headers(text, "headers.txt");
        let headers = read(b"Authorization: Bearer a:b\r\n\nx-team:sales").unwrap();
        let shown: Vec<_> =
            headers.iter().map(|header| (header.name.as_str(), header.value.expose())).collect();
        assert_eq!(shown, [("Authorization", "Bearer a:b"), ("x-team", "sales")]);
        assert!(read(b" \n").unwrap().is_empty());
        // Longer than a secret may be.
        let long = format!("x: {}", "y".repeat(20_000));
        assert_eq!(read(long.as_bytes()).unwrap().len(), 1);
        for text in [&b"x: hunter2\nhunter2"[..], b"\xff\xfe: x", &[b'x'; 40_000]] {
            let sentence = read(text).unwrap_err().to_string();
            assert!(sentence.starts_with("headers.txt") && !sentence.contains("hunter2"), "{sentence}");
        }
    }

    #[test]
    fn a_password_keeps_its_spaces_and_loses_its_line_break() {
        let read = |text: &[u8]| parse_password(text, "password.txt");
        assert_eq!(read(b" correct horse \r\n").unwrap().expose(), " correct horse ");
        for text in
            [&b"short"[..], b"two\nlines of text", b"\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff", &[b'x'; 20_000]]
        {
            assert!(read(text).is_err());
        }
    }

    #[test]
    fn a_secret_is_read_without_its_line_break_and_other_input_is_refused_without_being_shown() {
        let read = |text: &[u8]| parse(text, "token.txt");
        assert_eq!(read(b"EAAG-token\r\n").unwrap().expose(), "EAAG-token");
        for text in [&b" \n"[..], b"two words", b"a\nb", b"\xff\xfe", &[b'x'; 20_000]] {
            let sentence = read(text).unwrap_err().to_string();
            assert!(sentence.starts_with("token.txt") && !sentence.contains("words"), "{sentence}");
        }
    }
}

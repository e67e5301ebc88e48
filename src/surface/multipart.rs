//! Forms with files (`multipart/form-data`), read piece by piece: a file is never held as a whole.

use std::time::Duration;

use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::{Bytes, BytesMut};

use super::body::{Fault, Incoming, Pieces, Rest, Room};

/// The most parts of a form.
const MOST_PARTS: usize = 1_000;
/// The longest head of a part, and the longest boundary (RFC 2046).
const LONGEST_HEAD: usize = 8 * 1024;
const LONGEST_BOUNDARY: usize = 70;

/// A form whose parts are read one after the other.
pub(crate) struct Multipart {
    pieces: Pieces,
    /// The delimiter between the parts.
    delimiter: Vec<u8>,
    buffer: BytesMut,
    is_over: bool,
    /// The parts so far.
    parts: usize,
}

/// The head of a part.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FormPart {
    pub(crate) name: String,
    /// The file's name, if it is one.
    pub(crate) file_name: Option<String>,
}

impl Multipart {
    /// Whether the body says that it is such a form.
    pub(crate) fn is(body: &Incoming) -> bool {
        boundary_of(body).is_some()
    }

    /// The form of a request, of at most `most` bytes.
    ///
    /// # Errors
    ///
    /// [`Fault::NoForm`] when the body has another type, and those of [reading](Incoming::pieces) a body.
    pub(crate) fn new(body: Incoming, most: usize) -> Result<Self, Fault> {
        let boundary = boundary_of(&body).ok_or(Fault::NoForm)?;
        let delimiter = format!("\r\n--{boundary}").into_bytes();
        // The first delimiter begins the body, without a line end before it.
        let buffer = BytesMut::from(&b"\r\n"[..]);
        Ok(Self { pieces: body.pieces(most)?, delimiter, buffer, is_over: false, parts: 0 })
    }

    /// The next part; the unread rest of the part before is skipped. `None` at the end.
    ///
    /// # Errors
    ///
    /// [`Fault::NoForm`] when it is no form or breaks off, [`Fault::TooManyParts`], and those of reading a body.
    pub(crate) async fn next(&mut self) -> Result<Option<FormPart>, Fault> {
        while self.piece().await?.is_some() {}
        if self.is_over {
            return Ok(None);
        }
        let behind = self.delimiter.len();
        while self.buffer.len() < behind + 2 {
            self.receive().await?;
        }
        if &self.buffer[behind..behind + 2] == b"--" {
            self.is_over = true;
            return Ok(None);
        }
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return Err(Fault::TooManyParts);
        }
        loop {
            if let Some(end) = find(&self.buffer[behind..], b"\r\n\r\n") {
                let head = self.buffer.split_to(behind + end + 4);
                let head = head.get(behind..).unwrap_or_default();
                return part(head).map(Some).ok_or(Fault::NoForm);
            }
            if self.buffer.len() > behind + LONGEST_HEAD {
                return Err(Fault::NoForm);
            }
            self.receive().await?;
        }
    }

    /// The next piece of the part; `None` at its end.
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, Fault> {
        loop {
            if self.is_over {
                return Ok(None);
            }
            let ready = match find(&self.buffer, &self.delimiter) {
                Some(0) => return Ok(None),
                Some(end) => end,
                // The end may be the beginning of a delimiter.
                None => self.buffer.len().saturating_sub(self.delimiter.len()),
            };
            if ready > 0 {
                return Ok(Some(self.buffer.split_to(ready).freeze()));
            }
            self.receive().await?;
        }
    }

    /// A part that is a short text, of at most `most` bytes.
    ///
    /// # Errors
    ///
    /// As [`Multipart::next`], and [`Fault::TooLarge`].
    pub(crate) async fn text(&mut self, most: usize) -> Result<String, Fault> {
        let mut text = Vec::new();
        while let Some(piece) = self.piece().await? {
            if text.len() + piece.len() > most {
                return Err(Fault::TooLarge(most));
            }
            text.extend_from_slice(&piece);
        }
        Ok(String::from_utf8_lossy(&text).replace('\0', "\u{fffd}").trim().to_owned())
    }

    /// A part that is a file, of at most `most` bytes, which are charged to the sender of the form until it is dropped.
    ///
    /// # Errors
    ///
    /// As [`Multipart::text`].
    pub(crate) async fn bytes(&mut self, most: usize) -> Result<Vec<u8>, Fault> {
        let mut file = Vec::new();
        while let Some(piece) = self.piece().await? {
            if file.len() + piece.len() > most {
                return Err(Fault::TooLarge(most));
            }
            self.pieces.room().charge(piece.len())?;
            file.extend_from_slice(&piece);
        }
        Ok(file)
    }

    /// The part of the memory that was taken for the form, for what is made of it.
    pub(crate) fn into_room(self) -> Room {
        self.pieces.into_room()
    }

    /// The part of the body that has not arrived yet.
    pub(crate) fn into_rest(self) -> Rest {
        self.pieces.into_rest()
    }

    /// Reads and discards the rest for a moment; see [`Pieces::pass_over`].
    pub(crate) async fn pass_over(&mut self) {
        self.pieces.pass_over().await;
    }

    /// Must be called with the time that storing a piece took, so that this time does not count against the
    /// client.
    pub(crate) fn stored(&mut self, took: Duration) {
        self.pieces.stored(took);
    }

    async fn receive(&mut self) -> Result<(), Fault> {
        let piece = self.pieces.next().await?.ok_or(Fault::NoForm)?;
        self.buffer.extend_from_slice(&piece);
        Ok(())
    }
}

/// The boundary that a body's type names.
fn boundary_of(body: &Incoming) -> Option<String> {
    let kind = body.request().headers().get(CONTENT_TYPE)?.to_str().ok()?;
    boundary(kind).map(str::to_owned)
}

/// The boundary that a content type names.
fn boundary(kind: &str) -> Option<&str> {
    let (name, parameters) = kind.split_once(';')?;
    if !name.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let named = |parameter: &'_ str| {
        parameter.trim().get(..9).is_some_and(|name| name.eq_ignore_ascii_case("boundary="))
    };
    let parameter = parameters.split(';').find(|parameter| named(parameter))?;
    let boundary = parameter.trim().get(9..)?.trim_matches('"');
    let is_sound = !boundary.is_empty()
        && boundary.len() <= LONGEST_BOUNDARY
        && boundary.bytes().all(|byte| byte.is_ascii_graphic());
    is_sound.then_some(boundary)
}

/// Parses the head of a part.
fn part(head: &[u8]) -> Option<FormPart> {
    let head = String::from_utf8_lossy(head);
    let disposition = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-disposition").then_some(value)
    })?;
    let name = parameter(disposition, "name")?;
    Some(FormPart { name, file_name: parameter(disposition, "filename") })
}

/// A quoted parameter, in the form in which browsers write it: a quote in it is percent-encoded.
fn parameter(disposition: &str, name: &str) -> Option<String> {
    let mark = format!("; {name}=\"");
    let start = disposition.find(&mark)? + mark.len();
    let rest = disposition.get(start..)?;
    let value = rest.get(..rest.find('"')?)?;
    Some(value.replace("%22", "\"").replace("%0D", " ").replace("%0A", " ").replace('\0', "\u{fffd}"))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut from = 0;
    loop {
        let place = from + bytes.get(from..)?.iter().position(|byte| *byte == first)?;
        if bytes.get(place..)?.starts_with(wanted) {
            return Some(place);
        }
        from = place + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_says_its_field_and_its_file() {
        let head = b"\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a%22b;c.csv\"\r\nContent-Type: text/csv\r\n\r\n";
        let found = part(head).unwrap();
        assert_eq!((found.name.as_str(), found.file_name.as_deref()), ("file", Some("a\"b;c.csv")));
        assert_eq!(part(b"Content-Type: text/csv\r\n\r\n"), None);
    }

    #[test]
    fn a_boundary_is_read_or_refused() {
        assert_eq!(boundary("multipart/form-data; boundary=abc"), Some("abc"));
        assert_eq!(boundary("Multipart/Form-Data; charset=x; BOUNDARY=\"a-b\""), Some("a-b"));
        for wrong in [
            "multipart/form-data",
            "text/csv; boundary=a",
            "multipart/form-data; boundary=",
            "multipart/form-data; boundary=a b",
        ] {
            assert_eq!(boundary(wrong), None, "{wrong}");
        }
        assert_eq!(find(b"aab\r\n-\r\n--x", b"\r\n--x"), Some(6));
    }
}

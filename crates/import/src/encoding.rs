//! Decodes a file into UTF-8 while it is read.
//!
//! A byte-order mark decides (UTF-8, UTF-16); without one, the file has the encoding that the caller gives,
//! or else UTF-8. An invalid byte is never replaced in silence: either it ends the reading, with its line and
//! position, or it becomes a [`MARK`], and the row with the mark is rejected.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8};

use super::{Error, Result};

/// Bytes in each read of the file.
const CHUNK: usize = 64 * 1024;
/// The space for a decoded chunk: one byte of any encoding becomes at most three bytes of UTF-8.
const DECODED: usize = 3 * CHUNK + 16;
/// Stands for an invalid byte in a decoded text. Unicode promises that no text to be exchanged has this character.
pub(super) const MARK: char = '\u{fdd0}';

/// The encoding with this label (<https://encoding.spec.whatwg.org/#names-and-labels>); UTF-8 without a label.
pub(super) fn named(label: Option<&str>) -> Result<&'static Encoding> {
    match label {
        None => Ok(UTF_8),
        Some(label) => {
            Encoding::for_label(label.as_bytes()).ok_or_else(|| Error::UnknownEncoding(label.to_owned()))
        }
    }
}

/// What an invalid byte becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Invalid {
    /// The end of the reading.
    Failure,
    /// A [`MARK`].
    Mark,
}

/// A file's text as UTF-8.
pub(super) struct Decoded<R> {
    source: R,
    decoder: Decoder,
    invalid: Invalid,
    raw: Vec<u8>,
    /// The part of `raw` that is not decoded yet.
    unread: std::ops::Range<usize>,
    text: Vec<u8>,
    /// The decoded part of `text` that is not handed out yet.
    ready: std::ops::Range<usize>,
    consumed: u64,
    line: u64,
    state: State,
}

/// Whether more can be read. A text that has ended or failed stays so: reading on would splice what lies before and
/// behind the failure.
enum State {
    Reading,
    Ended,
    Malformed(Malformed),
    Unread(io::ErrorKind, String),
}

/// An invalid byte. It is passed inside an [`io::Error`] from the decoder to [`explain`].
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("line {line}: malformed {encoding} at byte {offset}")]
struct Malformed {
    line: u64,
    offset: u64,
    encoding: &'static str,
}

impl<R: Read> Decoded<R> {
    pub(super) fn new(source: R, encoding: &'static Encoding, invalid: Invalid) -> Self {
        Self {
            source,
            decoder: encoding.new_decoder(),
            invalid,
            raw: vec![0; CHUNK],
            unread: 0..0,
            text: vec![0; DECODED + MARK.len_utf8()],
            ready: 0..0,
            consumed: 0,
            line: 1,
            state: State::Reading,
        }
    }

    /// Bytes of the source that are decoded.
    pub(super) const fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Decodes the next part of the source.
    fn fill(&mut self) {
        let mut is_last = false;
        if self.unread.is_empty() {
            match self.source.read(&mut self.raw) {
                Ok(length) => (self.unread, is_last) = (0..length, length == 0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return,
                Err(error) => {
                    self.state = State::Unread(error.kind(), error.to_string());
                    return;
                }
            }
        }
        let raw = &self.raw[self.unread.clone()];
        let text = &mut self.text[..DECODED];
        let (result, read, mut written) = self.decoder.decode_to_utf8_without_replacement(raw, text, is_last);
        self.unread.start += read;
        self.consumed += read as u64;
        self.line += text[..written].iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
        match result {
            DecoderResult::InputEmpty if is_last => self.state = State::Ended,
            DecoderResult::InputEmpty | DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) if self.invalid == Invalid::Mark => {
                written += MARK.encode_utf8(&mut self.text[written..]).len();
            }
            DecoderResult::Malformed(bad, after) => {
                let offset = self.consumed.saturating_sub(u64::from(bad) + u64::from(after));
                let encoding = self.decoder.encoding().name();
                self.state = State::Malformed(Malformed { line: self.line, offset, encoding });
            }
        }
        self.ready = 0..written;
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() {
            match &self.state {
                State::Reading => self.fill(),
                State::Ended => return Ok(0),
                State::Malformed(malformed) => return Err(io::Error::other(*malformed)),
                State::Unread(kind, said) => return Err(io::Error::new(*kind, said.clone())),
            }
        }
        let length = buffer.len().min(self.ready.len());
        let end = self.ready.start + length;
        buffer[..length].copy_from_slice(&self.text[self.ready.start..end]);
        self.ready.start = end;
        Ok(length)
    }
}

/// Opens the file at `path`.
pub(super) fn open_file(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(Error::read(path))?;
    // The file is read twice, and rejected rows are written to a file beside it.
    if !file.metadata().map_err(Error::read(path))?.is_file() {
        return Err(Error::read(path)(io::Error::other("it is no regular file")));
    }
    Ok(file)
}

/// Opens the file at `path` as text.
pub(super) fn open(path: &Path, encoding: &'static Encoding, invalid: Invalid) -> Result<Decoded<File>> {
    Ok(Decoded::new(open_file(path)?, encoding, invalid))
}

/// Reads the whole file once, so that an invalid byte in the last line is found before the first line is
/// imported. Returns its length in bytes.
pub(super) fn check(path: &Path, encoding: &'static Encoding, invalid: Invalid) -> Result<u64> {
    let mut text = open(path, encoding, invalid)?;
    io::copy(&mut text, &mut io::sink()).map_err(|error| explain(path, error))?;
    Ok(text.consumed())
}

/// The text as it is shown and kept: with the character for unreadable text in place of each mark.
pub(super) fn shown(text: &str) -> String {
    text.replace(MARK, "\u{fffd}")
}

/// The line, the offset and the encoding of an invalid byte, if a read failed because of one.
pub(super) fn malformed(error: &io::Error) -> Option<(u64, u64, &'static str)> {
    let malformed = error.get_ref().and_then(|inner| inner.downcast_ref::<Malformed>())?;
    Some((malformed.line, malformed.offset, malformed.encoding))
}

/// The error for a failed read of the file at `path`, for a person.
pub(super) fn explain(path: &Path, error: io::Error) -> Error {
    let Some(malformed) = error.get_ref().and_then(|inner| inner.downcast_ref::<Malformed>()) else {
        return Error::read(path)(error);
    };
    let Malformed { line, offset, encoding } = *malformed;
    match byte_at(path, offset) {
        Ok(byte) => Error::Encoding { line, offset, byte, encoding },
        Err(error) => Error::read(path)(error),
    }
}

fn byte_at(path: &Path, offset: u64) -> io::Result<u8> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut byte = [0];
    file.read_exact(&mut byte)?;
    Ok(byte[0])
}

#[cfg(test)]
mod tests;

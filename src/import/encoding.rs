//! Decodes a file into UTF-8 while it is read.
//!
//! A byte-order mark decides (UTF-8, UTF-16); without one, the file has the encoding that the caller gives,
//! or else UTF-8. An invalid byte is never replaced: it ends the import, with its line and position, so that
//! no name is silently corrupted.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8};

use super::{Error, Result};

/// Bytes in each read of the file.
const CHUNK: usize = 64 * 1024;
/// The space for a decoded chunk: one byte of any encoding becomes at most three bytes of UTF-8.
const DECODED: usize = 3 * CHUNK + 16;

/// The encoding with this label (<https://encoding.spec.whatwg.org/#names-and-labels>); UTF-8 without a label.
pub(super) fn named(label: Option<&str>) -> Result<&'static Encoding> {
    match label {
        None => Ok(UTF_8),
        Some(label) => {
            Encoding::for_label(label.as_bytes()).ok_or_else(|| Error::UnknownEncoding(label.to_owned()))
        }
    }
}

/// A file's text as UTF-8.
pub(super) struct Decoded<R> {
    source: R,
    decoder: Decoder,
    raw: Vec<u8>,
    text: Vec<u8>,
    /// The decoded part of `text` that is not handed out yet.
    ready: std::ops::Range<usize>,
    consumed: u64,
    line: u64,
    ended: bool,
}

/// An invalid byte. It is passed inside an [`io::Error`] from the decoder to [`explain`].
#[derive(Debug, thiserror::Error)]
#[error("line {line}: malformed {encoding} at byte {offset}")]
struct Malformed {
    line: u64,
    offset: u64,
    encoding: &'static str,
}

impl<R: Read> Decoded<R> {
    pub(super) fn new(source: R, encoding: &'static Encoding) -> Self {
        Self {
            source,
            decoder: encoding.new_decoder(),
            raw: vec![0; CHUNK],
            text: vec![0; DECODED],
            ready: 0..0,
            consumed: 0,
            line: 1,
            ended: false,
        }
    }

    /// Bytes of the source that are decoded.
    pub(super) const fn consumed(&self) -> u64 {
        self.consumed
    }

    fn fill(&mut self) -> io::Result<()> {
        let length = self.source.read(&mut self.raw)?;
        self.ended = length == 0;
        let raw = &self.raw[..length];
        let (result, read, written) =
            self.decoder.decode_to_utf8_without_replacement(raw, &mut self.text, self.ended);
        self.consumed += read as u64;
        self.line += self.text[..written].iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
        self.ready = 0..written;
        match result {
            DecoderResult::InputEmpty => Ok(()),
            DecoderResult::OutputFull => Err(io::Error::other("a decoded chunk is larger than its buffer")),
            DecoderResult::Malformed(bad, after) => {
                let offset = self.consumed.saturating_sub(u64::from(bad) + u64::from(after));
                let encoding = self.decoder.encoding().name();
                Err(io::Error::other(Malformed { line: self.line, offset, encoding }))
            }
        }
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() && !self.ended {
            self.fill()?;
        }
        let length = buffer.len().min(self.ready.len());
        let end = self.ready.start + length;
        buffer[..length].copy_from_slice(&self.text[self.ready.start..end]);
        self.ready.start = end;
        Ok(length)
    }
}

/// Opens the file at `path` as text.
pub(super) fn open(path: &Path, encoding: &'static Encoding) -> Result<Decoded<File>> {
    let file = File::open(path).map_err(Error::read(path))?;
    // The file is read twice, and rejected rows are written to a file beside it.
    if !file.metadata().map_err(Error::read(path))?.is_file() {
        return Err(Error::read(path)(io::Error::other("it is no regular file")));
    }
    Ok(Decoded::new(file, encoding))
}

/// Reads the whole file once, so that an invalid byte in the last line is found before the first line is
/// imported. Returns its length in bytes.
pub(super) fn check(path: &Path, encoding: &'static Encoding) -> Result<u64> {
    let mut text = open(path, encoding)?;
    io::copy(&mut text, &mut io::sink()).map_err(|error| explain(path, error))?;
    Ok(text.consumed())
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

//! Checks a file while it is uploaded: a file that is no text is refused at its beginning, and an unreadable
//! file is refused before any row is imported.
//!
//! The check needs the same memory for every file.

use encoding_rs::{Decoder, DecoderResult, UTF_8, WINDOWS_1252};

use super::{Error, Result, encoding};

/// The longest line, in bytes: no contact is nearly that long, and rows are read as a whole.
const LONGEST_LINE: usize = 1024 * 1024;
/// The label for an encoding that is guessed: a file that is not UTF-8 is read as the encoding that western
/// spreadsheets write.
const GUESSED: &str = "auto";

/// The inspection of one upload.
pub struct Inspection {
    decoder: Decoder,
    text: Vec<u8>,
    /// Whether the encoding is guessed if the file is not UTF-8.
    may_guess: bool,
    is_guessed: bool,
    bytes: u64,
    line: u64,
    line_length: usize,
}

impl Inspection {
    /// The inspection of a file in this encoding. Without one, the file must be UTF-8 or have a byte-order
    /// mark. `auto` guesses.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEncoding`].
    pub fn new(label: Option<&str>) -> Result<Self> {
        let may_guess = label == Some(GUESSED);
        let decoder = encoding::named(label.filter(|_| !may_guess))?.new_decoder();
        Ok(Self {
            decoder,
            text: Vec::new(),
            may_guess,
            is_guessed: false,
            bytes: 0,
            line: 1,
            line_length: 0,
        })
    }

    /// Checks the next piece.
    ///
    /// # Errors
    ///
    /// [`Error::NotEncoded`] for a byte that is invalid in the encoding, [`Error::NotText`] for a file that
    /// is no text, [`Error::EndlessLine`] for a line that is far too long.
    pub fn feed(&mut self, piece: &[u8]) -> Result<()> {
        self.look(piece, false)
    }

    /// Ends the inspection of a complete file, and returns the name of its encoding.
    ///
    /// # Errors
    ///
    /// As [`Inspection::feed`], and [`Error::Empty`].
    pub fn finish(mut self) -> Result<&'static str> {
        self.look(&[], true)?;
        if self.bytes == 0 {
            return Err(Error::Empty);
        }
        Ok(self.decoder.encoding().name())
    }

    fn look(&mut self, mut piece: &[u8], is_last: bool) -> Result<()> {
        self.bytes += piece.len() as u64;
        loop {
            // One byte of any encoding becomes at most three bytes of UTF-8.
            self.text.resize(3 * piece.len() + 16, 0);
            let (result, read, written) =
                self.decoder.decode_to_utf8_without_replacement(piece, &mut self.text, is_last);
            let before = self.bytes - piece.len() as u64;
            self.count(written)?;
            piece = &piece[read..];
            match result {
                DecoderResult::InputEmpty | DecoderResult::OutputFull => return Ok(()),
                DecoderResult::Malformed(..) if self.may_guess && self.decoder.encoding() == UTF_8 => {
                    // The text decoded before is nearly always ASCII, which is the same in both encodings.
                    self.decoder = WINDOWS_1252.new_decoder_without_bom_handling();
                    self.is_guessed = true;
                }
                DecoderResult::Malformed(bad, after) => {
                    let offset = (before + read as u64).saturating_sub(u64::from(bad) + u64::from(after));
                    return Err(Error::NotEncoded {
                        line: self.line,
                        offset,
                        encoding: self.decoder.encoding().name(),
                    });
                }
            }
        }
    }

    /// Counts the lines of the decoded text.
    fn count(&mut self, written: usize) -> Result<()> {
        for line in self.text[..written].split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            if line.contains(&0) {
                return Err(Error::NotText { line: self.line });
            }
            self.line_length += line.len();
            if self.line_length > LONGEST_LINE {
                return Err(Error::EndlessLine { line: self.line });
            }
            if line.ends_with(b"\n") || line.ends_with(b"\r") {
                self.line_length = 0;
                self.line += u64::from(line.ends_with(b"\n"));
            }
        }
        Ok(())
    }

    /// Whether the file's encoding was guessed.
    pub const fn is_guessed(&self) -> bool {
        self.is_guessed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inspect(label: Option<&str>, pieces: &[&[u8]]) -> std::result::Result<&'static str, String> {
        let mut inspection = Inspection::new(label).map_err(|error| error.to_string())?;
        for piece in pieces {
            inspection.feed(piece).map_err(|error| error.to_string())?;
        }
        inspection.finish().map_err(|error| error.to_string())
    }

    #[test]
    fn the_encoding_of_a_file_is_marked_given_or_guessed() {
        assert_eq!(inspect(None, &[b"name,ph", b"one\nJo\xc3", b"\xa3o,1\n"]), Ok("UTF-8"));
        assert_eq!(inspect(None, &[b"\xff\xfea\0\n\0"]), Ok("UTF-16LE"));
        assert_eq!(inspect(Some("latin1"), &[b"Jo\xe3o\n"]), Ok("windows-1252"));
        assert_eq!(inspect(Some("auto"), &[b"Jo\xe3", b"o\n"]), Ok("windows-1252"));
        assert_eq!(inspect(Some("auto"), &[b"Jo\xc3\xa3o\n"]), Ok("UTF-8"));
        let refused = inspect(None, &[b"name\nJo", b"\xe3o\n"]).unwrap_err();
        assert!(refused.starts_with("line 2: the byte at position 7 is not valid UTF-8"), "{refused}");
        assert!(inspect(Some("klingon"), &[]).is_err());
        assert!(inspect(None, &[]).unwrap_err().starts_with("the file is empty"));
    }

    #[test]
    fn zeros_and_endless_lines_are_refused_at_their_beginning() {
        let zeros = vec![0; 64 * 1024];
        assert!(inspect(None, &[&zeros]).unwrap_err().contains("no text"));
        assert!(inspect(None, &[b"a,b\n1,2\n", &zeros]).unwrap_err().starts_with("line 3"));
        let long = vec![b'a'; LONGEST_LINE / 2 + 1];
        assert!(inspect(None, &[b"a\n", &long, &long]).unwrap_err().starts_with("line 2 is longer"));
        assert!(inspect(None, &[&long, b"\n", &long]).is_ok());
    }
}

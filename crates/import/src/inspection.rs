//! Checks a file while it is uploaded: a file that is no text is refused at its beginning, and an unreadable
//! file is refused before any row is imported. Guesses the encoding from the whole file.
//!
//! The check needs the same memory for every file.

mod guess;

use encoding_rs::{Decoder, DecoderResult, UTF_8};
use serde::{Deserialize, Serialize};

use self::guess::Guess;
use super::{Error, Result, encoding};
use domain::phone::Country;

/// The longest line, in bytes: no contact is nearly that long, and rows are read as a whole.
const LONGEST_LINE: usize = 1024 * 1024;
/// The label for an encoding that is guessed.
pub const GUESSED: &str = "auto";
/// How files begin that hold contacts in another format, and what to do with them.
const OTHERS: [(&[u8], Other); 3] = [
    (b"BEGIN:VCARD", Other::VCard),
    (b"PK\x03\x04", Other::Archive),
    (b"\xd0\xcf\x11\xe0", Other::OldWorkbook),
];

/// Bytes by which another format is recognised.
const ENOUGH: usize = 64;

/// A file that contacts are not read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Other {
    /// An address book's file.
    VCard,
    /// A workbook of an old Excel, or any workbook with a password: both begin alike.
    OldWorkbook,
    /// A spreadsheet of LibreOffice.
    OpenDocument,
    /// A spreadsheet of Apple's Numbers.
    Numbers,
    /// A binary workbook of Excel.
    BinaryWorkbook,
    /// An archive that is no workbook.
    Archive,
    /// A workbook that cannot be read.
    DamagedWorkbook,
    /// A workbook that unpacks to too much.
    LargeWorkbook,
    /// A workbook without a sheet of cells.
    NoSheet,
}

impl Other {
    /// Every such file.
    pub const ALL: [Self; 9] = [
        Self::VCard,
        Self::OldWorkbook,
        Self::OpenDocument,
        Self::Numbers,
        Self::BinaryWorkbook,
        Self::Archive,
        Self::DamagedWorkbook,
        Self::LargeWorkbook,
        Self::NoSheet,
    ];

    /// What the file is, and what to do with it.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::VCard => {
                "this is a vCard file (.vcf), and contacts are read from CSV: import it into an address book that exports \
                 CSV (Google Contacts: Import, then Export as Google CSV; Outlook: People, Manage contacts, Export), and \
                 give that file"
            }
            Self::OldWorkbook => {
                "this is an old Excel file (.xls), or one with a password: open it, remove the password, and save it as \
                 .xlsx or as \"CSV UTF-8\""
            }
            Self::OpenDocument => {
                "this is an OpenDocument spreadsheet (.ods): open it, and save it as .xlsx or as CSV in UTF-8"
            }
            Self::Numbers => {
                "this is a file of Numbers: open it, choose File, Export To, and export it as Excel (.xlsx) or as CSV"
            }
            Self::BinaryWorkbook => {
                "this is a binary Excel file (.xlsb): open it, and save it as .xlsx or as \"CSV UTF-8\""
            }
            Self::Archive => {
                "this is an archive (.zip) or another program's file, and contacts are read from CSV and .xlsx: unpack \
                 it, or save its table as .xlsx or as \"CSV UTF-8\""
            }
            Self::DamagedWorkbook => {
                "this Excel file cannot be read, because it is incomplete or damaged: open it in a spreadsheet, and save \
                 it again as .xlsx or as \"CSV UTF-8\""
            }
            Self::LargeWorkbook => {
                "this Excel file holds too much when it is unpacked: split it, or save its table as \"CSV UTF-8\""
            }
            Self::NoSheet => {
                "this Excel file has no sheet with cells: save the table of contacts as .xlsx or as \"CSV UTF-8\""
            }
        }
    }
}

/// The bytes of a file that are not valid in its encoding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongBytes {
    /// How many there are.
    pub count: u64,
    /// The line of the first one, from 1.
    pub line: u64,
    /// Its place in the file, from 0.
    pub offset: u64,
}

/// The result of an inspection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inspected {
    /// The name of the encoding.
    pub encoding: &'static str,
    /// The bytes that are not valid in it; the rows with them are rejected.
    pub wrong: Option<WrongBytes>,
}

/// The inspection of one upload.
pub struct Inspection {
    decoder: Decoder,
    text: Vec<u8>,
    /// Collects what an encoding is guessed from, if it may be guessed.
    guess: Option<Guess>,
    wrong: WrongBytes,
    /// The first bytes, until there are enough to recognise another format; `None` behind them.
    beginning: Option<Vec<u8>>,
    bytes: u64,
    line: u64,
    line_length: usize,
}

impl Inspection {
    /// The inspection of a file in this encoding. Without one, the file must be UTF-8 or have a byte-order
    /// mark. `auto` guesses; people of this `country` sent the file.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEncoding`].
    pub fn new(label: Option<&str>, country: Option<Country>) -> Result<Self> {
        let may_guess = label == Some(GUESSED);
        let decoder = encoding::named(label.filter(|_| !may_guess))?.new_decoder();
        Ok(Self {
            decoder,
            text: Vec::new(),
            guess: may_guess.then(|| Guess::new(country)),
            wrong: WrongBytes::default(),
            beginning: Some(Vec::new()),
            bytes: 0,
            line: 1,
            line_length: 0,
        })
    }

    /// Checks the next piece.
    ///
    /// # Errors
    ///
    /// [`Error::NotEncoded`] for a byte that is invalid in the encoding, [`Error::NotCsv`] for a file of another format,
    /// [`Error::NotText`] for a file that is no text, [`Error::EndlessLine`] for a line that is far too long.
    pub fn feed(&mut self, piece: &[u8]) -> Result<()> {
        let Some(mut beginning) = self.beginning.take() else { return self.look(piece, false) };
        beginning.extend_from_slice(piece);
        if beginning.len() < ENOUGH {
            self.beginning = Some(beginning);
            return Ok(());
        }
        recognise(&beginning)?;
        self.look(&beginning, false)
    }

    /// Ends the inspection of a complete file.
    ///
    /// # Errors
    ///
    /// As [`Inspection::feed`], and [`Error::Empty`].
    pub fn finish(mut self) -> Result<Inspected> {
        let beginning = self.beginning.take().unwrap_or_default();
        recognise(&beginning)?;
        self.look(&beginning, true)?;
        if self.bytes == 0 {
            return Err(Error::Empty);
        }
        let is_wrong = self.wrong.count > 0;
        let utf8 =
            Inspected { encoding: self.decoder.encoding().name(), wrong: is_wrong.then_some(self.wrong) };
        let guessed =
            self.guess.filter(|_| is_wrong).and_then(|guess| guess.instead_of_utf8(self.wrong.count));
        Ok(guessed.map_or(utf8, |encoding| Inspected { encoding: encoding.name(), wrong: None }))
    }

    fn look(&mut self, mut piece: &[u8], is_last: bool) -> Result<()> {
        self.bytes += piece.len() as u64;
        if let Some(guess) = &mut self.guess {
            guess.feed(piece);
        }
        loop {
            // One byte of any encoding becomes at most three bytes of UTF-8.
            self.text.resize(3 * piece.len() + 16, 0);
            let (result, read, written) =
                self.decoder.decode_to_utf8_without_replacement(piece, &mut self.text, is_last);
            let before = self.bytes - piece.len() as u64;
            self.count(written)?;
            piece = &piece[read..];
            let (bad, after) = match result {
                DecoderResult::InputEmpty | DecoderResult::OutputFull => return Ok(()),
                DecoderResult::Malformed(bad, after) => (bad, after),
            };
            let offset = (before + read as u64).saturating_sub(u64::from(bad) + u64::from(after));
            let may_go_on = self.guess.is_some() && self.decoder.encoding() == UTF_8;
            if !may_go_on {
                let encoding = self.decoder.encoding().name();
                return Err(Error::NotEncoded { line: self.line, offset, encoding });
            }
            if self.wrong.count == 0 {
                (self.wrong.line, self.wrong.offset) = (self.line, offset);
            }
            self.wrong.count += 1;
            // A binary file has so many that its lines are counted in bytes, too.
            self.line_length += 1;
        }
    }

    /// Counts the lines of the decoded text.
    fn count(&mut self, written: usize) -> Result<()> {
        let text = &self.text[..written];
        if let Some(guess) = &mut self.guess {
            guess.decoded(text);
        }
        for line in text.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
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
}

/// Refuses a file of another format, by its first bytes.
fn recognise(beginning: &[u8]) -> Result<()> {
    let bare = beginning.strip_prefix("\u{feff}".as_bytes()).unwrap_or(beginning).trim_ascii_start();
    let begins = |with: &[u8]| bare.get(..with.len()).is_some_and(|it| it.eq_ignore_ascii_case(with));
    match OTHERS.into_iter().find(|(with, _)| begins(with)) {
        Some((_, other)) => Err(Error::NotCsv(other)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;

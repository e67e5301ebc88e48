//! Files for people, in the form in which they gave theirs: their spreadsheet opens it in columns, with the right letters.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::encoding;
use super::export::BYTE_ORDER_MARK;
use super::records::DELIMITERS;
use super::settings::Settings;

/// What separates the cells of a file, and its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFormat {
    delimiter: u8,
    encoding: &'static Encoding,
}

impl FileFormat {
    /// The format of an uploaded file. A delimiter that only a `sep=` line can name becomes a comma: a file without that line
    /// could not be read back.
    pub fn of(settings: &Settings) -> Self {
        let delimiter = settings.delimiter.and_then(|delimiter| u8::try_from(delimiter).ok());
        let delimiter = delimiter.filter(|delimiter| DELIMITERS.contains(delimiter));
        let encoding = encoding::named(Some(settings.encoding.as_str()).filter(|name| !name.is_empty()));
        Self { delimiter: delimiter.unwrap_or(b','), encoding: encoding.unwrap_or(UTF_8) }
    }

    /// What separates the cells.
    pub const fn delimiter(self) -> u8 {
        self.delimiter
    }

    /// The name of the encoding.
    pub fn encoding(self) -> &'static str {
        self.encoding.name()
    }

    /// The text at the beginning of a file in this format, by which spreadsheets know the encoding.
    pub fn mark(self) -> &'static str {
        let has_mark = [UTF_8, UTF_16LE, UTF_16BE].contains(&self.encoding);
        if has_mark { BYTE_ORDER_MARK } else { "" }
    }

    /// A text in this encoding. A letter that the encoding lacks becomes a question mark.
    pub fn encoded(self, text: &str) -> Vec<u8> {
        if self.encoding == UTF_16LE {
            return text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        }
        if self.encoding == UTF_16BE {
            return text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        }
        let (bytes, _, has_unknown) = self.encoding.encode(text);
        if !has_unknown {
            return bytes.into_owned();
        }
        let mut bytes = Vec::with_capacity(text.len());
        for letter in text.chars() {
            let mut room = [0; 4];
            let (letter, _, is_unknown) = self.encoding.encode(letter.encode_utf8(&mut room));
            let known: &[u8] = if is_unknown { b"?" } else { &letter };
            bytes.extend_from_slice(known);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(encoding: &str, delimiter: Option<char>) -> FileFormat {
        let settings = Settings { encoding: encoding.to_owned(), delimiter, ..Settings::default() };
        FileFormat::of(&settings)
    }

    #[test]
    fn a_text_is_written_in_the_encoding_of_the_file() {
        let latin = format("windows-1252", Some(';'));
        assert_eq!((latin.delimiter(), latin.mark()), (b';', ""));
        assert_eq!(latin.encoded("João 5€"), b"Jo\xe3o 5\x80");
        assert_eq!(latin.encoded("João Łukasz 🎉"), b"Jo\xe3o ?ukasz ?");
        assert_eq!(format("UTF-16LE", Some('\t')).encoded("\u{feff}ã"), [0xff, 0xfe, 0xe3, 0]);
        let unicode = format("", None);
        assert_eq!((unicode.delimiter(), unicode.mark(), unicode.encoding()), (b',', "\u{feff}", "UTF-8"));
        assert_eq!(unicode.encoded("Ł"), "Ł".as_bytes());
    }

    #[test]
    fn a_delimiter_that_is_not_found_without_its_line_is_written_as_a_comma() {
        let written = [',', ';', '|', '\t', '#', 'a', ' ', '\0', 'é', 'Ł'];
        let written = written.map(|delimiter| format("", Some(delimiter)).delimiter());
        assert_eq!(written, *b",;|\t,,,,,,");
    }
}

//! Guesses the encoding of a file that is not valid UTF-8 from beginning to end.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, MACINTOSH, WINDOWS_1252};

use domain::phone::Country;

/// Bytes from which an encoding is guessed, from the first on that is not ASCII: more would not change the guess.
const LOOKED_AT: usize = 1024 * 1024;

/// What the guess is made from.
pub(super) struct Guess {
    detector: EncodingDetector,
    /// The country, as the name of a domain: it decides between encodings that are alike.
    domain: Option<String>,
    fed: usize,
    /// How often each byte from 128 on occurs in the part that was fed.
    high: [u64; 128],
    /// Characters of the file that are valid UTF-8 and not ASCII.
    characters: u64,
}

impl Guess {
    pub(super) fn new(country: Option<Country>) -> Self {
        Self {
            detector: EncodingDetector::new(Iso2022JpDetection::Deny),
            domain: country.map(|country| country.code().to_ascii_lowercase()),
            fed: 0,
            high: [0; 128],
            characters: 0,
        }
    }

    /// Takes the next piece of the file. It does not matter where the pieces begin.
    pub(super) fn feed(&mut self, piece: &[u8]) {
        // What stands before the first byte that is not ASCII counts for nothing.
        let ascii = if self.fed == 0 { piece.iter().take_while(|byte| byte.is_ascii()).count() } else { 0 };
        let end = piece.len().min(ascii + LOOKED_AT - self.fed);
        if end > 0 && self.fed < LOOKED_AT {
            self.detector.feed(&piece[..end], false);
        }
        for byte in piece[ascii..end].iter().filter(|byte| !byte.is_ascii()) {
            self.high[usize::from(byte & 0x7f)] += 1;
        }
        self.fed += end - ascii;
    }

    /// Takes the next text that is valid UTF-8.
    pub(super) fn decoded(&mut self, text: &[u8]) {
        self.characters += text.iter().filter(|byte| **byte >= 0xc0).count() as u64;
    }

    /// The encoding of a file with so many bytes that are not valid UTF-8; `None` if it is UTF-8 all the same. Text in
    /// another encoding hardly ever has two bytes in a row that are a character of UTF-8, so that the greater number
    /// decides: one wrong byte does not change all names.
    pub(super) fn instead_of_utf8(self, wrong: u64) -> Option<&'static Encoding> {
        if self.characters > wrong {
            return None;
        }
        let guessed = self.detector.guess(self.domain.as_deref().map(str::as_bytes), Utf8Detection::Deny);
        // The detector knows the encodings of the web, and Mac Roman is none of them.
        let letters = |is_letter: fn(u8) -> bool| {
            let counted = (128..=255_u8).zip(self.high).filter(|(byte, _)| is_letter(*byte));
            counted.map(|(_, count)| count).sum::<u64>()
        };
        let is_mac = guessed.is_single_byte() && letters(is_mac_letter) > letters(is_windows_letter);
        let is_western = guessed == WINDOWS_1252 || self.high[..32].iter().sum::<u64>() > 0;
        Some(if is_mac && is_western { MACINTOSH } else { guessed })
    }
}

/// Whether the byte is a letter of a western language in Mac Roman.
const fn is_mac_letter(byte: u8) -> bool {
    matches!(byte, 0x80..=0x9f | 0xae | 0xaf | 0xbe | 0xbf | 0xcb..=0xcf | 0xd8 | 0xd9 | 0xe5..=0xef | 0xf1..=0xf4)
}

/// Whether the byte is a letter in windows-1252.
const fn is_windows_letter(byte: u8) -> bool {
    matches!(byte, 0x8a | 0x8c | 0x8e | 0x9a | 0x9c | 0x9e | 0x9f | 0xaa | 0xba | 0xc0..=0xd6 | 0xd8..=0xf6 | 0xf8..=0xff)
}

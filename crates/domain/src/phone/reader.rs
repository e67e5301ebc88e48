//! The one reader of phone numbers as people, programs and spreadsheets write them.
//!
//! A text is a number when it is plainly one number: digits of any script with separators between them, perhaps a label
//! before or behind them, perhaps what a spreadsheet, an address book or WhatsApp adds. Everything else is refused with
//! what it looks like. A guess would send somebody's message to a stranger.

use super::{InvalidPhone, MAX_DIGITS, MIN_DIGITS, PhoneNumber, shape};

/// The longest text that is read, in bytes. A number with its separators and labels is shorter.
const LONGEST: usize = 256;
/// The digits of a run that may be a number of its own.
const OWN_NUMBER: usize = MIN_DIGITS;
/// The digits before a slash from which on the digits behind it are another number, or another ending.
const BEFORE_ANOTHER: usize = 9;

pub(super) fn read(text: &str) -> Result<PhoneNumber, InvalidPhone> {
    // Most texts are digits only, or a plus sign and digits.
    let bare = text.strip_prefix('+').unwrap_or(text);
    if (MIN_DIGITS..=MAX_DIGITS).contains(&bare.len()) && bare.bytes().all(|byte| byte.is_ascii_digit()) {
        return number(bare.bytes());
    }
    number(digits_of(text)?.digits.bytes())
}

/// The digits of a text that is plainly one number.
pub(super) struct Digits {
    pub(super) digits: String,
    /// Whether the text says that they begin with a country code.
    pub(super) is_international: bool,
}

/// Reads the digits of a text.
pub(super) fn digits_of(text: &str) -> Result<Digits, InvalidPhone> {
    if text.len() > LONGEST {
        return Err(InvalidPhone::TooLong);
    }
    let text: String = text.chars().filter(|char| !is_invisible(*char)).map(plain).collect();
    let text = without_scheme(text.trim());
    // A plus sign stands before the first digit: one between digits is refused.
    let is_international = text.contains(['+', '@']);
    let part = shape::number_part(text)?;
    Ok(Digits { digits: digits(&part)?, is_international })
}

/// The number of these digits, checked.
pub(super) fn number(digits: impl Iterator<Item = u8>) -> Result<PhoneNumber, InvalidPhone> {
    let (mut value, mut count, mut leading_zero) = (0_u64, 0, false);
    for digit in digits {
        if count == 0 {
            leading_zero = digit == b'0';
        }
        count += 1;
        if count > MAX_DIGITS {
            return Err(InvalidPhone::TooLong);
        }
        value = value * 10 + u64::from(digit - b'0');
    }
    match count {
        0 => Err(InvalidPhone::NoDigits),
        _ if leading_zero => Err(InvalidPhone::LeadingZero),
        1..MIN_DIGITS => Err(InvalidPhone::TooShort),
        _ if is_national(value) => Err(InvalidPhone::National),
        _ => Ok(PhoneNumber(value)),
    }
}

/// Whether the digits can only be a national number: eleven that begin with 10 or 11. With the country code 1 they would
/// have an area code that begins with 0 or 1, and North America has none; São Paulo's mobile numbers begin so.
const fn is_national(value: u64) -> bool {
    matches!(value / 1_000_000_000, 10 | 11)
}

/// The digits of a text that is one number.
fn digits(text: &str) -> Result<String, InvalidPhone> {
    let mut digits = String::with_capacity(MAX_DIGITS + 1);
    // The run of digits at the end of `digits`, and the one before it.
    let (mut run, mut before) = (0, 0);
    let mut between = String::new();
    for char in text.chars() {
        if !char.is_ascii_digit() {
            between.push(char);
            continue;
        }
        if !between.is_empty() {
            if !digits.is_empty() {
                judge(&between, digits.len())?;
                (before, run) = (run, 0);
            }
            between.clear();
        }
        digits.push(char);
        run += 1;
        if run >= OWN_NUMBER && before >= OWN_NUMBER {
            return Err(InvalidPhone::Several);
        }
    }
    if !digits.is_empty() && between.chars().any(char::is_alphabetic) && !is_label_behind(&between) {
        return Err(InvalidPhone::Letters);
    }
    let slash = text.rfind('/').map(|at| text.split_at(at));
    let count = |part: &str| part.bytes().filter(u8::is_ascii_digit).count();
    if let Some((left, right)) = slash.map(|(left, right)| (count(left), count(right)))
        && right > 0
        && (left >= BEFORE_ANOTHER || left.min(right) >= OWN_NUMBER - 1)
    {
        return Err(InvalidPhone::Several);
    }
    Ok(digits)
}

/// Checks what stands between two runs of digits, after `digits` digits.
fn judge(between: &str, digits: usize) -> Result<(), InvalidPhone> {
    let letters: String = between.chars().filter(|char| char.is_alphabetic()).collect();
    if between.contains('#') || EXTENSIONS.contains(&letters.to_lowercase().as_str()) {
        return Err(InvalidPhone::Extension);
    }
    if between.contains('+') {
        return Err(InvalidPhone::Several);
    }
    if !letters.is_empty() {
        let is_list = digits >= OWN_NUMBER && between.contains(char::is_whitespace);
        return Err(if is_list { InvalidPhone::Several } else { InvalidPhone::Letters });
    }
    if between.contains([',', ';', '|', '&', '\n', '\r']) {
        return Err(InvalidPhone::Several);
    }
    let is_separator = |char: char| {
        char.is_whitespace() || matches!(char, '-' | '.' | '/' | '(' | ')' | '[' | ']' | '\'' | '_')
    };
    if between.chars().all(is_separator) { Ok(()) } else { Err(InvalidPhone::Unclear) }
}

/// What people write before an extension, in the languages of address books.
const EXTENSIONS: &[&str] = &[
    "ext",
    "extn",
    "extension",
    "x",
    "ramal",
    "rml",
    "r",
    "int",
    "interno",
    "anexo",
    "poste",
    "dw",
    "durchwahl",
    "доб",
];

/// Whether letters behind the digits are words of their own: `5511988887777 (Ana)`.
fn is_label_behind(text: &str) -> bool {
    text.starts_with(char::is_whitespace) || text.starts_with('(')
}

/// Drops the scheme that links have, `tel:`.
fn without_scheme(text: &str) -> &str {
    match text.get(..4) {
        Some(scheme) if scheme.eq_ignore_ascii_case("tel:") => text[4..].trim_start(),
        _ => text,
    }
}

/// Whether the character shows nothing: marks of direction and joiners, which copied numbers carry.
pub(crate) const fn is_invisible(char: char) -> bool {
    matches!(
        char,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{20e3}' | '\u{feff}'
    )
}

/// The plain form of a character: digits of every script, dashes, pluses and signs of full width as their ASCII
/// characters.
pub(crate) fn plain(char: char) -> char {
    if char.is_ascii() {
        return char;
    }
    if let Some(digit) = decimal(char) {
        return char::from(b'0' + digit);
    }
    match char {
        '\u{58a}'
        | '\u{5be}'
        | '\u{1806}'
        | '\u{2010}'..='\u{2015}'
        | '\u{2043}'
        | '\u{207b}'
        | '\u{2212}'
        | '\u{2e3a}'
        | '\u{2e3b}'
        | '\u{30fc}'
        | '\u{fe58}'
        | '\u{fe63}'
        | '\u{ff0d}' => '-',
        '\u{ff0b}' | '\u{207a}' | '\u{fe62}' | '\u{fb29}' => '+',
        '\u{ff08}' | '\u{fe59}' => '(',
        '\u{ff09}' | '\u{fe5a}' => ')',
        '\u{b7}' | '\u{2022}' | '\u{2024}' | '\u{2027}' | '\u{ff0e}' => '.',
        '\u{2044}' | '\u{2215}' | '\u{ff0f}' => '/',
        '\u{66b}' | '\u{60c}' | '\u{ff0c}' => ',',
        '\u{2018}' | '\u{2019}' => '\'',
        _ => char,
    }
}

/// The digit that a character of any script stands for (the general category `Nd` of Unicode 16: ten neighbours each).
fn decimal(char: char) -> Option<u8> {
    /// The zeros. Mathematical digits, which are five runs of ten without a gap, are one entry of their own below.
    const ZEROS: &[u32] = &[
        0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50,
        0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40,
        0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x10d40,
        0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x116d0, 0x116da,
        0x11730, 0x118e0, 0x11950, 0x11bf0, 0x11c50, 0x11d50, 0x11da0, 0x11f50, 0x16130, 0x16a60, 0x16ac0,
        0x16b50, 0x16d70, 0x1ccf0, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e5f1, 0x1e950, 0x1fbf0,
    ];
    const MATHEMATICAL: std::ops::RangeInclusive<u32> = 0x1d7ce..=0x1d7ff;
    let code = u32::from(char);
    let digit = if MATHEMATICAL.contains(&code) {
        (code - MATHEMATICAL.start()) % 10
    } else {
        let zero = ZEROS[..ZEROS.partition_point(|zero| *zero <= code)].last()?;
        code - zero
    };
    u8::try_from(digit).ok().filter(|digit| *digit < 10)
}

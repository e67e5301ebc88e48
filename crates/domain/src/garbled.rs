//! Names that were decoded in a wrong encoding: `JoÃ£o`, `Jo‹o`, `Jo�o`, `Jo?o` in place of `João`.
//!
//! A file in another encoding than it is read in must not overwrite the good names of an earlier one.

use encoding_rs::{Encoding, MACINTOSH, UTF_8, WINDOWS_1252};

/// Whether the text looks as if it was decoded in a wrong encoding.
pub fn is_garbled(text: &str) -> bool {
    if text.contains('\u{fffd}') {
        return true;
    }
    !text.is_ascii() && (is_utf8_read_as(text, WINDOWS_1252) || is_utf8_read_as(text, MACINTOSH))
        || has_sign_in_word(text)
}

/// Whether `new` is the name `known`, decoded in a wrong encoding.
pub fn is_worse(new: &str, known: &str) -> bool {
    new != known
        && letters(new).eq(letters(known))
        && !known.is_ascii()
        && is_garbled(new)
        && !is_garbled(known)
}

/// The letters that nearly all encodings have in common, without case.
fn letters(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().filter(u8::is_ascii_alphabetic).map(|byte| byte.to_ascii_lowercase())
}

/// Whether the characters are the bytes of UTF-8 text in another encoding.
fn is_utf8_read_as(text: &str, encoding: &'static Encoding) -> bool {
    let (bytes, _, is_unknown) = encoding.encode(text);
    !is_unknown && UTF_8.decode_without_bom_handling_and_without_replacement(&bytes).is_some()
}

/// Whether a sign that no name has stands between or beside its letters.
fn has_sign_in_word(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    chars.iter().enumerate().any(|(index, sign)| {
        let is_letter = |index: Option<usize>| {
            index.and_then(|index| chars.get(index)).is_some_and(|char| char.is_alphabetic())
        };
        let (before, behind) = (is_letter(index.checked_sub(1)), is_letter(Some(index + 1)));
        match sign {
            '?' => before && behind,
            '\u{80}'..='\u{9f}' => before || behind,
            '‚' | '„' | '†' | '‡' | '‰' | '‹' | '›' | '˜' | '¤' | '¢' | '£' | '¥' | '§' | '¶' | '±' | '¿'
            | '¡' | '√' | '∂' | '∏' | '∑' | '∫' | '≈' | '∞' | '≠' | '≤' | '≥' | '◊' | 'Ω' => {
                before && behind && is_latin(&chars)
            }
            _ => false,
        }
    })
}

/// Whether the letters are mostly Latin ones: a sign such as `Ω` is a letter among Greek ones.
fn is_latin(chars: &[char]) -> bool {
    let letters = chars.iter().filter(|char| char.is_alphabetic()).count();
    2 * chars.iter().filter(|char| char.is_ascii_alphabetic()).count() >= letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_decoded_in_a_wrong_encoding_is_recognised() {
        for name in [
            "JoÃ£o",
            "ConceiÃ§Ã£o",
            "Jo√£o",
            "Jo‹o",
            "Jo„o",
            "Jo\u{fffd}o",
            "Jo?o",
            "Jo\u{8b}o",
            "Î“Î¹ÏŽÏ\u{81}Î³Î¿Ï‚",
            "Ð\u{9c}Ð°Ñ€Ð¸Ñ\u{8f}",
        ] {
            assert!(is_garbled(name), "{name}");
        }
        for name in [
            "João",
            "Ana",
            "Γιώργος",
            "Мария",
            "山田太郎",
            "O’Neil",
            "Zoë “Zo” Kravitz",
            "Who?",
            "Ángel ¿Quién?",
            "",
            "🎉 festa",
            "Łukasz",
            "Müller & Söhne",
        ] {
            assert!(!is_garbled(name), "{name}");
        }
    }

    #[test]
    fn only_a_good_name_is_better_than_the_same_name_in_a_wrong_encoding() {
        for (new, known, is) in [
            ("JoÃ£o", "João", true),
            ("JO?O", "João", true),
            ("João", "JoÃ£o", false),
            ("Joao", "João", false),
            ("JoÃ£o", "Maria", false),
            ("JoÃ£o", "JoÃ£o", false),
            ("JoÃ£o", "Joo", false),
            ("Î“Î¹ÏŽ", "Γιώ", true),
            ("João", "João", false),
        ] {
            assert_eq!(is_worse(new, known), is, "{new} for {known}");
        }
    }
}

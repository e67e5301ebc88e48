//! Recognises one emoji, by the grammar of Unicode's [technical standard 51](https://www.unicode.org/reports/tr51/).

use std::iter::Peekable;
use std::str::Chars;

const JOINER: char = '\u{200d}';
const AS_PICTURE: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

/// Whether a text is exactly one emoji, as it is shown: a flag, a keycap, or pictures that are joined to one. Pictures
/// that Unicode adds later are recognised by the blocks in which it adds them.
pub fn is_one(text: &str) -> bool {
    let mut rest = text.chars().peekable();
    loop {
        if !element(&mut rest) {
            return false;
        }
        match rest.next() {
            None => return true,
            Some(JOINER) => {}
            Some(_) => return false,
        }
    }
}

/// Takes one picture with its modifiers; `false` if there is none.
fn element(rest: &mut Peekable<Chars<'_>>) -> bool {
    match rest.next() {
        Some('0'..='9' | '#' | '*') => {
            rest.next_if_eq(&AS_PICTURE);
            rest.next() == Some(KEYCAP)
        }
        Some(letter) if is_flag_letter(letter) => rest.next().is_some_and(is_flag_letter),
        Some(picture) if is_picture(picture) => {
            while rest.next_if(|next| is_modifier(*next)).is_some() {}
            true
        }
        _ => false,
    }
}

const fn is_flag_letter(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

/// The presentation as a picture, a tone of skin, and the letters of a region's flag.
const fn is_modifier(c: char) -> bool {
    matches!(c, AS_PICTURE | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}')
}

const fn is_picture(c: char) -> bool {
    matches!(
        c,
        '©' | '®' | '‼' | '⁉' | '™' | 'ℹ' | 'Ⓜ' | '〰' | '〽' | '㊗' | '㊙'
            | '\u{2190}'..='\u{23ff}'
            | '\u{25a0}'..='\u{27bf}'
            | '\u{2900}'..='\u{297f}'
            | '\u{2b00}'..='\u{2bff}'
            | '\u{1f000}'..='\u{1faff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_emoji_is_one_however_many_characters_it_has() {
        for text in [
            "👍",
            "👍🏽",
            "❤",
            "❤️",
            "😀",
            "👨‍👩‍👧‍👦",
            "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
            "🇧🇷",
            "1️⃣",
            "#⃣",
            "☺️",
            "🏳️‍🌈",
            "🅰️",
            "ℹ️",
            "©️",
            "🫶",
            "🧑🏿‍💻",
            "⌚",
        ] {
            assert!(is_one(text), "{text}");
        }
    }

    #[test]
    fn a_letter_several_emoji_and_a_half_are_none() {
        for text in [
            "",
            " ",
            "a",
            "+",
            "1",
            "👍👍",
            "👍 ",
            " 👍",
            "🇧",
            "🇧🇷🇧🇷",
            "ok",
            "é",
            ":)",
            "👨‍",
            "‍👨",
            "👍a",
            "\u{fe0f}",
            "中",
            "1️",
        ] {
            assert!(!is_one(text), "{text:?}");
        }
    }
}

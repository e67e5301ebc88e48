//! Folding of text for search: without case, without accents, one meaning on every database.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::phone::{is_invisible, plain};

/// Without case, accents and marks that show nothing; every space, dash and digit is its ASCII character.
///
/// The case folds as Unicode's full case folding does, with the dotless i of Turkish as an i: `Groß` is `gross`, `ς` is
/// `σ`, `IŞIK` and `ışık` are `isik`. Letters with a stroke, which Unicode does not decompose, lose it: `Łukasz` is
/// `lukasz`. Because no folded text holds a control character, a newline can separate the fields of one search text and
/// no search ever matches across it.
///
/// Folded texts are stored. A change of this function needs a migration that fills `contact_refold` with all companies.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text
            .chars()
            .map(|c| if c.is_ascii_control() { ' ' } else { c.to_ascii_lowercase() })
            .collect();
    }
    let mut folded = String::with_capacity(text.len());
    let shown = text.nfkd().filter(|c| !is_combining_mark(*c) && !is_invisible(*c)).map(plain);
    // Upper case unites letters that lower case keeps apart: the final sigma, the dotless i. In lower case before, the
    // capital sharp s has an upper case, too.
    let caseless =
        shown.flat_map(char::to_lowercase).flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    for c in caseless.filter(|c| !is_combining_mark(*c)) {
        match without_stroke(c) {
            Some(plain) => folded.push_str(plain),
            None if c.is_whitespace() || c.is_control() => folded.push(' '),
            None => folded.push(c),
        }
    }
    folded
}

/// The plain letters of a letter that no decomposition has: with a stroke, a hook or a tail, or two in one. In lower
/// case.
const fn without_stroke(c: char) -> Option<&'static str> {
    Some(match c {
        'ł' | 'ƚ' | 'ɫ' => "l",
        'đ' | 'ð' | 'ɖ' | 'ɗ' => "d",
        'ø' | 'ɵ' => "o",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ħ' => "h",
        'ŧ' => "t",
        'ŋ' => "n",
        'ɓ' | 'ƀ' => "b",
        'ƙ' | 'ĸ' => "k",
        'ƴ' | 'ɏ' => "y",
        'ɨ' => "i",
        'ʉ' => "u",
        'ƶ' => "z",
        'ə' | 'ɛ' | 'ɇ' => "e",
        'ⱥ' => "a",
        'ȼ' => "c",
        'ǥ' | 'ɠ' => "g",
        // Apostrophes of names: O’Brien, Hawaiʻi.
        'ʼ' | 'ʻ' | 'ʹ' | '‛' => "'",
        _ => return None,
    })
}

/// The digits of `text`, in order.
pub fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// Whether `text` has a digit and nothing that a written phone number would not have.
pub fn looks_like_a_number(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '(' | ')' | '.' | '/' | ' '))
}

/// `text` as a pattern for `LIKE … ESCAPE '\'` that matches it anywhere, `%` and `_` being plain.
pub fn like_anywhere(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_accents_do_not_matter() {
        assert_eq!(fold("São JOÃO Ωmega ﬁn"), "sao joao ωmega fin");
        assert_eq!(fold("İstanbul"), "istanbul");
        assert_eq!(fold("a\nb"), "a b");
    }

    #[test]
    fn a_name_folds_as_its_readers_write_it_without_accents() {
        for (written, folded) in [
            ("Γιώργος ΠΑΠΑΔΌΠΟΥΛΟΣ", "γιωργοσ παπαδοπουλοσ"),
            ("Hans Großmann", "hans grossmann"),
            ("HANS GROẞMANN", "hans grossmann"),
            ("IŞIK ışık İzmir", "isik isik izmir"),
            ("Łukasz Wójcik", "lukasz wojcik"),
            ("Nguyễn Đức", "nguyen duc"),
            ("Søren Ærø", "soren aero"),
            ("O’Brien", "o'brien"),
            ("re\u{ad}mar\u{200b}que", "remarque"),
        ] {
            assert_eq!(fold(written), folded, "{written}");
        }
    }

    #[test]
    fn a_number_that_was_copied_is_digits_with_plain_separators() {
        let copied = "\u{202a}+55\u{a0}11\u{202f}90000\u{2011}0701\u{202c}";
        assert_eq!(fold(copied), "+55 11 90000-0701");
        assert!(looks_like_a_number(&fold(copied)));
        assert_eq!(digits(&fold("٥٥١١ ９")), "55119");
    }

    proptest::proptest! {
        #[test]
        fn a_folded_text_stays_as_it_is(text in proptest::prelude::any::<String>()) {
            let folded = fold(&text);
            proptest::prop_assert_eq!(fold(&folded), folded);
        }
    }

    #[test]
    fn wildcards_are_plain_characters() {
        assert_eq!(like_anywhere(r"50%_\"), r"%50\%\_\\%");
    }

    #[test]
    fn a_written_number_is_recognised() {
        assert!(looks_like_a_number("+55 (11) 9"));
        assert!(!looks_like_a_number("flat 9"));
        assert!(!looks_like_a_number("()"));
    }
}

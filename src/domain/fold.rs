//! Folding of text for search: without case, without accents, one meaning on every database.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Lower-cased, compatibility-decomposed, accents dropped, control characters made into spaces.
///
/// Because no folded text holds a control character, a newline can separate the fields of one search
/// text and no search ever matches across it.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text
            .chars()
            .map(|c| if c.is_ascii_control() { ' ' } else { c.to_ascii_lowercase() })
            .collect();
    }
    text.nfkd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .filter(|c| !is_combining_mark(*c))
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
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

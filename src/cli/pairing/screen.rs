//! The texts and codes that are shown to the person with the phone.

use std::io::{self, IsTerminal as _};

use anyhow::Context as _;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;

/// A QR code of half blocks below a sentence, with its quiet zone. It is dark on light on a light terminal
/// and light on dark on a dark one: phones read both.
pub(super) fn drawn(sentence: &str, payload: &str) -> anyhow::Result<String> {
    let code = QrCode::new(payload).context("the code cannot be drawn")?;
    let blocks = code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build();
    Ok(format!("{sentence}\n\n{blocks}\n"))
}

/// The text that was written last, and whether the next text replaces it.
pub(in crate::cli) struct Screen {
    is_replaced: bool,
    shown: String,
}

impl Screen {
    /// On a terminal, each text replaces the one before; elsewhere the texts follow each other.
    pub(in crate::cli) fn replacing() -> Self {
        Self { is_replaced: io::stdout().is_terminal(), shown: String::new() }
    }

    /// Each text is written after the one before.
    #[cfg(feature = "tools")]
    pub(in crate::cli) fn keeping() -> Self {
        Self { is_replaced: false, shown: String::new() }
    }

    /// The bytes to write so that this text is shown; `None` when it is shown already.
    pub(super) fn next(&mut self, text: String) -> Option<String> {
        if text == self.shown {
            return None;
        }
        let written = self.instead(&text);
        self.shown = text;
        Some(written)
    }

    /// The text, after the control characters that remove the text that is shown.
    pub(super) fn instead(&self, text: &str) -> String {
        if !self.is_replaced || self.shown.is_empty() {
            return text.to_owned();
        }
        // Each text is followed by an end of line.
        let lines = self.shown.matches('\n').count() + 1;
        format!("\u{1b}[{lines}F\u{1b}[J{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_drawn_with_half_blocks_and_a_quiet_zone() {
        let text = drawn("Scan this.", "2@ref,noise,identity,secret,1").unwrap();
        let rows: Vec<_> = text.lines().skip(2).take_while(|row| !row.is_empty()).collect();
        let width = rows[0].chars().count();
        assert!(rows.iter().all(|row| row.chars().count() == width), "{text}");
        assert!(text.chars().all(|c| c.is_ascii() || "█▀▄".contains(c)), "{text}");
        assert!(rows[0].chars().all(|c| c == '█'), "{text}");
    }

    #[test]
    fn a_newer_code_takes_the_place_of_the_older_on_a_terminal_only() {
        let mut screen = Screen { is_replaced: true, shown: String::new() };
        assert_eq!(screen.next("one\ntwo".to_owned()).unwrap(), "one\ntwo");
        assert_eq!(screen.next("one\ntwo".to_owned()), None);
        assert_eq!(screen.next("three".to_owned()).unwrap(), "\u{1b}[2F\u{1b}[Jthree");
        let mut screen = Screen { is_replaced: false, shown: "one".to_owned() };
        assert_eq!(screen.next("two".to_owned()).unwrap(), "two");
    }
}

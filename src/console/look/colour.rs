//! The colour of links and buttons, corrected so that it can be read: at least 4.5:1 (WCAG 2.2, AA) against each surface that
//! text of this colour stands on, in light and in dark.

use std::fmt;

/// Colours to choose from, each with the key of its name.
pub(crate) const PALETTE: [(&str, &str); 6] = [
    ("#1d5fd1", "look-blue"),
    ("#0f766e", "look-teal"),
    ("#6f45c8", "look-violet"),
    ("#b0256b", "look-pink"),
    ("#a8480c", "look-orange"),
    ("#475569", "look-slate"),
];

/// The least contrast of text.
const AA: f64 = 4.5;
const BLACK: Colour = Colour([0, 0, 0]);
const WHITE: Colour = Colour([255, 255, 255]);
/// The surfaces of the style sheet on which text of this colour is hardest to read, in light and in dark: `--raised`.
const RAISED_LIGHT: Colour = Colour([0xef, 0xf3, 0xf1]);
const RAISED_DARK: Colour = Colour([0x23, 0x2a, 0x27]);
/// The surface of cards in dark, which the tint there is mixed with, and the ink on filled buttons there.
const SURFACE_DARK: Colour = Colour([0x18, 0x1d, 0x1b]);
const INK_DARK: Colour = Colour([0x0b, 0x10, 0x0e]);
/// How much of the colour is in its tint, in percent.
const TINT: u16 = 12;

/// A colour: red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Colour([u8; 3]);

impl Colour {
    /// Reads `#` and six hexadecimal digits, in any case.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::of_digits(&text.trim().strip_prefix('#')?.to_ascii_lowercase())
    }

    /// Reads six hexadecimal digits in small letters, as they stand in an address.
    pub(crate) fn of_digits(digits: &str) -> Option<Self> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if digits.len() != 6 || !digits.bytes().all(is_digit) {
            return None;
        }
        let [_, red, green, blue] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
        Some(Self([red, green, blue]))
    }

    /// The six hexadecimal digits.
    pub(crate) fn digits(self) -> String {
        hex::encode(self.0)
    }

    /// The colour on light surfaces: as it is, or as much darker as it has to be.
    pub(crate) fn on_light(self) -> Self {
        self.until(BLACK, |colour| [RAISED_LIGHT, colour.tint(WHITE)])
    }

    /// The colour on dark surfaces: as it is, or as much lighter as it has to be.
    pub(crate) fn on_dark(self) -> Self {
        self.until(WHITE, |colour| [RAISED_DARK, colour.tint(SURFACE_DARK)])
    }

    /// The first colour on the way to `end` that can be read on each of its surfaces.
    fn until(self, end: Self, surfaces: impl Fn(Self) -> [Self; 2]) -> Self {
        let mut steps = (0..=100).step_by(4).map(|part| self.mixed(end, part));
        let is_read = |colour: &Self| surfaces(*colour).iter().all(|on| colour.contrast(*on) >= AA);
        steps.find(is_read).unwrap_or(end)
    }

    /// A hint of the colour on a surface.
    fn tint(self, surface: Self) -> Self {
        surface.mixed(self, TINT)
    }

    /// This colour with `part` percent of another one.
    fn mixed(self, other: Self, part: u16) -> Self {
        let mixed = |own: u8, other: u8| {
            let sum = u16::from(own) * (100 - part) + u16::from(other) * part;
            u8::try_from(sum / 100).unwrap_or(u8::MAX)
        };
        let ([red, green, blue], [other_red, other_green, other_blue]) = (self.0, other.0);
        Self([mixed(red, other_red), mixed(green, other_green), mixed(blue, other_blue)])
    }

    /// The contrast with another colour, from 1 to 21 (WCAG 2.2, "contrast ratio").
    fn contrast(self, other: Self) -> f64 {
        let (own, other) = (self.luminance(), other.luminance());
        (own.max(other) + 0.05) / (own.min(other) + 0.05)
    }

    /// The relative luminance (WCAG 2.2).
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// The tokens that replace those of the common style sheet.
    pub(crate) fn stylesheet(self) -> String {
        let (light, dark) = (self.on_light(), self.on_dark());
        format!(
            ":root{{--accent:light-dark({light},{dark});--on-accent:light-dark({WHITE},{INK_DARK});\
             --accent-tint:light-dark({},{})}}\n",
            light.tint(WHITE),
            dark.tint(SURFACE_DARK)
        )
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.digits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_can_be_read_in_light_and_in_dark() {
        let grid = (0..=u8::MAX).step_by(51);
        for (red, green, blue) in grid
            .clone()
            .flat_map(|red| grid.clone().map(move |green| (red, green)))
            .flat_map(|(red, green)| (0..=u8::MAX).step_by(51).map(move |blue| (red, green, blue)))
        {
            let colour = Colour([red, green, blue]);
            let (light, dark) = (colour.on_light(), colour.on_dark());
            for (text, surface) in [
                (light, RAISED_LIGHT),
                (light, WHITE),
                (light, light.tint(WHITE)),
                (dark, RAISED_DARK),
                (dark, INK_DARK),
                (dark, dark.tint(SURFACE_DARK)),
            ] {
                assert!(text.contrast(surface) >= AA, "{colour}: {text} on {surface}");
            }
        }
    }

    #[test]
    fn a_colour_that_can_be_read_stays_and_others_are_corrected() {
        let blue = Colour::parse(" #1D5FD1 ").unwrap();
        assert_eq!((blue.on_light(), blue.on_dark() == blue), (blue, false));
        let yellow = Colour::parse("#ffee00").unwrap();
        assert_eq!((yellow.on_dark(), yellow.on_light() == yellow), (yellow, false));
        assert!(
            PALETTE.iter().all(|(colour, _)| {
                Colour::parse(colour).is_some_and(|colour| colour.on_light() == colour)
            })
        );
        for wrong in ["", "#", "1d5fd1", "#1d5fd", "#1d5fd1a", "#1d5fg1", "red", "#+d5fd1"] {
            assert_eq!(Colour::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Colour::of_digits("1D5FD1"), None, "an address has one spelling");
    }
}

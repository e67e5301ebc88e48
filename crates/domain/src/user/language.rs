//! A language: its name, its tag, and the format of its numbers.

use super::Language;

impl Language {
    /// Its own name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Portuguese => "Português (Brasil)",
            Self::Spanish => "Español",
        }
    }

    /// The language of a tag such as `pt` or `es-419`.
    pub fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.trim().split(['-', '_']).next().unwrap_or_default();
        match primary.to_ascii_lowercase().as_str() {
            "en" => Some(Self::English),
            "pt" => Some(Self::Portuguese),
            "es" => Some(Self::Spanish),
            _ => None,
        }
    }

    /// The language that a browser prefers, by its header `Accept-Language`; English when it names none of ours.
    pub fn accepted(accepted: &str) -> Self {
        let mut best = (0.0, Self::English);
        for entry in accepted.split(',').take(32) {
            let (tag, parameters) = entry.split_once(';').unwrap_or((entry, ""));
            let weight =
                parameters.trim().strip_prefix("q=").map_or(Some(1.0_f32), |q| q.trim().parse().ok());
            if let Some((weight, language)) = weight.zip(Self::of_tag(tag))
                && weight > best.0
            {
                best = (weight, language);
            }
        }
        best.1
    }

    /// The separators of thousands and of decimals.
    const fn separators(self) -> (char, char) {
        match self {
            Self::English => (',', '.'),
            Self::Portuguese | Self::Spanish => ('.', ','),
        }
    }

    /// A whole number: 1,234,567 or 1.234.567.
    pub fn whole(self, number: u64) -> String {
        let digits = number.to_string();
        // Spanish separates thousands only in numbers of five digits and more.
        if self == Self::Spanish && digits.len() < 5 {
            return digits;
        }
        let (thousands, _) = self.separators();
        let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                grouped.push(thousands);
            }
            grouped.push(digit);
        }
        grouped
    }

    /// A number that is not negative, with exactly this many decimals.
    pub fn fixed(self, number: f64, decimals: usize) -> String {
        let written = format!("{number:.decimals$}");
        let (whole, fraction) = written.split_once('.').unwrap_or((&written, ""));
        let whole = whole.parse().map_or_else(|_| whole.to_owned(), |whole| self.whole(whole));
        let (_, point) = self.separators();
        if fraction.is_empty() { whole } else { format!("{whole}{point}{fraction}") }
    }

    /// A number with at most this many decimals, without trailing zeros.
    pub fn decimal(self, number: f64, decimals: usize) -> String {
        let written = format!("{:.decimals$}", number.abs());
        let (whole, fraction) = written.split_once('.').unwrap_or((&written, ""));
        let fraction = fraction.trim_end_matches('0');
        let whole = whole.parse().map_or_else(|_| whole.to_owned(), |whole| self.whole(whole));
        let is_zero = fraction.is_empty() && whole == "0";
        let sign = if number < 0.0 && !is_zero { "-" } else { "" };
        let (_, point) = self.separators();
        if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}{point}{fraction}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_s_first_choice_among_ours_is_taken() {
        for (accepted, language) in [
            ("", Language::English),
            ("de, fr;q=0.9", Language::English),
            ("pt-BR,pt;q=0.9,en;q=0.8", Language::Portuguese),
            ("de, en;q=0.4, es-419;q=0.7", Language::Spanish),
            ("pt;q=0, es;q=0.1", Language::Spanish),
            ("pt;q=x", Language::English),
        ] {
            assert_eq!(Language::accepted(accepted), language, "{accepted}");
        }
    }

    #[test]
    fn numbers_are_written_as_each_language_does() {
        let [english, portuguese, spanish] = Language::ALL;
        assert_eq!([0, 999, 1_234, 1_234_567].map(|n| english.whole(n)), ["0", "999", "1,234", "1,234,567"]);
        assert_eq!([1_234, 1_000_000].map(|n| portuguese.whole(n)), ["1.234", "1.000.000"]);
        assert_eq!([1_234, 12_345].map(|n| spanish.whole(n)), ["1234", "12.345"]);
        assert_eq!(
            [0.0, 1_234.5, -0.04, -2.25].map(|n| english.decimal(n, 1)),
            ["0", "1,234.5", "0", "-2.2"]
        );
        assert_eq!(portuguese.decimal(0.75, 2), "0,75");
    }
}

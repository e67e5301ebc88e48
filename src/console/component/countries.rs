//! The countries of numbers, by their names in the person's language.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::console::language::Language;
use crate::console::text::Text;
use crate::domain::fold::fold;
use crate::domain::phone::Country;

/// Each country's code and its names in English, Portuguese and Spanish, from Unicode's CLDR.
const NAMES: &str = include_str!("../countries.tsv");

static BY_CODE: LazyLock<HashMap<&str, [&str; 3]>> = LazyLock::new(|| {
    let names = NAMES.lines().filter_map(|line| {
        let mut cells = line.split('\t');
        Some((cells.next()?, [cells.next()?, cells.next()?, cells.next()?]))
    });
    names.collect()
});

/// The name of a country.
pub(crate) fn name(text: Text, country: Country) -> &'static str {
    let place = match text.0 {
        Language::English => 0,
        Language::Portuguese => 1,
        Language::Spanish => 2,
    };
    BY_CODE.get(country.code()).map_or(country.code(), |names| names[place])
}

/// The values and words of a choice of countries, in the order of their names: `BR`, `Brazil (+55)`.
pub(crate) fn options(text: Text) -> Vec<(&'static str, String)> {
    let mut all: Vec<Country> = Country::all().collect();
    all.sort_by_cached_key(|country| fold(name(text, *country)));
    let words = |country: Country| format!("{} (+{})", name(text, country), country.calling_code());
    let none = ("", text.get("shell-no-country"));
    std::iter::once(none).chain(all.into_iter().map(|country| (country.code(), words(country)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_country_has_a_name_in_every_language() {
        for country in Country::all() {
            for language in [Language::English, Language::Portuguese, Language::Spanish] {
                assert_ne!(name(Text(language), country), country.code(), "{country:?}");
            }
        }
        let options = options(Text(Language::Portuguese));
        assert!(options.contains(&("BR", "Brasil (+55)".to_owned())));
        assert_eq!(options.len(), Country::all().count() + 1);
    }
}

//! A tag: its name in one of a few colours that are easy to read in light and dark, the nearest one to the tag's own.

use maud::{Markup, html};

use crate::domain::contact::TagSummary;
use crate::domain::fold::fold;

/// The classes of the colours. None is the red of failures.
const HUES: [&str; 5] = [AMBER, GREEN, BLUE, VIOLET, SLATE];
const AMBER: &str = "tag h-amber";
const GREEN: &str = "tag h-green";
const BLUE: &str = "tag h-blue";
const VIOLET: &str = "tag h-violet";
const SLATE: &str = "tag h-slate";

/// The name of a tag.
pub(crate) fn tag(known: &TagSummary) -> Markup {
    html! { span class=(class(known)) { bdi { (known.name) } } }
}

/// The classes of an element that has the name of a tag.
pub(crate) fn class(known: &TagSummary) -> &'static str {
    nearest(&known.color).unwrap_or(SLATE)
}

/// The classes of an element with the name of something that has no colour of its own: the name decides.
pub(crate) fn by_name(name: &str) -> &'static str {
    // FNV-1a: std's hashers may change from version to version.
    let hash = fold(name)
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    HUES[hash as usize % HUES.len()]
}

/// The colour that is nearest to `#rrggbb`; `None` for anything else.
fn nearest(color: &str) -> Option<&'static str> {
    let digits = color.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let part = |from: usize| i32::from_str_radix(digits.get(from..from + 2)?, 16).ok();
    let (red, green, blue) = (part(0)?, part(2)?, part(4)?);
    let most = red.max(green).max(blue);
    let spread = most - red.min(green).min(blue);
    if spread * 4 < most || most == 0 {
        return Some(SLATE);
    }
    // The place on the circle of colours, in degrees, from red over green and blue.
    let degrees = if most == red {
        60 * (green - blue) / spread
    } else if most == green {
        120 + 60 * (blue - red) / spread
    } else {
        240 + 60 * (red - green) / spread
    };
    Some(match degrees.rem_euclid(360) {
        70..170 => GREEN,
        170..245 => BLUE,
        245..340 => VIOLET,
        _ => AMBER,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn of_color(color: &str) -> TagSummary {
        TagSummary { id: uuid::Uuid::nil(), name: "<b>".to_owned(), color: color.to_owned() }
    }

    #[test]
    fn a_tag_has_the_colour_that_is_nearest_to_its_own() {
        for (color, nearest) in [
            ("#b3261e", AMBER),
            ("#B45309", AMBER),
            ("#1b6e3c", GREEN),
            ("#4c6b00", GREEN),
            ("#00696b", BLUE),
            ("#2563eb", BLUE),
            ("#5b3fbf", VIOLET),
            ("#a3195b", VIOLET),
            ("#6b7280", SLATE),
            ("#000000", SLATE),
            ("", SLATE),
            ("#é1234", SLATE),
        ] {
            assert_eq!(class(&of_color(color)), nearest, "{color}");
        }
        let shown = tag(&of_color("#2563eb")).into_string();
        assert_eq!(shown, format!("<span class=\"{BLUE}\"><bdi>&lt;b&gt;</bdi></span>"));
    }

    #[test]
    fn a_name_has_one_colour_and_names_use_all_of_them() {
        assert_eq!(by_name("VIP"), by_name("vip"));
        let used: BTreeSet<_> = (0..50).map(|nth| by_name(&format!("segment {nth}"))).collect();
        assert_eq!(used.len(), HUES.len());
    }
}

//! A tag: its name in a colour that follows from the name, so that a tag looks alike on every page and every day.

use maud::{Markup, html};

use crate::domain::fold::fold;

/// The classes of the colours. None is the red of failures.
const HUES: [&str; 5] = ["tag h-green", "tag h-blue", "tag h-violet", "tag h-amber", "tag h-slate"];

/// The name of a tag.
pub(crate) fn tag(name: &str) -> Markup {
    html! { span class=(class(name)) { bdi { (name) } } }
}

/// The classes of an element that has the name of a tag.
pub(crate) fn class(name: &str) -> &'static str {
    // FNV-1a: std's hashers may change from version to version.
    let hash = fold(name)
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    HUES[hash as usize % HUES.len()]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_tag_has_one_colour_and_tags_use_all_of_them() {
        assert_eq!(class("VIP"), class("vip"));
        let names = (0..50).map(|nth| format!("tag {nth}"));
        let used: BTreeSet<_> = names.map(|name| class(&name)).collect();
        assert_eq!(used.len(), HUES.len());
        assert_eq!(
            tag("<b>").into_string(),
            format!("<span class=\"{}\"><bdi>&lt;b&gt;</bdi></span>", class("<b>"))
        );
    }
}

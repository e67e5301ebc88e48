//! A ring that empties: how much of a time is left. The words beside it say until when.

use std::time::Duration;

use maud::{Markup, html};

/// A ring of which `left` of `whole` is drawn.
pub(crate) fn ring(left: Duration, whole: Duration) -> Markup {
    let percent = (100 * left.as_secs() / whole.as_secs().max(1)).min(100);
    html! {
        svg.ring viewBox="0 0 36 36" aria-hidden="true" {
            circle.rest cx="18" cy="18" r="16" {}
            circle cx="18" cy="18" r="16" pathLength="100" stroke-dasharray=(format!("{percent} 100")) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_full_at_first_and_empty_at_the_end() {
        let day = Duration::from_secs(86_400);
        for (left, percent) in
            [(day, "100 100"), (day / 2, "50 100"), (Duration::ZERO, "0 100"), (2 * day, "100 100")]
        {
            assert!(ring(left, day).into_string().contains(percent), "{left:?}");
        }
    }
}

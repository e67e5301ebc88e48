//! Why messages failed, in the person's words, with the provider's code beside them.

use maud::{Markup, html};

use crate::console::text::Text;

/// What the provider's codes mean for somebody who sends.
const CAUSES: &[(&[i64], &str)] = &[
    (&[131_026], "cause-unreachable"),
    (&[131_047], "cause-window"),
    (&[131_049], "cause-frequency"),
    (&[131_050], "cause-opted-out"),
    (&[130_472], "cause-experiment"),
    (&[131_021], "cause-self"),
    (&[131_030], "cause-not-allowed"),
    (&[130_497], "cause-country"),
    (&[132_000, 132_005, 132_012, 132_018], "cause-variables"),
    (&[132_001], "cause-no-template"),
    (&[132_007, 132_015, 132_016], "cause-template-paused"),
    (&[131_052, 131_053], "cause-media"),
    (&[100, 131_008, 131_009, 135_000], "cause-parameter"),
    (&[130_429, 131_056, 131_048], "cause-too-fast"),
    (&[190, 104, 131_005], "cause-credentials"),
    (&[131_031, 131_042, 368], "cause-account"),
];

/// The words for a code; without one, or for one that is not known, what can be said.
pub(in crate::console) fn words(text: Text, code: Option<i64>) -> String {
    let known = code.and_then(|code| CAUSES.iter().find(|(codes, _)| codes.contains(&code)));
    match (known, code) {
        (Some((_, key)), _) => text.get(key),
        (None, Some(_)) => text.get("cause-other"),
        (None, None) => text.get("cause-none"),
    }
}

/// The words, and the code beside them.
pub(in crate::console) fn cause(text: Text, code: Option<i64>) -> Markup {
    html! {
        (words(text, code))
        @if let Some(code) = code { " " code.soft { (code) } }
    }
}

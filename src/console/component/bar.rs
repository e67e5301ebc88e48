//! A stacked bar: the outcome of messages, in colour. The words and the numbers are beside it, so that nobody has to see
//! the colours.

use maud::{Markup, html};

use super::explain::{self, Topic};
use super::outcome::OutcomeColour;
use crate::console::language::Language;
use crate::console::text::Text;
use crate::domain::message::State;
use crate::domain::send::Counts;

/// The width of a bar in its own units, which the page stretches.
const WIDTH: u64 = 1_000;
/// A share is at least this wide: one failed message of a million is visible.
const LEAST: u64 = 14;

/// The outcome of messages, each in one share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Read.
    pub(crate) read: u64,
    /// On the recipient's phone, and not read.
    pub(crate) delivered: u64,
    /// Taken by WhatsApp, and not on the phone.
    pub(crate) sent: u64,
    /// Not gone yet, or waiting to be tried again.
    pub(crate) waits: u64,
    /// WhatsApp may have them or not.
    pub(crate) unclear: u64,
    /// They never started: canceled, expired, or the recipient opted out.
    pub(crate) left_out: u64,
    /// They will not arrive.
    pub(crate) failed: u64,
    /// Of those that WhatsApp took, the ones that their recipients answered: no share of their own.
    pub(crate) answered: u64,
}

/// The key of the word for messages that were answered.
pub(crate) const ANSWERED: &str = "send-share-answered";

impl From<&Counts> for Shares {
    fn from(counts: &Counts) -> Self {
        let mut shares = Self { answered: counts.answered(), ..Self::default() };
        for state in State::ALL {
            let share = match OutcomeColour::of(state) {
                OutcomeColour::Waits => &mut shares.waits,
                OutcomeColour::Sent => &mut shares.sent,
                OutcomeColour::Delivered => &mut shares.delivered,
                OutcomeColour::Read => &mut shares.read,
                OutcomeColour::Failed => &mut shares.failed,
                OutcomeColour::LeftOut => &mut shares.left_out,
                OutcomeColour::Unclear => &mut shares.unclear,
            };
            *share += counts.of(state);
        }
        shares
    }
}

impl Shares {
    /// All messages.
    pub(crate) fn all(&self) -> u64 {
        self.in_order().iter().map(|(_, messages)| messages).sum()
    }

    /// Those that WhatsApp took, whatever their outcome.
    pub(crate) const fn taken(&self) -> u64 {
        self.sent + self.delivered + self.read
    }

    /// The shares from the best to the worst.
    const fn in_order(&self) -> [(OutcomeColour, u64); 7] {
        let Self { read, delivered, sent, waits, unclear, left_out, failed, answered: _ } = *self;
        [
            (OutcomeColour::Read, read),
            (OutcomeColour::Delivered, delivered),
            (OutcomeColour::Sent, sent),
            (OutcomeColour::Waits, waits),
            (OutcomeColour::Unclear, unclear),
            (OutcomeColour::LeftOut, left_out),
            (OutcomeColour::Failed, failed),
        ]
    }

    /// What there is to say, each with its outcome, the key of its word, and how many: what arrived includes what was
    /// read.
    fn said(&self) -> Vec<(OutcomeColour, &'static str, u64)> {
        let always = [
            (OutcomeColour::Sent, "send-state-sent", self.taken()),
            (OutcomeColour::Delivered, "send-state-delivered", self.delivered + self.read),
            (OutcomeColour::Read, "send-state-read", self.read),
            (OutcomeColour::Read, ANSWERED, self.answered),
            (OutcomeColour::Failed, "send-state-failed", self.failed),
        ];
        let sometimes = [
            (OutcomeColour::Waits, "send-share-waits", self.waits),
            (OutcomeColour::LeftOut, "send-share-left-out", self.left_out),
            (OutcomeColour::Unclear, "send-share-unclear", self.unclear),
        ];
        always.into_iter().chain(sometimes.into_iter().filter(|(_, _, messages)| *messages > 0)).collect()
    }
}

/// The bar. Its name says in words what it shows.
pub(crate) fn bar(text: Text, shares: &Shares) -> Markup {
    let said = shares.said().into_iter().filter(|(_, _, messages)| *messages > 0);
    let said: Vec<_> = said.map(|(_, key, messages)| one(text, key, messages)).collect();
    let label = if said.is_empty() { one(text, "send-state-sent", 0) } else { said.join(", ") };
    html! {
        svg.bar viewBox=(format!("0 0 {WIDTH} 10")) preserveAspectRatio="none" role="img" aria-label=(label) {
            @for (outcome, from, wide) in drawn(shares) {
                rect class=(outcome.class()) x=(from) y="0" width=(wide) height="10" {}
            }
        }
    }
}

/// The figures in one line, for lists.
pub(crate) fn line(text: Text, shares: &Shares) -> Markup {
    let shown = |outcome: OutcomeColour, messages: u64| outcome == OutcomeColour::Sent || messages > 0;
    html! {
        ul.shares {
            @for (outcome, key, messages) in shares.said().into_iter().filter(|(outcome, _, messages)| shown(*outcome, *messages)) {
                li class=(outcome.class()) { (one(text, key, messages)) }
            }
        }
    }
}

/// The figures with their shares of all messages, for a page.
pub(crate) fn figures(text: Text, shares: &Shares) -> Markup {
    let all = shares.all();
    html! {
        dl.outcome {
            @for (outcome, key, messages) in shares.said() {
                div class=(outcome.class()) {
                    dt { (text.get(key)) @if key == ANSWERED { " " (explained(text)) } }
                    dd { (text.number(messages)) " " small { (percent(text, messages, all)) } }
                }
            }
        }
    }
}

/// The mark that leads to what counts as an answer.
pub(crate) fn explained(text: Text) -> Markup {
    explain::mark(text, Topic::Answered, &text.get(ANSWERED))
}

fn one(text: Text, key: &str, messages: u64) -> String {
    format!("{} {}", text.get(key), text.number(messages))
}

/// A share in percent, which is 0 or 100 only if it is none or all.
pub(crate) fn percent(text: Text, part: u64, all: u64) -> String {
    let tenths = (u128::from(part) * 1_000).checked_div(u128::from(all)).unwrap_or_default();
    let least = if part > 0 && tenths == 0 { "< " } else { "" };
    let tenths = tenths.max((part > 0).into());
    // Spanish puts a space before the sign.
    let space = if text.0 == Language::Spanish { "\u{a0}" } else { "" };
    format!("{least}{}{space}%", text.0.decimal(tenths as f64 / 10.0, 1))
}

/// Where each share begins, and how wide it is.
fn drawn(shares: &Shares) -> Vec<(OutcomeColour, u64, u64)> {
    let all = u128::from(shares.all());
    let some = shares.in_order().into_iter().filter(|(_, messages)| *messages > 0);
    let wide = |messages: u64| {
        (u128::from(messages) * u128::from(WIDTH)).checked_div(all).unwrap_or_default() as u64
    };
    let mut drawn: Vec<_> = some.map(|(outcome, messages)| (outcome, 0, wide(messages).max(LEAST))).collect();
    // The widest share gives what the others got too much, and takes what rounding left.
    let used: u64 = drawn.iter().map(|(_, _, wide)| wide).sum();
    if let Some((_, _, widest)) = drawn.iter_mut().max_by_key(|(_, _, wide)| *wide) {
        *widest = (*widest + WIDTH).saturating_sub(used);
    }
    let mut place = 0;
    for (_, from, wide) in &mut drawn {
        *from = place;
        place += *wide;
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: Text = Text(Language::English);

    fn shares(read: u64, sent: u64, failed: u64) -> Shares {
        Shares { read, sent, failed, ..Shares::default() }
    }

    #[test]
    fn every_state_has_its_share() {
        let mut counts = Counts::default();
        for (messages, state) in (1..).zip(State::ALL) {
            counts.add(state, messages);
        }
        let shares = Shares::from(&counts);
        assert_eq!(shares.all(), counts.total());
        assert_eq!(shares.waits, counts.of(State::Queued) + counts.of(State::Sending));
        assert_eq!(shares.unclear, counts.of(State::Unknown));
    }

    #[test]
    fn a_bar_is_filled_to_its_end_and_a_small_share_is_visible() {
        for shares in [shares(1, 2, 0), shares(999_999, 0, 1), shares(1, 1, 1), shares(0, 0, 7)] {
            let drawn = drawn(&shares);
            assert_eq!(drawn.iter().map(|(_, _, wide)| wide).sum::<u64>(), WIDTH, "{drawn:?}");
            assert!(drawn.iter().all(|(_, _, wide)| *wide >= LEAST), "{drawn:?}");
        }
        assert!(drawn(&Shares::default()).is_empty());
    }

    #[test]
    fn a_share_is_everything_or_nothing_only_if_it_is() {
        for (part, all, expected) in [
            (0, 7, "0%"),
            (7, 7, "100%"),
            (999_999, 1_000_000, "99.9%"),
            (1, 1_000_000, "< 0.1%"),
            (1, 3, "33.3%"),
            (0, 0, "0%"),
        ] {
            assert_eq!(percent(TEXT, part, all), expected, "{part} of {all}");
        }
        assert_eq!(percent(Text(Language::Spanish), 1, 3), "33,3\u{a0}%");
        assert_eq!(percent(Text(Language::Portuguese), 1, 3), "33,3%");
    }

    #[test]
    fn the_words_are_in_the_line_and_in_the_name_of_the_bar() {
        let shares = shares(1_200, 34, 5);
        let line = line(TEXT, &shares).into_string();
        assert!(line.contains(">Sent 1,234<") && line.contains(">Failed 5<"), "{line}");
        let bar = bar(TEXT, &shares).into_string();
        assert!(bar.contains("aria-label=\"Sent 1,234, Delivered 1,200, Read 1,200, Failed 5\""), "{bar}");
        let answered = Shares { answered: 7, ..shares };
        assert_eq!(drawn(&answered), drawn(&shares), "who answered has a share already");
        let page = figures(TEXT, &answered).into_string();
        assert!(page.contains("Answered <a class=\"mark-help\"") && page.contains("<dd>7 <small>"), "{page}");
    }
}

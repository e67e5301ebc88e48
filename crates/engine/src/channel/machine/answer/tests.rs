//! No refusal lets a message be retried without end.

use super::*;

/// The bound on the retries of a message that is refused again and again.
#[derive(Debug, PartialEq)]
enum Bound {
    /// It is over.
    Over,
    /// Its attempts are counted, and the waits between them grow.
    Counted,
    /// The channel, the account or the app waits longer and longer, or sends at a lower rate.
    ChannelSlows,
    /// Messages to this recipient wait longer and longer, or for a day.
    RecipientWaits,
    /// Its send waits in the store until the provider lets the template through.
    TemplateWaits,
    /// Nothing goes until the provider accepts the channel again.
    ChannelStops,
}

fn bound(disposition: Disposition, has_template: bool, has_recipient: bool) -> Bound {
    match remedy(disposition, has_template, has_recipient) {
        Disposition::Fail | Disposition::Suppress(_) => Bound::Over,
        Disposition::Retry => Bound::Counted,
        Disposition::Wait
        | Disposition::Maintenance
        | Disposition::SlowNumber
        | Disposition::SlowAccount
        | Disposition::SlowApp => Bound::ChannelSlows,
        Disposition::Pair | Disposition::HoldRecipient => {
            assert!(has_recipient, "there is no recipient to wait for");
            Bound::RecipientWaits
        }
        Disposition::HoldTemplate => {
            assert!(has_template, "there is no template to wait for");
            Bound::TemplateWaits
        }
        Disposition::Disconnect | Disposition::Block | Disposition::Restrict => Bound::ChannelStops,
    }
}

#[test]
fn no_refusal_lets_a_message_be_tried_without_end_and_without_a_wait() {
    use Bound::{ChannelSlows, ChannelStops, Counted, Over, RecipientWaits, TemplateWaits};
    // A text to a person, a template to a person, a text to a group.
    let table = [
        (Disposition::Fail, [Over, Over, Over]),
        (Disposition::Retry, [Counted, Counted, Counted]),
        (Disposition::Wait, [ChannelSlows, ChannelSlows, ChannelSlows]),
        (Disposition::Maintenance, [ChannelSlows, ChannelSlows, ChannelSlows]),
        (Disposition::SlowNumber, [ChannelSlows, ChannelSlows, ChannelSlows]),
        (Disposition::SlowAccount, [ChannelSlows, ChannelSlows, ChannelSlows]),
        (Disposition::SlowApp, [ChannelSlows, ChannelSlows, ChannelSlows]),
        (Disposition::Pair, [RecipientWaits, RecipientWaits, Counted]),
        (Disposition::HoldTemplate, [Over, TemplateWaits, Over]),
        (Disposition::HoldRecipient, [Over, RecipientWaits, Over]),
        (Disposition::Suppress(Suppression::Marketing), [Over, Over, Over]),
        (Disposition::Suppress(Suppression::Everything), [Over, Over, Over]),
        (Disposition::Disconnect, [ChannelStops, ChannelStops, ChannelStops]),
        (Disposition::Block, [ChannelStops, ChannelStops, ChannelStops]),
        (Disposition::Restrict, [ChannelStops, ChannelStops, ChannelStops]),
    ];
    for (disposition, expected) in table {
        let found = [(false, true), (true, true), (false, false)];
        let found = found.map(|(template, recipient)| bound(disposition, template, recipient));
        assert_eq!(found, expected, "{disposition:?}");
    }
    // A template to a group has no recipient to hold: `bound` asserts that none is needed.
    for has_recipient in [false, true] {
        bound(Disposition::HoldRecipient, true, has_recipient);
    }
}

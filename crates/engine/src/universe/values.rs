//! Values of recipients: some sends have them, and each person reads their own.
//!
//! The worlds have no keys, so that the blocks of values are not sealed.

use super::world::World;
use crate::channel::machine::{Attempt, Rendered};
use crate::ledger::{Order, Parts};
use domain::block::unpack;
use domain::content::Content;
use domain::phone::PhoneNumber;
use domain::send::{Block, Recipients};
use domain::template::contact_field::Addressee;
use domain::values::{Lookup, Packer, Values};

/// A text with a value that some lack, one that all have of their own, and one that is the same for all.
pub(super) const TEXT: &str = "{{value.name|friend}}, order {{value.order}} of {{value.shop|nobody}}";
/// The value that is the same for all.
const SHOP: &str = "Acme";

/// The person's own values by their names; the name is absent for some.
fn own(number: PhoneNumber) -> (Option<String>, String) {
    let has_name = number.as_u64().is_multiple_of(3);
    (has_name.then(|| format!("N{number}")), format!("A-{number}"))
}

/// What a person is to read.
fn words_for(number: PhoneNumber) -> String {
    let (name, order) = own(number);
    format!("{}, order {order} of {SHOP}", name.as_deref().unwrap_or("friend"))
}

/// What these recipients of an order have of their own.
pub(super) fn parts(order: &Order, recipients: Recipients, blocks: &[Block]) -> Parts {
    let mut parts = Parts::default();
    match recipients {
        _ if order.personal.is_none() => {}
        Recipients::One(number) => add(&mut parts, 0, &[number]),
        Recipients::Group => {}
        Recipients::Blocks(_) => {
            for block in blocks {
                add(&mut parts, block.first_ordinal, &unpack(&block.packed).unwrap_or_default());
            }
        }
    }
    parts
}

fn add(parts: &mut Parts, first_ordinal: u64, numbers: &[PhoneNumber]) {
    let (mut shared, mut packer) = (Values::default(), Packer::default());
    // The name and the value are fine.
    let _ = shared.set("shop", SHOP);
    for (ordinal, number) in (first_ordinal..).zip(numbers) {
        let (name, order) = own(*number);
        let name = name.as_deref().map(|name| ("name", name));
        packer.push(name.into_iter().chain([("order", order.as_str())]));
        if number.as_u64().is_multiple_of(5) {
            parts.references.push((ordinal, format!("crm-{number}")));
        }
    }
    let packed = packer.take(&shared);
    parts.values.push(Block { first_ordinal, recipients: numbers.len() as u64, packed });
}

impl World {
    /// Checks what a person would read of a message that reaches the provider.
    pub(super) fn watch_words(&mut self, attempt: &Attempt) {
        let key = attempt.ticket.key();
        let Some(number) = attempt.ticket.recipient.filter(|_| self.model.has_values(key.send_id)) else {
            return;
        };
        let wrong = match &attempt.rendered {
            Rendered::Personal(stored) => {
                let values = self.model.values_of(key);
                let values = values.as_ref().map(|values| values as &dyn Lookup);
                match stored.content.filled(Addressee { person: None, values }) {
                    Ok(Content::Text { body, .. }) if body == words_for(number) => None,
                    Ok(other) => Some(format!("{other:?}")),
                    Err(lacking) => Some(lacking.to_string()),
                }
            }
            Rendered::CloudApi(_) | Rendered::WebSession(_) => Some("the text with its braces".to_owned()),
        };
        if let Some(wrong) = wrong {
            let what = format!("{key}, to {number}: {wrong}");
            self.watch.break_("each person gets their own values, and nobody gets braces", what);
        }
    }
}

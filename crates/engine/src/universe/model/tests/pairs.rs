//! Sends that become active by the row of another one.

use uuid::Uuid;

use crate::universe::model::Model;
use machines::dice::Dice;
use store::ledger::InsteadOf;

/// Sometimes any send, which may not be in a state for that.
pub(super) fn any(dice: &mut Dice, model: &Model) -> Option<InsteadOf> {
    let known: Vec<_> = model.sends.keys().copied().collect();
    let other = dice.pick(&known).copied().filter(|_| dice.happens(400));
    other.map(|send_id| InsteadOf { send_id, recipients: 2 })
}

/// Sometimes one of these sends that has all of its audience; it is none of them any more.
pub(super) fn whole(dice: &mut Dice, resolving: &mut Vec<(Uuid, u64, u64)>) -> Option<InsteadOf> {
    if dice.happens(500) {
        return None;
    }
    let place = resolving.iter().position(|(_, first, end)| first >= end)?;
    let (send_id, _, recipients) = resolving.swap_remove(place);
    Some(InsteadOf { send_id, recipients })
}

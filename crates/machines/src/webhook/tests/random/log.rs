//! The log of a world, which is read in parts and cut.

use super::*;

impl World {
    /// The log begins after this sequence.
    pub(super) fn begins_after(&self) -> i64 {
        let kept_from = self.moment().wall.minus(self.keep);
        let deleted = self.log.iter().take_while(|(_, at, _)| *at <= kept_from);
        deleted.last().map_or(0, |(item, ..)| item.sequence)
    }

    pub(super) fn page(&mut self, after: i64, limit: usize) -> Result<LogPage, String> {
        if !self.is_calm && self.dice.happens(30) {
            return Err("the read failed".to_owned());
        }
        let begin = self.begins_after();
        // The store looks at a limited number of events, so that a page may be empty although events follow.
        let rest: Vec<_> =
            self.log.iter().filter(|(item, ..)| item.sequence > after.max(begin)).take(40).collect();
        let (mut items, mut up_to) = (Vec::new(), after.max(begin));
        for (item, _, is_wanted) in rest {
            if *is_wanted && items.len() == limit {
                break;
            }
            items.extend(is_wanted.then_some(*item));
            up_to = item.sequence;
        }
        let is_end = self.log.last().is_none_or(|(item, ..)| item.sequence <= up_to);
        self.rules.removed(after, begin);
        Ok(LogPage { items, up_to, is_end })
    }

    pub(super) fn replay_page(&mut self, after: i64, up_to: i64, limit: usize) -> Result<ReplayPage, String> {
        if !self.is_calm && self.dice.happens(30) {
            return Err("the read failed".to_owned());
        }
        let begin = self.begins_after().max(after);
        let within = self.log.iter().filter(|(item, ..)| item.sequence > begin && item.sequence <= up_to);
        let wanted: Vec<_> = within.filter(|(.., is_wanted)| *is_wanted).map(|(item, ..)| *item).collect();
        let items: Vec<_> = wanted.into_iter().take(limit).collect();
        let read = items.last().filter(|_| items.len() == limit).map_or(up_to, |item| item.sequence);
        Ok(ReplayPage { items, up_to: read })
    }
}

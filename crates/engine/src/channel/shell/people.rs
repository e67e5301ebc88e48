//! Messages with placeholders: the recipient's contact and values are read before the message is handed over.
//!
//! For a bulk send the next recipients are read ahead, with one query for some hundred messages. Any other recipient
//! (of a first message, or of a retry) is read together with all that wait at the same time. A contact that was read is
//! used for a minute: a change or deletion shows in messages a minute later.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use uuid::Uuid;

use super::{Shell, tasks};
use crate::channel::machine::{Answered, Attempt, Rendered};
use connectors::{Disposition, Reply, cloud_api};
use domain::contact::Person;
use domain::message::{Failure, Key, own_code};
use domain::template::contact_field::{Addressee, NoValue};
use domain::values::{BLOCK_ROWS, Lookup, Unpacked};

/// The number of recipients that are read at once; of those with values a block, which has no more.
pub(super) const AT_ONCE: usize = BLOCK_ROWS;
/// The next recipients are read when only this many are left: at 25,000 messages a second they go within 20 ms, and on a busy
/// machine a read takes as long as its threads wait for a processor.
const LEAST: u64 = AT_ONCE as u64;
/// How long a contact is used after it was read.
const FRESH: Duration = Duration::from_secs(60);
/// The most stretches in memory, of all sends together.
const STRETCHES: usize = 32;

/// The contacts of recipients whose messages go soon.
#[derive(Default)]
pub(super) struct People {
    /// The stretches, the latest last.
    stretches: VecDeque<Stretch>,
    /// Sends whose next recipients are being read.
    reading_ahead: HashSet<Uuid>,
    /// Messages whose recipients are read next; no more than may be in flight.
    waiting: Vec<Attempt>,
    is_reading: bool,
}

/// What is known of a recipient.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct KnownPerson {
    /// `None` for a recipient who is not a contact.
    pub(super) person: Option<Person>,
    /// `None` without values, and when they are gone.
    pub(super) values: Option<Unpacked>,
}

/// What a content needs of its recipients.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wants {
    pub(super) company: Uuid,
    /// Whether it has fields of contacts.
    pub(super) contacts: bool,
    /// Whether it has values.
    pub(super) values: bool,
}

/// Consecutive recipients of a send; empty when they end before `first`.
struct Stretch {
    send_id: Uuid,
    first: u64,
    people: Vec<KnownPerson>,
    read_at: Instant,
}

impl Stretch {
    fn is_fresh(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.read_at) < FRESH
    }

    fn end(&self) -> u64 {
        self.first + self.people.len() as u64
    }

    fn person(&self, ordinal: u64) -> Option<&KnownPerson> {
        let place = usize::try_from(ordinal.checked_sub(self.first)?).ok()?;
        self.people.get(place)
    }
}

impl People {
    /// What is known of the recipient, if it was read.
    fn find(&self, Key { send_id, ordinal }: Key, now: Instant) -> Option<&KnownPerson> {
        self.of(send_id, now).find_map(|stretch| stretch.person(ordinal))
    }

    fn of(&self, send_id: Uuid, now: Instant) -> impl Iterator<Item = &Stretch> {
        self.stretches.iter().rev().filter(move |stretch| stretch.send_id == send_id && stretch.is_fresh(now))
    }

    /// The ordinal from which to read the send's recipients ahead, when this message goes and few of the next
    /// recipients are in memory.
    fn wanted(&self, Key { send_id, ordinal }: Key, now: Instant) -> Option<u64> {
        // Only the second message shows that the send has many recipients.
        if ordinal == 0 || self.reading_ahead.contains(&send_id) {
            return None;
        }
        let mut end = ordinal + 1;
        // Not to the end of what is in memory: this is asked for each message.
        while end - ordinal <= LEAST {
            match self.of(send_id, now).find(|stretch| stretch.person(end).is_some()) {
                Some(stretch) => end = stretch.end(),
                None => {
                    let is_end = |stretch: &Stretch| stretch.first == end && stretch.people.is_empty();
                    return (!self.of(send_id, now).any(is_end)).then_some(end);
                }
            }
        }
        None
    }

    /// Adds recipients that were read ahead.
    fn add(&mut self, stretch: Stretch, now: Instant) {
        self.forget_old(now);
        while self.stretches.len() >= STRETCHES {
            self.stretches.pop_front();
        }
        self.stretches.push_back(stretch);
    }

    fn forget_old(&mut self, now: Instant) {
        self.stretches.retain(|stretch| stretch.is_fresh(now));
    }
}

impl Shell {
    fn people(&mut self) -> &mut People {
        self.people.get_or_insert_default()
    }

    /// Starts the attempt of a message with contact fields, once its recipient is read.
    pub(super) fn attempt_personal(&mut self, attempt: Attempt, ctx: &mut Context<Self>) {
        let (key, now) = (attempt.ticket.key(), Instant::now());
        if let Some(from) = self.people().wanted(key, now).filter(|_| !attempt.ticket.again) {
            self.read_ahead(key.send_id, from, self.wants(&attempt), ctx);
        }
        match self.people.as_ref().and_then(|people| people.find(key, now)) {
            Some(known) => self.fill_in(attempt, known),
            None => {
                self.people().waiting.push(attempt);
                self.read_waiting(ctx);
            }
        }
    }

    fn wants(&self, attempt: &Attempt) -> Wants {
        let company = self.machine.channel().company_id;
        let Rendered::Personal(stored) = &attempt.rendered else {
            return Wants { company, contacts: false, values: false };
        };
        let contacts = stored.content.has_contact_fields(stored.values);
        Wants { company, contacts, values: stored.values }
    }

    /// Fills the recipient's contact fields and values in and hands the message over, or answers that one is missing.
    fn fill_in(&self, attempt: Attempt, known: &KnownPerson) {
        let Rendered::Personal(stored) = &attempt.rendered else { return self.hand_over(attempt) };
        if stored.values && known.values.is_none() {
            // Without their values, nobody gets the texts in the places of those either: the send has values for everybody.
            let sentence =
                "the values of the send's recipients are no longer kept, or cannot be unsealed".to_owned();
            return self
                .answer(&attempt, Reply::Unsendable(Failure { code: Some(own_code::NO_VALUE), sentence }));
        }
        let values = known.values.as_ref().map(|values| values as &dyn Lookup);
        match stored.content.filled(Addressee { person: known.person.as_ref(), values }) {
            Ok(filled) => {
                let filled = cloud_api::Rendered::quoting(&filled, stored.quotes.as_deref());
                let rendered = Rendered::CloudApi(Arc::new(filled));
                self.hand_over(Attempt { rendered, ..attempt });
            }
            Err(no_value) => {
                let code = Some(match no_value {
                    NoValue::Contact(_) => own_code::NO_CONTACT_VALUE,
                    NoValue::Value(_) => own_code::NO_VALUE,
                });
                self.answer(&attempt, Reply::Unsendable(Failure { code, sentence: no_value.to_string() }));
            }
        }
    }

    /// Answers in place of the provider, which was not called.
    fn answer(&self, attempt: &Attempt, reply: Reply) {
        let Attempt { ticket, generation, started, .. } = *attempt;
        // The actor is gone only when nothing can be written any more.
        let _ = self.answers.unbounded_send(Box::new(Answered { ticket, generation, reply, started }));
    }

    /// Reads the recipients of waiting messages, unless a read is under way: then the next read includes them.
    fn read_waiting(&mut self, ctx: &mut Context<Self>) {
        let people = self.people();
        if people.is_reading || people.waiting.is_empty() {
            return;
        }
        people.is_reading = true;
        let waiting = people.waiting.len().min(AT_ONCE);
        let attempts: Vec<_> = people.waiting.drain(..waiting).collect();
        let asked = attempts
            .iter()
            .map(|attempt| (attempt.ticket.key(), attempt.ticket.recipient, self.wants(attempt)));
        let asked: Vec<_> = asked.collect();
        tasks::read_people(Arc::clone(&self.shared), asked)
            .into_actor(self)
            .map(move |read, shell, ctx| {
                shell.people().is_reading = false;
                for attempt in attempts {
                    match &read {
                        Ok(people) => {
                            let known = people.get(&attempt.ticket.key()).cloned().unwrap_or_default();
                            shell.fill_in(attempt, &known);
                        }
                        Err(_) => shell.answer(&attempt, unread()),
                    }
                }
                shell.read_waiting(ctx);
            })
            .spawn(ctx);
    }

    fn read_ahead(&mut self, send_id: Uuid, first: u64, wants: Wants, ctx: &mut Context<Self>) {
        self.people().reading_ahead.insert(send_id);
        tasks::read_people_ahead(Arc::clone(&self.shared), wants, send_id, first)
            .into_actor(self)
            .map(move |read, shell, ctx| {
                shell.people().reading_ahead.remove(&send_id);
                let Ok(people) = read else { return };
                let now = Instant::now();
                shell.people().add(Stretch { send_id, first, people, read_at: now }, now);
                // A channel that falls silent keeps no names in memory.
                ctx.run_later(FRESH, |shell, _| shell.people().forget_old(Instant::now()));
            })
            .spawn(ctx);
    }
}

/// The database did not answer: the message was not handed over, and is retried like one with a temporary failure.
fn unread() -> Reply {
    let sentence = "the recipient's contact or values could not be read".to_owned();
    let failure = Failure { code: None, sentence };
    Reply::Refused { disposition: Disposition::Retry, failure, retry_after: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(first: u64, len: usize, read_at: Instant) -> Stretch {
        Stretch { send_id: Uuid::nil(), first, people: vec![KnownPerson::default(); len], read_at }
    }

    fn key(ordinal: u64) -> Key {
        Key { send_id: Uuid::nil(), ordinal }
    }

    #[test]
    fn the_next_recipients_are_read_before_those_in_memory_are_used_up() {
        let (mut people, now) = (People::default(), Instant::now());
        assert_eq!(people.wanted(key(0), now), None, "the send may have only one recipient");
        assert_eq!(people.wanted(key(1), now), Some(2));
        people.add(stretch(2, AT_ONCE, now), now);
        assert_eq!(
            (people.find(key(1), now), people.find(key(2), now)),
            (None, Some(&KnownPerson::default()))
        );
        let few = 2 + AT_ONCE as u64 - LEAST;
        assert_eq!((people.wanted(key(few - 1), now), people.wanted(key(few), now)), (None, Some(514)));
        people.reading_ahead.insert(Uuid::nil());
        assert_eq!(people.wanted(key(few), now), None, "they are being read");
        people.reading_ahead.clear();
        people.add(stretch(514, 3, now), now);
        assert_eq!((people.wanted(key(few), now), people.wanted(key(few + 3), now)), (None, Some(517)));
        people.add(stretch(517, 0, now), now);
        assert_eq!(people.wanted(key(516), now), None, "there are no more recipients");
    }

    #[test]
    fn contacts_are_used_for_a_minute_and_their_number_is_bounded() {
        let (mut people, now) = (People::default(), Instant::now());
        people.add(stretch(2, 10, now), now);
        let later = now + FRESH;
        assert_eq!((people.find(key(5), later), people.wanted(key(5), later)), (None, Some(6)));
        people.add(stretch(6, 10, later), later);
        assert_eq!(people.stretches.len(), 1);
        for place in 0..2 * STRETCHES as u64 {
            people.add(stretch(place, 1, later), later);
        }
        assert_eq!(people.stretches.len(), STRETCHES);
    }
}

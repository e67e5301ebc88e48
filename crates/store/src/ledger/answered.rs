//! Marks the messages of sends that their recipients answered, when what they wrote is written.
//!
//! A mark is set once and stays, so a message is counted once, however often the provider repeats what a person wrote, and
//! whatever is removed of the conversation later. Whether the message reached its recipient is asked when marks are
//! counted: one that is in doubt now may turn out to have arrived.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sea_orm::{ConnectionTrait, Value};
use uuid::Uuid;

use crate::conversations::Inbound;
use crate::dialect::{Bulk, Cell, Incoming, Rows, Type};
use crate::nouns::Ledger;
use crate::retention::first_id_at;
use crate::sends::messages::span;
use crate::{Result, fetch};
use clock::Timestamp;
use domain::inbound::{ANSWER, Direction};
use domain::phone::PhoneNumber;

/// The provider's times are whole seconds: a message that went in the second of its answer went before it.
const SECOND: i64 = 1_000;
/// How many [spans of hours](span) before an answer the sends of most messages were accepted: [`ANSWER`] takes 16, and a day for
/// messages that had to wait takes the rest. Sends that were accepted before are looked for by their ends.
const SPANS: u32 = 22;

const PERSON: &[(&str, Type)] = &[("company_id", Type::Uuid), ("person", Type::Int)];
const ASKED: &[(&str, Type)] = &[
    ("channel_id", Type::Uuid),
    ("company_id", Type::Uuid),
    ("recipient", Type::Int),
    ("at", Type::Int),
    ("since", Type::Int),
    ("until", Type::Int),
    ("span", Type::Int),
];
const LATE: &[(&str, Type)] = &[("channel_id", Type::Uuid), ("hours", Type::Bytes)];
const ANSWERED: &[(&str, Type)] =
    &[("send_id", Type::Uuid), ("ordinal", Type::Int), ("channel_id", Type::Uuid), ("at", Type::Int)];

/// Something that a person wrote, and may be an answer.
struct PossibleAnswer {
    channel: Uuid,
    company: Uuid,
    person: PhoneNumber,
    at: Timestamp,
}

impl PossibleAnswer {
    /// Answers are what somebody has to read: no reactions, and no later changes of a message. What is said in a group
    /// answers nobody.
    fn of(inbound: &Inbound) -> Option<Self> {
        let is_answer = inbound.direction == Direction::In && inbound.is_to_be_read && !inbound.is_past;
        let person = inbound.peer.number().filter(|_| is_answer)?;
        Some(Self { channel: inbound.channel_id, company: inbound.company_id, person, at: inbound.at })
    }
}

/// The messages that may be answered, by send, ordinal and the channel of the answer, each with the time of its first answer.
type Candidates = BTreeMap<(Uuid, i64, Uuid), i64>;
/// All numbers of people, by their company and the number under which each is known.
type Forms = HashMap<(Uuid, PhoneNumber), BTreeSet<PhoneNumber>>;

impl Ledger<'_> {
    /// Marks the messages that were answered by what these people wrote. Locks messages, and nothing else.
    pub(super) async fn mark_answered(self, to: &impl ConnectionTrait, inbound: &[Inbound]) -> Result<()> {
        let said: Vec<_> = inbound.iter().filter_map(PossibleAnswer::of).collect();
        let (Some(first), Some(last)) =
            (said.iter().map(|said| said.at).min(), said.iter().map(|said| said.at).max())
        else {
            return Ok(());
        };
        let (forms, late) = (self.forms_of(to, &said).await?, self.late_hours(to, &said, first, last).await?);
        let mut found = Candidates::new();
        self.find(to, self.asked(&said, &forms), None, &mut found).await?;
        if !late.is_empty() {
            self.find(to, self.asked(&said, &forms), Some(&late), &mut found).await?;
        }
        if found.is_empty() {
            return Ok(());
        }
        let mut rows = Bulk::new(self.store.backend, ANSWERED);
        for ((send, ordinal, channel), at) in found {
            rows.push([send.into(), ordinal.into(), channel.into(), at.into()]);
        }
        let update = |incoming: &str, _: usize| {
            format!(
                "UPDATE message SET answered_at = incoming.at FROM {} AS incoming \
                 WHERE message.send_id = incoming.send_id AND message.ordinal = incoming.ordinal \
                 AND message.answered_at IS NULL AND EXISTS (SELECT 1 FROM send \
                 WHERE send.id = message.send_id AND send.channel_id = incoming.channel_id)",
                self.with_messages_locked(incoming)
            )
        };
        self.store.write(to, rows, Vec::new(), update).await?;
        Ok(())
    }

    /// All numbers of these people.
    async fn forms_of(self, to: &impl ConnectionTrait, said: &[PossibleAnswer]) -> Result<Forms> {
        let mut forms: Forms =
            said.iter().map(|said| ((said.company, said.person), BTreeSet::from([said.person]))).collect();
        let mut asked = Bulk::new(self.store.backend, PERSON);
        for (company, person) in forms.keys() {
            asked.push([(*company).into(), person.as_i64().into()]);
        }
        for Incoming { select, values, .. } in asked.into_statements() {
            let sql = format!(
                "SELECT person_number.company_id, person_number.person, person_number.number \
                 FROM {select} AS asked CROSS JOIN person_number \
                 WHERE person_number.company_id = asked.company_id AND person_number.person = asked.person"
            );
            for (company, person, number) in fetch::<(Uuid, i64, i64)>(to, sql, values).await? {
                let both = PhoneNumber::from_i64(person).zip(PhoneNumber::from_i64(number));
                if let Some((person, number)) = both
                    && let Some(known) = forms.get_mut(&(company, person))
                {
                    known.insert(number);
                }
            }
        }
        for known in forms.values_mut() {
            let others: Vec<_> = known.iter().filter_map(|number| number.other_form()).collect();
            known.extend(others);
        }
        Ok(forms)
    }

    /// The hours in which sends of these channels were accepted that were not over, or not begun, until long after.
    async fn late_hours(
        self,
        to: &impl ConnectionTrait,
        said: &[PossibleAnswer],
        first: Timestamp,
        last: Timestamp,
    ) -> Result<Vec<(Uuid, Vec<u8>)>> {
        let channels: BTreeSet<_> = said.iter().map(|said| said.channel).collect();
        let (asked, mut values) = Rows::of_ids(self.store.backend, &channels).select(1);
        let (since, before) = (values.len() + 1, values.len() + 2);
        let earliest: [Value; 2] = [first.minus(ANSWER).millis().into(), first_recent(last).into()];
        values.extend(earliest);
        let of_channel = format!("FROM {asked} AS asked CROSS JOIN send WHERE send.channel_id = asked.id");
        let hours = self.store.hours_of("send.id");
        let sql = format!(
            "SELECT send.channel_id, {hours} {of_channel} AND send.id < ${before} AND send.finished_at IS NOT NULL \
             AND (send.recipient IS NULL OR send.send_at IS NOT NULL) AND send.finished_at >= ${since} \
             UNION SELECT send.channel_id, {hours} {of_channel} AND send.id < ${before} AND send.state < 2 \
             AND send.recipient IS NULL AND send.high_water > 0"
        );
        fetch(to, sql, values).await
    }

    /// What is asked for each number of each person.
    fn asked(self, said: &[PossibleAnswer], forms: &Forms) -> Bulk {
        let mut rows = Bulk::new(self.store.backend, ASKED);
        for PossibleAnswer { channel, company, person, at } in said {
            let numbers = forms.get(&(*company, *person)).into_iter().flatten();
            for number in numbers {
                rows.push([
                    (*channel).into(),
                    (*company).into(),
                    number.as_i64().into(),
                    at.millis().into(),
                    at.minus(ANSWER).millis().into(),
                    at.millis().saturating_add(SECOND).into(),
                    span(first_id_at(*at)).into(),
                ]);
            }
        }
        rows
    }

    /// Finds the messages that may be answered: those of sends that were accepted lately, or in the `late` hours.
    async fn find(
        self,
        to: &impl ConnectionTrait,
        asked: Bulk,
        late: Option<&[(Uuid, Vec<u8>)]>,
        found: &mut Candidates,
    ) -> Result<()> {
        let message_hours = self.store.hours_of("message.send_id");
        for Incoming { select, mut values, next } in asked.into_statements() {
            let among = match late {
                None => format!(
                    "{} AS step CROSS JOIN message WHERE {message_hours} = {}",
                    self.store.numbers_to(SPANS),
                    self.store.hours_numbered("(incoming.span - step.number)")
                ),
                Some(late) => {
                    let mut rows = Rows::new(self.store.backend, LATE);
                    late.iter().for_each(|(channel, hours)| {
                        rows.push([(*channel).into(), Cell::Bytes(hours)]);
                    });
                    let (late, more) = rows.select(next);
                    values.extend(more);
                    format!(
                        "{late} AS late CROSS JOIN message WHERE late.channel_id = incoming.channel_id \
                         AND {message_hours} = late.hours"
                    )
                }
            };
            let sql = format!(
                "SELECT message.send_id, message.ordinal, incoming.channel_id, CAST(incoming.at AS BIGINT) \
                 FROM {select} AS incoming CROSS JOIN {among} AND message.recipient = incoming.recipient \
                 AND message.company_id = incoming.company_id AND message.answered_at IS NULL \
                 AND message.taken_at >= incoming.since AND message.taken_at < incoming.until"
            );
            for (send, ordinal, channel, at) in fetch::<(Uuid, i64, Uuid, i64)>(to, sql, values).await? {
                let first = found.entry((send, ordinal, channel)).or_insert(at);
                *first = at.min(*first);
            }
        }
        Ok(())
    }
}

/// The lowest id of the sends that are looked for by the hours before an answer.
fn first_recent(at: Timestamp) -> Uuid {
    let spans = (span(first_id_at(at)) - i64::from(SPANS)).max(0);
    Uuid::from_u128(u128::from(spans.cast_unsigned()) << 104)
}

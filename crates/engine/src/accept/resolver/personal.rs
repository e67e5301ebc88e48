//! Recipients with values of their own: who lacks one is skipped before anything of the send counts, and the values of the
//! others are packed, sealed and written with their numbers.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use uuid::Uuid;

use crate::contacts::people::People;
use crate::contents::StoredValues;
use crate::ledger::{Error, Order, Parts};
use crate::shared::Shared;
use domain::content::Content;
use domain::phone::PhoneNumber;
use domain::request::{Limits, Personal, SkipCode, Skipped};
use domain::send::Block;
use domain::values::{Both, Lack, Needs, PackedValues, Packer, Unpacked, Values};
use store::sends::messages::SendSnapshot;

/// The messages of an earlier send that are read at once.
const STRETCH: u64 = 4_096;

/// The values of an audience's recipients.
pub(crate) struct OwnValues {
    company: Uuid,
    /// What the blocks are sealed to.
    seal: Uuid,
    needs: Needs,
    shared: Values,
    source: ValueSource,
    packer: Packer,
    /// Reused from row to row.
    memory: Vec<u8>,
}

/// Where the values come from.
enum ValueSource {
    /// The request.
    Given(Personal),
    /// An earlier send, whose messages are sent again.
    Earlier(Box<Earlier>),
}

impl OwnValues {
    /// The values that a request gives for the recipients of this content.
    pub(crate) fn given(company: Uuid, seal: Uuid, content: &Content, personal: Personal) -> Self {
        Self::of(company, seal, content, personal.shared.clone(), ValueSource::Given(personal))
    }

    /// The values that the recipients had in an earlier send.
    pub(crate) async fn again(
        shared: &Shared,
        (company, seal): (Uuid, Uuid),
        content: &Content,
        send_id: Uuid,
    ) -> store::Result<Self> {
        let mut values = StoredValues::of(&shared.store, send_id).await?;
        // Each block of the earlier send has the values of all.
        let first = values.at((&shared.store, &*shared.contents), 0).await?;
        let of_all = first.map(|row| Values::clone(&row.shared)).unwrap_or_default();
        let earlier = Earlier {
            snapshot: shared.store.of(company).sends().snapshot(send_id).await?,
            values,
            send_id,
            next: 0,
            ahead: Vec::new(),
            references: (0, HashMap::new()),
            found: HashMap::new(),
        };
        Ok(Self::of(company, seal, content, of_all, ValueSource::Earlier(Box::new(earlier))))
    }

    fn of(company: Uuid, seal: Uuid, content: &Content, shared: Values, source: ValueSource) -> Self {
        let needs = Needs::of(content, &Limits::default());
        Self { company, seal, needs, shared, source, packer: Packer::default(), memory: Vec::new() }
    }

    /// Reads what these recipients had in an earlier send; they are the next ones in ascending order. Nothing needs to be read
    /// of a request.
    pub(crate) async fn read(&mut self, shared: &Shared, numbers: &[PhoneNumber]) -> Result<(), Error> {
        let ValueSource::Earlier(earlier) = &mut self.source else { return Ok(()) };
        earlier.read(shared, numbers).await.map_err(|error| super::unread(&error))
    }

    /// Removes numbers of people whom the request gives values under another form of their number, and counts them as skipped:
    /// otherwise the lesser form, which a tag may have, would get the message without those values.
    pub(crate) fn skip_other_forms(
        &self,
        people: &People,
        numbers: &mut Vec<PhoneNumber>,
        skipped: &mut Skipped,
    ) {
        let ValueSource::Given(Personal { rows, .. }) = &self.source else { return };
        if rows.is_empty() {
            return;
        }
        numbers.retain(|number| {
            if rows.has(*number) {
                return true;
            }
            let given = people.forms(self.company, *number).into_iter().find(|form| rows.has(*form));
            if let Some(form) = given {
                let reason = format!("is another form of +{form}, which is given with values of its own");
                skipped.add_as(SkipCode::SamePerson, &format!("+{number}"), &reason);
            }
            given.is_none()
        });
    }

    /// Removes recipients who lack a value, or have one that cannot be sent, from `numbers`, and counts them as skipped.
    pub(crate) fn skip_lacking(
        &mut self,
        numbers: &mut Vec<PhoneNumber>,
        skipped: &mut Skipped,
    ) -> io::Result<()> {
        let Self { needs, shared, source, memory, .. } = self;
        let mut failed = None;
        numbers.retain(|number| {
            let checked = match &*source {
                ValueSource::Given(personal) => match personal.rows.find(*number, memory) {
                    Ok(Some((index, row))) => {
                        needs.check(&Both(row, &*shared)).map_err(|lack| (lack, Some(index)))
                    }
                    Ok(None) => needs.check(&*shared).map_err(|lack| (lack, None)),
                    Err(error) => {
                        failed = Some(error);
                        return true;
                    }
                },
                ValueSource::Earlier(earlier) => match earlier.found.get(number) {
                    Some((values, _)) => needs.check(values).map_err(|lack| (lack, None)),
                    // The send had values for everybody: the texts in their places are not for those whose are gone.
                    None => Err((no_longer_kept(), None)),
                },
            };
            match checked {
                Ok(()) => true,
                Err((lack, index)) => {
                    skipped.push(lack.entry(&format!("+{number}"), index));
                    false
                }
            }
        });
        failed.map_or(Ok(()), Err)
    }

    /// Says of skipped recipients which of the request's they were.
    pub(crate) fn place(&mut self, skipped: &mut Skipped) {
        let ValueSource::Given(personal) = &self.source else { return };
        for entry in skipped.first.iter_mut().filter(|entry| entry.index.is_none()) {
            let Ok(number) = PhoneNumber::parse(&entry.input) else { continue };
            if let Ok(Some((index, _))) = personal.rows.find(number, &mut self.memory) {
                (entry.index, entry.field) = (Some(index), Some("phone_number".to_owned()));
            }
        }
    }

    /// Packs and seals the values of these recipients, of whom the first has this ordinal.
    pub(crate) async fn pack(
        &mut self,
        shared: &Shared,
        first_ordinal: u64,
        numbers: &[PhoneNumber],
    ) -> Result<Parts, Error> {
        let mut parts = Parts::default();
        let mut first = first_ordinal;
        for (ordinal, number) in (first_ordinal..).zip(numbers) {
            let reference = match &mut self.source {
                ValueSource::Given(personal) => {
                    let found = personal.rows.find(*number, &mut self.memory);
                    match found.map_err(|error| unreadable(&error))? {
                        Some((_, row)) => {
                            self.packer.push(row.iter());
                            Some(row.reference.to_owned())
                        }
                        None => {
                            self.packer.push(std::iter::empty());
                            None
                        }
                    }
                }
                ValueSource::Earlier(earlier) => match earlier.found.remove(number) {
                    Some((values, reference)) => {
                        self.packer.push(values.own.iter());
                        reference
                    }
                    None => {
                        self.packer.push(std::iter::empty());
                        None
                    }
                },
            };
            let reference = reference.filter(|reference| !reference.is_empty());
            parts.references.extend(reference.map(|reference| (ordinal, reference)));
            if self.packer.is_full() {
                parts.values.push(self.block(first));
                first = ordinal + 1;
            }
        }
        if !self.packer.is_empty() {
            parts.values.push(self.block(first));
        }
        let sealed = shared.contents.seal_values(self.company, self.seal, &mut parts.values).await;
        sealed.map_err(|error| super::unread(&error))?;
        Ok(parts)
    }

    fn block(&mut self, first_ordinal: u64) -> Block {
        let recipients = self.packer.len() as u64;
        Block { first_ordinal, recipients, packed: self.packer.take(&self.shared) }
    }

    /// The values of a recipient, for an example.
    pub(crate) fn example(&mut self, number: PhoneNumber) -> Unpacked {
        let mut own = PackedValues::default();
        if let ValueSource::Given(personal) = &self.source
            && let Ok(Some((_, row))) = personal.rows.find(number, &mut self.memory)
        {
            own = PackedValues::of(row.iter());
        }
        Unpacked { own, shared: Arc::new(self.shared.clone()) }
    }
}

/// The recipients of an earlier send with their values, read along with the audience.
struct Earlier {
    send_id: Uuid,
    /// `None` when the send was removed meanwhile.
    snapshot: Option<SendSnapshot>,
    values: StoredValues,
    /// The ordinal to read on from.
    next: u64,
    /// Recipients that were read and not asked for yet, the last first.
    ahead: Vec<(PhoneNumber, u64)>,
    /// The references that were read, and the ordinal up to which they are known.
    references: (u64, HashMap<u64, String>),
    /// The values and references of the recipients that were asked for last, of those whose values are kept.
    found: HashMap<PhoneNumber, (Unpacked, Option<String>)>,
}

impl Earlier {
    /// Finds these recipients, which are the next in ascending order, as the send has them.
    async fn read(&mut self, shared: &Shared, numbers: &[PhoneNumber]) -> store::Result<()> {
        let Shared { store, contents, .. } = shared;
        let mut places = Vec::with_capacity(numbers.len());
        for number in numbers {
            while let Some((next, ordinal)) = self.next_recipient(store).await? {
                if next > *number {
                    self.ahead.push((next, ordinal));
                    break;
                }
                if next == *number {
                    places.push((next, ordinal));
                    break;
                }
            }
        }
        self.found.clear();
        for (number, ordinal) in places {
            if ordinal >= self.references.0 {
                let end = ordinal + STRETCH;
                self.references = (end, store.sends().references(self.send_id, (ordinal, end)).await?);
            }
            let values = self.values.at((store, &**contents), ordinal).await?.cloned();
            let reference = self.references.1.remove(&ordinal);
            self.found.extend(values.map(|values| (number, (values, reference))));
        }
        Ok(())
    }

    async fn next_recipient(&mut self, store: &store::Store) -> store::Result<Option<(PhoneNumber, u64)>> {
        let Some(snapshot) = &self.snapshot else { return Ok(None) };
        while self.ahead.is_empty() {
            let messages = store.messages().from(snapshot, None, self.next, STRETCH).await?;
            if messages.is_empty() {
                return Ok(None);
            }
            self.next += messages.len() as u64;
            let places = messages.iter().map(|message| message.outcome.position);
            self.ahead = places.filter_map(|place| Some((place.recipient?, place.ordinal))).collect();
            self.ahead.reverse();
        }
        Ok(self.ahead.pop())
    }
}

/// Why a recipient of an earlier send cannot get its message again.
fn no_longer_kept() -> Lack {
    let reason = "had values that are no longer kept, or cannot be unsealed".to_owned();
    Lack { code: SkipCode::ValueMissing, field: "values".to_owned(), reason }
}

/// The values of a request cannot be read, which is logged.
pub(super) fn unreadable(error: &io::Error) -> Error {
    tracing::error!(%error, "cannot read the values of a request");
    Error::Unavailable
}

/// The values of an order, if its recipients have any.
pub(crate) async fn own_values(
    shared: &Arc<Shared>,
    order: &Order,
    personal: Option<Personal>,
    again: Option<Uuid>,
) -> Result<Option<OwnValues>, Error> {
    let Some(seal) = order.personal else { return Ok(None) };
    match (personal, again) {
        (Some(personal), _) => Ok(Some(OwnValues::given(order.company_id, seal, &order.content, personal))),
        (None, Some(send_id)) => {
            let of = (order.company_id, seal);
            let values = OwnValues::again(shared, of, &order.content, send_id).await;
            values.map(Some).map_err(|error| super::unread(&error))
        }
        (None, None) => Ok(None),
    }
}

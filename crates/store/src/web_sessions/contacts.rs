//! The numbers that web sessions write to and hear from: whether they are on WhatsApp, since when the session knows
//! them, and the values that it learns for the company's contacts.
//!
//! Numbers belong to one web session: every call names the channel, and reaches no row of another channel. They stay
//! when the session's phone is unlinked.

use entity::web_session_contact::{Entity, Model};
use sea_orm::{EntityTrait, FromQueryResult as _};
use uuid::Uuid;

use crate::contacts::import::ContactDraft;
use crate::dialect::{Rows, Type};
use crate::nouns::{Contacts, WebSessions};
use crate::one_row::find_rows;
use crate::{Error, Result, execute, fetch};
use clock::Timestamp;
use domain::contact::Person;
use domain::phone::PhoneNumber;

/// The most times that one call reads: the latest ones.
pub(crate) const MOST_TIMES: i64 = 100_000;

/// A person who wrote before the session did is no stranger.
const FIRST_SENT: &str = "SELECT first_sent_at, phone FROM web_session_contact
    WHERE channel_id = $1 AND first_sent_at IS NOT NULL AND first_sent_at >= $2
        AND (first_heard_at IS NULL OR first_heard_at >= first_sent_at)
    ORDER BY first_sent_at DESC LIMIT $3";

/// A number that the session wrote to was asked about for the message.
const ASKED: &str = "SELECT checked_at, phone FROM web_session_contact
    WHERE channel_id = $1 AND checked_at >= $2 AND first_sent_at IS NULL
    ORDER BY checked_at DESC LIMIT $3";
const PHONE: &[(&str, Type)] = &[("phone", Type::Int)];
/// Numbers that are looked up together.
const TOGETHER: usize = 5_000;

/// A number, as one web session knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownNumber {
    /// Its address. `None` when it was not on WhatsApp at [`KnownNumber::checked_at`], and when it was never checked.
    pub jid: Option<String>,
    /// The address that hides the number, once it is known.
    pub lid: Option<String>,
    /// When WhatsApp was asked for the number; `None` for a number that was never checked, because the session only
    /// heard from it.
    pub checked_at: Option<Timestamp>,
    /// When the session first wrote to it.
    pub first_sent_at: Option<Timestamp>,
    /// When the session first heard from it.
    pub first_heard_at: Option<Timestamp>,
}

impl KnownNumber {
    /// Whether the session never wrote to it and never heard from it.
    pub const fn is_cold(&self) -> bool {
        self.first_sent_at.is_none() && self.first_heard_at.is_none()
    }
}

impl WebSessions<'_> {
    /// A web session's knowledge of a number.
    pub async fn known_number(self, channel: Uuid, number: PhoneNumber) -> Result<Option<KnownNumber>> {
        let known = Entity::find_by_id((channel, number.as_i64())).one(&self.store.read).await?;
        Ok(known.map(KnownNumber::from))
    }

    /// A web session's knowledge of these numbers; numbers that it does not know are left out.
    pub async fn known_numbers(
        self,
        channel: Uuid,
        numbers: &[PhoneNumber],
    ) -> Result<Vec<(PhoneNumber, KnownNumber)>> {
        let mut known = Vec::new();
        for numbers in numbers.chunks(TOGETHER) {
            let mut asked = Rows::new(self.store.backend, PHONE);
            numbers.iter().for_each(|number| asked.push([number.as_i64().into()]));
            let (asked, values) = asked.behind([channel.into()]);
            let sql = format!(
                "SELECT known.* FROM {asked} AS asked JOIN web_session_contact AS known \
                 ON known.channel_id = $1 AND known.phone = asked.phone"
            );
            for row in &self.store.rows(sql, values).await? {
                let model = Model::from_query_result(row, "")?;
                known.push((number(model.phone)?, model.into()));
            }
        }
        Ok(known)
    }

    /// Stores WhatsApp's answer about a number: its address, or `None` when it is not on WhatsApp. A known `lid` stays
    /// when the answer names none.
    pub async fn note_number_check(
        self,
        channel: Uuid,
        number: PhoneNumber,
        jid: Option<&str>,
        lid: Option<&str>,
        now: Timestamp,
    ) -> Result<()> {
        let sql = "INSERT INTO web_session_contact (channel_id, phone, jid, lid, checked_at)
                   VALUES ($1, $2, $3, $4, $5)
                   ON CONFLICT (channel_id, phone) DO UPDATE SET jid = excluded.jid,
                       lid = COALESCE(excluded.lid, web_session_contact.lid), checked_at = excluded.checked_at";
        let values = [channel.into(), number.as_i64().into(), jid.into(), lid.into(), now.millis().into()];
        execute(&self.store.write, sql, values).await?;
        Ok(())
    }

    /// Records when the session first wrote to a number; later times change nothing.
    pub async fn note_first_sent(self, channel: Uuid, number: PhoneNumber, at: Timestamp) -> Result<()> {
        self.note_first("first_sent_at", channel, number, at).await
    }

    /// Records when the session first heard from a number, checked or not; later times change nothing.
    pub async fn note_first_heard(self, channel: Uuid, number: PhoneNumber, at: Timestamp) -> Result<()> {
        // People write often, and only the first time has to wait for the writer.
        if self.known_number(channel, number).await?.is_some_and(|known| known.first_heard_at.is_some()) {
            return Ok(());
        }
        self.note_first("first_heard_at", channel, number, at).await
    }

    async fn note_first(self, column: &str, channel: Uuid, number: PhoneNumber, at: Timestamp) -> Result<()> {
        let sql = format!(
            "INSERT INTO web_session_contact (channel_id, phone, {column}) VALUES ($1, $2, $3)
             ON CONFLICT (channel_id, phone) DO UPDATE SET {column} = excluded.{column}
             WHERE web_session_contact.{column} IS NULL"
        );
        let values = [channel.into(), number.as_i64().into(), at.millis().into()];
        execute(&self.store.write, sql, values).await?;
        Ok(())
    }

    /// The strangers to whom the session first wrote at `since` or later, and when. Ascending; the latest 100,000.
    pub async fn first_sent_since(
        self,
        channel: Uuid,
        since: Timestamp,
    ) -> Result<Vec<(Timestamp, PhoneNumber)>> {
        self.times(FIRST_SENT, channel, since).await
    }

    /// The numbers about which WhatsApp was asked at `since` or later, and when, except those that the session wrote to.
    /// Ascending; the latest 100,000.
    ///
    /// # Errors
    ///
    /// As [`WebSessions::first_sent_since`].
    pub async fn asked_since(self, channel: Uuid, since: Timestamp) -> Result<Vec<(Timestamp, PhoneNumber)>> {
        self.times(ASKED, channel, since).await
    }

    async fn times(
        self,
        sql: &'static str,
        channel: Uuid,
        since: Timestamp,
    ) -> Result<Vec<(Timestamp, PhoneNumber)>> {
        let values = [channel.into(), since.millis().into(), MOST_TIMES.into()];
        let rows = fetch(&self.store.read, sql, values).await?.into_iter().rev();
        rows.map(|(at, phone)| Ok((Timestamp::from_millis(at), number(phone)?))).collect()
    }
}

/// The number in a column.
fn number(phone: i64) -> Result<PhoneNumber> {
    PhoneNumber::from_i64(phone).ok_or_else(|| Error::Impossible(format!("{phone} is no phone number")))
}

impl Contacts<'_> {
    /// Writes WhatsApp's own id of a person into the company's contacts with this number, and returns whether any of
    /// them changed. From then on, searches find it.
    pub async fn learn_lid(self, number: PhoneNumber, lid: &str) -> Result<bool> {
        let learnt = Person { phone_number_lid: Some(lid.to_owned()), ..Person::default() };
        self.learn(number, &learnt).await
    }

    /// Writes the address of a picture into the company's contacts with this number, and returns whether any of them
    /// changed. An empty address changes nothing.
    pub async fn set_profile_picture(self, number: PhoneNumber, url: &str) -> Result<bool> {
        let learnt = Person { profile_picture: url.to_owned(), ..Person::default() };
        self.learn(number, &learnt).await
    }

    /// Writes the `learnt` values into the company's contacts with this number, as an import does.
    async fn learn(self, number: PhoneNumber, learnt: &Person) -> Result<bool> {
        // Usually there is no such contact, or nothing new: then the totals are not locked.
        if !self.is_news(number, learnt).await? {
            return Ok(false);
        }
        let person = Person { phone_number: number.to_string(), ..Person::default() };
        let transaction = self.store.begin().await?;
        let totals = self.lock_totals(&transaction).await?;
        let draft = ContactDraft { person, tags: Vec::new() };
        let mut slots = self.candidates(&transaction, &[draft]).await?.slots;
        let mut is_changed = false;
        for slot in &mut slots {
            is_changed |= slot.overwrite(learnt, None);
        }
        self.update(&transaction, totals, &slots, Timestamp::now()).await?;
        transaction.commit().await?;
        Ok(is_changed)
    }

    async fn is_news(self, number: PhoneNumber, learnt: &Person) -> Result<bool> {
        let Person { phone_number_lid, profile_picture, .. } = learnt;
        let table = ("contact", "phone_number_lid, profile_picture", "");
        let of = [("company_id", self.company.into()), ("phone", number.as_i64().into())];
        for (lid, picture) in find_rows::<(Option<String>, String)>(&self.store.read, table, of).await? {
            let is_new_lid = phone_number_lid.is_some() && lid != *phone_number_lid;
            if is_new_lid || (!profile_picture.is_empty() && picture != *profile_picture) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl From<Model> for KnownNumber {
    fn from(model: Model) -> Self {
        let Model { channel_id: _, phone: _, jid, lid, checked_at, first_sent_at, first_heard_at } = model;
        Self {
            jid,
            lid,
            checked_at: checked_at.map(Timestamp::from_millis),
            first_sent_at: first_sent_at.map(Timestamp::from_millis),
            first_heard_at: first_heard_at.map(Timestamp::from_millis),
        }
    }
}

#[cfg(test)]
mod tests;

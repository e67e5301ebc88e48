//! Rate cards that operators uploaded, and how many messages arrived by how the provider bills them.

use std::cmp::Reverse;

use entity::rate_card::{Column, Entity};
use entity::send;
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, PaginatorTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::changes::{self, What, Who};
use crate::contacts::signed;
use crate::nouns::{AllSends, Costs, RateCards};
use crate::one_row::{delete_rows, put_row};
use crate::sends::recipient;
use crate::{Error, Result, Transaction, fetch};
use clock::Timestamp;
use domain::phone::Country;
use domain::price::{Billing, ByCountry, Date, Micros, Month, PriceChange, RateCard, shipped};

/// The most rate cards that are kept.
pub const MOST_CARDS: u64 = 40;
/// The most counts of a month that are read by channel; of more, channels are added up.
const MOST_COUNTS: usize = 50_000;
/// The most changed prices that the record of a card names.
const MOST_SAID: usize = 100;

/// A rate card that the program has, or that an operator uploaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCard {
    /// Its prices.
    pub card: RateCard,
    /// When it was uploaded; `None` of the shipped one.
    pub uploaded_at: Option<Timestamp>,
}

/// How many messages arrived in a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BilledCount {
    /// The channel; `None` when a month has too many counts to tell them apart by channel.
    pub channel_id: Option<Uuid>,
    /// The country of the recipients, if it is known.
    pub country: Option<Country>,
    /// How the provider bills them.
    pub billing: Billing,
    /// How many.
    pub messages: u64,
}

/// Messages of a send that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BilledPart {
    /// The first four digits of the recipients' numbers; 0 of a group.
    pub first_digits: u16,
    /// How the provider bills them.
    pub billing: Billing,
    /// How many.
    pub messages: u64,
}

impl RateCards<'_> {
    /// Every card, the newest date first. An uploaded card takes the place of the shipped one of the same date.
    pub async fn all(self) -> Result<Vec<KnownCard>> {
        let mut cards = Vec::new();
        for stored in Entity::find().all(&self.store.read).await? {
            let uploaded_at = Some(Timestamp::from_millis(stored.updated_at));
            cards.extend(read(&stored.card).map(|card| KnownCard { card, uploaded_at }));
        }
        if let Some(shipped) = shipped().filter(|own| cards.iter().all(|known| known.card.date != own.date)) {
            cards.push(KnownCard { card: shipped.clone(), uploaded_at: None });
        }
        cards.sort_by_key(|known| Reverse(known.card.date));
        Ok(cards)
    }

    /// The card whose prices apply on a day.
    pub async fn on(self, day: Date) -> Result<Option<RateCard>> {
        let newest = Entity::find().filter(Column::Date.lte(day.to_string())).order_by_desc(Column::Date);
        let uploaded = newest.one(&self.store.read).await?.and_then(|stored| read(&stored.card));
        Ok(RateCard::on(shipped().cloned().into_iter().chain(uploaded), day))
    }

    /// The prices of a card that differ from those that apply on its date without it.
    pub async fn compare(self, card: &RateCard) -> Result<Vec<PriceChange>> {
        let before = self.on(card.date).await?;
        // Without an earlier card, every price is new.
        Ok(card.differences(&before.unwrap_or_else(|| RateCard { markets: Vec::new(), ..card.clone() })))
    }

    /// Adds a card, or replaces the uploaded one of the same date. Returns `false` when there are too many already.
    pub async fn put(self, who: &Who, card: &RateCard) -> Result<bool> {
        let said = said(card, &self.compare(card).await?);
        let transaction = self.store.begin().await?;
        let put = put(&transaction, who, card, said).await;
        match &put {
            Ok(true) => transaction.commit().await?,
            Ok(false) | Err(_) => transaction.rollback().await?,
        }
        put
    }

    /// Removes the uploaded card of this date. Returns `false` when there is none.
    pub async fn remove(self, who: &Who, date: &str) -> Result<bool> {
        let transaction = self.store.begin().await?;
        if delete_rows(&transaction, "rate_card", [("date", date.into())]).await? == 0 {
            return transaction.unchanged(false).await;
        }
        let removed = Value::from("removed");
        changes::record_one(&transaction, who, What::RateCard, date, None, removed).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// A stored card; one that cannot be read any more is logged, and does not count.
fn read(card: &str) -> Option<RateCard> {
    let card = RateCard::parse(card, shipped());
    card.inspect_err(|faults| tracing::error!(?faults, "an uploaded rate card cannot be read")).ok()
}

/// What the record of changes says of a card.
fn said(card: &RateCard, changes: &[PriceChange]) -> Value {
    let price =
        |price: Option<Micros>| price.map_or_else(|| "no price".to_owned(), |price| price.to_string());
    let changes = changes.iter().take(MOST_SAID).map(|change| {
        let PriceChange { market, category, old, new } = change;
        format!("{market}, {category}: {} to {}", price(*old), price(*new))
    });
    json!({
        "currency": card.currency,
        "source": card.source,
        "markets": card.markets.len(),
        "prices": changes.collect::<Vec<_>>(),
    })
}

async fn put(within: &Transaction, who: &Who, card: &RateCard, said: Value) -> Result<bool> {
    let (date, text) = (card.date.to_string(), card.to_csv());
    let is_new = Entity::find_by_id(date.as_str()).one(within).await?.is_none();
    if is_new && Entity::find().count(within).await? >= MOST_CARDS {
        return Ok(false);
    }
    let now = Timestamp::now().millis();
    let row = [("date", date.as_str().into()), ("card", text.into()), ("updated_at", now.into())];
    put_row(within, "rate_card", &["date"], row).await?;
    changes::record_one(within, who, What::RateCard, date, None, said).await?;
    Ok(true)
}

impl Costs<'_> {
    /// How many messages of the company arrived in a month, by channel, country and billing.
    pub async fn month(self, month: Month) -> Result<Vec<BilledCount>> {
        let of = |channel: &str, grouped: &str| {
            format!(
                "SELECT {channel} AS channel, country, billing, CAST(SUM(messages) AS BIGINT) FROM billed_count \
                 WHERE company_id = $1 AND month = $2 GROUP BY {grouped}country, billing \
                 ORDER BY {grouped}country, billing LIMIT {}",
                MOST_COUNTS + 1
            )
        };
        let values = [self.company.into(), month.number().into()];
        type Columns = (Uuid, String, i16, i64);
        let sql = of("channel_id", "channel_id, ");
        let rows = fetch::<Columns>(&self.store.read, sql, values.clone()).await?;
        let mut counts = Vec::with_capacity(rows.len());
        if rows.len() <= MOST_COUNTS {
            for (channel, country, billing, messages) in rows {
                counts.push(count(Some(channel), &country, billing, messages)?);
            }
            return Ok(counts);
        }
        let sql = of("''", "");
        for (_, country, billing, messages) in
            fetch::<(String, String, i16, i64)>(&self.store.read, sql, values).await?
        {
            counts.push(count(None, &country, billing, messages)?);
        }
        Ok(counts)
    }
}

fn count(channel_id: Option<Uuid>, country: &str, stored: i16, messages: i64) -> Result<BilledCount> {
    let (country, billing) = (Country::parse(country), billing(stored)?);
    Ok(BilledCount { channel_id, country, billing, messages: messages.cast_unsigned() })
}

fn billing(stored: i16) -> Result<Billing> {
    let read = Billing::from_i16(stored.saturating_abs());
    read.ok_or_else(|| Error::Impossible(format!("{stored} is no billing")))
}

impl AllSends<'_> {
    /// The messages of a send with ordinals from `from` up to `to` that arrived and whose billing is known.
    pub async fn billed_part(self, send_id: Uuid, from: u64, to: u64) -> Result<Vec<BilledPart>> {
        let sql = format!(
            "SELECT substr(CAST(recipient AS TEXT), 1, 4) AS digits, ABS(billing) AS billed, COUNT(*) {} \
             AND billing IS NOT NULL GROUP BY 1, 2",
            self.store.rows_between()
        );
        let values = [send_id.into(), signed(from).into(), signed(to).into()];
        let rows = fetch::<(String, i16, i64)>(&self.store.read, sql, values).await?;
        let part = |(digits, stored, messages): (String, i16, i64)| {
            // Four digits are a small number.
            let first_digits = digits.parse().unwrap_or_default();
            Ok(BilledPart { first_digits, billing: billing(stored)?, messages: messages.cast_unsigned() })
        };
        rows.into_iter().map(part).collect()
    }

    /// Adds the recipient of a send that has only one to `countries`. Returns whether it has only one.
    pub async fn count_one(self, send_id: Uuid, countries: &mut ByCountry) -> Result<bool> {
        let only = send::Entity::find_by_id(send_id).select_only().column(send::Column::Recipient);
        let only = only.into_tuple::<Option<i64>>().one(&self.store.read).await?;
        let Some(stored) = only.flatten() else {
            return Ok(false);
        };
        match recipient(stored)? {
            Some(number) => countries.count(&[number]),
            None => countries.add(0, 1),
        }
        Ok(true)
    }

    /// Adds recipients of a bulk send to `countries`, those of the block with this ordinal. Returns the ordinal after it.
    ///
    /// # Errors
    ///
    /// [`Error::Impossible`] when there is no such block or it is damaged.
    pub async fn count_block(self, send_id: Uuid, ordinal: u64, countries: &mut ByCountry) -> Result<u64> {
        let (first, numbers) = self.block_at(send_id, ordinal).await?;
        countries.count(&numbers);
        Ok((first + numbers.len() as u64).max(ordinal + 1))
    }
}

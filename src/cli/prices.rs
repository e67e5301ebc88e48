//! `pombo prices`: the rate cards by which costs are estimated.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::failure::Misused;
use super::output::{Columns, Listed};
use super::session::Session;
use crate::clock::Timestamp;
use crate::domain::price::{Date, Micros, PriceChange, RateCard, day_of, shipped};
use crate::store::prices::{KnownCard, MOST_CARDS};

#[derive(Debug, Args)]
pub(super) struct Show {
    /// The card's date, as in 2026-10-01; without it, the card that applies today
    date: Option<Date>,
}

#[derive(Debug, Args)]
pub(super) struct Apply {
    /// A rate card as CSV: the provider's file, or one as `pombo prices show` prints it
    file: PathBuf,
    /// Print the prices that differ, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(super) struct Remove {
    /// The date of an uploaded card, as in 2027-01-01; the card before it applies again, or the program's own
    date: Date,
}

#[derive(Serialize)]
struct Card {
    date: String,
    currency: String,
    markets: usize,
    source: String,
    uploaded_at: Option<Timestamp>,
}

/// The output of [`apply`].
#[derive(Serialize)]
struct AppliedCard {
    date: String,
    dry_run: bool,
    difference: Vec<PriceChange>,
}

impl Listed for Card {
    const COLUMNS: Columns<Self> = &[
        ("date", |card| card.date.clone()),
        ("currency", |card| card.currency.clone()),
        ("markets", |card| card.markets.to_string()),
        ("uploaded", |card| {
            card.uploaded_at.map_or_else(|| "no, the program's own".to_owned(), |at| at.to_string())
        }),
        ("source", |card| card.source.clone()),
    ];
}

impl From<KnownCard> for Card {
    fn from(KnownCard { card, uploaded_at }: KnownCard) -> Self {
        let (date, markets) = (card.date.to_string(), card.markets.len());
        Self { date, currency: card.currency, markets, source: card.source, uploaded_at }
    }
}

pub(super) async fn list(session: &Session) -> anyhow::Result<()> {
    let cards = session.app.store.rate_cards().all().await?;
    let cards: Vec<Card> = cards.into_iter().map(Card::from).collect();
    session.output.list(&cards, "there are no prices; add some with `pombo prices apply FILE`")
}

pub(super) async fn show(session: &Session, Show { date }: Show) -> anyhow::Result<()> {
    let cards = session.app.store.rate_cards();
    let card = match date {
        None => cards.on(day_of(Timestamp::now())).await?,
        Some(date) => cards.all().await?.into_iter().map(|known| known.card).find(|card| card.date == date),
    };
    let card =
        card.ok_or_else(|| anyhow!("there is no such rate card: `pombo prices list` lists the cards"))?;
    session
        .output
        .record(&json!({ "date": card.date.to_string(), "csv": card.to_csv() }), card.to_csv().trim_end())
}

pub(super) async fn apply(session: &Session, Apply { file, dry_run }: Apply) -> anyhow::Result<()> {
    let shown = file.display();
    let text =
        std::fs::read_to_string(&file).with_context(|| format!("cannot read {shown}; check the path"))?;
    let card = RateCard::parse(&text, shipped()).map_err(|faults| {
        let lines: Vec<String> = faults.iter().map(|fault| format!("  {fault}")).collect();
        Misused(format!("{shown} was not applied, nothing was changed:\n{}", lines.join("\n")))
    })?;
    let cards = session.app.store.rate_cards();
    let (date, difference) = (card.date.to_string(), cards.compare(&card).await?);
    let mut said: Vec<String> = difference.iter().map(written).collect();
    if said.is_empty() {
        said.push("no price differs".to_owned());
    }
    if dry_run {
        said.push("nothing was changed".to_owned());
    } else if !cards.put(&session.who(), &card).await? {
        return Err(anyhow!(
            "there are {MOST_CARDS} rate cards already; nothing was changed: remove an old one with `pombo prices remove`"
        ));
    } else {
        said.push(format!("these prices apply from {date} on"));
    }
    session.output.record(&AppliedCard { date, dry_run, difference }, &said.join("\n"))
}

pub(super) async fn remove(session: &Session, Remove { date }: Remove) -> anyhow::Result<()> {
    let date = date.to_string();
    if !session.app.store.rate_cards().remove(&session.who(), &date).await? {
        return Err(anyhow!("nobody uploaded a rate card of {date}: `pombo prices list` lists the cards"));
    }
    session
        .output
        .record(&json!({ "date": date, "removed": true }), &format!("the rate card of {date} is removed"))
}

/// A changed price for a person.
fn written(change: &PriceChange) -> String {
    let price =
        |price: Option<Micros>| price.map_or_else(|| "no price".to_owned(), |price| price.to_string());
    format!("{}: {} {} → {}", change.market, change.category, price(change.old), price(change.new))
}

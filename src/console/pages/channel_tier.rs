//! The tier of one channel, its own values for some of the tier's options, and how long it has them.

use actix_web::web::Data;
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::tiers::options::controls::{self, OWN};
use super::tiers::options::{reading, said_own, values};
use super::tiers::{Checked, ShownEffects, consequences};
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults};
use crate::console::component::time::second;
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Id;
use crate::console::visitor::Person;
use crate::domain::tier::{OwnOptions, Tier, difference};
use crate::engine::records::channels::Owned;

/// The most characters of a field.
const MOST: usize = 100;

pub(crate) async fn show(person: Person, state: Data<State>, id: Id) -> Result<Page> {
    let owned = find(&state, id).await?;
    let tiers = tiers(&state, &owned).await?;
    let present = tiers.iter().find(|tier| tier.name == owned.channel.tier);
    let tuned =
        present.map(|present| owned.channel.own_options.over(present).unwrap_or_else(|_| present.clone()));
    let mut fields = values(&document(tuned.as_ref())?);
    fields.extend(owned.channel.own_options.iter().map(|(option, _)| (OWN.to_owned(), option.to_owned())));
    fields.push(("tier".to_owned(), owned.channel.tier.clone()));
    fields.push(("until".to_owned(), end(&person, &owned)));
    let form = Form::filled(person.text, fields.iter().map(|(name, value)| (name.as_str(), value.clone())));
    page(&person, &state, &owned, &form, None).await
}

/// Shows what would change, or puts the channel under the tier of the form, with the options of the form, as it was shown.
pub(crate) async fn change(person: Person, state: Data<State>, id: Id, mut form: Form) -> Result<Answer> {
    let owned = find(&state, id).await?;
    let wanted = form.required("tier", MOST);
    let tiers = tiers(&state, &owned).await?;
    let present = tiers.iter().find(|tier| tier.name == owned.channel.tier).cloned();
    let tier = tiers.into_iter().find(|tier| tier.name == wanted);
    if tier.is_none() {
        form.fault("tier", person.text.get("fault-field-choice"));
    }
    let until = until(&person, &mut form);
    let options = reading::ticked(&mut form, Some(owned.channel.kind));
    let own = tier.as_ref().zip(options).and_then(|(tier, options)| match own(options, tier) {
        Ok(own) => Some(own),
        Err(faults) => {
            reading::note(&mut form, &faults);
            None
        }
    });
    let (Some(tier), Some((own, after)), false) = (tier, own, form.has_faults()) else {
        return Ok(page(&person, &state, &owned, &form, None).await?.unprocessable().into());
    };
    // The shown change is applied only if neither the channel nor the form has changed since.
    let was_shown = form.words().one("seen") == seen(&person, &owned, &form);
    if form.words().one("step") != "apply" || !was_shown {
        let before = present.map(|present| owned.channel.own_options.over(&present).unwrap_or(present));
        let difference = difference(&document(before.as_ref())?, &document(Some(&after))?);
        let effects = state.engine.channels().effect_on(owned.channel.id, &after).await?;
        let effects = ShownEffects::named(person.text, &state, effects).await?;
        let is_change = !difference.is_empty() || form.words().one("until") != end(&person, &owned);
        let checked = Checked { difference, effects, is_change };
        return Ok(page(&person, &state, &owned, &form, Some(&checked)).await?.into());
    }
    let records = state.engine.operator().await?;
    records.channels().set_tier(&person.who(), owned.channel.id, (&tier.name, &own), until).await?;
    drop(records);
    let names = [("channel", owned.channel.name.as_str().into()), ("tier", tier.name.as_str().into())];
    Ok(Answer::done(&state, &person, person.text.with("operator-tier-changed", names), place(&owned)))
}

/// The options, and the tier with them in it.
fn own(options: Map<String, Value>, tier: &Tier) -> Result<(OwnOptions, Tier), Vec<String>> {
    let own = OwnOptions::new(options, tier)?;
    let after = own.over(tier)?;
    Ok((own, after))
}

/// A tier as it is stored.
fn document(tier: Option<&Tier>) -> Result<Value> {
    tier.map_or(Ok(Value::Null), serde_json::to_value).map_err(|_| Error::Internal)
}

/// The digest of what a page showed: the channel as it is, and the values of the form.
fn seen(person: &Person, owned: &Owned, form: &Form) -> String {
    let channel = &owned.channel;
    let about = format!("{} {} {}", channel.tier, channel.own_options.line(), end(person, owned));
    hex::encode(form.words().digest(&about, &["seen", "step"]))
}

/// The end of the present tier, as the field has it; empty when the channel has the tier for good.
fn end(person: &Person, owned: &Owned) -> String {
    owned.tier_end.as_ref().map(|end| person.zone.field(end.at)).unwrap_or_default()
}

/// The end of the form; `None` for good.
fn until(person: &Person, form: &mut Form) -> Option<Timestamp> {
    let local = form.optional("until", MOST)?;
    let until = person.zone.moment(&local);
    let fault = match until {
        None => "compose-fault-time",
        Some(at) if at <= Timestamp::now() => "compose-fault-past",
        Some(_) => return until,
    };
    form.fault("until", person.text.get(fault));
    None
}

async fn find(state: &State, id: Id) -> Result<Owned> {
    state.engine.operator().await?.channels().find_owned(id.0).await?.ok_or(Error::NotFound)
}

/// The tiers for the channel's kind.
async fn tiers(state: &State, owned: &Owned) -> Result<Vec<Tier>> {
    let records = state.engine.operator().await?.tiers().all().await?;
    let tiers = records.iter().filter_map(|record| serde_json::from_str::<Tier>(&record.settings).ok());
    Ok(tiers.filter(|tier| tier.kind == owned.channel.kind).collect())
}

fn place(owned: &Owned) -> String {
    format!("/console/operator/channels/{}", owned.channel.id)
}

async fn page(
    person: &Person,
    state: &State,
    owned: &Owned,
    form: &Form,
    checked: Option<&Checked>,
) -> Result<Page> {
    let text = person.text;
    let tiers = tiers(state, owned).await?;
    let tiers = tiers.iter().map(|tier| (tier.name.as_str(), tier.name.as_str()));
    let body = html! {
        section.panel { (facts(person, owned)) }
        form method="post" action=(place(owned)) {
            (faults(form))
            input type="hidden" name="seen" value=(seen(person, owned, form));
            @if let Some(checked) = checked { (consequences(person, checked)) }
            div.panel {
                (Field::new(form, "tier", &text.get("channels-tier")).required().select(tiers))
                fieldset.field {
                    legend { (text.get("operator-tier-options")) }
                    p.hint { (text.get("operator-tier-options-hint")) }
                    div.columns { (controls::ticked(form, Some(owned.channel.kind))) }
                }
                (Field::new(form, "until", &text.get("operator-tier-until"))
                    .hint(&text.get("operator-tier-until-hint")).input("datetime-local"))
                p.soft { (text.get("compose-zone")) " " (person.zone.name()) }
                button.plain type="submit" name="step" value="check" { (text.get("tiers-check")) }
            }
        }
        p { a href="/console/operator" { (text.get("operator-title")) } }
    };
    Ok(Page::new(owned.channel.name.clone(), Menu::Operator, body))
}

fn facts(person: &Person, Owned { channel, company, tier_end }: &Owned) -> Markup {
    let text = person.text;
    html! {
        dl.facts {
            dt { (text.get("companies-name")) } dd { bdi { (company) } }
            dt { (text.get("channels-tier")) }
            dd { a href=(format!("/console/operator/tiers/{}", channel.tier)) { (channel.tier) } }
            @if !channel.own_options.is_empty() {
                dt { (text.get("operator-tier-options")) } dd { (said_own(text, &channel.own_options)) }
            }
            @if let Some(end) = tier_end {
                dt { (text.get("operator-tier-until")) }
                dd {
                    (second(person, end.at)) " "
                    span.soft { (text.with("operator-tier-end", [("tier", end.tier.as_str().into())])) }
                }
            }
        }
    }
}

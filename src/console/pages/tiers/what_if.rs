//! What would change for all active sends if every tier had some other values.

use maud::{Markup, html};

use super::effects::ShownEffects;
use super::options::{controls, reading};
use crate::console::State;
use crate::console::component::field::faults;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::query::Query;
use crate::console::visitor::Person;

/// The form, and the answer when the query asks.
pub(super) async fn section(person: &Person, state: &State, query: &Query) -> Result<Markup> {
    let text = person.text;
    let is_asked = query.names(controls::OWN);
    let mut form = Form::filled(text, query.iter().map(|(name, value)| (name, value.to_owned())));
    let mut effects = None;
    if is_asked && let Some(options) = reading::ticked(&mut form, None) {
        let changed = state.engine.channels().effects_of(|tier| tier.with_json(options.clone())).await?;
        if changed.is_possible {
            effects = Some(ShownEffects::named(text, state, changed.effects).await?);
        } else {
            form.general_fault(text.get("tiers-what-if-none"));
        }
    }
    Ok(html! {
        section aria-labelledby="what-if" {
            h2 id="what-if" { (text.get("tiers-what-if")) }
            (faults(&form))
            @if let Some(effects) = &effects { (effects.table(person)) }
            details.more id="values" open[is_asked] {
                summary { (text.get("tiers-what-if-hint")) }
                form method="get" {
                    div.columns { (controls::ticked(&form, None)) }
                    button.plain type="submit" { (text.get("tiers-what-if-show")) }
                }
            }
        }
    })
}

//! What would change for all active sends if every tier had some other options.

use maud::{Markup, html};

use super::effect_table;
use crate::console::State;
use crate::console::component::field::{Field, faults};
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::query::Query;
use crate::console::visitor::Person;
use crate::domain::tier::assignments;

/// The most characters of the options.
const MOST: usize = 500;

/// The form, and the answer when the query asks.
pub(super) async fn section(person: &Person, state: &State, query: &Query) -> Result<Markup> {
    let text = person.text;
    let asked = query.text("set", MOST).unwrap_or_default();
    let mut form = Form::filled(text, [("set", asked.to_owned())]);
    let mut effects = None;
    if !asked.is_empty() {
        match assignments(asked) {
            Ok(options) => {
                let changed = state.engine.channels().effects_of(|tier| tier.with(&options)).await?;
                match changed.fault() {
                    Some(fault) => form.fault("set", fault),
                    None => effects = Some(changed.effects),
                }
            }
            Err(fault) => form.fault("set", fault),
        }
    }
    let hint = text.get("tiers-what-if-hint");
    Ok(html! {
        section aria-labelledby="what-if" {
            h2 id="what-if" { (text.get("tiers-what-if")) }
            (faults(&form))
            form.row.bottom method="get" {
                (Field::new(&form, "set", &text.get("tiers-options")).hint(&hint).most(MOST).text())
                button.plain type="submit" { (text.get("tiers-what-if-show")) }
            }
            @if let Some(effects) = &effects { (effect_table(person, effects)) }
        }
    })
}

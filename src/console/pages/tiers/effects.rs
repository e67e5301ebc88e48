//! The sends that another tier would make faster or slower, each by its name.

use std::collections::HashMap;

use maud::{Markup, html};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::copy;
use crate::console::component::table::{Column, table};
use crate::console::component::time::second;
use crate::console::error::Result;
use crate::console::pages::send::words;
use crate::console::text::Text;
use crate::console::visitor::Person;
use crate::domain::plan::Estimate;
use crate::engine::retiering::Effect;

/// The most companies whose sends are named: a question about all tiers may be about many.
const MOST_COMPANIES: usize = 50;

/// The effects of another tier on sends, with the names of these.
pub(in crate::console::pages) struct ShownEffects {
    effects: Vec<Effect>,
    names: HashMap<Uuid, String>,
}

impl ShownEffects {
    /// Reads the names of the sends. A send that is gone meanwhile, or of one company too many, has none.
    pub(in crate::console::pages) async fn named(
        text: Text,
        state: &State,
        effects: Vec<Effect>,
    ) -> Result<Self> {
        let mut of_companies: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
        for effect in &effects {
            let company = effect.channel.company_id;
            if of_companies.len() < MOST_COMPANIES || of_companies.contains_key(&company) {
                of_companies.entry(company).or_default().push(effect.send.send_id);
            }
        }
        let (mut names, now) = (HashMap::new(), Timestamp::now());
        for (company, sends) in of_companies {
            // Names need no counts of messages.
            let found = state.engine.company(company).await?.sends().these(&sends, 0, now).await?;
            names.extend(found.iter().map(|send| (send.id, words::name(text, send))));
        }
        Ok(Self { effects, names })
    }

    /// The sends with their ends before and after.
    pub(in crate::console::pages) fn table(&self, person: &Person) -> Markup {
        let text = person.text;
        let columns = [
            Column::words(text.get("overview-send")),
            Column::words(text.get("companies-name")),
            Column::words(text.get("operator-channel")),
            Column::numbers(text.get("tiers-left")),
            Column::words(text.get("tiers-end-before")),
            Column::words(text.get("tiers-end-after")),
        ];
        let rows = self.effects.iter().map(|effect| {
            vec![
                html! {
                    @if let Some(name) = self.names.get(&effect.send.send_id) { bdi { (name) } " " }
                    (copy::id(text, effect.send.send_id))
                },
                html! { bdi { (effect.send.company) } },
                html! { bdi { (effect.channel.name) } },
                html! { (text.number(effect.send.remaining)) },
                end(person, effect.before),
                end(person, effect.after),
            ]
        });
        html! {
            h3 { (text.get("tiers-effect")) }
            @if self.effects.is_empty() { p { (text.get("tiers-no-effect")) } }
            @else { (table(&text.get("tiers-effect"), &columns, rows)) }
        }
    }
}

fn end(person: &Person, estimate: Estimate) -> Markup {
    match estimate.takes {
        Some(takes) => second(person, Timestamp::now().plus(takes)),
        None => html! { span.soft { "—" } },
    }
}

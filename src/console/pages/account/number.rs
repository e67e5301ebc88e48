//! A person's own number, to which they get tests of sends.

use actix_web::web::Data;
use maud::{Markup, html};

use super::{Forms, PLACE, page};
use crate::accounts::OwnProfile;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults};
use crate::console::component::number;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::visitor::Person;
use crate::domain::phone::{Country, PhoneNumber};

/// The longest number that the field accepts, in characters.
const NUMBER_CHARS: usize = 60;

/// A submitted form, and the numbers that may be meant.
pub(super) type Submitted = (Form, Vec<PhoneNumber>);

/// Sets the number, or removes it when the field is empty.
pub(crate) async fn change(person: Person, state: Data<State>, mut form: Form) -> Result<Answer> {
    let is_empty = form.words().one("phone_number").is_empty();
    let (number, meant) = match is_empty {
        true => (None, Vec::new()),
        false => {
            let country = country(&person, &state).await?;
            number::required(&mut form, "phone_number", country, "account-number-wrong")
        }
    };
    if form.has_faults() {
        let forms = Forms { number: Some((form, meant)), ..Forms::default() };
        return Ok(page(&person, &state, forms).await?.unprocessable().into());
    }
    OwnProfile::of(&state.accounts).set_phone_number(&person.signed_in, number, &person.origin).await?;
    let key = if is_empty { "account-number-removed" } else { "account-number-saved" };
    Ok(Answer::done(&state, &person, person.text.get(key), PLACE))
}

/// The country of the chosen company, whose national numbers are understood.
async fn country(person: &Person, state: &State) -> Result<Option<Country>> {
    let Some(company) = &person.company else { return Ok(None) };
    Ok(state.engine.company(company.id).await?.country().await?.likely())
}

/// The form, with the number that the person has.
pub(super) fn section(person: &Person, submitted: Option<&Submitted>) -> Markup {
    let text = person.text;
    let own = person.signed_in.user.phone_number.map(number::grouped).unwrap_or_default();
    let first = (Form::filled(text, [("phone_number", own)]), Vec::new());
    let (form, meant) = submitted.unwrap_or(&first);
    html! {
        section.panel aria-labelledby="number" {
            h2 id="number" { (text.get("account-number")) }
            form method="post" action=(format!("{PLACE}/number")) {
                (faults(form))
                (Field::new(form, "phone_number", &text.get("account-number-field")).hint(&text.get("account-number-hint"))
                    .most(NUMBER_CHARS).autocomplete("tel").input("tel"))
                @if !meant.is_empty() { (number::choose(text, "phone_number", meant)) }
                button.plain type="submit" { (text.get("account-number-save")) }
            }
        }
    }
}

//! A tier gets another name, or is deleted.

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, html};

use super::{PLACE, find, plain_page};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::confirm;
use crate::console::component::field::Field;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::visitor::Person;
use crate::domain::tier::{MAX_NAME, is_name};
use crate::engine;
use crate::engine::records::tiers::Usage;
use crate::error::Code;

/// Who uses the tier, with the forms to rename and to delete it.
pub(super) fn section(person: &Person, name: &str, usage: &Usage) -> Markup {
    let text = person.text;
    let form = Form::new(text);
    let place = format!("{PLACE}/{name}");
    let hint = text.get("tiers-new-name-hint");
    html! {
        section aria-labelledby="name" {
            h2 id="name" { (text.get("tiers-use")) }
            p { (used(person, usage)) }
            form.row.bottom method="post" action={ (place) "/rename" } {
                (Field::new(&form, "name", &text.get("tiers-new-name")).hint(&hint).most(MAX_NAME).required().text())
                button.plain type="submit" { (text.get("tiers-rename")) }
            }
            @if usage.is_empty() {
                (confirm::confirm(
                    text,
                    &format!("{place}/delete"),
                    &text.get("tiers-delete"),
                    &text.with("tiers-delete-question", [("name", name.into())]),
                ))
            }
        }
    }
}

fn used(person: &Person, usage: &Usage) -> String {
    let counts = [("channels", usage.channels.into()), ("companies", usage.companies.into())];
    person.text.with("tiers-used", counts)
}

/// Gives the tier the name of the form.
pub(crate) async fn rename(
    person: Person,
    state: Data<State>,
    request: HttpRequest,
    form: Form,
) -> Result<Answer> {
    let record = find(&state, &request).await?;
    let name = form.words().one("name").to_owned();
    let fault = if is_name(&name) {
        let renamed = state.engine.operator().await?.rename_tier(&person.who(), &record.name, &name).await;
        match renamed {
            Ok(()) => {
                let said = person.text.with("tiers-renamed", [("name", name.as_str().into())]);
                return Ok(Answer::done(&state, &person, said, format!("{PLACE}/{name}")));
            }
            Err(engine::Error::Refused(refusal)) if refusal.code == Code::AlreadyExists => "tiers-name-taken",
            Err(error) => return Err(error.into()),
        }
    } else {
        "tiers-name-invalid"
    };
    let fault = Some(person.text.get(fault));
    Ok(plain_page(&person, &state, &record, fault).await?.unprocessable().into())
}

/// Deletes the tier, unless somebody uses it now.
pub(crate) async fn delete(person: Person, state: Data<State>, request: HttpRequest) -> Result<Answer> {
    let record = find(&state, &request).await?;
    let removed = state.engine.operator().await?.remove_tier(&person.who(), &record.name).await;
    match removed {
        Ok(()) => {
            let said = person.text.with("tiers-deleted", [("name", record.name.as_str().into())]);
            Ok(Answer::done(&state, &person, said, PLACE))
        }
        Err(engine::Error::Refused(refusal)) if refusal.code == Code::TierInUse => {
            let usage = state.engine.operator().await?.tiers().usage(&record.name).await?;
            let fault = Some(used(&person, &usage));
            Ok(plain_page(&person, &state, &record, fault).await?.unprocessable().into())
        }
        Err(error) => Err(error.into()),
    }
}

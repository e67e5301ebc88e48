//! Adding a channel: a business account, which is checked at the provider first, or a web session, whose risk a person
//! accepts and which then waits for a phone.

use actix_web::web::Data;
use maud::html;

use super::channel::{checks, pairing, shape};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults, once};
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::visitor::Viewer;
use crate::domain::channel::Kind;
use crate::engine::{Added, Addition, Check, CheckedField, NotAdded, Number, Unfit};

pub(crate) async fn show(viewer: Viewer) -> Page {
    let kind = Kind::BusinessAccount.as_str().to_owned();
    page(&viewer, &Form::filled(viewer.text, [("kind", kind)]), None)
}

/// Adds the channel. A business account that the provider does not confirm is not saved.
pub(crate) async fn add(viewer: Viewer, state: Data<State>, mut form: Form) -> Result<Answer> {
    let kinds = [Kind::BusinessAccount.as_str(), Kind::WebSession.as_str()];
    let kind = form.choice("kind", &kinds);
    let name = shape::name(&mut form);
    let business = (kind == Some(Kind::BusinessAccount.as_str())).then(|| {
        let ids = shape::ids(&mut form);
        let token = shape::token(&mut form);
        if token.is_none() {
            form.fault("token", viewer.text.get("fault-field-missing"));
        }
        (ids, token, shape::app_secret(&mut form))
    });
    let is_web = kind == Some(Kind::WebSession.as_str());
    if is_web {
        pairing::require_acceptance(&mut form);
    }
    if form.has_faults() {
        return Ok(page(&viewer, &form, None).unprocessable().into());
    }
    let (company_id, who) = (viewer.company.id, viewer.who());
    let number = business.and_then(|((phone_number_id, waba_id), token, app_secret)| {
        let token = token?;
        let check = Check::AtProvider;
        Some(Number { phone_number: None, phone_number_id, waba_id, token, app_secret, check })
    });
    let addition = Addition { company_id, name, tier: None, number };
    let act = async || {
        let Added { channel, checked } = match state.engine.channels().add(&who, addition).await {
            Ok(added) => added,
            Err(NotAdded::Failed(error)) => return Err(error.into()),
            Err(unfit) => return Ok(Err(unfit)),
        };
        if is_web {
            state.engine.channels().accept_risk(&who, channel.id).await?;
        }
        if let Some(checked) = checked {
            checks::keep(&viewer, &state, &channel, &Ok(checked));
        }
        let said = viewer.text.with("channels-added", [("name", channel.name.clone().into())]);
        Ok(Ok(Answer::done(&state, &viewer, said, format!("/console/channels/{}", channel.id))))
    };
    let added = state.once.attempt(&viewer, &form, act).await?;
    match added {
        Ok(answer) => Ok(answer),
        Err(NotAdded::Unfit(unfit)) => {
            form.fault(field(&unfit), checks::words(viewer.text, &unfit));
            Ok(page(&viewer, &form, Some(&unfit)).unprocessable().into())
        }
        Err(NotAdded::Taken | NotAdded::Failed(_)) => {
            form.fault("phone_number_id", viewer.text.get("channels-unfit-taken"));
            Ok(page(&viewer, &form, None).unprocessable().into())
        }
    }
}

/// The field that the provider's objection is about; `""` is the form as a whole.
fn field(unfit: &Unfit) -> &'static str {
    match unfit.field() {
        Some(CheckedField::Token) => "token",
        Some(CheckedField::Number) => "phone_number_id",
        Some(CheckedField::Account | CheckedField::Belonging) => "waba_id",
        None => "",
    }
}

fn page(viewer: &Viewer, form: &Form, unfit: Option<&Unfit>) -> Page {
    let text = viewer.text;
    let kinds = [
        (Kind::BusinessAccount.as_str(), text.get("channels-kind-business-long")),
        (Kind::WebSession.as_str(), text.get("channels-kind-web-long")),
    ];
    let body = html! {
        form.new-channel method="post" {
            (faults(form)) (once(form))
            section.panel {
                (Field::new(form, "kind", &text.get("channels-kind")).radios(kinds))
                (Field::new(form, "name", &text.get("channels-name")).hint(&text.get("channels-name-hint")).required().most(shape::NAME).text())
            }
            section.panel.of-business {
                h2 { (text.get("channels-of-business")) }
                p { (text.get("channels-of-business-hint")) }
                @if let Some(unfit) = unfit { (checks::list(text, Some(unfit), None)) }
                (Field::new(form, "phone_number_id", &text.get("channels-phone-number-id")).hint(&text.get("channels-phone-number-id-hint")).most(shape::ID).text())
                (Field::new(form, "waba_id", &text.get("channels-waba-id")).hint(&text.get("channels-waba-id-hint")).most(shape::ID).text())
                (Field::new(form, "token", &text.get("channels-token")).hint(&text.get("channels-token-where")).autocomplete("off").password())
                (Field::new(form, "app_secret", &text.get("channels-app-secret")).hint(&text.get("channels-app-secret-where")).autocomplete("off").password())
            }
            section.panel.of-web {
                h2 { (text.get("channels-of-web")) }
                p { (text.get("channels-of-web-hint")) }
                (pairing::risk(form))
            }
            button type="submit" { (text.get("channels-add")) }
        }
    };
    Page::new(text.get("channels-new"), Menu::Channels, body)
}

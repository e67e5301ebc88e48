//! Adding a webhook endpoint. Its secret is shown on its page, only once.

use actix_web::web::Data;
use maud::html;

use super::{SECRET, fields, place};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{faults, once};
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::visitor::Viewer;
use crate::domain::webhook::Settings;
use crate::engine;

pub(in crate::console) async fn show(viewer: Viewer, state: Data<State>) -> Result<Page, Error> {
    page(&viewer, &state, &fields::filled(viewer.text, &Settings::new(""))).await
}

/// Adds the endpoint. An address that no delivery could reach is refused.
pub(in crate::console) async fn add(
    viewer: Viewer,
    state: Data<State>,
    mut form: Form,
) -> Result<Answer, Error> {
    let new = fields::read(&viewer, &state, &mut form, None).await;
    let token = fields::read_token(&mut form);
    if form.has_faults() {
        return Ok(page(&viewer, &state, &form).await?.unprocessable().into());
    }
    let (company, who) = (viewer.company.id, viewer.who());
    let act = async || {
        let (added, secret) =
            match state.engine.webhook_endpoints().add(&who, company, new, None, token).await {
                Ok(added) => added,
                Err(engine::Error::Refused(refusal)) if fields::is_of_form(&refusal) => {
                    return Ok(Err(refusal));
                }
                Err(error) => return Err(error.into()),
            };
        let id = added.endpoint.id;
        state.flashes.put(viewer.session, SECRET, format!("{id} {}", secret.expose()));
        state.flashes.put(viewer.session, "done", viewer.text.get("webhooks-added"));
        Ok(Ok(Answer::to(place(id))))
    };
    let added = state.once.attempt(&viewer, &form, act).await?;
    match added {
        Ok(answer) => Ok(answer),
        Err(refusal) => {
            fields::refuse(&mut form, &refusal);
            Ok(page(&viewer, &state, &form).await?.unprocessable().into())
        }
    }
}

/// The page of the form, which may have secrets in its headers.
async fn page(viewer: &Viewer, state: &State, form: &Form) -> Result<Page, Error> {
    let text = viewer.text;
    let channels = fields::offered(viewer, state, &[]).await?;
    let body = html! {
        p { (text.get("webhooks-new-lead")) }
        form.panel method="post" {
            (faults(form)) (once(form))
            (fields::fields(form, &channels, Some(&[])))
            (fields::token(form, &text.get("webhooks-verify-token-hint")))
            button type="submit" { (text.get("webhooks-add")) }
        }
    };
    Ok(Page::new(text.get("webhooks-new"), Menu::Webhooks, body).secret())
}

//! Connecting Typebot, in which people type what is shown here once; its receiver comes afterwards, with the token that it shows.

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::html;
use uuid::Uuid;

use super::{ADDRESS, KEY, channel_field, chosen, connecting, offered, one, place};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{faults, once};
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::options::GraphPlace;
use crate::console::page::Page;
use crate::console::query::Id;
use crate::console::visitor::Viewer;
use crate::domain::channel::Channel;
use crate::domain::graph::ProgramKind;
use crate::domain::secret::Secret;
use crate::engine;
use crate::engine::programs::{MOST_PROGRAMS, Programs};
use crate::error::{Code, Refusal};

/// The longest verify token, in characters.
pub(super) const TOKEN: usize = 1_024;

pub(in crate::console) async fn show(
    viewer: Viewer,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Page, Error> {
    let channels = offered(&viewer, &state).await?;
    Ok(page(&viewer, &state, &request, &Form::new(viewer.text), &channels))
}

/// Makes the key, which the next page shows once.
pub(in crate::console) async fn connect(
    viewer: Viewer,
    state: Data<State>,
    request: HttpRequest,
    mut form: Form,
) -> Result<Answer, Error> {
    let channels = offered(&viewer, &state).await?;
    let channel = chosen(&mut form, &channels);
    if state.options.graph == GraphPlace::Closed {
        form.general_fault(viewer.text.get("programs-closed"));
    }
    let Some(channel) = channel.filter(|_| !form.has_faults()) else {
        return Ok(page(&viewer, &state, &request, &form, &channels).unprocessable().into());
    };
    let act = async || match Programs::new(&state.engine, viewer.company.id)
        .add_typebot(&viewer.who(), channel)
        .await
    {
        Ok((program, key)) => {
            state.flashes.put(viewer.session, KEY, format!("{} {}", program.id, key.expose()));
            Ok(Ok(Answer::to(place(program.id))))
        }
        Err(engine::Error::Refused(Refusal { code: Code::TooManyWebhooks, .. })) => Ok(Err(())),
        Err(error) => Err(error.into()),
    };
    if let Ok(answer) = state.once.attempt(&viewer, &form, act).await? {
        return Ok(answer);
    }
    form.general_fault(viewer.text.with("programs-full", [("most", MOST_PROGRAMS.into())]));
    Ok(page(&viewer, &state, &request, &form, &channels).unprocessable().into())
}

/// Verifies Typebot's receiver, once, and adds its webhook.
pub(in crate::console) async fn set_webhook(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
    mut form: Form,
) -> Result<Answer, Error> {
    let program = one::own(&viewer, &state, id.0).await?;
    if program.kind != ProgramKind::Typebot {
        return Err(Error::NotFound);
    }
    let url = form.required("url", ADDRESS);
    let token = form.required("verify_token", TOKEN);
    if form.has_faults() {
        return Ok(one::page(&viewer, &state, &request, &program, &form).await?.unprocessable().into());
    }
    let act = async || {
        let (programs, who) = (Programs::new(&state.engine, viewer.company.id), viewer.who());
        match programs.set_webhook(&who, program.clone(), &url, Secret::new(token)).await {
            Ok(program) => Ok(Ok(done(&viewer, &state, program.id))),
            Err(engine::Error::Refused(refusal)) => Ok(Err(refusal)),
            Err(error) => Err(error.into()),
        }
    };
    let refusal = match state.once.attempt(&viewer, &form, act).await? {
        Ok(answer) => return Ok(answer),
        Err(refusal) => refusal,
    };
    let field = match refusal.param.as_deref() {
        Some("url") => "url",
        Some("verify_token") => "verify_token",
        _ => "",
    };
    form.fault(field, format!("{} [{}]", viewer.text.get("programs-fault-webhook"), refusal.sentence));
    Ok(one::page(&viewer, &state, &request, &program, &form).await?.unprocessable().into())
}

fn done(viewer: &Viewer, state: &State, id: Uuid) -> Answer {
    state.flashes.put(viewer.session, "done", viewer.text.get("programs-typebot-done"));
    Answer::to(place(id))
}

fn page(viewer: &Viewer, state: &State, request: &HttpRequest, form: &Form, channels: &[Channel]) -> Page {
    let text = viewer.text;
    let fields = html! {
        form.panel method="post" {
            h2 { (text.get("programs-then")) }
            (faults(form)) (once(form))
            (channel_field(form, channels))
            p.soft { (text.get("programs-typebot-does")) }
            button type="submit" { (text.get("programs-make-key")) }
        }
    };
    connecting((viewer, state), request, ProgramKind::Typebot, channels, &fields)
}

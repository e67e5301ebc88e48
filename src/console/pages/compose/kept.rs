//! The pages of the steps. Each shows a form that is kept, at an address of its own: Back leads to it with what was typed, and a
//! reload sends nothing.

use actix_web::web::Data;
use maud::html;
use uuid::Uuid;

use super::proof::{Stale, digest, proof};
use super::step::SendStep;
use super::{Around, Checked, PLACE, check, draft, page, request, test_message, told};
use crate::accounts::KeptForms;
use crate::console::State;
use crate::console::drafts::FIELD;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::page::Page;
use crate::console::query::Query;
use crate::console::visitor::Viewer;
use crate::console::words::Words;

/// The longest form that is kept, in bytes: some fifteen thousand numbers. The next step of a longer one is the answer to the
/// form itself, without an address.
const LONGEST: usize = 256 * 1024;
/// Fields that belong to one request, and are not kept. Searches are: their results are a part of the page.
const PASSING: [&str; 11] =
    ["action", "checked", "once", "pick", "counting", "run", "step", "changed", "kept", "own_number", FIELD];

/// A kept form at one of its steps, with the result of its check as it is now.
pub(super) async fn show(
    viewer: &Viewer,
    state: &Data<State>,
    id: Uuid,
    query: &Query,
) -> Result<Page, Error> {
    let step = SendStep::read(query.one("step")).unwrap_or(SendStep::Check);
    let tested = test_message::told(viewer, state, query).await?;
    let mut page = at(viewer, state, id, step, query).await?;
    page.body = html! { (tested) (page.body) };
    Ok(page)
}

async fn at(
    viewer: &Viewer,
    state: &Data<State>,
    id: Uuid,
    step: SendStep,
    query: &Query,
) -> Result<Page, Error> {
    let Some(mut form) = read(viewer, state, id).await? else {
        let form = Form::new(viewer.text);
        let around = Around::read(state, viewer, &form, SendStep::Who).await?;
        let checked = Checked { is_forgotten: true, ..Checked::default() };
        return Ok(page(viewer, &around, &form, &checked));
    };
    form.put("kept", id.to_string());
    let mut around = Around::read(state, viewer, &form, step).await?;
    if step < SendStep::Check {
        return Ok(page(viewer, &around, &form, &Checked::default()));
    }
    let asked = request(state, viewer, &around, &mut form);
    let (Some(channel), Some(asked)) = (around.choice.channel.clone(), asked) else {
        around.step = step.of_fault(&form);
        return Ok(page(viewer, &around, &form, &Checked::default()).unprocessable());
    };
    // The address of the last step has what was checked before: it may be opened again when that is other now.
    let seen = Some(query.one("seen")).filter(|seen| step == SendStep::When && !seen.is_empty());
    let since = seen.and_then(|seen| Stale::between(seen, &proof(&form, &around.choice)));
    if since.is_some() {
        around.step = SendStep::Check;
    }
    let run = query.parsed("run").unwrap_or(id);
    let mut checked = check(state, viewer, &mut around, &mut form, (channel, asked), run).await?;
    checked.stale = since.or_else(|| Stale::read(query.one("changed")));
    Ok(told(page(viewer, &around, &form, &checked), &checked))
}

pub(super) async fn read(viewer: &Viewer, state: &State, id: Uuid) -> Result<Option<Form>, Error> {
    let content = KeptForms::of(&state.accounts).find(&viewer.signed_in, id).await?;
    Ok(content.map(|content| Form::kept(viewer.text, Words::parse(content.as_bytes()))))
}

/// Writes what was typed on the page of a kept form into that form, so that Back shows it.
pub(super) async fn update(viewer: &Viewer, state: &State, form: &Form) -> Result<(), Error> {
    let Ok(id) = form.words().one("kept").parse() else { return Ok(()) };
    let content = draft::followed(form, form.encoded(&PASSING, form.once().unwrap_or_else(Uuid::now_v7)));
    if content.len() <= LONGEST {
        KeptForms::of(&state.accounts).change(&viewer.signed_in, id, &content).await?;
    }
    Ok(())
}

/// Keeps a form, and returns the address of its page at this step; `None` for a form that is too long. A check under way stays
/// at its own address. `run` is the check whose result is shown.
pub(super) async fn keep(
    viewer: &Viewer,
    state: &State,
    form: &Form,
    step: SendStep,
    run: Option<Uuid>,
) -> Result<Option<String>, Error> {
    let counting: Option<Uuid> = form.words().one("counting").parse().ok();
    if let (Some(id), SendStep::Check) = (counting, step)
        && read(viewer, state, id).await?.is_some_and(|kept| digest(&kept) == digest(form))
    {
        return Ok(Some(format!("{PLACE}?kept={id}")));
    }
    let content = form.encoded(&PASSING, Uuid::now_v7());
    if content.len() > LONGEST {
        return Ok(None);
    }
    let content = draft::follow(viewer, state, form, content).await?;
    let id = KeptForms::of(&state.accounts).keep(&viewer.signed_in, &content).await?;
    Ok(Some(place(id, step, run)))
}

/// The address of a kept form at this step.
pub(super) fn place(id: Uuid, step: SendStep, run: Option<Uuid>) -> String {
    let run = run.map(|run| format!("&run={run}")).unwrap_or_default();
    format!("{PLACE}?kept={id}&step={}{run}", step.as_str())
}

//! The page of a form that was checked. It has an address of its own, so that Back leads to it and a reload sends nothing.

use actix_web::web::Data;
use uuid::Uuid;

use super::refused::Refused;
use super::{Around, Checked, PLACE, STEERING, page, request, within_patience};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::page::Page;
use crate::console::visitor::Viewer;
use crate::console::words::Words;

/// The longest form that is kept, in bytes: some fifteen thousand numbers. The check of a longer one is the answer to the
/// form itself, without an address.
const LONGEST: usize = 256 * 1024;

/// A form that was checked, with the result of the check as it is now. Back leads here, and a reload sends nothing.
pub(super) async fn show(viewer: &Viewer, state: &Data<State>, id: Uuid) -> Result<Page, Error> {
    let Some(content) = state.accounts.kept_form(&viewer.signed_in, id).await? else {
        let form = Form::new(viewer.text);
        let around = Around::read(state, viewer, &form).await?;
        let checked = Checked { is_forgotten: true, ..Checked::default() };
        return Ok(page(viewer, &around, &form, &checked));
    };
    let mut form = Form::kept(viewer.text, Words::parse(content.as_bytes()));
    let around = Around::read(state, viewer, &form).await?;
    let asked = request(state, viewer, &around, &mut form);
    let (Some(channel), Some(asked)) = (&around.choice.channel, asked) else {
        return Ok(page(viewer, &around, &form, &Checked::default()).unprocessable());
    };
    let digest = hex::encode(form.words().digest("a new send", &STEERING));
    let key = format!("check {} {digest} {id}", viewer.company.id);
    let mut checked = Checked::default();
    match within_patience(state, channel, asked, key).await?.transpose() {
        Ok(None) => checked.counting = Some(id.to_string()),
        Ok(Some(found)) => (checked.found, checked.digest) = (Some(found), Some(digest)),
        Err(error) => checked.refused = Some(Refused::by(error, &mut form)?),
    }
    let page = page(viewer, &around, &form, &checked);
    Ok(match &checked.refused {
        Some(refused) => refused.answer(page),
        None => page,
    })
}

/// Keeps a form that was checked. Returns the address of its page; `None` for a form that is too long.
pub(super) async fn keep(
    viewer: &Viewer,
    state: &State,
    form: &Form,
) -> Result<Option<(Uuid, Answer)>, Error> {
    let content = form.encoded(&STEERING, Uuid::now_v7());
    if content.len() > LONGEST {
        return Ok(None);
    }
    let content = super::draft::follow(viewer, state, form, content).await?;
    let id = state.accounts.keep_form(&viewer.signed_in, &content).await?;
    Ok(Some((id, Answer::to(format!("{PLACE}?kept={id}")))))
}

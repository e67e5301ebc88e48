//! A new send in four steps: to whom, what, the check, and when.
//!
//! Each step is a page with the same form, and each works without script: a button leads to the next one, and what the page
//! does not show is carried in hidden fields. *Check* makes a dry run and shows it; *Send*, on the last page, accepts only a
//! form that was checked. A business account writes to many people at a time ([`bulk`]), a linked phone to one person or
//! one group ([`web`]).

mod attached;
mod audience;
mod bulk;
mod cards;
mod check;
mod choice;
mod columns;
mod content;
pub(super) mod draft;
pub(super) mod duplicate;
mod files;
pub(super) mod instead;
mod kept;
mod list;
mod looked;
mod name;
mod preview;
mod problems;
mod proof;
mod reach;
pub(super) mod refused;
mod run;
mod sample;
mod step;
pub(super) mod template;
mod test_message;
mod upload;
mod web;
mod what;
mod when;
mod who;

use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use self::attached::{BulkRequest, Looked};
use self::audience::Audience;
use self::choice::{CHOOSE, Choice};
use self::list::RecipientList;
pub(in crate::console::pages) use self::preview::filled;
pub(in crate::console) use self::preview::follow as preview;
pub(in crate::console) use self::problems::download as problems;
use self::proof::{Stale, proof};
use self::reach::Reach;
pub(in crate::console) use self::reach::follow as reach;
use self::refused::Refused;
pub use self::run::SENT;
use self::run::{check, in_time};
use self::sample::Sample;
use self::step::{SendStep, carried, line};
pub(in crate::console) use self::upload::{sample, show as list, take as upload};
use crate::console::answer::Answer;
use crate::console::component::empty::empty;
use crate::console::component::field::{faults, once};
use crate::console::component::library::take_chosen;
use crate::console::component::notice;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::visitor::Viewer;
use crate::console::{State, assets};
use crate::domain::request::{Skipped, WebRequest};
use crate::engine::{self, DryRun, WebDryRun};
use crate::error::Code;

/// The path of this page.
const PLACE: &str = "/console/sends/new";
/// The action that sends.
const SEND: &str = "send";
/// Fields that control the form and are not part of the send.
const STEERING: [&str; 14] = [
    "action",
    "checked",
    "once",
    "find",
    "find_tag",
    "find_template",
    "pick",
    "counting",
    "run",
    "step",
    "changed",
    "kept",
    "draft",
    "own_number",
];

/// The request that the form describes, and the files in it.
enum Asked {
    Bulk(Box<BulkRequest>),
    Web(Box<WebRequest>),
}

/// The result of a dry run.
#[derive(Clone)]
enum Found {
    Bulk(Box<(DryRun, Vec<files::SeenFile>, Option<Looked>)>),
    /// No row of the file can be sent to.
    Nobody(Box<(Skipped, Looked)>),
    Web(WebDryRun),
}

/// What is known about the send that the form describes.
#[derive(Default)]
struct Checked {
    found: Option<Found>,
    refused: Option<Refused>,
    /// The proof of what was checked.
    proof: Option<String>,
    /// The check that found it.
    run: Option<Uuid>,
    /// A check that takes longer than a page waits.
    counting: Option<Uuid>,
    /// What was changed after the check.
    stale: Option<Stale>,
    /// Whether a form is not kept any more.
    is_forgotten: bool,
}

/// The parts of the page around the form.
struct Around {
    step: SendStep,
    choice: Choice,
    audience: Audience,
    /// The file with the recipients, as long as it is kept.
    list: Option<RecipientList>,
    sample: Sample,
    reach: Reach,
}

impl Around {
    async fn read(state: &Data<State>, viewer: &Viewer, form: &Form, step: SendStep) -> Result<Self, Error> {
        let choice = Choice::read(state, viewer, form.words()).await?;
        let audience = Audience::read(state, viewer, &choice, form.words()).await?;
        let list = RecipientList::read(state, viewer, &choice, form.words()).await?;
        let sample = Sample::read(state, viewer, &choice, form.words()).await?;
        let reach = match step {
            SendStep::Who => reach::read(state, viewer, &choice, form.words()).await?,
            SendStep::What | SendStep::Check | SendStep::When => Reach::Unknown,
        };
        Ok(Self { step, choice, audience, list, sample, reach })
    }
}

pub(in crate::console) async fn show(
    viewer: Viewer,
    state: Data<State>,
    query: Query,
) -> Result<Page, Error> {
    if let Some(id) = query.parsed("kept") {
        return kept::show(&viewer, &state, id, &query).await;
    }
    if let Some(id) = query.parsed("draft") {
        return draft::open(&viewer, &state, id, &query).await;
    }
    if let Some(id) = query.parsed("copy") {
        return duplicate::show(&viewer, &state, id).await;
    }
    let people = audience::named(&state, &viewer, &query).await?;
    let given = query.iter().filter(|(name, _)| *name != "contact");
    let given = given.map(|(name, value)| (name, value.to_owned()));
    let mut form = Form::filled(viewer.text, given.chain(people));
    let is_chosen = query.names("type") || query.names("template");
    let step =
        SendStep::read(query.one("step")).unwrap_or(if is_chosen { SendStep::What } else { SendStep::Who });
    let mut around = Around::read(&state, &viewer, &form, step.min(SendStep::What)).await?;
    if around.choice.channel.is_none() {
        around.step = SendStep::Who;
    }
    around.choice.complain(&mut form);
    around.step = around.step.of_fault(&form);
    Ok(page(&viewer, &around, &form, &Checked::default()))
}

/// Goes to another step, looks for people, checks the send, or sends it.
pub(in crate::console) async fn act(
    viewer: Viewer,
    state: Data<State>,
    mut form: Form,
) -> Result<Answer, Error> {
    take_chosen(&mut form);
    kept::update(&viewer, &state, &form).await?;
    let picked = form.words().one("pick").to_owned();
    if !picked.is_empty() {
        form.put("number", picked.as_str());
        form.put("to", web::PERSON);
    }
    let action = form.words().one("action").to_owned();
    if action == draft::SAVE {
        return draft::save(&viewer, &state, form).await;
    }
    if action == test_message::TEST {
        return test_message::send(&viewer, &state, form).await;
    }
    let (is_check, is_send) = (action == SendStep::Check.as_str(), action == SEND);
    if !is_check && !is_send && action != SendStep::When.as_str() {
        return go(&viewer, &state, form, &action).await;
    }
    let step = if is_check { SendStep::Check } else { SendStep::When };
    let mut around = Around::read(&state, &viewer, &form, step).await?;
    let asked = request(&state, &viewer, &around, &mut form);
    let proof = proof(&form, &around.choice);
    let stale = Stale::between(form.words().one("checked"), &proof);
    let is_checked = stale.is_none();
    let run = form.words().one("run").parse::<Uuid>().ok().filter(|_| is_checked);
    let (Some(channel), Some(asked)) = (around.choice.channel.clone(), asked) else {
        around.step = step.of_fault(&form);
        let checked = Checked { proof: is_checked.then_some(proof), run, ..Checked::default() };
        return Ok(page(&viewer, &around, &form, &checked).unprocessable().into());
    };
    if is_send && is_checked {
        let fingerprint = form.words().digest("a new send", &STEERING);
        let error = match run::once(&viewer, &state, &form, &channel, asked, fingerprint).await? {
            Ok(answer) => {
                draft::sent(&viewer, &state, &form).await;
                return Ok(answer);
            }
            Err(error) => error,
        };
        if matches!(&error, engine::Error::Refused(refusal) if refusal.code == Code::IdempotencyKeyReused) {
            form.renew();
        }
        let refused = Some(Refused::by(error, &mut form)?);
        around.step = step.of_fault(&form);
        let checked = Checked { refused, proof: Some(proof), run, ..Checked::default() };
        return Ok(told(page(&viewer, &around, &form, &checked), &checked).into());
    }
    let stale = stale.filter(|_| !is_check);
    around.step = if stale.is_some() { SendStep::Check } else { step };
    // A browser that went back shows the id of a send. What is checked now is another one.
    form.renew();
    if let Some(place) = kept::keep(&viewer, &state, &form, around.step, run).await? {
        let more = match stale {
            Some(stale) => format!("&changed={}", stale.as_str()),
            None if around.step == SendStep::When => format!("&seen={proof}"),
            None => String::new(),
        };
        return Ok(Answer::to(format!("{place}{more}")));
    }
    let counting = form.words().one("counting").parse().ok();
    let run = run.or(counting).unwrap_or_else(Uuid::now_v7);
    let mut checked = check(&state, &viewer, &mut around, &mut form, (channel, asked), run).await?;
    checked.stale = stale;
    Ok(told(page(&viewer, &around, &form, &checked), &checked).into())
}

/// Goes to another step, or shows this one with what was looked for or chosen. What was typed stays, also in fields that
/// the page does not have any more.
async fn go(viewer: &Viewer, state: &Data<State>, mut form: Form, action: &str) -> Result<Answer, Error> {
    let is_of_people =
        matches!(action, "find" | "find_tag" | "count") || !form.words().one("pick").is_empty();
    let now = SendStep::read(form.words().one("step")).unwrap_or(SendStep::What);
    let now = if is_of_people { SendStep::Who } else { now.min(SendStep::What) };
    let to = SendStep::read(action).unwrap_or(now);
    if action == "templates" {
        form.put("template", "");
    }
    if action == upload::BEGIN {
        return upload::begin(viewer, state, form).await;
    }
    if action == list::DROP {
        list::drop(viewer, state, &mut form).await?;
    }
    let mut around = Around::read(state, viewer, &form, SendStep::What).await?;
    // A linked phone writes to one number, a business account to many.
    let (one, many) = (form.words().one("number").to_owned(), form.words().one("numbers").to_owned());
    if around.choice.is_web() && one.is_empty() {
        form.put("number", many.lines().next().unwrap_or_default());
    } else if around.choice.channel.is_some() && !around.choice.is_web() && many.is_empty() {
        form.put("numbers", one);
    }
    if action.is_empty() || action == CHOOSE {
        around.choice.complain(&mut form);
    }
    if now < to {
        who::complain(state, &around, &mut form);
    }
    columns::recall(state, viewer, &around.choice, around.list.as_ref(), &mut form).await?;
    if form.has_faults() {
        around.step = SendStep::Who.of_fault(&form);
        return Ok(page(viewer, &around, &form, &Checked::default()).unprocessable().into());
    }
    Ok(match kept::keep(viewer, state, &form, to, None).await? {
        Some(place) => Answer::to(place),
        None => {
            let around = Around::read(state, viewer, &form, to).await?;
            page(viewer, &around, &form, &Checked::default()).into()
        }
    })
}

/// The request that the form describes, with a fault at each field that is wrong.
fn request(state: &State, viewer: &Viewer, around: &Around, form: &mut Form) -> Option<Asked> {
    let Around { choice, audience, list, .. } = around;
    if choice.channel.is_none() {
        form.fault("channel", viewer.text.get("compose-fault-channel"));
    }
    if !choice.fits() {
        form.fault("type", viewer.text.get("compose-fault-web-type"));
        return None;
    }
    if choice.is_web() {
        return web::request(state, choice, audience, form).map(|request| Asked::Web(Box::new(request)));
    }
    let request = bulk::request(state, viewer, (choice, list.as_ref()), audience, form)?;
    Some(Asked::Bulk(Box::new(request)))
}

/// The page with the status of its refusal.
fn told(page: Page, checked: &Checked) -> Page {
    match &checked.refused {
        Some(refused) => refused.answer(page),
        None => page,
    }
}

fn page(viewer: &Viewer, around: &Around, form: &Form, checked: &Checked) -> Page {
    let (text, choice) = (viewer.text, &around.choice);
    let body = if choice.channels.is_empty() {
        let first = html! {
            @if viewer.may_work() { a.button href="/console/channels/new" { (text.get("compose-add-channel")) } }
            " " a href="/console/channels" { (text.get("compose-to-channels")) }
        };
        empty(&text.get("compose-no-channel"), &first)
    } else {
        html! {
            @if checked.is_forgotten { (notice::warning(&html! { p { (text.get("compose-forgotten")) } })) }
            (line(text, around.step))
            (writing(viewer, around, form, checked))
        }
    };
    let page = Page::new(text.get("compose-title"), Menu::Sends, body);
    if around.step == SendStep::What { page.script(&assets::EMOJI) } else { page }
}

/// The form at its step.
fn writing(viewer: &Viewer, around: &Around, form: &Form, checked: &Checked) -> Markup {
    let step = around.step;
    let (shown, follows) = match step {
        SendStep::Who => (who::fields(viewer, form, around), Some("/console/sends/reach")),
        SendStep::What => (what::fields(viewer, form, around), Some("/console/sends/preview")),
        SendStep::Check => (check::shown(viewer, form, around, checked), None),
        SendStep::When => (when::fields(viewer, form, around, checked), None),
    };
    html! {
        form method="post" action=(PLACE) data-preview=[follows] data-whole[step == SendStep::Who] {
            (faults(form)) (once(form)) (draft::field(form))
            input type="hidden" name="step" value=(step.as_str());
            @if form.words().names("kept") { input type="hidden" name="kept" value=(form.value("kept")); }
            (carried(form, &shown))
            (shown)
            @if let Some(refused) = &checked.refused { (refused.show(viewer)) }
            @if let Some(run) = checked.counting { input type="hidden" name="counting" value=(run); }
            @if let Some(run) = checked.run { input type="hidden" name="run" value=(run); }
            @if let Some(proof) = &checked.proof { input type="hidden" name="checked" value=(proof); }
            @if step == SendStep::Check { (test_message::fields(viewer, form)) }
            (onward(viewer, step, checked))
        }
    }
}

/// The buttons to the steps after and before. The first one is also that of the key Enter.
fn onward(viewer: &Viewer, step: SendStep, checked: &Checked) -> Markup {
    let text = viewer.text;
    let is_checked = checked.proof.is_some();
    let (action, label) = match step {
        SendStep::Who => (SendStep::What.as_str(), "compose-go-on"),
        SendStep::Check if is_checked => (SendStep::When.as_str(), "compose-go-on"),
        SendStep::When if is_checked => (SEND, "compose-send"),
        SendStep::What | SendStep::Check | SendStep::When => (SendStep::Check.as_str(), "compose-check"),
    };
    html! {
        div.row {
            button type="submit" name="action" value=(action) data-again[checked.counting.is_some()] { (text.get(label)) }
            @if let Some(before) = step.before() {
                button.plain type="submit" name="action" value=(before.as_str()) formnovalidate { (text.get("compose-back")) }
            }
            (draft::button(text))
            @if step == SendStep::What { span.soft { (text.get("compose-check-first")) } }
        }
    }
}

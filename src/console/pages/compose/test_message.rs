//! A test of a new send: its content, as a single message to the person's own number.

use actix_web::web::Data;
use maud::{Markup, html};
use serde_json::Map;
use uuid::Uuid;

use super::draft;
use super::list::TESTED;
use super::refused::Refused;
use super::run::SENT;
use super::step::SendStep;
use super::{Around, Asked, Checked, STEERING, kept, name, page, request, told as refused_page};
use crate::accounts::OwnProfile;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::Field;
use crate::console::component::time::second;
use crate::console::component::{notice, number};
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::once::Turn;
use crate::console::pages::send::words;
use crate::console::query::Query;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::message::State as At;
use crate::domain::phone::PhoneNumber;
use crate::domain::send::NAME_CHARS;
use crate::engine;

/// The action that sends a test.
pub(super) const TEST: &str = "test";
/// The field for the person's own number, while it is not known.
const OWN: &str = "own_number";
/// The longest number that the field accepts, in characters.
const NUMBER_CHARS: usize = 60;
/// The fields that say to whom and when a send goes, and under which name: a test has its own.
const OF_THE_SEND: [&str; 13] = [
    "numbers",
    "person",
    "tag",
    "segment",
    "without",
    "number",
    "group",
    "to",
    "start",
    "send_at",
    "expires_at",
    "name",
    "once",
];

/// The button, and the number to which the test goes or the field for it.
pub(super) fn fields(viewer: &Viewer, form: &Form) -> Markup {
    let text = viewer.text;
    html! {
        div.row.bottom {
            @match viewer.signed_in.user.phone_number {
                Some(own) => p.soft { (text.with("drafts-test-to", [("number", number::grouped(own).into())])) },
                None => (Field::new(form, OWN, &text.get("drafts-own-number")).hint(&text.get("drafts-own-number-hint"))
                    .most(NUMBER_CHARS).autocomplete("tel").input("tel")),
            }
            button.plain type="submit" name="action" value=(TEST) formnovalidate { (text.get("drafts-test")) }
        }
    }
}

/// Sends the content of the form to the person, and shows the form again with the result. A form that is sent twice sends
/// one test, and says so.
pub(super) async fn send(viewer: &Viewer, state: &Data<State>, mut form: Form) -> Result<Answer> {
    let mut around = Around::read(state, viewer, &form, SendStep::Check).await?;
    let Some(number) = own_number(viewer, state, &mut form).await? else {
        return Ok(page(viewer, &around, &form, &Checked::default()).unprocessable().into());
    };
    let mut tested = tested(viewer, &around, &form, number);
    let asked = request(state, viewer, &around, &mut tested);
    let (Some(channel), Some(asked)) = (around.choice.channel.clone(), asked) else {
        take_faults(&mut around, &mut form, &tested);
        return Ok(page(viewer, &around, &form, &Checked::default()).unprocessable().into());
    };
    let sent = async {
        let fingerprint = tested.words().digest("a test of a new send", &STEERING);
        let (held, made_by) = match Turn::of(state, viewer, &tested, fingerprint).await? {
            Turn::Done(send_id) => return Ok((send_id, true)),
            Turn::First(held) => (held, Some(viewer.who().to_string())),
        };
        let send_id = match asked {
            Asked::Bulk(mut bulk) => {
                bulk.request.label.made_by = made_by;
                state.engine.send(&channel, bulk.request, held).await?.send_id
            }
            Asked::Web(mut request) => {
                request.label.made_by = made_by;
                state.engine.web_sends().begin(&channel, *request, held, SENT).await?
            }
        };
        Ok::<_, engine::Error>((send_id, false))
    };
    let (send_id, is_again) = match sent.await {
        Ok(sent) => sent,
        Err(error) => {
            let checked = Checked { refused: Some(Refused::by(error, &mut tested)?), ..Checked::default() };
            take_faults(&mut around, &mut form, &tested);
            return Ok(refused_page(page(viewer, &around, &form, &checked), &checked).into());
        }
    };
    let again = if is_again { "&again=yes" } else { "" };
    if let Ok(id) = form.words().one("kept").parse() {
        let place = kept::place(id, SendStep::Check, form.words().one("run").parse().ok());
        return Ok(Answer::to(format!("{place}{again}&test={send_id}")));
    }
    Ok(Answer::to(match draft::kept(viewer, state, &form).await? {
        Some(place) => format!("{place}{again}&test={send_id}"),
        None => {
            if is_again {
                state.flashes.put_behind(viewer.session, "done", viewer.text.get("compose-sent-before"));
            }
            format!("/console/sends/{send_id}")
        }
    }))
}

/// The person's number. One that they give with the form becomes theirs; without one, the form has a fault.
async fn own_number(viewer: &Viewer, state: &State, form: &mut Form) -> Result<Option<PhoneNumber>> {
    if let Some(own) = viewer.signed_in.user.phone_number {
        return Ok(Some(own));
    }
    let typed = form.words().one(OWN).to_owned();
    // Without the country code, the digits may be a stranger's number in another country.
    let number = PhoneNumber::parse(&typed).ok().filter(|_| PhoneNumber::is_marked_international(&typed));
    match number {
        Some(_) => {
            OwnProfile::of(&state.accounts)
                .set_phone_number(&viewer.signed_in, number, &viewer.origin)
                .await?;
        }
        None => form.fault(OWN, viewer.text.get("drafts-own-number-wrong")),
    }
    Ok(number)
}

/// The form of the test: the content alone, to this number, under an id of its own that is the same for the same form.
fn tested(viewer: &Viewer, around: &Around, form: &Form, number: PhoneNumber) -> Form {
    let mut words = Words::default();
    for (field, value) in form.words().iter().filter(|(field, _)| !OF_THE_SEND.contains(field)) {
        words.add(field, value);
    }
    words.add("numbers", format!("+{number}"));
    words.add("number", format!("+{number}"));
    words.add("name", test_name(viewer.text, around, form.words()));
    // The values are those of the first row.
    words.add(TESTED, "yes");
    if let Some(once) = form.once() {
        let digest = words.digest(&format!("a test of the form {once}"), &STEERING);
        let mut id = [0; 16];
        id.copy_from_slice(&digest[..16]);
        words.add("once", Uuid::from_bytes(id).to_string());
    }
    Form::kept(viewer.text, words)
}

/// "Test of" and the name of the send.
fn test_name(text: Text, around: &Around, words: &Words) -> String {
    let mut body = Map::new();
    name::add(&mut body, text, &around.choice, &around.audience, words);
    let name = body.get("name").and_then(|name| name.as_str()).unwrap_or_default();
    text.with("drafts-test-name", [("name", name.into())]).chars().take(NAME_CHARS).collect()
}

/// Shows the faults of the test in the form, at the step that has their fields.
fn take_faults(around: &mut Around, form: &mut Form, tested: &Form) {
    for field in tested.faulty() {
        // To whom and when it goes is not the content's fault.
        let shown = if OF_THE_SEND.contains(&field) { "" } else { field };
        if let Some(fault) = tested.fault_of(field) {
            form.fault(shown, fault);
        }
    }
    if form.faulty().any(|field| !field.is_empty()) {
        around.step = SendStep::Check.of_fault(form);
    }
}

/// The outcome of the test that the query names.
pub(super) async fn told(viewer: &Viewer, state: &State, query: &Query) -> Result<Markup> {
    match query.parsed("test") {
        Some(send) => result(viewer, state, send, query.names("again")).await,
        None => Ok(html! {}),
    }
}

/// The outcome of a test, once its message has one or the page's patience is over. Of one that was sent before, also when.
async fn result(viewer: &Viewer, state: &State, send: Uuid, is_again: bool) -> Result<Markup> {
    let (text, company) = (viewer.text, viewer.company.id);
    let record = state.engine.company(company).await?.sends().find(send, Timestamp::now()).await?;
    let Some(record) = record else { return Ok(html! {}) };
    // When too many callers wait, the page shows the present outcome.
    let _ = state.engine.sends().changed(company, &record, state.options.patience).await;
    let records = state.engine.company(company).await?;
    let Some(snapshot) = records.sends().snapshot(send).await? else { return Ok(html! {}) };
    let outcome = records.messages().from(&snapshot, None, 0, 1).await?.pop().map(|message| message.outcome);
    drop(records);
    let Some(outcome) = outcome else { return Ok(html! {}) };
    let link = html! {
        a href=(format!("/console/sends/{send}/messages/0")) { (text.get("drafts-test-see")) }
    };
    let code = outcome.error.as_ref().and_then(|error| error.code);
    let before = html! {
        @if is_again {
            p.notice role="status" { (text.get("drafts-test-before")) " " (second(viewer, record.created_at)) }
        }
    };
    let shown = match outcome.state {
        At::Sent | At::Delivered | At::Read => html! {
            (notice::done(&text.get("drafts-test-sent")))
            p { (link) }
        },
        At::Queued | At::Sending => html! {
            p.notice role="status" { (text.get("drafts-test-on-its-way")) " " (link) }
        },
        state @ (At::Failed | At::Expired | At::Canceled | At::Unknown | At::Suppressed) => {
            notice::warning(&html! {
                p { (text.get("drafts-test-failed")) " " (words::cause(text, state, code)) " " (link) }
            })
        }
    };
    Ok(html! { (before) (shown) })
}

//! What the form of a retry chooses: the messages, and the template for people whose window is closed now.

use maud::{Markup, html};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::library::{OfferedFiles, take_chosen};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::pages::compose::instead::{INSTEAD, Instead};
use crate::console::pages::compose::refused::fault;
use crate::console::pages::compose::template;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::content::Kind;
use crate::domain::message::{Selection, State as At};
use crate::domain::own_field::OwnField;
use crate::domain::request::RetryRequest;

/// The fields that are none of the template's.
const OTHERS: [&str; 5] = ["state", "code", INSTEAD, "once", "action"];

/// What the form chooses, and what it offers.
pub(super) struct RetryChoice {
    /// The recipients of the send.
    pub(super) recipients: u64,
    /// The template, of a send that is none itself.
    pub(super) instead: Instead,
    files: OfferedFiles,
    own: Vec<OwnField>,
    /// The values that say what is sent.
    pub(super) values: Vec<(String, String)>,
}

/// The form of an address, with the states that count when it names none.
pub(super) fn form(text: Text, words: &Words) -> Form {
    let others = words.iter().filter(|(name, _)| !["state", "code"].contains(name));
    let others = others.map(|(name, value)| (name, value.to_owned()));
    Form::filled(text, chosen(&selection(words)).into_iter().chain(others))
}

impl RetryChoice {
    /// Reads the send, and what the form names.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for another company's send.
    pub(super) async fn read(state: &State, viewer: &Viewer, id: Uuid, form: &mut Form) -> Result<Self> {
        take_chosen(form);
        let words = form.words();
        let company = viewer.company.id;
        let send = {
            let records = state.engine.company(company).await?;
            records.sends().head(id, Timestamp::now()).await?.ok_or(Error::NotFound)?
        };
        let mut choice = Self {
            recipients: send.recipients,
            instead: Instead::default(),
            files: OfferedFiles::default(),
            own: Vec::new(),
            values: values(words),
        };
        let channel = state.engine.channel(send.channel_id).await?.filter(|_| send.kind != Kind::Template);
        let Some(waba) = channel.as_ref().and_then(|channel| channel.waba_id.as_deref()) else {
            return Ok(choice);
        };
        if !words.one(INSTEAD).is_empty() {
            // Before the records, whose turn others wait for.
            choice.files = OfferedFiles::read(&state.engine, company).await?;
        }
        let records = state.engine.company(company).await?;
        choice.instead = Instead::read(&records, waba, words).await?;
        if choice.instead.chosen.is_some() {
            choice.own = records.fields().all().await?;
        }
        Ok(choice)
    }

    /// The request that the form describes; without one, the form has a fault.
    pub(super) fn request(&self, viewer: &Viewer, form: &mut Form) -> Option<RetryRequest> {
        self.instead.complain(form);
        if let Some(chosen) = &self.instead.chosen {
            template::read_deadline(viewer, chosen, form);
            template::check_contact_fields(chosen, &self.own, form);
        }
        if form.has_faults() {
            return None;
        }
        let plain = RetryRequest::of(selection(form.words()));
        let Some(requested) = self.instead.requested(form.words()) else { return Some(plain) };
        let body = serde_json::json!({ "template_instead": requested }).to_string();
        match RetryRequest::parse(body.as_bytes()) {
            Ok(RetryRequest { instead, .. }) => Some(RetryRequest { instead, ..plain }),
            Err(refusal) => {
                fault(form, &refusal);
                None
            }
        }
    }

    /// The choice of a template, and the fields of its values.
    pub(super) fn fields(&self, text: Text, form: &Form) -> Markup {
        self.instead.fields(text, (&self.files, &self.own), form, &html! {})
    }
}

/// The messages to retry: those that failed or expired, unless the form says otherwise.
fn selection(words: &Words) -> Selection {
    let states = At::RETRIED.into_iter().filter(|state| words.has("state", state.as_str()));
    let mut states: Vec<_> = states.collect();
    if states.is_empty() {
        states = vec![At::Failed, At::Expired];
    }
    let codes = words.one("code").parse().into_iter().collect();
    Selection { states, codes }
}

fn chosen(selection: &Selection) -> Vec<(&'static str, String)> {
    let states = selection.states.iter().map(|state| ("state", state.as_str().to_owned()));
    states.chain(selection.codes.iter().map(|code| ("code", code.to_string()))).collect()
}

/// The values of a form that say what is sent: the selection, and the template with its values if there is one.
fn values(words: &Words) -> Vec<(String, String)> {
    let mut values: Vec<_> =
        chosen(&selection(words)).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let instead = words.one(INSTEAD);
    if !instead.is_empty() {
        values.push((INSTEAD.to_owned(), instead.to_owned()));
        let given = words.iter().filter(|(name, value)| !OTHERS.contains(name) && !value.is_empty());
        values.extend(given.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    values
}

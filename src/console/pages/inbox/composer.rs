//! The answer: a text, a file of the library, or a template while the window is closed, with what it quotes and what is kept
//! of it.

use maud::{Markup, html};
use uuid::Uuid;

use super::around::InboxAround;
use super::entry::line;
use super::filter::InboxFilter;
use super::thread::OpenThread;
use super::window::Reach;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::formatting::{LABEL_CHARS, plain};
use crate::console::component::library::OfferedFiles;
use crate::console::component::phone::phone;
use crate::console::component::{emoji, notice, quick_replies};
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::pages::compose::{filled, template};
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::channel::Kind;
use crate::domain::contact::Person;
use crate::domain::own_field::OwnField;
use crate::domain::page::PageRequest;
use crate::domain::template::{Status as Approval, Template};
use crate::engine::conversations::BEGUN_CHARS;
use crate::engine::records::templates;

/// The field with the answer, of a new one and of a kept one.
pub(super) const MESSAGE: &str = "message";
/// The field with the template, and its value while none is chosen.
pub(super) const TEMPLATE: &str = "template";
const CHOOSE: &str = "choose";
/// The field with the provider's id of the message that is answered.
pub(super) const REPLY: &str = "reply";
/// The button that chooses the message that is answered, with its id; without one, none is. It keeps what is typed and chosen.
pub(super) const QUOTE: &str = "quote";
/// The action that shows a template as it will be sent.
pub(super) const PREVIEW: &str = "preview";
/// The id of the form of the answer, to which buttons in the thread belong.
pub(super) const FORM: &str = "composer";
/// The field with a file of the library.
pub(super) const FILE: &str = "enclosed";
/// The field with a file that is uploaded.
const UPLOADED: &str = "file";
/// The templates to choose from.
const OFFERED: u64 = 200;

/// What the form for an answer needs.
pub(super) struct Composer {
    /// The templates to choose from: each number, with name and language.
    offered: Vec<(String, String)>,
    pub(super) template: Option<Template>,
    files: OfferedFiles,
    /// The most bytes of a file.
    largest: usize,
    pub(super) own: Vec<OwnField>,
    /// The contact who gets the template.
    person: Option<Person>,
    /// Whether a template is written, and not a text.
    is_template: bool,
}

impl Composer {
    /// For what the address or a form asks for.
    pub(super) async fn read(
        state: &State,
        viewer: &Viewer,
        thread: &OpenThread,
        chosen: &str,
    ) -> Result<Self, Error> {
        let company = viewer.company.id;
        let waba = thread.channel.as_ref().filter(|channel| channel.kind == Kind::BusinessAccount);
        let waba = waba.and_then(|channel| channel.waba_id.as_deref());
        let is_template = thread.reach == Reach::Closed || !chosen.is_empty();
        let mut composer = Self {
            offered: Vec::new(),
            template: None,
            files: OfferedFiles::read(&state.engine, company).await?.seen_by(viewer),
            largest: state.engine.media().largest(),
            own: Vec::new(),
            person: None,
            is_template: false,
        };
        let Some(waba) = waba.filter(|_| is_template) else { return Ok(composer) };
        composer.is_template = true;
        let records = state.engine.company(company).await?;
        if let Ok(id) = chosen.parse::<i64>() {
            let found = records.templates().find(id).await?;
            let fits = found.filter(|found| found.waba_id == waba && found.status == Approval::Approved);
            composer.template = fits.map(Template::from);
        }
        match composer.template {
            Some(_) => {
                composer.own = records.fields().all().await?;
                if let Some(number) = thread.conversation().peer.number() {
                    composer.person = records.contacts().people(&[number]).await?.remove(&number);
                }
            }
            None => {
                let page = PageRequest { page: 1, limit: OFFERED };
                let filter = templates::Filter { is_offered: true, ..templates::Filter::default() };
                let found = records.templates().approved(waba, page, filter).await?.records;
                let offered = found.into_iter();
                composer.offered = offered
                    .map(|template| {
                        (template.id.to_string(), format!("{} ({})", template.name, template.language))
                    })
                    .collect();
            }
        }
        Ok(composer)
    }

    /// The part of the page below the thread.
    pub(super) fn show(
        &self,
        viewer: &Viewer,
        around: &InboxAround,
        filter: &InboxFilter,
        thread: &OpenThread,
        form: &Form,
    ) -> Markup {
        let (text, conversation) = (viewer.text, thread.conversation());
        let window = thread.reach.line(viewer, conversation, Timestamp::now());
        html! {
            section.answer id="answer" aria-label=(text.get("inbox-answer")) {
                (window)
                @if !viewer.may_answer() {
                    p.soft { (text.get("inbox-only-looks")) }
                } @else if thread.reach == Reach::Never {
                    (faults(form))
                } @else if self.is_template {
                    (self.of_template(viewer, filter, thread, form))
                } @else {
                    (self.of_text(viewer, around, filter, thread, form))
                }
            }
        }
    }

    /// The form for a text, with what it quotes.
    fn of_text(
        &self,
        viewer: &Viewer,
        around: &InboxAround,
        filter: &InboxFilter,
        thread: &OpenThread,
        form: &Form,
    ) -> Markup {
        let (text, id) = (viewer.text, thread.conversation().id);
        let reply = form.value(REPLY);
        let is_business = !matches!(thread.reach, Reach::Always);
        html! {
            form method="post" id=(FORM) action=(filter.of(id, "/answer")) data-draft=(filter.of(id, "/draft")) {
                (faults(form)) (once(form))
                (quoted(viewer, filter, thread, reply))
                @let label = text.get("inbox-answer");
                @let hint = text.get("inbox-answer-hint");
                @let answer = Field::new(form, MESSAGE, &label).hint(&hint).most(BEGUN_CHARS);
                (answer.area(3))
                (emoji::picker(text, &answer.id()))
                (quick_replies::offered(text, &around.quick_replies))
                details.more open[!form.value(FILE).is_empty()] {
                    summary { (text.get("inbox-attach")) }
                    (self.files.any(form, (FILE, &text.get("media-from-library")), !is_business))
                }
                p.actions { button type="submit" { (text.get("inbox-send")) } }
                @if is_business {
                    p { a href={ (filter.and(id, TEMPLATE, CHOOSE)) "#answer" } { (text.get("inbox-use-template")) } }
                }
            }
            (self.upload(text, filter, id, form))
        }
    }

    /// The form for a file that is not in the library yet, which is then beside the answer.
    fn upload(&self, text: Text, filter: &InboxFilter, id: Uuid, form: &Form) -> Markup {
        let label = text.get("media-file");
        let file = Field::new(form, UPLOADED, &label).within("upload");
        html! {
            details.more id="upload" open[form.fault_of(UPLOADED).is_some()] {
                summary { (text.get("inbox-upload")) }
                form method="post" action=(filter.with_all(id, "/file", &[(REPLY, form.value(REPLY))])) enctype="multipart/form-data" data-most=(self.largest)
                    data-too-large=(text.get("media-fault-large")) data-broken=(text.get("media-broken")) {
                    p.hint { (text.get("inbox-upload-hint")) }
                    (file.around(&html! { input id=(file.id()) type="file" name=(UPLOADED) required; }))
                    button.plain type="submit" { (text.get("media-upload")) }
                }
            }
        }
    }

    /// The chosen template as the person gets it, with what is filled in so far.
    pub(super) fn preview(&self, text: Text, words: &Words) -> Markup {
        html! {
            @if let Some(template) = &self.template {
                div id="preview" role="group" aria-label=(text.get("compose-preview")) {
                    (phone(text, &filled(template, words, self.person.as_ref())))
                }
            }
        }
    }

    /// The choice of a template, or the form with its values.
    fn of_template(&self, viewer: &Viewer, filter: &InboxFilter, thread: &OpenThread, form: &Form) -> Markup {
        let (text, id) = (viewer.text, thread.conversation().id);
        html! {
            @match &self.template {
                Some(template) => {
                    form method="post" id=(FORM) action=(filter.of(id, "/answer")) data-preview=(filter.of(id, "/preview")) {
                        (faults(form)) (once(form))
                        (quoted(viewer, filter, thread, form.value(REPLY)))
                        input type="hidden" name=(TEMPLATE) value=(template.id);
                        p { strong { bdi { (template.name) } } " " span.soft { (template.language) } }
                        (self.preview(text, form.words()))
                        (template::fields(text, template, (&self.files, &self.own), form))
                        p.actions {
                            button type="submit" { (text.get("inbox-send")) }
                            button.plain type="submit" name="action" value=(PREVIEW) formnovalidate { (text.get("compose-preview")) }
                        }
                    }
                    p { a href={ (filter.and(id, TEMPLATE, CHOOSE)) "#answer" } { (text.get("inbox-other-template")) } }
                }
                None => {
                    // For the buttons in the thread, which lead back to a text.
                    form method="post" id=(FORM) action=(filter.of(id, "/answer")) {}
                    @match form.fault_of(MESSAGE) {
                        Some(fault) => (notice::fault(fault)),
                        None => (faults(form)),
                    }
                    @if self.offered.is_empty() {
                        p { (text.get("inbox-no-template")) }
                    } @else {
                        form method="get" action=(filter.of(id, "")) {
                            @for (name, value) in filter.pairs() { input type="hidden" name=(name) value=(value); }
                            (Field::new(form, TEMPLATE, &text.get("inbox-template")).select(self.offered.iter().map(|(value, words)| (value, words))))
                            button.plain type="submit" { (text.get("inbox-take-template")) }
                        }
                    }
                }
            }
            @if thread.reach.is_open() {
                p { a href={ (filter.of(id, "")) "#answer" } { (text.get("inbox-use-text")) } }
            }
        }
    }
}

/// The message that is answered, with the button that takes it away; nothing when there is none.
fn quoted(viewer: &Viewer, filter: &InboxFilter, thread: &OpenThread, reply: &str) -> Markup {
    let text = viewer.text;
    html! {
        @if !reply.is_empty() {
            input type="hidden" name=(REPLY) value=(reply);
            blockquote.quoted {
                @match thread.named(reply) {
                    Some(entry) => (plain(&line(viewer, thread, entry), LABEL_CHARS)),
                    None => (text.get("inbox-quoted-earlier")),
                }
                " " (quoting(filter, thread.conversation().id, "", &text.get("inbox-reply-not")))
            }
        }
    }
}

/// A button that chooses the message that is answered. It belongs to the form of the answer, wherever it stands, so that nothing
/// of it is lost.
pub(super) fn quoting(filter: &InboxFilter, conversation: Uuid, message: &str, words: &str) -> Markup {
    html! {
        button.quiet type="submit" form=(FORM) formaction={ (filter.of(conversation, "/answer")) "#answer" } formnovalidate
            name=(QUOTE) value=(message) { (words) }
    }
}

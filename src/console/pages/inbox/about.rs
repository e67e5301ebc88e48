//! What is known of the person, and what can be done with the conversation.

use maud::{Markup, html};
use uuid::Uuid;

use super::around::InboxAround;
use super::filter::InboxFilter;
use super::notes;
use super::thread::OpenThread;
use crate::console::State;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::confirm;
use crate::console::component::copy::copy;
use crate::console::component::field::Field;
use crate::console::component::tag;
use crate::console::component::time::moment;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::pages::suppressions::{scope_words, why};
use crate::console::visitor::Viewer;
use crate::domain::contact::Contact;
use crate::domain::inbound::ConversationState;
use crate::domain::suppression::Suppression;
use crate::engine::conversations::ShownNote;
use crate::engine::conversations::types::Conversation;
use crate::engine::records::suppressions::Kept;

/// What is known of the person of a conversation.
pub(super) struct AboutPerson {
    contact: Option<Contact>,
    suppressions: Vec<Kept>,
    notes: Vec<ShownNote>,
}

impl AboutPerson {
    pub(super) async fn read(
        state: &State,
        company: Uuid,
        conversation: &Conversation,
    ) -> Result<Self, Error> {
        let notes = state.engine.conversations(company).notes(conversation.id).await?;
        let mut about = Self { contact: None, suppressions: Vec::new(), notes };
        let Some(number) = conversation.peer.number() else { return Ok(about) };
        let records = state.engine.company(company).await?;
        if let Some((_, id)) = records.contacts().with_numbers(&[number]).await?.pop() {
            about.contact = records.contacts().find(id).await?;
        }
        let found = state.engine.contacts().suppressions_of(&records, &[number]).await?;
        drop(records);
        about.suppressions = found.into_values().flatten().collect();
        Ok(about)
    }

    /// The folded part below the heading of a conversation. `form` is that of a new note, of a tag or of an assignment.
    pub(super) fn show(
        &self,
        viewer: &Viewer,
        around: &InboxAround,
        filter: &InboxFilter,
        thread: &OpenThread,
        form: &Form,
    ) -> Markup {
        let (text, conversation) = (viewer.text, thread.conversation());
        let number = conversation.peer.number();
        let has_fault = ["note", "tag", "to"].iter().any(|name| form.fault_of(name).is_some());
        html! {
            details.more id="about" open[has_fault] {
                summary { (text.get("inbox-about")) }
                dl.facts {
                    @if let Some(number) = number {
                        dt { (text.get("inbox-number")) }
                        dd { (copy(text, &text.get("inbox-number"), &format!("+{number}"))) }
                    }
                    dt { (text.get("inbox-id")) } dd { (copy(text, &text.get("inbox-id"), &conversation.id.to_string())) }
                    dt { (text.get("inbox-since")) } dd { (moment(viewer, conversation.created_at)) }
                    @if let Some(channel) = &thread.channel {
                        dt { (text.get("inbox-channel")) } dd { bdi { (channel.name) } }
                    }
                }
                @if let Some(contact) = self.contact.as_ref().filter(|_| !viewer.is_agent()) {
                    p { a href=(format!("/console/contacts/{}", contact.id)) { (text.get("inbox-to-contact")) } }
                }
                @if viewer.may_answer() { (assignment(viewer, around, filter, conversation, form)) }
                @if number.is_some() {
                    (self.tags(viewer, around, filter, conversation.id, form))
                    (self.consent(viewer, filter, conversation.id))
                }
                (notes::panel(viewer, filter, conversation.id, &self.notes, form))
            }
        }
    }

    /// The tags of the contact, and the form that adds one.
    fn tags(
        &self,
        viewer: &Viewer,
        around: &InboxAround,
        filter: &InboxFilter,
        id: Uuid,
        form: &Form,
    ) -> Markup {
        let (text, place) = (viewer.text, filter.of(id, "/tags"));
        let given = self.contact.as_ref().map_or(&[][..], |contact| contact.tags.as_slice());
        let known: Vec<_> = given.iter().map(|tag| tag.id).collect();
        html! {
            h3 { (text.get("inbox-tags")) }
            @if given.is_empty() { p.soft { (text.get("inbox-no-tags")) } }
            @for known in given {
                form.row method="post" action=(place) {
                    input type="hidden" name="tag" value=(known.id);
                    (tag::tag(known))
                    @if viewer.may_answer() {
                        @let label = text.with("inbox-tag-remove-which", [("tag", known.name.as_str().into())]);
                        button.quiet type="submit" name="action" value="remove" aria-label=(label) {
                            (text.get("inbox-tag-remove"))
                        }
                    }
                }
            }
            @if viewer.may_answer() && around.tags.has_others(&known) {
                form.row.bottom method="post" action=(place) {
                    (around.tags.field(Field::new(form, "tag", &text.get("inbox-tag")).within("add"), None, &known))
                    button.plain type="submit" { (text.get("inbox-tag-add")) }
                }
            }
        }
    }

    /// Whether the person gets messages, and the buttons that change it.
    fn consent(&self, viewer: &Viewer, filter: &InboxFilter, id: Uuid) -> Markup {
        let (text, place) = (viewer.text, filter.of(id, "/consent"));
        let is_on = |scope| self.suppressions.iter().any(|kept| kept.record.scope == scope);
        let form = Form::filled(text, [("opt_out", Suppression::Everything.as_str().to_owned())]);
        let scopes = Suppression::ALL.map(|scope| (scope.as_str(), scope_words(text, scope)));
        let radios = Field::new(&form, "opt_out", &text.get("suppressions-scope")).radios(scopes);
        html! {
            h3 { (text.get("inbox-consent")) }
            @if self.suppressions.is_empty() { p { (badge(Tone::Good, &text.get("contacts-consent-all"))) } }
            @for kept in &self.suppressions {
                p {
                    (badge(Tone::Warning, &text.get("contacts-consent-none"))) " " (scope_words(text, kept.record.scope))
                    ": " (why(text, kept)) ", " (moment(viewer, kept.since))
                }
            }
            @if viewer.may_answer() {
                div.row {
                    @if !is_on(Suppression::Everything) {
                        (confirm::with(text, &place, &text.get("contacts-opt-out"), &text.get("contacts-opt-out-question"), &radios))
                    }
                    @if !self.suppressions.is_empty() {
                        (confirm::confirm(text, &place, &text.get("contacts-opt-in"), &text.get("contacts-opt-in-question")))
                    }
                }
            }
        }
    }
}

/// Who has the conversation, and the form that gives it to somebody else.
fn assignment(
    viewer: &Viewer,
    around: &InboxAround,
    filter: &InboxFilter,
    conversation: &Conversation,
    form: &Form,
) -> Markup {
    let text = viewer.text;
    let user = conversation.assigned_to;
    let email = user.and_then(|user| around.members.iter().find(|member| member.user_id == user));
    let to = user.map(|user| around.assignees.value(user, email.map(|member| member.email.clone())));
    let filled = Form::filled(text, [("to", to.unwrap_or_default())]);
    let form = if form.fault_of("to").is_some() { form } else { &filled };
    html! {
        form.row.bottom method="post" action=(filter.of(conversation.id, "/assign")) {
            (around.assignees.field(Field::new(form, "to", &text.get("inbox-assigned")), Some(text.get("inbox-nobody")), &[]))
            button.plain type="submit" { (text.get("inbox-assign")) }
        }
    }
}

/// The buttons beside the name: for oneself, read or unread, closed or open.
pub(super) fn buttons(
    viewer: &Viewer,
    around: &InboxAround,
    filter: &InboxFilter,
    thread: &OpenThread,
) -> Markup {
    let (text, conversation) = (viewer.text, thread.conversation());
    let (me, id) = (viewer.signed_in.user.id, conversation.id);
    let may_have = around.members.iter().any(|member| member.user_id == me);
    let (state, key) = match conversation.state {
        ConversationState::Open => (ConversationState::Closed, "inbox-close"),
        ConversationState::Closed => (ConversationState::Open, "inbox-reopen"),
    };
    html! {
        @if viewer.may_answer() {
            div.actions {
                @if may_have && conversation.assigned_to != Some(me) {
                    form method="post" action=(filter.of(id, "/assign")) {
                        button.plain type="submit" name="to" value=(me) { (text.get("inbox-assign-me")) }
                    }
                }
                form method="post" action=(filter.of(id, "/read")) {
                    @if conversation.unread > 0 {
                        input type="hidden" name="up_to" value=(thread.last_at().millis());
                        button.plain type="submit" { (text.get("inbox-mark-read")) }
                    } @else {
                        button.plain type="submit" { (text.get("inbox-mark-unread")) }
                    }
                }
                form method="post" action=(filter.of(id, "/state")) {
                    button.plain type="submit" name="state" value=(state.as_str()) { (text.get(key)) }
                }
            }
        }
    }
}

//! Shows why a send is refused, beside the field that the refusal is about, and in the engine's words where
//! they say more.

use std::time::Duration;

use actix_web::http::StatusCode;
use maud::{Markup, html};

use super::instead::INSTEAD;
use crate::console::component::notice;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::page::Page;
use crate::console::pages::send::again;
use crate::console::visitor::Viewer;
use crate::engine;
use crate::error::{Code, Refusal};

/// Why the engine does not accept the send now, or at all.
pub(in crate::console::pages) enum Refused {
    Refusal(Refusal),
    /// The channel may send again after this long; the sentence names the limit.
    TooSoon(Duration, String),
    Unavailable,
}

impl Refused {
    /// Notes the fault in the form; an internal failure is not a fault of the form.
    pub(in crate::console::pages) fn by(error: engine::Error, form: &mut Form) -> Result<Self, Error> {
        match error {
            engine::Error::Refused(refusal) | engine::Error::Nobody { refusal, .. } => {
                fault(form, &refusal);
                Ok(Self::Refusal(refusal))
            }
            engine::Error::TooSoon { retry_after, sentence, spent: _ } => {
                let seconds = retry_after.as_secs().max(1);
                let sentence_of_ours =
                    form.text().with("compose-fault-too-soon", [("seconds", seconds.into())]);
                form.general_fault(sentence_of_ours);
                Ok(Self::TooSoon(retry_after, sentence))
            }
            engine::Error::Unavailable { .. } => {
                let sentence = form.text().get("compose-fault-away");
                form.general_fault(sentence);
                Ok(Self::Unavailable)
            }
            engine::Error::Internal => Err(Error::Internal),
        }
    }

    /// The page with the status of this refusal.
    pub(in crate::console::pages) fn answer(&self, page: Page) -> Page {
        match self {
            Self::Refusal(_) => page.unprocessable(),
            Self::TooSoon(retry_after, _) => page.after(Some(*retry_after)),
            Self::Unavailable => page.with_status(StatusCode::SERVICE_UNAVAILABLE),
        }
    }

    pub(super) fn show(&self, viewer: &Viewer) -> Markup {
        match self {
            Self::Refusal(refusal) => again::refused(viewer, refusal),
            Self::TooSoon(_, sentence) => notice::warning(&html! { p.said lang="en" { (sentence) } }),
            Self::Unavailable => html! {},
        }
    }
}

/// Shows a refusal beside the field that it is about.
pub(in crate::console::pages) fn fault(form: &mut Form, refusal: &Refusal) {
    let (field, key) = match refusal.code {
        Code::MissingRecipient => ("numbers", "compose-fault-recipient"),
        Code::NoValidRecipients | Code::RecipientsSkipped => ("numbers", "compose-fault-nobody"),
        Code::ImportNotFound => ("list", "compose-list-gone"),
        Code::ValueNotAllowed => ("", "compose-fault-value"),
        Code::TooManyRecipients if refusal.param.as_deref() == Some("recipients") => {
            ("list", "compose-fault-list-long")
        }
        Code::TooManyRecipients | Code::TooManyTags => ("numbers", "compose-fault-too-many"),
        Code::MissingPhoneNumber | Code::InvalidPhoneNumber
            if form.words().one("to") == super::web::GROUP =>
        {
            ("group", "compose-fault-group")
        }
        Code::MissingPhoneNumber | Code::InvalidPhoneNumber => ("number", "compose-fault-number"),
        Code::NotOnWhatsapp => ("number", "compose-fault-not-there"),
        Code::WindowClosed => ("message", "inbox-fault-window"),
        Code::MissingMessage => ("message", "compose-fault-message"),
        Code::TextTooLong => ("message", "compose-fault-long"),
        Code::MissingLink | Code::InvalidLink | Code::LinkTooLong => ("link", "compose-fault-link"),
        Code::LinkNotAllowed => ("link", "compose-fault-link-inner"),
        Code::MediaUnavailable => ("link", "compose-fault-file"),
        Code::NoPublicAddress => ("link", "media-unreachable"),
        Code::MediaTooLarge => ("link", "compose-fault-file-large"),
        Code::CaptionTooLong => ("caption", "compose-fault-long"),
        Code::InvalidSchedule if form.words().one("send_at").is_empty() => {
            ("expires_at", "compose-fault-schedule")
        }
        Code::InvalidSchedule => ("send_at", "compose-fault-schedule"),
        Code::ReconnectWaba => ("channel", "compose-fault-disconnected"),
        Code::SessionDisconnected => ("channel", "compose-fault-session"),
        Code::TemplateNotFound | Code::TemplateNotApproved => ("template", "compose-fault-template"),
        Code::InvalidInteractive => ("message", "compose-fault-interactive"),
        Code::InvalidComponents => ("", "compose-fault-values"),
        Code::InvalidField if refusal.param.as_deref() == Some("without_contact_tag_id") => {
            ("without", "compose-fault-without")
        }
        Code::InvalidField if refusal.param.as_deref() == Some("name") => ("name", "compose-fault-name"),
        Code::IdempotencyInProgress => ("", "compose-fault-under-way"),
        Code::IdempotencyKeyReused => ("", "compose-fault-other-before"),
        _ => {
            form.general_fault(refusal.sentence.clone());
            return;
        }
    };
    let is_of_template = refusal.param.as_deref().is_some_and(|param| param.starts_with("template_instead"));
    let field = if is_of_template && !field.is_empty() { INSTEAD } else { field };
    let mut sentence = form.text().get(key);
    if refusal.code == Code::InvalidInteractive {
        // The content has many parts: the engine names the part that is wrong.
        sentence = format!("{sentence} [{}]", refusal.sentence);
    }
    form.fault(field, sentence);
}

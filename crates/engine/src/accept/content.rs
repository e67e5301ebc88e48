//! The content of a request, checked before its audience is resolved: joined with its template, its placeholders and values
//! known, and its files there.

use uuid::Uuid;

use super::personal::seal_of_values;
use crate::ledger::Order;
use crate::{Engine, Error};
use domain::channel::Channel;
use domain::content::Content;
use domain::error::{Code, Refusal};
use domain::request::{Audience, RequestedContent, of_instead};
use domain::send::TemplateUse;
use domain::template::{Category, Template, TemplateRequest, contact_field};

/// A content that can be sent.
pub(super) struct PreparedContent {
    pub(super) content: Content,
    pub(super) template: Option<TemplateUse>,
    /// What the values of its recipients are sealed to, if they have any.
    pub(super) own: Option<Uuid>,
}

impl PreparedContent {
    /// The send of this content, which the same request asks for beside another send.
    pub(super) fn order_beside(self, other: &Order) -> Order {
        let Self { content, template, own } = self;
        Order {
            company_id: other.company_id,
            channel_id: other.channel_id,
            content,
            group: None,
            quotes: other.quotes.clone(),
            sender: None,
            template,
            schedule: other.schedule,
            label: other.label.clone(),
            personal: own,
            sources: other.sources.clone(),
            claim: other.claim.clone(),
            is_awaited: false,
            keeps_turn: false,
            confirms: false,
            origin: other.origin.clone(),
        }
    }
}

/// Checks a content.
///
/// # Errors
///
/// `template_not_found`, `template_not_approved`, `invalid_components`; those of [`seal_of_values`]; `no_public_address`,
/// `media_unavailable`.
pub(super) async fn prepare(
    engine: &Engine,
    channel: &Channel,
    requested: RequestedContent,
    audience: &Audience,
) -> Result<PreparedContent, Error> {
    let (mut content, template) = match requested {
        RequestedContent::Ready(content) | RequestedContent::OrTemplate(content, _) => (content, None),
        RequestedContent::Template(requested) => {
            let (content, template) = fit(engine, channel, requested).await?;
            (content, Some(template))
        }
    };
    let own = seal_of_values(engine.store(), &content, audience).await?;
    let keys = content.own_keys(own.is_some());
    if !keys.is_empty() {
        contact_field::check_own(&keys, &engine.store().of(channel.company_id).fields().all().await?)?;
    }
    engine.0.shared.media.admit(channel.company_id, &mut content).await?;
    Ok(PreparedContent { content, template, own })
}

/// Checks the template that goes in place of another content.
///
/// # Errors
///
/// Those of [`prepare`], about fields of `template_instead`.
pub(super) async fn prepare_instead(
    engine: &Engine,
    channel: &Channel,
    template: TemplateRequest,
    audience: &Audience,
) -> Result<PreparedContent, Error> {
    let prepared = prepare(engine, channel, RequestedContent::Template(template), audience).await;
    prepared.map_err(|error| match error {
        // Values are those of the request.
        Error::Refused(refusal) if refusal.code != Code::ValueNotAllowed => of_instead(refusal).into(),
        error => error,
    })
}

/// The content of a template send: finds the template, checks it and fills it in.
async fn fit(
    engine: &Engine,
    channel: &Channel,
    requested: TemplateRequest,
) -> Result<(Content, TemplateUse), Error> {
    let id = requested.template_id;
    let missing = |what: String| {
        Refusal::new(
            Code::TemplateNotFound,
            format!("{what}; `GET …/templates` lists those that can be sent"),
        )
        .about("template_id")
    };
    let templates = engine.store().of(channel.company_id).templates();
    let found = templates.find(id).await?;
    let mut found = found.ok_or_else(|| missing(format!("there is no template {id} in this company")))?;
    if Some(&found.waba_id) != channel.waba_id.as_ref() {
        return Err(
            missing(format!("template {id} belongs to another business account than the channel")).into()
        );
    }
    if let Some(language) = requested.language.as_ref().filter(|language| **language != found.language) {
        let (waba, name) = (found.waba_id.clone(), found.name.clone());
        let other = templates.named(&waba, &name, language).await?;
        found =
            other.ok_or_else(|| missing(format!("template {id} ({name}) does not exist in {language}")))?;
    }
    let template = TemplateUse { id: found.id, is_marketing: found.category == Category::Marketing };
    Ok((requested.fit(&Template::from(found))?, template))
}

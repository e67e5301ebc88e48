//! Retries of a send: a new send of the same content through the same channel, to the recipients of selected messages
//! of the earlier send and to nobody else.

use std::sync::Arc;

use uuid::Uuid;

use super::idempotency::hold_retries;
use super::to_its_end;
use crate::{Accepted, DryRun, Error, KeyGuard, Sends, Who, no_such_send};
use domain::channel::{Channel, Kind};
use domain::content::Content;
use domain::error::{Code, Refusal};
use domain::request::{Again, Audience, BusinessRequest, RequestedContent, RetryRequest};
use domain::send::Label;
use domain::template::TemplateRequest;
use store::sends::Sent;

/// An earlier send of a company, to be retried.
#[derive(Debug)]
pub struct Retried {
    company_id: Uuid,
    send_id: Uuid,
    channel: Arc<Channel>,
    content: RequestedContent,
    label: Label,
}

impl Retried {
    /// Notes who retries it.
    #[must_use]
    pub fn made_by(mut self, who: &Who) -> Self {
        self.label.made_by = Some(who.to_string());
        self
    }

    /// The request for the new send.
    fn request(self, request: RetryRequest) -> (Arc<Channel>, BusinessRequest) {
        let RetryRequest { selection, instead, schedule, mut ignored } = request;
        let Self { company_id: _, send_id, channel, content, label } = self;
        let content = match (content, instead) {
            (RequestedContent::Ready(content), Some(template)) => {
                RequestedContent::OrTemplate(content, template)
            }
            (content, instead) => {
                ignored.extend(instead.map(|_| "template_instead".to_owned()));
                content
            }
        };
        let audience = Audience { again: Some(Again { send_id, selection }), ..Audience::default() };
        (channel, BusinessRequest { content, audience, schedule, label, quotes: None, ignored })
    }
}

impl Sends<'_> {
    /// Reads the content and channel of a company's send.
    ///
    /// # Errors
    ///
    /// `send_not_found`; `channel_not_found` when it went through a web session, or its channel is gone.
    pub async fn retried(self, company_id: Uuid, send_id: Uuid) -> Result<Retried, Error> {
        let sent =
            self.engine.store().of(company_id).sends().sent(send_id).await?.ok_or_else(no_such_send)?;
        let Sent { channel_id, content, template_id, label } = sent;
        let channel = self.engine.channel(channel_id).await?;
        let channel = channel.filter(|channel| channel.kind == Kind::BusinessAccount).ok_or_else(|| {
            Refusal::new(
                Code::ChannelNotFound,
                "there is no business-account channel behind this send: a message of a web session is sent \
                 again with POST /api/v1/web-chat/{id}/messages",
            )
        })?;
        let content = match (content, template_id) {
            // The template may have changed since: it is found and checked like that of any new send.
            (Content::Template { components, contact_fields, .. }, Some(template_id)) => {
                RequestedContent::Template(TemplateRequest {
                    template_id,
                    language: None,
                    components,
                    short: None,
                    contact_fields,
                })
            }
            (content, _) => RequestedContent::Ready(content),
        };
        Ok(Retried { company_id, send_id, channel, content, label })
    }

    /// Retries messages of an earlier send as a new send, which is durable when this returns. With a key `guard`, the
    /// answer is stored under its key. A message that another send of the family has sent, or will send, is skipped.
    ///
    /// # Errors
    ///
    /// `retry_in_progress` while another retry of the family is being accepted; then those of
    /// [`Engine::send`](crate::Engine::send).
    pub async fn retry(
        self,
        retried: Retried,
        request: RetryRequest,
        guard: Option<KeyGuard>,
    ) -> Result<Accepted, Error> {
        let Retried { company_id, send_id, .. } = retried;
        let family = self.engine.store().of(company_id).sends().first_of_family(send_id).await?;
        let held = hold_retries(self.engine, company_id, family).await?;
        let (channel, request) = retried.request(request);
        let engine = self.engine.clone();
        // The next retry must see this one's recipients.
        to_its_end(async move {
            let accepted = engine.send(&channel, request, guard).await;
            held.release().await;
            accepted
        })
        .await
    }

    /// Does the checks of [`Sends::retry`], with the same refusals in the same order, and queues nothing.
    pub async fn dry_run_retry(self, retried: Retried, request: RetryRequest) -> Result<DryRun, Error> {
        let (channel, request) = retried.request(request);
        self.engine.dry_run(&channel, request).await
    }
}

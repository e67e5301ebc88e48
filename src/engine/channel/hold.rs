//! What holds single messages back: their recipient, their template, the quota; and what slows the channel.

use std::time::{Duration, Instant};

use actix::prelude::*;
use uuid::Uuid;

use super::ChannelActor;
use super::work::{Leave, Ticket};
use crate::clock::Timestamp;
use crate::connector::Disposition;
use crate::domain::message::Failure;
use crate::domain::outlook::Reason;
use crate::engine::ledger::AcceptedSend;

/// When the provider is asked about a template that it refused.
const LOOKED_AT_AFTER: Duration = Duration::from_secs(60);

impl ChannelActor {
    /// What holds this message, and for how long.
    pub(super) fn hold(&mut self, ticket: &Ticket, wall: Timestamp) -> Option<(Reason, Duration)> {
        let work = self.lanes.work(ticket.send_id)?;
        let company_id = work.company_id;
        if let Some(template) = work.template
            && template.is_marketing
            && let Some(until) = self.shared.suppressions.held_until(company_id, ticket.recipient, wall)
        {
            return Some((Reason::RecipientHeld, until.from_now(wall)));
        }
        None
    }

    /// Whether a send that was just accepted may go; otherwise it waits in the store.
    pub(super) fn may_begin(&self, send: &AcceptedSend) -> bool {
        let template = send.order.template;
        template.is_none_or(|used| self.templates_may_go() && !self.held_templates.contains(&used.id))
    }

    /// Whether the quota of templates lets some through.
    pub(super) fn templates_may_go(&self) -> bool {
        true
    }

    pub(super) fn keep_quota(&mut self, _: &Ticket) {}

    pub(super) fn give_back_quota(&mut self, _: &Ticket) {}

    pub(super) fn slow_down(&mut self, _: Instant, _: &Failure) {}

    pub(super) fn throttle(
        &mut self,
        _: Disposition,
        _: Option<Duration>,
        _: &Failure,
    ) -> (Reason, Duration) {
        (Reason::AccountThrottled, Duration::from_secs(1))
    }

    pub(super) fn pair_refused(&mut self, _: &Ticket) -> Duration {
        Duration::from_secs(1)
    }

    /// The provider does not let the template of this send through: everything that uses it waits in the store
    /// until the provider does.
    pub(super) fn hold_template(&mut self, send_id: Uuid, failure: &Failure, ctx: &mut Context<Self>) {
        let Some(template) = self.lanes.work(send_id).and_then(|work| work.template) else { return };
        if !self.held_templates.insert(template.id) {
            return;
        }
        tracing::warn!(
            channel.id = %self.channel.id,
            template.id = template.id,
            reason = %Reason::TemplatePaused,
            provider.code = failure.code,
            provider.sentence = failure.sentence,
            "the provider does not let a template through, its messages wait"
        );
        self.release(Leave::Held, |work| work.template.is_some_and(|used| used.id == template.id));
        self.mark_template_paused(template.id, ctx);
    }

    fn mark_template_paused(&self, template_id: i64, ctx: &mut Context<Self>) {
        let store = self.shared.store.clone();
        async move { store.pause_template(template_id).await }
            .into_actor(self)
            .map(move |result, actor, ctx| match result {
                // From here on the store leaves its sends out, and says when they may go.
                Ok(()) => {
                    actor.held_templates.remove(&template_id);
                    ctx.run_later(LOOKED_AT_AFTER, |actor, ctx| actor.sync_templates_soon(ctx));
                }
                Err(error) => {
                    tracing::error!(template.id = template_id, %error, "a template was not marked as paused");
                    ctx.run_later(super::STORE_PAUSE, move |actor, ctx| {
                        actor.mark_template_paused(template_id, ctx);
                    });
                }
            })
            .spawn(ctx);
    }

    /// The provider says of these templates whether they may be sent.
    pub(super) fn templates_changed(&mut self, templates: &[(i64, bool)]) {
        let closed = |id: i64| templates.iter().any(|(changed, may)| *changed == id && !may);
        self.release(Leave::Held, |work| work.template.is_some_and(|used| closed(used.id)));
        if templates.iter().any(|(_, may)| *may) {
            self.lanes.look_again();
        }
    }
}

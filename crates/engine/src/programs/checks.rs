//! Checks a connected program again: what can be asked without the token of a person, and the inbox with it.

use std::sync::Arc;

use super::{ConnectedProgram, ProgramFault, ProgramStep, Programs};
use crate::Error;
use clock::Timestamp;
use connectors::chatwoot::{Chatwoot, InboxState};
use connectors::webhook::Sender;
use domain::error::{Code, Refusal};
use domain::event::Type;
use domain::graph::ProgramKind;
use domain::secret::Secret;

/// A step, and what is wrong with it now.
pub type ProgramCheck = (ProgramStep, Option<ProgramFault>);

impl Programs<'_> {
    /// Checks a program now, step by step. Its receiver gets the example of a status, which is about a message that it does not
    /// know. With the token of an administrator, Chatwoot is asked about the inbox.
    pub async fn check(
        &self,
        program: &ConnectedProgram,
        token: Option<Secret>,
    ) -> Result<Vec<ProgramCheck>, Error> {
        let mut checks = Vec::new();
        if program.kind == ProgramKind::Chatwoot {
            checks.extend(self.check_chatwoot(program, token).await?);
        }
        let key = self.engine.store().of(self.company).keys().find(program.key_id).await?;
        let is_valid = key.is_some_and(|key| key.is_valid(Timestamp::now()));
        checks.push((ProgramStep::Key, (!is_valid).then_some(ProgramFault::KeyRevoked)));
        let is_used = self.is_used(program.key_id).await?;
        checks.push((ProgramStep::BaseUrl, (!is_used).then_some(ProgramFault::NeverAsked)));
        checks.push((ProgramStep::Webhook, self.webhook_fault(program).await?));
        checks.sort_by_key(|(step, _)| *step);
        Ok(checks)
    }

    async fn check_chatwoot(
        &self,
        program: &ConnectedProgram,
        token: Option<Secret>,
    ) -> Result<Vec<ProgramCheck>, Error> {
        let given = token.is_some();
        let token = token.unwrap_or_else(|| Secret::new(String::new()));
        let chatwoot = match Chatwoot::at(self.company, &program.address, token) {
            Ok(chatwoot) => chatwoot,
            Err(fault) => return Ok(vec![(ProgramStep::Address, Some(ProgramFault::Delivery(fault)))]),
        };
        let inbox = program.inbox.filter(|_| given);
        let asking = move |sender: Arc<Sender>| async move {
            let found = chatwoot.version(&sender).await;
            let mut checks = vec![(ProgramStep::Address, found.err().map(ProgramFault::from))];
            if let Some((account, inbox)) = inbox {
                let fault = match chatwoot.inbox(&sender, account, inbox).await {
                    Ok(InboxState::Open) => None,
                    Ok(InboxState::WantsReconnecting) => Some(ProgramFault::WantsReconnecting),
                    Ok(InboxState::Gone) => Some(ProgramFault::InboxGone),
                    Err(fault) => Some(fault.into()),
                };
                checks.push((ProgramStep::Inbox, fault));
            }
            checks
        };
        self.engine.webhook_endpoints().ask(asking).await
    }

    /// What is wrong with the program's webhook.
    async fn webhook_fault(&self, program: &ConnectedProgram) -> Result<Option<ProgramFault>, Error> {
        let Some(id) = program.webhook_id else { return Ok(Some(ProgramFault::NoWebhook)) };
        let endpoints = self.engine.webhook_endpoints();
        let shown = match endpoints.find(self.company, id).await {
            Ok(shown) => shown,
            Err(Error::Refused(Refusal { code: Code::WebhookNotFound, .. })) => {
                return Ok(Some(ProgramFault::WebhookGone));
            }
            Err(error) => return Err(error),
        };
        if !shown.endpoint.is_enabled() {
            return Ok(Some(ProgramFault::WebhookDisabled));
        }
        match endpoints.test(self.company, id, Type::MessageDelivered).await {
            Ok(None) => Ok(Some(ProgramFault::WebhookGone)),
            Ok(Some(sent)) if sent.answer.is_delivered() => Ok(None),
            Ok(Some(sent)) => Ok(sent.answer.fault.map(ProgramFault::Delivery)),
            Err(Error::Refused(refusal)) => Ok(Some(ProgramFault::NotAdded(refusal.sentence))),
            Err(error) => Err(error),
        }
    }
}

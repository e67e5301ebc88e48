//! Receivers of webhooks, and the changes that webhooks announce.

use std::sync::Arc;

use serde_json::Value;

use super::account::Account;
use super::notice;
use super::options::ReceiptOptions;
use super::outbox::Notice;
use super::pacing::Fate;
use super::phone::PhoneNumber;
use super::script::AsyncFailure;
use super::target::Scope;
use super::world::World;

impl World {
    /// Sets a receiver of webhooks: of the number or account that the options name, or of all that have no
    /// other receiver.
    ///
    /// # Errors
    /// A sentence about the option that is wrong.
    pub(super) fn aim(&self, options: ReceiptOptions) -> Result<(), String> {
        if let Some(fault) = options.fault() {
            return Err(fault);
        }
        let (scope, waba_id) = match (&options.phone_number_id, &options.waba_id) {
            (Some(id), _) => {
                let known = self.directory.read().number(id).cloned();
                let number = known.or_else(|| self.number_on_first_use(id));
                let number = number.ok_or_else(|| format!("there is no number {id}"))?;
                (Scope::Number(id.clone()), Some(number.account.waba_id.clone()))
            }
            (None, Some(waba_id)) => (Scope::Account(waba_id.clone()), None),
            (None, None) => (Scope::App, None),
        };
        self.outbox.aim(scope, waba_id, options);
        Ok(())
    }

    /// A webhook about a number or an account, for all its present receivers.
    pub(super) fn notices(
        &self,
        account: &Account,
        number: Option<&PhoneNumber>,
        field: &str,
        value: &Value,
    ) -> Vec<Notice> {
        let scopes = self.outbox.scopes(&account.waba_id, number);
        let seconds = (field != "messages").then(notice::seconds);
        let to = |scope| Notice {
            scope,
            waba_id: account.waba_id.clone(),
            field: field.to_owned(),
            value: value.clone(),
            seconds,
        };
        scopes.into_iter().map(to).collect()
    }

    /// Sends such a webhook now.
    pub(super) fn notify(&self, account: &Account, number: Option<&PhoneNumber>, field: &str, value: &Value) {
        for notice in self.notices(account, number, field, value) {
            self.outbox.notify(notice);
        }
    }

    /// Changes the status of a template, and reports it by webhook; false when there is none with this id.
    pub(super) fn set_template_status(&self, account: &Account, template: u64, status: &str) -> bool {
        let before = account.catalogue.read().by_id(template).cloned();
        let Some(before) = before else { return false };
        account.catalogue.write().set_status(template, status);
        if before.template.status != status {
            let value = notice::template_status(&before, status);
            self.notify(account, None, "message_template_status_update", &value);
        }
        true
    }

    /// Sends the held messages of a template, or drops them and pauses the template; does nothing if the
    /// template is not paced.
    pub(super) fn end_pacing(&self, account: &Account, template: u64, fate: Fate) {
        let Some(held) = self.pacings.end(template) else { return };
        if fate == Fate::Drop {
            self.set_template_status(account, template, "PAUSED");
        }
        for (sequence, mut event) in held {
            if fate == Fate::Drop {
                event.failure = Some(AsyncFailure { code: 132_015, title: None });
            }
            let number = Arc::clone(&event.number);
            // Nobody waits for the first status of a message that was answered long ago.
            drop(self.outbox.promise(sequence, &number, || event));
        }
    }
}

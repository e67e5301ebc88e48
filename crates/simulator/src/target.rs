//! The receivers of webhooks: of a number, of its account, or of the whole app. The most specific receiver
//! gets the webhook, as at the provider.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use tokio::sync::OnceCell;

use super::options::ReceiptOptions;
use super::phone::PhoneNumber;

/// The accounts or numbers whose webhooks a receiver gets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Scope {
    /// All webhooks without a more specific receiver.
    App,
    /// The webhooks of an account.
    Account(String),
    /// The webhooks of a number.
    Number(String),
}

/// A receiver of webhooks.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) scope: Scope,
    pub(super) options: ReceiptOptions,
    /// The subscription handshake, once it is done or when it is not asked for.
    pub(super) handshake: OnceCell<()>,
    /// The account of a number's receiver.
    waba_id: Option<String>,
}

/// All receivers.
#[derive(Debug, Default)]
pub(super) struct Targets(HashMap<Scope, Arc<Target>>);

/// A receiver as shown.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    waba_id: Option<String>,
    phone_number_id: Option<String>,
    url: String,
    is_verified: bool,
}

impl Targets {
    /// Sets the receiver of webhooks of this scope; `waba_id` is the account of a number.
    pub(super) fn aim(&mut self, scope: Scope, waba_id: Option<String>, options: ReceiptOptions) {
        let handshake = OnceCell::new_with(options.verify_token.is_none().then_some(()));
        let target = Target { scope: scope.clone(), options, handshake, waba_id };
        self.0.insert(scope, Arc::new(target));
    }

    /// Removes the receiver of this scope.
    pub(super) fn end(&mut self, scope: &Scope) {
        self.0.remove(scope);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The receiver of exactly this scope.
    pub(super) fn get(&self, scope: &Scope) -> Option<Arc<Target>> {
        self.0.get(scope).cloned()
    }

    /// The receiver of webhooks about a number.
    pub(super) fn of_number(&self, number: &PhoneNumber) -> Option<Arc<Target>> {
        // Most simulators have one receiver for everything.
        if self.0.len() == 1
            && let Some(app) = self.0.get(&Scope::App)
        {
            return Some(Arc::clone(app));
        }
        let own = self.get(&Scope::Number(number.id.to_string()));
        own.or_else(|| self.of_account_itself(&number.account.waba_id))
    }

    /// The receiver of an account, or of the app.
    pub(super) fn of_account_itself(&self, waba_id: &str) -> Option<Arc<Target>> {
        self.get(&Scope::Account(waba_id.to_owned())).or_else(|| self.get(&Scope::App))
    }

    /// The receivers of webhooks about an account; the receivers of its numbers when neither the account nor the
    /// app has one.
    pub(super) fn of_account(&self, waba_id: &str) -> Vec<Arc<Target>> {
        match self.of_account_itself(waba_id) {
            Some(target) => vec![target],
            None => {
                let is_its = |target: &&Arc<Target>| target.waba_id.as_deref() == Some(waba_id);
                self.0.values().filter(is_its).map(Arc::clone).collect()
            }
        }
    }

    /// The receivers in the order of their addresses, the app's first.
    pub(super) fn shown(&self) -> Vec<Shown> {
        let mut shown: Vec<_> = self.0.values().map(|target| target.shown()).collect();
        shown.sort_by(|one, other| {
            let rank = |shown: &Shown| shown.waba_id.is_some() || shown.phone_number_id.is_some();
            (rank(one), &one.url).cmp(&(rank(other), &other.url))
        });
        shown
    }
}

impl Target {
    fn shown(&self) -> Shown {
        let (waba_id, phone_number_id) = match &self.scope {
            Scope::App => (None, None),
            Scope::Account(waba_id) => (Some(waba_id.clone()), None),
            Scope::Number(id) => (None, Some(id.clone())),
        };
        let is_verified = self.handshake.initialized();
        Shown { waba_id, phone_number_id, url: self.options.url.clone(), is_verified }
    }
}

impl Shown {
    pub(super) fn url(&self) -> String {
        self.url.clone()
    }

    pub(super) fn is_verified(&self) -> bool {
        self.is_verified
    }
}

//! The accounts whose templates a company writes: its business accounts, and its web sessions together.

use uuid::Uuid;

use crate::console::State;
use crate::console::error::Result;
use crate::console::text::Text;
use crate::domain::channel::{Channel, Kind};
use crate::domain::page::PageRequest;

/// One channel of each account, business accounts first.
pub(super) struct TemplateAccounts(Vec<Channel>);

impl TemplateAccounts {
    pub(super) async fn read(state: &State, company: Uuid) -> Result<Self> {
        let records = state.engine.company(company).await?;
        let business = records.channels().business_accounts().await?;
        let one = PageRequest { page: 1, limit: 1 };
        let sessions = records.channels().of_kind(Kind::WebSession, one, None).await?.records;
        let mut accounts = Vec::<Channel>::new();
        for channel in business.into_iter().chain(sessions) {
            if !accounts.iter().any(|known| known.template_account() == channel.template_account()) {
                accounts.push(channel);
            }
        }
        Ok(Self(accounts))
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A channel of the account with this id.
    pub(super) fn of(&self, account: &str) -> Option<&Channel> {
        self.0.iter().find(|channel| channel.template_account() == account)
    }

    /// A channel of the business account with this id, or of the first one: only they have the provider's library.
    pub(super) fn with_library(&self, account: Option<&str>) -> Option<&Channel> {
        let is_wanted =
            |channel: &&Channel| account.is_none_or(|account| channel.template_account() == account);
        self.business().find(is_wanted)
    }

    /// The business accounts to choose from, each with its name.
    pub(super) fn libraries(&self, text: Text) -> impl Iterator<Item = (String, String)> {
        self.business().map(move |channel| (channel.template_account().to_owned(), name(text, channel)))
    }

    fn business(&self) -> impl Iterator<Item = &Channel> {
        self.0.iter().filter(|channel| channel.kind == Kind::BusinessAccount)
    }

    /// The accounts to choose from, each with its name.
    pub(super) fn offered(&self, text: Text) -> impl Iterator<Item = (String, String)> {
        self.0.iter().map(move |channel| (channel.template_account().to_owned(), name(text, channel)))
    }
}

/// The account of a channel in words.
pub(super) fn name(text: Text, channel: &Channel) -> String {
    match &channel.waba_id {
        Some(waba) => format!("{} ({waba})", channel.name),
        None => text.get("templates-web"),
    }
}

//! Connects Chatwoot: looks whether it can be done, makes a key and an inbox with it, and the webhook at last. It is done as a whole
//! or not at all; while it lasts, the program is in the list, so that nothing is hidden of an attempt that was cut off.

use std::sync::Arc;

use super::{ConnectedProgram, NotConnected, ProgramFault, ProgramStep, Programs};
use crate::graph::GraphDoor;
use crate::{Error, Who};
use connectors::chatwoot::{Chatwoot, ChatwootAccount, ChatwootFault, InboxDraft};
use connectors::webhook::{Sender, signature};
use domain::channel::Channel;
use domain::graph::ProgramKind;
use domain::secret::Secret;
use vault::api_key;

/// What a person says of Chatwoot.
#[derive(Debug, Clone)]
pub struct NewChatwoot {
    /// Its address, as a browser shows it.
    pub address: String,
    /// The access token of an administrator.
    pub token: Secret,
    /// The number of the account; `None` for the only one.
    pub account: Option<u64>,
    /// The name of the inbox; `None` for that of the channel.
    pub inbox_name: Option<String>,
    /// The number of the channel, with `+` and digits alone.
    pub phone_number: String,
}

/// Chatwoot as it was found.
struct Visited {
    version: String,
    account: u64,
}

impl Programs<'_> {
    /// Connects Chatwoot to a channel.
    ///
    /// # Errors
    ///
    /// `too_many_webhooks` when the company has as many programs as it may have. What Chatwoot does not do is the value.
    pub async fn connect_chatwoot(
        &self,
        who: &Who,
        channel: &Channel,
        new: NewChatwoot,
    ) -> Result<Result<ConnectedProgram, NotConnected>, Error> {
        let chatwoot = match Chatwoot::at(self.company, &new.address, new.token.clone()) {
            Ok(chatwoot) => chatwoot,
            Err(fault) => {
                let fault = ProgramFault::Delivery(fault);
                return Ok(Err(NotConnected::at(ProgramStep::Address, fault)));
            }
        };
        let (asked, account) = (chatwoot.clone(), new.account);
        let endpoints = self.engine.webhook_endpoints();
        let looking = move |sender: Arc<Sender>| async move { visit(&sender, &asked, account).await };
        let visited = match endpoints.ask(looking).await? {
            Ok(visited) => visited,
            Err(not) => return Ok(Err(not)),
        };
        let (program, key) = self.begin(who, ProgramKind::Chatwoot, channel, chatwoot.address()).await?;
        let begun = program.clone();
        let setting_up = self.set_up(who, (program, key), channel, (&chatwoot, &visited), new);
        let connected = Box::pin(setting_up).await;
        if !matches!(connected, Ok(Ok(_))) {
            self.remove(who, &begun).await?;
        }
        connected
    }

    /// Makes the inbox and the webhook. The caller takes back the key of a program that is not connected.
    async fn set_up(
        &self,
        who: &Who,
        (mut program, key): (ConnectedProgram, Secret),
        channel: &Channel,
        (chatwoot, visited): (&Chatwoot, &Visited),
        new: NewChatwoot,
    ) -> Result<Result<ConnectedProgram, NotConnected>, Error> {
        let door = GraphDoor::new(self.engine, self.company, None);
        let (secret, verify_token) = (signature::generate(), api_key::generate_token());
        let receiver = chatwoot.receiver(&new.phone_number);
        let draft = InboxDraft {
            name: new.inbox_name.unwrap_or_else(|| channel.name.clone()),
            phone_number: new.phone_number,
            key,
            number_id: door.number_id(channel).await?,
            account_id: door.account_id(channel).await?,
            verify_token: verify_token.clone(),
            secret: secret.clone(),
        };
        let (asked, account, version) = (chatwoot.clone(), visited.account, visited.version.clone());
        let making = move |sender: Arc<Sender>| async move {
            asked.create_inbox(&sender, account, &version, &draft).await
        };
        let made = self.engine.webhook_endpoints().ask(making).await?;
        // Chatwoot asks for the account's templates before it makes the inbox, and refuses when it does not get them.
        let has_asked = self.is_used(program.key_id).await?;
        let never = NotConnected::at(ProgramStep::BaseUrl, ProgramFault::NeverAsked);
        let inbox = match made {
            Ok(inbox) if has_asked => inbox,
            Ok(inbox) => return Ok(Err(self.without_inbox(chatwoot, (account, inbox), never).await?)),
            Err(ChatwootFault::Refused { .. }) if !has_asked => return Ok(Err(never)),
            Err(fault) => return Ok(Err(NotConnected::at(ProgramStep::Inbox, fault.into()))),
        };
        program.inbox = Some((account, inbox));
        self.update(who, &program).await?;
        let added = self.add_webhook(who, &mut program, &receiver, Some(secret), verify_token).await;
        match added {
            Ok(()) => {
                self.update(who, &program).await?;
                Ok(Ok(program))
            }
            Err(Error::Refused(refusal)) => {
                let not = NotConnected::at(ProgramStep::Webhook, ProgramFault::NotAdded(refusal.sentence));
                Ok(Err(self.without_inbox(chatwoot, (account, inbox), not).await?))
            }
            Err(error) => {
                let not = NotConnected::at(ProgramStep::Webhook, ProgramFault::NoWebhook);
                self.without_inbox(chatwoot, (account, inbox), not).await?;
                Err(error)
            }
        }
    }

    /// Removes an inbox that was made without success, or says that it stays.
    async fn without_inbox(
        &self,
        chatwoot: &Chatwoot,
        (account, inbox): (u64, u64),
        not: NotConnected,
    ) -> Result<NotConnected, Error> {
        let asked = chatwoot.clone();
        let removing =
            move |sender: Arc<Sender>| async move { asked.remove_inbox(&sender, account, inbox).await };
        let removed = self.engine.webhook_endpoints().ask(removing).await?;
        Ok(NotConnected { leaves_inbox: removed.is_err(), ..not })
    }
}

/// Looks whether Chatwoot is there, knows the token, and lets it make inboxes.
async fn visit(sender: &Sender, chatwoot: &Chatwoot, account: Option<u64>) -> Result<Visited, NotConnected> {
    let at = |step| move |fault: ChatwootFault| NotConnected::at(step, fault.into());
    let version = chatwoot.version(sender).await.map_err(at(ProgramStep::Address))?;
    let accounts = chatwoot.accounts(sender).await.map_err(at(ProgramStep::Token))?;
    let account = chosen(accounts, account);
    let account = account.map_err(|fault| NotConnected::at(ProgramStep::Rights, fault))?;
    Ok(Visited { version, account })
}

/// The account of this number, or the only one.
fn chosen(mut accounts: Vec<ChatwootAccount>, number: Option<u64>) -> Result<u64, ProgramFault> {
    if let Some(number) = number {
        accounts.retain(|account| account.id == number);
    }
    match &accounts[..] {
        [] => Err(ProgramFault::NoAdministrator),
        [one] => Ok(one.id),
        _ => Err(ProgramFault::SeveralAccounts(accounts)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_account_needs_no_number() {
        let accounts = |ids: &[u64]| -> Vec<_> {
            ids.iter().map(|id| ChatwootAccount { id: *id, name: format!("Shop {id}") }).collect()
        };
        assert_eq!(chosen(accounts(&[7]), None), Ok(7));
        assert_eq!(chosen(accounts(&[7, 8]), Some(8)), Ok(8));
        assert_eq!(chosen(accounts(&[7]), Some(8)), Err(ProgramFault::NoAdministrator));
        assert_eq!(chosen(Vec::new(), None), Err(ProgramFault::NoAdministrator));
        let several = Err(ProgramFault::SeveralAccounts(accounts(&[7, 8])));
        assert_eq!(chosen(accounts(&[7, 8]), None), several);
    }
}

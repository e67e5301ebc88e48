//! Chatwoot's own API, as far as an inbox for a channel needs it.
//!
//! A company gives the address, so it is guarded as those of its receivers are. The token is that of an administrator; it is used
//! for the calls, and kept nowhere.

use reqwest::{Method, Url};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::webhook::{DeliveryFault, Sender};
use domain::secret::Secret;

/// The most bytes of an answer that are read: an inbox comes with all its templates.
const MOST_BYTES: usize = 4 * 1024 * 1024;
/// The most characters of Chatwoot's own words that are shown.
const SHOWN: usize = 300;
/// The header with a token.
const TOKEN: &str = "api_access_token";
/// The role of people who may make inboxes.
const ADMINISTRATOR: &str = "administrator";
/// The first version that closes only inboxes which say that they are embedded sign-ups, when Meta does not know their token.
const OPEN_TO_OTHERS: (u32, u32) = (4, 14);

/// Why Chatwoot did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatwootFault {
    /// It cannot be reached.
    Delivery(DeliveryFault),
    /// What answers there is something else.
    NotChatwoot,
    /// It does not know the token.
    TokenRefused,
    /// The token is not that of an administrator of the account.
    NoAdministrator,
    /// It refused for another reason.
    Refused {
        /// The status of its answer.
        status: u16,
        /// Its own words, at most 300 characters; may be empty.
        said: String,
    },
}

/// An account of Chatwoot in which the token is that of an administrator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatwootAccount {
    /// Its number, which is in the addresses of Chatwoot's pages.
    pub id: u64,
    /// Its name.
    pub name: String,
}

/// An inbox to make.
#[derive(Debug, Clone)]
pub struct InboxDraft {
    /// Its name.
    pub name: String,
    /// The number of the channel, with `+` and digits alone.
    pub phone_number: String,
    /// The key with which Chatwoot sends.
    pub key: Secret,
    /// The id of the number at the door that speaks Graph.
    pub number_id: String,
    /// The id of its account there.
    pub account_id: String,
    /// The token by which Chatwoot's receiver is verified.
    pub verify_token: Secret,
    /// The secret that signs what Chatwoot's receiver gets.
    pub secret: Secret,
}

/// An inbox as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxState {
    /// It works.
    Open,
    /// Chatwoot wants it to be connected again, and drops what people write until then.
    WantsReconnecting,
    /// It was deleted.
    Gone,
}

/// Chatwoot at an address.
#[derive(Debug, Clone)]
pub struct Chatwoot {
    company: Uuid,
    /// Without a slash at its end.
    address: String,
    token: Secret,
}

#[derive(Deserialize)]
struct AboutChatwoot {
    version: String,
}

#[derive(Deserialize)]
struct ChatwootProfile {
    accounts: Vec<AccountOfUser>,
}

#[derive(Deserialize)]
struct AccountOfUser {
    id: u64,
    #[serde(default)]
    name: String,
    #[serde(default)]
    role: String,
}

#[derive(Deserialize)]
struct MadeInbox {
    id: u64,
    #[serde(default)]
    reauthorization_required: Option<bool>,
}

impl Chatwoot {
    /// Chatwoot at an address that a company typed: what a browser shows behind the host is left out.
    ///
    /// # Errors
    ///
    /// [`DeliveryFault::Address`] for a text that is no address. Calls check where it leads.
    pub fn at(company: Uuid, typed: &str, token: Secret) -> Result<Self, DeliveryFault> {
        let mut url = Url::parse(typed.trim()).map_err(|_| DeliveryFault::Address)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(DeliveryFault::Scheme);
        }
        url.set_query(None);
        url.set_fragment(None);
        let path = format!("{}/", url.path());
        let before = path.find("/app/").map_or(path.as_str(), |at| &path[..at]).to_owned();
        url.set_path(&before);
        Ok(Self { company, address: url.as_str().trim_end_matches('/').to_owned(), token })
    }

    /// The address, without a slash at its end.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The address at which Chatwoot gets webhooks of this number, with `+` and digits alone.
    pub fn receiver(&self, phone_number: &str) -> String {
        format!("{}/webhooks/whatsapp/{phone_number}", self.address)
    }

    /// Chatwoot's version, which it tells everybody.
    ///
    /// # Errors
    ///
    /// When it cannot be reached, or something else answers.
    pub async fn version(&self, sender: &Sender) -> Result<String, ChatwootFault> {
        let url = format!("{}/api", self.address);
        let answer = sender.call(self.company, (Method::GET, &url), None, None, MOST_BYTES).await;
        let (status, body) = answer.map_err(ChatwootFault::Delivery)?;
        if (300..400).contains(&status) {
            return Err(ChatwootFault::Delivery(DeliveryFault::Redirect(status)));
        }
        // It says its version also when one of its services fails.
        let about: AboutChatwoot = serde_json::from_slice(&body).map_err(|_| ChatwootFault::NotChatwoot)?;
        Ok(about.version.chars().filter(|letter| !letter.is_control()).take(40).collect())
    }

    /// The accounts in which the token is that of an administrator.
    ///
    /// # Errors
    ///
    /// When Chatwoot does not know the token, or does not answer.
    pub async fn accounts(&self, sender: &Sender) -> Result<Vec<ChatwootAccount>, ChatwootFault> {
        let profile: ChatwootProfile = read(&self.ask(sender, Method::GET, "/api/v1/profile", None).await?)?;
        let own = profile.accounts.into_iter().filter(|account| account.role == ADMINISTRATOR);
        Ok(own.map(|AccountOfUser { id, name, .. }| ChatwootAccount { id, name }).collect())
    }

    /// Makes an inbox, and returns its number. `version` is that of Chatwoot. It asks the door for the account's templates and
    /// numbers before it answers.
    ///
    /// # Errors
    ///
    /// When Chatwoot refuses or does not answer.
    pub async fn create_inbox(
        &self,
        sender: &Sender,
        account: u64,
        version: &str,
        inbox: &InboxDraft,
    ) -> Result<u64, ChatwootFault> {
        let body = json!({
            "name": inbox.name,
            "channel": {
                "type": "whatsapp",
                "provider": "whatsapp_cloud",
                "phone_number": inbox.phone_number,
                "provider_config": {
                    "api_key": inbox.key.expose(),
                    "phone_number_id": inbox.number_id,
                    "business_account_id": inbox.account_id,
                    "source": source(version),
                    "webhook_verify_token": inbox.verify_token.expose(),
                    "app_secret": inbox.secret.expose(),
                },
            },
        });
        let path = format!("/api/v1/accounts/{account}/inboxes");
        let made: MadeInbox = read(&self.ask(sender, Method::POST, &path, Some(&body)).await?)?;
        Ok(made.id)
    }

    /// What has become of an inbox.
    ///
    /// # Errors
    ///
    /// When Chatwoot refuses or does not answer.
    pub async fn inbox(
        &self,
        sender: &Sender,
        account: u64,
        inbox: u64,
    ) -> Result<InboxState, ChatwootFault> {
        let path = format!("/api/v1/accounts/{account}/inboxes/{inbox}");
        match self.ask(sender, Method::GET, &path, None).await {
            Ok(body) => Ok(match read::<MadeInbox>(&body)?.reauthorization_required {
                Some(true) => InboxState::WantsReconnecting,
                Some(false) | None => InboxState::Open,
            }),
            Err(ChatwootFault::Refused { status: 404, .. }) => Ok(InboxState::Gone),
            Err(fault) => Err(fault),
        }
    }

    /// Removes an inbox, with all that is in it.
    ///
    /// # Errors
    ///
    /// When Chatwoot refuses or does not answer.
    pub async fn remove_inbox(&self, sender: &Sender, account: u64, inbox: u64) -> Result<(), ChatwootFault> {
        let path = format!("/api/v1/accounts/{account}/inboxes/{inbox}");
        self.ask(sender, Method::DELETE, &path, None).await.map(drop)
    }

    /// The body of Chatwoot's answer, if it did what it was asked.
    async fn ask(
        &self,
        sender: &Sender,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Vec<u8>, ChatwootFault> {
        let url = format!("{}{path}", self.address);
        let header = Some((TOKEN, &self.token));
        let answer = sender.call(self.company, (method, &url), header, body, MOST_BYTES).await;
        match answer.map_err(ChatwootFault::Delivery)? {
            (200..=299, body) => Ok(body),
            (status @ 300..=399, _) => Err(ChatwootFault::Delivery(DeliveryFault::Redirect(status))),
            (401, _) => Err(ChatwootFault::TokenRefused),
            (403, _) => Err(ChatwootFault::NoAdministrator),
            (status, body) => Err(ChatwootFault::Refused { status, said: said(&body) }),
        }
    }
}

fn read<T: for<'a> Deserialize<'a>>(body: &[u8]) -> Result<T, ChatwootFault> {
    serde_json::from_slice(body).map_err(|_| ChatwootFault::NotChatwoot)
}

/// The origin that an inbox says to have, so that Chatwoot neither asks Meta about it nor closes it. Until 4.13 only an embedded
/// sign-up was left alone; later versions close exactly those whose token Meta does not know.
fn source(version: &str) -> &'static str {
    let mut numbers = version.trim_start_matches('v').split(['.', '-']).map(str::parse::<u32>);
    let mut next = || numbers.next().and_then(Result::ok);
    match (next(), next()) {
        (Some(major), Some(minor)) if (major, minor) < OPEN_TO_OTHERS => "embedded_signup",
        _ => "manual_setup_v2",
    }
}

/// Chatwoot's own words in a refusal.
fn said(body: &[u8]) -> String {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return String::new() };
    let words = ["message", "error", "errors"].into_iter().find_map(|name| match &body[name] {
        Value::String(text) => Some(text.clone()),
        Value::Array(all) => {
            let all: Vec<_> = all.iter().filter_map(Value::as_str).collect();
            (!all.is_empty()).then(|| all.join(", "))
        }
        _ => None,
    });
    words.unwrap_or_default().chars().filter(|letter| !letter.is_control()).take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(typed: &str) -> Result<String, DeliveryFault> {
        let chatwoot = Chatwoot::at(Uuid::nil(), typed, Secret::new("token".to_owned()))?;
        Ok(chatwoot.receiver("+5511988887777"))
    }

    #[test]
    fn an_address_may_be_what_a_browser_shows() {
        for typed in [
            "https://chat.example.com",
            " https://chat.example.com/ ",
            "https://chat.example.com/app/accounts/1/dashboard?x=1#y",
            "https://chat.example.com/app/login",
        ] {
            let receiver = "https://chat.example.com/webhooks/whatsapp/+5511988887777";
            assert_eq!(address(typed).as_deref(), Ok(receiver), "{typed}");
        }
        let below = "https://example.com/chat/webhooks/whatsapp/+5511988887777";
        assert_eq!(address("https://example.com/chat/app/accounts/1").as_deref(), Ok(below));
        assert_eq!(address("chat.example.com"), Err(DeliveryFault::Address));
        assert_eq!(address("ftp://chat.example.com"), Err(DeliveryFault::Scheme));
    }

    #[test]
    fn the_origin_of_an_inbox_follows_from_the_version() {
        for version in ["4.2.0", "v4.13.1", "3.16.0"] {
            assert_eq!(source(version), "embedded_signup", "{version}");
        }
        for version in ["4.14.0", "4.18.0-pre", "5.0.0", "develop", ""] {
            assert_eq!(source(version), "manual_setup_v2", "{version}");
        }
    }

    #[test]
    fn a_refusal_has_the_words_of_chatwoot() {
        assert_eq!(
            said(br#"{"message":"Provider config Invalid\u0007 Credentials"}"#),
            "Provider config Invalid Credentials"
        );
        assert_eq!(said(br#"{"errors":["a","b"]}"#), "a, b");
        assert_eq!(said(b"<html>"), "");
    }
}

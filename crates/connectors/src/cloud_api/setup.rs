//! Checks while a person connects a number: the end of the token, the numbers of the business account, and whether the
//! account's webhooks reach the app.

use reqwest::header::AUTHORIZATION;
use serde::Deserialize;

use super::lenient::{Text, fields};
use super::{CloudApi, answer, failure};
use crate::Error;
use clock::Timestamp;
use domain::provider::TokenEnd;
use domain::secret::Secret;

/// Numbers on one page of the provider's list.
const NUMBERS_PER_PAGE: &str = "100";
/// The maximum number of pages: an account has at most some dozens of numbers.
const NUMBER_PAGES: usize = 10;

#[derive(Deserialize)]
struct InspectedToken<'a> {
    #[serde(borrow)]
    data: TokenData<'a>,
}

fields! {
    TokenData {
        texts
            /// Unix seconds; 0 for a token without an end.
            expires_at;
    }
}

/// A page of a list of which only the ids count.
#[derive(Deserialize)]
struct ObjectIds<'a> {
    #[serde(borrow)]
    data: Vec<ObjectId<'a>>,
    #[serde(borrow)]
    paging: Option<PageLinks<'a>>,
}

fields! {
    ObjectId { texts id; }
}

/// The last page has cursors, too: only `next` says that there are more pages.
#[derive(Deserialize)]
struct PageLinks<'a> {
    #[serde(borrow, default)]
    next: Text<'a>,
    #[serde(borrow)]
    cursors: Option<PageCursor<'a>>,
}

fields! {
    PageCursor { texts after; }
}

impl CloudApi {
    /// When the token ends; unknown when the provider does not say.
    pub async fn token_end(&self, token: &Secret) -> TokenEnd {
        let asked = self.ask(self.token.clone(), &[("input_token", token.expose())]).await;
        asked.map_or(TokenEnd::Unknown, |bytes| token_end(&bytes))
    }

    /// Whether the number is one of the business account's.
    ///
    /// # Errors
    ///
    /// When the provider refuses the request or does not answer.
    pub async fn has_number(&self) -> Result<bool, Error> {
        let mut after = String::new();
        for _ in 0..NUMBER_PAGES {
            let mut query = vec![("fields", "id"), ("limit", NUMBERS_PER_PAGE)];
            if !after.is_empty() {
                query.push(("after", &after));
            }
            let page = self.ask(self.numbers.clone(), &query).await?;
            let page = read(&page)?;
            let wanted = Some(self.objects.phone_number_id.as_str());
            if page.data.iter().any(|number| number.id.get() == wanted) {
                return Ok(true);
            }
            let next =
                page.paging.filter(|paging| paging.next.get().is_some()).and_then(|paging| paging.cursors);
            match next.and_then(|place| place.after.get().map(str::to_owned)) {
                Some(next) => after = next,
                None => return Ok(false),
            }
        }
        Err(Error::NoAnswer(format!("more than {NUMBER_PAGES} pages of numbers")))
    }

    /// Whether the business account sends its webhooks to an app.
    ///
    /// # Errors
    ///
    /// When the provider refuses the request or does not answer.
    pub async fn is_subscribed(&self) -> Result<bool, Error> {
        Ok(!read(&self.ask(self.subscriptions.clone(), &[]).await?)?.data.is_empty())
    }

    /// Lets the business account send its webhooks to the app of the token.
    ///
    /// # Errors
    ///
    /// When the provider refuses the request or does not answer.
    pub async fn subscribe(&self) -> Result<(), Error> {
        let request =
            self.client.post(self.subscriptions.clone()).header(AUTHORIZATION, self.authorization.clone());
        let response = request.send().await.map_err(|error| Error::NoAnswer(failure(&error).sentence))?;
        answer::to_question(response, &self.objects).await.map(drop)
    }
}

fn token_end(bytes: &[u8]) -> TokenEnd {
    let inspected = serde_json::from_slice::<InspectedToken<'_>>(bytes).ok();
    match inspected.and_then(|inspected| inspected.data.expires_at.whole()) {
        Some(0) => TokenEnd::Never,
        Some(seconds) if seconds > 0 => TokenEnd::At(Timestamp::from_millis(seconds.saturating_mul(1_000))),
        _ => TokenEnd::Unknown,
    }
}

fn read(bytes: &[u8]) -> Result<ObjectIds<'_>, Error> {
    serde_json::from_slice(bytes).map_err(|error| Error::NoAnswer(format!("a list cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_token_is_read_in_every_form() {
        for (fields, expected) in [
            (r#""expires_at":0"#, TokenEnd::Never),
            (r#""expires_at":1700000000"#, TokenEnd::At(Timestamp::from_millis(1_700_000_000_000))),
            (r#""expires_at":"1700000000""#, TokenEnd::At(Timestamp::from_millis(1_700_000_000_000))),
            (r#""expires_at":-1"#, TokenEnd::Unknown),
            (r#""expires_at":null"#, TokenEnd::Unknown),
            (r#""is_valid":false"#, TokenEnd::Unknown),
        ] {
            assert_eq!(token_end(format!(r#"{{"data":{{{fields}}}}}"#).as_bytes()), expected, "{fields}");
        }
        for other in ["", "[]", "<html>", r#"{"data":[]}"#] {
            assert_eq!(token_end(other.as_bytes()), TokenEnd::Unknown, "{other}");
        }
    }

    #[test]
    fn ids_in_a_list_may_be_texts_or_numbers() {
        let page =
            read(br#"{"data":[{"id":"12"},{"id":13},{"name":"none"}],"paging":{"cursors":{"after":"x"}}}"#);
        let page = page.unwrap();
        let ids: Vec<_> = page.data.iter().map(|number| number.id.get()).collect();
        assert_eq!(ids, [Some("12"), Some("13"), None]);
        assert!(page.paging.is_some_and(|paging| paging.next.get().is_none()), "it is the last page");
        assert!(read(b"{}").is_err());
    }
}

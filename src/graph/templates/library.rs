//! The provider's library of templates, which belongs to no account: the provider answers, with the token of a business account
//! that the caller may use.

use std::sync::Arc;

use actix_web::HttpResponse;
use serde_json::Value;

use super::next;
use crate::domain::channel::{Channel, Kind, Status};
use crate::engine::graph::PassedAnswer;
use crate::graph::call::Call;
use crate::graph::passing::{answered, goes_on, with_token_of_channel};
use crate::graph::refusal::DoorRefusal;

/// Searches the library with the token of any business account of the caller.
pub(in crate::graph) async fn list(call: Call) -> Result<HttpResponse, DoorRefusal> {
    let channels = call.door().channels().await?;
    let channel = usable(&channels)?;
    call.check_proof(&channel).await?;
    search(&call, &channel).await
}

/// Searches the library with the token of this account.
pub(in crate::graph) async fn of_account(call: Call) -> Result<HttpResponse, DoorRefusal> {
    let account = call.account(call.path.at(0)).await?;
    let channel = usable(&account.channels)?;
    search(&call, &channel).await
}

/// A business account's channel whose token is most likely good.
fn usable(channels: &[Arc<Channel>]) -> Result<Arc<Channel>, DoorRefusal> {
    let business = || channels.iter().filter(|channel| channel.kind == Kind::BusinessAccount);
    let connected = business().find(|channel| channel.connection.status == Status::Connected);
    connected.or_else(|| business().next()).cloned().ok_or_else(|| {
        let details = "the library of templates is Meta's, for business accounts: web sessions have templates of their own, \
                       which POST /{account}/message_templates creates with `components`";
        DoorRefusal::because(100, details)
    })
}

async fn search(call: &Call, channel: &Channel) -> Result<HttpResponse, DoorRefusal> {
    let query = call.parameters().iter().filter(|(name, _)| goes_on(name));
    let query = query.map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let answer = call.door().library(channel, query).await?;
    let next_part = next_of(&answer.body).map(|after| next(call, &after));
    let answer = with_token_of_channel(answer)?;
    Ok(answered(match next_part {
        Some(address) => PassedAnswer { body: going_on(&answer.body, address), ..answer },
        None => answer,
    }))
}

/// The cursor of the next part, if the provider has one.
fn next_of(body: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let paging = &answer["paging"];
    paging["next"].as_str()?;
    paging["cursors"]["after"].as_str().map(str::to_owned)
}

/// The answer with the address of the next part here.
fn going_on(body: &[u8], address: String) -> Vec<u8> {
    let Ok(mut answer) = serde_json::from_slice::<Value>(body) else { return body.to_vec() };
    answer["paging"]["next"] = address.into();
    answer.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_part_is_here_and_the_last_one_has_none() {
        let last = br#"{"data":[],"paging":{"cursors":{"after":"x"}}}"#;
        assert_eq!((next_of(last), next_of(b"[]")), (None, None));
        let body = br#"{"data":[],"paging":{"cursors":{"after":"x"},"next":"https://graph.example?access_token=EAA1"}}"#;
        assert_eq!(next_of(body).as_deref(), Some("x"));
        let gone = going_on(last, "https://here.example?after=x".to_owned());
        assert_eq!(
            gone,
            br#"{"data":[],"paging":{"cursors":{"after":"x"},"next":"https://here.example?after=x"}}"#
        );
    }
}

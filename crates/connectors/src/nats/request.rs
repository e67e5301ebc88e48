//! Requests with several possible replies, notifications, and subscriptions.
//!
//! Everybody with a user at the server may publish anything, also replies: the caller has to find the reply that it
//! believes among those that come. A reply goes only to a subject for replies, so that nobody makes this service
//! publish elsewhere with its own rights.

use std::fmt;

use async_nats::{Client, StatusCode, Subject, Subscriber};
use futures_util::StreamExt as _;
use uuid::Uuid;

use super::Nats;

/// There is no connection, or the server does not take a message of this size: the message reached nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotConnected;

/// A message for a subscription.
#[derive(Debug)]
pub struct Heard {
    /// The last word of the subject.
    pub name: String,
    /// The content.
    pub body: Vec<u8>,
    /// Where a reply goes; `None` when none is expected, or when it would go elsewhere than to a caller.
    pub reply: Option<ReplyTo>,
}

/// Where the reply to a request goes.
pub struct ReplyTo {
    client: Client,
    subject: Subject,
}

/// A subscription; it ends when this is dropped.
#[derive(Debug)]
pub struct Subscription {
    client: Client,
    subscriber: Subscriber,
    /// The beginning of every subject for replies.
    answers: String,
}

/// The replies to a request, as they come.
#[derive(Debug)]
pub struct Replies(Subscriber);

/// A reply to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The server says that nobody subscribes to such requests.
    NoResponder,
    /// Somebody said this.
    Said(Vec<u8>),
}

impl Nats {
    /// Sends a request to the subscribers of this subject, below the base. The replies go to a subject of their own,
    /// also below the base: who may not read there sees no reply.
    pub async fn ask(&self, subject: &str, body: Vec<u8>) -> Result<Replies, NotConnected> {
        if !self.is_connected() {
            return Err(NotConnected);
        }
        let inbox = format!("{}{}", self.answers(), Uuid::from_u128(rand::random()).as_simple());
        let replies = self.client.subscribe(inbox.clone()).await.map_err(|_| NotConnected)?;
        let asked = self.client.publish_with_reply(format!("{}.{subject}", self.base), inbox, body.into());
        asked.await.map_err(|error| {
            tracing::debug!(%error, "a request to another node was not sent");
            NotConnected
        })?;
        Ok(Replies(replies))
    }

    /// The beginning of every subject for replies.
    fn answers(&self) -> String {
        format!("{}.answer.", self.base)
    }

    /// Sends a notification on this subject, below the base, to its subscribers. It may get lost.
    pub fn tell(&self, subject: &str, body: Vec<u8>) {
        if self.is_connected() {
            // If the queue is full, the notification is dropped, which is allowed.
            let _ = self.words.try_send((format!("{}.{subject}", self.base), body));
        }
    }

    /// Subscribes to this subject, below the base.
    ///
    /// # Errors
    ///
    /// [`NotConnected`] when the connection is closed permanently.
    pub async fn subscribe(&self, subject: &str) -> Result<Subscription, NotConnected> {
        let subscribing = self.client.subscribe(format!("{}.{subject}", self.base));
        match tokio::time::timeout(self.timeout, subscribing).await {
            Ok(Ok(subscriber)) => {
                Ok(Subscription { client: self.client.clone(), subscriber, answers: self.answers() })
            }
            Ok(Err(_)) | Err(_) => Err(NotConnected),
        }
    }
}

impl Replies {
    /// The next reply; `None` when the connection is closed permanently.
    pub async fn next(&mut self) -> Option<Reply> {
        let message = self.0.next().await?;
        let is_nobody = message.status == Some(StatusCode::NO_RESPONDERS);
        Some(if is_nobody { Reply::NoResponder } else { Reply::Said(message.payload.into()) })
    }
}

impl Subscription {
    /// Takes no further messages; those on their way still come, and then none.
    pub async fn drain(&mut self) {
        // It fails when the connection is closed permanently, and then nothing comes.
        let _ = self.subscriber.drain().await;
    }

    /// The next message; `None` when the connection is closed permanently.
    pub async fn next(&mut self) -> Option<Heard> {
        let async_nats::Message { subject, reply, payload, .. } = self.subscriber.next().await?;
        let name = subject.rsplit('.').next().unwrap_or_default().to_owned();
        let reply = reply.filter(|subject| subject.starts_with(&self.answers));
        let reply = reply.map(|subject| ReplyTo { client: self.client.clone(), subject });
        Some(Heard { name, body: payload.into(), reply })
    }
}

impl ReplyTo {
    /// Sends the reply. It is lost if there is no connection.
    ///
    /// # Errors
    ///
    /// [`NotConnected`] also when it is larger than the server takes.
    pub async fn give(&self, body: Vec<u8>) -> Result<(), NotConnected> {
        self.client.publish(self.subject.clone(), body.into()).await.map_err(|_| NotConnected)
    }
}

impl fmt::Debug for ReplyTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyTo").field("subject", &self.subject).finish_non_exhaustive()
    }
}

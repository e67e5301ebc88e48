//! The owner's side: which messages are believed, and how they are answered.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use uuid::Uuid;

use super::WAKE;
use super::envelope::{Answer, Envelope, MOST_BYTES, Refused, Said};
use super::fresh::{Epochs, Freshness, Judgement, Wakes};
use crate::carrier::{Incoming, Request};
use clock::Timestamp;
use connectors::nats::{Heard, ReplyTo, Subscription};
use vault::KeyId;

/// How long a subscription that nobody listens to any more waits for the messages that are on their way to it.
const LEAVING: Duration = Duration::from_secs(5);

/// The subscription to a shard, with what it remembers.
struct Owner {
    envelope: Envelope,
    shard: Uuid,
    tell: mpsc::Sender<Incoming>,
    epochs: Epochs,
    wakes: Wakes,
}

/// Where the answer to a question goes, and what it is sealed for.
struct Asker {
    envelope: Envelope,
    shard: Uuid,
    name: String,
    question: Uuid,
    key: KeyId,
    epoch: Uuid,
    reply: ReplyTo,
}

/// Passes messages of nodes on until nobody listens any more. Those that are on their way then are answered, so that
/// their senders ask the next owner at once.
pub(super) async fn hand_on(
    envelope: Envelope,
    shard: Uuid,
    mut heard: Subscription,
    tell: mpsc::Sender<Incoming>,
) {
    let epochs = Epochs::new(Instant::now());
    let mut owner = Owner { envelope, shard, tell: tell.clone(), epochs, wakes: Wakes::default() };
    loop {
        tokio::select! {
            next = heard.next() => match next {
                Some(next) => owner.take(next).await,
                None => return,
            },
            () = tell.closed() => break,
        }
    }
    let rest = async {
        heard.drain().await;
        while let Some(next) = heard.next().await {
            owner.take(next).await;
        }
    };
    // Without a connection nothing is on its way.
    let _ = timeout(LEAVING, rest).await;
}

impl Owner {
    async fn take(&mut self, Heard { name, body, reply }: Heard) {
        let taken = match reply {
            Some(reply) => self.take_question(name.clone(), &body, reply).await,
            None => self.take_wake(&name, &body),
        };
        if let Err(refused) = taken {
            self.envelope.note(refused, &name);
        }
    }

    /// A refused question gets no answer: only a node would be told anything.
    async fn take_question(&mut self, name: String, sealed: &[u8], reply: ReplyTo) -> Result<(), Refused> {
        let (question, key) = self.envelope.open_question(self.shard, &name, sealed)?;
        let judgement = self.epochs.judge(question.epoch, question.id, Instant::now());
        let asker = Asker {
            envelope: self.envelope.clone(),
            shard: self.shard,
            name: name.clone(),
            question: question.id,
            key,
            epoch: self.epochs.current(),
            reply,
        };
        match judgement {
            Judgement::Repeated => return Err(Refused::Repeated),
            _ if self.tell.is_closed() => asker.tell(Said::NotHere).await,
            Judgement::OtherEpoch => asker.tell(Said::OtherEpoch).await,
            Judgement::New => {
                let (answer, answered) = oneshot::channel();
                let request = Request { name, body: question.body, answer };
                match self.tell.try_send(Incoming::Request(request)) {
                    Ok(()) => {
                        tokio::spawn(async move {
                            asker.tell(answered.await.map_or(Said::Failed, Said::Body)).await;
                        });
                    }
                    Err(TrySendError::Full(_)) => asker.tell(Said::Failed).await,
                    Err(TrySendError::Closed(_)) => asker.tell(Said::NotHere).await,
                }
            }
        }
        Ok(())
    }

    fn take_wake(&mut self, name: &str, sealed: &[u8]) -> Result<(), Refused> {
        if name != WAKE {
            return Err(Refused::NotSealed);
        }
        let wake = self.envelope.open_wake(self.shard, sealed)?;
        match self.wakes.judge(wake, Timestamp::now()) {
            Freshness::New => {
                // A wake-up without room may get lost: those in front of it make the owner search.
                let _ = self.tell.try_send(Incoming::Wake);
                Ok(())
            }
            Freshness::Repeated => Err(Refused::Repeated),
            Freshness::Old => Err(Refused::Old),
        }
    }
}

impl Asker {
    /// Sends the answer. Without a connection the other node gets none, and its request times out.
    async fn tell(&self, said: Said) {
        let is_too_long = matches!(&said, Said::Body(body) if body.len() > MOST_BYTES);
        let said = if is_too_long { Said::Failed } else { said };
        if self.reply.give(self.sealed(said)).await.is_err() {
            // It may be longer than the server takes.
            let _ = self.reply.give(self.sealed(Said::Failed)).await;
        }
    }

    fn sealed(&self, said: Said) -> Vec<u8> {
        let answer = Answer { epoch: self.epoch, said };
        self.envelope.seal_answer((self.shard, &self.name), (self.question, self.key), &answer)
    }
}

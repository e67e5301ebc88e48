//! The questions of other nodes that this one answers, as the owner of a channel.

use std::sync::Arc;

use tokio::sync::Semaphore;
use uuid::Uuid;

use super::heard::TellHeard;
use crate::Engine;
use crate::accept::web_send::{AskNumbers, AskPicture, BeginWeb, DryRunWeb, SendWeb};
use crate::asking::{Question as _, busy, not_understood};
use crate::conversations::GiveSign;
use crate::sends::{AskLimits, AskSpeed, Glance};
use crate::web_session::{AnswerPasskey, AskPairing, Pair, Unlink};
use cluster::{Carrier, Incoming, Request};

/// The most requests of other nodes that are answered at once for each shard. Further ones wait, and then fail.
const AT_ONCE: usize = 256;
/// The most requests that this node answers at once for all of its shards, so that what other nodes ask leaves room for
/// what clients ask here. Further ones are answered [`Error::Unavailable`].
pub(super) const AT_ONCE_HERE: usize = 2_048;

impl Engine {
    /// Receives the carrier's messages for a shard that this node owns, until the task is aborted.
    pub(super) async fn attend(self, carrier: Arc<dyn Carrier>, shard: Uuid) {
        // The next round retries.
        let Ok(mut subscription) = carrier.subscribe(shard).await else { return };
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        while let Some(incoming) = subscription.next().await {
            match incoming {
                Incoming::Wake => self.0.nodes.look.notify_one(),
                Incoming::Request(request) => {
                    let Ok(turn) = Arc::clone(&turns).acquire_owned().await else { return };
                    let engine = self.clone();
                    // The request is answered even if the shard is given away meanwhile.
                    actix::spawn(async move {
                        let Request { name, body, answer } = request;
                        let here = Arc::clone(&engine.0.nodes.answering).try_acquire_owned();
                        let reply = match &here {
                            Ok(_) => answered(&engine, shard, &name, &body).await,
                            Err(_) => busy(),
                        };
                        if let Some(reply) = reply {
                            // The other node may have gone.
                            let _ = answer.send(reply);
                        }
                        drop(turn);
                    });
                }
            }
        }
    }
}

/// The answer to a request of another node; `None` when it cannot be written.
async fn answered(engine: &Engine, shard: Uuid, name: &str, body: &[u8]) -> Option<Vec<u8>> {
    match name {
        AskLimits::NAME => engine.answer::<AskLimits>(shard, body).await,
        Glance::NAME => engine.answer::<Glance>(shard, body).await,
        AskSpeed::NAME => engine.answer::<AskSpeed>(shard, body).await,
        AskPairing::NAME => engine.answer::<AskPairing>(shard, body).await,
        Pair::NAME => engine.answer::<Pair>(shard, body).await,
        Unlink::NAME => engine.answer::<Unlink>(shard, body).await,
        AnswerPasskey::NAME => engine.answer::<AnswerPasskey>(shard, body).await,
        SendWeb::NAME => engine.answer::<SendWeb>(shard, body).await,
        BeginWeb::NAME => engine.answer::<BeginWeb>(shard, body).await,
        DryRunWeb::NAME => engine.answer::<DryRunWeb>(shard, body).await,
        TellHeard::NAME => engine.answer::<TellHeard>(shard, body).await,
        AskNumbers::NAME => engine.answer::<AskNumbers>(shard, body).await,
        GiveSign::NAME => engine.answer::<GiveSign>(shard, body).await,
        AskPicture::NAME => engine.answer::<AskPicture>(shard, body).await,
        _ => not_understood(),
    }
}

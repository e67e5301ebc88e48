//! Receipts for channels that other nodes own: the owner is told by the carrier or, without one, by a note.
//!
//! The ledger has the receipts already. The owner is told so that it stops waiting: for the receipt of a message with
//! an unknown outcome, or for the answer to a canary.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::work::GATHERING;
use crate::asking::Owners;
use crate::asking::{Question, Within};
use crate::channel::Input;
use crate::notices::{Mark, Told, marked};
use crate::{Engine, Error};
use domain::channel::Channel;
use domain::message::{Key, State};

/// Receipts of these messages are durable.
#[derive(Serialize, Deserialize)]
pub(super) struct TellHeard {
    messages: Vec<Mark>,
}

#[async_trait(?Send)]
impl Question for TellHeard {
    const NAME: &'static str = "heard";
    const WITHIN: Within = Within::Glance;
    type Answer = ();

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<(), Error> {
        engine.directory().ask(channel.id, Input::Heard(marked(self.messages))).await;
        Ok(())
    }
}

/// Receipts to write in notes: webhooks that arrive together share a note.
#[derive(Debug, Default)]
pub(super) struct Unwritten {
    of_channels: Mutex<HashMap<Uuid, Vec<Mark>>>,
    /// Held during a write.
    turn: tokio::sync::Mutex<()>,
}

impl Unwritten {
    fn add(&self, channel: Uuid, marks: Vec<Mark>) {
        self.of_channels.lock().entry(channel).or_default().extend(marks);
    }

    fn take(&self) -> HashMap<Uuid, Vec<Mark>> {
        mem::take(&mut *self.of_channels.lock())
    }

    /// Puts back the receipts of a failed write, before newer ones.
    fn put_back(&self, left: impl IntoIterator<Item = (Uuid, Vec<Mark>)>) {
        let mut of_channels = self.of_channels.lock();
        for (channel, mut marks) in left {
            let later = of_channels.entry(channel).or_default();
            marks.append(later);
            *later = marks;
        }
    }
}

impl Owners<'_> {
    /// Tells the channel about receipts, on whichever node it runs. If no carrier reaches its owner, a note tells it,
    /// which is durable when this returns.
    pub(crate) async fn tell_heard(
        &self,
        channel_id: Uuid,
        messages: Vec<(Key, State)>,
    ) -> store::Result<()> {
        let cluster = &self.engine.0.shared.cluster;
        if cluster.is_alone() {
            self.engine.directory().ask(channel_id, Input::Heard(messages)).await;
            return Ok(());
        }
        let Some(channel) = self.engine.directory().find(channel_id).await? else { return Ok(()) };
        if cluster.owns(&channel) {
            self.engine.directory().ask(channel_id, Input::Heard(messages)).await;
            return Ok(());
        }
        let mark = |(key, state): (Key, State)| (key.send_id, key.ordinal, state.as_i16());
        let messages: Vec<_> = messages.into_iter().map(mark).collect();
        let carrier = cluster.carrier();
        let connected = carrier.filter(|carrier| carrier.link().is_none_or(|link| link.is_connected));
        let Some(carrier) = connected else { return self.note_heard(channel_id, messages).await };
        let engine = self.engine.clone();
        // The provider's webhook does not wait for the other node.
        actix::spawn(async move {
            let told = TellHeard { messages };
            if let Ok(Some(())) = engine.owners().ask_once(&*carrier, &channel, &told).await {
                return;
            }
            // The owner may have received it: a repetition does no harm.
            if let Err(error) = engine.owners().note_heard(channel.id, told.messages).await {
                tracing::warn!(channel.id = %channel.id, channel.name = %channel.name, %error, "cannot tell the owner of a channel about receipts");
            }
        });
        Ok(())
    }

    async fn note_heard(&self, channel_id: Uuid, marks: Vec<Mark>) -> store::Result<()> {
        self.engine.0.nodes.unwritten.add(channel_id, marks);
        // Other callers rely on this write: it goes on when this caller is gone.
        let engine = self.engine.clone();
        let written = actix::spawn(async move { engine.owners().write_heard().await });
        let cut_short = |_| Err(store::Error::Impossible("a note was cut short".to_owned()));
        written.await.unwrap_or_else(cut_short)
    }

    /// Writes the collected receipts; writes that others began are done when this returns.
    async fn write_heard(&self) -> store::Result<()> {
        let unwritten = &self.engine.0.nodes.unwritten;
        let _turn = unwritten.turn.lock().await;
        if unwritten.of_channels.lock().is_empty() {
            return Ok(());
        }
        tokio::time::sleep(GATHERING).await;
        let mut left = unwritten.take().into_iter();
        while let Some((channel_id, marks)) = left.next() {
            if let Err(error) = self.write_heard_of(channel_id, &marks).await {
                unwritten.put_back(std::iter::once((channel_id, marks)).chain(left));
                return Err(error);
            }
        }
        Ok(())
    }

    async fn write_heard_of(&self, channel_id: Uuid, marks: &[Mark]) -> store::Result<()> {
        let cluster = &self.engine.0.shared.cluster;
        let Some(channel) = self.engine.directory().find(channel_id).await? else { return Ok(()) };
        // A channel that runs nowhere reads the ledger when it starts.
        if !cluster.owns(&channel) && cluster.owner(&channel).await?.is_none() {
            return Ok(());
        }
        if self.tell(&channel, &Told::Heard(marks.to_vec())).await?.is_none() {
            self.engine.directory().ask(channel_id, Input::Heard(marked(marks.to_vec()))).await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_of_a_failed_write_come_before_newer_ones() {
        let (unwritten, [one, other]) = (Unwritten::default(), [1, 2].map(Uuid::from_u128));
        let mark = |ordinal| (Uuid::nil(), ordinal, 4);
        unwritten.add(one, vec![mark(0)]);
        unwritten.add(one, vec![mark(1)]);
        unwritten.add(other, vec![mark(7)]);
        let left = unwritten.take();
        assert!(unwritten.of_channels.lock().is_empty());
        unwritten.add(one, vec![mark(2)]);
        unwritten.put_back(left);
        let all = HashMap::from([(one, vec![mark(0), mark(1), mark(2)]), (other, vec![mark(7)])]);
        assert_eq!(unwritten.take(), all);
    }
}

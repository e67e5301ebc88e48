//! Sends whose commit may or may not have gone through.
//!
//! Their callers are answered when that is settled and not before: a send that was refused is never accepted later,
//! not even by a process that takes over. Settling goes on beside the commits, so that a backend that hangs with one
//! send holds up no other. It needs no lease: the database says which sends are there, and keeps the others out.

use std::collections::{HashMap, HashSet};

use actix::prelude::*;
use metrics::Gauge;
use uuid::Uuid;

use super::{Accepting, Activating, Error, Ledger, backing_off, tell_late};
use crate::clock::Timestamp;
use crate::store;

/// The most sends that are settled in one transaction.
const AT_ONCE: usize = 1_000;

/// Who waits until it is known whether a send is there.
pub(super) enum Doubtful {
    /// Nobody: the send is to be withdrawn.
    Abandoned,
    Accept(Accepting),
    Activate(Activating),
}

/// See the module.
pub(super) struct Doubts {
    sends: HashMap<Uuid, Doubtful>,
    is_settling: bool,
    failures: u32,
    figure: Gauge,
}

impl Doubts {
    pub(super) fn new() -> Self {
        let figure = metrics::gauge!("pombo_ledger_in_doubt");
        Self { sends: HashMap::new(), is_settling: false, failures: 0, figure }
    }

    pub(super) fn len(&self) -> usize {
        self.sends.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sends.is_empty()
    }

    pub(super) fn add(&mut self, send_id: Uuid, doubtful: Doubtful) {
        self.sends.insert(send_id, doubtful);
        self.show();
    }

    /// The send is in the store, or it never will be: whoever waits for that is told.
    fn settle(&mut self, send_id: Uuid, is_accepted: bool) {
        let Some(doubtful) = self.sends.remove(&send_id) else { return };
        match (doubtful, is_accepted) {
            (Doubtful::Abandoned, _) => {}
            (Doubtful::Accept(Accepting { send, channel, waiting }), true) => {
                if let Some(channel) = channel {
                    tell_late(&channel, send);
                }
                let _ = waiting.send(Ok(send_id));
            }
            (Doubtful::Activate(Activating { send, channel, waiting }), true) => {
                tell_late(&channel, send);
                let _ = waiting.send(Ok(()));
            }
            (Doubtful::Accept(Accepting { waiting, .. }), false) => {
                let _ = waiting.send(Err(Error::Unavailable));
            }
            (Doubtful::Activate(Activating { waiting, .. }), false) => {
                let _ = waiting.send(Err(Error::Unavailable));
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    fn show(&self) {
        self.figure.set(self.sends.len() as f64);
    }
}

impl Ledger {
    /// Settles what is in doubt, unless that is under way.
    pub(super) fn settle(&mut self, ctx: &mut Context<Self>) {
        if self.doubts.is_settling || self.doubts.is_empty() {
            return;
        }
        self.doubts.is_settling = true;
        let sends: Vec<_> = self.doubts.sends.keys().copied().take(AT_ONCE).collect();
        let (store, patience) = (self.store.clone(), self.patience);
        async move {
            let accepted = store.settle(&sends, Timestamp::now(), patience).await;
            (sends, accepted)
        }
        .into_actor(self)
        .map(|(sends, accepted), ledger, ctx| match accepted {
            Ok(accepted) => ledger.settled(&sends, &accepted, ctx),
            Err(error) => ledger.still_in_doubt(&error, ctx),
        })
        .spawn(ctx);
    }

    fn settled(&mut self, sends: &[Uuid], accepted: &HashSet<Uuid>, ctx: &mut Context<Self>) {
        for send_id in sends {
            self.doubts.settle(*send_id, accepted.contains(send_id));
        }
        self.doubts.show();
        let withdrawn = sends.len() - accepted.len();
        tracing::info!(accepted = accepted.len(), withdrawn, "settled which sends were accepted");
        self.doubts.is_settling = false;
        self.doubts.failures = 0;
        self.settle(ctx);
        // The end may wait for this.
        self.commit(ctx);
    }

    fn still_in_doubt(&mut self, error: &store::Error, ctx: &mut Context<Self>) {
        let doubts = &mut self.doubts;
        if doubts.failures == 0 {
            let sends = doubts.sends.len();
            tracing::error!(%error, sends, "cannot find out which sends were accepted, their callers wait");
        }
        doubts.failures += 1;
        ctx.run_later(backing_off(doubts.failures), |ledger, ctx| {
            ledger.doubts.is_settling = false;
            ledger.settle(ctx);
        });
    }
}

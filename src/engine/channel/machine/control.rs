//! What a channel's actor is told from outside while it runs.

use actix::prelude::*;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::ChannelActor;
use super::work::Leave;
use crate::clock::Timestamp;
use crate::domain::message::State;
use crate::domain::send::{self, Mark};

/// Let go of this send, which the store says is paused or over. Answered when no message of it starts any
/// more; of one that is over, when it is written besides that what was only reserved of it never started.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Release {
    pub(crate) send_id: Uuid,
    /// The state of a send that is over.
    pub(crate) over: Option<send::State>,
}

/// Look into the store: something there may go now.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Look;

/// The store holds these sends, each the oldest of its size that may go now. The channel looks there when it does not
/// know one of them for the second time: of one that ended just now, this may be said once.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Overlooked {
    pub(crate) direct: Option<Uuid>,
    pub(crate) bulk: Option<Uuid>,
}

/// The wall clock was set: look at every moment of it again.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct ClockWasSet;

/// The provider says of these templates whether they may be sent.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct TemplatesChanged(pub(crate) Vec<(i64, bool)>);

impl Handler<Release> for ChannelActor {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, Release { send_id, over }: Release, ctx: &mut Self::Context) -> Self::Result {
        match over {
            Some(send::State::Canceled) => self.end_errand(send_id, State::Canceled, None),
            Some(_) => self.end_errand(send_id, State::Expired, None),
            // A caller who waits may be told in time that it runs again.
            None => {
                if let Some(errand) = self.errand(send_id) {
                    errand.pause(true);
                }
            }
        }
        self.released(send_id);
        self.release(over.map_or(Leave::Held, Leave::Over), |work| work.id == send_id);
        if self.fetching {
            self.gone_meanwhile.insert(send_id);
        }
        let mark = self.final_mark(send_id, over);
        self.pump(ctx);
        Box::pin(async move {
            if let Some(written) = mark {
                // An actor that ends writes no more marks.
                let _ = written.await;
            }
        })
    }
}

impl ChannelActor {
    /// When the mark of a send that is over is written, if there is one to write.
    fn final_mark(&mut self, send_id: Uuid, over: Option<send::State>) -> Option<oneshot::Receiver<()>> {
        let leaves =
            self.lanes.work(send_id).is_some_and(|work| matches!(work.leaving(), Some(Leave::Over(_))));
        if over.is_none() || !leaves {
            return None;
        }
        let (waiting, written) = oneshot::channel();
        self.ending.entry(send_id).or_default().push(waiting);
        Some(written)
    }

    /// These marks are written.
    pub(super) fn tell_ended(&mut self, marks: &[Mark]) {
        if self.ending.is_empty() {
            return;
        }
        for mark in marks.iter().filter(|mark| mark.state.is_over()) {
            for waiting in self.ending.remove(&mark.send_id).into_iter().flatten() {
                let _ = waiting.send(());
            }
        }
    }
}

impl Handler<Look> for ChannelActor {
    type Result = ();

    fn handle(&mut self, _: Look, ctx: &mut Self::Context) {
        self.lanes.look_again();
        self.pump(ctx);
    }
}

impl Handler<Overlooked> for ChannelActor {
    type Result = ();

    fn handle(&mut self, Overlooked { direct, bulk }: Overlooked, ctx: &mut Self::Context) {
        // Without room for templates, the oldest send may be one of those that wait for it.
        if self.fetching || self.stopping.is_some() || !self.templates_may_go() {
            return;
        }
        let before = std::mem::replace(&mut self.reported, [direct, bulk]);
        let unknown = |send_id: &Uuid| {
            before.contains(&Some(*send_id)) && !self.lanes.holds(*send_id) && !self.broken.contains(send_id)
        };
        if [direct, bulk].iter().flatten().any(unknown) {
            self.lanes.look_again();
            self.pump(ctx);
        }
    }
}

impl Handler<ClockWasSet> for ChannelActor {
    type Result = ();

    fn handle(&mut self, _: ClockWasSet, ctx: &mut Self::Context) {
        // The first message that may not go says when the quota opens by the clock as it is now.
        self.templates_closed_until = None;
        self.look_at_any_time();
        self.next_look = None;
        self.lanes.look_again();
        self.lanes.look_at_parked(Timestamp::now());
        self.pump(ctx);
    }
}

impl Handler<TemplatesChanged> for ChannelActor {
    type Result = ();

    fn handle(&mut self, changed: TemplatesChanged, ctx: &mut Self::Context) {
        self.templates_changed(&changed.0);
        self.pump(ctx);
    }
}

//! What a channel's actor is told from outside while it runs.

use actix::prelude::*;
use uuid::Uuid;

use super::ChannelActor;
use super::work::Leave;
use crate::domain::message::State;
use crate::domain::send;

/// Let go of this send, which the store says is paused or over. Answered when no message of it starts any
/// more.
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

/// The provider says of these templates whether they may be sent.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct TemplatesChanged(pub(crate) Vec<(i64, bool)>);

impl Handler<Release> for ChannelActor {
    type Result = ();

    fn handle(&mut self, Release { send_id, over }: Release, ctx: &mut Self::Context) {
        if over.is_some() {
            self.end_errand(send_id, State::Canceled, None);
        }
        self.released(send_id, over);
        self.release(over.map_or(Leave::Held, Leave::Over), |work| work.id == send_id);
        if self.fetching {
            self.gone_meanwhile.insert(send_id);
        }
        self.pump(ctx);
    }
}

impl Handler<Look> for ChannelActor {
    type Result = ();

    fn handle(&mut self, _: Look, ctx: &mut Self::Context) {
        self.lanes.look_again();
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

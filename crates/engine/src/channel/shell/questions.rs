//! Questions of callers to a channel: some are answered at once, the others when the machine replies.

use std::rc::Rc;
use std::time::Duration;

use actix::prelude::*;

use super::connector::Connector;
use super::messages::{AskPace, Explain, LookAhead, MarkRead, Release, Stop};
use super::{Shell, moment};
use crate::Error;
use crate::channel::machine::{Admit, AdmitLookup, Answer, Input, Lookup, TooSoon};
use crate::handover::Admitted;
use domain::limit::Spent;

impl Handler<Release> for Shell {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, Release { send_id, over }: Release, ctx: &mut Self::Context) -> Self::Result {
        let done = self.ask(|caller| Input::Released { send_id, over, caller }, ctx);
        // A channel that ended writes no more marks.
        Box::pin(async move { drop(done.await) })
    }
}

impl Handler<Stop> for Shell {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: Stop, ctx: &mut Self::Context) -> Self::Result {
        let done = self.ask(Input::Stop, ctx);
        Box::pin(async move { drop(done.await) })
    }
}

impl Handler<Admit> for Shell {
    type Result = ResponseFuture<Result<Admitted, TooSoon>>;

    fn handle(&mut self, admit: Admit, ctx: &mut Self::Context) -> Self::Result {
        let told = self.ask(|caller| Input::Admit { admit, caller }, ctx);
        Box::pin(async move {
            let Ok(Answer::Admission(admission)) = told.await else { return Err(has_restarted()) };
            admission
        })
    }
}

impl Handler<AdmitLookup> for Shell {
    type Result = ResponseFuture<Result<Lookup, TooSoon>>;

    fn handle(&mut self, lookup: AdmitLookup, ctx: &mut Self::Context) -> Self::Result {
        let told = self.ask(|caller| Input::AdmitLookup { lookup, caller }, ctx);
        Box::pin(async move {
            let Ok(Answer::Lookup(admission)) = told.await else { return Err(has_restarted()) };
            admission
        })
    }
}

impl Handler<MarkRead> for Shell {
    type Result = ResponseFuture<Result<(), connectors::Error>>;

    fn handle(&mut self, MarkRead { message, is_typing }: MarkRead, _: &mut Self::Context) -> Self::Result {
        let connector = match &self.connector {
            Some(Connector::CloudApi(connector)) => Some(Rc::clone(connector)),
            Some(Connector::WebSession(_)) | None => None,
        };
        Box::pin(async move {
            match connector {
                Some(connector) => connector.mark_read(&message, is_typing).await,
                None => Err(connectors::Error::NoAnswer("the channel is being connected again".to_owned())),
            }
        })
    }
}

impl From<TooSoon> for Error {
    fn from(TooSoon { retry_after, sentence, spent }: TooSoon) -> Self {
        Self::TooSoon { retry_after, sentence, spent }
    }
}

/// The answer when the channel ended before it could give one.
fn has_restarted() -> TooSoon {
    const AGAIN: Duration = Duration::from_secs(1);
    TooSoon {
        retry_after: AGAIN,
        sentence: "the channel has just restarted: try again".to_owned(),
        spent: Spent::pause(AGAIN),
    }
}

impl Handler<Explain> for Shell {
    type Result = MessageResult<Explain>;

    fn handle(&mut self, _: Explain, _: &mut Self::Context) -> Self::Result {
        MessageResult(self.machine.explain(moment()))
    }
}

impl Handler<LookAhead> for Shell {
    type Result = MessageResult<LookAhead>;

    fn handle(&mut self, LookAhead(sends): LookAhead, _: &mut Self::Context) -> Self::Result {
        MessageResult(self.machine.look_ahead(sends, moment()))
    }
}

impl Handler<AskPace> for Shell {
    type Result = MessageResult<AskPace>;

    fn handle(&mut self, _: AskPace, _: &mut Self::Context) -> Self::Result {
        MessageResult(self.machine.pace(moment()))
    }
}

//! The shell of the accounts: one task that carries out the effects of their machines while the engine runs.
//!
//! It decides nothing. Channels pass their inputs to the machines directly; the shell brings in the clock, the store
//! and the provider.

mod timers;
mod work;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::future::Either;
use futures_util::stream::FuturesUnordered;

use self::timers::Timers;
use crate::Engine;
use crate::account::machine::{Effect, Input, Unread};
use crate::channel;
use crate::machine::Moment;
use clock::Timestamp;
use connectors::cloud_api::Connections;
use domain::channel::Channel;

/// Both clocks as they are now.
fn moment() -> Moment {
    Moment { monotonic: Instant::now(), wall: Timestamp::now() }
}

impl Engine {
    /// The templates of the channel's account may have changed.
    pub(crate) fn list_templates_soon(&self, channel: &Channel) {
        self.0.shared.accounts.want_templates(channel, Duration::ZERO, moment());
    }

    /// The wall clock was set back: nobody was written to later than now.
    pub(crate) fn tell_accounts_of_clock(&self) {
        self.0.shared.accounts.clock_went_back(moment());
    }
}

/// Carries out the effects of all accounts.
pub(crate) async fn keep(engine: Engine, connections: Connections) {
    let (mut timers, mut running) = (Timers::default(), FuturesUnordered::new());
    let accounts = &engine.0.shared.accounts;
    loop {
        for (account, effect) in accounts.take_effects() {
            match effect {
                Effect::Tell { channel, update } => {
                    engine.directory().tell(channel, channel::Input::Account(update));
                }
                Effect::WakeAt(at) => timers.set(account, at),
                Effect::ListTemplates { company, through } => {
                    let (shared, connections) = (Arc::clone(&engine.0.shared), connections.clone());
                    let waba_id = Arc::clone(&account);
                    // A task of its own: a panic in it is a failure like others.
                    let listing = actix::spawn(async move {
                        work::list(&shared, connections, (company, &*waba_id), through).await
                    });
                    let ended = async move {
                        let is_success = listing.await.unwrap_or(false);
                        if is_success {
                            accounts.note_listing(company, &account, Timestamp::now());
                        }
                        (account, Input::TemplatesListed { company, is_success })
                    };
                    running.push(Either::Left(ended));
                }
                Effect::ReadPeople { span } => {
                    let (shared, waba_id) = (Arc::clone(&engine.0.shared), Arc::clone(&account));
                    let reading =
                        actix::spawn(async move { work::read_people(&shared, &waba_id, span).await });
                    let ended = async move {
                        let result = reading.await.unwrap_or(Err(Unread));
                        (account, Input::PeopleRead { span, result })
                    };
                    running.push(Either::Right(ended));
                }
                Effect::End => {
                    timers.cancel(&account);
                    accounts.forget(&account);
                }
                // These are carried out where the input came from.
                Effect::Answer(_) | Effect::Publish(_) => {}
            }
        }
        let next = timers.next();
        let due = async move {
            match next {
                Some(at) => actix::clock::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some((account, input)) = running.next() => drop(accounts.feed(&account, input, moment())),
            () = accounts.wait() => {}
            () = due => {
                let at = moment();
                for account in timers.due(at.monotonic) {
                    accounts.feed(&account, Input::Timer, at);
                }
            }
        }
    }
}

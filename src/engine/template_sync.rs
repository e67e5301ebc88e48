//! Keeping the templates of business accounts as the provider has them.
//!
//! One task lists them for all accounts, each on one [schedule], however many channels it has, however often these are
//! connected, and whoever says that templates changed. A listing goes through a connected channel of its account. All
//! of them take turns, so that the provider's budget for such questions (200 an hour, 5,000 with a registered number)
//! is hardly touched. While the provider is away, what is known stays.

mod accounts;
mod schedule;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Notify;
use uuid::Uuid;

use self::accounts::{Account, Accounts, Next};
use super::channel;
use super::shared::Shared;
use crate::clock::Timestamp;
use crate::connector::Error;
use crate::connector::cloud_api::Connections;
use crate::domain::channel::Channel;
use crate::store;

/// See the module.
pub(crate) struct TemplateSync {
    accounts: Mutex<Accounts>,
    changed: Notify,
}

impl TemplateSync {
    /// A listing for each account in each `interval`; none but those that are wanted when that is zero.
    pub(crate) fn new(interval: Duration) -> Self {
        Self { accounts: Mutex::new(Accounts::new(interval)), changed: Notify::new() }
    }

    /// The templates of the channel's account can be listed through it from now on, or cannot any more.
    pub(crate) fn follow(&self, channel: &Channel, is_connected: bool) {
        if let Some(account) = account(channel) {
            self.accounts().follow(account, channel.id, is_connected, Instant::now());
            self.changed.notify_one();
        }
    }

    /// The templates of the channel's account may have changed, or will have `after` this.
    pub(crate) fn want(&self, channel: &Channel, after: Duration) {
        if let Some(account) = account(channel) {
            self.accounts().want(account, after, Instant::now());
            self.changed.notify_one();
        }
    }

    fn accounts(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn account(channel: &Channel) -> Option<Account> {
    Some((channel.company_id, channel.waba_id.clone()?))
}

/// Lists templates whenever it is due, for as long as the engine runs.
pub(super) async fn keep(shared: Arc<Shared>, connections: Connections) {
    let mut running = FuturesUnordered::new();
    loop {
        let Next { begin, at } = shared.template_sync.accounts().begin(Instant::now());
        for (account, channel) in begin {
            let (shared, connections) = (Arc::clone(&shared), connections.clone());
            let asked = account.clone();
            // A task of its own: should it panic, that is a failure like others.
            let listing = actix::spawn(async move { list(&shared, connections, &asked, channel).await });
            running.push(async move { (account, listing.await.unwrap_or(false)) });
        }
        let due = async {
            match at {
                Some(at) => actix::clock::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some((account, is_success)) = running.next() => {
                shared.template_sync.accounts().end(&account, is_success, Instant::now());
            }
            () = shared.template_sync.changed.notified() => {}
            () = due => {}
        }
    }
}

/// Lists an account's templates through a channel and stores them. Whether that succeeded; if not, the log says why.
async fn list(shared: &Arc<Shared>, connections: Connections, account: &Account, channel: Uuid) -> bool {
    actix::clock::sleep(shared.questions.turn(Instant::now())).await;
    // Boxed, so that thousands that wait for their turn are small.
    match Box::pin(try_list(shared, connections, account, channel)).await {
        Ok(count) => {
            tracing::debug!(channel.id = %channel, templates = count, "the templates are up to date");
            true
        }
        Err(error) => {
            tracing::warn!(channel.id = %channel, %error, "the templates cannot be listed, those known stay");
            false
        }
    }
}

/// Why templates were not listed.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Provider(#[from] Error),
    #[error("{0}")]
    Channel(String),
}

async fn try_list(
    shared: &Arc<Shared>,
    connections: Connections,
    account: &Account,
    channel: Uuid,
) -> Result<usize, Failed> {
    let store = shared.store.clone();
    let reading = shared.reader.read(async move {
        Ok::<_, store::Error>((store.find_channel(channel).await?, store.channel_secrets(channel).await?))
    });
    let (Some(record), sealed) = reading.await? else {
        return Err(Failed::Channel("the channel is gone".to_owned()));
    };
    let (connector, _) = channel::connector(shared, &record, connections, sealed).map_err(Failed::Channel)?;
    // What a webhook says meanwhile is newer than the list.
    let as_of = Timestamp::now();
    let listed = connector.templates().await?;
    shared.store.sync_templates_as_of(account.0, &account.1, &listed, as_of).await?;
    Ok(listed.len())
}

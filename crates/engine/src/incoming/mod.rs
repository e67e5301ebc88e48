//! Fetches the files that people send, once each, while the provider has them.
//!
//! A file is queued with its message, in the database: what a process that is killed was fetching is fetched by the next one.
//! Files of business accounts are fetched by the node that does the housekeeping, with the channel's token; files of web
//! sessions by the node on which the session runs, because only the session can ask for them. Companies have fair shares of
//! the permits. What arrives is bounded, compared with the digest that its sender gave, recognised by its content, shown to
//! the scanner, and only then kept. Contents that nobody needs any more are deleted here, too.

mod attempt;
mod fetch;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use uuid::Uuid;

use self::attempt::Obstacle;
use self::fetch::FileSource;
use crate::channel;
use crate::rounds::caught;
use crate::shared::Shared;
use clock::Timestamp;
use connectors::cloud_api::{Connections, FileHosts};
use connectors::fair_semaphore::FairSemaphore;
use connectors::scanner::Scanner;
use domain::channel::{Channel, Kind};
use domain::inbound::MissingFile;
use store::Lease;
use store::inbound_files::QueuedFile;

/// How often files to be fetched are looked for.
const INTERVAL: Duration = Duration::from_secs(1);
/// The same while there are more than can be begun at once.
const BUSY_INTERVAL: Duration = Duration::from_millis(100);
/// Files that are fetched at once. Each may take the length of a file on disk, and of a web session in memory, which is
/// bounded by `media.memory`.
const AT_ONCE: usize = 16;
/// The files that are fetched or wait for a permit: of all companies, and of one.
const MOST_UNDER_WAY: usize = 256;
const MOST_OF_COMPANY: usize = 16;
/// The channels that one step looks at.
const CHANNELS: u32 = 200;
/// The leaving files that one round looks at, and the pause after the store of files failed to delete one.
const LEAVING: u32 = 50;
const LEAVING_PAUSE: Duration = Duration::from_secs(60);
/// When a channel that cannot be used now is tried again.
const UNUSABLE_PAUSE: Duration = Duration::from_secs(60);

/// What fetches files.
pub(crate) struct IncomingFiles {
    shared: Arc<Shared>,
    lease: Arc<Lease>,
    connections: Connections,
    hosts: FileHosts,
    options: Arc<config::Media>,
    scanner: Option<Arc<Scanner>>,
    permits: Arc<FairSemaphore>,
    under_way: Arc<UnderWay>,
    /// When leaving files are looked at again.
    leaving_after: Instant,
}

/// The files that are fetched or wait for a permit, with their companies.
#[derive(Default)]
struct UnderWay(Mutex<HashMap<Uuid, Uuid>>);

/// A place among them, left when this is dropped.
struct FetchPlace {
    under_way: Arc<UnderWay>,
    message: Uuid,
}

impl Drop for FetchPlace {
    fn drop(&mut self) {
        self.under_way.0.lock().remove(&self.message);
    }
}

impl UnderWay {
    fn is_full(&self) -> bool {
        self.0.lock().len() >= MOST_UNDER_WAY
    }

    fn has(&self, message: Uuid) -> bool {
        self.0.lock().contains_key(&message)
    }

    /// A place for this file, unless its company has too many.
    fn enter(self: &Arc<Self>, file: &QueuedFile) -> Option<FetchPlace> {
        let mut places = self.0.lock();
        let of_company = places.values().filter(|company| **company == file.company_id).count();
        if places.len() >= MOST_UNDER_WAY || of_company >= MOST_OF_COMPANY {
            return None;
        }
        places.insert(file.message_id, file.company_id);
        Some(FetchPlace { under_way: Arc::clone(self), message: file.message_id })
    }
}

/// Whether a channel's files can be fetched here and now.
enum FetchWay {
    /// They can.
    Open(FileSource),
    /// Another node fetches them, or the session is not connected.
    Elsewhere,
    /// Not before something is mended.
    Unusable,
    /// The channel is gone.
    Gone,
}

impl IncomingFiles {
    pub(crate) fn new(
        shared: Arc<Shared>,
        lease: Arc<Lease>,
        connections: Connections,
        hosts: FileHosts,
        options: &config::Media,
    ) -> Self {
        Self {
            shared,
            lease,
            connections,
            hosts,
            options: Arc::new(options.clone()),
            scanner: Scanner::new(options).map(Arc::new),
            permits: FairSemaphore::new(AT_ONCE),
            under_way: Arc::default(),
            leaving_after: Instant::now(),
        }
    }

    /// Begins to fetch what is due, and deletes what is not needed any more. Returns when to look again.
    pub(crate) async fn round(&mut self) -> Duration {
        if self.shared.stopping.load(Ordering::Relaxed) {
            return INTERVAL;
        }
        let is_more = self.begin_due().await.unwrap_or_else(|error| {
            tracing::debug!(%error, "cannot look for files that people sent");
            false
        });
        if self.shared.cluster.keeps_house() {
            self.count_waiting().await;
            if Instant::now() >= self.leaving_after {
                match self.delete_leaving().await {
                    Ok(true) => return BUSY_INTERVAL,
                    Ok(false) => {}
                    Err(error) => tracing::debug!(%error, "cannot look for files that leave"),
                }
            }
        }
        if is_more { BUSY_INTERVAL } else { INTERVAL }
    }

    async fn count_waiting(&self) {
        if let Ok(waiting) = self.shared.store.inbound_files().count_waiting().await {
            metrics::gauge!("pombo_incoming_files_waiting").set(waiting as f64);
        }
    }

    /// Begins to fetch files that are due. Returns whether some of them had no place.
    async fn begin_due(&self) -> store::Result<bool> {
        let (now, mut after, mut is_more) = (Timestamp::now(), Uuid::nil(), false);
        loop {
            let files = self.shared.store.inbound_files();
            let channels = files.waiting_channels(now, after, CHANNELS).await?;
            for channel in &channels {
                after = *channel;
                if self.under_way.is_full() {
                    return Ok(true);
                }
                is_more |= self.begin_of_channel(*channel, now).await?;
            }
            if channels.len() < CHANNELS as usize {
                return Ok(is_more);
            }
        }
    }

    async fn begin_of_channel(&self, channel: Uuid, now: Timestamp) -> store::Result<bool> {
        let files = self.shared.store.inbound_files();
        let way = self.way(channel).await?;
        if matches!(way, FetchWay::Elsewhere) {
            return Ok(false);
        }
        // Those that are under way are among them.
        let most = 2 * MOST_OF_COMPANY;
        let found = files.waiting(channel, now, most.try_into().unwrap_or(u32::MAX)).await?;
        let mut is_more = false;
        for file in found.into_iter().filter(|file| !self.under_way.has(file.message_id)) {
            match &way {
                FetchWay::Open(source) => match self.under_way.enter(&file) {
                    Some(place) => self.begin(file, source.clone(), place),
                    None => is_more = true,
                },
                FetchWay::Unusable => {
                    files.put_off(file.message_id, now.plus(UNUSABLE_PAUSE), None, false).await?;
                }
                FetchWay::Gone => files.give_up(file.message_id, MissingFile::Gone).await?,
                FetchWay::Elsewhere => {}
            }
        }
        Ok(is_more)
    }

    /// How files of a channel are fetched here.
    async fn way(&self, id: Uuid) -> store::Result<FetchWay> {
        let shared = &self.shared;
        let session = shared.handles.of(id).session();
        if let Some(session) = session {
            let is_usable = session.figures().is_logged_in;
            return Ok(if is_usable {
                FetchWay::Open(FileSource::Web(session))
            } else {
                FetchWay::Elsewhere
            });
        }
        if !shared.cluster.keeps_house() {
            return Ok(FetchWay::Elsewhere);
        }
        let Some(channel) = shared.store.channels().find(id).await? else { return Ok(FetchWay::Gone) };
        match channel.kind {
            Kind::BusinessAccount => self.business_way(&channel).await,
            Kind::WebSession => Ok(FetchWay::Elsewhere),
        }
    }

    async fn business_way(&self, channel: &Channel) -> store::Result<FetchWay> {
        let sealed = self.shared.store.channels().secrets(channel.id).await?;
        match channel::connector(&self.shared, channel, self.connections.clone(), sealed) {
            Ok((connector, _)) => Ok(FetchWay::Open(FileSource::Business(Arc::new(connector)))),
            Err(unconnected) => {
                let why = unconnected.sentence();
                tracing::debug!(channel.id = %channel.id, channel.name = %channel.name, why, "files of a channel cannot be fetched now");
                Ok(FetchWay::Unusable)
            }
        }
    }

    /// Fetches a file in a task of its own.
    fn begin(&self, file: QueuedFile, source: FileSource, place: FetchPlace) {
        let fetching = self.attempt(file);
        let permits = Arc::clone(&self.permits);
        let company = fetching.file.company_id;
        actix::spawn(async move {
            let _place = place;
            let _permit = permits.acquire(company, 1).await;
            let made = caught("incoming files", Box::pin(fetching.make(&source))).await;
            let made = made.unwrap_or(Err(Obstacle::Again(None)));
            fetching.settle(made).await;
        });
    }

    /// Deletes contents that nobody needs any more. Returns whether there may be more.
    async fn delete_leaving(&mut self) -> store::Result<bool> {
        let files = self.shared.store.inbound_files();
        let (leaving, more) = files.claim_leaving(&self.lease, Timestamp::now(), LEAVING).await?;
        for file in leaving {
            match self.shared.media.files().delete(file.company_id, &file.digest).await {
                Ok(()) => files.forget(file.message_id).await?,
                Err(fault) => {
                    tracing::warn!(%fault, "a file that a person sent cannot be deleted yet");
                    self.leaving_after = Instant::now() + LEAVING_PAUSE;
                    return Ok(false);
                }
            }
        }
        Ok(more)
    }
}

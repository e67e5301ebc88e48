//! Keeps a shell for each enabled endpoint, as long as this process is the one that delivers.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc, watch};
use tokio::time::timeout;
use uuid::Uuid;

use super::context::DeliveryContext;
use super::open::OpenEndpoint;
use super::shell::{self, KeeperLink, Wanted};
use crate::rounds::caught;
use cluster::Cluster;
use domain::webhook::{GraphReach, Settings};
use store::webhooks::{EndpointRecord, EndpointSecrets, IdleEndpoints};

/// How often changes of endpoints by other processes are looked for. A shell that ended is not started again sooner.
const LOOK: Duration = Duration::from_secs(1);
/// How often all endpoints are read without a change that people made: shells may disable endpoints, and secrets may be
/// sealed with another key.
const LIST: Duration = Duration::from_secs(30);

pub(super) struct Keeper {
    context: Arc<DeliveryContext>,
    cluster: Cluster,
    lease_lost: watch::Receiver<bool>,
    shells: HashMap<Uuid, ShellHandle>,
    /// What the last shells of endpoints knew of [`EndpointRecord::mended`], for those that follow.
    mended: HashMap<Uuid, i64>,
    /// The endpoints whose shells ended.
    ended: mpsc::UnboundedReceiver<Uuid>,
    tell_end: mpsc::UnboundedSender<Uuid>,
    /// When the endpoints were read, and the counter of people's changes then.
    listed: Option<(i64, Instant)>,
    idle: IdleEndpoints,
    /// Endpoints whose secrets cannot be unsealed, which was logged.
    unopened: HashSet<Uuid>,
    /// Whether it was logged that endpoints cannot be read.
    is_failing: bool,
}

/// A shell that runs.
struct ShellHandle {
    /// What it was given last.
    settings: Settings,
    reach: GraphReach,
    secrets: EndpointSecrets,
    /// The replay with which it was started.
    replay: Option<Uuid>,
    /// How often a person had enabled the endpoint, or given it another address, when the shell was started.
    resumed: i64,
    /// How often there was a sign that the receiver works again, as far as the shell knows.
    mended: i64,
    wanted: watch::Sender<Wanted>,
    told_mended: Arc<Notify>,
    is_failing: Arc<AtomicBool>,
}

impl ShellHandle {
    /// Whether the shell needs to hear nothing of this record. One that ends does not: another shell is started later.
    fn is_up_to_date(&self, record: &EndpointRecord) -> bool {
        self.wanted.borrow().is_none()
            || self.settings == record.endpoint.settings
                && self.reach == record.reach
                && self.secrets == record.secrets
                && self.continues(record)
    }

    /// Whether the shell may go on with this record, and not another one that begins with what is stored.
    fn continues(&self, record: &EndpointRecord) -> bool {
        self.replay == record.replay && self.resumed == record.resumed
    }

    /// Tells the shell of a sign that the receiver works again. Another shell that takes its place is told at its start.
    fn tell_mended(&mut self, record: &EndpointRecord) {
        if self.continues(record) && std::mem::replace(&mut self.mended, record.mended) != record.mended {
            self.told_mended.notify_one();
        }
    }

    fn change(&mut self, record: EndpointRecord, endpoint: OpenEndpoint) {
        self.settings = record.endpoint.settings;
        self.reach = record.reach;
        self.secrets = record.secrets;
        self.wanted.send_replace(Some(Arc::new(endpoint)));
    }

    fn end(&self) {
        self.wanted.send_if_modified(|wanted| wanted.take().is_some());
    }
}

/// Tells the keeper of the end of a shell, however it ends.
struct EndNotice {
    id: Uuid,
    tell: mpsc::UnboundedSender<Uuid>,
    context: Arc<DeliveryContext>,
}

impl Drop for EndNotice {
    fn drop(&mut self) {
        // The keeper may have ended with the thread.
        let _ = self.tell.send(self.id);
        self.context.shell_ended();
    }
}

impl Keeper {
    pub(super) fn new(
        context: Arc<DeliveryContext>,
        cluster: Cluster,
        lease_lost: watch::Receiver<bool>,
    ) -> Self {
        let (tell_end, ended) = mpsc::unbounded_channel();
        Self {
            context,
            cluster,
            lease_lost,
            shells: HashMap::new(),
            mended: HashMap::new(),
            ended,
            tell_end,
            listed: None,
            idle: IdleEndpoints::default(),
            unopened: HashSet::new(),
            is_failing: false,
        }
    }

    /// Starts and ends shells, and waits for changes. Returns the pause before the next round.
    pub(super) async fn round(&mut self) -> Duration {
        while let Ok(id) = self.ended.try_recv() {
            if let Some(shell) = self.shells.remove(&id) {
                self.mended.insert(id, shell.mended);
            }
            self.listed = None;
        }
        if self.delivers() {
            match self.look().await {
                Ok(()) => self.is_failing = false,
                Err(error) if std::mem::replace(&mut self.is_failing, true) => {
                    tracing::debug!(%error, "webhooks still cannot be read");
                }
                Err(error) => tracing::warn!(%error, "webhooks cannot be read, those that are known go on"),
            }
        } else {
            self.shells.values().for_each(ShellHandle::end);
            (self.listed, self.idle) = (None, IdleEndpoints::default());
            self.unopened.clear();
        }
        self.show();
        let _ = timeout(LOOK, self.context.changed.notified()).await;
        Duration::ZERO
    }

    /// Whether this process delivers now. If not, another one may.
    fn delivers(&self) -> bool {
        !self.context.is_stopping() && self.cluster.keeps_house() && !*self.lease_lost.borrow()
    }

    /// Reads the endpoints if they may have changed.
    async fn look(&mut self) -> store::Result<()> {
        let store = &self.context.store;
        let revision = store.revisions().await?.webhook;
        if self.listed.is_some_and(|(seen, at)| seen == revision && at.elapsed() < LIST) {
            return Ok(());
        }
        let (at, enabled) = (Instant::now(), store.webhooks().enabled().await?);
        self.idle = store.webhooks().idle().await?;
        self.listed = Some((revision, at));
        // The reading may have taken long.
        if self.delivers() {
            self.take_up(enabled);
        }
        Ok(())
    }

    /// Gives each enabled endpoint a shell that knows it as it is, and ends the others.
    fn take_up(&mut self, records: Vec<EndpointRecord>) {
        let enabled: HashSet<_> = records.iter().map(|record| record.endpoint.id).collect();
        for (_, shell) in self.shells.iter().filter(|(id, _)| !enabled.contains(*id)) {
            shell.end();
        }
        self.unopened.retain(|id| enabled.contains(id));
        self.mended.retain(|id, _| enabled.contains(id));
        for record in records {
            let id = record.endpoint.id;
            if let Some(shell) = self.shells.get_mut(&id) {
                shell.tell_mended(&record);
            }
            if self.shells.get(&id).is_some_and(|shell| shell.is_up_to_date(&record)) {
                continue;
            }
            let opened = self.open(&record);
            match self.shells.get_mut(&id) {
                Some(shell) => match opened {
                    // Another shell begins with what is stored.
                    Some(_) if !shell.continues(&record) => shell.end(),
                    Some(endpoint) => shell.change(record, endpoint),
                    None => shell.end(),
                },
                None => {
                    if let Some(endpoint) = opened {
                        self.start(record, endpoint);
                    }
                }
            }
        }
    }

    /// The endpoint with its secrets; `None` if they cannot be unsealed.
    fn open(&mut self, record: &EndpointRecord) -> Option<OpenEndpoint> {
        let id = record.endpoint.id;
        match OpenEndpoint::new(&self.context.vault, record) {
            Ok(endpoint) => {
                self.unopened.remove(&id);
                Some(endpoint)
            }
            Err(error) => {
                if self.unopened.insert(id) {
                    tracing::error!(
                        webhook.id = %id, company.id = %record.endpoint.company_id, %error,
                        "the secrets of a webhook cannot be unsealed, its events wait: restore the sealing key, or replace the secret and the headers"
                    );
                }
                None
            }
        }
    }

    fn start(&mut self, record: EndpointRecord, endpoint: OpenEndpoint) {
        let (id, endpoint) = (endpoint.id, Arc::new(endpoint));
        let (wanted, told) = watch::channel(Some(Arc::clone(&endpoint)));
        let (context, is_failing) = (Arc::clone(&self.context), Arc::<AtomicBool>::default());
        let told_mended = Arc::new(Notify::new());
        if self.mended.remove(&id).is_some_and(|known| known != record.mended) {
            told_mended.notify_one();
        }
        let notice = EndNotice { id, tell: self.tell_end.clone(), context: Arc::clone(&self.context) };
        context.shell_started();
        let link = KeeperLink {
            wanted: told,
            mended: Arc::clone(&told_mended),
            is_failing: Arc::clone(&is_failing),
            resumed: record.resumed,
        };
        let shell = shell::run(context, endpoint, link);
        actix::spawn(async move {
            let _notice = notice;
            let _ = caught("webhook", shell).await;
        });
        let EndpointRecord { endpoint, secrets, replay, resumed, mended, reach } = record;
        let settings = endpoint.settings;
        let handle = ShellHandle {
            settings,
            reach,
            secrets,
            replay,
            resumed,
            mended,
            wanted,
            told_mended,
            is_failing,
        };
        self.shells.insert(id, handle);
    }

    /// Shows the endpoints that this process delivers to.
    fn show(&self) {
        let is_failing = |shell: &&ShellHandle| shell.is_failing.load(Ordering::Relaxed);
        let failing = self.shells.values().filter(is_failing).count();
        let working = self.shells.len() - failing;
        metrics::gauge!("pombo_webhook_endpoints", "state" => "working").set(figure(working as u64));
        metrics::gauge!("pombo_webhook_endpoints", "state" => "failing").set(figure(failing as u64));
        let IdleEndpoints { disabled, stopped } = self.idle;
        metrics::gauge!("pombo_webhook_endpoints", "state" => "disabled").set(figure(disabled));
        metrics::gauge!("pombo_webhook_endpoints", "state" => "stopped").set(figure(stopped));
        let unsealable = self.unopened.len() as u64;
        metrics::gauge!("pombo_webhook_endpoints", "state" => "unsealable").set(figure(unsealable));
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
const fn figure(count: u64) -> f64 {
    count as f64
}

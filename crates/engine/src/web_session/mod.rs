//! Web sessions: one [`supervisor`] for each channel with a linked phone, or one that is being linked.
//!
//! Only the process that has the lease opens sessions, one after the other. The store has each channel's state; the
//! progress of a pairing is in memory.

mod passkey;
mod questions;
mod records;
mod supervisor;
mod updates;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix::ArbiterHandle;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;
use uuid::Uuid;

pub(crate) use self::questions::{AnswerPasskey, AskPairing, Pair, Unlink};
pub use self::records::SessionRecords;
use self::supervisor::{Command, Supervisor};
use self::updates::UpdateSender;
#[cfg(any(test, feature = "universe"))]
pub(super) use self::updates::heard;
pub(super) use self::updates::session_updates;
use super::handover::SessionHandles;
use super::pacer::Pacer;
use super::rounds::caught;
use super::{Engine, Error, RETRY_AFTER};
pub(super) use ::machines::web_session as machine;
pub(super) use ::machines::web_session::waits_for_a_person;
pub use ::machines::web_session::{Pairing, Passkey, PasskeyAnswer, Shown, Stage};
use domain::channel::Channel;
use domain::error::{Code, Refusal};
use domain::phone::PhoneNumber;
use driver::{Driver, Session};
use store::Store;
use vault::Vault;

/// Commands that wait for a supervisor.
const COMMANDS: usize = 16;
/// How long a supervisor may take to answer a command. It answers at once unless it is ending its session.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long unlinking may take: the session waits 15 s for WhatsApp, and needs 20 s at most.
const UNLINKING_PATIENCE: Duration = Duration::from_secs(45);
/// Delay before the session of a supervisor that panicked is opened again.
const PAUSE_AFTER_PANIC: Duration = Duration::from_secs(1);
/// How long writing the updates of ended sessions may take: most of the grace period of a stop.
const DRAIN_PATIENCE: Duration = Duration::from_secs(20);
/// How often a command is repeated because its supervisor has just ended.
const ATTEMPTS: usize = 3;

/// What supervisors need beside their sessions.
#[derive(Clone)]
pub(super) struct Supervision {
    pub(super) store: Store,
    pub(super) vault: Arc<Vault>,
    /// Channels reach their sessions through these.
    pub(super) handles: Arc<SessionHandles>,
    /// Takes the sessions' updates of messages and people.
    pub(super) updates: UpdateSender,
}

/// Shared by all supervisors.
struct Common {
    store: Store,
    vault: Arc<Vault>,
    handles: Arc<SessionHandles>,
    updates: UpdateSender,
    driver: Arc<dyn Driver>,
    /// When the next session may be opened.
    starts: Pacer,
    device_name: String,
}

/// How callers reach a running supervisor.
#[derive(Clone)]
struct RunningSupervisor {
    commands: mpsc::Sender<Command>,
    pairing: watch::Receiver<Pairing>,
    /// The supervisor panicked: its session has to be opened again.
    broke: Arc<AtomicBool>,
}

impl RunningSupervisor {
    /// Passes a command on, if there is one. This fails when the supervisor has just ended: then nobody answers the
    /// command, and another supervisor is started for it.
    async fn tell(&self, command: Option<Command>) {
        if let Some(command) = command {
            let _ = self.commands.send(command).await;
        }
    }
}

pub(super) struct WebSessions {
    /// `None` when there is no driver: then there are no sessions.
    common: Option<Arc<Common>>,
    supervisors: Mutex<HashMap<Uuid, RunningSupervisor>>,
    thread: ArbiterHandle,
    patience: Duration,
}

impl WebSessions {
    /// No sessions yet; their supervisors will run on `thread`.
    pub(super) fn new(
        supervision: Supervision,
        driver: Option<Arc<dyn Driver>>,
        config: &config::WebSession,
        thread: ArbiterHandle,
    ) -> Self {
        let starts = Pacer::each_second(config.starts_per_second);
        let device_name = config.device_name.clone();
        let Supervision { store, vault, handles, updates } = supervision;
        let common = |driver| Common { store, vault, handles, updates, driver, starts, device_name };
        let common = driver.map(|driver| Arc::new(common(driver)));
        Self { common, supervisors: Mutex::default(), thread, patience: config.patience }
    }

    /// Divides the pace at which sessions begin to connect among this many nodes.
    pub(super) fn share_starts(&self, nodes: u32) {
        if let Some(common) = &self.common {
            common.starts.share(nodes);
        }
    }

    /// The channel's session, while there is one.
    pub(super) fn session(&self, channel: Uuid) -> Option<Arc<dyn Session>> {
        self.common.as_ref()?.handles.of(channel).session()
    }

    /// The number of the phone that is linked to the channel, once it is known.
    pub(super) fn number(&self, channel: Uuid) -> Option<PhoneNumber> {
        self.common.as_ref()?.handles.of(channel).number()
    }

    /// How long a caller may wait until a message is handed over.
    pub(super) const fn patience(&self) -> Duration {
        self.patience
    }

    /// Opens the sessions of linked phones, except those that wait for a person.
    pub(super) async fn resume(&self) -> store::Result<()> {
        let Some(common) = &self.common else { return Ok(()) };
        let linked = common.store.web_sessions().resume().await?;
        for channel in linked.iter().filter(|channel| !waits_for_a_person(&channel.connection)) {
            self.supervisor(common, channel, true, false, &mut None);
        }
        Ok(())
    }

    /// Reopens the sessions of supervisors that panicked.
    pub(super) async fn revive(&self) {
        let Some(common) = &self.common else { return };
        let broken: Vec<_> = {
            let supervisors = self.supervisors.lock();
            let broken =
                supervisors.iter().filter(|(_, running)| running.broke.swap(false, Ordering::AcqRel));
            broken.map(|(channel, running)| (*channel, Arc::clone(&running.broke))).collect()
        };
        for (channel, broke) in broken {
            if let Err(error) = self.reopen(common, channel).await {
                tracing::debug!(channel.id = %channel, %error, "cannot open a session again");
                broke.store(true, Ordering::Release);
            }
        }
    }

    /// Opens the session of a channel that this process owns, if a phone is linked to it.
    pub(super) async fn open_linked(&self, channel: Uuid) -> store::Result<()> {
        match &self.common {
            Some(common) => self.reopen(common, channel).await,
            None => Ok(()),
        }
    }

    async fn reopen(&self, common: &Arc<Common>, id: Uuid) -> store::Result<()> {
        let is_linked = common.store.web_sessions().exists(id).await?;
        let channel = common.store.channels().find(id).await?.filter(|_| is_linked);
        if let Some(channel) = channel.filter(|channel| !waits_for_a_person(&channel.connection)) {
            self.supervisor(common, &channel, true, false, &mut None);
        }
        Ok(())
    }

    /// Ends all sessions, and returns once their records and updates are written, or after [`DRAIN_PATIENCE`].
    pub(super) async fn stop(&self) {
        self.close(None).await;
        if let Some(common) = &self.common
            && timeout(DRAIN_PATIENCE, common.updates.flush()).await.is_err()
        {
            tracing::warn!("stopped before all updates of web sessions were written");
        }
    }

    /// Ends these sessions, or all of them, and returns when they have ended.
    pub(super) async fn close(&self, which: Option<&HashSet<Uuid>>) {
        let is_meant = |channel: &Uuid| which.is_none_or(|which| which.contains(channel));
        let supervisors: Vec<_> = {
            let supervisors = self.supervisors.lock();
            let meant = supervisors.iter().filter(|(channel, _)| is_meant(channel));
            meant.map(|(_, running)| running.commands.clone()).collect()
        };
        let ends = supervisors.iter().map(|commands| async {
            // Sending fails when the supervisor has ended.
            let _ = commands.send(Command::Stop).await;
            commands.closed().await;
        });
        futures_util::future::join_all(ends).await;
    }

    async fn pairing(&self, channel: Uuid) -> Result<Pairing, Error> {
        let common = self.common()?;
        let running =
            self.supervisors.lock().get(&channel).filter(|running| !running.commands.is_closed()).cloned();
        if let Some(running) = running {
            return Ok(running.pairing.borrow().clone());
        }
        let is_linked = common.store.web_sessions().exists(channel).await?;
        Ok(at_rest(is_linked))
    }

    async fn pair(&self, channel: &Channel, number: Option<PhoneNumber>) -> Result<Pairing, Error> {
        let common = self.common()?;
        for _ in 0..ATTEMPTS {
            let is_linked = common.store.web_sessions().exists(channel.id).await?;
            // The supervisor has to start from the stored state: it does not write a state that it believes is stored
            // already.
            let newest = common.store.channels().find(channel.id).await?;
            let newest = newest.as_ref().unwrap_or(channel);
            let (hear, heard) = oneshot::channel();
            let mut command = Some(Command::Pair(number, hear));
            let running = self.supervisor(common, newest, is_linked, false, &mut command);
            running.tell(command).await;
            match timeout(PATIENCE, heard).await {
                Ok(Ok(())) => return Ok(running.pairing.borrow().clone()),
                Ok(Err(_)) => {}
                Err(_) => break,
            }
        }
        Err(Error::Unavailable { retry_after: RETRY_AFTER })
    }

    async fn unlink(&self, channel: &Channel) -> Result<(), Error> {
        let common = self.common()?;
        for _ in 0..ATTEMPTS {
            let is_linked = common.store.web_sessions().exists(channel.id).await?;
            let is_running =
                self.supervisors.lock().get(&channel.id).is_some_and(|running| !running.commands.is_closed());
            if !is_linked && !is_running {
                return Ok(());
            }
            // A closed session is not opened for this: it may have to stay closed.
            let (hear, heard) = oneshot::channel();
            let mut command = Some(Command::Unlink(hear));
            let running = self.supervisor(common, channel, is_linked, true, &mut command);
            running.tell(command).await;
            match timeout(UNLINKING_PATIENCE, heard).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(_)) => {}
                Err(_) => break,
            }
        }
        Err(Error::Unavailable { retry_after: RETRY_AFTER })
    }

    /// The channel's supervisor, started if there is none. With `asks`, it opens no session before a command asks for
    /// it. A supervisor that is started takes the `first` command, and knows it before its session says anything.
    fn supervisor(
        &self,
        common: &Arc<Common>,
        channel: &Channel,
        is_linked: bool,
        asks: bool,
        first: &mut Option<Command>,
    ) -> RunningSupervisor {
        let mut supervisors = self.supervisors.lock();
        if let Some(running) = supervisors.get(&channel.id).filter(|running| !running.commands.is_closed()) {
            return running.clone();
        }
        let (commands, told) = mpsc::channel(COMMANDS);
        if let Some(first) = first.take() {
            // An empty queue takes it.
            let _ = commands.try_send(first);
        }
        let (show, pairing) = watch::channel(if is_linked {
            at_rest(true)
        } else {
            Pairing { stage: Stage::Starting, ..Pairing::default() }
        });
        let supervisor = Supervisor::new(Arc::clone(common), channel, is_linked, told, show);
        let (broke, handle) = (Arc::new(AtomicBool::new(false)), common.handles.of(channel.id));
        let flag = Arc::clone(&broke);
        // When the thread has ended, the supervisor is dropped and its channel of commands closed.
        self.thread.spawn(async move {
            if caught("web session", supervisor.run(asks)).await.is_some() {
                return;
            }
            // Two sessions of one phone would disconnect each other.
            if let Some(session) = handle.session() {
                handle.close();
                caught("end of a web session", session.stop()).await;
            }
            tokio::time::sleep(PAUSE_AFTER_PANIC).await;
            flag.store(true, Ordering::Release);
        });
        let running = RunningSupervisor { commands, pairing, broke };
        supervisors.insert(channel.id, running.clone());
        running
    }

    fn common(&self) -> Result<&Arc<Common>, Refusal> {
        self.common.as_ref().ok_or_else(|| {
            let sentence =
                "this program was built without web sessions: run one with the feature `web-session`";
            Refusal::new(Code::FeatureUnavailable, sentence)
        })
    }
}

/// The pairing of a channel while none is in progress.
fn at_rest(is_linked: bool) -> Pairing {
    Pairing { stage: if is_linked { Stage::Linked } else { Stage::Unlinked }, ..Pairing::default() }
}

/// Phones that are linked to web sessions, or are being linked.
#[derive(Clone, Copy)]
pub struct Phones<'e> {
    pub(crate) engine: &'e Engine,
}

impl Engine {
    /// Phones that are linked to web sessions, or are being linked.
    pub const fn phones(&self) -> Phones<'_> {
        Phones { engine: self }
    }
}

impl Phones<'_> {
    /// The progress of linking a phone to a web session.
    ///
    /// # Errors
    ///
    /// `feature_unavailable`; [`Error::Unavailable`] while the database is away.
    pub async fn pairing(&self, channel: Uuid) -> Result<Pairing, Error> {
        if let Some(channel) = self.engine.channel(channel).await?
            && let Some(pairing) = self.engine.owners().ask(&channel, &AskPairing {}).await?
        {
            return Ok(pairing);
        }
        self.engine.0.web_sessions.pairing(channel).await
    }

    /// Begins to link a phone, unless one is linked or being linked, and requests a pairing code for `number` if given.
    /// A linked session that has ended is opened again.
    ///
    /// # Errors
    ///
    /// `feature_unavailable`; [`Error::Unavailable`] while the database is away or the engine stops.
    pub async fn pair(&self, channel: &Arc<Channel>, number: Option<PhoneNumber>) -> Result<Pairing, Error> {
        self.engine.check_running()?;
        if let Some(pairing) = self.engine.owners().ask(channel, &Pair { number }).await? {
            return Ok(pairing);
        }
        self.engine.0.web_sessions.pair(channel, number).await
    }

    /// Unlinks the phone and deletes the session's records; ends a pairing in progress. Does nothing to a channel that
    /// has no phone.
    pub async fn unlink(&self, channel: &Arc<Channel>) -> Result<(), Error> {
        self.engine.check_running()?;
        if self.engine.owners().ask(channel, &Unlink {}).await?.is_some() {
            return Ok(());
        }
        self.engine.0.web_sessions.unlink(channel).await
    }

    /// The page on which people use the simulated phone, in a demonstration.
    pub fn played_phone(&self) -> Option<&str> {
        self.engine.0.web_sessions.common.as_ref()?.driver.played_phone()
    }
}

impl Engine {
    pub(super) fn check_running(&self) -> Result<(), Error> {
        if self.0.stopping.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(Error::Unavailable { retry_after: RETRY_AFTER });
        }
        Ok(())
    }
}

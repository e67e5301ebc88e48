//! Web sessions: one [`keeper`] for each channel with a linked phone, or one that is being linked.
//!
//! Sessions are opened only by the process that has the lease, in turns. How each channel is stands in the store;
//! how far one is with being linked to a phone, in memory.

mod condition;
mod errand;
mod keeper;
mod line;
pub(super) mod machine;
mod outgoing;
mod pairing;
mod passkey;
mod records;
mod told;
mod window;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix::ArbiterHandle;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;
use uuid::Uuid;

pub(crate) use self::condition::RESTRICTED_FOR;
pub(super) use self::condition::restricted_until;
#[cfg(any(test, feature = "universe"))]
pub(super) use self::condition::waits_for_a_person;
pub(crate) use self::errand::{Admitted, Errand, Errands, HandOver, Places, Wait};
pub use self::errand::{Form, HandedOver, Render};
use self::keeper::{Command, Keeper};
pub(crate) use self::line::Lines;
pub(crate) use self::outgoing::{Outgoing, WebChannel, link, seconds};
pub use self::pairing::{Pairing, Passkey, Shown, Stage};
pub use self::passkey::PasskeyAnswer;
pub use self::records::SessionRecords;
use self::told::Tell;
pub(super) use self::told::told;
#[cfg(any(test, feature = "universe"))]
pub(super) use self::told::{News, heard};
pub(crate) use self::window::{Slot, Window};
use super::account::Pace;
use super::nodes::{AskPairing, Pair, Unlink};
use super::upkeep::rounds::caught;
use super::{Engine, Error, RETRY_AFTER};
use crate::config;
use crate::connector::web_session::{Driver, Session};
use crate::domain::channel::Channel;
use crate::domain::phone::PhoneNumber;
use crate::error::{Code, Refusal};
use crate::store::{self, Store};
use crate::vault::Vault;

/// Commands that wait for a keeper.
const COMMANDS: usize = 16;
/// How long a keeper may take to hear a command. It hears at once unless it is just ending its session.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long unlinking may take: the session gives WhatsApp 15 s, and itself 20.
const UNLINKING_PATIENCE: Duration = Duration::from_secs(45);
/// Delay before a session is opened again whose keeper panicked.
const PAUSE_AFTER_PANIC: Duration = Duration::from_secs(1);
/// How long writing what ended sessions told may take: most of the grace that a stop has.
const DRAIN_PATIENCE: Duration = Duration::from_secs(20);
/// How often a keeper may end in the very moment in which it is told something.
const ATTEMPTS: usize = 3;

/// What keepers work with beside their sessions.
#[derive(Clone)]
pub(super) struct Keeping {
    pub(super) store: Store,
    pub(super) vault: Arc<Vault>,
    /// The ways of channels to their sessions.
    pub(super) lines: Arc<Lines>,
    /// Takes in what sessions hear of messages and people.
    pub(super) tell: Tell,
}

/// What all keepers share.
struct Common {
    store: Store,
    vault: Arc<Vault>,
    lines: Arc<Lines>,
    tell: Tell,
    driver: Arc<dyn Driver>,
    /// When the next session may be opened.
    starts: Pace,
    device_name: String,
}

/// A keeper as others know it.
#[derive(Clone)]
struct Kept {
    commands: mpsc::Sender<Command>,
    pairing: watch::Receiver<Pairing>,
    /// It panicked, and its session is to be opened again.
    broke: Arc<AtomicBool>,
}

pub(super) struct WebSessions {
    /// `None` when there is no driver: then there are no sessions.
    common: Option<Arc<Common>>,
    keepers: Mutex<HashMap<Uuid, Kept>>,
    thread: ArbiterHandle,
    patience: Duration,
}

impl WebSessions {
    /// Without sessions yet; their keepers run on `thread`.
    pub(super) fn new(
        keeping: Keeping,
        driver: Option<Arc<dyn Driver>>,
        config: &config::WebSession,
        thread: ArbiterHandle,
    ) -> Self {
        let starts = Pace::each_second(config.starts_per_second);
        let device_name = config.device_name.clone();
        let Keeping { store, vault, lines, tell } = keeping;
        let common = |driver| Common { store, vault, lines, tell, driver, starts, device_name };
        let common = driver.map(|driver| Arc::new(common(driver)));
        Self { common, keepers: Mutex::default(), thread, patience: config.patience }
    }

    /// So many nodes share the pace at which sessions begin to connect.
    pub(super) fn share_starts(&self, nodes: u32) {
        if let Some(common) = &self.common {
            common.starts.share(nodes);
        }
    }

    /// The channel's session, while there is one.
    pub(super) fn session(&self, channel: Uuid) -> Option<Arc<dyn Session>> {
        self.common.as_ref()?.lines.line(channel).session()
    }

    /// How long a caller may wait until a message is handed over.
    pub(super) const fn patience(&self) -> Duration {
        self.patience
    }

    /// Opens what was linked before, but for what a person must settle first.
    pub(super) async fn resume(&self) -> store::Result<()> {
        let Some(common) = &self.common else { return Ok(()) };
        let linked = common.store.resume_web_sessions().await?;
        for channel in linked.iter().filter(|channel| !condition::waits_for_a_person(&channel.connection)) {
            self.keeper(common, channel, true, false);
        }
        Ok(())
    }

    /// Opens the sessions again whose keepers panicked.
    pub(super) async fn revive(&self) {
        let Some(common) = &self.common else { return };
        let broken: Vec<_> = {
            let keepers = self.keepers();
            let broken = keepers.iter().filter(|(_, kept)| kept.broke.swap(false, Ordering::AcqRel));
            broken.map(|(channel, kept)| (*channel, Arc::clone(&kept.broke))).collect()
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
        let is_linked = common.store.has_web_session(id).await?;
        let channel = common.store.find_channel(id).await?.filter(|_| is_linked);
        if let Some(channel) = channel.filter(|channel| !condition::waits_for_a_person(&channel.connection)) {
            self.keeper(common, &channel, true, false);
        }
        Ok(())
    }

    /// Ends all sessions, and returns when what they know and what they told is written, as far as that is possible
    /// within some seconds.
    pub(super) async fn stop(&self) {
        self.close(None).await;
        if let Some(common) = &self.common
            && timeout(DRAIN_PATIENCE, common.tell.is_taken_in()).await.is_err()
        {
            tracing::warn!("not all that web sessions told was written before the end");
        }
    }

    /// Ends these sessions, or all of them, and returns when they have ended.
    pub(super) async fn close(&self, which: Option<&HashSet<Uuid>>) {
        let is_meant = |channel: &Uuid| which.is_none_or(|which| which.contains(channel));
        let keepers: Vec<_> = {
            let keepers = self.keepers();
            let meant = keepers.iter().filter(|(channel, _)| is_meant(channel));
            meant.map(|(_, kept)| kept.commands.clone()).collect()
        };
        let ends = keepers.iter().map(|commands| async {
            // A keeper that hears nothing has ended.
            let _ = commands.send(Command::Stop).await;
            commands.closed().await;
        });
        futures_util::future::join_all(ends).await;
    }

    async fn pairing(&self, channel: Uuid) -> Result<Pairing, Error> {
        let common = self.common()?;
        let kept = self.keepers().get(&channel).filter(|kept| !kept.commands.is_closed()).cloned();
        if let Some(kept) = kept {
            return Ok(kept.pairing.borrow().clone());
        }
        let is_linked = common.store.has_web_session(channel).await?;
        Ok(at_rest(is_linked))
    }

    async fn pair(&self, channel: &Channel, number: Option<PhoneNumber>) -> Result<Pairing, Error> {
        let common = self.common()?;
        for _ in 0..ATTEMPTS {
            let is_linked = common.store.has_web_session(channel.id).await?;
            // A keeper begins with what the store says now: what it takes for unchanged, it does not write.
            let newest = common.store.find_channel(channel.id).await?;
            let kept = self.keeper(common, newest.as_ref().unwrap_or(channel), is_linked, false);
            let (hear, heard) = oneshot::channel();
            // A keeper that does not hear it has just ended, and another keeper may be started.
            let _ = kept.commands.send(Command::Pair(number, hear)).await;
            match timeout(PATIENCE, heard).await {
                Ok(Ok(())) => return Ok(kept.pairing.borrow().clone()),
                Ok(Err(_)) => {}
                Err(_) => break,
            }
        }
        Err(Error::Unavailable { retry_after: RETRY_AFTER })
    }

    async fn unlink(&self, channel: &Channel) -> Result<(), Error> {
        let common = self.common()?;
        for _ in 0..ATTEMPTS {
            let is_linked = common.store.has_web_session(channel.id).await?;
            let is_kept = self.keepers().get(&channel.id).is_some_and(|kept| !kept.commands.is_closed());
            if !is_linked && !is_kept {
                return Ok(());
            }
            // A session that is not open is not opened for this: it may be that it must not be.
            let kept = self.keeper(common, channel, is_linked, true);
            let (hear, heard) = oneshot::channel();
            let _ = kept.commands.send(Command::Unlink(hear)).await;
            match timeout(UNLINKING_PATIENCE, heard).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(_)) => {}
                Err(_) => break,
            }
        }
        Err(Error::Unavailable { retry_after: RETRY_AFTER })
    }

    /// The channel's keeper, started if need be; one that `asks` opens no session before it is told to.
    fn keeper(&self, common: &Arc<Common>, channel: &Channel, is_linked: bool, asks: bool) -> Kept {
        let mut keepers = self.keepers();
        if let Some(kept) = keepers.get(&channel.id).filter(|kept| !kept.commands.is_closed()) {
            return kept.clone();
        }
        let (commands, told) = mpsc::channel(COMMANDS);
        let (show, pairing) = watch::channel(if is_linked {
            at_rest(true)
        } else {
            Pairing { stage: Stage::Starting, ..Pairing::default() }
        });
        let keeper = Keeper::new(Arc::clone(common), channel, is_linked, told, show);
        let (broke, line) = (Arc::new(AtomicBool::new(false)), common.lines.line(channel.id));
        let flag = Arc::clone(&broke);
        // A thread that has ended drops the keeper, and its commands are closed.
        self.thread.spawn(async move {
            if caught("web session", keeper.run(asks)).await.is_some() {
                return;
            }
            // Two sessions of one phone would throw each other out.
            if let Some(session) = line.session() {
                line.close();
                caught("end of a web session", session.stop()).await;
            }
            tokio::time::sleep(PAUSE_AFTER_PANIC).await;
            flag.store(true, Ordering::Release);
        });
        let kept = Kept { commands, pairing, broke };
        keepers.insert(channel.id, kept.clone());
        kept
    }

    fn keepers(&self) -> std::sync::MutexGuard<'_, HashMap<Uuid, Kept>> {
        self.keepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn common(&self) -> Result<&Arc<Common>, Refusal> {
        self.common.as_ref().ok_or_else(|| {
            let sentence =
                "this program was built without web sessions: run one with the feature `web-session`";
            Refusal::new(Code::FeatureUnavailable, sentence)
        })
    }
}

/// Of a channel that nobody is linking to a phone.
fn at_rest(is_linked: bool) -> Pairing {
    Pairing { stage: if is_linked { Stage::Linked } else { Stage::Unlinked }, ..Pairing::default() }
}

impl Engine {
    /// How far a web session is with being linked to a phone.
    ///
    /// # Errors
    ///
    /// `feature_unavailable`; [`Error::Unavailable`] while the database is away.
    pub async fn pairing(&self, channel: Uuid) -> Result<Pairing, Error> {
        if let Some(channel) = self.channel(channel).await?
            && let Some(pairing) = self.ask_owner(&channel, &AskPairing {}).await?
        {
            return Ok(pairing);
        }
        self.0.web_sessions.pairing(channel).await
    }

    /// Begins to link a phone, unless one is linked or being linked, and asks for a code for `number` if there is
    /// one. A linked session that has ended is opened again.
    ///
    /// # Errors
    ///
    /// `feature_unavailable`; [`Error::Unavailable`] while the database is away or the engine stops.
    pub async fn pair(&self, channel: &Arc<Channel>, number: Option<PhoneNumber>) -> Result<Pairing, Error> {
        self.check_running()?;
        if let Some(pairing) = self.ask_owner(channel, &Pair { number }).await? {
            return Ok(pairing);
        }
        self.0.web_sessions.pair(channel, number).await
    }

    /// Unlinks the phone and deletes everything that the session kept; ends a pairing that nobody has finished.
    /// Does nothing to a channel that has no phone.
    ///
    /// # Errors
    ///
    /// As [`Engine::pair`].
    pub async fn unlink(&self, channel: &Arc<Channel>) -> Result<(), Error> {
        self.check_running()?;
        if self.ask_owner(channel, &Unlink {}).await?.is_some() {
            return Ok(());
        }
        self.0.web_sessions.unlink(channel).await
    }

    /// The page on which people use the phone, where a simulator plays it: in a demonstration.
    pub fn played_phone(&self) -> Option<&str> {
        self.0.web_sessions.common.as_ref()?.driver.played_phone()
    }

    pub(super) fn check_running(&self) -> Result<(), Error> {
        if self.0.stopping.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(Error::Unavailable { retry_after: RETRY_AFTER });
        }
        Ok(())
    }
}

//! Errands: what goes with a message that somebody waits for, from the request to the session and back.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::clock::Timestamp;
use crate::connector::media::Media;
use crate::connector::web_session::{Jid, Sent};
use crate::domain::message::Failure;
use crate::domain::outlook::Reason;

/// What became of a message, for whoever waits to hear that it was handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HandOver {
    /// WhatsApp's server was given it, at this time.
    Done(Sent, Timestamp),
    /// It will not arrive.
    Failed(Failure),
    /// Its time was over before it could be handed over, for this reason.
    TooLate(Reason),
    /// Somebody canceled it.
    Canceled,
    /// The engine stopped before it was attempted.
    Stopping,
    /// It may or may not have been handed over.
    Unknown,
}

/// See the module.
pub(crate) struct Errand {
    /// Whom it goes to.
    pub(crate) to: Jid,
    file: Mutex<Option<Media>>,
    place: Mutex<Option<Place>>,
    waiting: Mutex<Option<oneshot::Sender<HandOver>>>,
}

impl Errand {
    /// An errand, and what its end is heard by. It counts among those that have not begun by its `place`.
    pub(crate) fn new(to: Jid, file: Option<Media>, place: Place) -> (Self, oneshot::Receiver<HandOver>) {
        let (tell, told) = oneshot::channel();
        let errand = Self {
            to,
            file: Mutex::new(file),
            place: Mutex::new(Some(place)),
            waiting: Mutex::new(Some(tell)),
        };
        (errand, told)
    }

    /// The file, which is here until somebody takes it.
    pub(super) fn take_file(&self) -> Option<Media> {
        take(&self.file)
    }

    /// Its message is attempted.
    pub(crate) fn begin(&self) {
        take(&self.place);
    }

    /// Whether somebody still waits.
    pub(crate) fn is_awaited(&self) -> bool {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.as_ref().is_some_and(|tell| !tell.is_closed())
    }

    /// The engine stops. Whether its message was not attempted, in which case that was told to who waits.
    pub(crate) fn give_up(&self) -> bool {
        let is_waiting = take(&self.place).is_some();
        if is_waiting {
            self.tell(HandOver::Stopping);
        }
        is_waiting
    }

    /// Tells who waits; only the first word counts.
    pub(crate) fn tell(&self, hand_over: HandOver) {
        take(&self.place);
        if let Some(tell) = take(&self.waiting) {
            // Who asked may have gone.
            let _ = tell.send(hand_over);
        }
    }
}

fn take<T>(from: &Mutex<Option<T>>) -> Option<T> {
    from.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Never what is sent, nor to whom.
impl fmt::Debug for Errand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Errand").finish_non_exhaustive()
    }
}

/// The messages of a channel that were let in and have not been attempted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places(Arc<AtomicUsize>);

/// One of them; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place(Arc<AtomicUsize>);

impl Places {
    /// How many are taken.
    pub(crate) fn taken(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes one.
    pub(crate) fn take(&self) -> Place {
        self.0.fetch_add(1, Ordering::Relaxed);
        Place(Arc::clone(&self.0))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errand(places: &Places) -> (Errand, oneshot::Receiver<HandOver>) {
        Errand::new(Jid::parse("5511988887777@s.whatsapp.net").unwrap(), None, places.take())
    }

    #[test]
    fn an_errand_counts_until_it_begins_or_is_gone() {
        let places = Places::default();
        let (begun, _told) = errand(&places);
        let (gone, _) = errand(&places);
        assert_eq!(places.taken(), 2);
        begun.begin();
        begun.begin();
        assert_eq!(places.taken(), 1);
        drop(gone);
        drop(begun);
        assert_eq!(places.taken(), 0);
    }

    #[test]
    fn only_the_first_word_is_told() {
        let (errand, mut told) = errand(&Places::default());
        errand.tell(HandOver::Unknown);
        errand.tell(HandOver::TooLate(Reason::Rate));
        assert_eq!(told.try_recv(), Ok(HandOver::Unknown));
    }
}

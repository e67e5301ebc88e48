//! The provider's descriptions of a channel's number, on their way to the store.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use uuid::Uuid;

use crate::shared::Shared;
use domain::channel::Number;

/// How long a failed write rests before it is repeated.
const REST: Duration = Duration::from_secs(2);
/// A description that cannot be written so many times is dropped: the next answer of the provider brings another one.
const MOST_TRIES: u32 = 30;

/// The newest description that is not stored. There is one write at a time, so an older description never replaces a newer
/// one.
#[derive(Default)]
pub(super) struct Descriptions {
    newest: RefCell<Option<Number>>,
    is_writing: Cell<bool>,
}

impl Descriptions {
    /// Writes the number's description, unless the provider gives a newer one before that.
    pub(super) fn save(self: &Rc<Self>, shared: &Arc<Shared>, channel: Uuid, number: Number) {
        self.newest.replace(Some(number));
        if !self.is_writing.replace(true) {
            // The task may outlive the channel.
            actix::spawn(Rc::clone(self).write(Arc::clone(shared), channel));
        }
    }

    async fn write(self: Rc<Self>, shared: Arc<Shared>, channel: Uuid) {
        let mut tries = 0;
        loop {
            let Some(number) = self.newest.borrow().clone() else { break };
            let written = shared.store.channels().set_number(channel, number.clone()).await;
            tries += 1;
            let is_repeated = match written {
                Ok(_) => false,
                Err(error) => {
                    tracing::debug!(channel.id = %channel, %error, "cannot write the number's description");
                    error.is_passing() && tries < MOST_TRIES
                }
            };
            if is_repeated {
                sleep(REST).await;
                if Rc::strong_count(&self) == 1 {
                    // The actor is gone, and a later one asks the provider itself.
                    break;
                }
            } else {
                tries = 0;
                // A newer one stays, and is written next.
                self.newest.borrow_mut().take_if(|newest| *newest == number);
            }
        }
        self.is_writing.set(false);
    }
}

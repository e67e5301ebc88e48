//! The devices on the phone that wait for its passkey, or for a confirmation after it.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use uuid::Uuid;

use super::Shared;
use domain::phone::PhoneNumber;

/// One device at the gate, as the phone shows it.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) number: PhoneNumber,
    /// The challenge that the passkey has to sign.
    pub(super) options: Value,
    /// The code that phone and device show, once the passkey was used.
    pub(super) code: Option<String>,
}

/// All devices at the gate, by their sessions.
#[derive(Debug, Default)]
pub(super) struct Gates(Mutex<BTreeMap<Uuid, Shown>>);

impl Gates {
    /// All devices at the gate, in the order of their sessions.
    pub(super) fn all(&self) -> Vec<Shown> {
        self.0.lock().values().cloned().collect()
    }
}

/// A gate that the phone shows until this is dropped.
pub(super) struct Entry {
    shared: Arc<Shared>,
    session: Uuid,
}

impl Entry {
    /// Shows a device at the gate.
    pub(super) fn new(shared: &Arc<Shared>, session: Uuid, shown: Shown) -> Self {
        shared.gates.0.lock().insert(session, shown);
        Self { shared: Arc::clone(shared), session }
    }

    /// Shows the code that has to be compared.
    pub(super) fn show(&self, code: &str) {
        if let Some(shown) = self.shared.gates.0.lock().get_mut(&self.session) {
            shown.code = Some(code.to_owned());
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.shared.gates.0.lock().remove(&self.session);
    }
}

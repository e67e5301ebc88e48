//! The codes that devices show, for the phone to scan or to type.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use tokio::sync::mpsc::WeakSender;
use tokio::time::Instant;

use super::Shared;
use super::device::Command;

/// Characters that people do not confuse.
const LETTERS: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/// The codes that can be used now, and the devices that show them: two at most for each device.
#[derive(Debug, Default)]
pub(super) struct Codes(Mutex<HashMap<String, WeakSender<Command>>>);

impl Codes {
    /// The device that shows this code.
    pub(super) fn device(&self, code: &str) -> Option<WeakSender<Command>> {
        self.0.lock().get(code).cloned()
    }

    /// All QR codes, in no particular order.
    pub(super) fn scannable(&self) -> Vec<String> {
        let codes = self.0.lock();
        let mut scannable: Vec<_> = codes.keys().filter(|code| code.contains('@')).cloned().collect();
        scannable.sort_unstable();
        scannable
    }
}

/// A code that can be used until this is dropped.
pub(super) struct Code {
    pub(super) text: String,
    pub(super) until: Instant,
    shared: Arc<Shared>,
}

impl Code {
    /// Shows a code of this device.
    pub(super) fn show(
        shared: &Arc<Shared>,
        device: &WeakSender<Command>,
        text: String,
        until: Instant,
    ) -> Self {
        shared.codes.0.lock().insert(text.clone(), device.clone());
        Self { text, until, shared: Arc::clone(shared) }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        self.shared.codes.0.lock().remove(&self.text);
    }
}

/// The text of a QR code: it begins as WhatsApp's codes do, and names the simulator.
pub(super) fn scanned() -> String {
    format!("2@{},pombo-simulator", URL_SAFE_NO_PAD.encode(rand::random::<[u8; 24]>()))
}

/// A code that phone and device show at the same time.
pub(super) fn compared() -> String {
    let code = typed();
    let (left, right) = code.split_at(4);
    format!("{left}-{right}")
}

/// A code to be typed.
pub(super) fn typed() -> String {
    rand::random::<[u8; 8]>().iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()
}

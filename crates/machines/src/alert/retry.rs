//! When a mail that could not be sent is tried again.

use std::time::Duration;

use clock::Timestamp;

/// A mail that could not be sent for so long is given up: what it says is old by then.
pub const GIVES_UP_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

const MINUTE: Duration = Duration::from_secs(60);
/// The pauses after the first failures; after further ones, the last of them.
const PAUSES: [Duration; 6] = [
    MINUTE,
    MINUTE.saturating_mul(5),
    MINUTE.saturating_mul(15),
    MINUTE.saturating_mul(30),
    MINUTE.saturating_mul(60),
    MINUTE.saturating_mul(120),
];

/// When a mail that was written at `made_at` and failed `failures` times is tried again; `None` when it is given up.
pub fn retry_at(failures: u16, made_at: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let last = PAUSES.len() - 1;
    let pause = PAUSES[usize::from(failures.saturating_sub(1)).min(last)];
    let next = now.plus(pause);
    (next < made_at.plus(GIVES_UP_AFTER)).then_some(next)
}

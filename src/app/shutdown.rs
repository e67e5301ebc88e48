//! When a running process is asked to end.

use std::io;

/// Completes on Ctrl-C or, where there is one, on the signal that a service manager sends.
///
/// Listens from the moment of the call, not of the first await: who calls it before saying that the service
/// is up misses no request. Needs a running runtime.
///
/// # Errors
///
/// When the system does not let us listen for signals.
#[cfg(unix)]
pub fn requested() -> impl Future<Output = io::Result<()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let signals = signal(SignalKind::interrupt()).and_then(|interrupt| {
        let terminate = signal(SignalKind::terminate())?;
        Ok((interrupt, terminate))
    });
    async move {
        let (mut interrupt, mut terminate) = signals?;
        tokio::select! {
            _ = interrupt.recv() => Ok(()),
            _ = terminate.recv() => Ok(()),
        }
    }
}

/// Completes on Ctrl-C.
///
/// # Errors
///
/// When the system does not let us listen for it.
#[cfg(not(unix))]
pub fn requested() -> impl Future<Output = io::Result<()>> {
    tokio::signal::ctrl_c()
}

//! When a running process is asked to end.

use std::io;

/// Waits for Ctrl-C or, where there is one, the signal that a service manager sends.
///
/// # Errors
///
/// When the system does not let us listen for signals.
pub async fn requested() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};

        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

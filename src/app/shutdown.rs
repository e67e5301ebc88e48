//! How a running process is asked to end.

use std::io;
use std::thread;

use tokio::sync::oneshot;

/// The ways to ask a process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopRequest {
    /// Ctrl-C, or the signal of a service manager.
    BySignal,
    /// A signal, or the end of standard input: the process at its other end closes it or is killed.
    BySignalOrInput,
}

impl StopRequest {
    /// By signal, and with `end_with_input` also by the end of standard input.
    pub const fn when(end_with_input: bool) -> Self {
        if end_with_input { Self::BySignalOrInput } else { Self::BySignal }
    }
}

/// Completes when the process is asked to end in one of these ways.
///
/// Listens from the moment of the call, as [`requested`] does.
///
/// # Errors
///
/// Those of [`requested`].
pub fn requested_by(by: StopRequest) -> impl Future<Output = io::Result<()>> {
    let (requested, ended) = (requested(), (by == StopRequest::BySignalOrInput).then(input_ended));
    async move {
        let Some(ended) = ended else { return requested.await };
        tokio::select! {
            requested = requested => requested,
            _ = ended => Ok(()),
        }
    }
}

/// Completes when standard input ends. Its contents are discarded. The reading thread ends with the process.
fn input_ended() -> oneshot::Receiver<()> {
    let (ended, told) = oneshot::channel();
    let read = move || {
        // An input that cannot be read any more counts as ended.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = ended.send(());
    };
    // Without a thread, the end of the input would be missed, so this counts as the end.
    let _ = thread::Builder::new().name("pombo-input".to_owned()).spawn(read);
    told
}

/// Completes on Ctrl-C or, where there is one, on the signal that a service manager sends.
///
/// Listens from the moment of the call, not of the first await: a caller that calls it before it announces the
/// service misses no signal. Needs a running runtime.
///
/// # Errors
///
/// When the system does not allow handling signals.
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
/// When the system does not allow handling it.
#[cfg(not(unix))]
pub fn requested() -> impl Future<Output = io::Result<()>> {
    tokio::signal::ctrl_c()
}

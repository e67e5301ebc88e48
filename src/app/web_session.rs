//! The driver of web sessions, if the program was built with it.

use std::sync::Arc;

use crate::config;
use crate::connector::web_session::Driver;

/// The driver of web sessions; `None` if the program was built without it.
///
/// # Errors
///
/// When the system provides no threads or no root certificates.
#[cfg(feature = "web-session")]
pub(super) fn driver(config: &config::WebSession) -> anyhow::Result<Option<Arc<dyn Driver>>> {
    use anyhow::Context as _;

    use ::web_session::{Options, WhatsApp};

    let options =
        Options { threads: config.threads, dials_at_once: config.dials_at_once, ..Options::default() };
    let driver = WhatsApp::start(options).context("cannot set up web sessions")?;
    Ok(Some(Arc::new(driver)))
}

/// The program was built without web sessions.
#[cfg(not(feature = "web-session"))]
#[expect(clippy::unnecessary_wraps, reason = "it may fail where the program was built with web sessions")]
pub(super) fn driver(_: &config::WebSession) -> anyhow::Result<Option<Arc<dyn Driver>>> {
    Ok(None)
}

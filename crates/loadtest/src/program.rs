//! The program under test, as far as a load test depends on it: it opens databases, probes channels and knows how a process
//! is asked to end.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use config::Config;
use domain::channel::Channel;
use store::Store;
use vault::Vault;

/// The program that starts the test.
pub trait Program: Clone + 'static {
    /// Opens a new database as a service does: with its schema, its key and the built-in tiers.
    ///
    /// # Errors
    ///
    /// A sentence for the tester.
    fn open(&self, config: Config) -> impl Future<Output = anyhow::Result<(Store, Arc<Vault>)>>;

    /// Asks the provider whether the channel of the opened database works, and records the answer.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn probe(&self, channel: &Channel) -> impl Future<Output = anyhow::Result<()>>;

    /// Listens from now on; completes when the process is asked to end.
    fn asked_to_end(&self) -> Pin<Box<dyn Future<Output = io::Result<()>>>>;
}
